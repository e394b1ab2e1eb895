"""An exercise: a question, the form of its answer, and a check that says what is wrong."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from linsep.errors import ParameterError


class Verdict(NamedTuple):
    """What a check found.

    Attributes
    ----------
    right : whether the answer is one
    sentence : what proves it, or what it fails at
    """

    right: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return f"{'Right' if self.right else 'Not yet'}: {self.sentence}"


class Exercise(NamedTuple):
    """A question of a lecture.

    Attributes
    ----------
    title, question : the question, in words
    form : what an answer looks like
    check : finds out about an answer
    """

    title: str
    question: str
    form: str
    check: Callable[[Any], Verdict]

    def __str__(self) -> str:
        return f"{self.title}\n\n{self.question}\n\nAnswer: {self.form}"


def right(sentence: str) -> Verdict:
    return Verdict(True, sentence)


def wrong(sentence: str) -> Verdict:
    return Verdict(False, sentence)


def numbers(answer: Any, shape: tuple[int, ...], form: str) -> Any:
    """The answer as exact fractions, flat; refused where it has another shape."""
    try:
        given = np.asarray(answer, dtype=object)
        exact = [Fraction(one) for one in given.ravel().tolist()]
    except (TypeError, ValueError, OverflowError):
        exact, given = [], np.empty(0)
    if given.shape != shape:
        raise ParameterError(f"The answer is {answer!r}; it must be {form}.")
    return exact


def dot(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """⟨a, b⟩, exactly"""
    return sum((Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True)), Fraction(0))


def shown(value: Any) -> str:
    """A number as a person would write it."""
    return f"{float(value):.6g}"
