"""Units in which nothing overflows, and rows in these units."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import OverflowedError
from linsep.train.closed.frame import frame_of, in_units, power
from linsep.train.problem import Problem


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_of_any_size_come_to_about_one_exactly(layout):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)) * [1e200, 1e-200, 1.0]
    frame = frame_of(Problem(layout(X), rng.integers(0, 2, 300).astype(np.int32), None, 2))
    Z = X * power(-frame.exponents)
    assert ((np.abs(Z).max(axis=0) >= 0.5) & (np.abs(Z).max(axis=0) < 1.0)).all()
    assert (np.ldexp(Z, frame.exponents) == X).all()
    assert frame.top == pytest.approx(np.abs(Z).max(axis=0))


def test_means_are_those_of_the_classes():
    rng = np.random.default_rng(1)
    X, codes = rng.standard_normal((200, 2)) + 5.0, rng.integers(0, 3, 200).astype(np.int32)
    frame = frame_of(Problem(X, codes, None, 3))
    for k in range(3):
        mean = X[codes == k].mean(axis=0)
        assert np.ldexp(frame.means[k], frame.exponents) == pytest.approx(mean)


def test_a_scatter_comes_back_in_the_units_of_the_data_or_not_at_all():
    scatter = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert in_units(scatter, np.array([3, -1])).tolist() == [[64.0, 8.0], [8.0, 1.0]]
    with pytest.raises(OverflowedError, match="column 1"):
        in_units(scatter, np.array([0, 600]))
