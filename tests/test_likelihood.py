"""Maximum likelihood: by formula, by descent, and as nothing else beats it."""

import math

import numpy as np
import pytest

from linsep.errors import DataError, ParameterError
from linsep.likelihood import Bernoulli, Exponential, Gaussian, Poisson

RNG = np.random.default_rng(0)
CASES = [
    (Gaussian(0.0, 1.0), RNG.normal(3.0, 2.0, 200)),
    (Bernoulli(0.5), (RNG.random(200) < 0.3).astype(float)),
    (Exponential(1.0), RNG.exponential(0.25, 200)),
    (Poisson(1.0), RNG.poisson(4.0, 200).astype(float)),
]
IDS = [type(start).__name__ for start, _ in CASES]


def test_the_gaussian_is_the_mean_and_the_variance_over_n():
    x = CASES[0][1]
    best = Gaussian.most_likely(x)
    assert best.mean == pytest.approx(x.sum() / len(x))
    assert best.deviation**2 == pytest.approx(((x - best.mean) ** 2).sum() / len(x))


@pytest.mark.parametrize(("start", "x"), CASES, ids=IDS)
def test_the_log_likelihood_is_the_logarithm_of_the_product(start, x):
    few = x[:9]
    assert start.log_likelihood(few) == pytest.approx(math.log(np.prod(start.density(few))))
    assert start.likelihood(few) == pytest.approx(np.prod(start.density(few)))


@pytest.mark.parametrize(("start", "x"), CASES, ids=IDS)
def test_the_slope_is_zero_at_the_closed_form_and_the_derivative_elsewhere(start, x):
    best = type(start).most_likely(x)
    np.testing.assert_allclose(best.slope(x) / len(x), 0.0, atol=1e-9)
    theta, h = np.array(start._parameters()), 1e-6
    for k, slope in enumerate(start.slope(x)):
        ahead, behind = theta.copy(), theta.copy()
        ahead[k] += h
        behind[k] -= h
        rise = type(start)(*ahead).log_likelihood(x) - type(start)(*behind).log_likelihood(x)
        assert slope == pytest.approx(rise / (2 * h), rel=1e-5)


@pytest.mark.parametrize(("start", "x"), CASES, ids=IDS)
def test_descent_ends_at_the_closed_form_and_rises_all_the_way(start, x):
    best = type(start).most_likely(x)
    found, path = start.descend(x)
    np.testing.assert_allclose(found._parameters(), best._parameters(), rtol=1e-4)
    values = [one.log_likelihood(x) for one in path]
    assert values == sorted(values)
    assert values[-1] <= best.log_likelihood(x) + 1e-9


@pytest.mark.parametrize(("start", "x"), CASES, ids=IDS)
def test_no_other_parameters_are_more_likely(start, x):
    best = type(start).most_likely(x)
    for factor in (0.9, 1.1):
        other = type(start)(*(factor * np.array(best._parameters())))
        assert other.log_likelihood(x) < best.log_likelihood(x)


def test_probabilities_of_whole_numbers_sum_to_one():
    assert Poisson(2.5).density(np.arange(60)).sum() == pytest.approx(1.0)
    assert Bernoulli(0.2).density([0, 1]).tolist() == pytest.approx([0.8, 0.2])


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="no Bernoulli gives; give 0 and 1"):
        Bernoulli.most_likely([0, 2])
    with pytest.raises(DataError, match="no Poisson gives"):
        Poisson.most_likely([0.5])
    with pytest.raises(DataError, match="one number alone"):
        Gaussian.most_likely([2.0, 2.0])
    with pytest.raises(DataError, match="all finite"):
        Gaussian.most_likely([])
    with pytest.raises(ParameterError, match=r"deviation is 0\.0"):
        Gaussian(0.0, 0.0)
    with pytest.raises(ParameterError, match=r"p is 1\.5"):
        Bernoulli(1.5)
    with pytest.raises(ParameterError, match="eta0 is 0"):
        Gaussian().descend([1.0, 2.0], eta0=0)
