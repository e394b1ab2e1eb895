"""What a fit says of its gap, recomputed from data, weights and multipliers by code of its own."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_iris

from linsep import LinearSVC, LogisticRegression, Status, gap, read
from linsep.errors import NotConverged
from linsep.learners import logistic_solvers
from linsep.proofs.gap import extended_sums
from linsep.proofs.gap.certificate import FittedProblem, certify_planes
from linsep.train.convex.solvers.newton import Newton

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
IRIS, KINDS = load_iris(return_X_y=True)

MACHINES = [
    LinearSVC(),
    LinearSVC(loss="squared_hinge"),
    LinearSVC(loss="squared_hinge", solver="newton"),
    LinearSVC(solver="dual", fit_intercept=False),
    LinearSVC(multiclass="crammer-singer"),
    LogisticRegression(),
    LogisticRegression(solver="dual", tol=1e-9),
    LogisticRegression(l1_ratio=0.5),
]


@pytest.mark.parametrize("learner", MACHINES, ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("data", [(X, Y), (IRIS, KINDS)], ids=["two", "three"])
def test_the_gap_of_a_fit_is_the_one_recomputed(learner, layout, data):
    if learner.solver == "dual" and not learner.fit_intercept and data[1] is KINDS:
        learner = learner.set_params(max_iter=20_000)
    if isinstance(learner, LogisticRegression) and learner.solver == "dual" and data[1] is KINDS:
        pytest.skip("the dual of logistic regression is for two classes")
    rows = layout(data[0])
    learner.fit(rows, data[1])
    proved = gap(learner, rows, data[1])
    assert learner.objective_ == pytest.approx(proved.primal, rel=1e-9)
    # Logistic regression keeps no multipliers: the proof makes its own from the weights, and those
    # of coordinate descent on the dual are not as good as the ones it had.
    slack = 20.0 if getattr(learner, "solver_", None) == "dual_descent" else 1.01
    assert proved.relative <= learner.tol * slack + 1e-8
    best = learner.objective_ * (1 - learner.gap_)  # a lower bound, as is the proof's
    assert proved.primal >= best * (1 - 1e-9)
    assert proved.dual <= learner.objective_ * (1 + 1e-9)


def test_many_sparse_rows_are_proved_by_their_multipliers():
    rng = np.random.default_rng(0)
    rows = sp.random(3000, 4000, 0.02, "csr", rng=rng)
    y = np.asarray(rows @ rng.normal(size=4000)) + 0.3 * rng.normal(size=3000) > 0
    for loss in ("hinge", "squared_hinge"):
        learner = LinearSVC(loss=loss, tol=1e-4).fit(rows, y)
        proved = gap(learner, rows, y)
        assert proved.relative <= 1.01 * learner.gap_ + 1e-9


def claiming(claim):
    """Newton's method, but for the solution that it hands over."""
    honest = logistic_solvers.logistic_solver

    def made(*given, **settings):
        solver = honest(*given, **settings)
        own = solver.solution
        solver.solution = lambda: claim(own())
        return solver

    return made


def test_a_solver_that_claims_too_much_is_found_out(monkeypatch):
    def claim(solution):
        return replace(solution, w=1.05 * solution.w, primal=0.9 * solution.primal, gap=0.0)

    monkeypatch.setattr(logistic_solvers, "logistic_solver", claiming(claim))
    with pytest.warns(NotConverged, match="counted again"):
        learner = LogisticRegression(tol=1e-8).fit(X, Y)
    assert learner.status_ is Status.unproved
    assert learner.gap_ > learner.tol
    assert learner.objective_ == pytest.approx(gap(learner, X, Y).primal, rel=1e-9)


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), LinearSVC(), LinearSVC(loss="squared_hinge")]
)
def test_weights_that_are_worse_than_claimed_are_not_believed(monkeypatch, learner):
    honest = Newton.solution

    def boastful(self):
        solution = honest(self)
        return replace(solution, w=1.5 * solution.w, dual=solution.primal, gap=0.0)

    monkeypatch.setattr(Newton, "solution", boastful)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 5))
    labels = rows[:, 0] + rng.standard_normal(200) > 0
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(rows, labels)
    proved = gap(learner, rows, labels).relative
    assert learner.gap_ <= 1.1 * proved + 1e-9  # by multipliers that are not stored
    assert learner.status_ is (Status.converged if proved <= learner.tol else Status.unproved)


@pytest.mark.parametrize("damage", [lambda a: 0.9 * a, lambda a: 1.1 * a, lambda a: 1 - a])
def test_multipliers_that_prove_nothing_are_found_out(monkeypatch, damage):
    honest = Newton.solution

    def boastful(self):
        solution = honest(self)
        return replace(solution, alpha=damage(solution.alpha))

    monkeypatch.setattr(Newton, "solution", boastful)
    with pytest.warns(NotConverged, match="counted again"):
        learner = LinearSVC().fit(X, Y)
    assert learner.status_ is Status.unproved
    assert learner.gap_ > 1e-3


@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_the_gap_of_a_fit_follows_from_what_the_model_holds(real):
    rows = X.astype(real)
    learner = LinearSVC().fit(rows, Y)
    alpha = np.zeros((1, len(Y)))
    alpha[0, learner.support_] = np.abs(learner.dual_coef_[0])
    asked = FittedProblem(rows, Y, learner.C, learner.coef_, learner.intercept_, True)
    found = certify_planes("hinge", asked, alpha)
    assert (found.primal, found.gap) == (learner.objective_, learner.gap_)


def test_weights_and_zero_weights_count_as_they_did_in_the_fit():
    weight = np.arange(len(Y)) % 3.0
    for learner in (LogisticRegression(), LinearSVC(), LinearSVC(solver="sgd", tol=0.05)):
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            learner.set_params(class_weight="balanced").fit(X, Y, weight)
        assert learner.objective_ == pytest.approx(gap(learner, X, Y, weight).primal, rel=1e-9)


def test_what_plain_sums_cannot_show_is_proved_in_pairs_of_doubles(monkeypatch):
    far = X + 1e9
    learner = LogisticRegression(tol=1e-10).fit(far, Y)
    assert learner.status_ is Status.converged and learner.gap_ <= 1e-10
    monkeypatch.setattr(extended_sums, "MOST", 0)
    with pytest.warns(NotConverged, match=r"counted again.*reaches 1\.0e\+09"):
        learner.fit(far, Y)
    assert learner.status_ is Status.unproved and learner.gap_ > 1e-10


@pytest.mark.parametrize("learner", MACHINES, ids=str)
@pytest.mark.parametrize("real", [np.float64, np.float32])
@pytest.mark.parametrize("data", [(X, Y), (IRIS, KINDS)], ids=["two", "three"])
def test_rounding_is_no_excuse(monkeypatch, learner, real, data):
    if learner.solver == "dual" and data[1] is KINDS:
        pytest.skip("slow, or for two classes only")
    monkeypatch.setattr(extended_sums, "MOST", 0)
    rows = (data[0] * 10.0 ** np.linspace(-6, 6, data[0].shape[1])).astype(real)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.set_params(C=1e3, max_iter=100).fit(rows, data[1])
    assert (learner.status_ is Status.converged) == (learner.gap_ <= learner.tol)


def test_the_column_that_rounding_comes_from_is_named(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.column_stack([1e9 + 1e6 * rng.standard_normal(5000), rng.standard_normal(5000)])
    labels = rows[:, 1] + rng.standard_normal(5000) > 0
    lines = [f"{a!r},{b!r},{int(c)}" for (a, b), c in zip(rows.tolist(), labels, strict=True)]
    (tmp_path / "t.csv").write_text("when,what,y\n" + "\n".join(lines) + "\n")
    file = read(tmp_path / "t.csv")
    assert LogisticRegression(tol=1e-12).fit(file).gap_ <= 1e-12
    monkeypatch.setattr(extended_sums, "MOST", 0)
    with pytest.warns(NotConverged, match=r"column 'when' reaches 1\.0e\+09"):
        LogisticRegression(tol=1e-12).fit(file)


def test_without_a_penalty_the_objective_is_counted_again(monkeypatch):
    rows, labels = IRIS[50:, :2], KINDS[50:]
    learner = LogisticRegression(C=np.inf).fit(rows, labels)
    z = np.where(labels == 2, 1, -1) * learner.decision_function(rows)
    assert learner.objective_ == pytest.approx(np.logaddexp(0, -z).sum(), rel=1e-12)
    elsewhere = claiming(lambda solution: replace(solution, w=np.ones(2)))
    monkeypatch.setattr(logistic_solvers, "logistic_solver", elsewhere)
    with pytest.warns(NotConverged, match="counted again"):
        assert learner.fit(rows, labels).status_ is Status.unproved


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e6 + 0.1])
def test_a_constant_column_has_no_weight_where_nothing_else_settles_it(value):
    rows = np.column_stack([IRIS[50:, :2], np.full(100, value)])
    learner = LogisticRegression(C=np.inf).fit(rows, KINDS[50:])
    plain = LogisticRegression(C=np.inf).fit(rows[:, :2], KINDS[50:])
    assert learner.coef_[0, 2] == 0.0
    assert learner.coef_[0, :2] == pytest.approx(plain.coef_[0], rel=1e-6)


def test_many_classes_without_biases_are_proved_by_their_multipliers():
    rng = np.random.default_rng(0)
    rows = sp.random(600, 4000, 0.02, "csr", rng=rng)
    labels = np.asarray(rows @ rng.normal(size=(4000, 5))).argmax(axis=1)
    for tol in (1e-2, 1e-4, 1e-6):
        learner = LogisticRegression(fit_intercept=False, tol=tol).fit(rows, labels)
        assert learner.status_ is Status.converged
        assert learner.gap_ <= tol
