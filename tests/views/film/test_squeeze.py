"""The proof of Novikoff's bound is drawn from the run itself, and holds at every frame."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linsep import Perceptron
from linsep.data.toys import separated, three_classes, three_points, xor
from linsep.errors import NotConverged
from linsep.views.film.story import story_of
from linsep.views.scene.run import open_run


def story(learner, X, y):
    return story_of(open_run(learner.fit(X, y).trace_, None, None))


PARAMETERS = [
    {}, {"fit_intercept": False}, {"bias_step": "radius"}, {"eta0": 0.25}, {"shuffle": False},
    {"keep": "average"},
]  # fmt: skip


@settings(max_examples=12)
@given(st.sampled_from(PARAMETERS), st.integers(0, 50), st.integers(1, 5), st.booleans())
def test_every_frame_lies_between_both_bounds(parameters, seed, d, many):
    X, y = separated(n=30, d=d, margin=0.2, seed=seed)[:2]
    if many and d == 2:
        X, y = three_classes(n=30, spread=0.2, seed=seed)
    told = story(Perceptron(trace=True, **parameters), X, y)
    proof, frames = told["facts"]["squeeze"], told["frames"]
    assert told["facts"]["separable"] is True
    k, slack = frames["n"].astype(float), 1e-4 * np.nanmax(frames["length"])
    if told["returned"]:
        assert np.isnan(frames["along"][-1])
    some = np.isfinite(frames["along"])
    along, length, k = frames["along"][some], frames["length"][some], k[some]
    assert (along >= proof["step"] * proof["margin"] * k - slack).all()
    assert (along <= length + slack).all()
    assert (length <= proof["step"] * proof["radius"] * np.sqrt(k) + slack).all()


def test_without_a_separator_or_a_constant_feature_there_is_no_such_proof():
    with pytest.warns(NotConverged):
        told = story(Perceptron(max_iter=5, trace=True), *xor())
    assert told["facts"]["squeeze"] is None and "along" not in told["frames"]
    told = story(Perceptron(bias_step=2.0, trace=True), *three_points())
    assert told["facts"]["bound"] is None
    assert "constant feature" in told["facts"]["boundText"]
