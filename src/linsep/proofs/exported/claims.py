"""What was proved, as JSON that programs other than linsep can check: docs/certificates.md."""

import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.check.arrays import check_rows, check_weights
from linsep.data.check.labels import encode
from linsep.errors import DataError, ParameterError
from linsep.proofs.exported.multipliers import Exact, scaled_multipliers
from linsep.proofs.gap import duality_gap
from linsep.proofs.gap.certificate import Certificate, FittedProblem, certify_planes
from linsep.proofs.gap.joint_certificate import certify_crammer_singer, certify_softmax
from linsep.proofs.gap.moves import Told
from linsep.proofs.gap.penalty import RIDGE, Penalty
from linsep.proofs.gap.proposals import hinge_multipliers, joint_multipliers

Array = npt.NDArray[Any]
Claim = dict[str, Any]

FORMAT = "linsep proof"
VERSION = 1
_LEAST = (
    2.0**-40
)  # of the objective: what the primal claim may be above it, for the claim's own sum


def document(claims: list[Claim], classes: Array, shape: Any, data: dict[str, Any]) -> str:
    """The text of a certificate; `data` says how the rows lie in their file."""
    labels = [c if isinstance(c, (str, int, float, bool)) else str(c) for c in classes.tolist()]
    body = {
        "format": FORMAT,
        "version": VERSION,
        "data": data,
        "classes": labels,
        "shape": list(shape),
        "claims": claims,
    }
    return json.dumps(body, indent=1, allow_nan=False) + "\n"


def separability_claim(proof: Any) -> Claim:
    """Separable or not: the fields of `Separability.to_json` that are claims."""
    body = json.loads(proof.to_json())
    told = ("format", "version", "digest", "fingerprint", "classes", "shape")
    return {"claim": "separability"} | {k: v for k, v in body.items() if k not in told}


def bound_claim(bound: Any) -> Claim:
    """Novikoff's bound."""
    plane = None
    if bound.plane is not None:
        plane = [[f"{a.numerator:#x}/{a.denominator:#x}" for a in part] for part in bound.plane]
    return {
        "claim": "mistake bound",
        "fit_intercept": bound.fit_intercept,
        "bias_step": bound.bias_step,
        "radius": float(bound.radius).hex(),
        "margin": float(bound.margin).hex(),
        "bound": hex(bound.bound),
        "weights": _hex(bound.weights),
        "bias": _hex(bound.bias),
        "plane": plane,
    }


def gap_claims(
    model: Any, X: Any, y: Any, sample_weight: Any = None, offset: Any = None
) -> list[Claim]:
    """How near a fitted model is to its optimum: one claim, or one for each class against the rest.

    Raises
    ------
    ParameterError
        For a model without a duality gap, or one whose objective rounding hides.

    Examples
    --------
    >>> from linsep import LogisticRegression
    >>> from linsep.data.toys import overlapping
    >>> X, y = overlapping(n=60)
    >>> claim, = gap_claims(LogisticRegression(tol=1e-9).fit(X, y), X, y)
    >>> primal, dual = (float.fromhex(claim[name]) for name in ("primal", "dual"))
    >>> 0 < primal - dual < 1e-8 * primal
    True
    """
    if not hasattr(model, "classes_"):
        raise ParameterError(
            f"model is a {type(model).__name__}, and certificates for other programs are of "
            "classes. linsep.gap proves it here."
        )
    duality_gap.gap(model, X, y, sample_weight, offset)  # refuses what has none
    X = check_rows(X)
    X = X.astype(np.float64) if X.dtype != np.float64 else X
    classes, codes = encode(y, X.shape[0], classes=model.classes_)
    if len(np.unique(codes)) < len(classes):
        raise DataError("the data lack a class of the model; give the rows it was fitted to.")
    weights = check_weights(sample_weight, X.shape[0])
    told = duality_gap.told_of(model, X.shape[0], X.shape[1], offset)
    C = duality_gap._penalties(model, classes, codes, weights, told)
    return _Fit(model, X, codes, C, told).claims()


class _Fit:
    """A fitted LogisticRegression or LinearSVC, and the objective it minimised."""

    def __init__(self, model: Any, X: Any, codes: Array, C: Any, told: Told | None) -> None:
        self.model, self.X, self.codes, self.C = model, X, codes, C
        self.K = len(model.classes_)
        word, ratio = getattr(model, "penalty", None), getattr(model, "l1_ratio", None)
        self.penalty = RIDGE
        if type(model).__name__ == "LogisticRegression":
            ratio = 1.0 if word == "l1" else float(ratio or 0.0)
            self.loss, self.joint = "logistic", self.K > 2
            self.penalty = Penalty(ratio, 1.0 - ratio)
        else:
            self.loss = {"hinge": "hinge"}.get(model.loss, "squared hinge")
            words = getattr(model, "multiclass", "ovr"), getattr(model, "multi_class", "ovr")
            self.joint = "crammer-singer" in words or "crammer_singer" in words
            if word == "l1":
                self.penalty = Penalty(1.0, 0.0)
            if self.joint:
                self.loss = "hinge"
                self.penalty = Penalty(0.0, 0.5 if self.K == 2 else 1.0)
        self.problem = duality_gap._problem(model, X, codes, C, self.penalty, told)
        self.penalty = self.problem.penalty

    def claims(self) -> list[Claim]:
        hint = duality_gap._hint(self.model, np.arange(len(self.codes)))
        if self.K == 2 or self.joint:
            return [self._claim(self.problem, self.codes, None, hint)]
        every = []
        for k in range(self.K):
            codes = (self.codes == k).astype(self.codes.dtype)
            at = slice(k, k + 1)
            part = self.problem._replace(W=self.problem.W[at], b=self.problem.b[at], codes=codes)
            if part.told is not None:
                part = part._replace(told=part.told.plane(k))
            own = None if hint is None else hint[:, at]
            every.append(self._claim(part, codes, k, own))
        return every

    def _claim(
        self, problem: FittedProblem, codes: Array, k: int | None, hint: Array | None
    ) -> Claim:
        C = problem.caps((0, len(codes)))
        l1, l2 = self.penalty
        beta = self._proposal(problem, codes, hint)
        told = problem.told
        exact, dual = scaled_multipliers(
            self.loss, beta, self.X, codes, C, l1, l2, problem.free, told
        )  # fmt: skip
        if told is not None and not dual > 0.0:
            raise ParameterError(
                "no bound can be exported: a weight has neither penalty nor bounds, which only "
                "linsep.gap proves. Give it bounds, or a small number in penalty_weights."
            )
        primal = _counted(self.loss, problem, exact).high * (1 + _LEAST)
        if not math.isfinite(primal):
            raise ParameterError(
                "model and data are of sizes at which rounding hides the objective, so nothing "
                "can be exported. Bring the features to moderate sizes and fit again."
            )
        one = float(C[0]).hex() if len(np.unique(C)) == 1 else _hex(C)
        return {
            "claim": "gap",
            "against_rest": k,
            "objective": {
                "loss": self.loss, "C": one, "l1": float(l1).hex(), "l2": float(l2).hex(),
                "intercept": problem.free, **_told(told, len(codes)),
            },
            "weights": _hex(problem.W),
            "bias": _hex(problem.b),
            "primal": float(primal).hex(),
            "dual": float(max(0.0, dual)).hex(),
            "multipliers": [_hex(part) for part in exact.floats.T],
        }  # fmt: skip

    def _proposal(self, problem: FittedProblem, codes: Array, hint: Array | None) -> Array:
        """βᵢₖ in floats: the slopes of the loss, or what the model or least squares propose."""
        n, C = len(codes), problem.caps((0, len(codes)))
        S = np.asarray(self.X @ problem.W.T + problem.b)
        if problem.told is not None and problem.told.offset is not None:
            S += problem.told.offset.reshape(n, -1)
        if self.joint and self.K > 2:
            if self.loss == "logistic":
                P = np.exp(S - S.max(axis=1, keepdims=True))
                return np.asarray(C[:, None] * P / P.sum(axis=1, keepdims=True))
            return np.maximum(0.0, -(joint_multipliers(problem) if hint is None else hint))
        signs = np.where(codes == 1, 1.0, -1.0)
        z = signs * S[:, 0]
        if hint is not None:
            alpha = hint[:, 0] * signs * (problem.penalty.l2 if self.joint else 1.0)
        elif self.loss == "logistic":
            alpha = C * np.exp(-np.logaddexp(0.0, z))
        elif self.loss == "squared hinge":
            alpha = 2 * C * np.maximum(0.0, 1 - z)
        else:  # proposals are for ½‖w‖², whose weights are the same at C/l2
            alpha = problem.penalty.l2 * hinge_multipliers(
                problem._replace(C=problem.C / problem.penalty.l2), 0, signs
            )
        beta = np.zeros((n, 2))
        beta[np.arange(n), 1 - codes] = alpha
        return beta


def _told(told: Told | None, n: int) -> Claim:
    """What was told, as the objective of a claim has it."""
    if told is None:
        return dict.fromkeys(("penalty_weights", "offset", "lower", "upper"))
    lower, upper = (
        [[None if math.isinf(x) else x.hex() for x in plane] for plane in bound.tolist()]
        for bound in (told.low, told.high)
    )
    offset = None if told.offset is None else _hex(told.offset.reshape(n, -1))
    return {
        "penalty_weights": _hex(told.weight), "offset": offset, "lower": lower, "upper": upper,
    }  # fmt: skip


def _counted(loss: str, problem: FittedProblem, exact: Exact) -> Certificate:
    """Bounds on the objective of the stored weights."""
    if len(problem.W) == 1:
        alpha = exact.floats.sum(axis=1)[None]
        return certify_planes(loss.replace(" ", "_"), problem, alpha)
    if loss == "logistic":
        return certify_softmax(problem)
    return certify_crammer_singer(problem, -exact.floats)


def _hex(values: Any) -> Any:
    """Floats as hexadecimal text, which is exact, zeros as 0; arrays as lists of them."""
    if values is None:
        return None
    if np.ndim(values) == 0:
        return float(values).hex() if values else 0
    return [_hex(part) for part in np.asarray(values, np.float64).tolist()]
