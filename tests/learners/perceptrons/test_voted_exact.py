"""The voted perceptron against a vote in which every separator is kept and asked."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from linsep import Perceptron, VotedPerceptron
from linsep.errors import NotConverged


def integers(seed, classes, n=16, d=3):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return rng.integers(-3, 4, (n, d)), codes


def separators(X, codes, bias=1, passes=3):
    planes = 1 if codes.max() == 1 else int(codes.max()) + 1
    shown = reference.online(X.tolist(), codes.tolist(), planes, passes, bias=bias)
    return reference.lives(shown, reference.zeros(planes, X.shape[1]))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("seed", range(3))
def test_the_prediction_is_the_vote_of_every_separator(seed, classes, bias, layout):
    X, codes = integers(seed, classes)
    voted = VotedPerceptron(3, shuffle=False, fit_intercept=bool(bias))
    voted.fit(layout(X.astype(float)), codes)
    run = separators(X, codes, bias)
    assert voted.survival_.tolist() == [c for _, c in run]
    assert voted.n_vectors_ == len(run)

    new = np.random.default_rng(seed + 100).integers(-4, 5, (30, 3))
    total = sum(c for _, c in run)
    votes = [reference.vote(run, x, bias) for x in new.tolist()]
    expected = np.array(votes) / total if total else np.array(votes, float)
    assert voted.decision_function(layout(new.astype(float))).tolist() == expected.tolist()
    if classes == 2:
        assert voted.predict(new).tolist() == [int(v >= 0) for v in votes]
    else:
        assert voted.predict(new).tolist() == [v.index(max(v)) for v in votes]


@given(st.data())
def test_any_small_vote_is_counted_right(data):
    n, d = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 3))
    row = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(row, min_size=n, max_size=n)))
    codes = np.array(
        [0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))]
    )
    voted = VotedPerceptron(2, shuffle=False).fit(X.astype(float), codes)
    run = separators(X, codes, passes=2)
    total = max(1, sum(c for _, c in run))
    votes = [reference.vote(run, x, 1) / total for x in X.tolist()]
    assert voted.decision_function(X.astype(float)).tolist() == votes


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_average_weighs_every_separator_by_its_survival(seed, classes):
    X, codes = integers(seed, classes)
    voted = VotedPerceptron(3, decide="average", shuffle=False).fit(X.astype(float), codes)
    run = separators(X, codes)
    total = sum(c for _, c in run)
    planes, width = len(run[0][0]), 4
    mean = [[float(sum(c * W[k][j] for W, c in run) / Fraction(total)) for j in range(width)]
            for k in range(planes)]  # fmt: skip
    got = np.column_stack([voted.coef_, voted.intercept_])
    np.testing.assert_allclose(got, mean, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_last_separator_is_that_of_the_perceptron(classes):
    X, codes = integers(4, classes)
    voted = VotedPerceptron(5, decide="last").fit(X.astype(float), codes)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        plain = Perceptron(max_iter=5).fit(X.astype(float), codes)
    assert voted.coef_.tolist() == plain.coef_.tolist()
    assert voted.intercept_.tolist() == plain.intercept_.tolist()
    assert voted.mistakes_per_epoch_ == plain.mistakes_per_epoch_


def test_every_presentation_has_one_vote_or_makes_one_separator():
    X, codes = integers(5, 2, n=50)
    voted = VotedPerceptron(4).fit(X.astype(float), codes)
    assert voted.survival_.sum() + voted.n_vectors_ - 1 == voted.n_iter_ * len(X)


def test_a_blank_model_votes_for_the_class_its_zero_scores_stand_for():
    """With no row survived there are no votes, and a score of zero is the positive class."""
    voted = VotedPerceptron(1, shuffle=False).fit([[1.0], [1.0]], [0, 1])
    assert voted.survival_.sum() == 0
    assert voted.decision_function([[5.0]]).tolist() == [0.0]
    assert voted.predict([[5.0]]).tolist() == [1]


def test_memory_grows_by_corrected_rows_each_stored_once():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 50))
    y = (X[:, 0] > 0).astype(int)
    voted = VotedPerceptron(30).fit(X, y)
    rows = len(voted._corrections.support)
    assert rows <= 2000 < voted.n_vectors_
