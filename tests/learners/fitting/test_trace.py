"""Recordings: complete when short, thinned evenly when long, and never part of the run."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import linsep
from linsep import KernelPerceptron, PassiveAggressive, Perceptron, VotedPerceptron
from linsep.data.toys import overlapping, separated, three_classes, three_points
from linsep.errors import NotConverged
from linsep.status import Status
from linsep.train.run import trace as recording
from linsep.train.run.loop import Pass
from linsep.train.run.trace import Trace

HEADER = {"linsep_trace", "learner", "parameters", "classes", "stride", "corrections"}
UPDATE = {"kind", "n", "epoch", "row", "scores", "step", "w", "b", "plane"}
PASS = {"kind", "epoch", "mistakes", "updates", "loss", "eta", "after"}
END = {"kind", "status", "sentence", "w", "b"}
ROWS = {"kind", "of", "index", "codes", "X"}


def fit(learner, X, y):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y)


def learners():
    for multiclass in ("kesler", "ovr"):
        for rule in ("online", "minibatch", "batch"):
            yield Perceptron(rule, multiclass=multiclass, max_iter=5, trace=True)
        yield PassiveAggressive(multiclass=multiclass, max_iter=5, trace=True)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", list(learners()), ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_being_recorded_does_not_change_the_run(learner, classes, layout):
    X, y = overlapping(seed=0) if classes == 2 else three_classes(spread=2.0)
    recorded = fit(learner, layout(X), y)
    w, b, made = recorded.coef_.tobytes(), recorded.intercept_.tobytes(), recorded.mistakes_
    plain = fit(type(learner)(**{**learner.get_params(), "trace": False}), layout(X), y)
    assert (plain.coef_.tobytes(), plain.intercept_.tobytes(), plain.mistakes_) == (w, b, made)
    assert not hasattr(plain, "trace_")


def planes_after(trace, classes):
    """Put the hyperplanes of the last corrections together, whichever way they were recorded."""
    planes = {}
    for event in trace.updates:
        first = event["plane"] or 0
        for k, (w, b) in enumerate(zip(event["w"], event["b"], strict=True)):
            planes[first + k] = [*w, b]
    return [planes[k] for k in range(1 if classes == 2 else classes)]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", list(learners()), ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_short_run_is_recorded_whole_and_ends_at_the_model(learner, classes, layout):
    X, y = overlapping(n=20, seed=0) if classes == 2 else three_classes(21, spread=2.0)
    trace = fit(learner, layout(X), y).trace_
    assert trace.stride == 1
    assert [event["n"] for event in trace.updates] == list(range(1, trace.count + 1))
    end = np.column_stack([learner.coef_, learner.intercept_])
    assert planes_after(trace, classes) == end.tolist()
    assert trace.passes[-1]["after"] == trace.count
    assert len(trace) == trace.count
    assert "all kept" in repr(trace)


def test_a_long_run_is_thinned_evenly_within_bounded_memory(monkeypatch):
    monkeypatch.setattr(recording, "EVENTS", 100)
    X, y = overlapping(seed=1)
    trace = fit(Perceptron(max_iter=200, trace=True), X, y).trace_
    assert trace.count > 3000
    assert len(trace.updates) <= 100
    assert len(trace.passes) <= 100
    numbers = [event["n"] for event in trace.updates]
    assert set(np.diff(numbers)) == {trace.stride}
    assert numbers[0] == trace.stride
    assert trace.count - numbers[-1] < trace.stride
    epochs = [event["epoch"] for event in trace.passes]
    assert len(set(np.diff(epochs))) == 1
    assert "kept" in repr(trace)


@pytest.mark.parametrize("stride", [1, 2, 8])
def test_what_a_thinned_recording_keeps_is_what_the_whole_one_has(monkeypatch, stride):
    X, y = overlapping(n=60, seed=2)
    whole = fit(Perceptron(max_iter=20, trace=True), X, y).trace_
    monkeypatch.setattr(recording, "EVENTS", max(64, whole.count // stride))
    thin = fit(Perceptron(max_iter=20, trace=True), X, y).trace_
    by_number = {event["n"]: event for event in whole.updates}
    assert thin.count == whole.count
    for event in thin.updates:
        same = by_number[event["n"]]
        assert event["row"] == same["row"]
        assert event["scores"] == same["scores"]
        assert (event["w"] == same["w"]).all()


def test_wide_weights_take_the_place_of_many_events(monkeypatch):
    monkeypatch.setattr(recording, "FLOATS", 10_000)
    X, y, _ = separated(n=500, d=99, margin=0.01, seed=0)
    trace = fit(Perceptron(max_iter=30, trace=True), X, y).trace_
    assert trace.count > 100
    assert sum(event["w"].size + event["b"].size for event in trace.updates) <= 10_000


def test_a_million_events_take_no_more_room_than_a_thousand(monkeypatch):
    monkeypatch.setattr(recording, "EVENTS", 128)
    trace = Trace("Perceptron", {}, [0, 1])
    w, b = np.zeros((1, 2)), np.zeros(1)
    made = 0
    while made < 10**6:
        step = trace.wait()
        trace.update(step, 1, 0, w[0], w[0], w, b)
        made += step
    assert trace.count == made
    assert 32 <= len(trace.updates) <= 128


@pytest.mark.parametrize("learner", list(learners()), ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_every_line_is_json_of_one_schema(learner, classes, tmp_path):
    X, y = overlapping(n=20, seed=0) if classes == 2 else three_classes(21, spread=2.0)
    trace = fit(learner, X, y).trace_
    trace.save(tmp_path / "run.jsonl")
    lines = map(json.loads, (tmp_path / "run.jsonl").read_text().splitlines())
    header, rows, *events, end = lines
    assert set(rows) == ROWS
    assert (rows["X"], rows["of"]) == (X.tolist(), len(X))
    assert set(header) == HEADER
    assert header["linsep_trace"] == 1
    assert header["learner"] == type(learner).__name__
    assert header["parameters"]["max_iter"] == 5
    assert header["classes"] == sorted(set(y.tolist()))
    assert {event["kind"]: set(event) for event in events} == {"update": UPDATE, "pass": PASS}
    assert set(end) == END
    assert end["status"] == learner.status_.name
    assert end["sentence"] == learner.status_.value
    assert (end["w"], end["b"]) == (learner.coef_.tolist(), learner.intercept_.tolist())


def test_lines_come_in_the_order_of_the_run():
    X, y = three_points()
    trace = Perceptron(shuffle=False, trace=True).fit(X, y).trace_
    events = [json.loads(line) for line in trace.lines()][2:-1]
    epochs = [event["epoch"] for event in events]
    assert epochs == sorted(epochs)
    made = [event["updates"] for event in events if event["kind"] == "pass"]
    assert made == [2, 2, 3, 2, 1, 2, 1, 0]
    seen = 0
    for event in events:
        if event["kind"] == "update":
            seen += 1
            assert event["n"] == seen
        else:
            assert event["after"] == seen


def test_numbers_survive_the_way_through_the_file():
    X, y = overlapping(n=20, seed=0)
    trace = fit(Perceptron(max_iter=5, trace=True), X, y).trace_
    updates = [json.loads(line) for line in trace.lines()]
    updates = [event for event in updates if event.get("kind") == "update"]
    for event, kept in zip(updates, trace.updates, strict=True):
        assert event["w"] == kept["w"].tolist()
        assert event["b"] == kept["b"].tolist()


@pytest.mark.parametrize("labels", [[b"a", b"\xff"], [False, True], [(0, 1), (1, 0)], [2**70, 3],
                                    np.array(["2020", "2021"], "M8[Y]")], ids=str)  # fmt: skip
def test_labels_of_any_kind_can_be_written_down(labels):
    y = np.empty(4, object)
    for k in range(4):
        y[k] = labels[k % 2]
    trace = fit(Perceptron(max_iter=2, trace=True), np.arange(8.0).reshape(4, 2), y).trace_
    assert len(json.loads(next(trace.lines()))["classes"]) == 2


def test_a_recording_that_was_cut_off_says_so():
    trace = Trace("Perceptron", {}, [0, 1])
    trace(Pass(1, 3, 3, 0.5))
    assert json.loads(list(trace.lines())[-1])["status"] == Status.interrupted.name


def test_parts_are_recorded_too():
    X, y = three_points()
    stream = Perceptron(trace=True)
    stream.partial_fit(X, y)
    assert [event["row"] for event in stream.trace_.updates] == [0, 2]
    assert stream.trace_.passes[0]["updates"] == 2
    assert stream.trace_.status is Status.streaming


@pytest.mark.parametrize("name", linsep._LEARNERS)
def test_every_learner_can_be_recorded(name):
    X, y = overlapping(n=30, seed=0)
    learner = fit(getattr(linsep, name)(trace=True), X, y)
    assert len(learner.trace_.passes) >= 1
    assert learner.trace_.status is learner.status_
    assert not hasattr(fit(learner.set_params(trace=False), X, y), "trace_")


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_vote_is_recorded_as_the_perceptron_run_it_is(classes, dtype, layout):
    X, y = overlapping(n=60, seed=0) if classes == 2 else three_classes(60, spread=2.0)
    rows = layout(X.astype(dtype))
    voted = fit(VotedPerceptron(max_iter=5, trace=True), rows, y)
    plain = fit(Perceptron(max_iter=5, trace=True), rows, y)
    assert voted.trace_.count == len(voted.trace_) == voted.n_vectors_ - 1
    for mine, other in zip(voted.trace_.updates, plain.trace_.updates, strict=True):
        for name in ("n", "epoch", "row", "plane", "step"):
            assert mine[name] == other[name]
        assert mine["w"].tobytes() == other["w"].tobytes()
        assert mine["b"].tobytes() == other["b"].tobytes()
        np.testing.assert_allclose(mine["scores"], other["scores"], rtol=1e-5, atol=1e-5)
    unseen = fit(VotedPerceptron(max_iter=5), rows, y)
    assert unseen.survival_.tobytes() == voted.survival_.tobytes()


def test_a_vote_in_parts_is_recorded_from_where_it_was():
    X, y = three_points()
    stream = VotedPerceptron(trace=True).partial_fit(X, y)
    w, b = stream.trace_.updates[-1]["w"], stream.trace_.updates[-1]["b"]
    stream.partial_fit(X, y)
    assert [part.tolist() for part in stream.trace_.start] == [w.tolist(), b.tolist()]
    plain = Perceptron(shuffle=False, max_iter=2, trace=True)
    both = fit(plain, X, y).trace_.updates
    assert [e["row"] for e in stream.trace_.updates] == [e["row"] for e in both if e["epoch"] == 2]
    assert stream.trace_.updates[-1]["w"].tolist() == both[-1]["w"].tolist()


@pytest.mark.parametrize(
    "learner", [KernelPerceptron(trace=True), VotedPerceptron(kernel="rbf", trace=True)], ids=repr
)
def test_a_kernel_has_passes_to_record_and_no_weights(learner):
    X, y = overlapping(n=30, seed=0)
    trace = fit(learner, X, y).trace_
    assert [done["updates"] for done in trace.passes] == learner.mistakes_per_epoch_
    assert trace.updates == []
