"""The table of solvers: every line is reached, and what `solver_` says is what ran."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from linsep import LinearSVC, LogisticRegression
from linsep.proofs.gap.moves import Told
from linsep.status import Status
from linsep.train.convex.choose import TABLE, BinarySVM, as_markdown, line_for, shape_of, told_shape
from linsep.train.convex.drive import Goal, drive
from linsep.train.convex.penalties import RIDGE
from linsep.train.convex.solvers.newton_cg import NewtonCG


def dense(n, d):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)


def sparse(n, d, k=4):
    rng = np.random.default_rng(n + d)
    places = rng.integers(0, d, (n, k)).ravel()
    X = sp.csr_array((np.ones(n * k), places, np.arange(0, n * k + 1, k)), shape=(n, d))
    X.sum_duplicates()
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=n) > 0, 1, -1)


GRID = [
    (make, loss)
    for make in (
        lambda: dense(60, 4),
        lambda: dense(3000, 20),
        lambda: dense(6000, 300),
        lambda: dense(6000, 600),
        lambda: dense(40, 3000),
        lambda: sparse(500, 2000),
        lambda: sparse(3000, 40),
        lambda: sparse(20_000, 900),
        lambda: sparse(3000, 6000),
    )
    for loss in ("hinge", "squared_hinge")
]


LOGISTIC = [(make, "logistic") for make, _ in GRID[::2]]


def test_every_line_is_reached():
    reached = {line_for(shape_of(make()[0], loss)).when for make, loss in GRID + LOGISTIC}
    reached.add(line_for(shape_of(sparse(3000, 6000)[0], "logistic", 5)).when)
    reached.add(line_for(shape_of(dense(60, 4)[0], "logistic", 3)).when)
    reached.add(line_for(shape_of(dense(3400, 200)[0], "logistic")).when)
    reached.add(line_for(shape_of(dense(60, 4)[0], "squared_hinge", l1=True)).when)
    told = Told(np.ones(900), *np.full((2, 1, 900), [[[-np.inf]], [[np.inf]]]))
    wide = told_shape(sparse(20_000, 900)[0], "hinge", 2, RIDGE, told)
    reached.add(line_for(wide).when)
    far = shape_of(sparse(3000, 6000)[0], "logistic")._replace(far=True)
    reached.add(line_for(far).when)
    assert reached == {line.when for line in TABLE}


def test_the_page_of_the_insides_shows_the_table():
    page = Path(__file__).parents[3].joinpath("docs/inside.md").read_text()
    begin, end = "<!-- solver table, made from train/convex/choose.py: begin -->", "<!-- solver"
    assert page.split(begin)[1].split(end)[0].strip() == as_markdown()


@pytest.mark.parametrize(("make", "loss"), GRID, ids=map(str, range(len(GRID))))
def test_what_is_said_is_what_ran(make, loss):
    X, y = make()
    line = line_for(shape_of(X, loss)).solver
    learner = LinearSVC(loss=loss).fit(X, y)
    allowed = {
        "newton": {"newton"},
        "interior_point": {"interior_point"},
        "newton_cg": {"newton_cg"},
        "dual_descent": {"dual_descent", "newton", "interior_point", "newton_cg"},
    }[line]
    assert learner.solver_ in allowed
    assert learner.status_.good and learner.gap_ <= learner.tol


@pytest.mark.parametrize(
    ("make", "solver"),
    [
        (lambda: dense(3000, 20), "newton"),
        (lambda: dense(2000, 300), "newton_cg"),
        (lambda: dense(3400, 200), "newton_cg"),
        (lambda: dense(2000, 200), "newton"),
        (lambda: sparse(3000, 40), "newton"),
        (lambda: sparse(20_000, 900), "newton_cg"),
        (lambda: sparse(3000, 6000), "dual_descent"),
    ],
    ids=map(str, range(7)),
)
def test_logistic_regression_says_what_ran(make, solver):
    X, y = make()
    learner = LogisticRegression().fit(X, y)
    assert learner.solver_ == solver
    assert learner.status_.good and learner.gap_ <= learner.tol


def test_tighter_tolerances_never_cost_fewer_passes():
    X, y = sparse(20_000, 900)
    counts = [LinearSVC(tol=tol).fit(X, y).n_iter_ for tol in (1e-2, 1e-3, 1e-4, 1e-6)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("rows", [sparse(300, 6000), dense(6000, 600)], ids=["sparse", "dense"])
def test_where_newton_cg_gets_stuck_another_solver_goes_on(rows, monkeypatch):
    X, y = rows
    if sp.issparse(X):
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    whole = NewtonCG.candidates

    def stuck(self):
        yield next(whole(self))

    monkeypatch.setattr(NewtonCG, "candidates", stuck)
    machine = BinarySVM(X, y, None, 1.0, "hinge", True, 1000)
    solver = machine.solver("auto")
    if sp.issparse(X):  # descent, then Newton-CG, then descent from where it was
        begun = drive(machine.dual(), Goal(max_iter=1))
        solver = machine._products_then_dual(begun)
    solution = drive(solver, Goal(1e-4, 2000))
    assert solution.status is Status.converged
    assert solution.solver != "newton_cg"


def test_the_map_of_solvers_is_drawn_from_the_table():
    from docs.pictures.solver_map import SOLVERS, solver_of

    assert {line.solver for line in TABLE} <= set(SOLVERS)
    for n, d, loss, sparse, wanted in (
        (1000, 10, "logistic", False, "newton"),
        (10_000, 2000, "logistic", False, "newton_cg"),
        (100, 50, "hinge", False, "interior_point"),
        (1000, 50_000, "hinge", True, "dual_descent"),
    ):
        assert solver_of(n, d, loss, sparse) == wanted
        X = np.zeros((n, d))
        assert line_for(shape_of(sp.csr_array(X) if sparse else X, loss)).solver in SOLVERS
