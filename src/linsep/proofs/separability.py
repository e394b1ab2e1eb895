"""Is there a separating plane? Yes, with the plane; or no, with rows that rule every plane out."""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.arrays import check_rows
from linsep.data.labels import encode
from linsep.errors import DataError, ParameterError
from linsep.proofs.bounds import Bound, bound
from linsep.proofs.certificate import Separability, Span, fingerprint
from linsep.proofs.faces import axis, face
from linsep.proofs.halfspaces import Halfspaces
from linsep.proofs.interior import steady
from linsep.proofs.passes import passes
from linsep.proofs.ranges import Ranges, contradiction, ranges
from linsep.proofs.search import search
from linsep.proofs.separator import Separator, centred, certify, certify_rounded
from linsep.proofs.verify import check_codes
from linsep.proofs.widen import Width, widen
from linsep.proofs.witness import Witness, prove, whole_separator

__all__ = ["Separability", "separability"]

Array = npt.NDArray[Any]

_TIGHT, _ROUGH = 1e-6, 0.1
_QUICK, _LONG = 3e8, 1e11  # multiplications granted to Rosenblatt's rule, first and last
_SMALL_PROBLEM = 2e5  # numbers: margins of smaller problems are closed without being asked for
_WHOLE_DIMENSION, _WHOLE_ROWS = 40, 3000  # what may be settled in whole numbers alone


def separability(
    X: Any, y: Any, *, time_limit: float | None = None, gap: float | None = None
) -> Separability:
    """Prove that a plane separates the classes, or prove that none does.

    Data are taken as stored: a float is a fraction, so that the answer is a fact about exactly these
    numbers. Either weights w and bias b with yᵢ(⟨w, xᵢ⟩ + b) > 0 for every row, with certified bounds
    on the largest margin; or at most d + 2 rows and multipliers α ≥ 0 of sum one with
    Σ αᵢyᵢ(xᵢ, 1) = 0, which no plane survives (Gordan 1873). Whatever floating point merely suggests
    is reported as undecided. More than two classes are separable when ⟨w_y, x⟩ + b_y is largest for
    the right class of every row (Kesler's construct).

    Parameters
    ----------
    X : array-like, sparse matrix or data frame
        Rows. Integers must be below 2^53, where float64 is exact.
    y : array-like
        Labels; the positive class is the last of the two in sorted order.
    time_limit : float, optional
        Seconds after which the answer may be "undecided", with the bounds known by then.
    gap : float, optional
        How near, relatively, `margin` and `margin_upper` should come; 1e-6 is within reach. By
        default small problems are closed to 1e-6 and large ones to about a tenth.

    Returns
    -------
    Separability
        Its `separable` is True, False or None, its `verdict` a sentence, and its `verify(X, y)` checks
        the proof by independent code.

    Examples
    --------
    >>> found = separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    >>> found.separable, found.rows.tolist(), [str(a) for a in found.multipliers]
    (False, [0, 1, 2, 3], ['1/4', '1/4', '1/4', '1/4'])
    >>> found = separability([[1, 1], [0.5, 3], [2, 2]], [1, 1, -1])
    >>> print(found)
    Separable: a plane has all 3 rows in 2 dimensions strictly on their sides, margin 0.606339
    (the largest is at most 0.606339).
    """
    _check_parameters(time_limit, gap)
    late = _clock(time_limit)
    _refuse_wide_integers(X)
    X = check_rows(X)
    classes, codes = encode(y, X.shape[0])
    start = Separability(None, None, classes, X.shape, fingerprint=fingerprint(X, codes))
    with steady(X.shape[0] * X.shape[1]):
        return _Prover(X, codes, len(classes), start, late, gap).run()


def _check_parameters(time_limit: float | None, gap: float | None) -> None:
    if time_limit is not None and not time_limit >= 0:
        raise ParameterError(f"time_limit is {time_limit!r}; give seconds, 0 or more, or None.")
    if gap is not None and not 0 < gap < 1:
        raise ParameterError(f"gap is {gap!r}; give a relative distance between 0 and 1, or None.")


def _clock(time_limit: float | None) -> Callable[[], bool]:
    """Whether the time is up."""
    if time_limit is None:
        return bool
    end = time.monotonic() + time_limit
    return lambda: time.monotonic() >= end


def _refuse_wide_integers(X: Any) -> None:
    """Integers that float64 would round are refused: a proof must be about the numbers given."""
    values = X.data if sp.issparse(X) else np.asarray(X) if np.ndim(X) == 2 else None
    if values is None or not isinstance(values, np.ndarray) or values.dtype.kind not in "iuOg":
        return
    if values.dtype.kind in "iu" and values.dtype.itemsize < 8:
        return
    with np.errstate(all="ignore"):
        try:
            floats = values.astype(np.float64)
            same = (
                bool(np.all(floats.astype(values.dtype) == values))
                if values.dtype.kind != "O"
                else all(
                    f == v
                    for f, v in zip(
                        floats.reshape(-1).tolist(), values.reshape(-1).tolist(), strict=True
                    )
                )
            )
            if values.dtype.kind in "iu":
                same = same and bool(np.all(np.abs(floats) <= 2.0**53))
        except (TypeError, ValueError, OverflowError):
            return  # not numbers: the check of X says so better
    if not same:
        raise DataError(
            "X holds numbers that float64 cannot express, such as integers beyond 2**53; a proof would "
            "be about other numbers. Subtract an offset or scale X first."
        )


class _Prover:
    """One run: what is known so far, and the steps that add to it."""

    def __init__(
        self,
        X: Any,
        codes: Array,
        n_classes: int,
        start: Separability,
        late: Callable[[], bool],
        gap: float | None,
    ) -> None:
        self.X, self.codes, self.n_classes = X, codes, n_classes
        self.known, self.late, self.gap = start, late, gap
        self.ranges: Ranges = ranges(X, codes, n_classes)
        self.problem = Halfspaces(X, codes, n_classes, self.ranges)

    def run(self) -> Separability:
        first = passes(self.problem, _QUICK, self.late)
        if first.separator is not None:
            found = self._separated(first.separator)
            if found is not None:
                return found
        pair = contradiction(self.X, self.codes)
        if pair is not None:
            return self._impossible(self._twins(*pair))
        if self.n_classes > 2:
            witness = self._pairs()
            if witness is not None:
                return self._impossible(witness)
        return self._search(self.problem, first.corrected)

    def _search(self, problem: Halfspaces, likely: Array) -> Separability:
        finding = search(problem, likely, self.late)
        if finding.separator is not None:
            found = self._separated(finding.separator)
            if found is not None:
                return found
        if finding.multipliers is not None:
            witness = prove(problem, finding.ids, finding.rows, finding.multipliers, self.late)
            if witness is not None:
                return self._impossible(witness)
        if not self.late():
            found = self._whole(finding.ids)
            if found is not None:
                return found
        v = passes(problem, _LONG, self.late, patient=True).separator
        found = None if v is None else self._separated(v)
        return found or self._undecided()

    # -- separable ---------------------------------------------------------------------------

    def _separated(self, v: Array) -> Separability | None:
        """The certificate of v or of a wider one; None if v separates in floats only."""
        problem = self.problem
        width = self._width(v)
        first = [] if width is None else [width.v]
        for candidate in [*first, centred(problem, v), v]:
            separator = certify(problem, candidate)
            if separator is not None:
                return self._certificate(separator, self._upper(width))
        return None

    def _width(self, v: Array) -> Width | None:
        problem = self.problem
        small = problem.count * problem.dimension <= _SMALL_PROBLEM
        gap = self.gap or (_TIGHT if small else _ROUGH)
        return widen(problem, v, gap, 30 if self.gap or small else 8, self.late)

    def _upper(self, width: Width | None) -> Bound | None:
        return None if width is None else bound(self.problem, width.ids, width.alpha)

    def _certificate(self, s: Separator, upper: Bound | None) -> Separability:
        two = self.n_classes == 2
        found = replace(
            self.known,
            separable=True,
            quasi_separable=False,
            weights=s.weights[0] if two else s.weights,
            bias=float(s.bias[0]) if two else s.bias,
            plane=s.plane,
            margin=s.margin,
        )
        if upper is not None:
            found = replace(
                found,
                margin_upper=upper.upper,
                bound_rows=self.problem.rows_of(upper.ids),
                bound_rivals=self.problem.rivals_of(upper.ids),
                bound_multipliers=upper.multipliers,
            )
        return self._approved(found)

    def _approved(self, found: Separability) -> Separability:
        """The verifier has the last word: what it does not accept is not claimed."""
        problem = check_codes(found, self.X, self.codes, self.n_classes)
        return found if not problem else self._undecided()

    # -- not separable -----------------------------------------------------------------------

    def _twins(self, i: int, j: int) -> Witness:
        """Two equal rows of different classes, each against the other's class."""
        if self.n_classes == 2:
            return Witness(np.array([i, j]), [1, 1])
        K = self.n_classes
        return Witness(np.array([i * K + self.codes[j], j * K + self.codes[i]]), [1, 1])

    def _pairs(self) -> Witness | None:
        """Two classes that no plane separates rule out all classes together."""
        for a, b in combinations(range(self.n_classes), 2):
            if self.late():
                return None
            rows = np.flatnonzero((self.codes == a) | (self.codes == b))
            codes = (self.codes[rows] == b).astype(np.int32)
            pair = Halfspaces(
                self.X[rows], codes, 2, Ranges(self.ranges.low[[a, b]], self.ranges.high[[a, b]])
            )
            first = passes(pair, _QUICK / 10, self.late)
            if first.separator is not None:
                continue
            finding = search(pair, first.corrected, self.late)
            if finding.multipliers is None:
                continue
            witness = prove(pair, finding.ids, finding.rows, finding.multipliers, self.late)
            if witness is not None:
                own = self.codes[rows[witness.ids]]
                rivals = np.where(own == a, b, a)
                return Witness(rows[witness.ids] * self.n_classes + rivals, witness.multipliers)
        return None

    def _impossible(self, witness: Witness) -> Separability:
        total = sum(witness.multipliers)
        found = replace(
            self.known,
            separable=False,
            margin_upper=0.0,
            rows=self.problem.rows_of(witness.ids),
            rivals=self.problem.rivals_of(witness.ids),
            multipliers=tuple(Fraction(a, total) for a in witness.multipliers),
        )
        if check_codes(found, self.X, self.codes, self.n_classes):
            return self._undecided()
        return self._leaning(found) or self._spanning(found, witness) or found

    def _leaning(self, found: Separability) -> Separability | None:
        """A plane along one axis, which real data often have."""
        plane = axis(self.problem, self.ranges)
        if plane is None:
            return None
        two = self.n_classes == 2
        leaning = replace(
            found,
            quasi_separable=True,
            weights=plane[0][0] if two else plane[0],
            bias=float(plane[1][0]) if two else plane[1],
        )
        return None if check_codes(leaning, self.X, self.codes, self.n_classes) else leaning

    def _spanning(self, found: Separability, witness: Witness) -> Separability | None:
        proposed = face(self.problem, self.ranges, witness, self.late)
        if proposed is None:
            return None
        if proposed.leaning is not None:
            better = self._tilted(found, proposed.leaning)
        else:
            assert proposed.spanning is not None
            ids, multipliers = proposed.spanning
            total = sum(multipliers)
            normals = tuple(tuple(self._original(normal)) for normal in proposed.normals)
            better = replace(
                found,
                quasi_separable=False,
                span=Span(
                    self.problem.rows_of(ids),
                    self.problem.rivals_of(ids),
                    tuple(Fraction(a, total) for a in multipliers),
                    normals,
                ),
            )
        return None if check_codes(better, self.X, self.codes, self.n_classes) else better

    def _original(self, v: list[int]) -> list[int]:
        """Weights of scaled columns in original units, up to a positive factor, whole."""
        shifts = [*self.problem.exponents.tolist(), 0] * self.problem.blocks
        top = max(shifts)
        return [a << (top - e) for a, e in zip(v, shifts, strict=True)]

    def _tilted(self, found: Separability, v: list[int]) -> Separability:
        plane = self._original(v)
        scale = 1 << max(abs(a) for a in plane).bit_length()
        width = self.problem.n_features + 1
        parts = [
            tuple(Fraction(a, scale) for a in plane[k * width : (k + 1) * width])
            for k in range(self.problem.blocks)
        ]
        near = np.array([[float(a) for a in part] for part in parts])
        exact = all(
            Fraction(f) == a
            for row, part in zip(near.tolist(), parts, strict=True)
            for f, a in zip(row, part, strict=True)
        )
        two = self.n_classes == 2
        return replace(
            found,
            quasi_separable=True,
            weights=near[0, :-1] if two else near[:, :-1],
            bias=float(near[0, -1]) if two else near[:, -1],
            plane=None if exact else tuple(parts),
        )

    # -- neither -----------------------------------------------------------------------------

    def _whole(self, ids: Array) -> Separability | None:
        """A small problem in whole numbers throughout, on a growing set of constraints."""
        problem = self.problem
        if problem.dimension > _WHOLE_DIMENSION or problem.count > _WHOLE_ROWS:
            return None
        found = whole_separator(problem, problem.all(), out_of_time=self.late)
        if found is None:
            return None
        if isinstance(found, Witness):
            return self._impossible(found)
        separator = certify_rounded(problem, found)
        if separator is None:
            return None
        top = max(abs(a) for a in found).bit_length()
        width = self._width(np.array([a / (1 << top) for a in found]))
        wider = None if width is None else certify(problem, width.v)
        if wider is not None and wider.square > separator.square:
            separator = wider
        return self._certificate(separator, self._upper(width))

    def _undecided(self) -> Separability:
        """What can still be said: no margin exceeds half the distance of the class means."""
        if self.n_classes > 2 or math.isfinite(self.known.margin_upper):
            return self.known
        groups = [np.flatnonzero(self.codes == k) for k in (0, 1)]
        groups = [rows[:: max(1, len(rows) // 64)] for rows in groups]
        few = np.concatenate(groups)
        weights = np.concatenate([np.full(len(rows), 1 / len(rows)) for rows in groups])
        upper = bound(self.problem, few, weights)
        if upper is None:
            return self.known
        return replace(
            self.known,
            margin_upper=upper.upper,
            bound_rows=upper.ids,
            bound_multipliers=upper.multipliers,
        )
