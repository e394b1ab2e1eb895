"""The lab fits with the library, refuses what it does not know with words, and stays at home."""

import json
import re
import signal
import socket
import subprocess
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.data.toys import three_points, xor
from linsep.errors import DataError, NotConverged
from linsep.views.cli import group
from linsep.views.lab.choices import LEARNERS, PARAMETERS, TOYS
from linsep.views.lab.opening import open_rows, open_trace
from linsep.views.lab.request import read_request
from linsep.views.lab.runs import run, settings

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
pytest.importorskip("httpx", reason="httpx is not installed")

with warnings.catch_warnings(action="ignore"):  # it would rather have the successor of httpx
    from starlette.testclient import TestClient

from linsep.views.lab.page import lab_page
from linsep.views.lab.server import lab

HOME = "http://127.0.0.1:8808"
XOR = [[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]]


@pytest.fixture(scope="module")
def client():
    return TestClient(lab(), base_url=HOME)


def fitted(name, X, y, **given):
    usual = {key: one.usual for key, one in PARAMETERS.items()}
    learner = getattr(linsep, LEARNERS[name].kind)(**settings(name, usual | given))
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y)


def test_without_an_intercept_the_lab_tells_of_planes_through_the_origin():
    points = [[1, 1, -1], [2, 2, 1], [3, 2, 1]]
    for name in ("online", "logistic-gradient"):
        asked = {"points": points, "learners": [name], "parameters": {"fit_intercept": False}}
        (told,) = run(read_request(json.dumps(asked).encode()))["stories"]
        assert told["facts"]["separable"] is False
        assert "every plane through the origin" in told["facts"]["verdict"]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("toy", TOYS)
def test_each_learner_on_each_toy_is_the_fit_of_the_library(client, toy, learner):
    answer = client.post("/run", json={"toy": toy, "learners": [learner]})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    X, y = TOYS[toy].rows()
    known = fitted(learner, X, y)
    (story,), (model,) = told["stories"], told["models"]
    assert model["w"] == known.coef_.tolist()
    assert model["b"] == known.intercept_.tolist()
    assert model["wrong"] == (known.predict(X) != y).sum()
    assert story["frames"]["planes"][-1] == [*known.coef_[0], *known.intercept_]
    assert story["points"] == X.tolist()


@pytest.mark.parametrize("learner", ["logistic-sgd", "logistic-gradient"])
def test_logistic_regression_on_separable_rows_is_told_to_rest_on_its_penalty(client, learner):
    asked = {"toy": "two-groups", "learners": [learner], "parameters": {"max_iter": 1000}}
    told = client.post("/run", json=asked).json()
    assert told["stories"][0]["facts"]["separable"] is True
    for said in (told["stories"][0]["status"], told["models"][0]["status"]):
        assert "The rows are separable: only the penalty, C=1, keeps the weights finite." in said
    told = client.post("/run", json={**asked, "toy": "gaussians"}).json()
    assert told["stories"][0]["facts"]["separable"] is False
    assert "separable" not in told["models"][0]["status"]


def test_a_fit_that_stopped_early_says_why(client):
    asked = {"toy": "two-groups", "learners": ["svm-sgd"], "parameters": {"max_iter": 3}}
    told = client.post("/run", json=asked).json()
    X, y = TOYS["two-groups"].rows()
    known = fitted("svm-sgd", X, y, max_iter=3)
    assert told["models"][0]["status"] == known.diagnosis_
    assert "duality gap of" in known.diagnosis_


def test_only_logistic_regression_on_xor_makes_no_step():
    still = {
        (toy, learner)
        for toy, data in TOYS.items()
        for learner in LEARNERS
        if not fitted(learner, *data.rows()).trace_.updates
    }
    assert still == {("xor", "logistic-sgd"), ("xor", "logistic-gradient")}


def test_two_learners_run_on_the_same_points(client):
    asked = {"points": XOR, "learners": ["online", "batch"], "parameters": {"max_iter": 7}}
    told = client.post("/run", json=asked).json()
    assert [story["learner"] for story in told["stories"]] == ["Perceptron"] * 2
    X, y = xor()
    for name, model in zip(asked["learners"], told["models"], strict=True):
        assert model["w"] == fitted(name, X, y, max_iter=7).coef_.tolist()


@pytest.mark.parametrize("data", [{"toy": "rings"}, {"points": [[0.1, -2.5, 1], [3, 1e-3, -1]]}])
def test_the_python_lines_do_the_same(client, data, tmp_path, monkeypatch):
    told = client.post("/run", json={**data, "learners": ["averaged", "svm-sgd"]}).json()
    monkeypatch.chdir(tmp_path)
    names = {}
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        exec(told["python"], names)
    for name, model in zip(("first", "second"), told["models"], strict=True):
        assert names[name].coef_.tolist() == model["w"]
        assert (tmp_path / f"{name}.html").exists()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("points", [
    [[1, 1, 1], [1, 1, -1]], [[0, 0, 1], [0, 0, -1]], [[0, 1, 1], [0, 2, -1], [0, 3, 1]],
    [[1e6, 1e6, 1], [-1e6, 1e6, -1], [1e6, -1e6, -1]],
], ids=["one place", "origin", "a line", "far"])  # fmt: skip
def test_odd_points_are_told_too(client, points, learner):
    answer = client.post("/run", json={"points": points, "learners": [learner]})
    assert answer.status_code == 200, answer.text
    assert answer.json()["stories"][0]["facts"]["separable"] is (points[0][0] == 1e6)


GOOD = {"toy": "xor", "learners": ["online"]}


@pytest.mark.parametrize(("asked", "words"), [
    ([], "not a JSON object"),
    ({"learners": ["online"]}, "exactly one of toy, points and opened"),
    ({**GOOD, "points": XOR}, "exactly one of toy, points and opened"),
    ({**GOOD, "toy": "moons"}, 'toy is "moons"; there are and, gaussians'),
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
    ({"points": XOR[:1], "learners": ["online"]}, "2 to 500 points"),
    ({"points": XOR * 126, "learners": ["online"]}, "points has 504"),
    ({"points": [[0, 0, 1], [1, 1, 1]], "learners": ["online"]}, "one of the other class"),
    ({"points": [[0, 0, 1], [1, 1, 0]], "learners": ["online"]}, "point 1 has the label 0"),
    ({"points": [[0, 0, 1], [1, "1", -1]], "learners": ["online"]}, "point 1 is at"),
    ({"points": [[0, 0, 1], [1, 1e7, -1]], "learners": ["online"]}, "point 1 is at"),
    ({"points": [[0, 0, 1], [1, -1]], "learners": ["online"]}, "point 1 is [1, -1]"),
    ({"opened": True, "learners": ["online"]}, "opened without data"),
    ({"opened": 1, "learners": ["online"]}, "opened is not true"),
])  # fmt: skip
def test_what_is_not_known_is_refused_with_words(client, asked, words):
    answer = client.post("/run", json=asked)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


@pytest.mark.parametrize("body", [
    b"", b"{", b"\xff", b"[" * 50_000, b'{"toy": "xor", "toy": "xor", "learners": ["online"]}',
    b'{"points": [[NaN, 0, 1], [1, 1, -1]], "learners": ["online"]}',
    b'{"points": [[1e999, 0, 1], [1, 1, -1]], "learners": ["online"]}',
])  # fmt: skip
def test_what_is_not_json_is_refused(client, body):
    answer = client.post("/run", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_long_requests_other_pages_and_other_hosts_are_refused(client):
    plain = {"content-type": "application/json"}
    assert client.post("/run", content=b" " * 100_001, headers=plain).status_code == 413
    assert client.post("/run", content=b"{}").status_code == 415
    away = {**plain, "origin": "http://example.org"}
    assert client.post("/run", json=GOOD, headers=away).status_code == 403
    near = {**plain, "origin": HOME}
    assert client.post("/run", json=GOOD, headers=near).status_code == 200
    assert client.get("/", headers={"host": "example.org"}).status_code == 400
    assert client.get("/", headers={"host": "localhost:8808"}).status_code == 200
    assert client.get("/run").status_code == 405
    assert client.get("/../pyproject.toml").status_code == 404


def test_the_page_is_small_whole_and_asks_only_the_lab(client):
    answer = client.get("/")
    text, policy = answer.text, answer.headers["content-security-policy"]
    assert len(answer.content) < 150_000
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "connect-src 'self'" in policy
    assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href|style)=", text)
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(", text)
    script = lab_page(None).script
    names = re.findall(r"^(?:async )?(?:function|const) (\w+)", script, re.MULTILINE)
    assert len(names) == len(set(names))
    assert not re.search(r"^import ", script, re.MULTILINE)


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
    assert known["opened"]["story"] == opened.story


def test_data_are_fitted_and_projected(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.repeat(["no", "yes"], 20)
    X[20:, 2] += 6
    lines = [",".join([*map(repr, row), name]) for row, name in zip(X.tolist(), y, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,c,d,answer", *lines]))
    opened = open_rows(str(path), "answer", None)
    client = TestClient(lab(opened), base_url=HOME)
    told = client.post("/run", json={"opened": True, "learners": ["online"]}).json()
    known = fitted("online", X, y)
    assert told["models"][0]["w"] == known.coef_.tolist()
    assert "4 features, seen along two axes" in told["stories"][0]["notes"][0]
    names = {}
    exec(told["python"].split("\nfirst")[0], names)
    assert names["X"].tolist() == X.tolist()


def test_several_classes_are_shown_too():
    asked = read_request(b'{"opened": true, "learners": ["online", "logistic-gradient"]}')
    told = run(asked, open_rows("iris", None, None))
    assert told["stories"][0]["classes"] == ["0", "1", "2"]
    assert len(told["models"][1]["w"]) == 3


def test_too_many_rows_and_single_classes_are_refused_with_the_next_step():
    with pytest.raises(DataError, match=r"569 rows.*at most 500.*--trace run\.jsonl"):
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


LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


def test_the_command_serves_this_machine_and_ctrl_c_ends_it_well():
    import httpx

    process = subprocess.Popen(
        [*LINSEP, "lab", "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)[0]
        assert "Linear lab" in httpx.get(address, trust_env=False).text
        told = httpx.post(f"{address}run", json=GOOD, trust_env=False, timeout=120).json()
        assert told["models"][0]["rows"] == 4
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert rest == "The lab is closed.\n"


def test_a_place_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = CliRunner().invoke(group, ["lab", "--no-browser", "--port", str(port)])
    assert done.exit_code == 2
    assert f"{port} cannot be had" in done.stderr


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
