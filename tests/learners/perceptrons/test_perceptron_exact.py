"""The perceptron in floating point is the one in exact arithmetic, correction by correction.

On small integers nothing is rounded, so equality is demanded to the last bit; only the mean of the
weights, which divides by the number of presentations, and float32 means need a tolerance.
"""

import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from linsep import Perceptron
from linsep.errors import NotConverged
from linsep.train.order import row_order

PASSES = 4
RULES = [("online", "sum"), ("minibatch", "sum"), ("minibatch", "mean"), ("batch", "sum"),
         ("batch", "mean")]  # fmt: skip
WAYS = ["binary", "kesler", "ovr"]


def integers(seed, classes, n=16, d=3):
    """Small whole numbers; the first rows show every class."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d))
    codes = np.concatenate([np.arange(classes), rng.integers(0, classes, n - classes)])
    return X, codes


def fit(learner, X, y, **more):
    """Fit without being told that the passes were not enough."""
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y, **more)


def exact_bias(X, bias):
    return {"none": 0, "unit": 1, "radius": int((X**2).sum(axis=1).max())}[bias]


def parameters(bias):
    return {"fit_intercept": bias != "none", "bias_step": "radius" if bias == "radius" else "unit"}


def exact_run(X, codes, planes, rule, step, bias, passes=PASSES, **more):
    """The oracle's run of one rule."""
    rows, codes = X.tolist(), codes.tolist()
    if rule == "online":
        return reference.online(rows, codes, planes, passes, bias=bias, **more)
    size = 4 if rule == "minibatch" else None
    mean = step == "mean"
    return reference.batches(rows, codes, planes, passes, size=size, mean=mean, bias=bias, **more)


def exact_runs(X, codes, way, *args, **more):
    """One run, or with one-vs-rest one for each class."""
    if way == "ovr":
        classes = range(codes.max() + 1)
        return [exact_run(X, (codes == k).astype(int), 1, *args, **more) for k in classes]
    return [exact_run(X, codes, 1 if way == "binary" else codes.max() + 1, *args, **more)]


def planes_of(learner):
    return np.column_stack([learner.coef_, learner.intercept_])


def floats(W):
    return np.array([[float(v) for v in w] for w in W])


def assert_same_corrections(trace, shown, plane):
    """What the recording says of each correction is what the oracle did."""
    events = [e for e in trace.updates if e["plane"] == plane]
    corrected = [p for p in shown if p.corrections]
    assert [e["epoch"] for e in events] == [p.epoch for p in corrected]
    assert [e["row"] for e in events] == [p.row for p in corrected]
    for event, p in zip(events, corrected, strict=True):
        assert np.column_stack([event["w"], event["b"]]).tolist() == floats(p.weights).tolist()
        assert event["scores"] == [float(s) for s in p.scores]
        assert event["step"] == [float(a) for a in p.step]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bias", ["none", "unit", "radius"])
@pytest.mark.parametrize(("rule", "step"), RULES)
def test_every_correction_is_the_exact_one(rule, step, bias, way):
    for seed in range(3):
        X, codes = integers(seed, 2 if way == "binary" else 3)
        learner = Perceptron(
            rule, step=step, batch_size=4, max_iter=PASSES, shuffle=False, trace=True,
            multiclass="ovr" if way == "ovr" else "kesler", **parameters(bias),
        )  # fmt: skip
        fit(learner, X, codes)
        runs = exact_runs(X, codes, way, rule, step, exact_bias(X, bias))
        for k, shown in enumerate(runs):
            assert_same_corrections(learner.trace_, shown, k if way == "ovr" else None)
        made = [sum(p.corrections for run in runs for p in run if p.epoch == t + 1)
                for t in range(learner.n_iter_)]  # fmt: skip
        assert learner.mistakes_per_epoch_ == made
        ends = floats([w for shown in runs for w in shown[-1].weights])
        assert planes_of(learner).tolist() == ends.tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bias", ["none", "unit", "radius"])
@pytest.mark.parametrize(("rule", "step"), RULES)
def test_the_average_is_the_mean_of_the_weights_after_every_presentation(rule, step, bias, way):
    for seed in range(3):
        X, codes = integers(seed, 2 if way == "binary" else 3)
        learner = Perceptron(
            rule, step=step, keep="average", batch_size=4, max_iter=PASSES, shuffle=False,
            multiclass="ovr" if way == "ovr" else "kesler", **parameters(bias),
        )  # fmt: skip
        fit(learner, X, codes)
        runs = exact_runs(
            X, codes, way, rule, step, exact_bias(X, bias), passes=learner.n_iter_, stop=False
        )
        means = floats([w for shown in runs for w in reference.average(shown)])
        np.testing.assert_allclose(planes_of(learner), means, rtol=1e-13, atol=1e-13)
        sparse = fit(learner, sp.csr_array(X.astype(float)), codes)
        np.testing.assert_allclose(planes_of(sparse), means, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bias", ["none", "unit", "radius"])
@pytest.mark.parametrize(("rule", "step"), RULES)
def test_the_pocket_holds_the_weights_with_the_fewest_rows_misplaced(rule, step, bias, way):
    for seed in range(3):
        X, codes = integers(seed, 2 if way == "binary" else 3)
        learner = Perceptron(
            rule, step=step, keep="pocket", batch_size=4, max_iter=PASSES, shuffle=False,
            multiclass="ovr" if way == "ovr" else "kesler", **parameters(bias),
        )  # fmt: skip
        fit(learner, X, codes)
        b = exact_bias(X, bias)
        best = []
        for k, shown in enumerate(exact_runs(X, codes, way, rule, step, b)):
            asked = (codes == k).astype(int) if way == "ovr" else codes
            start = reference.zeros(len(shown[0].weights), 3)
            best += reference.pocket(shown, X.tolist(), asked.tolist(), b, start)
        assert planes_of(learner).tolist() == floats(best).tolist()


@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rule", ["online", "minibatch", "batch"])
def test_sparse_rows_and_single_precision_change_nothing_on_small_integers(rule, way, keep):
    for seed in range(3):
        X, codes = integers(seed, 2 if way == "binary" else 10, n=32)
        learner = Perceptron(
            rule, keep=keep, batch_size=4, max_iter=PASSES, shuffle=False,
            multiclass="ovr" if way == "ovr" else "kesler",
        )  # fmt: skip
        dense = planes_of(fit(learner, X.astype(np.float64), codes))
        made = learner.mistakes_per_epoch_
        for dtype in (np.float64, np.float32):
            for rows in (X.astype(dtype), sp.csr_array(X.astype(dtype))):
                fit(learner, rows, codes)
                assert learner.coef_.dtype == learner.intercept_.dtype == dtype
                assert learner.mistakes_per_epoch_ == made
                if keep == "average":
                    np.testing.assert_allclose(planes_of(learner), dense, rtol=2e-6, atol=1e-6)
                else:
                    assert planes_of(learner).tolist() == dense.tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("margin", [1.0, 4.0])
@pytest.mark.parametrize("rule", ["online", "minibatch", "batch"])
def test_a_margin_asks_for_corrections_until_every_score_exceeds_it(rule, margin, way):
    X, codes = integers(1, 2 if way == "binary" else 3)
    learner = Perceptron(
        rule, margin=margin, batch_size=4, max_iter=6, shuffle=False, trace=True,
        multiclass="ovr" if way == "ovr" else "kesler",
    )  # fmt: skip
    fit(learner, X, codes)
    for k, shown in enumerate(exact_runs(X, codes, way, rule, "sum", 1, 6, margin=margin)):
        assert_same_corrections(learner.trace_, shown, k if way == "ovr" else None)


@pytest.mark.parametrize("rule", ["online", "minibatch", "batch"])
def test_steps_of_one_over_t_are_divided_by_the_number_of_the_pass(rule):
    X, codes = integers(2, 2)
    learner = Perceptron(
        rule, schedule="1/t", eta0=12.0, batch_size=4, max_iter=4, shuffle=False, trace=True
    )  # 12, 6, 4, 3: all whole
    fit(learner, X, codes)
    shown = exact_run(X, codes, 1, rule, "sum", 1, eta=lambda t: Fraction(12, t))
    assert_same_corrections(learner.trace_, shown, None)
    assert [p["eta"] for p in learner.trace_.passes] == [12.0, 6.0, 4.0, 3.0][: learner.n_iter_]


def test_steps_of_one_over_root_t_are_divided_by_the_root_of_the_number_of_the_pass():
    X, codes = integers(5, 2)
    learner = fit(Perceptron(schedule="1/sqrt(t)", shuffle=False, max_iter=9, trace=True), X, codes)
    etas = [p["eta"] for p in learner.trace_.passes]
    assert len(etas) == 9
    np.testing.assert_allclose(np.square(etas), [1 / t for t in range(1, 10)], rtol=1e-15)


@pytest.mark.parametrize("way", ["binary", "kesler"])
def test_shuffled_passes_follow_the_order_of_their_seed(way):
    X, codes = integers(3, 2 if way == "binary" else 3)
    learner = Perceptron(max_iter=6, random_state=7, trace=True)
    fit(learner, X, codes)
    shown = exact_run(
        X, codes, 1 if way == "binary" else 3, "online", "sum", 1, passes=6,
        order=lambda epoch: row_order(len(X), 7, epoch, 0, True),
    )  # fmt: skip
    assert_same_corrections(learner.trace_, shown, None)


@pytest.mark.parametrize("way", WAYS)
def test_training_can_start_from_any_weights(way):
    X, codes = integers(4, 2 if way == "binary" else 3)
    planes = 1 if way == "binary" else 3
    start = np.random.default_rng(0).integers(-4, 5, (planes, 4))
    exact = [[Fraction(int(v)) for v in row] for row in start]
    for init in (start, start.astype(float).tolist(), (start[:, :-1], start[:, -1])):
        learner = Perceptron(
            init=init, max_iter=3, shuffle=False, multiclass="ovr" if way == "ovr" else "kesler"
        )
        fit(learner, X, codes)
        if way == "ovr":
            runs = []
            for k in range(3):
                asked = (codes == k).astype(int)
                runs.append(exact_run(X, asked, 1, "online", "sum", 1, 3, start=[exact[k]]))
        else:
            runs = [exact_run(X, codes, planes, "online", "sum", 1, 3, start=exact)]
        ends = floats([w for shown in runs for w in shown[-1].weights])
        assert planes_of(learner).tolist() == ends.tolist()


@given(st.data())
def test_kesler_is_the_binary_perceptron_on_the_expanded_rows(data):
    """Update by update, with the expansion written out and no intercept left to treat apart."""
    planes = data.draw(st.integers(3, 5))
    n, d = data.draw(st.integers(planes, 8)), data.draw(st.integers(1, 3))
    row = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    X = data.draw(st.lists(row, min_size=n, max_size=n))
    rest = data.draw(st.lists(st.integers(0, planes - 1), min_size=n - planes, max_size=n - planes))
    codes = [*range(planes), *rest]
    margin = data.draw(st.integers(0, 2))
    learner = Perceptron(max_iter=4, shuffle=False, trace=True, margin=float(margin))
    fit(learner, np.array(X, float), codes)

    expanded = list(reference.kesler(X, codes, planes, 1))
    shown = reference.online(expanded, [1] * len(expanded), 1, 4, bias=0, margin=margin)
    rivals = planes - 1
    blocks = [shown[k : k + rivals] for k in range(0, len(shown), rivals)]  # rows of one example
    corrected = [group for group in blocks if any(p.corrections for p in group)]
    assert len(corrected) == len(learner.trace_.updates)
    for group, event in zip(corrected, learner.trace_.updates, strict=True):
        w = np.array([float(v) for v in group[-1].weights[0][:-1]]).reshape(planes, d + 1)
        assert group[0].row == rivals * event["row"]
        assert np.column_stack([event["w"], event["b"]]).tolist() == w.tolist()


def test_minibatches_are_split_again_for_every_pass():
    X, codes = integers(3, 2)
    learner = Perceptron("minibatch", batch_size=4, max_iter=4, random_state=7)
    fit(learner, X, codes)
    orders = [row_order(len(X), 7, epoch, 0, True) for epoch in range(1, 5)]
    splits = [order.reshape(4, 4) for order in orders]
    assert len({frozenset(map(frozenset, split.tolist())) for split in splits}) == 4
    assert all(sorted(order) == list(range(16)) for order in orders)  # every row in every pass
    signed = np.where(codes == 1, 1, -1)[:, None] * np.column_stack([X, np.ones(16, int)])
    w, made = np.zeros(4), []
    for split in splits:
        made.append(0)
        for rows in split:
            wrong = rows[signed[rows] @ w <= 0]
            made[-1] += len(wrong)
            w = w + signed[wrong].sum(axis=0)
    assert learner.mistakes_per_epoch_ == made
    assert planes_of(learner).tolist() == [w.tolist()]


@pytest.mark.parametrize("rule", ["online", "batch"])
@pytest.mark.parametrize("seed", range(5))
def test_the_delta_rule_is_the_perceptron_with_twice_the_step(rule, seed):
    """(t − y) is 0 or 2t, so Δw = η(t − y)x is a correction of 2η."""
    X, codes = integers(seed, 2)
    signs = np.where(codes == 1, 1, -1)
    learner = Perceptron(rule, step="mean", eta0=2 * 0.25, max_iter=3, shuffle=False)
    fit(learner, X, codes)
    W = reference.delta_rule(
        X.tolist(), signs.tolist(), learner.n_iter_, eta=Fraction(1, 4), batch=rule == "batch"
    )
    assert planes_of(learner).tolist() == floats(W).tolist()
