"""Rows too far from the origin for a Gaussian kernel are refused, not misread."""

import pytest

from linsep import KernelPerceptron, KernelSVC
from linsep.data.toys import rings
from linsep.errors import DataError


@pytest.mark.parametrize("learner", [KernelSVC(), KernelPerceptron()])
def test_distances_that_rounding_swallows_are_refused(learner):
    X, y = rings(60)
    with pytest.raises(DataError, match="distances that rounding swallows"):
        learner.fit(X + 1e9, y)
    learner.fit(X + 1e3, y)
    assert learner.score(X + 1e3, y) == 1.0
