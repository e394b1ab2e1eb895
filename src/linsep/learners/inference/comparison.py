"""Two fits of the same rows, one with fewer columns: whether the others say anything."""

from typing import Any, NamedTuple

from scipy import special

from linsep.errors import ParameterError


class Comparison(NamedTuple):
    """A likelihood-ratio test of the smaller fit against the larger.

    Attributes
    ----------
    ratio : twice the difference of their log-likelihoods
    freedom : how many weights more the larger one has
    chance : that a ratio is as large where the weights are zero
    left_out : columns that only the larger one has
    AIC, BIC : of the larger one less those of the smaller: below zero speak for the larger
    """

    ratio: float
    freedom: int
    chance: float
    left_out: list[str]
    AIC: float
    BIC: float

    def __str__(self) -> str:
        return (
            f"{', '.join(self.left_out)}: likelihood-ratio chi2 {self.ratio:.6g} with "
            f"{self.freedom} degrees of freedom, P>chi2 {self.chance:.6g}; "
            f"AIC {self.AIC:+.6g}, BIC {self.BIC:+.6g} with them."
        )


def compared(one: Any, other: Any) -> Comparison:
    """The test of two `LogisticFit` or `LinearFit`, in either order."""
    if type(one) is not type(other):
        raise ParameterError("only two fits of the same kind of learner can be compared.")
    small, large = sorted((one, other), key=lambda fit: len(fit.names))
    if len(small.rows) != len(large.rows) or not small.same_labels(large):
        raise ParameterError("the fits are not of the same rows: their labels or weights differ.")
    if not set(small.names) < set(large.names):
        raise ParameterError(
            "neither fit is the other one with columns left out; "
            f"they have {small.names} and {large.names}."
        )
    a, b = small.figures(), large.figures()
    ratio = 2.0 * (b["log-likelihood"] - a["log-likelihood"])
    freedom = large.size - small.size
    left_out = [name for name in large.names if name not in set(small.names)]
    chance = float(special.chdtrc(freedom, max(0.0, ratio)))
    return Comparison(ratio, freedom, chance, left_out, b["AIC"] - a["AIC"], b["BIC"] - a["BIC"])
