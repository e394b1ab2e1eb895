"""Kesler's construct as rows that any learner of two classes can be given."""

import numpy as np
import pytest

import linsep
from linsep import Perceptron, kesler_rows, separability
from linsep.data.toys import three_classes
from linsep.errors import DataError


def eighths(n=60, spread=0.8, seed=1):
    """Sums of eighths are exact, so that runs can be compared to the bit."""
    X, y = three_classes(n=n, spread=spread, seed=seed)
    return np.round(8 * X) / 8, y


def test_a_row_has_the_example_at_its_class_and_minus_it_at_a_rival():
    X, y = eighths(n=7)
    rows, labels = kesler_rows(X, y)
    assert rows.shape == (14, 9)
    gamma = (labels[:, None] * rows).reshape(7, 2, 3, 3)
    for i, c in enumerate(y):
        x = np.append(X[i], 1.0)
        for j, rival in enumerate(k for k in range(3) if k != c):
            wanted = np.zeros((3, 3))
            wanted[c], wanted[rival] = x, -x
            assert (gamma[i, j] == wanted).all()
    assert set(labels.tolist()) == {-1, 1}


def test_the_binary_perceptron_on_them_is_the_multiclass_perceptron():
    X, y = eighths()
    several = Perceptron(shuffle=False).fit(X, y)
    binary = Perceptron(shuffle=False, fit_intercept=False).fit(*kesler_rows(X, y))
    weights = np.column_stack([several.coef_, several.intercept_]).ravel()
    assert binary.coef_[0].tolist() == weights.tolist()
    assert binary.mistakes_ == several.mistakes_ > 5
    assert binary.mistakes_per_epoch_ == several.mistakes_per_epoch_


@pytest.mark.parametrize("spread", [0.4, 2.0])
def test_they_are_separable_exactly_where_the_classes_are(spread):
    X, y = eighths(spread=spread)
    rows, labels = kesler_rows(X, y)
    assert separability(rows, labels, fit_intercept=False).separable is separability(X, y).separable


def test_one_class_and_rows_without_labels_are_refused():
    with pytest.raises(DataError, match="one class"):
        kesler_rows([[1.0]], ["a"])
    with pytest.raises(DataError, match="one label for each"):
        linsep.kesler_rows([[1.0], [2.0]], ["a"])
