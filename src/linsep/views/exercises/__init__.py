"""Exercises of the five lectures, each with a check of any answer.

Answers are checked in exact arithmetic where they are numbers, and by the library's own proofs
where they are planes or data; what fails is said with the input that it fails at.
"""

from importlib import import_module
from typing import Any

from linsep.errors import ParameterError
from linsep.views.exercises.exercise import Exercise, Verdict

__all__ = ["Exercise", "Verdict", "exercise", "exercises"]

LECTURES = range(1, 6)
NOTHING: Any = object()


def exercises() -> dict[str, Exercise]:
    """All of them by number, such as '2.3'."""
    found: dict[str, Exercise] = {}
    for lecture in LECTURES:
        questions = import_module(f"{__name__}.lecture_{lecture}").EXERCISES
        found.update({f"{lecture}.{k}": one for k, one in enumerate(questions, 1)})
    return found


def exercise(number: str, answer: Any = NOTHING) -> Exercise | Verdict:
    """An exercise of the lectures, or what is to be said of an answer to it.

    Parameters
    ----------
    number : lecture and exercise, such as "2.3"
    answer : in the form that the exercise asks for; where it is left out, the exercise is returned

    Examples
    --------
    >>> print(exercise("1.1"))
    Two of three
    <BLANKLINE>
    A threshold unit says 1 where w1 x1 + w2 x2 + w3 x3 + b ≥ 0, and 0 elsewhere. Choose its weights so that it says 1 exactly where at least two of the three inputs are 1.
    <BLANKLINE>
    Answer: four numbers w1, w2, w3, b
    >>> print(exercise("1.1", (1, 1, 1, -3)))
    Not yet: for (0, 1, 1) the unit must say 1; its sum is -1.
    >>> bool(exercise("1.1", (1, 1, 1, -2)))
    True
    """  # noqa: E501
    known = exercises()
    if str(number) not in known:
        raise ParameterError(f"number is {number!r}; the exercises are {', '.join(known)}.")
    found = known[str(number)]
    return found if answer is NOTHING else found.check(answer)
