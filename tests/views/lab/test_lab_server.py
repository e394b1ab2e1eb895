"""The lab as it runs: workers that are ended, sockets that dawdle, and an end in one line."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest
from click.testing import CliRunner

from linsep.views.cli import group
from linsep.views.scene.packing import unpack

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install linsep[lab]")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]
SMALL = {"toy": "xor", "learners": ["online"]}
FAR = [[k % 23 - 11, k % 29 - 14, 1 if k % 3 else 0] for k in range(500)]
LONG = {"points": FAR, "learners": ["svm-sgd", "logistic-sgd"], "parameters": {"max_iter": 1000}}


class Lab:
    """A lab at work, and a client that is let in."""

    def __init__(self, process, address, token):
        self.process, self.address = process, address
        self.port = int(re.search(r":(\d+)/", address)[1])
        self.client = httpx.Client(base_url=address, trust_env=False, timeout=120)
        origin = {"origin": address.rstrip("/"), "content-type": "application/json"}
        self.client.headers.update(origin)
        assert self.client.post("/enter", json={"token": token}).status_code == 204
        page = self.client.get("/").text
        self.client.headers["x-lab-key"] = re.search(r'"key":"([0-9a-f]+)"', page)[1]

    def head(self, body):
        lines = ["POST /run HTTP/1.1", f"Host: 127.0.0.1:{self.port}"]
        lines += [f"{name}: {value}" for name, value in self.client.headers.items()
                  if name in ("origin", "content-type", "x-lab-key")]  # fmt: skip
        cookies = "; ".join(f"{one.name}={one.value}" for one in self.client.cookies.jar)
        lines += [f"Cookie: {cookies}", f"Content-Length: {len(body)}", "", ""]
        return "\r\n".join(lines).encode()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port))

    def warm(self):
        """Wait for the worker of long runs: who leaves while it still loads does not end it."""
        few = LONG | {"parameters": {"max_iter": 100}}
        assert self.client.post("/run", json=few).status_code == 200

    def ended(self, before):
        """Whether one of these processes goes within a minute."""
        until = time.monotonic() + 60
        while before <= self.workers() and time.monotonic() < until:
            time.sleep(0.05)
        return not before <= self.workers()

    def workers(self):
        """The processes that this lab has started."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
                               capture_output=True, text=True, check=False)  # fmt: skip
        return set(found.stdout.split())


@contextmanager
def serving(*more):
    process = subprocess.Popen(
        [*LINSEP, "lab", "--no-browser", *more], stderr=subprocess.PIPE, text=True
    )
    try:
        found = re.search(r"(http://127\.0\.0\.1:\d+/)#token=(\S+)", process.stderr.readline())
        lab = Lab(process, *found.groups())
        yield lab
        lab.client.close()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def lab():
    with serving() as one:
        yield one


def test_runs_with_and_without_steps_end_on_the_same_model(lab):
    fast = unpack(lab.client.post("/fit", json=SMALL).content)["stories"][0]
    full = unpack(lab.client.post("/run", json=SMALL).content)["stories"][0]
    assert len(fast["frames"]["n"]) == 1 < len(full["frames"]["n"])
    assert fast["model"] == full["model"]
    assert fast["facts"]["multipliers"] == full["facts"]["multipliers"] == ["1/4"] * 4


def test_words_come_back_where_a_request_cannot_be_met(lab):
    answer = lab.client.post("/run", json={"toy": "moons", "learners": ["online"]})
    assert answer.status_code == 400
    assert 'toy is "moons"' in answer.json()["error"]
    answer = lab.client.post("/table", json={"text": "a,b\n1,2\n", "name": "one.csv"})
    assert answer.json()["header"] == ["a", "b"]  # another column may do
    assert "one class only" in answer.json()["problem"]
    answer = lab.client.post("/table", json={"text": "a\n1\n", "name": "one.csv"})
    assert answer.status_code == 400
    assert "features are wanted" in answer.json()["error"]


def test_a_file_a_film_and_a_model_go_through_the_guarded_routes(lab):
    text = "a,b,kind\n1,2,x\n2,1,y\n3,4,x\n4,1,y\n"
    told = lab.client.post("/table", json={"text": text, "name": "four.csv"}).json()
    assert (told["columns"], told["classes"], told["rows"]) == (["a", "b"], ["x", "y"], 4)
    wanted = {"table": told["id"], "features": [0, 1], "learners": ["online"]}
    (story,) = unpack(lab.client.post("/run", json=wanted).content)["stories"]
    assert story["axes"] == ["a", "b"]
    assert lab.client.post("/film", json=wanted).text.startswith("<!doctype html>")
    assert len(lab.client.post("/model", json=wanted).content) > 100
    assert lab.client.post("/run", json={**wanted, "table": "guess"}).status_code == 400


def test_a_run_is_ended_when_the_page_asks_anew_and_a_small_one_is_not_kept_waiting(lab):
    lab.warm()
    before = lab.workers()
    body = json.dumps(LONG).encode()
    page = b"X-Lab-Page: one\r\n"
    head = lab.head(body).replace(b"\r\n\r\n", b"\r\n" + page + b"\r\n")
    with lab.connect() as long:
        long.sendall(head + body)
        time.sleep(0.5)  # it runs by now
        answer = lab.client.post("/run", json=SMALL)
        assert answer.status_code == 200
        anew = lab.client.post("/run", json=LONG | {"parameters": {"max_iter": 1}},
                               headers={"x-lab-page": "one"})  # fmt: skip
        assert anew.status_code == 200
        assert b"409" in long.recv(100)
    assert lab.ended(before)  # its process was ended, another one took its place


def test_a_run_is_ended_when_who_asked_has_gone(lab):
    lab.warm()
    before, body = lab.workers(), json.dumps(LONG).encode()
    with lab.connect() as gone:
        gone.sendall(lab.head(body) + body)
        time.sleep(0.5)
    assert lab.ended(before)


def test_long_heads_and_nonsense_are_refused_and_slow_sockets_leave_the_page_answering(lab):
    with lab.connect() as there:
        there.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 70_000 + b"\r\n\r\n")
        assert b" 200 " not in there.recv(100)
    with ExitStack() as open_ones:
        slow = [open_ones.enter_context(lab.connect()) for _ in range(300)]
        for one in slow:
            one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        # A connection of its own: the client's, silent for longest, may have given way to them.
        page = httpx.get(
            lab.address, cookies=lab.client.cookies, headers=lab.client.headers, trust_env=False,
            timeout=120,
        )  # fmt: skip
        assert page.status_code == 200
        slow[-1].settimeout(60)
        assert slow[-1].recv(10) == b""  # given up
    assert lab.client.post("/fit", json=SMALL).status_code == 200


def test_ctrl_c_with_runs_waiting_and_askers_gone_ends_it_in_one_line():
    body = json.dumps(LONG).encode()
    with serving() as lab:
        with lab.connect() as there:
            there.sendall(lab.head(body) + b"{")  # gone in the middle of asking
        with lab.connect() as there:
            there.sendall(lab.head(body) + body)  # gone before the answer
        waiting = [lab.connect() for _ in range(4)]
        for one in waiting:
            one.sendall(lab.head(body) + body)
        assert lab.client.get("/").status_code == 200  # all before it were taken
        workers = lab.workers()
        assert workers
        lab.process.send_signal(signal.SIGINT)
        said = lab.process.communicate(timeout=60)[1]
        assert (lab.process.returncode, said) == (0, "The lab is closed.\n")
        for one in waiting:
            one.close()
    left = subprocess.run(["ps", "-o", "stat=", "-p", ",".join(workers)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert [one for one in left.stdout.split() if not one.startswith("Z")] == []


def test_a_shared_address_opens_in_the_own_lab():
    shared = "http://127.0.0.1:5/#v=2&data=xor&learner=svm"
    process = subprocess.Popen(
        [*LINSEP, "lab", "--no-browser", shared], stderr=subprocess.PIPE, text=True
    )
    try:
        assert "&v=2&data=xor&learner=svm (Ctrl-C" in process.stderr.readline()
    finally:
        process.kill()
        process.communicate()


def test_a_place_that_is_taken_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = CliRunner().invoke(group, ["lab", "--no-browser", "--port", str(port)])
    assert done.exit_code == 2
    assert f"{port} cannot be had" in done.stderr
