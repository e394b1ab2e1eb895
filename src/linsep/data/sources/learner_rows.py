"""Rows of files as learners take them: whole for a fit, by blocks for `partial_fit` and scores."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.store import MEMORY
from linsep.data.encoding.drift import tell
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.label_statistics import EncodedLabels
from linsep.data.sources.dataset import Chunks
from linsep.data.table.memory import is_table
from linsep.errors import DataError, ParameterError

Array = npt.NDArray[Any]
F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def opened(X: Any, y: Any) -> Iterator[tuple[Any, Any, Encoding | None]]:
    """Rows, labels and encoding to fit on: those of a file, or `X` and `y` as they are."""
    if is_table(X) and not isinstance(X, Chunks):
        from linsep.data.sources.frames import frame_chunks, needs_encoding

        if needs_encoding(X):
            chunks = frame_chunks(X, MEMORY)
            with chunks.gather() as gathered:
                tell(gaps_of(chunks))
                yield gathered.X, y, chunks.encoding
            return
    if not isinstance(X, Chunks):
        yield X, y, None
        return
    if y is not None:
        raise ParameterError(
            "y is given, but X comes from linsep.read, which brings its labels; leave y out."
        )
    with X.gather() as gathered:
        if gathered.codes is None and gathered.y is None:
            raise DataError(
                f"{X.source.paths[0]} holds no labels, and a fit learns from them; give some."
            )
        if gathered.codes is None or gathered.classes is None:
            yield gathered.X, gathered.y, X.encoding
        else:
            yield gathered.X, EncodedLabels(gathered.classes, gathered.codes), X.encoding


def gaps_of(chunks: Chunks) -> list[str]:
    """That numbers are missing, and what stands in their place."""
    numbers = {column.table_name for column in chunks.encoding.columns if column.numeric}
    gaps = {name: n for name, n in chunks.source.missing.items() if n and name in numbers}
    if not gaps:
        return []
    some = ", ".join(f"{name!r} ({n:,})" for name, n in list(gaps.items())[:5])
    more = ", …" if len(gaps) > 5 else ""
    return [
        f"X has missing numbers in {some}{more}; the mean of the column stands in their place, as "
        "it will in new rows. Fill them in beforehand if another number should."
    ]


def by_block(method: F) -> F:
    """Let `partial_fit` take what `linsep.read` gives: block after block, in order."""

    @wraps(method)
    def partial_fit(
        self: Any, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        if not isinstance(X, Chunks):
            return method(self, X, y, classes, sample_weight)
        if y is not None or sample_weight is not None:
            raise ParameterError(
                "X comes from linsep.read, which brings its labels; leave y and sample_weight out."
            )
        if classes is None and not hasattr(self, "classes_"):
            classes = X.classes
        for rows, labels in X:
            method(self, rows, labels, classes, None)
            classes = None
        self.encoding_ = X.encoding
        return self

    return cast(F, partial_fit)


def scores_of(X: Chunks, encoding: Encoding | None, scores: Callable[[Any], Array]) -> Array:
    """Scores of all rows of a file, block by block; they must be encoded as in the fit."""
    if encoding is not None and X.encoding != encoding:
        raise ParameterError(
            "X encodes its columns in another way than the rows this model was fitted on; open "
            "it by linsep.read(..., like=model)."
        )
    parts = [scores(rows) for rows, _ in X]
    tell(X.drift)
    return np.concatenate(parts) if parts else scores(np.empty((0, X.n_features)))
