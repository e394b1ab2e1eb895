"""Verdicts while a point is dragged: the rows that excluded a separator mostly still do."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.proofs.separability.certificate import fingerprint
from linsep.proofs.separability.linear_separability import Separability, separability
from linsep.proofs.verify.separability import check_codes

Array = npt.NDArray[Any]


class Verdicts:
    """`separability` that first tries the proof it gave last.

    A proof that nothing separates is about a few rows. It is told again for other data only if the
    exact check accepts it for them; a separator is looked for anew, since the widest one changes.
    """

    def __init__(self) -> None:
        self._last: Separability | None = None

    def __call__(
        self, X: Array, codes: Array, *, fit_intercept: bool, **limits: float
    ) -> Separability:
        """The proof for float rows and class numbers 0, 1, …, all of which occur."""
        last = self._last
        if last is not None and last.shape == X.shape and last.fit_intercept == fit_intercept:
            n_classes = len(last.classes)
            same = np.array_equal(np.unique(codes), last.classes)
            if same and check_codes(last, X, codes, n_classes) == "":
                self._last = replace(last, fingerprint=fingerprint(X, codes))
                return self._last
        proof = separability(X, codes, fit_intercept=fit_intercept, **limits)
        self._last = proof if proof.separable is False else None
        return proof
