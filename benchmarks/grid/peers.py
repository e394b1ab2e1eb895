"""The other systems, for each learner of the grid: efforts from loose to tight.

An effort is a function of (X, y) that returns an answer as `learners` knows it. A system that is
not installed is left out.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.grid.learners import answer_of

Array = Any
Effort = Callable[[Array, Array], Any]
LARGE = 5e6  # stored numbers from which slow systems are left out
SMALL = 3e5
TORCH_STEPS = (20, 50, 100, 200, 500)


def installed(*modules: str) -> bool:
    return all(find_spec(name) is not None for name in modules)


def systems(learner: str, X: Array, classes: int) -> dict[str, list[Effort]]:
    """The systems for a learner on such rows, each with its efforts."""
    size = X.nnz if sp.issparse(X) else X.size
    peers = {name: list(efforts) for name, efforts in _FOR[learner](X, classes, size).items()}
    return {name: efforts for name, efforts in peers.items() if efforts}


def warm(effort: Effort, X: Array, classes: int) -> None:
    """One fit to a few made rows of the same layout: loads and compiles what the system needs."""
    rng = np.random.default_rng(0)
    n = 20 * min(classes, 3)
    rows = rng.standard_normal((n, 4)).astype(X.dtype)
    y = np.arange(n) % 3 if classes > 2 else np.where(np.arange(n) % 2, 1, -1)
    with warnings.catch_warnings(), contextlib.suppress(Exception):  # the timed fit will tell
        warnings.simplefilter("ignore")
        effort(sp.csr_matrix(rows) if sp.issparse(X) else rows, y)


def _each(make: Callable[[float], Any], tolerances: Iterable[float]) -> list[Effort]:
    """`make(tol).fit`, for each tolerance."""
    return [lambda X, y, tol=tol: answer_of(make(tol).fit(X, y)) for tol in tolerances]


def _liblinear(options: str, tolerances: Iterable[float], bias: float = -1.0) -> list[Effort]:
    """LIBLINEAR from the array in memory, as every system: building its problem counts."""
    if not installed("liblinear"):
        return []

    def fit(X: Array, y: Array, tol: float) -> Any:
        from liblinear.liblinearutil import parameter, problem, train

        rows = problem(np.asarray(y, np.float64), sp.csr_matrix(X), bias=bias)
        model = train(rows, parameter(f"{options} -c 1 -e {tol} -q"))
        labels, d = model.get_labels(), X.shape[1]
        planes = 1 if len(labels) == 2 else len(labels)
        W = np.ctypeslib.as_array(model.w, ((d + (bias > 0)) * planes,)).reshape(-1, planes).T
        b = W[:, d] if bias > 0 else np.zeros(planes)
        if planes == 1:
            sign = 1.0 if labels[0] == 1 else -1.0
            return sign * W[0, :d], sign * b
        order = np.argsort(labels)
        return W[order, :d].copy(), b[order]

    return [lambda X, y, tol=tol: fit(X, y, tol) for tol in tolerances]


def _cyanure(loss: str, penalty: str, factor: float = 1.0) -> list[Effort]:
    if not installed("cyanure"):
        return []

    def fit(X: Array, y: Array, tol: float) -> Any:
        from cyanure.estimators import Classifier

        model = Classifier(
            loss=loss, penalty=penalty, lambda_1=factor / X.shape[0], fit_intercept=True, tol=tol,
            max_iter=1000, verbose=False, n_threads=2,
        ).fit(X, y)  # fmt: skip
        W, b = model.get_weights()
        return (np.asarray(W).T if loss.startswith("multi") else np.ravel(W)), np.ravel(b)

    return [lambda X, y, tol=tol: fit(X, y, tol) for tol in (1e-2, 1e-3, 1e-4)]


def _snapml(name: str, **options: Any) -> list[Effort]:
    if not installed("snapml"):
        return []

    def fit(X: Array, y: Array, tol: float) -> Any:
        import snapml

        model = getattr(snapml, name)(
            regularizer=1.0, tol=tol, n_jobs=2, max_iter=1000, normalize=False, **options
        ).fit(X, y)
        W, b = answer_of(model)
        return np.ravel(W)[: X.shape[1]], b if options["fit_intercept"] else 0.0

    return [lambda X, y, tol=tol: fit(X, y, tol) for tol in (1e-2, 1e-3, 1e-4)]


def _torch(classes: int) -> list[Effort]:
    if not installed("torch"):
        return []

    def fit(X: Array, y: Array, steps: int) -> Any:
        import torch

        rows = torch.from_numpy(X)
        K = 1 if classes == 2 else classes
        W = torch.zeros((X.shape[1], K), dtype=rows.dtype, requires_grad=True)
        b = torch.zeros(K, dtype=rows.dtype, requires_grad=True)
        labels = torch.from_numpy(y.astype(np.int64) if K > 1 else y.astype(X.dtype))
        descent = torch.optim.LBFGS(
            [W, b], max_iter=steps, line_search_fn="strong_wolfe", history_size=10,
            tolerance_grad=1e-9, tolerance_change=1e-12,
        )  # fmt: skip

        def closure() -> Any:
            descent.zero_grad()
            S = rows @ W + b
            if K == 1:
                loss = torch.nn.functional.softplus(-labels * S[:, 0]).mean()
            else:
                loss = torch.nn.functional.cross_entropy(S, labels)
            value = loss + 0.5 / len(y) * (W**2).sum()
            value.backward()
            return value

        descent.step(closure)
        return W.detach().numpy().T.copy(), b.detach().numpy().copy()

    return [lambda X, y, steps=steps: fit(X, y, steps) for steps in TORCH_STEPS]


def _logistic_sklearn(solver: str, tolerances: Iterable[float], intelex: bool = False) -> Any:
    if intelex and not installed("sklearnex"):
        return []

    def make(tol: float) -> Any:
        if intelex:
            from sklearnex.linear_model import LogisticRegression
        else:
            from sklearn.linear_model import LogisticRegression
        return LogisticRegression(C=1.0, solver=solver, tol=tol, max_iter=2000)

    return _each(make, tolerances)


def _logistic(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    dense = not sp.issparse(X)
    usual = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    few = X.shape[1] <= 1500 and dense
    peers = {
        "scikit-learn newton-cholesky": (
            _logistic_sklearn("newton-cholesky", (1e-2, 1e-4, 1e-6)) if few else []
        ),
        "intelex": _logistic_sklearn("lbfgs", usual, intelex=True) if dense else [],
        "scikit-learn lbfgs": _logistic_sklearn("lbfgs", usual),
        "LIBLINEAR": _liblinear("-s 0 -B 1 -R", (0.1, 0.01, 0.001, 1e-4), 1.0),
        "Snap ML": _snapml("LogisticRegression", dual=True, fit_intercept=True),
        "Cyanure": _cyanure("logistic", "l2"),
        "torch": _torch(2) if dense and size > 1e5 else [],
    }
    if not few:
        peers["scikit-learn newton-cg"] = _logistic_sklearn("newton-cg", (1e-2, 1e-4, 1e-6))
    return peers


def _linear_svc(tolerances: Iterable[float], **options: Any) -> list[Effort]:
    def make(tol: float) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=1.0, tol=tol, max_iter=3000, **options)

    return _each(make, tolerances)


def _hinge(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    large = size > LARGE and not sp.issparse(X)
    return {
        "LIBLINEAR": [] if large else _liblinear("-s 3", (1.0, 0.1, 0.01, 0.001)),
        "Snap ML": _snapml("SupportVectorMachine", loss="hinge", fit_intercept=False),
        "scikit-learn": _linear_svc(
            (1e-1, 1e-2) if large else (1e-1, 1e-2, 1e-3), loss="hinge", dual=True,
            fit_intercept=False,
        ),
    }  # fmt: skip


def _squared_hinge(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    return {
        "LIBLINEAR": _liblinear("-s 2 -B 1 -R", (0.1, 0.01, 0.001, 1e-4), 1.0),
        "scikit-learn": _linear_svc((1e-2, 1e-3, 1e-4), dual=False, intercept_scaling=1000.0),
        "Cyanure": _cyanure("sqhinge", "l2"),
    }


def _l1(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    def sklearn(solver: str, tolerances: Iterable[float], most: int) -> list[Effort]:
        def make(tol: float) -> Any:
            from sklearn.linear_model import LogisticRegression

            return LogisticRegression(C=1.0, l1_ratio=1, solver=solver, tol=tol, max_iter=most)

        return _each(make, tolerances)

    return {
        "LIBLINEAR": _liblinear("-s 6 -B 1 -R", (0.1, 0.01, 0.001, 1e-4), 1.0),
        "scikit-learn liblinear": sklearn("liblinear", (1e-1, 1e-2, 1e-3, 1e-4), 500),
        "skglm": _skglm(X),
        "Cyanure": _cyanure("logistic", "l1"),
        "scikit-learn saga": sklearn("saga", (1e-2, 1e-3), 200) if size <= LARGE else [],
    }


def _skglm(X: Array) -> list[Effort]:
    """Timed without turning rows into columns, as its users keep them."""
    if not installed("skglm"):
        return []
    columns = X.tocsc() if sp.issparse(X) else np.asfortranarray(X)

    def fit(given: Array, y: Array, tol: float) -> Any:
        from skglm import SparseLogisticRegression

        if given is not X:  # the few rows to warm it up
            given = given.tocsc() if sp.issparse(given) else np.asfortranarray(given)
        model = SparseLogisticRegression(alpha=1 / given.shape[0], tol=tol, max_iter=50)
        return answer_of(model.fit(columns if given is X else given, y))

    return [lambda X, y, tol=tol: fit(X, y, tol) for tol in (1e-3, 1e-4, 1e-5)]


def _perceptron(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    def make(_: float) -> Any:
        from sklearn.linear_model import Perceptron

        return Perceptron(max_iter=10, tol=None)

    return {"scikit-learn": _each(make, [0.0])}


def _lda(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    def solver(name: str) -> list[Effort]:
        def make(_: float) -> Any:
            from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

            return LinearDiscriminantAnalysis(solver=name)

        return _each(make, [0.0])

    wide = X.shape[1] > 1500
    return {"scikit-learn svd": solver("svd"), "scikit-learn lsqr": [] if wide else solver("lsqr")}


def _regression(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    def make(library: str) -> list[Effort]:
        def made(_: float) -> Any:
            if library == "sklearnex":
                from sklearnex.linear_model import LinearRegression
            else:
                from sklearn.linear_model import LinearRegression
            return LinearRegression()

        return _each(made, [0.0])

    intelex = not sp.issparse(X) and installed("sklearnex")
    return {"scikit-learn": make("sklearn"), "intelex": make("sklearnex") if intelex else []}


def _softmax(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    dense = not sp.issparse(X)
    usual = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
    few = X.shape[1] * classes <= 1000 and dense
    return {
        "scikit-learn newton-cholesky": (
            _logistic_sklearn("newton-cholesky", (1e-2, 1e-4, 1e-6)) if few else []
        ),
        "scikit-learn lbfgs": _logistic_sklearn("lbfgs", usual),
        "intelex": _logistic_sklearn("lbfgs", usual, intelex=True) if dense else [],
        "torch": _torch(classes) if dense and size > 1e5 else [],
        "scikit-learn newton-cg": _logistic_sklearn("newton-cg", (1e-2, 1e-4, 1e-6)),
        "Cyanure": _cyanure("multiclass-logistic", "l2"),
    }


def _crammer_singer(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    return {
        "LIBLINEAR": _liblinear("-s 4", (0.1, 0.01, 0.001)),
        "scikit-learn": _linear_svc(
            (1e-1, 1e-2, 1e-3), multi_class="crammer_singer", fit_intercept=False
        ),
    }


def _path(X: Array, classes: int, size: float) -> dict[str, list[Effort]]:
    jobs = 2 if size > SMALL else 1  # a second process takes longer than small fits

    def cross_validated(solver: str) -> Effort:
        def fit(X: Array, y: Array) -> float:
            from sklearn.linear_model import LogisticRegressionCV

            model = LogisticRegressionCV(
                Cs=10, cv=5, n_jobs=jobs, max_iter=1000, scoring="accuracy", l1_ratios=(0,),
                use_legacy_attributes=False, solver=solver,
            ).fit(X, y)  # fmt: skip
            return float(1 - np.asarray(model.scores_).reshape(5, -1).mean(axis=0).max())

        return fit

    few = not sp.issparse(X) and X.shape[1] <= 500
    return {
        "scikit-learn newton-cholesky": [cross_validated("newton-cholesky")] if few else [],
        "scikit-learn lbfgs": [cross_validated("lbfgs")],
    }


_FOR = {
    "logistic": _logistic, "hinge": _hinge, "squared-hinge": _squared_hinge, "l1": _l1,
    "perceptron": _perceptron, "lda": _lda, "regression": _regression, "softmax": _softmax,
    "crammer-singer": _crammer_singer, "path": _path,
}  # fmt: skip
