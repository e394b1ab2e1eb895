"""The worked examples of the lectures, to the last digit, and their tables on real digits."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from linsep import Perceptron, VotedPerceptron
from linsep.data.files.idx import load_idx, read_idx
from linsep.data.toys import three_points, two_groups
from linsep.errors import NotConverged


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_three_points_take_2_2_3_2_1_2_1_0_corrections(layout):
    X, y = three_points()
    learner = Perceptron(shuffle=False).fit(layout(X), y)
    assert learner.mistakes_per_epoch_ == [2, 2, 3, 2, 1, 2, 1, 0]
    assert learner.coef_.tolist() == [[-2.5, 0.0]]
    assert learner.intercept_.tolist() == [3.0]
    assert learner.status_.name == "separated"


def test_the_three_points_end_alike_whichever_way_the_constant_is_given():
    X, y = three_points()
    extended = np.column_stack([np.ones(3), X])
    learner = Perceptron(shuffle=False, fit_intercept=False).fit(extended, y)
    assert learner.mistakes_per_epoch_ == [2, 2, 3, 2, 1, 2, 1, 0]
    assert learner.coef_.tolist() == [[3.0, -2.5, 0.0]]


START = (0.0, 1.0, -0.5)
AFTER = (1.45, -0.6, -0.5)
SCORES = [0.95, 0.35, 0.01, 0.275, -0.5, -1.1, -0.7375, -0.305]


def decimals(rows):
    return [[Fraction(str(v)) for v in row] for row in rows]


def test_the_eight_points_in_exact_arithmetic():
    """The numbers of the lecture are decimals: as rationals they come out without rounding."""
    X, y = two_groups()
    rows, codes = decimals(X.tolist()), (y > 0).astype(int).tolist()
    start = decimals([START])
    wrong = [i for i, x in enumerate(rows) if y[i] * reference.scores(start, x, 1)[0] <= 0]
    assert wrong == [0, 3, 5, 6]  # the first and fourth of class 1, the second and third of class 2
    W = reference.batches(rows, codes, 1, 1, start=start)[-1].weights
    assert decimals([AFTER]) == W
    assert [reference.scores(W, x, 1)[0] for x in rows] == decimals([SCORES])[0]


def test_the_eight_points_take_one_batch_step():
    X, y = two_groups()
    learner = Perceptron("batch", init=START, trace=True).fit(X, y)
    assert learner.mistakes_per_epoch_ == [4, 0]
    (step,) = learner.trace_.updates
    np.testing.assert_allclose([*step["w"][0], *step["b"]], AFTER, rtol=1e-15)
    np.testing.assert_allclose(learner.decision_function(X), SCORES, rtol=2e-14)
    assert learner.status_.name == "separated"
    assert learner.score(X, y) == 1.0


def test_the_wrong_set_of_the_eight_points_is_what_the_first_step_corrects():
    X, y = two_groups()
    with pytest.warns(NotConverged, match="callback"):
        first = Perceptron("batch", init=START).fit(X, y, callback=lambda done: True)
    wrong = y * (X @ START[:2] + START[2]) <= 0
    assert np.flatnonzero(wrong).tolist() == [0, 3, 5, 6]
    asked = (y[wrong, None] * np.column_stack([X, np.ones(8)])[wrong]).sum(axis=0)
    np.testing.assert_allclose([*first.coef_[0], *first.intercept_], START + asked, rtol=1e-15)


def test_without_a_mean_a_unit_step_is_the_fixed_increment_rule():
    """A pass adds all wrong rows as they are; on batches of one row it is the online rule."""
    X, y = three_points()
    learner = Perceptron("batch", step="sum", eta0=1.0, trace=True).fit(X, y)
    extended, w = np.column_stack([X, np.ones(3)]), np.zeros(3)
    for event in learner.trace_.updates:
        wrong = y * (extended @ w) <= 0
        w = w + (y[wrong, None] * extended[wrong]).sum(axis=0)
        assert [*event["w"][0], *event["b"]] == w.tolist()
    assert learner.status_.name == "separated"
    ways = [Perceptron(shuffle=False)]
    ways += [Perceptron("minibatch", batch_size=1, step=s, shuffle=False) for s in ("sum", "mean")]
    ends = [learner.fit(X, y).coef_.tolist() for learner in ways]
    assert ends[0] == ends[1] == ends[2]


def test_xor_cannot_be_separated_until_the_product_is_added():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = [0, 1, 1, 0]
    with pytest.warns(NotConverged, match="mistakes left"):
        assert Perceptron(max_iter=100).fit(X, y).score(X, y) < 1
    lifted = np.column_stack([X, X[:, 0] * X[:, 1]])  # Φ(u, v) = (u, v, uv)
    assert Perceptron().fit(lifted, y).score(lifted, y) == 1


def test_the_outcome_depends_on_the_order_of_the_three_points():
    X, y = three_points()
    ends = {
        tuple(Perceptron(shuffle=False).fit(X[o], y[o]).coef_[0]) for o in ([0, 1, 2], [2, 1, 0])
    }
    assert len(ends) == 2


@pytest.fixture(scope="module")
def zeros_and_ones(shared_data):
    """MNIST 0 against 1 in file order, pixels from 0 to 1, and its test rows."""
    folder = shared_data("mnist")
    sets = []
    for name in ("train", "t10k"):
        X, y = load_idx(folder / f"{name}-images-idx3-ubyte.gz")
        assert (y == read_idx(folder / f"{name}-labels-idx1-ubyte.gz")).all()
        some = y <= 1
        sets.append((X[some].astype(np.float64) / 255, y[some]))
    return sets


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("intercept", "changes"),
    [
        (False, [42, 23, 17, 17, 13, 9, 3, 6, 14, 10, 6, 3, 0]),
        (True, [48, 23, 20, 9, 11, 6, 0]),
    ],
)
def test_mnist_zero_against_one_takes_the_changes_of_the_table(
    zeros_and_ones, intercept, changes, dtype
):
    (X, y), (new, labels) = zeros_and_ones
    learner = Perceptron(shuffle=False, fit_intercept=intercept).fit(X.astype(dtype), y)
    assert learner.mistakes_per_epoch_ == changes
    assert learner.score(X, y) == 1.0
    assert 1 - learner.score(new, labels) < 0.003  # the lecture ends at 0.14 %


def test_mnist_zero_against_one_takes_the_same_changes_on_sparse_rows(zeros_and_ones):
    (X, y), _ = zeros_and_ones
    learner = Perceptron(shuffle=False, fit_intercept=False).fit(sp.csr_array(X), y)
    assert learner.mistakes_per_epoch_ == [42, 23, 17, 17, 13, 9, 3, 6, 14, 10, 6, 3, 0]


def test_mnist_zero_against_one_takes_the_same_changes_with_a_constant_pixel(zeros_and_ones):
    (X, y), _ = zeros_and_ones
    extended = np.column_stack([X, np.ones(len(X))])
    learner = Perceptron(shuffle=False, fit_intercept=False).fit(extended, y)
    assert learner.mistakes_per_epoch_ == [48, 23, 20, 9, 11, 6, 0]


def test_mnist_separators_that_lived_outvote_those_that_erred(zeros_and_ones):
    (X, y), (new, labels) = zeros_and_ones
    voted = VotedPerceptron(shuffle=False).fit(X, y)
    assert voted.mistakes_per_epoch_ == [48, 23, 20, 9, 11, 6, 0]
    assert voted.score(new, labels) > 0.998
