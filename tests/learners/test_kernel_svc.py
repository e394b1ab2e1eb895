"""Support vector machines with a kernel: the optimum, its certificate, and what carries it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from linsep import KernelSVC, LinearSVC
from linsep.data.toys import overlapping, rings, three_classes, xor
from linsep.errors import DataError, NotConverged, ParameterError
from linsep.rows.kernels import Kernel
from linsep.train.convex.solvers import gram_descent


def both_values(machine, X, y, C):
    """Primal and dual value in plain NumPy, with the intercept of the machine."""
    beta = np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0]
    form = machine.kernel if callable(machine.kernel) else str(machine.kernel)
    K = Kernel(form, machine.degree, machine.gamma_, machine.coef0)(X, X)
    f = K @ beta
    hinge = np.maximum(0, 1 - y * (f + machine.intercept_[0])).sum()
    return 0.5 * beta @ f + C * hinge, np.abs(beta).sum() - 0.5 * beta @ f, beta


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_gap_is_that_of_the_multipliers_kept(kernel, C):
    X, y = overlapping(n=300, seed=1)
    machine = KernelSVC(C, kernel, tol=1e-6, coef0=1.0).fit(X, y)
    primal, dual, beta = both_values(machine, X, y, C)
    assert machine.objective_ == pytest.approx(primal, rel=1e-9)
    assert machine.gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert 0 <= machine.gap_ <= 1e-6
    assert abs(beta.sum()) < 1e-9 * C * len(X)
    assert (y * beta >= 0).all()
    assert (np.abs(beta) <= C).all()


def test_with_the_linear_kernel_it_is_the_linear_machine():
    X, y = overlapping(n=300, seed=2)
    linear = LinearSVC(C=0.5, tol=1e-8).fit(X, y)
    machine = KernelSVC(0.5, "linear", tol=1e-8).fit(X, y)
    assert machine.objective_ == pytest.approx(linear.objective_, rel=1e-7)
    w = machine.dual_coef_ @ machine.support_vectors_
    np.testing.assert_allclose(w, linear.coef_, atol=1e-3)


def test_it_reaches_what_another_library_reaches():
    X, y = rings(n=200, noise=0.4)
    ours = KernelSVC(2.0, gamma=0.7, tol=1e-8).fit(X, y)
    theirs = SVC(C=2.0, gamma=0.7, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), rtol=1e-3, atol=1e-3
    )
    assert set(theirs.support_) >= set(ours.support_[np.abs(ours.dual_coef_[0]) > 1e-3])


def test_rows_that_carry_nothing_can_be_left_out():
    X, y = rings(n=200, noise=0.2)
    machine = KernelSVC(1.0, gamma=1.0, tol=1e-8).fit(X, y)
    assert len(machine.support_) < 120
    kept = machine.support_
    again = KernelSVC(1.0, gamma=1.0, tol=1e-8).fit(X[kept], y[kept])
    assert again.objective_ == pytest.approx(machine.objective_, rel=1e-6)


def test_several_classes_have_a_machine_each_against_the_others():
    X, y = three_classes(n=150, spread=1.0)
    together = KernelSVC(gamma=0.5, tol=1e-7).fit(X, y)
    for k in range(3):
        alone = KernelSVC(gamma=0.5, tol=1e-7).fit(X, y == k)
        np.testing.assert_allclose(
            together.decision_function(X)[:, k], alone.decision_function(X), atol=1e-3
        )
    assert together.dual_coef_.shape == (3, len(together.support_))
    assert together.score(X, y) > 0.9


def test_without_an_intercept_multipliers_need_no_balance():
    X, y = overlapping(n=200, seed=3)
    machine = KernelSVC(1.0, gamma=0.5, fit_intercept=False, tol=1e-6).fit(X, y)
    assert machine.intercept_.tolist() == [0.0]
    primal, dual, beta = both_values(machine, X, y, 1.0)
    assert (primal - dual) / primal <= 1e-6
    assert abs(beta.sum()) > 1e-3


def test_sample_weights_are_caps_on_the_multipliers():
    X, y = overlapping(n=60, seed=4)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    weighted = KernelSVC(1.0, gamma=0.5, tol=1e-8).fit(X, y, sample_weight=weights)
    twice = np.repeat(np.arange(60), weights.astype(int))
    repeated = KernelSVC(1.0, gamma=0.5, tol=1e-8).fit(X[twice], y[twice])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


def test_a_small_cache_and_sparse_rows_lead_to_the_same_optimum(monkeypatch):
    X, y = rings(n=300, noise=0.4)
    plain = KernelSVC(5.0, gamma=2.0, tol=1e-7).fit(X, y)
    monkeypatch.setattr(gram_descent, "WORKING", 16)
    for rows in (X, sp.csr_array(X)):
        small = KernelSVC(5.0, gamma=2.0, tol=1e-7, cache_size=0).fit(rows, y)
        assert small.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        assert small.gap_ <= 1e-7


def test_xor_and_a_kernel_of_ones_own():
    X, y = xor()
    assert KernelSVC(100.0, gamma=1.0).fit(X, y).score(X, y) == 1.0
    own = KernelSVC(100.0, lambda A, B: (A @ B.T + 1) ** 2).fit(X, y)
    assert own.score(X, y) == 1.0
    assert own.status_.name == "converged"


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_too_few_working_sets_leave_a_gap_and_say_so():
    X, y = rings(n=400, noise=0.5)
    with pytest.warns(NotConverged, match="duality gap above tol"):
        machine = KernelSVC(100.0, gamma=5.0, tol=1e-9, max_iter=1).fit(X, y)
    assert machine.gap_ > 1e-9


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "sigmoid"}, "kernel is 'sigmoid'; choose one of 'linear', 'poly', 'rbf'"),
        ({"degree": 0}, "degree is 0"),
        ({"gamma": -1.0}, r"gamma is -1\.0"),
        ({"coef0": np.nan}, "coef0 is nan"),
        ({"C": 0.0}, r"C is 0\.0"),
        ({"tol": 0.0}, r"tol is 0\.0"),
    ],
)
def test_what_names_no_kernel_is_refused_as_by_the_kernel_perceptron(parameters, words):
    with pytest.raises(ParameterError, match=words):
        KernelSVC(**parameters).fit(*xor())


def test_a_kernel_that_is_not_symmetric_is_refused():
    with pytest.raises(DataError, match="not symmetric"):
        KernelSVC(1.0, lambda A, B: A[:, :1] + 2 * B[:, 0]).fit(*overlapping(n=20))


def test_the_best_intercept_is_the_minimum_of_its_sum():
    rng = np.random.default_rng(0)
    for _ in range(20):
        f, y = rng.normal(size=15), np.where(rng.random(15) < 0.5, 1.0, -1.0)
        caps = rng.uniform(0.1, 2.0, 15)
        grid = np.concatenate([np.linspace(-5, 5, 2001), y - f])
        sums = [caps @ np.maximum(0, 1 - y * (f + b)) for b in grid]
        best = gram_descent.best_bias(f, y, caps)
        assert caps @ np.maximum(0, 1 - y * (f + best)) <= min(sums) + 1e-12


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_of_support_are_counted_by_class(classes):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.arange(60) % classes]
    machine = KernelSVC().fit(X + (np.arange(60) % classes)[:, None], y)
    assert machine.n_support_.tolist() == [
        (y[machine.support_] == k).sum() for k in machine.classes_
    ]
