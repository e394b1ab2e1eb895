"""A few passes of Rosenblatt's rule find easy separators and the rows that are hard."""

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.data import toys
from linsep.proofs.halfspaces.halfspaces import Halfspaces
from linsep.proofs.halfspaces.perceptron_search import passes, typical_square


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n", [200, 20_000])
def test_what_comes_back_as_a_separator_separates(n, intercept, layout):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 5))
    score = X @ rng.standard_normal(5) + 0.5 * intercept
    far = np.abs(score) > 0.1
    problem = Halfspaces.of(layout(X[far]), (score[far] > 0).astype(int), intercept)
    v = passes(problem, 3e8).separator
    assert problem.values(v).min() > 0 and (intercept or v[-1] == 0)


def test_many_classes_are_separated_by_one_plane_each():
    X, codes = toys.three_classes(n=90, spread=0.1)
    problem = Halfspaces.of(X, codes)
    assert problem.values(passes(problem, 1e7).separator).min() > 0


def test_hopeless_rows_are_given_up_and_named():
    rng = np.random.default_rng(0)
    X, codes = rng.standard_normal((500, 2)), rng.integers(0, 2, 500)
    end = passes(Halfspaces.of(X, codes), 1e8)
    assert end.separator is None and end.hopeless and len(end.corrected)
    wild = Halfspaces.of(X * 1e300, codes)
    assert passes(wild, 1e8).separator is None


def test_the_typical_square_is_that_of_the_rows():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert typical_square(X) == typical_square(sp.csr_matrix(X)) == 12.5
    assert typical_square(np.zeros((3, 2))) == 1.0
