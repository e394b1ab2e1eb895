"""Rows that an online rule looked at and left alone are known from the order of its passes."""

import pytest

from linsep import Perceptron
from linsep.data.toys import separated, three_classes
from linsep.views.scene.run import open_run
from linsep.views.scene.visits import visits_of


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("many", [False, True])
def test_rows_between_two_corrections_were_right(shuffle, many):
    X, y = three_classes(30, spread=0.3) if many else separated(n=30, margin=0.1)[:2]
    run = open_run(Perceptron(shuffle=shuffle, random_state=3, trace=True).fit(X, y), None, None)
    order, done = visits_of(run)
    assert len(order) == len(X) * len(run.trace.passes)
    for t in range(len(run.W)):
        end = done[t + 1] - 1 if t + 1 < len(done) else len(order)
        assert (run.lead(t)[order[done[t] : end]] > 0).all()
        if t + 1 < len(done):
            assert run.lead(t)[order[end]] <= 0


def test_steps_that_are_not_of_one_row_have_no_such_order():
    X, y = three_classes(30, spread=0.3)
    for learner in (Perceptron("batch", trace=True), Perceptron(multiclass="ovr", trace=True)):
        assert visits_of(open_run(learner.fit(X, y), None, None)) is None
