"""The steps of one proof of separability, from the cheapest to the most patient.

    Rosenblatt's rule                  a separator, on easy data
    equal rows with different labels   two rows that exclude one
    two of many classes                rows that exclude one, if a pair of classes has no separator
    interior point, working set        a separator, or multipliers; proved in whole numbers
    whole numbers throughout           small problems on which floating point has lost its way

Whatever is found passes the independent verifier before it is claimed.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.proofs.halfspaces.column_ranges import Ranges, contradiction, ranges
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.perceptron_search import passes
from linsep.proofs.halfspaces.separator import Separator, centred, certify, certify_rounded
from linsep.proofs.halfspaces.witness import Witness, prove, whole_separator
from linsep.proofs.margin.exact_margin import closest
from linsep.proofs.margin.hildreth import ascend
from linsep.proofs.margin.refinement import RefinedMargin, refine
from linsep.proofs.margin.upper_bound import Bound, bound, exact_bound
from linsep.proofs.separability.certificate import Separability, Span
from linsep.proofs.separability.search import search
from linsep.proofs.separability.weak_separation import axis, weak_separator
from linsep.proofs.verify.separability import check_codes

Array = npt.NDArray[Any]

_TIGHT, _ROUGH = 1e-6, 0.1
_QUICK, _LONG = 3e8, 3e10  # multiplications granted to Rosenblatt's rule, first and last
_MANY_ROWS = 100_000  # from here on a look at all rows is worth avoiding
_WIDE = 4000  # unknowns beyond which Newton's systems are too large
_SMALL_PROBLEM = 2e5  # numbers: margins of smaller problems are closed without being asked for
_WHOLE_DIMENSION, _WHOLE_ROWS = 40, 3000  # what may be settled in whole numbers alone


class Prover:
    """One run: what is known so far, and the steps that add to it."""

    def __init__(
        self,
        X: Any,
        codes: Array,
        start: Separability,
        late: Callable[[], bool] = bool,
        gap: float | None = None,
    ) -> None:
        self.X, self.codes, self.n_classes = X, codes, len(start.classes)
        self.known, self.late, self.gap = start, late, gap
        self.ranges: Ranges = ranges(X, codes, self.n_classes)
        self.problem = Halfspaces(X, codes, self.n_classes, self.ranges, start.fit_intercept)

    def run(self) -> Separability:
        wide = self.problem.dimension > _WIDE
        first = passes(self.problem, 10 * _QUICK if wide else _QUICK, self.late, patient=wide)
        if first.separator is not None:
            proof = self._separated(first.separator)
            if proof is not None:
                return proof
        if first.hopeless and self.problem.n_rows > _MANY_ROWS:
            witness = self._excluded(self.problem, first.corrected)
            if witness is not None:
                return self._impossible(witness)
        pair = contradiction(self.X, self.codes)
        if pair is not None:
            return self._impossible(self._twins(*pair))
        if self.n_classes > 2:
            witness = self._pairs()
            if witness is not None:
                return self._impossible(witness)
        return self._search(first.corrected)

    def _search(self, likely: Array) -> Separability:
        problem = self.problem
        finding = search(problem, likely, self.late)
        if finding.separator is not None:
            proof = self._separated(finding.separator)
            if proof is not None:
                return proof
        if finding.multipliers is not None:
            witness = prove(problem, finding.ids, finding.rows, finding.multipliers, self.late)
            if witness is not None:
                return self._impossible(witness)
        if not self.late():
            proof = self._whole()
            if proof is not None:
                return proof
        v = passes(problem, _LONG, self.late, patient=True).separator
        proof = None if v is None else self._separated(v)
        return proof or self._undecided()

    def _excluded(self, problem: Halfspaces, likely: Array) -> Witness | None:
        """Rows that exclude a separator, if a linear programme finds them."""
        finding = search(problem, likely, self.late)
        if finding.multipliers is None:
            return None
        return prove(problem, finding.ids, finding.rows, finding.multipliers, self.late)

    def _separated(self, v: Array) -> Separability | None:
        """The certificate of v or of a wider one; None if v separates in floats only."""
        problem = self.problem
        width = self._nearest(v) if self.gap == np.inf else self._refined(v)
        candidates = [lambda: centred(problem, v), lambda: v]
        if width is not None:
            candidates.insert(0, lambda: width.v)
        for candidate in candidates:
            separator = certify(problem, candidate())
            if separator is not None:
                return self._closed(separator, self._upper(width))
        return None

    def _closed(self, separator: Separator, upper: Bound | None) -> Separability:
        """The certificate, its bounds brought together in whole numbers if floats left a gap."""
        gap = self.gap or _TIGHT
        near = upper is not None and upper.upper <= separator.margin * (1 + gap)
        enough = near or gap == np.inf
        hulls = None if enough else closest(self.problem, Fraction(gap) / 2, self.late)
        if hulls is not None:
            better = certify_rounded(self.problem, hulls.plane)
            if better is not None and better.square > separator.square:
                separator = better
            upper = exact_bound(self.problem, hulls.ids, hulls.multipliers)
        return self._certificate(separator, upper)

    def _nearest(self, v: Array) -> RefinedMargin | None:
        """The plane half-way between the classes; its two nearest rows bound every margin.

        Through the origin: the row nearest to the plane, which no margin exceeds in length.
        """
        if self.n_classes > 2:
            return None
        v = centred(self.problem, v)
        z = self.problem.values(v)
        ids = [int(np.where(self.codes == k, z, np.inf).argmin()) for k in (0, 1)]
        ids = ids if self.problem.fit_intercept else [int(z.argmin())]
        return RefinedMargin(v, np.array(ids), np.ones(len(ids)))

    def _refined(self, v: Array) -> RefinedMargin | None:
        problem = self.problem
        small = problem.count * problem.dimension <= _SMALL_PROBLEM
        gap = self.gap or (_TIGHT if small else _ROUGH)
        if problem.dimension > _WIDE and problem.n_classes == 2 and not problem.extreme_scale:
            ascent = ascend(problem, gap, _LONG if self.gap else _QUICK, self.late)
            ids = np.flatnonzero(ascent.alpha)
            return RefinedMargin(
                v if ascent.separator is None else ascent.separator, ids, ascent.alpha[ids]
            )
        return refine(problem, v, gap, 30 if self.gap or small else 8, self.late)

    def _upper(self, width: RefinedMargin | None) -> Bound | None:
        if width is None:
            return None
        if width.multipliers is None:
            return bound(self.problem, width.ids, width.alpha)
        return exact_bound(self.problem, width.ids, width.multipliers)

    def _certificate(self, s: Separator, upper: Bound | None) -> Separability:
        two = self.n_classes == 2
        certificate = replace(
            self.known,
            separable=True,
            quasi_separable=False,
            weights=s.weights[0] if two else s.weights,
            bias=float(s.bias[0]) if two else s.bias,
            plane=s.plane,
            margin=s.margin,
        )
        if upper is not None:
            certificate = replace(
                certificate,
                margin_upper=upper.upper,
                bound_rows=self.problem.rows_of(upper.ids),
                bound_rivals=self.problem.rivals_of(upper.ids),
                bound_multipliers=upper.multipliers,
            )
        return self._approved(certificate)

    def _approved(self, certificate: Separability) -> Separability:
        """The verifier has the last word: what it does not accept is not claimed."""
        return certificate if self._holds(certificate) else self._undecided()

    def _holds(self, certificate: Separability) -> bool:
        return check_codes(certificate, self.X, self.codes, self.n_classes) == ""

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
            sides = Ranges(self.ranges.low[[a, b]], self.ranges.high[[a, b]])
            pair = Halfspaces(self.X[rows], codes, 2, sides, self.problem.fit_intercept)
            first = passes(pair, _QUICK / 10, self.late)
            if first.separator is not None:
                continue
            witness = self._excluded(pair, first.corrected)
            if witness is not None:
                own = self.codes[rows[witness.ids]]
                rivals = np.where(own == a, b, a)
                return Witness(rows[witness.ids] * self.n_classes + rivals, witness.multipliers)
        return None

    def _impossible(self, witness: Witness) -> Separability:
        total = sum(witness.multipliers)
        certificate = replace(
            self.known,
            separable=False,
            margin_upper=0.0,
            rows=self.problem.rows_of(witness.ids),
            rivals=self.problem.rivals_of(witness.ids),
            multipliers=tuple(Fraction(a, total) for a in witness.multipliers),
        )
        if not self._holds(certificate):
            return self._undecided()
        return self._leaning(certificate) or self._spanning(certificate, witness) or certificate

    def _leaning(self, certificate: Separability) -> Separability | None:
        """A plane along one axis, which real data often have."""
        plane = axis(self.problem, self.ranges)
        if plane is None:
            return None
        two = self.n_classes == 2
        leaning = replace(
            certificate,
            quasi_separable=True,
            weights=plane[0][0] if two else plane[0],
            bias=float(plane[1][0]) if two else plane[1],
        )
        return leaning if self._holds(leaning) else None

    def _spanning(self, certificate: Separability, witness: Witness) -> Separability | None:
        proposed = weak_separator(self.problem, self.ranges, witness, self.late)
        if proposed is None:
            return None
        if proposed.leaning is not None:
            better = self._tilted(certificate, proposed.leaning)
        else:
            assert proposed.spanning is not None
            ids, multipliers = proposed.spanning
            total = sum(multipliers)
            normals = tuple(tuple(normal) for normal in proposed.normals)
            better = replace(
                certificate,
                quasi_separable=False,
                span=Span(
                    self.problem.rows_of(ids),
                    self.problem.rivals_of(ids),
                    tuple(Fraction(a, total) for a in multipliers),
                    normals,
                ),
            )
        return better if self._holds(better) else None

    def _tilted(self, certificate: Separability, plane: list[int]) -> Separability:
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
            certificate,
            quasi_separable=True,
            weights=near[0, :-1] if two else near[:, :-1],
            bias=float(near[0, -1]) if two else near[:, -1],
            plane=None if exact else tuple(parts),
        )

    def _whole(self) -> Separability | None:
        """A small problem in whole numbers throughout."""
        problem = self.problem
        if problem.dimension > _WHOLE_DIMENSION or problem.count > _WHOLE_ROWS:
            return None
        settled = whole_separator(problem, problem.all(), out_of_time=self.late)
        if settled is None:
            return None
        if isinstance(settled, Witness):
            return self._impossible(settled)
        separator = certify_rounded(problem, settled)
        if separator is None:
            return None
        width = self._refined(problem.as_floats(settled)[0])
        wider = None if width is None else certify(problem, width.v)
        if wider is not None and wider.square > separator.square:
            separator = wider
        return self._closed(separator, self._upper(width))

    def _undecided(self) -> Separability:
        """What can still be said: no margin exceeds half the distance of the class means."""
        if self.n_classes > 2:
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
