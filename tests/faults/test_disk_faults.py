"""Each operation of every writer fails, once or for good: the old file is there, or the new one.

`make faults` lets every operation of every writer fail with every error; a part of it runs always.
"""

import errno
import os

import pytest

import linsep
from disks import Failing, Short
from faults.writers import SLOW, WRITERS, model, table
from linsep.data.files import disk
from linsep.errors import StorageError

ALL = os.environ.get("LINSEP_FAULTS") == "all"
FAULTS = pytest.mark.parametrize(
    ("error", "lasting"),
    [(errno.EIO, False), (errno.ENOSPC, True), (errno.EINTR, False)]  # no signal comes for ever
    + ALL * [(errno.EIO, True), (errno.ENOSPC, False)],
    ids=lambda v: errno.errorcode[v] if v > 1 else "for-good" if v else "once",
)
FEW = set() if ALL else SLOW


def leftovers(folder):
    return [path.name for path in folder.rglob(".linsep-*")]


def each_operation(write, path, error, lasting, monkeypatch, old):
    """Lets one operation after the other fail: how many there were, and how often it was told."""
    said = 0
    for n in range(1, 400):
        path.write_bytes(old)
        failing = Failing(n, error, lasting)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "DISK", failing)
            try:
                write(path)
            except StorageError as problem:
                assert os.strerror(error) in str(problem), problem
                assert path.name in str(problem), problem
                said += 1
        if failing.count < n:
            return n - 1, said
        yield
        # a disk that fails for good cannot remove anything; the next save in that folder does
        if not lasting:
            assert not leftovers(path.parent), failing.done
    raise AssertionError("no end of operations")


@FAULTS
@pytest.mark.parametrize("name", [name for name in WRITERS if name not in FEW])
def test_every_operation_of_every_writer_may_fail(tmp_path, monkeypatch, name, error, lasting):
    write, path = WRITERS[name], tmp_path / f"out-{name}"
    write(path)
    new, old = path.read_bytes(), b"what was there before"
    operations = each_operation(write, path, error, lasting, monkeypatch, old)
    steps = said = 0
    while True:
        try:
            next(operations)
        except StopIteration as ended:
            steps, said = ended.value
            break
        assert path.read_bytes() in (old, new)
    assert steps >= 6 and said >= 5  # what cannot hurt, such as looking for leftovers, is not told
    assert path.read_bytes() == new
    write(path)
    assert not leftovers(tmp_path)
    print(f"{name}: {steps} operations, {said} told")


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in FEW])
def test_a_disk_that_takes_little_at_a_time_gets_everything(tmp_path, monkeypatch, name):
    path = tmp_path / f"out-{name}"
    WRITERS[name](path)
    whole = path.read_bytes()
    path.unlink()
    monkeypatch.setattr(disk, "DISK", Short())
    WRITERS[name](path)
    assert path.read_bytes() == whole


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
@FAULTS
@pytest.mark.parametrize("kept", [False, True], ids=["unnamed", "cache"])
def test_every_operation_of_the_binary_copy_may_fail(tmp_path, monkeypatch, kept, error, lasting):
    rows, cache = table(tmp_path), tmp_path / "copies"
    cache.mkdir()

    def fitted():
        chunks = linsep.read(rows, target="y", memory=1, cache=cache if kept else None)
        return linsep.Perceptron(max_iter=3).fit(chunks).coef_.tobytes()

    whole, steps = linsep.Perceptron(max_iter=3).fit(*model()[1:]).coef_.tobytes(), 0
    for n in range(1, 200):
        for path in sorted(cache.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        failing = Failing(n, error, lasting)
        with monkeypatch.context() as patch:
            patch.setattr(disk, "DISK", failing)
            try:
                assert fitted() == whole
            except StorageError as problem:
                assert os.strerror(error) in str(problem)
        if failing.count < n:
            break
        steps += 1
        assert lasting or not leftovers(cache)
        assert fitted() == whole  # with whatever is there of a copy
        assert fitted() == whole
    assert steps >= (8 if kept else 3)
    assert not [name for name in leftovers(cache) if not lasting]
