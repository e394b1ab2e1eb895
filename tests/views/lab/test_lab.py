"""The lab fits with the library, and refuses what it does not know with words."""

import base64
import json
import re
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.data.toys import three_points, xor
from linsep.errors import DataError, NotConverged
from linsep.views.cli import group
from linsep.views.film.page import PARTS, part
from linsep.views.lab.choices import LEARNERS, PARAMETERS, settings
from linsep.views.lab.opening import open_rows, open_trace
from linsep.views.lab.page import HERE, OWN, lab_page
from linsep.views.lab.request import read_request
from linsep.views.lab.runs import film, job_of, packed, saved
from linsep.views.lab.tables import Shelf, columns_of, read_table
from linsep.views.lab.toys import TOYS
from linsep.views.lab.verdicts import Verdicts
from linsep.views.scene.packing import unpack

XOR = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]


def asked(request, opened=None, traced=True):
    return job_of(read_request(json.dumps(request).encode()), opened, traced)


def run(request, opened=None, traced=True):
    return unpack(packed(asked(request, opened, traced)))


def fitted(name, X, y, **given):
    usual = {key: one.usual for key, one in PARAMETERS.items()}
    learner = getattr(linsep, LEARNERS[name].kind)(**settings(name, usual | given))
    if LEARNERS[name].kind == "LinearRegression":
        y = np.where(y == np.unique(y)[1], 1.0, -1.0)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y)


def test_without_an_intercept_the_lab_tells_of_planes_through_the_origin():
    points = [[1, 1, 0], [2, 2, 1], [3, 2, 1]]
    for name in ("online", "logistic-gradient"):
        wanted = {"points": points, "learners": [name], "parameters": {"fit_intercept": False}}
        (told,) = run(wanted)["stories"]
        assert told["facts"]["separable"] is False
        assert "every plane through the origin" in told["facts"]["verdict"]
        assert told["intercept"] is False


TWO = [name for name in TOYS if name not in ("iris", "three-classes", "digits")]


@pytest.mark.parametrize(
    ("toy", "traced"), [("two-groups", True), ("two-groups", False), ("xor", True)]
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_each_learner_is_the_fit_of_the_library(toy, learner, traced):
    (story,) = run({"toy": toy, "learners": [learner]}, traced=traced)["stories"]
    X, y = TOYS[toy].rows()
    known = fitted(learner, X, y)
    assert story["points"].tolist() == X.tolist()
    decided = known.predict(X)
    if LEARNERS[learner].kind == "LinearRegression":
        decided = np.where(decided >= 0, *np.unique(y)[::-1])
    assert story["model"]["wrong"] == (decided != y).sum()
    if LEARNERS[learner].curved:
        assert set(np.unique(story["grid"]["codes"])) <= {0, 1}
        assert story["grid"]["wrong"].sum() == (decided != y).sum()
        return
    last = story["frames"]["planes"][-1, 0]
    assert last.tolist() == [*np.ravel(known.coef_), *np.atleast_1d(known.intercept_)]
    assert story["model"]["w"] == np.atleast_2d(known.coef_).tolist()


@pytest.mark.parametrize("toy", TWO)
def test_what_is_proved_is_what_the_library_proves(toy):
    (story,) = run({"toy": toy, "learners": ["svm"]}, traced=False)["stories"]
    found = linsep.separability(*TOYS[toy].rows())
    assert story["facts"]["separable"] is found.separable
    assert story["facts"]["verdict"] == found.verdict


@pytest.mark.parametrize("learner", [name for name in LEARNERS if not LEARNERS[name].two])
def test_three_classes_are_told_by_each_learner_that_takes_them(learner):
    (story,) = run({"toy": "three-classes", "learners": [learner]})["stories"]
    assert story["classes"] == ["0", "1", "2"]
    assert story["frames"]["planes"].shape[1] == 3


@pytest.mark.parametrize("lift", ["product", "squares"])
def test_lifted_rows_have_a_third_feature_and_planes_of_four_numbers(lift):
    toy = "xor" if lift == "product" else "rings"
    flat, raised = (
        run({"toy": toy, "learners": ["svm"], "lift": how})["stories"][0] for how in ("", lift)
    )
    assert flat["facts"]["separable"] is False
    assert raised["facts"]["separable"] is True
    X, y = TOYS[toy].rows()
    third = X[:, 0] * X[:, 1] if lift == "product" else (X**2).sum(axis=1)
    known = fitted("svm", np.column_stack([X, third]), y)
    plane = raised["frames"]["planes"][-1, 0]
    assert plane.tolist() == [*known.coef_[0], *known.intercept_]
    assert raised["points"].tolist() == X.tolist()


def test_weights_that_come_back_are_told_to_go_round():
    (story,) = run({"toy": "xor", "learners": ["online"]})["stories"]
    ends, passes = [story["cycle"]["first"], story["cycle"]["last"]], story["cycle"]["passes"]
    assert np.diff(story["frames"]["epoch"][ends]) == passes
    assert len({story["frames"]["planes"][t].tobytes() for t in ends}) == 1
    assert run({"toy": "and", "learners": ["online"]})["stories"][0]["cycle"] is None


@pytest.mark.parametrize("learner", ["logistic-sgd", "logistic-gradient"])
def test_logistic_regression_on_separable_rows_is_told_to_rest_on_its_penalty(learner):
    wanted = {"toy": "two-groups", "learners": [learner], "parameters": {"max_iter": 1000}}
    (story,) = run(wanted)["stories"]
    assert "The rows are separable: only the penalty, C=1, keeps the weights" in story["status"]
    (story,) = run({**wanted, "toy": "gaussians"})["stories"]
    assert "separable" not in story["status"]


def test_without_a_penalty_separable_rows_have_no_optimum():
    wanted = {"toy": "two-groups", "learners": ["logistic"], "parameters": {"penalised": False}}
    (story,) = run(wanted)["stories"]
    assert "no finite optimum" in story["status"]


def test_a_fit_that_stopped_early_says_why():
    wanted = {"toy": "two-groups", "learners": ["svm-sgd"], "parameters": {"max_iter": 3}}
    (story,) = run(wanted)["stories"]
    X, y = TOYS["two-groups"].rows()
    known = fitted("svm-sgd", X, y, max_iter=3)
    assert known.diagnosis_ in story["status"]


def test_two_learners_run_on_the_same_points():
    wanted = {"points": XOR, "learners": ["online", "batch"], "parameters": {"max_iter": 7}}
    told = run(wanted)
    assert [story["learner"] for story in told["stories"]] == ["Perceptron"] * 2
    X, y = xor()
    for name, story in zip(wanted["learners"], told["stories"], strict=True):
        assert story["model"]["w"] == fitted(name, X, y, max_iter=7).coef_.tolist()


@pytest.mark.parametrize("data", [
    {"toy": "rings", "lift": "squares"}, {"toy": "separable", "scale": True}, {"toy": "iris"},
    {"points": [[0.1, -2.5, 1], [3, 1e-3, 0]]},
])  # fmt: skip
def test_the_python_lines_do_the_same(data, tmp_path, monkeypatch):
    told = run({**data, "learners": ["averaged", "svm-sgd"], "parameters": {"max_iter": 5}})
    monkeypatch.chdir(tmp_path)
    names = {}
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        exec(told["python"], names)
    for name, story in zip(("first", "second"), told["stories"], strict=True):
        assert names[name].coef_.tolist() == story["model"]["w"]
        assert (tmp_path / f"{name}.html").exists()


@pytest.mark.parametrize("learner", ["online", "delta", "logistic", "svm", "lda", "kernel-svm"])
@pytest.mark.parametrize("points", [
    [[1, 1, 1], [1, 1, 0]], [[0, 0, 1], [0, 0, 0]], [[0, 1, 1], [0, 2, 0], [0, 3, 1]],
    [[1e6, 1e6, 1], [-1e6, 1e6, 0], [1e6, -1e6, 0]],
], ids=["one place", "origin", "a line", "far"])  # fmt: skip
def test_odd_points_are_told_or_refused_in_words(points, learner):
    try:
        (story,) = run({"points": points, "learners": [learner]})["stories"]
    except DataError as problem:
        assert LEARNERS[learner].kind in ("FisherDiscriminant", "LinearDiscriminantAnalysis",
                                          "ThresholdNetwork"), problem  # fmt: skip
        return
    assert story["facts"]["separable"] is (points[0][0] == 1e6)


def test_the_film_and_the_model_of_a_job_are_files_of_the_library(tmp_path):
    job = asked({"toy": "two-groups", "learners": ["online", "svm"]})
    page = film(job).decode()
    assert page.startswith("<!doctype html>")
    assert "unsafe" not in re.search('Policy" content="([^"]*)"', page)[1]
    path = tmp_path / "model.linsep"
    path.write_bytes(saved(job))
    X, y = TOYS["two-groups"].rows()
    assert linsep.load(path).coef_.tolist() == fitted("online", X, y).coef_.tolist()


CSV = "age,height,kind\n" + "\n".join(f"{k},{150 + k % 7},{'ab'[k % 2]}" for k in range(40))


def test_a_file_dropped_on_the_page_is_read_and_its_columns_are_chosen():
    table = read_table(CSV, "people.csv", None)
    assert (table.columns, len(table.rows[1])) == (["age", "height"], 40)
    told = run({"table": "id", "features": [1], "learners": ["svm"], "scale": True}, table)
    (story,) = told["stories"]
    assert story["features"] == 1
    assert abs(story["points"][:, 0].mean()) < 1e-12
    assert columns_of(CSV) == ["age", "height", "kind"]
    with pytest.raises(DataError, match=r"people\.csv.*line 3"):
        read_table("a,b\n1,x\n1,2,3,4\n2,y\n", "people.csv", None)
    with pytest.raises(DataError, match=r"age has 40 different values in people\.csv"):
        read_table(CSV, "people.csv", "age")
    with pytest.raises(DataError, match="is empty"):
        read_table(" ", "people.csv", None)


def test_a_large_file_is_sampled_evenly_and_the_lines_say_how(tmp_path, monkeypatch):
    text = "x,y,kind\n" + "\n".join(f"{k},{k % 9},{'ab'[k % 2]}" for k in range(3000))
    table = read_table(text, "big.csv", None)
    assert np.unique(table.rows[1], return_counts=True)[1].tolist() == [1000, 1000]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "big.csv").write_text(text)
    names = {}
    exec("\n".join(table.lines), names)
    assert names["X"].tolist() == table.rows[0].tolist()


def test_files_have_names_that_cannot_be_guessed_and_the_oldest_gives_way():
    shelf, table = Shelf(), read_table(CSV, "people.csv", None)
    names = [shelf.add(table) for _ in range(9)]
    assert len(set(names)) == 9
    with pytest.raises(DataError, match="drop it on the page again"):
        shelf.get(names[0])
    assert shelf.get(names[1]) is table


GOOD = {"toy": "xor", "learners": ["online"]}


@pytest.mark.parametrize(("wanted", "words"), [
    ([], "not a JSON object"),
    ({"learners": ["online"]}, "exactly one of toy, points, opened and table"),
    ({**GOOD, "points": XOR}, "exactly one of toy, points, opened and table"),
    ({**GOOD, "toy": "moons"}, 'toy is "moons"; there are and, collinear, digits'),
    ({**GOOD, "toy": ["xor"]}, "toy is"),
    ({**GOOD, "learners": []}, "one or two names"),
    ({**GOOD, "learners": ["online"] * 3}, "one or two names"),
    ({**GOOD, "learners": ["__class__"]}, "there are averaged, batch"),
    ({**GOOD, "extra": 1}, "The request has 'extra'"),
    ({**GOOD, "parameters": {"n_jobs": 1}}, "parameters has 'n_jobs'"),
    ({**GOOD, "parameters": {"max_iter": 1001}}, "a whole number from 1 to 1000"),
    ({**GOOD, "parameters": {"max_iter": 1.5}}, "a whole number from 1 to 1000"),
    ({**GOOD, "parameters": {"max_iter": True}}, "max_iter is true"),
    ({**GOOD, "parameters": {"eta0": 0}}, "eta0 is 0; a number from 1e-06"),
    ({**GOOD, "parameters": {"eta0": 10**400}}, "eta0 is 1000"),
    ({**GOOD, "parameters": {"shuffle": 1}}, "true or false"),
    ({"points": XOR[:1], "learners": ["online"]}, "2 to 2000 points"),
    ({"points": XOR * 501, "learners": ["online"]}, "points has 2004"),
    ({"points": [[0, 0, 1], [1, 1, 1]], "learners": ["online"]}, "one of another class"),
    ({"points": [[0, 0, 1], [1, 1, 6]], "learners": ["online"]}, "point 1 has the class 6"),
    ({"points": [[0, 0, 1], [1, "1", 0]], "learners": ["online"]}, "point 1 is at"),
    ({"points": [[0, 0, 1], [1, 1e7, 0]], "learners": ["online"]}, "point 1 is at"),
    ({"points": [[0, 0, 1], [1, -1]], "learners": ["online"]}, "point 1 is [1, -1]"),
    ({"opened": True, "learners": ["online"]}, "opened without data"),
    ({"opened": 1, "learners": ["online"]}, "opened is not true"),
    ({"points": XOR, "names": ["a"], "learners": ["online"]}, "2 to 20 different texts"),
    ({**GOOD, "lift": "cube"}, 'lift is "cube"; there are'),
    ({**GOOD, "scale": 1}, "scale is 1"),
    ({**GOOD, "features": [-1]}, "a list of column numbers"),
    ({**GOOD, "parameters": {"kernel": "cosine"}}, 'kernel is "cosine"; there are poly, rbf'),
    ({"toy": "iris", "learners": ["fisher"]}, "tells two classes apart"),
    ({"toy": "digits", "learners": ["online"], "lift": "product"}, "these rows have 64"),
])  # fmt: skip
def test_what_is_not_known_is_refused_with_words(wanted, words):
    with pytest.raises(DataError) as problem:
        asked(wanted)
    assert words in str(problem.value)


@pytest.mark.parametrize("body", [
    b"", b"{", b"\xff", b"[" * 50_000, b'{"toy": "xor", "toy": "xor", "learners": ["online"]}',
    b'{"points": [[NaN, 0, 1], [1, 1, 0]], "learners": ["online"]}',
    b'{"points": [[1e999, 0, 1], [1, 1, 0]], "learners": ["online"]}',
])  # fmt: skip
def test_what_is_not_json_is_refused(body):
    with pytest.raises(DataError):
        read_request(body)


def test_the_page_is_small_whole_and_asks_only_the_lab():
    page = lab_page(None)
    assert len(page.text.encode()) < 150_000
    assert set(re.findall(r"https?://[^\s\"']+", page.text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<[^>]* (src|href|style)=", page.text)
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(", page.text)
    parts = "\n".join([*map(part, PARTS), *(part(name, HERE) for name in OWN)])  # still indented
    names = re.findall(r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", parts, re.MULTILINE)
    assert len(names) == len(set(names)) > 40
    assert not re.search(r"^import ", page.script, re.MULTILINE)


def test_a_trace_is_played_and_names_in_it_are_harmless(tmp_path):
    X, y = three_points()
    labels = ["</script><b>" if one > 0 else "no" for one in y]
    path = tmp_path / "run.jsonl"
    linsep.Perceptron(shuffle=False, trace=True).fit(X, labels).trace_.save(path)
    opened = open_trace(str(path))
    assert len(opened.story["frames"]["n"]) == 14
    text = lab_page(opened).text
    assert text.count("</script>") == 2
    known = json.loads(text.split('id="menu">')[1].split("</script>")[0])
    assert known["opened"]["name"] == "run.jsonl"
    (story,) = unpack(base64.b64decode(known["opened"]["story"]))["stories"]
    assert story["classes"] == ["</script><b>", "no"]


def test_data_are_fitted_and_projected(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.repeat(["no", "yes"], 20)
    X[20:, 2] += 6
    lines = [",".join([*map(repr, row), name]) for row, name in zip(X.tolist(), y, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,d,answer", *lines]))
    opened = open_rows(str(path), "answer", None)
    told = run({"opened": True, "learners": ["online"]}, opened)
    known = fitted("online", X, y)
    assert told["stories"][0]["model"]["w"] == known.coef_.tolist()
    assert opened.columns == list("abcd")
    assert "4 features, seen along two axes" in told["stories"][0]["notes"][0]
    names = {}
    exec(told["python"].split("\nfirst")[0], names)
    assert names["X"].tolist() == X.tolist()


def test_many_rows_are_sampled_evenly_and_python_takes_the_same(monkeypatch):
    monkeypatch.setattr("linsep.views.lab.opening.POINTS", 500)
    opened = open_rows("cancer", None, None)
    X, y = opened.rows
    assert (opened.name, opened.sample) == ("cancer", "500 of 569 rows")
    assert X.shape == (500, 30)
    assert abs(np.mean(y == 1) - 357 / 569) < 0.005
    names = {}
    exec("\n".join(opened.lines), names)
    assert names["X"].tolist() == X.tolist()
    assert names["y"].tolist() == y.tolist()


def test_far_too_many_rows_are_refused_with_the_next_step(monkeypatch):
    monkeypatch.setattr("linsep.views.lab.opening.ROWS", 568)
    with pytest.raises(DataError, match=r"569 rows.*at most 568.*--trace run\.jsonl"):
        open_rows("cancer", None, None)


def test_a_target_of_numbers_is_refused_with_a_question_to_ask(tmp_path):
    path = tmp_path / "prices.csv"
    lines = [f"{k % 7},{k % 5},{k / 4}" for k in range(200)]
    path.write_text("\n".join(["a,b,price", *lines]))
    with pytest.raises(
        DataError, match=r"price has 200 different values.*at most 20 classes"
    ) as said:
        open_rows(str(path), "price", None)
    question = re.search(r"--target '([^']+)'", str(said.value))[1]
    assert question == "price > 25.0"
    opened = open_rows(str(path), question, None)
    assert len(set(opened.rows[1].tolist())) == 2
    some = re.search(r"--classes (\S+)\.$", str(said.value))[1]
    assert len(open_rows(str(path), "price", some.split(",")).rows[1]) == 2


def test_what_the_command_cannot_open_is_said(tmp_path):
    ask = lambda *words: CliRunner().invoke(group, ["lab", "--no-browser", *words])  # noqa: E731
    assert "about DATA: give it" in ask("--target", "y").stderr
    broken = tmp_path / "half.jsonl"
    broken.write_text('{"half')
    assert "is not JSON" in str(ask(str(broken)).exception)
    assert "not about a TRACE" in ask(str(broken), "--classes", "a,b").stderr
    assert "no such file" in str(ask("nowhere.csv").exception)


def test_without_the_extra_the_command_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(group, ["lab"])
    assert "pip install linsep[lab]" in str(done.exception)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_verdicts_while_points_move_are_proofs_of_the_rows_as_they_are(fit_intercept):
    rng = np.random.default_rng(3)
    X, codes = rng.integers(-3, 4, size=(9, 2)).astype(float), np.arange(9) % 2
    verdict, told, again, before = Verdicts(), [], 0, None
    for _ in range(60):
        X = X.copy()
        X[rng.integers(len(X))] = rng.integers(-3, 4, size=2) + 4 * rng.integers(0, 2)
        proof = verdict(X, codes, fit_intercept=fit_intercept, time_limit=10.0)
        fresh = linsep.separability(X, codes, fit_intercept=fit_intercept)
        assert proof.separable is fresh.separable
        assert proof.verify(X, codes)
        told.append(proof.separable)
        again += before is not None and proof.multipliers is before.multipliers is not None
        before = proof
    assert False in told
    assert again > 5
    other = 1 - codes
    assert verdict(X, other, fit_intercept=fit_intercept, time_limit=10.0).verify(X, other)


def test_drags_of_a_row_that_proves_nothing_are_answered_with_one_proof(monkeypatch):
    """A perceptron out of passes asks for the proof that the verdict tells, not for another."""
    proofs = []

    def counted(*given, **more):
        proofs.append(linsep.separability(*given, **more))
        return proofs[-1]

    monkeypatch.setattr("linsep.views.lab.verdicts.separability", counted)
    monkeypatch.setattr("linsep.views.lab.runs.verdict", Verdicts())
    points = [*XOR, [5, 5, 1]]

    def facts():
        return run({"points": points, "learners": ["online"]}, traced=False)["stories"][0]["facts"]

    rows = facts()["rows"]  # four at most, of five
    (free, *_) = set(range(5)) - set(rows)
    for x in (6, 7):
        points[free] = [x, 5, points[free][2]]
        assert facts()["separable"] is False
        assert facts()["rows"] == rows
    assert len(proofs) == 1


def test_weights_that_run_away_are_said_to_and_their_length_is_told_as_the_penalty_fades():
    wanted = {"toy": "separable", "learners": ["logistic"], "parameters": {"penalised": False}}
    story = run(wanted)["stories"][0]
    assert story["runaway"] is True
    lengths = [length for _, length in story["growth"]]
    assert lengths == sorted(lengths)
    assert lengths[-1] > 5 * lengths[0]
    assert run({**wanted, "toy": "gaussians"})["stories"][0]["runaway"] is False


def test_a_dropped_file_is_refused_without_advice_about_python():
    with pytest.raises(DataError, match=r"in a column of numbers\. Mend it\."):
        read_table("a,b,label\n1,2,x\n3,4,y\n5,oops,y\n", "mixed.csv", None)
