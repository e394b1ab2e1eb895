"""Passes of correction rules by the kernels, against plain Python that is told row by row."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.kernels import online
from linsep.rows.int8_screen import Int8Screen
from linsep.rows.rows import as_rows
from linsep.train.online.hyperplanes import Planes
from linsep.train.online.rules import Rosenblatt, passive_aggressive, rosenblatt
from linsep.train.online.tally import (
    AVERAGE,
    BEST,
    LOSS,
    MISTAKES,
    NOTHING,
    POCKET,
    ROW,
    RUN,
    SEEN,
    STEPS,
    TALLY,
    UPDATES,
    Kept,
    Presented,
    Shown,
)

ETA = 0.5
RULES = {
    "perceptron": rosenblatt(ETA, 0.25),
    "PA-I": passive_aggressive("PA-I", 0.25),
    "PA-II": passive_aggressive("PA-II", 0.5),
}
LAYOUTS = [(dtype, sparse) for dtype in (np.float64, np.float32) for sparse in (False, True)]


def step(rule, z, square):
    """How much of yx a row with signed score z asks for; None if it is right."""
    if isinstance(rule, Rosenblatt):
        return None if z > rule.positive else rule.eta
    return None if z >= 1 else min(rule.most, (1 - z) / (square + rule.soft))


def cost(rule, z):
    return max(0.0, (rule.negative if isinstance(rule, Rosenblatt) else 1.0) - z)


def table(n, d, classes, dtype, sparse, seed=0):
    """Rows of small whole numbers, whose sums are exact in every order, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(dtype)
    y = rng.integers(0, classes, n).astype(np.int32)
    return X, as_rows(sp.csr_array(X) if sparse else X), y, rng.permutation(n)


def room(rows, classes, d):
    """Planes, a tally, and what is shown of a correction."""
    tally = np.zeros(TALLY)
    tally[BEST] = -1
    W = rows.weights(classes, d)
    return Planes(W, np.zeros(classes), 1.0), tally, Shown(np.zeros(classes), np.zeros(classes))


def walked(rule, X, y, order, shares):
    """(w, b) after each presentation of two classes, and (updates, mistakes, loss)."""
    w, b, met, counts = np.zeros(X.shape[1]), 0.0, [], np.zeros(3)
    for p, i in enumerate(order):
        sign, share = 1.0 if y[i] == 1 else -1.0, shares[p] if len(shares) else 1.0
        z = sign * (X[i].astype(float) @ w + b)
        size = step(rule, z, X[i].astype(float) @ X[i] + 1.0)
        counts[2] += share * cost(rule, z)
        if size is not None:
            w = w + share * sign * size * X[i]
            b += share * sign * size
            counts += [1, not z > 0, 0]
        met.append((w, b))
    return met, counts


@pytest.mark.parametrize(("dtype", "sparse"), LAYOUTS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_pass_over_two_classes_is_that_of_plain_python(rule, dtype, sparse, weighted):
    X, rows, y, order = table(40, 5, 2, dtype, sparse)
    shares = np.where(np.arange(40) % 3, 1.0, 0.5) if weighted else NOTHING
    planes, tally, shown = room(rows, 1, 5)
    U, ub = np.zeros(planes.W.shape), np.zeros(1)
    given = rule, rows, (), Presented(y, order, shares)
    assert online.present(*given, 0, 1 << 62, planes, Kept(AVERAGE, U, ub), tally, shown) == 40
    met, counts = walked(rule, X, y, order, shares)
    close = {"rtol": 1e-12 if dtype == np.float64 else 2e-5, "atol": 1e-6}
    np.testing.assert_allclose(planes.W.ravel(), met[-1][0], **close)
    np.testing.assert_allclose(tally[[UPDATES, MISTAKES, LOSS]], counts, rtol=close["rtol"])
    assert (tally[SEEN], tally[STEPS]) == (40, counts[0])
    mean = np.mean([np.append(w, b) for w, b in met], axis=0)
    found = np.append(met[-1][0], met[-1][1]) - np.append(U.ravel(), ub) / 40
    np.testing.assert_allclose(found, mean, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [2, 5])
def test_a_pass_that_stops_after_each_correction_ends_where_one_in_one_piece_does(classes, sparse):
    _, rows, y, order = table(50, 4, classes, np.float64, sparse)

    def made(limit):
        planes, tally, shown = room(rows, 1 if classes == 2 else classes, 4)
        presented, position = Presented(y, order, NOTHING), 0
        longest = np.zeros(planes.W.size + len(planes.b))
        kept = Kept(POCKET, np.zeros((0, 0)), NOTHING, longest)
        while position < 50:
            rest = position, limit, planes
            if classes == 2:
                given = RULES["perceptron"], rows, (), presented, *rest
                position = online.present(*given, kept, tally, shown)
            else:
                given = RULES["perceptron"], -1, rows, presented, *rest
                position = online.present_classes(*given, kept, tally, shown)
        return [part.tolist() for part in (planes.W, planes.b, tally, longest, *shown)]

    assert made(1) == made(1 << 62)


def asked_by_kesler(rule, s, c, square):
    """What each class receives, and how many of its rivals a row had to be moved against."""
    a, s = np.zeros(len(s)), list(s)
    if not isinstance(rule, Rosenblatt):
        r = max((k for k in range(len(s)) if k != c), key=lambda k: (s[k], -k))
        tau = step(rule, s[c] - s[r], 2 * square)
        if tau is not None:
            a[c], a[r] = tau, -tau
        return a, int(tau is not None)
    made = 0
    for j in range(len(s)):
        if j != c and not s[c] - s[j] > rule.positive:
            a[[c, j]] += rule.eta, -rule.eta
            s[c] += rule.eta * square
            s[j] -= rule.eta * square
            made += 1
    return a, made


def asked_of_each(rule, s, c, square):
    a = np.zeros(len(s))
    for k, score in enumerate(s):
        y = 1.0 if k == c else -1.0
        size = step(rule, y * score, square)
        a[k] = 0.0 if size is None else y * size
    return a, np.count_nonzero(a)


@pytest.mark.parametrize(("dtype", "sparse"), LAYOUTS)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("classes", [3, 4, 9, 14, 18, 23, 31])
@pytest.mark.parametrize("first", [-1, 0], ids=["kesler", "ovr"])
def test_a_pass_over_several_classes_is_that_of_plain_python(first, classes, rule, dtype, sparse):
    X, rows, y, order = table(40, 5, classes, dtype, sparse)
    planes, tally, shown = room(rows, classes, 5)
    sums, ub = np.zeros(planes.W.shape), np.zeros(classes)
    given = rule, first, rows, Presented(y, order, NOTHING), 0, 40
    kept = Kept(AVERAGE, sums, ub, NOTHING)
    assert online.present_classes(*given, planes, kept, tally, shown) == 40
    W, b, U, made, last = np.zeros((classes, 5)), np.zeros(classes), 0.0, 0, -1
    for t, i in enumerate(order):
        x = X[i].astype(float)
        ask = asked_by_kesler if first < 0 else asked_of_each
        a, count = ask(rule, W @ x + b, y[i], x @ x + 1.0)
        last = i if count else last
        made += count
        W, b, U = W + np.outer(a, x), b + a, U + t * np.outer(a, x)
    close = {"rtol": 1e-11 if dtype == np.float64 else 1e-4, "atol": 1e-5}
    np.testing.assert_allclose(rows.by_class(planes.W, classes), W, **close)
    np.testing.assert_allclose(planes.b, b, **close)
    assert (tally[UPDATES], tally[ROW], tally[SEEN]) == (made, last, 40)
    np.testing.assert_allclose(rows.by_class(sums, classes), U, rtol=1e-4, atol=1e-3)


def test_the_perceptron_shares_a_step_among_all_rivals_met_on_the_way():
    rows = as_rows(np.array([[1.0]]))
    for rival, steps in ((5.0, [2.0, -1.0, -1.0]), (1.0, [1.0, -1.0, 0.0])):
        # ‖(x, 1)‖² = 2: against class 1 the own score rises by 2, enough against 1 and not 5
        planes, tally, shown = room(rows, 3, 1)
        planes.b[2] = rival
        presented = Presented(np.zeros(1, np.int32), np.zeros(1, np.int64), NOTHING)
        kept = Kept()
        given = rosenblatt(1.0, 0.0), -1, rows, presented, 0, 1
        online.present_classes(*given, planes, kept, tally, shown)
        assert shown.steps.tolist() == steps
        assert shown.scores.tolist() == [0.0, 0.0, rival]


@pytest.mark.parametrize(
    ("rule", "corrected"),
    [
        (rosenblatt(1.0, 1.0), [1, 1]),
        (rosenblatt(1.0, 1.0, "strict"), [0, 0]),
        (rosenblatt(1.0, 1.0, "right"), [1, 0]),
        (passive_aggressive("PA-I", 1.0), [0, 0]),
    ],
)
def test_what_happens_on_the_margin_is_the_rules_own(rule, corrected):
    rows = as_rows(np.array([[-1.0], [1.0]]))
    for row in (0, 1):
        planes, tally, shown = room(rows, 1, 1)
        planes.W[0, 0] = 1.0  # z = 1 for both: classes 0 and 1 at −1 and 1
        presented = Presented(np.array([0, 1], np.int32), np.array([row]), NOTHING)
        online.present(rule, rows, (), presented, 0, 9, planes, Kept(), tally, shown)
        assert tally[UPDATES] == corrected[row]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_row_that_is_no_number_is_a_mistake_not_a_success(rule):
    for x in ([1.0, np.nan], [np.inf, -np.inf]):
        rows = as_rows(np.array([x]))
        planes, tally, shown = room(rows, 1, 2)
        planes.W[:] = 1.0
        presented = Presented(np.ones(1, np.int32), np.zeros(1, np.int64), NOTHING)
        online.present(rule, rows, (), presented, 0, 9, planes, Kept(), tally, shown)
        assert tally[MISTAKES] == 1


@pytest.mark.parametrize("z", [-2.0, 0.0, 0.75])
def test_a_passive_aggressive_step_clears_margin_one_and_no_more(z):
    def asked(variant, C, x):
        rows = as_rows(np.array([[x]]))
        planes, tally, shown = room(rows, 1, 1)
        planes.b[0] = z
        presented = Presented(np.ones(1, np.int32), np.zeros(1, np.int64), NOTHING)
        planes, rule = planes._replace(bias=0.0), passive_aggressive(variant, C)
        online.present(rule, rows, (), presented, 0, 9, planes, Kept(), tally, shown)
        return shown.steps[0]

    assert z + 4.0 * asked("PA-I", 100.0, 2.0) == 1.0
    assert asked("PA-I", 0.01, 2.0) == 0.01
    assert asked("PA-I", 9.0, 0.0) == 0.0  # no step can help a row of zeros
    # the minimum of τ²(‖x‖² + 1/(2C))/2 − τ(1 − z), Crammer et al. (2006)
    assert asked("PA-II", 0.25, np.sqrt(2.0)) == pytest.approx((1.0 - z) / 4.0, rel=1e-15)


def test_a_screened_row_is_read_only_where_its_bound_leaves_a_doubt():
    rows = as_rows(np.array([[2.0, 0.0], [2.0, 0.0]]))
    planes, tally, shown = room(rows, 1, 2)
    planes.W[:] = 1.0, 0.0
    Q = np.zeros((2, 32), np.int8)
    Q[:, 0] = 127
    screen = Int8Screen(Q, np.full(2, 2.0 / 127), np.array([0.1, 3.0]), np.full(2, 2.0))
    presented = Presented(np.ones(2, np.int32), np.array([0, 1]), NOTHING)
    given = rosenblatt(1.0, 0.0), rows, screen, presented, 0, 9
    online.present(*given, planes, Kept(), tally, shown)
    assert (tally[SEEN], tally[UPDATES], tally[RUN]) == (2, 0, 2)
    online.present(rosenblatt(1.0, 1.99), *given[1:], planes, Kept(), tally, shown)
    assert tally[LOSS] == 0.0  # at a margin of 1.99 both are read, and right


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_means_of_sparse_weights_are_taken_feature_by_feature(dtype):
    rng = np.random.default_rng(0)
    W, U = rng.normal(size=(7, 4)).astype(dtype), rng.normal(size=(7, 4))
    coef = np.zeros((3, 7), dtype)
    online.sparse_means(W, U, 8.0, 2, 6, coef)
    wanted = (W - U / 8.0).astype(dtype).T[:3]
    wanted[:, [0, 1, 6]] = 0.0
    assert (coef == wanted).all()
    online.sparse_means(W, np.zeros((0, 0)), 8.0, 0, 7, coef)
    assert (coef == W.T[:3]).all()


def test_what_does_not_belong_together_is_refused():
    _, rows, y, order = table(6, 3, 2, np.float64, True)
    planes, tally, shown = room(rows, 1, 3)
    presented = Presented(y, order, NOTHING)

    def present(presented=presented, planes=planes, kept=Kept(), tally=tally, screen=()):  # noqa: B008
        online.present(RULES["PA-I"], rows, screen, presented, 0, 9, planes, kept, tally, shown)

    with pytest.raises(ValueError, match="order must hold numbers of rows"):
        present(presented._replace(order=np.array([0, 6])))
    with pytest.raises(ValueError, match="class of each row"):
        present(presented._replace(codes=y[:5]))
    with pytest.raises(ValueError, match="shares must be as many"):
        present(presented._replace(scale=np.ones(3)))
    with pytest.raises(ValueError, match="weights for each class and feature"):
        present(planes=planes._replace(W=np.zeros((2, 1))))
    with pytest.raises(ValueError, match="sums must be as many as weights"):
        present(kept=Kept(AVERAGE, np.zeros((2, 1)), np.zeros(1)))
    with pytest.raises(ValueError, match="longest must have room"):
        present(kept=Kept(POCKET, longest=np.zeros(3)))
    with pytest.raises(ValueError, match="eight places"):
        present(tally=np.zeros(7))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        present(presented._replace(codes=y.astype(np.int64)))
    with pytest.raises(ValueError, match="screen must be of these rows"):
        present(screen=Int8Screen(np.zeros((9, 32), np.int8), *np.zeros((3, 9))))
    with pytest.raises(ValueError, match="multiple of 32"):
        n = len(y)
        present(screen=Int8Screen(np.zeros((n, 33), np.int8), *np.zeros((3, n))))


def test_several_classes_are_refused_numbers_of_no_class_and_sums_of_another_shape():
    _, rows, y, order = table(6, 3, 3, np.float64, False)
    planes, tally, shown = room(rows, 3, 3)

    def present(y=y, sums=np.zeros(planes.W.shape)):  # noqa: B008
        given = RULES["PA-I"], -1, rows, Presented(y, order, NOTHING), 0, 9
        online.present_classes(*given, planes, Kept(AVERAGE, sums, np.zeros(3)), tally, shown)

    with pytest.raises(ValueError, match="codes must be numbers of classes"):
        present(y + np.int32(1))
    with pytest.raises(ValueError, match="sums must be as many as weights"):
        present(sums=np.zeros((2, 3)))
