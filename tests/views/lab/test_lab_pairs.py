"""Numbers and pictures of the lab that belong together: the bound's, and those of two learners."""

import json

import numpy as np
import pytest

import linsep
from linsep.errors import DataError
from linsep.views.film.story import story_of
from linsep.views.lab.request import read_request
from linsep.views.lab.runs import Opened, job_of, packed
from linsep.views.lab.tables import read_table, summary
from linsep.views.scene.packing import unpack
from linsep.views.scene.run import open_run


def run(data=None, traced=True, **request):
    asked = read_request(json.dumps(request).encode())
    return unpack(packed(job_of(asked, data, traced)))["stories"]


@pytest.mark.parametrize("given", [{}, {"fit_intercept": False}, {"bias_step": "radius"}])
def test_the_radius_told_and_the_margin_told_with_it_make_the_bound(given):
    (story,) = run(toy="two-groups", learners=["online"], parameters=given)
    facts = story["facts"]
    if facts["bound"] is None:
        assert facts["radius"] is facts["gamma"] is None
    else:
        assert facts["bound"] == int((facts["radius"] / facts["gamma"]) ** 2)


def test_a_film_tells_the_pair_of_the_bound_too():
    X, y = linsep.data.toys.three_points()
    trace = linsep.Perceptron(shuffle=False, trace=True).fit(X, y).trace_
    facts = story_of(open_run(trace, None, None))["facts"]
    assert (round(facts["radius"], 3), round(facts["gamma"], 4), facts["bound"]) == (
        3.202,
        0.2921,
        120,
    )


@pytest.mark.parametrize("traced", [False, True])
def test_two_learners_of_many_features_are_drawn_on_the_same_axes(traced):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    X[y == 1, 0] += 2
    opened = Opened("rows", None, (X, y), [], list("abcd"))
    first, second = run(opened, traced, opened=True, learners=["svm", "lda"])
    np.testing.assert_array_equal(first["points"], second["points"])
    plane = np.ravel(second["frames"]["planes"][-1])
    w, b = np.array(second["model"]["w"][0]), second["model"]["b"][0]
    middle = X.mean(axis=0)
    at = np.array(second["points"]).mean(axis=0)
    assert plane[:2] @ at + plane[2] == pytest.approx(w @ middle + b)


def test_a_sample_is_told_as_such_and_columns_keep_their_names():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    lines = [f"{a:.4f},{b:.4f},{'no' if a < 0 else 'yes'}" for a, b in X]
    table = read_table("\n".join(["age,income,bought", *lines]), "people.csv", None)
    told = summary(table, "id", [])
    assert told["name"] == "people.csv"
    assert told["sample"] == f"{len(table.rows[1]):,} of 10,000 rows"
    points = [[-1, 0, 0], [1, 0.5, 1]]
    (story,) = run(points=points, axes=["age", "income"], learners=["online"])
    assert story["axes"] == ["age", "income"]


@pytest.mark.parametrize("axes", [["a", "b", "c"], "ab", [1, 2], ["a" * 61, "b"]])
def test_names_of_axes_that_are_none_are_refused(axes):
    with pytest.raises(DataError, match="axes"):
        run(points=[[-1, 0, 0], [1, 0.5, 1]], axes=axes, learners=["online"])
