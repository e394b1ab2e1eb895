"""A solver stopped after any pass goes on, in a new object, to the same bytes."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.train.convex.choose import BinarySVM, logistic_solver
from linsep.train.convex.classes.class_sums import ClassProblem
from linsep.train.convex.classes.joint_problem import JointProblem
from linsep.train.convex.drive import Candidate, Goal, Savepoint, drive
from linsep.train.convex.handover import GapTrend, Handover
from linsep.train.convex.losses import Hinge, Logistic, SquaredHinge
from linsep.train.convex.parts.outputs import Softmax
from linsep.train.convex.penalties import LASSO, Elastic
from linsep.train.convex.problem import Problem as ConvexProblem
from linsep.train.convex.solvers.augmented_lagrangian import AugmentedLagrangian
from linsep.train.convex.solvers.dual_descent import DualDescent, posed
from linsep.train.convex.solvers.interior_point import InteriorPoint
from linsep.train.convex.solvers.joint_descent import JointDescent
from linsep.train.convex.solvers.joint_interior_point import JointInteriorPoint
from linsep.train.convex.solvers.lbfgs import LBFGS
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.solvers.newton_classes import NewtonClasses
from linsep.train.convex.solvers.prox_newton import ProxNewton
from linsep.train.convex.steps.conjugate_gradients import ConjugateGradients
from linsep.train.convex.steps.score_descent import ScoreDescent
from linsep.train.convex.steps.score_losses import Planes
from linsep.train.convex.steps.score_walks import Pace, Stepping, Steps
from linsep.train.convex.steps.squared_error import SquaredErrorSteps
from linsep.train.problem import Problem
from linsep.train.run.checkpoint import pack, unpack
from linsep.train.run.state import copied, freeze, thaw


class Death(BaseException):
    """Ends a run from within a listener."""


def rows(n=300, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(1.0, 5.0, d)
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0.3, 1, -1)


def texts(n=4000, d=3000, seed=0):
    """Sparse rows, enough of them to be visited in blocks."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.02, "csr", np.float64, rng).tocsr()
    w = rng.standard_normal(d)
    return X, np.where(X @ w + 0.3 * rng.standard_normal(n) > 0, 1, -1)


def dual(X, signs, loss, C=1.0):
    return DualDescent(posed(X, signs, None, C, loss, True), max_iter=3000)


def wide():
    """More features than Hessians are made of at first."""
    return rows(900, 300)


def newton(rows, loss):
    return Newton(ConvexProblem.of(*rows, None, 3.0, loss, True))


def stepping(loss, batch=None, C=1.0, l1=0.0):
    """Steps on scores, from anew."""
    problem = Problem(X, (Y > 0).astype(np.int32), None, 2)
    penalty = Elastic(l1, 1.0 - l1)
    descent = ScoreDescent(problem, Planes(loss), 1, penalty, C, free=True, scale=True)
    return Stepping(descent, Steps(batch, None, None, 0, True, False, Pace()))


def sparse_weights(X, y, loss):
    """An l1 penalty."""
    return ProxNewton(ConvexProblem.of(X, y, None, 1.0, loss, True)._replace(penalty=LASSO))


def softmax(X, codes, C=1.0):
    return ClassProblem.of(X, codes, None, C, 3, True)


def handed_over():
    """Descent that is left for steps after a few passes."""
    X, y = rows(60, 200)
    machine = BinarySVM(X, y, None, 1e4, "hinge", True, 2000, keep=True)
    return Handover(machine.dual(), machine.interior_point, 50.0)


X, Y = rows()
SPARSE, SIGNS = texts()
TALL = rows(40_000, 6)
FEW = np.arange(len(SIGNS)) % 3 * (SIGNS > 0)
CODES = np.digitize(X[:, 0] + 0.3 * X[:, 1], (-0.5, 0.5))
JOINT = JointProblem.of(X, CODES, None, 1.0, 3, True)

LINE = Problem(sp.csr_array(np.abs(X) * (X > 1.0)), np.zeros(len(X), np.int32), None, 1)

SOLVERS = {
    "dual hinge": lambda: dual(X, Y, Hinge(), 10.0),
    "dual squared hinge, text": lambda: dual(SPARSE, SIGNS, SquaredHinge()),
    "dual hinge, text": lambda: dual(SPARSE, SIGNS, Hinge(), 3.0),
    "dual logistic, text": lambda: dual(SPARSE, SIGNS, Logistic(), 5.0),
    "interior point": lambda: InteriorPoint(X, Y, C=100.0),
    "interior point, squared": lambda: InteriorPoint(X, Y, C=100.0, loss="squared_hinge"),
    "squared hinge, interior points": lambda: InteriorPoint(X, Y, C=1e3, loss="squared_hinge"),
    "Newton-CG, hinge": lambda: NewtonCG(ConvexProblem.of(X, Y, None, 1.0, Hinge(), True)),
    "Newton-CG, logistic": lambda: NewtonCG(
        ConvexProblem.of(SPARSE, SIGNS, None, 50.0, Logistic(), True)
    ),
    "products, then Hessians": lambda: logistic_solver(*wide(), C=3.0),
    "Newton, all digits": lambda: logistic_solver(*TALL, C=10.0),
    "Newton, no penalty": lambda: logistic_solver(X, Y, C=np.inf),
    "Newton, logistic": lambda: newton(TALL, Logistic()),
    "Newton, hinge": lambda: newton(TALL, Hinge()),
    "Newton, squared": lambda: newton((SPARSE[:, :80], SIGNS), SquaredHinge()),
    "l1": lambda: sparse_weights(SPARSE, SIGNS, Logistic()),
    "l1, dense": lambda: sparse_weights(X, Y, SquaredHinge()),
    "l1, several classes": lambda: sparse_weights(X, CODES, Softmax(3)),
    "Crammer and Singer": lambda: JointDescent(JOINT),
    "Crammer and Singer, Newton": lambda: AugmentedLagrangian(JOINT),
    "Crammer and Singer, inside": lambda: JointInteriorPoint(JOINT),
    "softmax": lambda: NewtonClasses(softmax(X, CODES, 1.0)),
    "softmax, digits": lambda: NewtonClasses(softmax(X, CODES, np.inf)),
    "softmax, L-BFGS": lambda: LBFGS(softmax(X, CODES, 1.0), 1e-6),
    "softmax, text": lambda: LBFGS(softmax(SPARSE, FEW, 1.0)),
    "softmax, text of few rows": lambda: LBFGS(softmax(SPARSE[:900], FEW[:900], 1.0)),
    "softmax, no penalty": lambda: LBFGS(softmax(sp.csr_array(X), CODES, np.inf)),
    "handover": handed_over,
    "search along the gradient": lambda: stepping(Logistic()),
    "folds of rows": lambda: stepping(Logistic(), 8),
    "folds of rows, hinge": lambda: stepping(Hinge(), 8),
    "squared error": lambda: SquaredErrorSteps(
        LINE,
        X[:, :1],
        Steps(8, None, None, 0, True, False, Pace()),
        free=True,
        scale=True,
        tol=1e-8,
        absolute=False,
    ),
    "conjugate gradients": lambda: ConjugateGradients(LINE, X[:, :2] @ np.ones((2, 2)), True),
}
TOL = {
    "dual hinge": 1e-3, "dual hinge, text": 1e-6, "l1": 1e-9, "Newton-CG, logistic": 1e-9,
    "folds of rows, hinge": 1e-1,
}  # fmt: skip


class Count:
    """A certificate that asks for ten times as much, the first two times."""

    def __init__(self):
        self.gap = 0.0

    def __call__(self, solution):
        self.gap = 10.0 * solution.relative_gap
        return self


def written_down(state):
    """A state as it comes back from a file."""
    arrays = []
    header, arrays = unpack(pack({"state": freeze(state, arrays)}, arrays))
    return thaw(header["state"], None, arrays)


def run(name, savepoint=None, last=None, **more):
    """The solution, and the candidates heard of; `last` is the one that ends the run."""
    heard = []

    def listener(seen):
        heard.append(seen)
        if len(heard) == last:
            raise Death

    goal = Goal(TOL.get(name, 1e-6), 2000, listener, Count(), savepoint=savepoint, **more)
    return drive(SOLVERS[name](), goal), heard


def answer(solution):
    arrays = [solution.w, solution.b, solution.alpha]
    bounds = float(solution.primal), float(solution.dual)
    numbers = (*bounds, solution.n_iter, solution.status, solution.solver)
    return b"".join(np.asarray(one).tobytes() for one in arrays) + repr(numbers).encode()


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_goes_on_to_the_same_bytes_from_any_candidate(name):
    whole, heard = run(name)
    assert len(heard) >= 2
    for last in sorted({1, 2, len(heard) // 3, len(heard) // 2, len(heard)} - {0}):
        savepoint = Savepoint()
        with pytest.raises(Death):
            run(name, savepoint, last)
        later = Savepoint()
        later.restore(written_down(savepoint.state()))
        solution, rest = run(name, later)
        assert answer(solution) == answer(whole)
        assert rest == heard[last:]  # each candidate is heard of once


def test_the_handover_is_gone_on_from_on_either_side():
    _, heard = run("handover")
    sides = set()
    for last in range(1, len(heard) + 1):
        savepoint = Savepoint()
        with pytest.raises(Death):
            run("handover", savepoint, last)
        sides.add(savepoint.state()["run"]["solver"]["one"] is None)
    assert sides == {True, False}


def test_a_finished_run_ends_again_where_it_ended():
    whole = run("interior point", first := Savepoint(copies=True))[0]
    again = Savepoint()
    again.restore(written_down(first.state()))
    solution, heard = run("interior point", again)
    assert answer(solution) == answer(whole) and heard == []
    assert solution.certificate.gap == 10.0 * solution.relative_gap


def test_of_several_runs_those_that_are_over_are_not_made_again():
    names = ["interior point", "Newton-CG, hinge"]
    whole = [answer(run(name)[0]) for name in names]
    savepoint = Savepoint()
    run(names[0], savepoint)
    with pytest.raises(Death):
        run(names[1], savepoint, 2)
    later = Savepoint()
    later.restore(written_down(savepoint.state()))
    first, heard = run(names[0], later)
    second, rest = run(names[1], later)
    assert [answer(first), answer(second)] == whole
    assert heard == [] and rest == run(names[1])[1][2:]


def test_a_savepoint_that_was_not_gone_on_from_stays_what_it_was():
    savepoint = Savepoint()
    assert savepoint.state() == {"run": None, "over": []}
    savepoint.restore({"run": {"tol": 1.0}, "over": []})
    assert savepoint.state() == {"run": {"tol": 1.0}, "over": []}


def test_copies_stay_as_they_were_while_the_run_goes_on():
    savepoint, w = Savepoint(copies=True), np.zeros(2)
    savepoint.note(lambda: {"w": w})
    w[:] = 1.0
    assert savepoint.state()["run"]["w"].tolist() == [0.0, 0.0]
    assert copied([Candidate(1, 2.0, 1.0)]) == [Candidate(1, 2.0, 1.0)]


def test_the_trend_of_a_gap_goes_on():
    trend, other = GapTrend(), GapTrend()
    for n, gap in ((20, 0.5), (40, 0.4)):
        trend.passes_left(Candidate(n, 1.0, 1.0 - gap), 1e-4)
    other.restore(written_down(trend.state()))
    later = Candidate(80, 1.0, 0.7), 1e-4
    assert trend.passes_left(*later) == other.passes_left(*later) < np.inf
