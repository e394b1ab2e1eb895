"""Ordered categories as steps, whose weights are differences of neighbours."""

import numpy as np
import pandas as pd
import pytest

from linsep import LinearRegression, LogisticRegression
from linsep.data.encoding.ordered_steps import ordered_steps
from linsep.errors import DataError, ParameterError


def test_bounds_on_steps_make_an_effect_that_does_not_fall():
    """Without a penalty that is isotonic regression on the means of the categories."""
    from sklearn.isotonic import isotonic_regression

    rng = np.random.default_rng(0)
    grade = rng.choice(list("abcde"), 300)
    y = np.array([0.0, 2.0, 1.0, 1.5, 1.4])[[ord(g) - 97 for g in grade]] + rng.normal(size=300)
    frame = ordered_steps(pd.DataFrame({"grade": grade}), {"grade": "abcde"})
    model = LinearRegression(bounds={"grade": "positive"}).fit(frame, y)
    counts = [np.sum(grade == g) for g in "abcde"]
    means = isotonic_regression([y[grade == g].mean() for g in "abcde"], sample_weight=counts)
    found = model.intercept_ + np.concatenate([[0.0], np.cumsum(model.coef_)])
    np.testing.assert_allclose(found, means, atol=1e-8)
    assert model.gap_ <= 1e-9 and len(model.constraints_) == 2


def test_weights_of_a_classifier_fall_where_they_are_told_to():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"size": rng.normal(size=200), "grade": rng.choice(["lo", "mid", "hi"], 200)}
    )
    frame["grade"] = pd.Categorical(frame["grade"], ["lo", "mid", "hi"], ordered=True)
    steps = ordered_steps(frame, {"grade": None})
    assert list(steps) == ["size", "grade>=mid", "grade>=hi"] and steps.index.equals(frame.index)
    model = LogisticRegression(bounds={"grade": "negative"}).fit(steps, rng.integers(0, 2, 200))
    assert (model.coef_[0, 1:] <= 0).all()
    assert steps["grade>=hi"].tolist() == (frame["grade"] == "hi").astype(float).tolist()


def test_what_has_no_order_is_refused_in_words():
    frame = pd.DataFrame({"grade": list("abz")})
    with pytest.raises(DataError, match="'z', which is none of a, b, c"):
        ordered_steps(frame, {"grade": "abc"})
    with pytest.raises(ParameterError, match="no order of its own"):
        ordered_steps(frame, {"grade": None})
    with pytest.raises(ParameterError, match="'size', which is no column"):
        ordered_steps(frame, {"size": "abc"})
    with pytest.raises(DataError, match="give a frame"):
        ordered_steps(np.ones(3), {"grade": "abc"})
