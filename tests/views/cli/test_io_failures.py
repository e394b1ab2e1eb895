"""Disks that fill up, folders that refuse, inputs that change or break off: a named error, and
never a part of a model."""

import errno
import os
import subprocess
import sys

import failing_fits
import numpy as np
import pytest

import linsep
from disks import Failing
from linsep.data.files import disk
from linsep.errors import StorageError
from linsep.train.run.checkpoint import Checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

CUT = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # the disk is full after a megabyte
from linsep.views.cli import main
main()
"""


def command(*arguments, program="from linsep.views.cli import main; main()", **more):
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, check=False, **more,
    )  # fmt: skip


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EROFS])
def test_every_operation_of_saving_a_model_may_fail(tmp_path, monkeypatch, error):
    X, y = failing_fits.data()
    old, new = (linsep.Perceptron(max_iter=k).fit(X, y) for k in (1, 3))
    path, steps = tmp_path / "m.linsep", 0
    contents = []
    for model in (old, new):
        linsep.save(model, path)
        contents.append(path.read_bytes())
    while True:
        monkeypatch.setattr(disk, "DISK", disk.Disk())
        linsep.save(old, path)
        monkeypatch.setattr(disk, "DISK", Failing(steps + 1, error))
        try:
            linsep.save(new, path)
            break
        except StorageError as problem:
            assert str(path) in str(problem) and os.strerror(error) in str(problem)
        steps += 1
        assert path.read_bytes() in contents
        assert linsep.load(path).learner == "Perceptron"
    assert steps == 6
    assert path.read_bytes() == contents[1]


@pytest.mark.parametrize("name", failing_fits.LEARNERS)
def test_every_operation_of_a_checkpoint_may_fail_amid_a_fit(tmp_path, monkeypatch, name):
    X, y = failing_fits.data()
    make = failing_fits.LEARNERS[name]
    whole, steps = failing_fits.weights(make().fit(X, y)), 0
    while True:
        checkpoint = Checkpoint(tmp_path / f"{steps}.ckpt", every=0)
        failing = Failing(steps + 1)
        monkeypatch.setattr(disk, "DISK", failing)
        try:
            make().fit(X, y, checkpoint=checkpoint)
            if failing.count < failing.fail_at:
                break
        except StorageError as problem:
            assert "ckpt" in str(problem)
        steps += 1
        monkeypatch.setattr(disk, "DISK", disk.Disk())
        assert failing_fits.weights(make().fit(X, y, checkpoint=checkpoint)) == whole
    assert steps > 12  # six operations or more, pass after pass


def test_a_full_disk_under_the_binary_copy_is_named_and_leaves_no_model(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.random((2_000_000, 5)), np.arange(2_000_000) % 2])
    np.save(tmp_path / "t.npy", rows)
    made = command(
        "fit", tmp_path / "t.npy", "--learner", "Perceptron", "--out", tmp_path / "m.linsep",
        program=CUT, env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert made.returncode == 1, made.stderr
    assert "could not be written: File too large" in made.stderr
    assert "Traceback" not in made.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.npy"]


def test_a_folder_that_refuses_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n3,p\n")
    made = command("fit", tmp_path / "t.csv", "--out", "/proc/m.linsep")
    assert made.returncode == 1
    assert "/proc/m.linsep could not be written" in made.stderr
    assert "Traceback" not in made.stderr


def test_an_input_that_is_gone_is_named(tmp_path):
    made = command("fit", tmp_path / "gone.csv", "--out", tmp_path / "m.linsep")
    assert made.returncode == 3
    assert "gone.csv" in made.stderr and "Traceback" not in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_breaks_off_in_a_row_makes_no_model(tmp_path):
    rows = "a,b,y\n" + "1,2,p\n3,4,q\n" * 100 + "5,"
    made = command("fit", "-", "--out", tmp_path / "m.linsep", input=rows)
    assert made.returncode == 3
    assert "row" in made.stderr and "Traceback" not in made.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_predict_quietly(tmp_path):
    X, y = failing_fits.data()
    linsep.save(linsep.Perceptron(max_iter=3).fit(X, y), tmp_path / "m.linsep")
    np.save(tmp_path / "t.npy", np.tile(X, (200, 1)))
    program = "from linsep.views.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "predict", tmp_path / "m.linsep", tmp_path / "t.npy", "-q"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        child.stdout.readline()
        child.stdout.close()
        said = child.stderr.read()
    assert "Traceback" not in said


def small(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,p\n2,q\n3,q\n")
    return tmp_path / "t.csv"


def test_commands_write_to_pipes_and_to_standard_output_by_its_path(tmp_path):
    table, pipe = small(tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)
    for arguments in (("fit", table, "-q", "--learner", "Perceptron"), ("certify", table)):
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            made = command(*arguments, "--out", pipe)
            content = reader.communicate(timeout=60)[0]
        assert made.returncode == 0, made.stderr
        assert pipe.is_fifo() and len(content) > 100
        if arguments[0] == "fit":
            (tmp_path / "m.linsep").write_bytes(content)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        made = command("predict", tmp_path / "m.linsep", table, "--out", pipe)
        assert reader.communicate(timeout=60)[0] == b"p\nq\nq\n", made.stderr
    made = command("predict", tmp_path / "m.linsep", table, "--out", "/dev/stdout", "-q")
    assert (made.returncode, made.stdout) == (0, "p\nq\nq\n")
    made = command("fit", table, "--out", "/dev/stdout", "--json")
    assert made.returncode == 2 and "--out and --json all want standard output" in made.stderr
    made = command("fit", table, "--out", pipe, "--resume")
    assert made.returncode == 2 and "give --out FILE" in made.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.linsep", "pipe", "t.csv"]


def test_standard_output_that_is_full_and_input_that_is_closed_are_named(tmp_path):
    table = small(tmp_path)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        made = subprocess.run(
            [sys.executable, "-c", "from linsep.views.cli import main; main()", "check", table],
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert made.returncode == 1
    assert "Error: standard output: No space left on device (ENOSPC). Free" in made.stderr
    assert "Traceback" not in made.stderr
    program = f"{sys.executable} -c 'from linsep.views.cli import main; main()' check -"
    for how, message in (("<&-", "standard input is closed"), ("0>>t.csv", "cannot be read: Bad")):
        made = subprocess.run(
            ["sh", "-c", f"{program} {how}"], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert made.returncode == 3 and message in made.stderr
        assert "Traceback" not in made.stderr


def test_what_lies_beside_the_model_and_is_no_checkpoint_stays(tmp_path):
    table = small(tmp_path)
    (tmp_path / "m.checklist").write_text("mine")
    made = command("fit", table, "--learner", "Perceptron", "--out", tmp_path / "m", "--resume")
    assert made.returncode == 0, made.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "m.checklist", "t.csv"]
