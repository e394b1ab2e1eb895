"""All hyperplanes of a learner, what is kept of them, and the way a row takes to them."""

import numpy as np
import pytest
from online_problems import ROWS, three_classes, two_classes

import reference
from linsep.errors import ParameterError
from linsep.train.online.batch import batch_pass
from linsep.train.online.hyperplanes import initial_weights
from linsep.train.online.line_search import exact_step
from linsep.train.online.method import Method
from linsep.train.online.rules import rosenblatt
from linsep.train.online.solver import OnlineSolver
from linsep.train.online.trainer import Trainer

PLAIN = Method("row", rosenblatt(1.0, 0.0))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("make, planes", [(two_classes, 1), (three_classes, 3)])
def test_the_average_is_the_mean_of_the_weights_after_every_presentation(make, planes, sparse):
    problem = make(sparse=sparse)
    solver = OnlineSolver(problem, "average", 1.0, kesler=True)
    for epoch in (1, 2):
        solver.one_pass(problem, PLAIN, None, epoch)
    coef, intercept = solver.kept()
    shown = reference.online(ROWS.tolist(), problem.codes.tolist(), planes, 2)
    wanted = np.array(reference.average(shown), float)
    np.testing.assert_allclose(np.column_stack([coef, intercept]), wanted, rtol=1e-14)


def test_a_hyperplane_without_mistakes_is_left_alone():
    problem = three_classes()
    solver = OnlineSolver(problem, "last", 1.0, kesler=False)
    solver.done[1] = True
    solver.one_pass(problem, PLAIN, None, 1)
    moved = [bool(trainer.planes.W.any()) for trainer in solver.trainers]
    assert moved == [True, False, True]
    assert [trainer.seen for trainer in solver.trainers] == [4.0, 4.0, 4.0]


def test_hyperplanes_of_sparse_rows_in_a_group_are_those_of_each_alone():
    together = OnlineSolver(three_classes(True), "last", 1.0, kesler=False, grouped=True)
    alone = OnlineSolver(three_classes(True), "last", 1.0, kesler=False)
    assert (len(together.trainers), len(alone.trainers)) == (1, 3)
    for solver in (together, alone):
        solver.one_pass(three_classes(True), PLAIN, None, 1)
    for one, other in zip(together.now(), alone.now(), strict=True):
        assert one.tolist() == other.tolist()


def test_parts_in_another_layout_go_on_from_the_same_weights():
    solver = OnlineSolver(two_classes(), "pocket", 1.0, kesler=True)
    solver.part_pass(two_classes(), PLAIN, None)
    before = solver.now()
    solver.fit_layout(two_classes(sparse=True))
    assert [part.tolist() for part in solver.now()] == [part.tolist() for part in before]


def test_a_batch_step_by_line_search_reaches_the_minimum_along_the_line():
    problem = two_classes()
    trainer = Trainer(problem, "last", 1.0)
    trainer.start_at(np.array([[1.0, 0.0]]), np.array([-1.5]))
    step = exact_step(problem, trainer.planes, np.array([[1.0, 0.0]]), np.array([1.0]), 0.0)
    # along (1, 0, 1) row 0 scores −0.5 + 2η: right from η = 0.25 on, where row 3 (0.5 − 2η) turns
    assert step == 0.25
    method = PLAIN._replace(after="pass", schedule=None, rule=rosenblatt(0.125, 0.0))
    done = batch_pass(trainer, method, problem, 1, None)
    assert done.eta == 0.25
    assert trainer.planes.W.tolist() == [[1.25, 0.0]]
    assert trainer.moved == np.sqrt(2.0)


def test_weights_to_begin_from_are_taken_with_and_without_an_intercept():
    w, b = initial_weights([[1.0, 2.0, 0.5]], 1, 2)
    assert w.tolist() == [[1.0, 2.0]] and b.tolist() == [0.5]
    w, b = initial_weights(([[1.0, 2.0]], [3.0]), 1, 2)
    assert w.tolist() == [[1.0, 2.0]] and b.tolist() == [3.0]
    for init in ([1.0], [np.nan, 1.0], "ones", ([[1.0, 2.0]], [1.0, 2.0])):
        with pytest.raises(ParameterError, match="init"):
            initial_weights(init, 1, 2)
