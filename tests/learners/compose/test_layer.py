"""A layer is its units, trained at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris

from linsep import Layer, LogisticRegression, Perceptron
from linsep.data.toys import gates
from linsep.errors import DataError

X, KIND = load_iris(return_X_y=True)
Y = np.stack([KIND == 0, KIND == 2, X[:, 0] > 6], axis=1).astype(int)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("learner", [Perceptron(max_iter=20), LogisticRegression()], ids=repr)
@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
def test_every_unit_is_what_the_learner_alone_becomes(learner, layout):
    rows = layout(X)
    layer = Layer(learner).fit(rows, Y)
    assert layer.coef_.shape == (3, 4)
    for k in range(3):
        alone = clone(learner).fit(rows, Y[:, k])
        assert layer.coef_[k].tobytes() == alone.coef_[0].tobytes()
        assert layer.intercept_[k] == alone.intercept_[0]
        assert (layer.predict(rows)[:, k] == alone.predict(rows)).all()
    scores = layer.decision_function(rows)
    np.testing.assert_allclose(scores, X @ layer.coef_.T + layer.intercept_, atol=1e-12)


def test_the_sigmoid_is_taken_component_by_component():
    layer = Layer(LogisticRegression()).fit(X, Y)
    sigmoid = 1 / (1 + np.exp(-layer.decision_function(X)))
    np.testing.assert_allclose(layer.predict_proba(X), sigmoid, rtol=1e-12)
    assert not hasattr(Layer(Perceptron()), "predict_proba")


def test_threads_do_not_change_a_byte():
    ends = {Layer(n_jobs=n).fit(X, Y[:, :1].repeat(4, 1)).coef_.tobytes() for n in (1, 2)}
    assert len(ends) == 1


def test_the_four_gates_are_learned_at_once():
    rows = gates("AND")[0]
    table = np.column_stack([gates(name)[1] for name in ("AND", "OR", "NAND", "NOR")])
    layer = Layer().fit(rows, table)
    assert (layer.predict(rows) == table).all()
    assert layer.score(rows, table) == 1.0
    assert [status.name for status in layer.status_] == ["separated"] * 4


def test_weights_of_rows_reach_every_unit():
    weights = np.arange(150) % 2
    layer = Layer(LogisticRegression(tol=1e-10)).fit(X, Y, weights)
    kept = weights > 0
    half = Layer(LogisticRegression(tol=1e-10)).fit(X[kept], Y[kept])
    np.testing.assert_allclose(layer.coef_, half.coef_, rtol=1e-4)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (KIND, r"Y has shape \(150,\); X has 150 rows, so give \(150, M\)"),
        (Y[:10], r"Y has shape \(10, 3\)"),
        (np.column_stack([Y, KIND]), "Y has 3 labels in column 3; a unit tells two apart"),
        (np.ones((150, 1)), "y has one class"),
    ],
)
def test_labels_that_no_layer_could_learn_are_named(labels, message):
    with pytest.raises(DataError, match=message):
        Layer().fit(X, labels)
