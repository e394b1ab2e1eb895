"""Small dense problems of two classes take a short way; its answer is that of the long one."""

import warnings

import numpy as np
import pytest

from linsep import LinearSVC, LogisticRegression, Status
from linsep.learners.fitting import at_once
from linsep.train.convex.newton.one_call import COMPILED, suits


def rows(n=300, d=6, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * scale
    return X, np.where(X @ rng.standard_normal(d) + scale * rng.standard_normal(n) > 0, "b", "a")


LEARNERS = {
    "logistic": lambda **more: LogisticRegression(tol=1e-5, **more),
    "hinge": lambda **more: LinearSVC(**more),
    "squared hinge": lambda **more: LinearSVC(loss="squared_hinge", **more),
}


@pytest.fixture
def count(monkeypatch):
    """The answers of the short way."""
    answers = []
    honest = at_once.certify_planes

    def noted(*given):
        answers.append(honest(*given))
        return answers[-1]

    monkeypatch.setattr(at_once, "certify_planes", noted)
    return answers


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_fit_that_nobody_watches_has_the_bytes_of_one_that_is_watched(
    count, name, weighted, free
):
    X, y = rows()
    weights = np.arange(300) % 3 * 1.0 if weighted else None
    one = LEARNERS[name](fit_intercept=free).fit(X, y, weights)
    assert len(count) == 1
    heard = []
    two = LEARNERS[name](fit_intercept=free).fit(X, y, weights, callback=heard.append)
    assert len(count) == 1 and heard
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.intercept_.tobytes() == two.intercept_.tobytes()
    assert (one.objective_, one.gap_, one.status_) == (two.objective_, two.gap_, two.status_)
    assert one.solver_ == two.solver_ and max(one.n_iter_, two.n_iter_) == min(
        one.n_iter_, two.n_iter_
    )


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n, d", [(120, 3), (3_000, 4), (400, 100)])
@pytest.mark.parametrize("name", LEARNERS)
def test_its_objective_is_within_tol_of_the_optimum(name, n, d, scale):
    X, y = rows(n, d, seed=d, scale=scale)
    learner = LEARNERS[name]().fit(X, y)
    assert learner.status_ is Status.converged and learner.gap_ <= learner.tol
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rounding may forbid that digits be proved
        best = LEARNERS[name]().set_params(tol=1e-8).fit(X, y)  # by another solver
    assert best.objective_ / (1 + 1e-7) <= learner.objective_
    assert learner.objective_ <= best.objective_ * (1 + learner.tol)


@pytest.mark.parametrize("name", LEARNERS)
def test_an_answer_that_is_not_certified_is_left_to_the_driver(monkeypatch, name):
    X, y = rows()
    module = at_once
    honest, damaged = module.solve_at_once, []

    def lazy(*given):
        damaged.append(honest(*given))
        return damaged[-1]._replace(w=0.9 * damaged[-1].w)

    monkeypatch.setattr(module, "solve_at_once", lazy)
    learner = LEARNERS[name]().fit(X, y)
    assert damaged and learner.status_ is Status.converged and learner.gap_ <= learner.tol


def test_large_sparse_and_wide_rows_do_not_suit():
    assert suits(np.zeros((1000, 100)))
    assert not suits(np.zeros((2000, 100)))
    assert not suits(np.zeros((10, COMPILED)))
    assert not suits([[0.0]])
