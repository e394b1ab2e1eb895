"""Whether something comes from Dask, told without importing it."""

from typing import Any


def is_future(one: Any) -> bool:
    """Whether something is a future; a delayed block has any attribute, so its type is asked."""
    return type(one).__module__ == "distributed.client"


def is_dask(one: Any) -> bool:
    """Whether something is a Dask collection, a delayed block or a future."""
    return hasattr(one, "__dask_graph__") or is_future(one)


def from_dask(X: Any) -> bool:
    """Whether X is a Dask collection, a future, or a list that begins with one."""
    return is_dask(X[0] if isinstance(X, (list, tuple)) and X else X)
