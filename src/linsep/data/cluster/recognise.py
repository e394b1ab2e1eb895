"""Whether something comes from Dask, told without importing it."""

from typing import Any


def from_dask(X: Any) -> bool:
    """Whether X is a Dask collection, a future, or a list that begins with one."""
    one = X[0] if isinstance(X, (list, tuple)) and X else X
    return hasattr(one, "__dask_graph__") or type(one).__module__ == "distributed.client"
