"""Parameters that scikit-learn's learners of the same name take, and what becomes of them here.

What means the same is accepted. What would mean something else is refused, with the words for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

import numpy as np

from linsep.data.encoding.drift import tell
from linsep.errors import ParameterError
from linsep.learners.fitting.parameters import one_of, positive

SAME_OPTIMUM = ("lbfgs", "newton-cg", "newton-cholesky", "sag", "saga")
"""scikit-learn's solvers of the objective that is minimised here: any of ours will do."""


def known_solver(solver: str) -> str:
    """The solver asked for, by our names."""
    return "auto" if solver in (*SAME_OPTIMUM, "liblinear") else solver


def l1_share(learner: Any) -> float:
    """The share of the penalty that is l1: `penalty="l1"` says it without `l1_ratio`."""
    ratio = float(learner.l1_ratio)
    return 1.0 if learner.penalty == "l1" and ratio == 0 else ratio


@contextmanager
def strength_meant(learner: Any) -> Iterator[None]:
    """`penalty=None` means C = ∞, whatever C is."""
    C = learner.C
    if learner.penalty is None:
        if C not in (1.0, np.inf) or learner.l1_ratio:
            tell(["penalty=None will ignore the C and l1_ratio parameters; leave them out."])
        learner.C = np.inf
    try:
        yield
    finally:
        learner.C = C


def check_logistic(learner: Any) -> None:
    """Refuse what `LogisticRegression` of scikit-learn means otherwise."""
    penalty, ratio = learner.penalty, learner.l1_ratio
    positive("l1_ratio", ratio, zero=True)
    if ratio > 1:
        raise ParameterError(f"l1_ratio is {ratio!r}; give a number from 0 to 1.")
    one_of("multi_class", learner.multi_class, ("deprecated", "auto", "multinomial", "ovr"))
    wanted = {"l2": 0.0, "l1": 1.0}
    if penalty == "firth" and learner.solver != "auto":
        raise ParameterError(
            f"penalty is 'firth' and solver {learner.solver!r}; Firth's penalty has its own way to "
            "be fitted. Leave solver out."
        )
    if penalty not in ("deprecated", None, "l1", "l2", "elasticnet", "firth"):
        raise ParameterError(
            f"penalty is {penalty!r}; leave it out and give l1_ratio: 0 for l2, 1 for l1, between "
            "for elasticnet."
        )
    if penalty in wanted and ratio not in (0.0, wanted[penalty]):
        raise ParameterError(
            f"penalty is {penalty!r} and l1_ratio {ratio!r}; give l1_ratio={wanted[penalty]}, "
            "which says both."
        )
    if learner.solver == "liblinear" and learner.fit_intercept:
        raise ParameterError(
            "solver='liblinear' penalises the intercept, which is free here. Use solver='auto'; or "
            "append a column of ones and set fit_intercept=False for the other answer."
        )
    _check_both(learner)


def check_multi_class(learner: Any, binary: bool) -> None:
    """Refuse words of scikit-learn for several classes that mean another loss for these."""
    if learner.multi_class == "ovr" and not binary:
        raise ParameterError(
            "multi_class is 'ovr', and y has several classes, which are fitted together here. For "
            "one against the rest use sklearn.multiclass.OneVsRestClassifier(LogisticRegression())."
        )
    if learner.multi_class == "multinomial" and binary:
        raise ParameterError(
            "multi_class is 'multinomial', and y has two classes: a pair of hyperplanes for them "
            f"halves the penalty. Leave it out, or give C={2 * learner.C!r} for the same answer."
        )


def check_perceptron(learner: Any) -> None:
    """Refuse values that `Perceptron` of scikit-learn does not take either."""
    one_of("penalty", learner.penalty, (None, "l2", "l1", "elasticnet"))
    one_of("early_stopping", learner.early_stopping, (False, True))
    positive("alpha", learner.alpha, zero=True)
    positive("n_iter_no_change", learner.n_iter_no_change, whole=True)
    for name, ends in (("l1_ratio", True), ("validation_fraction", False)):
        value = getattr(learner, name)
        inside = isinstance(value, Real) and (
            0 <= float(value) <= 1 if ends else 0 < float(value) < 1
        )
        if not inside:
            raise ParameterError(
                f"{name} is {value!r}; give a number between 0 and 1"
                f"{', or one of these' if ends else ''}."
            )


def check_regression(learner: Any) -> None:
    """Refuse what `LinearRegression` of scikit-learn means otherwise."""
    if learner.positive and learner.solver != "exact":
        raise ParameterError(
            f"positive is True and solver {learner.solver!r}; weights that are not negative are "
            "found by solver='exact'."
        )


def check_svm(learner: Any) -> None:
    """Refuse what `LinearSVC` of scikit-learn means otherwise."""
    one_of("penalty", learner.penalty, ("l2", "l1"))
    one_of("multi_class", learner.multi_class, ("ovr", "crammer_singer"))
    _check_both(learner)
    if learner.penalty == "l1":
        _check_l1_svm(learner)


def _check_l1_svm(learner: Any) -> None:
    unlike = [
        f"{name}={value!r}"
        for name, value, allowed in (
            ("loss", learner.loss, ("squared_hinge",)),
            ("solver", learner.solver, ("auto", "newton", "sgd")),
            ("multiclass", learner.multiclass, ("ovr",)),
            ("multi_class", learner.multi_class, ("ovr",)),
            ("dual", learner.dual, (False, "auto")),
        )
        if value not in allowed
    ]
    if unlike:
        raise ParameterError(
            f"penalty='l1' is for loss='squared_hinge', one class against the rest, and solver "
            f"'auto', 'newton' or 'sgd'; here is {' and '.join(unlike)}. Use "
            "LinearSVC(penalty='l1', loss='squared_hinge'), or LogisticRegression(l1_ratio=1.0)."
        )


def _check_both(learner: Any) -> None:
    if learner.dual not in (True, False, "auto"):
        raise ParameterError(f"dual is {learner.dual!r}; give True, False or 'auto'.")
    if learner.intercept_scaling != 1:
        raise ParameterError(
            f"intercept_scaling is {learner.intercept_scaling!r}; the intercept is not penalised "
            "here, so that there is nothing to scale. Leave it out."
        )


def check_discriminant(learner: Any) -> None:
    """Refuse what `LinearDiscriminantAnalysis` of scikit-learn means otherwise."""
    if learner.solver not in ("svd", "lsqr", "eigen"):
        raise ParameterError(
            f"solver is {learner.solver!r}; leave it out: there is one way, with the answer that "
            "'svd', 'lsqr' and 'eigen' aim at."
        )
    if learner.tol != 1e-4:
        raise ParameterError(
            f"tol is {learner.tol!r}; rounding alone decides here which directions have spread. "
            "Leave it out."
        )
    estimator = learner.covariance_estimator
    if estimator is not None and learner.shrinkage is not None:
        raise ParameterError(
            f"covariance_estimator is {estimator!r} and shrinkage {learner.shrinkage!r}; give one "
            "of them: either says how the covariance is estimated."
        )
    if estimator is not None and not hasattr(estimator, "fit"):
        raise ParameterError(
            f"covariance_estimator is {estimator!r}; give an estimator with fit and covariance_, "
            "such as sklearn.covariance.LedoitWolf()."
        )
