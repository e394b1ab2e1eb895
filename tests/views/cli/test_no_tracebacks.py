"""What no program expects ends in a sentence, not in a traceback."""

import os
import subprocess
import sys

import numpy as np
import pytest
from commands import run

import linsep
from linsep.errors import DataError, ModelFileError
from linsep.model.files.container import seal, spell, unseal
from linsep.model.files.store import from_bytes, to_bytes
from linsep.proofs.separability.certificate import Separability
from linsep.views.arguments import value

MAIN = "from linsep.views.cli import main; main()"


def command(*arguments, program=MAIN, **more):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False, **more,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 100_000 + "1"])
def test_a_certificate_of_nested_brackets_is_refused(tmp_path, text):
    path = tmp_path / "nested.json"
    path.write_text(text)
    with pytest.raises(DataError, match="the certificate cannot be read"):
        Separability.from_json(text)
    done = run("certify", "xor", "--verify", path)
    assert isinstance(done.exception, DataError), done.exception
    assert value(text) == text


def test_check_of_texts_forced_to_be_numbers_says_that_no_row_can_be_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{k},{'uv'[k % 2]},{'pq'[k % 3 > 0]}\n" for k in range(9)))
    done = run("check", path, "--column", "b=number")
    assert isinstance(done.exception, DataError), done.exception
    assert "9 could not be read" in str(done.exception)
    assert "line 2, column 'b': 'u' is not a" in str(done.exception)


def test_check_of_a_column_of_lists_names_it_and_how_to_drop_it(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    columns = {"a": [[1, 2], [3]] * 10, "b": [7, 5, 1, 2, 4] * 4, "y": ["p", "q"] * 10}
    parquet.write_table(pa.table(columns), path)
    done = run("check", path, "--target", "y")
    assert isinstance(done.exception, DataError), done.exception
    assert "column 'a' holds values of the type list<" in str(done.exception)
    assert run("check", path, "--target", "y", "--column", "a=drop").exit_code == 0


def changed(model, results):
    document, tensors = unseal(to_bytes(model), "model")
    from json import loads

    document = loads(document)
    document["results"] |= results
    return seal(spell(document), tensors)


@pytest.mark.parametrize("passes", [2**62, 2**53, 2**2000, 3.0, 1e300])
def test_passes_that_no_fit_makes_are_refused_in_a_model_file(passes):
    model = linsep.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ModelFileError, match="the result n_iter is"):
        from_bytes(changed(model, {"n_iter": passes}))
    with pytest.raises(ModelFileError, match="the result mistakes is"):
        from_bytes(changed(model, {"mistakes": 2**2000}))


def test_more_passes_than_a_small_integer_holds_can_be_loaded():
    model = linsep.LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    again = from_bytes(changed(model, {"n_iter": 2**52})).to_estimator()
    assert np.max(again.n_iter_) == 2**52


SMALL = (
    """
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
"""
    + MAIN
)


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
@pytest.mark.parametrize("name", ["fit", "check", "certify"])
def test_300_megabytes_of_address_space_suffice_or_are_said_not_to(tmp_path, name):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{k},{k * 7 % 11},{'pq'[k > 20]}\n" for k in range(40)))
    out = ["--out", tmp_path / "m.linsep"] if name == "fit" else []
    done = command(name, path, *out, program=SMALL)
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert done.returncode == 1
        assert "emory" in done.stderr.splitlines()[-1]


HANG_UP = """
import os, signal, sys, time
from linsep.views import cli

def group(standalone_mode):
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    time.sleep(1)
    print("still here")

cli.group = group
cli.main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_terminal_that_goes_ends_a_command_as_ctrl_c_does(name):
    done = command(name, program=HANG_UP)
    assert (done.returncode, done.stderr, done.stdout) == (130, "Interrupted.\n", "")


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_nohup_keeps_a_command_running():
    deaf = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + HANG_UP
    done = command("SIGHUP", program=deaf)
    assert (done.returncode, done.stdout) == (0, "still here\n")
