"""A film ends on the model that the fit returned, and says so where no step led there."""

import warnings

import numpy as np
import pytest

from linsep import (
    LinearSVC,
    LogisticRegression,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    plot,
)
from linsep.data.toys import overlapping, three_classes, three_points
from linsep.errors import DataError, NotConverged
from linsep.train.run import trace as recording
from linsep.train.run.trace import Trace
from linsep.views.film.story import story_of
from linsep.views.scene.packing import pack
from linsep.views.scene.run import open_run

DATA = {2: overlapping(n=40, seed=1), 3: three_classes(30, spread=2.0)}
AVERAGE = "the average of all weights met"
BEST = "the pass with the lowest objective, its intercept included"


def fit(learner, X, y):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y)


def ending(story):
    return np.array(story["frames"]["planes"][-1]).reshape(-1, 3)


@pytest.mark.parametrize("classes", DATA)
@pytest.mark.parametrize(("learner", "kept"), [
    (Perceptron(max_iter=5, trace=True), ""),
    (Perceptron("batch", max_iter=5, trace=True), ""),
    (Perceptron(multiclass="ovr", max_iter=5, trace=True), ""),
    (PassiveAggressive(max_iter=5, trace=True), ""),
    (VotedPerceptron(decide="last", trace=True), ""),
    (Perceptron(keep="average", max_iter=5, trace=True), AVERAGE),
    (PassiveAggressive(keep="average", max_iter=5, trace=True), AVERAGE),
    (VotedPerceptron(decide="average", trace=True), AVERAGE),
    (Perceptron(keep="pocket", max_iter=5, trace=True),
     "the pocket, which is the best of the longest-lived weights of all passes"),
    (LogisticRegression(solver="sgd", max_iter=5, eta0=30.0, trace=True), BEST),
    (LinearSVC(solver="sgd", max_iter=5, eta0=30.0, trace=True), BEST),
], ids=repr)  # fmt: skip
def test_the_last_frame_is_the_model_and_says_what_it_is(learner, kept, classes):
    X, y = DATA[classes]
    fit(learner, X, y)
    story = story_of(open_run(learner, None, None))
    np.testing.assert_array_equal(
        ending(story), np.column_stack([learner.coef_, learner.intercept_])
    )
    assert story["returned"] == kept
    steps = len(learner.trace_.updates)
    assert len(story["frames"]["n"]) == 1 + steps + bool(kept)
    if kept:
        assert story["frames"]["at"][-1] == -1
        assert any(f"the model returned: {kept}" in note for note in story["notes"])


def test_the_last_correction_is_shown_where_the_trace_was_thinned(monkeypatch):
    monkeypatch.setattr(recording, "EVENTS", 64)
    learner = fit(Perceptron(max_iter=9, trace=True), *DATA[2])
    trace = learner.trace_
    assert trace.updates[-1]["n"] < trace.count
    story = story_of(open_run(learner, None, None))
    np.testing.assert_array_equal(ending(story)[0], [*learner.coef_[0], *learner.intercept_])
    assert story["frames"]["n"][-1] == trace.count
    assert (
        story["returned"] == "the weights after the last correction, which the trace does not hold"
    )


def test_a_vote_has_no_plane_to_end_on_and_the_film_says_so():
    learner = fit(VotedPerceptron(trace=True), *DATA[2])
    story = story_of(open_run(learner, None, None))
    assert (
        "The model is the vote of all weights met; the film shows them in turn." in story["notes"]
    )


def test_the_model_travels_in_the_file_and_older_files_without_it_still_open(tmp_path):
    learner = fit(Perceptron(keep="average", max_iter=5, trace=True), *DATA[2])
    learner.trace_.save(tmp_path / "run.jsonl")
    back = Trace.load(tmp_path / "run.jsonl")
    story = story_of(open_run(back, None, None))
    assert pack(story) == pack(story_of(open_run(learner, None, None)))
    learner.trace_.returned = None
    learner.trace_.save(tmp_path / "old.jsonl")
    old = story_of(open_run(Trace.load(tmp_path / "old.jsonl"), None, None))
    assert len(old["frames"]["n"]) == len(story["frames"]["n"]) - 1
    assert (
        "The model keeps the average of all weights, which this trace does not hold."
        in old["notes"]
    )


def test_a_model_of_another_shape_is_refused(tmp_path):
    trace = Perceptron(shuffle=False, trace=True).fit(*three_points()).trace_
    trace.returned = np.ones((2, 2)), np.ones(2)
    with pytest.raises(DataError, match=r"ends with weights of shape \(2, 2\)"):
        open_run(trace, None, None)


def test_the_picture_of_the_weights_ends_there_too():
    learner = fit(Perceptron(keep="average", max_iter=5, trace=True), *DATA[2])
    (ax,) = plot.weight_space(learner).axes
    assert f"Perceptron, the model returned ({AVERAGE})" in ax.get_title()
    dot = next(line for line in ax.lines if line.get_label() == "weights")
    assert [float(dot.get_xdata()[0]), float(dot.get_ydata()[0])] == learner.coef_[0].tolist()
    (ax,) = plot.weight_space(learner, at=3).axes
    assert "after 3 of" in ax.get_title()


@pytest.mark.parametrize("n", [299, 300, 1999, 2000])
def test_lines_and_points_of_rows_that_alternate_are_of_both_classes(n):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 4 * y[:, None]
    learner = fit(Perceptron(max_iter=2, shuffle=False, trace=True), X, y)
    story = story_of(open_run(learner, None, None))
    assert len(story["weights"]["lines"]) == 150
    assert set(story["codes"][story["weights"]["lines"]].tolist()) == {0, 1}
    assert np.bincount(story["codes"]).min() > len(story["codes"]) // 3
    (ax,) = plot.weight_space(learner).axes
    drawn = [len(one.get_segments()) for one in ax.collections]
    assert min(drawn[0] + drawn[1], drawn[2] + drawn[3]) == 75


def test_a_sample_of_rows_that_alternate_is_of_both_classes(monkeypatch):
    monkeypatch.setattr(recording, "ENTRIES", 100)
    y = np.arange(200) % 2
    X = np.column_stack([y, np.arange(200) / 200])
    learner = fit(Perceptron(max_iter=2, trace=True), X, y)
    assert np.bincount(learner.trace_.rows.codes).tolist() == [25, 25]
