"""Predictions of Dask collections, made when they are asked for, partition by partition."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from linsep.errors import ParameterError

METHODS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "rank",
)  # fmt: skip
"""What is lazy on Dask arrays and data frames."""


def make_lazy(cls: type) -> None:
    """Let the methods of a class take Dask arrays and data frames."""
    for name in METHODS:
        given = cls.__dict__.get(name)
        if hasattr(given, "fn"):  # there only under some condition
            given.fn = _lazy(given.fn, name)  # type: ignore[union-attr]
        elif callable(given):
            setattr(cls, name, _lazy(given, name))


def _lazy(method: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(method)
    def on_any(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if not hasattr(X, "__dask_graph__"):
            return method(self, X, *arguments, **options)
        return _later(self, name, X, arguments, options)

    return on_any


def _later(learner: Any, name: str, X: Any, arguments: Any, options: Any) -> Any:
    import dask.array as da
    from dask.delayed import delayed

    if any(getattr(given, "ndim", 0) for given in (*arguments, *options.values())):
        raise ParameterError(
            "offset is an array, and rows on a cluster are predicted part by part. Fit with the "
            "name of a column, offset='NAME', or predict parts with their own offsets."
        )
    width = X.shape[1]
    one = _call(learner, name, np.zeros((1, int(width)), np.float64), arguments, options, True)
    if hasattr(X, "map_partitions"):
        call = delayed(_call, pure=True)
        parts = [call(learner, name, part, arguments, options) for part in X.to_delayed()]
        shape = (np.nan, *one.shape[1:])
        return da.concatenate([da.from_delayed(part, shape, one.dtype) for part in parts])
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})

    def block(part: Any) -> Any:
        return _call(learner, name, part, arguments, options)

    about: dict[str, Any] = {"dtype": one.dtype, "meta": one[:0], "name": None}
    if one.ndim == 1:
        return X.map_blocks(block, drop_axis=1, **about)
    return X.map_blocks(block, chunks=(X.chunks[0], (one.shape[1],)), **about)


def _call(
    learner: Any, name: str, X: Any, arguments: Any, options: Any, nameless: bool = False
) -> Any:
    if X.shape[0] == 0 or nameless:
        names = learner.__dict__.pop("feature_names_in_", None)
        try:
            zero = np.zeros((1, learner.n_features_in_))
            answer = np.asarray(getattr(learner, name)(zero, *arguments, **options))
        finally:
            if names is not None:
                learner.feature_names_in_ = names
        return answer if nameless else answer[:0]
    return np.asarray(getattr(learner, name)(X, *arguments, **options))
