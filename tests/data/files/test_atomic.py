"""Saving replaces a file whole: whichever step fails, the old content stands, or the new one."""

import errno
import os

import pytest

from disks import Failing
from linsep.data.files import atomic
from linsep.errors import StorageError

OPERATIONS = ["create", "write", "flush", "close", "rename", "flush_folder"]


class Dripping(atomic.Disk):
    """A disk that takes three bytes at a time."""

    def write(self, file, data):
        return super().write(file, data[:3])


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from-then-on"])
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC], ids=["EIO", "ENOSPC"])
def test_every_operation_may_fail_and_the_old_or_the_new_file_survives(
    tmp_path, monkeypatch, error, lasting
):
    path = tmp_path / "model"
    pieces = [b"new " * 100, b"content"]
    steps = 0
    while True:
        path.write_bytes(b"old content")
        disk = Failing(steps + 1, error, lasting)
        monkeypatch.setattr(atomic, "DISK", disk)
        try:
            atomic.replace(path, pieces)
            break
        except StorageError as problem:
            assert str(path) in str(problem) and os.strerror(error) in str(problem)
        steps += 1
        assert path.read_bytes() in (b"old content", b"".join(pieces))
        for left in tmp_path.glob(".model.*"):
            left.unlink()  # only a disk that refuses to remove leaves it
    assert steps == 7 and sorted(set(disk.done)) == sorted(OPERATIONS)
    assert path.read_bytes() == b"".join(pieces)


def test_nothing_is_left_beside_the_file_when_a_write_fails_once(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "DISK", Failing(2, errno.ENOSPC))
    with pytest.raises(StorageError, match="No space left"):
        atomic.replace(tmp_path / "model", [b"content"])
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_few_bytes_at_a_time_gets_them_all(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "DISK", Dripping())
    atomic.replace(tmp_path / "model", [b"a longer content", memoryview(b"than three")])
    assert (tmp_path / "model").read_bytes() == b"a longer contentthan three"


def test_the_temporary_file_of_a_killed_process_is_no_obstacle(tmp_path):
    (tmp_path / f".model.{os.getpid()}.tmp").write_bytes(b"half")
    atomic.replace(tmp_path / "model", [b"whole"])
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_an_error_in_what_is_to_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def pieces():
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomic.replace(path, pieces())
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_a_link_keeps_pointing_to_the_file_that_is_replaced(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    atomic.replace(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(StorageError, match=r"nowhere.*No such file"):
        atomic.replace(tmp_path / "nowhere" / "model", [b"x"])
