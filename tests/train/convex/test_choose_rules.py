"""The table of solvers at the edges of its lines: what is said of sizes is what decides."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.proofs.gap.moves import Told
from linsep.train.convex.choose import (
    TABLE,
    BinarySVM,
    Shape,
    as_markdown,
    line_for,
    shape_of,
    told_shape,
)
from linsep.train.convex.handover import Handover
from linsep.train.convex.penalties import RIDGE, Elastic
from linsep.train.convex.solvers.dual_descent import DualDescent
from linsep.train.convex.solvers.interior_point import InteriorPoint
from linsep.train.convex.solvers.newton import Newton
from linsep.train.convex.solvers.newton_cg import NewtonCG
from linsep.train.convex.solvers.prox_newton import ProxNewton


def rows(n, d):
    """Dense rows of any size, which take no memory."""
    return np.broadcast_to(np.float32(0.0), (n, d))


def sparse(n, d, nnz):
    """Sparse rows with entries in the first of them."""
    starts = np.full(n + 1, nnz)
    starts[0] = 0
    return sp.csr_array((np.ones(nnz, np.float32), np.zeros(nnz, int), starts), shape=(n, d))


def chosen(X, loss, classes=2, unpenalised=False, l1=False, **more):
    """The solver, and the first words of the line that names it."""
    line = line_for(shape_of(X, loss, classes, unpenalised, l1)._replace(**more))
    return line.solver, line.when


@pytest.mark.parametrize(
    ("n", "d", "loss", "solver", "when"),
    [
        (16 * 193, 193, "logistic", "newton_cg", "logistic, two classes: dense rows of more"),
        (16 * 193 - 1, 193, "logistic", "newton", "two classes: at most 256"),
        (16 * 192, 192, "logistic", "newton", "two classes: at most 256"),
        (16 * 193, 193, "hinge", "newton", "two classes: at most 256"),
        (1000, 256, "logistic", "newton", "two classes: at most 256"),
        (1000, 257, "logistic", "newton_cg", "logistic, two classes: dense rows of more than 256"),
        (32_768, 128, "logistic", "newton", "two classes: at most 256"),
        (32_769, 128, "logistic", "newton", "logistic: dense rows"),
        (200, 4, "hinge", "interior_point", "hinge: at most 200"),
        (201, 4, "hinge", "newton", "two classes"),
        (200, 4, "squared_hinge", "newton", "two classes"),
        (200, 300, "hinge", "interior_point", "hinge: at most 200"),
        (3000, 300, "hinge", "newton", "hinge, squared hinge: 2,048 rows"),
        (2999, 300, "hinge", "newton_cg", "more features"),
        (5120, 512, "squared_hinge", "newton", "hinge, squared hinge: 2,048 rows"),
        (5130, 513, "squared_hinge", "newton_cg", "more features"),
        (4800, 600, "hinge", "newton_cg", "more features"),
        (4799, 600, "hinge", "dual_descent", "hinge, squared hinge: everything"),
        (3000, 1500, "squared_hinge", "newton_cg", "more features"),
        (2999, 1500, "squared_hinge", "dual_descent", "hinge, squared hinge: everything"),
        (2048, 900, "squared_hinge", "newton_cg", "more features"),
        (2047, 900, "squared_hinge", "dual_descent", "hinge, squared hinge: everything"),
        (50, 100_000, "hinge", "interior_point", "hinge: at most 200"),
    ],
)  # fmt: skip
def test_dense_rows_of_two_classes(n, d, loss, solver, when):
    found = chosen(rows(n, d), loss)
    assert found[0] == solver and found[1].startswith(when)


@pytest.mark.parametrize(
    ("n", "d", "nnz", "loss", "solver", "when"),
    [
        (20_000, 256, 1 << 22, "hinge", "newton", "two classes: at most 256"),
        (20_000, 256, (1 << 22) + 1, "logistic", "newton_cg", "logistic, two classes: sparse rows"),
        (65_536, 256, 65_536, "hinge", "newton", "two classes: at most 256"),
        (65_537, 256, 65_536, "squared_hinge", "newton", "hinge, squared hinge: 2,048 rows"),
        (6000, 300, 128 * 6000, "squared_hinge", "newton", "hinge, squared hinge: 2,048"),
        (6000, 300, 128 * 6000 + 1, "squared_hinge", "newton_cg", "more features"),
        (6000, 300, 6000, "hinge", "dual_descent", "hinge, squared hinge: everything"),
        (6000, 3000, 6000, "squared_hinge", "newton_cg", "more features"),
        (6000, 3001, 6000, "squared_hinge", "dual_descent", "hinge, squared hinge: everything"),
        (6000, 3000, 6000, "logistic", "newton_cg", "logistic, two classes: sparse rows, two"),
        (5999, 3000, 6000, "logistic", "dual_descent", "logistic, two classes: other sparse"),
    ],
)  # fmt: skip
def test_sparse_rows_of_two_classes(n, d, nnz, loss, solver, when):
    found = chosen(sparse(n, d, nnz), loss)
    assert found[0] == solver and found[1].startswith(when)


def test_several_classes_no_penalty_and_l1():
    assert chosen(rows(60, 4), "logistic", 3)[0] == "newton"
    assert chosen(rows(60, 300), "logistic", 3)[0] == "newton"
    assert chosen(sparse(70_000, 100, 70_000), "logistic", 3)[0] == "lbfgs"
    assert chosen(sparse(3000, 900, 3000), "logistic", 3)[0] == "lbfgs"
    assert chosen(sparse(2000, 1000, 2000), "logistic", 3)[0] == "newton"  # two million numbers
    assert chosen(sparse(2001, 1000, 2000), "logistic", 3)[0] == "lbfgs"
    assert chosen(rows(4095, 4097), "logistic", unpenalised=True)[0] == "newton"
    assert chosen(rows(4096, 4097), "logistic", unpenalised=True)[0] == "lbfgs"
    assert chosen(rows(4097, 4096), "logistic", unpenalised=True)[0] == "newton"
    assert chosen(rows(4096, 4097), "logistic", 3, unpenalised=True)[0] == "newton"
    assert chosen(rows(60, 4), "logistic", unpenalised=True)[1].startswith("logistic: dense rows")
    free = {"unpenalised": True}
    assert chosen(sparse(4096, 4096, 300), "logistic", **free)[0] == "newton"
    assert chosen(sparse(4097, 4096, 300), "logistic", **free)[0] == "lbfgs"
    for loss, classes in (("hinge", 2), ("logistic", 2), ("logistic", 3), ("squared_hinge", 2)):
        assert chosen(rows(60, 4), loss, classes, l1=True)[0] == "prox_newton"
    assert chosen(sparse(6000, 300, 6000), "logistic", l1=True)[0] == "prox_newton"


def test_a_tol_for_last_digits_what_was_begun_and_what_is_told_move_small_hinges():
    assert chosen(rows(5000, 4), "hinge", fine=True)[0] == "interior_point"
    assert chosen(rows(5001, 4), "hinge", fine=True)[0] == "newton"
    assert chosen(rows(200, 4), "hinge", begun=True)[0] == "newton"
    assert chosen(rows(200, 300), "hinge", begun=True)[0] == "interior_point"
    assert chosen(rows(5000, 4), "hinge", begun=True, fine=True)[0] == "interior_point"
    for fine in (True, False):
        assert chosen(rows(200, 4), "hinge", told=True, fine=fine)[0] == "newton"
    assert chosen(rows(200, 300), "hinge", told=True)[0] == "newton_cg"
    assert chosen(rows(200, 4), "hinge", suits_second_order=False)[0] == "newton"


def test_rows_on_a_cluster_are_never_left_to_descent():
    for loss in ("hinge", "logistic"):
        here = chosen(sparse(3000, 6000, 9000), loss)
        assert here[0] == "dual_descent"
        assert chosen(sparse(3000, 6000, 9000), loss, far=True)[1].endswith("left to descent")
    assert chosen(sparse(3000, 900, 3000), "logistic", 3, far=True)[0] == "lbfgs"


def test_costs_are_those_of_the_operations():
    s = Shape("hinge", 1000, 50, 20_000, True, suits_second_order=True)
    assert s.pass_cost == 1.5 * 20_000 + 40 * 1000 + 3e5
    assert s.product_cost == 0.5 * 20_000 + 5 * 1000 + 5e4
    assert s.newton_cg_cost == 1200 * s.product_cost
    assert s._replace(loss="squared_hinge").newton_cg_cost == 120 * s.product_cost
    step = 0.07 * 1000 * 50**2 + 0.05 * 50**3 + 60 * 1000 + 1.5e5
    assert s.second_order_cost == pytest.approx(20 * step)
    wide = s._replace(n=50, d=1000)
    step = 0.07 * 1000 * 50**2 + 0.05 * 50**3 + 60 * 50 + 1.5e5
    assert wide.second_order_cost == pytest.approx(20 * step)
    assert s._replace(suits_second_order=False).second_order_cost == np.inf
    assert Shape("hinge", 300_000, 1000, 9, False, suits_second_order=True).second_order_cost < 1e13
    beyond = Shape("hinge", 300_001, 1000, 9, False, suits_second_order=True)
    assert beyond.second_order_cost == np.inf


def test_newton_means_hessians_up_to_512_features_or_of_many_short_rows():
    for n, d, X, solver in ((60, 512, rows, "newton"), (60, 513, rows, "newton_cg")):
        assert shape_of(X(n, d), "hinge").primal == solver
    assert Shape("hinge", 9, 600, 9, False, full=True).primal == "newton"
    assert Shape("hinge", 9, 600, 9, False, suits_primal=True).primal == "newton"


def test_what_is_told_asks_for_sharp_corners_only_where_there_are_some():
    told = SimpleNamespace(low=np.full(3, -np.inf), high=np.full(3, np.inf), weight=np.ones(3))

    def solver(penalty=RIDGE, classes=2, **change):
        given = SimpleNamespace(**(vars(told) | change))
        return line_for(told_shape(rows(60, 3), "logistic", classes, penalty, given)).solver

    assert solver() == "newton"
    assert solver(low=np.array([-np.inf, 0.0, -np.inf])) == "prox_newton"
    assert solver(high=np.array([-np.inf, 0.0, np.inf])) == "prox_newton"
    assert solver(weight=np.array([1.0, 0.0, 1.0])) == "prox_newton"
    assert solver(weight=np.array([1.0, 1e-9, 1.0])) == "newton"
    assert solver(Elastic(0.5, 0.5)) == "prox_newton"
    assert solver(Elastic(0.0, 0.0)) == "prox_newton"
    assert solver(classes=3) == "prox_newton"


def machine(X, loss="hinge", **more):
    n = X.shape[0]
    return BinarySVM(X, np.where(np.arange(n) % 2, 1, -1), None, 1.0, loss, True, 100, **more)


def some(n, d, part=None):
    rng = np.random.default_rng(0)
    if part:
        return sp.random(n, d, part, "csr", random_state=0)
    return rng.standard_normal((n, d))


def both(solver):
    """A solver, and the one it may hand over to."""
    return (type(solver._first), solver._then) if isinstance(solver, Handover) else type(solver)


def test_the_machine_makes_the_solver_of_its_line():
    small = machine(some(60, 4))
    assert type(small.solver("auto")) is InteriorPoint
    begun = small.solver("auto", start=(np.zeros(4), 0.0))
    assert both(begun) == (Newton, small.interior_point)
    fine = machine(some(300, 4), tol=1e-6)
    assert type(fine.solver("auto")) is InteriorPoint
    plain = machine(some(300, 4), tol=1.1e-6)
    assert both(plain.solver("auto")) == (Newton, plain.interior_point)
    assert both(plain.solver("newton")) == (Newton, plain.interior_point)
    dual = plain.solver("dual")
    assert both(dual) == (DualDescent, plain.interior_point) and dual._price == np.inf
    free = Told(np.ones(4), np.full((1, 4), -np.inf), np.full((1, 4), np.inf), np.ones(60))
    assert both(machine(some(60, 4), told=free).solver("auto"))[0] is Newton
    held = machine(some(60, 4), told=free._replace(low=np.zeros((1, 4))))
    assert type(held.solver("auto")) is ProxNewton
    l1 = machine(some(60, 4), "squared_hinge", penalty=Elastic(1.0, 0.0))
    assert type(l1.solver("auto")) is ProxNewton


def test_sparse_machines_descend_and_then_take_what_is_cheap():
    text = machine(some(500, 2000, 0.01))
    auto = text.solver("auto")
    assert both(auto) == (DualDescent, text.interior_point)
    shape = shape_of(text.X, "hinge")
    cheap = min(shape.second_order_cost, shape.newton_cg_cost)
    assert auto._price == pytest.approx(cheap / shape.pass_cost)
    wide = machine(some(600, 30_000, 0.001), "squared_hinge")
    assert shape_of(wide.X, "squared_hinge").d >= 600
    assert isinstance(wide.solver("newton")._first, NewtonCG)


def test_rows_too_many_for_second_order_steps_descend_alone_or_before_products():
    def few(n, d):
        places = np.random.default_rng(0).integers(0, d, 3 * n)
        X = sp.csr_array((np.ones(3 * n), places, np.arange(0, 3 * n + 1, 3)), shape=(n, d))
        X.sum_duplicates()
        return X

    wide = machine(few(3000, 20_000))
    assert type(wide.solver("auto")) is DualDescent
    tall = machine(few(9000, 5000))
    assert both(tall.solver("auto")) == (DualDescent, tall._products_then_dual)
    assert type(tall.solver("dual")) is DualDescent


def test_the_page_has_a_line_for_each_of_the_table():
    lines = as_markdown().splitlines()
    assert lines[:2] == ["| solver | for | why |", "|---|---|---|"]
    assert len(lines) == 2 + len(TABLE)
    assert all(one.when in line and one.reason in line and f"`{one.solver}`" in line
               for one, line in zip(TABLE, lines[2:], strict=True))  # fmt: skip
