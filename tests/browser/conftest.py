"""One lab for all tests of its page."""

import contextlib
import subprocess
import sys

import pytest
from driving import Lab, httpx_client

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


@pytest.fixture(scope="session")
def address():
    pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install linsep[lab]")
    process = subprocess.Popen([*LINSEP, "lab", "--no-browser"], stderr=subprocess.PIPE, text=True)
    address = process.stderr.readline().split()[4]
    with contextlib.closing(
        httpx_client(address)
    ) as client:  # workers that are warm: a first run may compile
        client.post("/fit", json={"toy": "xor", "learners": ["online"]})
        both = {"learners": ["online", "online"], "parameters": {"max_iter": 1000}}
        client.post("/run", json={"toy": "separable", **both})
    yield address
    process.terminate()
    process.communicate(timeout=60)


@pytest.fixture
def page(browser, address):
    browser.get_log("browser")
    return Lab(browser, address).open()
