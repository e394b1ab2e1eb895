"""Two layers trained by back-propagation: slopes, solutions, local minima."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from linsep import ThresholdNetwork
from linsep.data.toys import xor
from linsep.errors import DataError, ParameterError
from linsep.logic import Network


@pytest.mark.parametrize("rule", ["batch", "online"])
def test_xor_is_solved_from_some_starts_and_stuck_from_others(rule):
    X, y = xor()
    nets = [ThresholdNetwork(rule=rule, n_init=1, random_state=seed).fit(X, y) for seed in range(8)]
    solved = [net for net in nets if net.status_.name == "separated"]
    stuck = [net for net in nets if net.status_.name == "unfinished"]
    assert solved
    assert stuck
    for net in solved:
        assert isinstance(net.network_, Network)
        assert net.network_.truth_table().tolist() == [0, 1, 1, 0]
        assert net.predict(X).tolist() == y.tolist()
    assert min(net.loss_curve_[-1] for net in stuck) > 0.3
    several = ThresholdNetwork(rule=rule, random_state=0).fit(X, y)
    assert several.losses_[-1] == min(several.losses_) < several.tol
    assert [several.losses_[k] for k in range(len(several.losses_))] == [
        net.loss_curve_[-1] for net in nets[: len(several.losses_)]
    ]


def test_a_weight_counts_a_row_that_often_and_none_leaves_it_out():
    X, y = xor()
    net = ThresholdNetwork(n_init=1, max_iter=50)
    weighted = net.fit(X, y, sample_weight=[3.0, 1.0, 2.0, 1.0]).hidden_coef_
    repeated = net.fit(np.repeat(X, [3, 1, 2, 1], axis=0), np.repeat(y, [3, 1, 2, 1])).hidden_coef_
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)
    without = net.fit(X, y, sample_weight=[1.0, 1.0, 1.0, 0.0])
    assert without.hidden_coef_.tolist() == net.fit(X[:3], y[:3]).hidden_coef_.tolist()
    with pytest.raises(DataError, match="of one class"):
        net.fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(DataError, match=r"sample_weight is -1\.0 at row 0"):
        net.fit(X, y, sample_weight=[-1.0, 1.0, 1.0, 1.0])


def test_the_hard_network_is_what_predict_says_and_sigmoids_give_probabilities():
    X, y = xor()
    net = ThresholdNetwork().fit(X, np.where(y > 0, "odd", "even"))
    assert net.predict(X).tolist() == ["even", "odd", "odd", "even"]
    p = net.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert ((p[:, 1] > 0.9) == (y > 0)).all()
    assert net.loss_curve_[-1] < net.tol <= net.loss_curve_[-2]


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="has 3 classes"):
        ThresholdNetwork().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ParameterError, match="rule is 'minibatch'"):
        ThresholdNetwork(rule="minibatch").fit(*xor())
    with pytest.raises(ParameterError, match="hidden is 0"):
        ThresholdNetwork(hidden=0).fit(*xor())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_an_estimator_of_scikit_learn():
    check_estimator(ThresholdNetwork(max_iter=200, n_init=2))


def test_a_start_that_leaves_for_good_is_not_kept():
    X, y = xor()
    with np.errstate(all="ignore"):
        net = ThresholdNetwork(eta0=1e308, spread=1e154, n_init=3, max_iter=50).fit(1e154 * X, y)
    assert np.isinf(net.losses_).any()
    assert net.status_.name != "converged"


def test_a_network_begins_at_the_weights_it_is_given():
    X, y = xor()
    solved = ([[20, 20], [-20, -20]], [-10, 30], [20, 20], -30)  # OR and NAND, and AND of both
    net = ThresholdNetwork(init=solved, max_iter=1).fit(X, y)
    assert net.status_.name == "separated" and len(net.losses_) == 1
    assert [part.ravel().tolist() for part in net.start_] == [
        [20, 20, -20, -20], [-10, 30], [20, 20], [-30]
    ]  # fmt: skip
    with pytest.raises(ParameterError, match=r"shapes \(2, 2\), \(2,\), \(1, 2\), \(1,\)"):
        ThresholdNetwork(init=([1.0],)).fit(X, y)
