"""Predictions of a model on rows that come in blocks, and what was proved of it."""

from typing import Any

import click

from linsep.errors import DataError
from linsep.views.metrics import tally_for
from linsep.views.sources import Rate


def score_rows(model: Any, source: Any, doing: str, quiet: bool = False) -> Any:
    """Compare what a model says of all rows with their labels, block by block."""
    seen = tally_for(model.classes_)
    rate = Rate(doing, quiet, getattr(source, "_n", None))
    for X, y in source:
        if y is None:
            raise DataError(
                "the rows have no labels to compare with; use linsep predict, or give data with "
                "the column of labels."
            )
        add_rows(seen, model, X, y)
        rate.add(len(y))
    rate.end()
    if seen.n == 0:
        raise DataError("there are no rows to score.")
    return seen


def add_rows(seen: Any, model: Any, X: Any, y: Any) -> None:
    """Count what a model says of some rows; with scores and probabilities, while there is room."""
    if model.classes_ is None:
        seen.add(y, model.predict(X))
        return
    scores = model.decision_function(X)
    predicted = model.classes_[model.places(scores)]
    if seen.full:
        seen.add(y, predicted)
        return
    seen.add(y, predicted, scores, model.chances_of(scores) if model.probabilistic else None)


class AtThreshold:
    """A model of two classes that says the second where its probability is at least `share`."""

    def __init__(self, model: Any, share: float) -> None:
        self._model, self._share = model, share

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def places(self, scores: Any) -> Any:
        """The place of each row's class among the two."""
        return (self._model.chances_of(scores)[:, 1] >= self._share).astype(int)


def tell_drift(source: Any, strict: bool) -> None:
    """Say how rows differ from those of the fit, and refuse them where that is asked for."""
    for sentence in getattr(source, "drift", None) or ():
        click.echo(sentence, err=True)
    if strict:
        require_no_drift(source)


def require_no_drift(source: Any) -> None:
    """Refuse rows that differ from those of the fit, as far as they were read."""
    known = getattr(getattr(source, "source", None), "drift", None)
    if known is None:
        return
    if known.unknown:
        raise DataError(f"--strict: {' '.join(known.sentences())}")
    if known.extra:
        raise DataError(f"--strict: {known.sentences()[0]}")


def proof_of(learner: Any) -> str | None:
    """What is known for certain of a fit, in a sentence; None where nothing was proved."""
    from linsep.learners.fitting.notebook import proof_sentence

    return proof_sentence(learner)
