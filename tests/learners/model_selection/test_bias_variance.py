"""Bias and variance by resampling, against cases whose answer is known."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge

from linsep import LinearRegression, LogisticRegression, Perceptron, bias_variance
from linsep.data.toys import height_weight, overlapping
from linsep.errors import DataError, ParameterError

AT = np.linspace(-1, 1, 12)[:, None]
LOOK = np.array([[-0.7], [0.0], [0.9]])


def line_with_noise(rng):
    return AT, AT[:, 0] ** 2 + 0.5 * rng.standard_normal(len(AT))


@pytest.mark.parametrize("ridge", [0.0, 4.0])
def test_least_squares_has_the_bias_and_variance_of_its_closed_form(ridge):
    """At fixed places E(Y) = Hf and V(Y) = σ²HHᵀ; ridge shrinks the slope only."""
    repeats = 1000
    centred = AT - AT.mean()
    H = 1 / len(AT) + (LOOK - AT.mean()) @ centred.T / ((centred**2).sum() + ridge)
    bias = (H @ AT[:, 0] ** 2 - LOOK[:, 0] ** 2) ** 2
    variance = 0.25 * (H**2).sum(axis=1)
    learner = Ridge(ridge) if ridge else LinearRegression()
    found = bias_variance(learner, line_with_noise, at=LOOK, truth=LOOK[:, 0] ** 2, repeats=repeats)
    noise = np.sqrt(variance / repeats)  # of the mean of all predictions
    assert (np.abs(np.sqrt(found.biases) - np.sqrt(bias)) < 5 * noise).all()
    np.testing.assert_allclose(found.variances, variance, rtol=5 * np.sqrt(2 / repeats))


def test_a_constant_has_no_variance_and_the_mean_has_that_of_a_mean():
    constant = bias_variance(
        DummyRegressor(strategy="constant", constant=2.0), line_with_noise, at=LOOK, truth=[1, 2, 4]
    )
    assert constant.variance == 0
    assert constant.biases.tolist() == [1, 0, 4]
    assert constant.bias == pytest.approx(5 / 3)


class Coin(ClassifierMixin, BaseEstimator):
    """Says 'b' in the share of fits that its training labels have."""

    def fit(self, X, y):
        self.classes_ = np.array(["a", "b"])
        self.answer_ = y[0]
        return self

    def predict(self, X):
        return np.full(len(X), self.answer_)


def test_a_classifier_that_tosses_a_coin_has_the_closed_form_of_a_coin():
    """With P('b') = p and truth 'a': error p, bias p², variance p(1 − p)."""

    def draw(rng):
        return np.zeros((2, 1)), np.where(rng.random(2) < 0.3, "b", "a")

    found = bias_variance(Coin(), draw, at=[[0.0]], truth=["a"], repeats=2000)
    p = found.error
    assert abs(p - 0.3) < 5 * np.sqrt(0.21 / 2000)
    assert found.bias == pytest.approx(p**2)
    assert found.variance == pytest.approx(p * (1 - p))


@pytest.mark.parametrize(
    "learner", [LogisticRegression(tol=1e-3), Perceptron(max_iter=5)], ids=repr
)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_the_parts_of_a_classifiers_error_add_up_to_the_share_of_wrong_labels(learner):
    X, y = overlapping(n=80, d=3, seed=1)
    new, labels = overlapping(n=50, d=3, seed=2)
    names = np.where(y > 0, "yes", "no")
    found = bias_variance(learner, X, names, at=new, truth=np.where(labels > 0, "yes", "no"),
                          repeats=15)  # fmt: skip
    share = found.means[:, 1]  # of fits that said yes
    wrong = np.where(labels > 0, 1 - share, share)
    np.testing.assert_allclose(found.errors, wrong, atol=1e-15)
    assert found.error == pytest.approx(found.bias + found.variance)
    assert (found.counts == 15).all()


def test_an_online_rule_varies_more_than_an_optimum():
    X, y = overlapping(n=100, d=5, seed=0)
    new, labels = overlapping(n=500, d=5, seed=9)
    settings = {"at": new, "truth": labels, "repeats": 20}
    with pytest.warns(UserWarning, match="Perceptron"):
        online = bias_variance(Perceptron(max_iter=5), X, y, **settings)
    optimum = bias_variance(LogisticRegression(tol=1e-3), X, y, **settings)
    assert online.variance > 2 * optimum.variance


def test_rows_left_out_of_a_draw_are_looked_at_where_nothing_else_is_given():
    X, y = height_weight(40)
    found = bias_variance(LinearRegression(), X, y, repeats=60)
    expected = 60 * (1 - 1 / 40) ** 40  # how often a row is left out
    assert abs(found.counts.mean() - expected) < 2
    assert found.error == pytest.approx((found.errors).mean())
    assert 30 < found.bias < 90  # the noise of 8 kg, squared, counts as bias
    assert found.variance < 10


def test_the_same_seed_gives_the_same_answer_whatever_the_threads():
    X, y = height_weight(30)
    one = bias_variance(LinearRegression(), X, y, repeats=20)
    two = bias_variance(LinearRegression(), X, y, repeats=20, n_jobs=2)
    other = bias_variance(LinearRegression(), X, y, repeats=20, random_state=1)
    assert one.errors.tobytes() == two.errors.tobytes()
    assert one.error != other.error


def test_draws_of_one_class_only_are_drawn_again():
    X = np.arange(6.0)[:, None]
    y = ["rare", *["common"] * 5]
    found = bias_variance(LogisticRegression(), X, y, repeats=10)
    assert found.counts[0] == 0  # the only row of its class is in every draw
    assert np.isnan(found.errors[0])
    assert found.counts[1:].all()
    assert found.error == pytest.approx(np.nanmean(found.errors))


class Far(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), 1e8 + self.mean_)


def test_variance_does_not_drown_in_a_large_mean():
    def draw(rng):
        return np.zeros((4, 1)), rng.standard_normal(4)

    found = bias_variance(Far(), draw, at=[[0.0]], truth=[1e8], repeats=500)
    assert found.variance == pytest.approx(0.25, rel=0.3)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((AT, None), {}, ParameterError, "y is missing"),
        ((line_with_noise,), {}, ParameterError, "say with at= and truth= where to look"),
        ((AT, AT[:, 0]), {"at": LOOK}, ParameterError, "at and truth go together"),
        ((AT, AT[:5, 0]), {}, DataError, "X has 12 rows but y has shape"),
        ((AT, AT[:, 0]), {"at": LOOK, "truth": [1.0]}, DataError, "there are 3 points"),
        ((AT, AT[:, 0]), {"repeats": 0}, ParameterError, "repeats is 0"),
    ],
    ids=["no y", "no place", "half a place", "short y", "short truth", "no repeats"],
)
def test_what_cannot_be_resampled_is_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        bias_variance(LinearRegression(), *arguments, **options)
