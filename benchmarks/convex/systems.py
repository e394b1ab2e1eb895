"""The peers. This file runs in their own environment and imports nothing of linsep.

Each system is a function of (X, y, loss, C, intercept, effort) that returns weights and
intercepts, or None where it does not minimise that objective. Effort counts up from 0: looser to
tighter tolerances, or fewer to more iterations.

    python systems.py FOLDER NAME SECONDS    reads the problem in FOLDER, writes FOLDER/NAME.npz
"""

import json
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

TOLERANCES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8]
SPELL = 1.2  # seconds for the runs of one effort, so that neighbours disturb not all of them

Fit = tuple[float, np.ndarray, np.ndarray]  # seconds, weights, intercepts


def _sklearn(solver):
    def fit(X, y, loss, C, intercept, effort):
        from sklearn.linear_model import LogisticRegression

        if loss not in ("logistic", "multinomial") or (
            sp.issparse(X) and solver == "newton-cholesky"
        ):
            return None
        if solver == "newton-cholesky" and loss == "multinomial":
            return None  # a Hessian of 7,850 x 7,850 at each step
        model = LogisticRegression(
            C=C, solver=solver, tol=TOLERANCES[effort], max_iter=2000, fit_intercept=intercept
        ).fit(X, y)
        return model.coef_, model.intercept_

    return fit


def intelex(X, y, loss, C, intercept, effort):
    if loss not in ("logistic", "multinomial") or sp.issparse(X):
        return None
    from sklearnex.linear_model import LogisticRegression

    model = LogisticRegression(
        C=C, solver="lbfgs", tol=TOLERANCES[effort], max_iter=2000, fit_intercept=intercept
    ).fit(X, y)
    return model.coef_, model.intercept_


def sklearn_svc(X, y, loss, C, intercept, effort):
    if loss not in ("hinge", "squared_hinge") or intercept:
        return None
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        C=C, loss=loss, tol=TOLERANCES[effort], max_iter=3000, fit_intercept=False
    ).fit(X, y)
    return model.coef_, model.intercept_


def _liblinear(kinds):
    def fit(X, y, loss, C, intercept, effort):
        if loss not in kinds or intercept or not sp.issparse(X):
            return None
        from liblinear.liblinearutil import problem, train

        labels = np.where(y, 1.0, -1.0)
        model = train(problem(labels, X), f"-s {kinds[loss]} -c {C} -e {TOLERANCES[effort]} -q")
        w = np.array(model.w[: X.shape[1]])
        return (w if model.get_labels()[0] == 1 else -w), np.zeros(1)

    return fit


def snapml(X, y, loss, C, intercept, effort):
    if loss not in ("logistic", "hinge") or intercept:
        return None
    import snapml

    options = {
        "regularizer": 1 / C, "fit_intercept": False, "n_jobs": 2, "max_iter": 2000,
        "tol": TOLERANCES[effort],
    }  # fmt: skip
    make = snapml.LogisticRegression if loss == "logistic" else snapml.SupportVectorMachine
    if loss == "hinge":
        options["loss"] = "hinge"
    model = make(**options).fit(X, np.where(y, 1.0, -1.0))
    return np.asarray(model.coef_).ravel()[: X.shape[1]], np.zeros(1)


def cyanure(X, y, loss, C, intercept, effort):
    import cyanure.estimators as estimators

    name = {"logistic": "logistic", "multinomial": "multiclass-logistic",
            "squared_hinge": "sqhinge"}.get(loss)  # fmt: skip
    if name is None:
        return None
    half = 0.5 if name == "sqhinge" else 1.0  # its squared hinge is halved
    model = estimators.Classifier(
        loss=name, penalty="l2", fit_intercept=intercept, lambda_1=half / (C * X.shape[0]),
        tol=TOLERANCES[effort], duality_gap_interval=5, max_iter=2000, verbose=False,
    )  # fmt: skip
    labels = y if loss == "multinomial" else np.where(y, 1.0, -1.0)
    model.fit(X, labels)
    coef = np.asarray(model.coef_)
    coef = (
        coef.T
        if coef.shape[0] == X.shape[1] and loss == "multinomial"
        else coef.reshape(-1, X.shape[1])
    )
    return coef, np.asarray(model.intercept_ if intercept else 0.0)


def torch_lbfgs(X, y, loss, C, intercept, effort):
    if sp.issparse(X) or loss not in ("logistic", "multinomial"):
        return None
    import torch

    rows = torch.from_numpy(X)
    K = 1 if loss == "logistic" else int(y.max()) + 1
    W = torch.zeros((X.shape[1], K), dtype=rows.dtype, requires_grad=True)
    b = torch.zeros(K, dtype=rows.dtype, requires_grad=True)
    target = torch.from_numpy(np.where(y, 1.0, -1.0) if K == 1 else y.astype(np.int64))
    best = torch.optim.LBFGS(
        [W, b], max_iter=[5, 10, 20, 50, 100, 200, 500][effort], line_search_fn="strong_wolfe",
        tolerance_grad=1e-12, tolerance_change=1e-14, history_size=10,
    )  # fmt: skip
    scale = 1 / (C * len(y))

    def closure():
        best.zero_grad()
        scores = rows @ W + b
        if K == 1:
            data = torch.nn.functional.softplus(-target.to(rows.dtype) * scores[:, 0]).mean()
        else:
            data = torch.nn.functional.cross_entropy(scores, target)
        value = data + 0.5 * scale * (W**2).sum()
        value.backward()
        return value

    best.step(closure)
    return W.detach().numpy().T.copy(), b.detach().numpy()


SYSTEMS = {
    "sklearn lbfgs": _sklearn("lbfgs"),
    "sklearn newton-cg": _sklearn("newton-cg"),
    "sklearn newton-cholesky": _sklearn("newton-cholesky"),
    "sklearn sag": _sklearn("sag"),
    "sklearn saga": _sklearn("saga"),
    "sklearn LinearSVC": sklearn_svc,
    "intelex": intelex,
    "LIBLINEAR dual": _liblinear({"logistic": 7, "hinge": 3, "squared_hinge": 1}),
    "LIBLINEAR primal": _liblinear({"logistic": 0, "squared_hinge": 2}),
    "Snap ML": snapml,
    "Cyanure": cyanure,
    "torch L-BFGS": torch_lbfgs,
}


def load(folder):
    """The problem as `__main__` of linsep's benchmarks wrote it."""
    about = json.loads((folder / "about.json").read_text())
    y = np.load(folder / "y.npy")
    sparse = (folder / "X.npz").exists()
    X = sp.csr_matrix(sp.load_npz(folder / "X.npz")) if sparse else np.load(folder / "X.npy")
    return X, y, about


def timed(fit, spell):
    """The seconds of the best run, and what it returned: short fits run again for a spell."""
    best, spent = np.inf, 0.0
    while spent < spell:
        began = time.perf_counter()
        found = fit()
        took = time.perf_counter() - began
        best, spent = min(best, took), spent + took
    return best, found


def run(folder, name, seconds):
    """Fits of growing effort until the seconds are used up; each is kept with its time."""
    warnings.simplefilter("ignore")
    X, y, about = load(folder)
    problem = (about["loss"], about["C"], about["intercept"])
    some = np.random.default_rng(0).permutation(X.shape[0])[:500]
    if SYSTEMS[name](X[some], y[some], *problem, 0) is None:  # loads and compiles what is needed
        return
    start = time.perf_counter()
    for effort in range(len(TOLERANCES)):
        took, (coef, b) = timed(partial(SYSTEMS[name], X, y, *problem, effort), SPELL)
        np.savez(folder / f"{name}.{effort}.npz", coef=coef, b=b, took=took)
        if time.perf_counter() - start + 2 * took > seconds:
            break


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
