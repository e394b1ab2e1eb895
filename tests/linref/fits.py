"""Who answers the problems: linsep, and the peers that are installed, each in its own words."""

import importlib.util
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import linsep
from linref.problems import compare, read

TIMES = 64  # copies of the rows in the layouts of many rows
LAYOUTS = ("dense", "CSR", "float32", "many", "many CSR")
TIGHT = 1e-14


class Fit(NamedTuple):
    coef: np.ndarray
    intercept: np.ndarray
    gap: float | None = None
    words: str = ""  # how it ended


def laid_out(problem, layout):
    """X, y, weights and C: the same problem in another layout, with the same answer.

    With all rows there 64 times and C divided by 64 the objective is the same function.
    """
    X, y, c, C = problem.X, problem.y, problem.weights, problem.C
    if layout.startswith("many"):
        X, y, c = np.tile(X, (TIMES, 1)), np.tile(y, TIMES), np.tile(c, TIMES)
        C = C / TIMES
    if layout.endswith("CSR"):
        X = sp.csr_array(X)
    return (X.astype(np.float32) if layout == "float32" else X), y, c, C


def makes_sense(problem, layout):
    if layout == "float32":
        return problem.fits_float32 and problem.kind != "regression"
    if layout.startswith("many"):
        return problem.kind not in ("fisher", "regression")  # whose scatter grows with the rows
    return True


def _machine(p, C, tight):
    more = {"penalty": "l1"} if p.l1_ratio else {}
    more |= {"multiclass": "crammer-singer"} if p.kind == "crammer_singer" else {"loss": p.kind}
    return linsep.LinearSVC(C, fit_intercept=p.fit_intercept, **more, **tight)


def learner_for(problem, C, tol=None):
    """The learner of linsep that minimises this objective."""
    p, tight = problem, {} if tol is None else {"tol": tol}
    if p.kind in ("logistic", "softmax"):
        return linsep.LogisticRegression(
            C, l1_ratio=p.l1_ratio, fit_intercept=p.fit_intercept, **tight
        )
    if p.kind == "lda":
        return linsep.LinearDiscriminantAnalysis()
    if p.kind == "fisher":
        return linsep.FisherDiscriminant(bias="midpoint")
    if p.kind == "regression":
        return linsep.LinearRegression(fit_intercept=p.fit_intercept)
    return _machine(p, C, tight)


def by_linsep(problem, tol=None, layout="dense"):
    X, y, c, C = laid_out(problem, layout)
    learner = learner_for(problem, C, tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how it ended is looked at below
        learner.fit(X, y, sample_weight=None if (c == 1).all() else c)
    gap = getattr(learner, "gap_", None)
    return Fit(learner.coef_, learner.intercept_, gap, learner.status_.name)


def by_kernel_machine(problem, tol=None):
    """The hinge through its kernel: weights are those of the support vectors."""
    if problem.kind != "hinge" or not problem.fit_intercept:
        return None
    tight = {} if tol is None else {"tol": tol}
    learner = linsep.KernelSVC(
        problem.C, kernel="poly", degree=1, gamma=1, coef0=0, max_iter=100, **tight
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(problem.X, problem.y, sample_weight=problem.weights)
    coef = learner.dual_coef_ @ problem.X[learner.support_]
    return Fit(coef, learner.intercept_, learner.gap_, learner.status_.name)


# --- peers ------------------------------------------------------------------------------------


def by_scikit_learn(problem, tol=None):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.svm import SVC, LinearSVC

    p, tight = problem, {} if tol is None else {"tol": tol, "max_iter": 200_000}
    if p.kind in ("logistic", "softmax"):
        solver = "saga" if p.l1_ratio else "lbfgs" if tol is None else "newton-cg"
        if p.l1_ratio and tol is not None:
            tight["max_iter"] = 20_000
        learner = LogisticRegression(
            C=p.C, l1_ratio=p.l1_ratio, solver=solver, fit_intercept=p.fit_intercept, **tight
        )
    elif p.kind == "hinge" and p.fit_intercept:
        more = {} if tol is None else {"tol": tol}  # without max_iter: no end on scaled columns
        learner = SVC(C=p.C, kernel="linear", max_iter=1_000_000, **more)
    elif p.kind in ("hinge", "squared_hinge", "crammer_singer"):
        if p.fit_intercept or p.l1_ratio:
            return None  # its LinearSVC penalises the intercept: another problem
        joint = p.kind == "crammer_singer"
        more = {"multi_class": "crammer_singer"} if joint else {"loss": p.kind}
        learner = LinearSVC(C=p.C, fit_intercept=False, **more, **tight)
    elif p.kind == "lda":
        if (p.weights != 1).any():
            return None
        learner = LinearDiscriminantAnalysis(solver="lsqr")
    elif p.kind == "regression":
        learner = LinearRegression(fit_intercept=p.fit_intercept)
    else:
        return None
    more = {} if p.kind == "lda" else {"sample_weight": p.weights}
    learner.fit(p.X, p.y, **more)
    return Fit(learner.coef_, np.atleast_1d(learner.intercept_))


def by_statsmodels(problem, tol=None):
    import statsmodels.api as sm

    p = problem
    columns = np.column_stack([p.X, np.ones(len(p.X))]) if p.fit_intercept else p.X
    if p.kind == "regression":
        found = sm.OLS(p.y, columns).fit().params
    elif p.kind == "logistic" and np.isinf(p.C):
        model = sm.GLM(p.y, columns, family=sm.families.Binomial(), freq_weights=p.weights)
        found = model.fit(**({} if tol is None else {"tol": tol, "maxiter": 1000})).params
    else:
        return None
    d = p.X.shape[1]
    return Fit(found[None, :d], found[d:] if p.fit_intercept else np.zeros(1))


def by_numpy(problem, tol=None):
    p = problem
    if p.kind != "regression":
        return None
    columns = np.column_stack([p.X, np.ones(len(p.X))]) if p.fit_intercept else p.X
    found = np.linalg.lstsq(columns, p.y, rcond=None)[0]
    d = p.X.shape[1]
    return Fit(found[None, :d], found[d:] if p.fit_intercept else np.zeros(1))


def installed(name):
    return importlib.util.find_spec(name) is not None


FITTERS = {"linsep": by_linsep, "linsep.KernelSVC": by_kernel_machine} | {
    name: by
    for name, module, by in (
        ("scikit-learn", "sklearn", by_scikit_learn),
        ("statsmodels", "statsmodels", by_statsmodels),
        ("numpy", "numpy", by_numpy),
    )
    if installed(module)
}


def digits(name, fitter, tol=None):
    """The digits of one answer; None where the problem is not one that this peer has."""
    problem = read(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = FITTERS[fitter](problem, tol)
    return None if fit is None else compare(problem, fit.coef, fit.intercept, fit.gap)


__all__ = ["FITTERS", "LAYOUTS", "TIGHT", "by_linsep", "digits", "makes_sense"]
