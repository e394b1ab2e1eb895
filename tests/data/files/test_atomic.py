"""Saving replaces a file whole: whichever step fails, the old content stands, or the new one."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from disks import Failing
from linsep.data.files import atomic, disk
from linsep.errors import StorageError

OPERATIONS = ["create", "write", "flush", "close", "rename", "flush_folder", "names"]


class Dripping(disk.Disk):
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
        failing = Failing(steps + 1, error, lasting)
        monkeypatch.setattr(disk, "DISK", failing)
        try:
            atomic.replace(path, pieces)
            break
        except StorageError as problem:
            assert str(path) in str(problem) and os.strerror(error) in str(problem)
        steps += 1
        assert path.read_bytes() in (b"old content", b"".join(pieces))
        for left in tmp_path.glob(".linsep-*"):
            left.unlink()  # only a disk that refuses to remove leaves it
    assert steps == 7 and sorted(set(failing.done)) == sorted(OPERATIONS)
    assert path.read_bytes() == b"".join(pieces)


def test_nothing_is_left_beside_the_file_when_a_write_fails_once(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "DISK", Failing(2, errno.ENOSPC))
    with pytest.raises(StorageError, match="No space left"):
        atomic.replace(tmp_path / "model", [b"content"])
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_takes_few_bytes_at_a_time_gets_them_all(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "DISK", Dripping())
    atomic.replace(tmp_path / "model", [b"a longer content", memoryview(b"than three")])
    assert (tmp_path / "model").read_bytes() == b"a longer contentthan three"


KILLED = """
import os, signal, sys
from linsep.data.files.atomic import replace

def pieces():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)

replace(sys.argv[1], pieces())
"""


def test_what_a_killed_process_left_is_removed_by_the_next_save_in_the_folder(tmp_path):
    others = [".linsep-note.tmp", ".linsep-0123456789abcdef.tmp.old", "model.tmp"]
    for name in others:
        (tmp_path / name).write_bytes(b"none of ours")
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, tmp_path / "model"], check=False)
    assert len(list(tmp_path.iterdir())) == len(others) + 2
    atomic.replace(tmp_path / "another", [b"whole"])
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["another", *others])


def test_the_file_of_a_writer_that_lives_is_never_removed(tmp_path):
    slow = atomic.Beside(tmp_path / "model")
    os.utime(slow.path, (0, 0))
    atomic.replace(tmp_path / "model", [b"quick"])
    os.write(slow.file, b"slow")
    slow.settle()
    assert (tmp_path / "model").read_bytes() == b"slow" and len(list(tmp_path.iterdir())) == 1


def test_a_link_or_a_pipe_under_a_temporary_name_is_left_alone(tmp_path):
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / ".linsep-0123456789abcdef.tmp").symlink_to("precious")
    os.mkfifo(tmp_path / ".linsep-0123456789abcdee.tmp")
    atomic.replace(tmp_path / "model", [b"whole"])
    assert len(list(tmp_path.iterdir())) == 4


def test_threads_that_save_one_path_all_succeed_and_every_reader_finds_a_whole_file(tmp_path):
    path = tmp_path / "model"
    contents = [bytes([k]) * 100_000 for k in range(4)]
    atomic.replace(path, [contents[0]])

    def save(content):
        for _ in range(20):
            atomic.replace(path, [content[:50_000], content[50_000:]])
            assert path.read_bytes() in contents

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, contents))
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_as_long_as_the_system_allows_can_be_saved(tmp_path):
    atomic.replace(tmp_path / ("m" * 255), [b"whole"])
    assert (tmp_path / ("m" * 255)).read_bytes() == b"whole"


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
