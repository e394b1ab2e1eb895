"""The lab closes at once, whatever runs, waits or has left; and says no more than that."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install linsep[lab]")

from linsep.views.lab.turns import Closing, Turns


def test_runs_have_their_turn_one_after_the_other_and_hand_over_what_came():
    running, most = 0, 0

    def work(k):
        nonlocal running, most
        running += 1
        most = max(most, running)
        threading.Event().wait(0.001)
        running -= 1
        if k == 3:
            raise ValueError("three")
        return k

    async def ask():
        turns = Turns()
        asked = [turns.result(lambda k=k: work(k)) for k in range(6)]
        return await asyncio.gather(*asked, return_exceptions=True)

    found = asyncio.run(ask())
    assert [one for one in found if not isinstance(one, ValueError)] == [0, 1, 2, 4, 5]
    assert str(found[3]) == "three"
    assert most == 1


def test_closing_ends_the_wait_for_the_run_at_work_and_for_those_behind_it():
    go_on, begun = threading.Event(), []

    def work(k):
        begun.append(k)
        go_on.wait()

    async def ask():
        turns = Turns()
        asked = [asyncio.ensure_future(turns.result(lambda k=k: work(k))) for k in range(4)]
        while not begun:
            await asyncio.sleep(0.001)
        turns.close()
        return await asyncio.gather(*asked, return_exceptions=True)

    try:
        found = asyncio.run(ask())
    finally:
        go_on.set()
    assert [type(one) for one in found] == [Closing] * 4
    assert begun == [0]


@contextmanager
def serving():
    command = "from linsep.views.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", command, "lab", "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process, int(re.search(r":(\d+)/", process.stderr.readline())[1])
    finally:
        process.kill()
        process.wait()


def asking(port, body, length=None):
    """A connection on which a run was asked for, or the beginning of a request was sent."""
    there = socket.create_connection(("127.0.0.1", port))
    head = (
        "POST /run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length or len(body)}\r\n\r\n"
    )
    there.sendall(head.encode() + body)
    return there


def test_ctrl_c_with_runs_waiting_and_askers_gone_ends_it_in_one_line():
    far = [[k % 23 - 11, k % 29 - 14, 1 if k % 3 else -1] for k in range(500)]
    long = {
        "points": far,
        "learners": ["svm-sgd", "logistic-sgd"],
        "parameters": {"max_iter": 1000},
    }
    body = json.dumps(long).encode()
    with serving() as (process, port):
        asking(port, b"{", length=1000).close()  # gone in the middle of asking
        asking(port, body).close()  # gone before the answer
        waiting = [asking(port, body) for _ in range(4)]
        with socket.create_connection(("127.0.0.1", port)) as there:
            there.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert there.recv(12) == b"HTTP/1.1 200"  # all before it were taken
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        assert (process.returncode, said) == (0, "The lab is closed.\n")
        for one in waiting:
            answer = one.recv(4096)
            one.close()
            assert b"HTTP/1.1 503" in answer
