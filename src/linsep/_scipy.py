"""Parts of scipy."""

from scipy import linalg, special

__all__ = ["linalg", "special"]
