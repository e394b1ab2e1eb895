"""One pass of a rule by the kernels, against the same pass in fractions."""

import numpy as np
import pytest
from online_problems import ROWS, three_classes, two_classes

import reference
from linsep.train.online.batch import direction
from linsep.train.online.method import Method
from linsep.train.online.minibatch import minibatch_pass
from linsep.train.online.rules import rosenblatt
from linsep.train.online.tally import MISTAKES, ROW, SEEN, UPDATES
from linsep.train.online.trainer import Trainer, row_pass

PLAIN = Method("row", rosenblatt(1.0, 0.0))


def weights_of(trainer):
    W = trainer.planes.by_class(trainer.planes.W)
    return np.column_stack([W, trainer.planes.b]).tolist()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("make, planes", [(two_classes, 1), (three_classes, 3)])
def test_a_pass_makes_the_corrections_of_plain_arithmetic(make, planes, sparse):
    problem = make(sparse=sparse)
    trainer = Trainer(problem, "last", 1.0)
    done = row_pass(trainer, PLAIN, problem, 1, None)
    shown = reference.online(ROWS.tolist(), problem.codes.tolist(), planes, 1)
    assert weights_of(trainer) == [list(map(float, w)) for w in shown[-1].weights]
    assert done.updates == sum(one.corrections for one in shown)
    assert trainer.tally[SEEN] == len(ROWS)


def test_corrections_can_be_made_one_at_a_time():
    problem = two_classes()
    trainer = Trainer(problem, "last", 1.0)

    class OneByOne:
        def __init__(self):
            self.told = []

        def wait(self):
            return 1

        def update(self, made, epoch, row, scores, step, w, b, plane):
            self.told.append((made, row, step.tolist(), w.tolist()))

    trace = OneByOne()
    row_pass(trainer, PLAIN, problem, 1, trace)
    shown = [one for one in reference.online(ROWS.tolist(), [1, 0, 1, 0], 1, 1) if one.corrections]
    made = [told for told in trace.told if told[0]]
    assert [row for _, row, _, _ in made] == [one.row for one in shown]
    assert [w for *_, w in made] == [[[float(x) for x in one.weights[0][:-1]]] for one in shown]


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_minibatch_moves_by_what_its_rows_ask_of_the_same_weights(size, mean):
    problem = two_classes()
    trainer = Trainer(problem, "last", 1.0)
    method = PLAIN._replace(after="minibatch", batch_size=size, mean=mean)
    minibatch_pass(trainer, method, problem, 1, None)
    shown = reference.batches(ROWS.tolist(), [1, 0, 1, 0], 1, 1, size=size, mean=mean)
    np.testing.assert_allclose(weights_of(trainer), np.array(shown[-1].weights, float), rtol=1e-15)
    assert trainer.tally[ROW] == -1  # no single row made the last step


def test_the_direction_of_a_batch_is_the_sum_over_wrong_rows_by_weight():
    problem = two_classes(weights=[1, 2, 1, 0.5])
    trainer = Trainer(problem, "last", 1.0)
    trainer.start_at(np.array([[1.0, 0.0]]), np.array([-1.5]))
    # z = y(x₁ − 1.5): rows 0 (−0.5) is wrong, 1 and 3 (1.5, 0.5) are right, 2 (0.5) is right
    delta, db, total = direction(trainer, rosenblatt(1.0, 0.0), problem)
    assert (delta.tolist(), db.tolist(), total) == ([[1.0, 0.0]], [1.0], 4.5)
    delta, db, _ = direction(trainer, rosenblatt(1.0, 1.0), problem)
    assert delta.tolist() == [[1.0 + 2.0 - 0.5, 1.0 - 1.5]]
    assert (trainer.tally[UPDATES], trainer.tally[MISTAKES]) == (3, 1)


@pytest.mark.parametrize("sparse", [False, True])
def test_misplaced_rows_count_with_their_weight_and_on_the_boundary(sparse):
    problem = two_classes(weights=[1, 2, 4, 8], sparse=sparse)
    trainer = Trainer(problem, "last", 1.0)
    W = trainer.planes.W.copy()
    assert trainer.misplaced(problem, W, np.zeros(1)) == 15.0
    W.reshape(-1)[:] = 1.0, 0.0
    # scores −0.5, −1.5, 0.5, −0.5 of labels +, −, +, −
    assert trainer.misplaced(problem, W, np.array([-1.5])) == 1.0


def test_kesler_counts_a_row_once_and_one_against_the_rest_each_plane():
    problem = three_classes()
    kesler = Trainer(problem, "last", 1.0)
    assert kesler.misplaced(problem, kesler.planes.W, np.zeros(3)) == 4.0
    rest = Trainer(problem, "last", 1.0, 0, 3)
    assert rest.misplaced(problem, rest.planes.W, np.zeros(3)) == 12.0
