"""The fewest mistakes any separator can make, with a proof of how few they can be.

The 0-1 loss is hard to minimise in general. In one, two and three dimensions all partings of the
points are enumerated exactly. Otherwise separators and witnesses are sought in turn: a separator
bounds the fewest mistakes from above, a collection of witnesses - small sets of rows that no
separator gets right - from below, and when the bounds meet the answer is proved.
"""

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._arguments import require_number, require_switch
from linsep.data.check.arrays import check_rows
from linsep.data.check.labels import encode
from linsep.errors import DataError, ParameterError
from linsep.proofs.mistakes.search import Search


class Conflict(NamedTuple):
    """Rows that no plane gets right, all of them: α ≥ 0 of sum 1 with Σ αᵢyᵢ(xᵢ, 1) = 0.

    `share` is what the conflict adds to the lower bound: no row is in conflicts whose shares sum
    to more than the number of its equals. 0 where the bound rests on how conflicts overlap.
    """

    rows: tuple[int, ...]
    multipliers: tuple[Fraction, ...]
    share: Fraction


@dataclass(frozen=True)
class FewestMistakes:
    """A separator with few mistakes, and what is known about fewer.

    Attributes
    ----------
    mistakes : int
        Rows with yᵢ(⟨w, xᵢ⟩ + b) ≤ 0, counted exactly for these weights and this bias.
    lower_bound : int
        No separator makes fewer: proved, in exact arithmetic.
    optimal : bool
        Whether the two are equal.
    weights, bias : array, float
    rows : array of int
        Which rows are mistaken.
    verdict : str
        The same in one sentence.
    fit_intercept : bool
        False: this is about planes through the origin, and the bias is 0.
    conflicts : tuple of Conflict
        Sets of rows that prove the lower bound: every plane errs on a row of each.
    enumerated : bool
        Whether the lower bound comes from all partings of points in few dimensions instead.
    """

    mistakes: int
    lower_bound: int
    optimal: bool
    weights: npt.NDArray[np.float64]
    bias: float
    rows: npt.NDArray[np.intp]
    verdict: str
    fit_intercept: bool = True
    conflicts: tuple[Conflict, ...] = ()
    enumerated: bool = False

    def __str__(self) -> str:
        return self.verdict

    def verify(self, X: Any, y: Any) -> bool:
        """Check count and lower bound against data, exactly, by code that shares nothing with the
        search.

        False also where points are too many to enumerate again (beyond some 600 in the plane, 150
        in space). `linsep.proofs.verify.mistakes.check_mistakes` says why.
        """
        from linsep.proofs.verify.mistakes import check_mistakes

        return check_mistakes(self, X, y) == ""


def fewest_mistakes(
    X: Any, y: Any, time_limit: float = 60, *, fit_intercept: bool = True
) -> FewestMistakes:
    """Find a separator with as few mistakes as possible, and prove how few are possible.

    A row on the plane is a mistake: yᵢ(⟨w, xᵢ⟩ + b) ≤ 0. The rows are taken as the exact numbers
    they are stored as. The count is recomputed exactly from the weights returned, and the lower
    bound rests on exact arithmetic alone. When time runs out, both are what they were by then.

    Parameters
    ----------
    X, y : rows and labels
        Two classes; dense or sparse.
    time_limit : float
        Seconds; a step that has begun is finished, so expect a little more.
    fit_intercept : bool
        False: planes through the origin only, as learners with `fit_intercept=False` fit them. A
        row of zeros is then a mistake of every plane.

    Returns
    -------
    FewestMistakes
        With `mistakes`, `lower_bound`, `optimal`, `weights`, `bias`, `rows` and `verdict`; its
        `verify(X, y)` checks them by independent code.

    Raises
    ------
    DataError
        For more than two classes, and for what `linsep.separability` refuses.

    Examples
    --------
    >>> from linsep.data.toys import xor
    >>> answer = fewest_mistakes(*xor())
    >>> answer.mistakes, answer.optimal, len(answer.rows)
    (1, True, 1)
    >>> print(answer)
    1 mistake in 4 rows, and no separator makes fewer.
    >>> print(fewest_mistakes([[1.0], [2.0], [-1.0]], [0, 1, 0], fit_intercept=False))
    1 mistake in 3 rows, and no separator through the origin makes fewer.
    """
    require_number("time_limit", time_limit, "a number of seconds > 0")
    require_switch("fit_intercept", fit_intercept)
    if not time_limit > 0:
        raise ParameterError(f"time_limit is {time_limit!r}; a number of seconds was wanted.")
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    if len(classes) > 2:
        raise DataError(
            f"y has {len(classes)} classes, {classes.tolist()[:5]!r}; fewest_mistakes wants two. "
            "Pass one class against the rest, such as y == y[0]."
        )
    signs = 2 * codes.astype(np.int64) - 1
    search = Search(X, signs, time.monotonic() + time_limit, bool(fit_intercept))
    search.run()
    return _answer(search)


def _answer(search: Search) -> FewestMistakes:
    optimal = search.done()
    many = "" if search.mistakes == 1 else "s"
    count = f"{search.mistakes} mistake{many} in {len(search.signs)} rows"
    where = "" if search.fit_intercept else " through the origin"
    if search.mistakes == 0:
        verdict = f"{count}: these weights separate the classes."
    elif optimal:
        verdict = f"{count}, and no separator{where} makes fewer."
    else:
        verdict = f"{count}; every separator{where} makes at least {search.lower}."
    return FewestMistakes(
        search.mistakes,
        search.lower,
        optimal,
        search.weights,
        search.bias,
        search.rows,
        verdict,
        search.fit_intercept,
        tuple(Conflict(*parts) for parts in search.conflicts()),
        search.enumerated,
    )
