"""The toys have the properties the lectures state."""

import numpy as np
import pytest

from linsep.data import toys
from linsep.errors import ParameterError


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("n", "d", "margin"), [(1, 1, 0.0), (2, 1, 0.5), (50, 3, 0.2), (9, 40, 3)])
def test_a_separated_cloud_keeps_its_promised_margin(n, d, margin, seed):
    X, y, u = toys.separated(n=n, d=d, margin=margin, seed=seed)
    assert X.shape == (n, d)
    assert (y * (X @ u)).min() >= margin
    assert np.linalg.norm(u) == pytest.approx(1, abs=1e-12)
    assert n == 1 or set(y) == {-1, 1}


@pytest.mark.parametrize(
    "draw",
    [toys.separated, toys.overlapping, toys.rings, toys.three_classes, toys.height_weight],
)
def test_the_same_seed_draws_the_same_cloud_and_another_seed_another(draw):
    first, again, other = draw(seed=3), draw(seed=3), draw(seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])


def test_online_perceptron_on_the_three_points_corrects_as_in_the_lecture():
    X, y = toys.three_points()
    Z = np.column_stack([np.ones(3), X])
    w, corrections = np.zeros(3), []
    while not corrections or corrections[-1]:
        wrong = 0
        for z, sign in zip(Z, y, strict=True):
            if sign * (w @ z) <= 0:
                w += sign * z
                wrong += 1
        corrections.append(wrong)
    assert corrections == [2, 2, 3, 2, 1, 2, 1, 0]
    assert w.tolist() == [3, -2.5, 0]


def test_one_batch_step_on_the_two_groups_gives_the_lectures_weights():
    X, y = toys.two_groups()
    Z = np.column_stack([X, np.ones(8)])
    w = np.array([0, 1, -0.5])
    wrong = y * (Z @ w) <= 0
    assert np.flatnonzero(wrong).tolist() == [0, 3, 5, 6]
    w += (y[wrong, None] * Z[wrong]).sum(axis=0)
    assert w == pytest.approx([1.45, -0.6, -0.5])


@pytest.mark.parametrize(
    ("name", "truth"),
    [("AND", "0001"), ("OR", "0111"), ("NAND", "1110"), ("NOR", "1000"), ("XOR", "0110")],
)
def test_gates_follow_their_truth_tables(name, truth):
    X, y = toys.gates(name)
    assert X.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert ((y + 1) // 2).tolist() == [int(bit) for bit in truth]


def test_not_has_one_input():
    X, y = toys.gates("not")
    assert X.tolist() == [[0], [1]]
    assert y.tolist() == [1, -1]


def test_an_unknown_gate_names_the_known_ones():
    with pytest.raises(ParameterError, match="NAND"):
        toys.gates("implies")


def test_the_rings_cannot_be_separated_by_a_line_but_by_their_radius():
    X, y = toys.rings(n=400, noise=0.05)
    radius = np.linalg.norm(X, axis=1)
    assert radius[y > 0].max() < 1.5 < radius[y < 0].min()


def test_an_empty_cloud_is_refused():
    with pytest.raises(ParameterError, match="n is 0"):
        toys.separated(n=0)
