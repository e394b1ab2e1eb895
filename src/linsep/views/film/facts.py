"""What is certain about a run: separable or not with its proof, and how many mistakes at most."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linsep.status import Status
from linsep.views.scene.run import Run
from linsep.views.scene.squeeze import Squeeze, squeeze_of

SECONDS = 10.0


class Facts(NamedTuple):
    """What can be said for certain.

    Attributes
    ----------
    verdict : a sentence
    separable : True, False, or None where it is not known
    rows : places, among the rows held, of those that prove there is no separator
    multipliers : their multipliers, as they are written
    balanced : whether those of each class have the same sum, so that two means meet
    bound : how many mistakes there can be at most, or None
    bound_text : the same in a sentence, or why there is none
    margin : the certified margin, or None
    radius, gamma : R and γ of the bound, both where the bias is the weight of a constant feature
    weights : of the widest separator known, or None
    squeeze : both sides of the bound's proof along the run, where it is about this run
    """

    verdict: str
    separable: bool | None
    rows: list[int]
    multipliers: list[str]
    balanced: bool
    bound: int | None
    bound_text: str
    margin: float | None = None
    radius: float | None = None
    gamma: float | None = None
    weights: Any = None
    squeeze: Squeeze | None = None


def facts_of(run: Run, proof: Any = None, prove: Callable[..., Any] | None = None) -> Facts:
    """Prove what can be proved from the rows held; `proof` is that of the fit, if it has one.

    `prove` takes the place of `separability`, for callers that know more.

    That nothing separates is proved once. A separator is looked for again: the widest one.
    """
    from linsep import mistake_bound, separability

    rows = run.rows
    fit_intercept = bool(run.trace.parameters.get("fit_intercept", True) or not run.through_origin)
    if not rows.whole and run.trace.status in (Status.separated, Status.averaged):
        said = (
            f"Separable, as the run itself found: its last pass met all {rows.total:,} rows "
            f"strictly on their own sides. {len(rows.X):,} of them were kept here."
        )
        return Facts(said, True, [], [], False, None, "")
    if not rows.whole:
        option = "" if fit_intercept else " --no-intercept"
        said = (
            f"Separable or not: unknown here, for only {len(rows.X):,} of {rows.total:,} rows were "
            f"kept. `linsep certify DATA{option}` proves it."
        )
        return Facts(said, None, [], [], False, None, "")
    answer = proof
    if proof is None or proof.separable is not False or proof.fit_intercept != fit_intercept:
        answer = (prove or separability)(
            rows.X, rows.codes, fit_intercept=fit_intercept, time_limit=SECONDS
        )
    places = [] if answer.rows is None else [int(i) for i in answer.rows]
    alphas = [] if answer.multipliers is None else [str(one) for one in answer.multipliers]
    bound, text, squeeze = None, _why_no_bound(run), None
    pair: tuple[float | None, float | None] = None, None
    if answer.separable and not text:
        step = run.trace.parameters.get("bias_step", "unit")
        known = mistake_bound(
            rows.X, rows.codes, answer, bias_step=step, fit_intercept=fit_intercept
        )
        text = known.verdict
        if np.isfinite(known.bound):
            bound, pair = int(known.bound), (float(known.radius), float(known.margin))
        squeeze = squeeze_of(run, known)
    elif not text:
        text = "Nothing bounds the mistakes: Novikoff's theorem needs a separator."
    balanced = fit_intercept and len(answer.classes) == 2
    margin = float(answer.margin) if answer.separable and np.isfinite(answer.margin) else None
    weights = answer.weights if answer.separable else None
    return Facts(answer.verdict, answer.separable, places, alphas, balanced, bound, text, margin,
                 *pair, weights, squeeze)  # fmt: skip


def _why_no_bound(run: Run) -> str:
    """Why Novikoff's theorem does not speak of this run, or nothing."""
    parameters = run.trace.parameters
    if run.trace.learner != "Perceptron" or parameters.get("rule") != "online":
        return "Novikoff's bound is for the online perceptron."
    if run.W[0].any() or run.b[0].any():
        return "Novikoff's bound is for runs that start from zero."
    if parameters.get("margin") or parameters.get("class_weight"):
        return "Novikoff's bound is for the plain rule: no margin, no class weights."
    if parameters.get("bias_step", "unit") not in ("unit", "radius"):
        return "Novikoff's bound is told for a constant feature of 1, or of the radius."
    if len(run.trace.classes) > 2 and parameters.get("multiclass") != "kesler":
        return "Novikoff's bound is for one machine, not for one plane against the rest."
    steps = {abs(part) for event in run.trace.updates for part in event["step"] if part}
    if len(steps) > 1:
        return "Novikoff's bound is for steps of one size."
    return ""
