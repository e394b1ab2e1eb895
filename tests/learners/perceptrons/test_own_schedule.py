"""Steps by a function of the pass, and rows drawn anew at each step."""

import numpy as np
import pytest

import linsep
from linsep.data.toys import overlapping, separated
from linsep.errors import ParameterError

ROWS = separated(n=120, d=3, margin=0.05, seed=1)[:2]
NOISY = overlapping(n=200, d=3, seed=0)


@pytest.mark.parametrize(
    ("make", "name", "function"),
    [
        (lambda s: linsep.Perceptron(schedule=s, shuffle=False), "1/t", lambda t: 1 / t),
        (lambda s: linsep.Perceptron("batch", schedule=s), "constant", lambda t: 1.0),
        (lambda s: linsep.Perceptron("minibatch", schedule=s, eta0=0.5), "1/t", lambda t: 1 / t),
    ],
)
def test_a_function_is_the_schedule_of_that_name(make, name, function):
    one, two = make(name).fit(*ROWS), make(function).fit(*ROWS)
    assert one.coef_.tobytes() == two.coef_.tobytes()
    assert one.mistakes_per_epoch_ == two.mistakes_per_epoch_


@pytest.mark.parametrize("solver", ["gradient", "minibatch", "sgd"])
def test_descents_take_functions_too(solver):
    def fitted(schedule):
        how = {"C": np.inf, "solver": solver, "eta0": 0.0625, "max_iter": 5, "keep": "last"}
        with pytest.warns(linsep.errors.NotConverged):
            return linsep.LogisticRegression(schedule=schedule, **how).fit(*NOISY)

    assert fitted("1/t").coef_.tobytes() == fitted(lambda t: 1 / t).coef_.tobytes()


def test_regression_takes_functions_too():
    X, y = NOISY[0], NOISY[0] @ [1.0, -2.0, 0.5]
    how = {"solver": "batch", "eta0": 0.1, "max_iter": 4, "tol": 0.0}
    fits = []
    for schedule in ("constant", lambda t: 1):
        with pytest.warns(linsep.errors.NotConverged):
            fits.append(linsep.LinearRegression(schedule=schedule, **how).fit(X, y))
    assert fits[0].coef_.tobytes() == fits[1].coef_.tobytes()


@pytest.mark.parametrize("bad", [lambda t: 0.0, lambda t: -1.0, lambda t: float("nan")])
def test_steps_that_are_none_are_refused(bad):
    with pytest.raises(ParameterError, match=r"schedule\(1\) is"):
        linsep.Perceptron(schedule=bad).fit(*ROWS)


def test_a_model_with_a_schedule_of_its_own_is_saved_without_it(tmp_path):
    model = linsep.Perceptron(schedule=lambda t: 1 / t).fit(*ROWS)
    linsep.save(model, tmp_path / "model.safetensors")
    again = linsep.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(ROWS[0]), model.predict(ROWS[0]))


@pytest.mark.parametrize(
    "kind", [linsep.Perceptron, linsep.PassiveAggressive, linsep.VotedPerceptron]
)
def test_drawn_rows_end_at_a_separator_of_all(kind):
    model = kind(shuffle="draw").fit(*ROWS)
    assert model.status_.name in ("separated", "voted", "converged")
    assert model.score(*ROWS) == 1.0 or model.status_.name != "separated"
    again = kind(shuffle="draw").fit(*ROWS)
    assert model.mistakes_per_epoch_ == again.mistakes_per_epoch_
    other = kind(shuffle="draw", random_state=7).fit(*ROWS)
    assert model.mistakes_per_epoch_ != other.mistakes_per_epoch_
    with pytest.raises(ParameterError, match="'draw'"):
        kind(shuffle="drawn").fit(*ROWS)
