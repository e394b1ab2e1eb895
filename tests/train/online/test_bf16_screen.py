"""Scoring by a bfloat16 copy of the weights saves time and never changes a decision."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import PassiveAggressive, Perceptron
from linsep.train.online import bf16_screen as screening

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


@pytest.fixture(autouse=True, scope="module")
def few_weights_are_many():
    """A copy is kept of large weights only; here it is of any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "LARGE", 0)
        yield


def text(n, d, K, seed, dtype=np.float64):
    """Sparse rows with some features in most rows, and labels that overlap."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, 0.2, "csr", dtype=dtype, rng=rng)
    X.data[:] = rng.normal(size=X.nnz).round(2)
    return X, rng.integers(0, K, n)


def by_all_digits(learner, X, y):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screening, "LARGE", np.inf)
        return learner.fit(X, y)


def facts(learner):
    return learner.coef_, learner.intercept_, learner.mistakes_, learner.mistakes_per_epoch_


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "learner",
    [
        Perceptron(max_iter=7, multiclass="ovr"),
        Perceptron(max_iter=7, multiclass="kesler"),
        Perceptron(max_iter=7, multiclass="ovr", keep="average", margin=0.3, bias_step="radius"),
        Perceptron(max_iter=7, keep="pocket", fit_intercept=False),
        PassiveAggressive(max_iter=7),
        PassiveAggressive(max_iter=7, variant="PA-II", fit_intercept=False),
    ],
    ids=lambda learner: str(learner).replace(" ", ""),
)
def test_a_screen_of_the_weights_changes_no_byte(learner, dtype):
    X, y = text(500, 60, 5, 0, dtype)
    made = []
    with pytest.MonkeyPatch.context() as patch:
        make = screening.bf16_screen
        patch.setattr(screening, "bf16_screen", lambda *of: made.append(make(*of)) or made[-1])
        found = [np.copy(fact) for fact in facts(learner.fit(X, y))]
    assert made[0].norm_bounds.size  # they were used
    wanted = facts(by_all_digits(learner, X, y))
    assert all((a == b).all() for a, b in zip(found, wanted, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(-60, 60),
    st.integers(-60, 60),
    st.sampled_from(["ovr", "kesler"]),
)
def test_no_magnitude_fools_the_screen(seed, large, small, multiclass):
    X, y = text(40, 6, 3, seed)
    X.data[::2] *= 10.0**large
    X.data[1::3] *= 10.0**small
    learner = Perceptron(max_iter=5, multiclass=multiclass, shuffle=False)
    found = [np.copy(fact) for fact in facts(learner.fit(X, y))]
    wanted = facts(by_all_digits(learner, X, y))
    assert all((a == b).all() for a, b in zip(found, wanted, strict=True))


def test_rows_on_the_boundary_are_told_by_all_digits():
    # w = (1, 1) after the first row; the others lie within rounding of its plane, on either side
    tiny = 2.0**-40
    X = sp.csr_array([[1.0, 1.0], [1.0 + tiny, -1.0], [1.0 - tiny, -1.0], [1.0, -1.0]] * 20)
    y = np.array([1, 1, 0, 0] * 20)
    y[-1] = 2
    for multiclass in ("ovr", "kesler"):
        learner = Perceptron(max_iter=3, multiclass=multiclass, shuffle=False, fit_intercept=False)
        found = [np.copy(fact) for fact in facts(learner.fit(X, y))]
        wanted = facts(by_all_digits(learner, X, y))
        assert all((a == b).all() for a, b in zip(found, wanted, strict=True))
