"""The scikit-learn face; one file per algorithm."""

from linsep import _lean as _lean
