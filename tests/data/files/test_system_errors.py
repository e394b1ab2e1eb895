"""What the system refuses is told by what failed, where, and what helps; and of nothing else."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

import linsep
from linsep.data.files import atomic, disk
from linsep.data.files.system_errors import advice, explain, said
from linsep.errors import DataError, StorageError

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

HELPS = {
    errno.ENOSPC: "Free some space",
    errno.EDQUOT: "Your share of that disk",
    errno.EMFILE: "ulimit -n",
    errno.ENOMEM: "ulimit -v",
    errno.EACCES: "rights",
    errno.EROFS: "can only be read",
}


class Refusing(disk.Disk):
    """A disk that takes nothing."""

    def __init__(self, error):
        self.error = error

    def write(self, file, data):
        raise OSError(self.error, os.strerror(self.error))


def table(tmp_path, rows=20):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "1,2,p\n3,1,q\n" * (rows // 2))
    return path


@pytest.mark.parametrize("error", HELPS, ids=errno.errorcode.get)
def test_the_binary_copy_names_its_folder_the_error_and_what_helps(tmp_path, monkeypatch, error):
    monkeypatch.setattr(disk, "DISK", Refusing(error))
    with pytest.raises(StorageError) as refused:
        linsep.Perceptron().fit(linsep.read(table(tmp_path), memory=1))
    text = str(refused.value)
    assert text.startswith("the binary copy of the rows in ")
    assert errno.errorcode[error] in text and os.strerror(error) in text and HELPS[error] in text
    assert ("pass cache=" in text) == (error not in (errno.EMFILE, errno.ENOMEM))


def test_another_error_while_rows_are_copied_is_not_told_of_the_copy(tmp_path, monkeypatch):
    from linsep.data.sources.tables import TableSource

    def note(self, piece):
        raise OSError(errno.ENOSPC, "No space left on device", "/elsewhere/kernel.nbi")

    monkeypatch.setattr(TableSource, "note", note)
    with pytest.raises(OSError, match="No space left") as refused:
        linsep.Perceptron().fit(linsep.read(table(tmp_path), memory=1))
    assert not isinstance(refused.value, StorageError)
    assert refused.value.filename == "/elsewhere/kernel.nbi"


@pytest.mark.parametrize("error", HELPS, ids=errno.errorcode.get)
def test_a_save_names_the_path_the_step_the_error_and_what_helps(tmp_path, monkeypatch, error):
    class Disk(disk.Disk):
        def write(self, file, data):
            raise OSError(error, os.strerror(error))

    monkeypatch.setattr(disk, "DISK", Disk())
    with pytest.raises(StorageError) as refused:
        atomic.replace(tmp_path / "m", [b"x"])
    text = str(refused.value)
    assert f"{tmp_path / 'm'} could not be written, on writing: " in text
    assert errno.errorcode[error] in text and HELPS[error] in text


def test_an_error_in_making_what_is_written_is_not_told_of_the_file(tmp_path):
    def pieces():
        yield b"some"
        raise OSError(errno.EIO, "Input/output error", "/data/input")

    with pytest.raises(OSError, match="/data/input") as refused:
        atomic.replace(tmp_path / "m", pieces())
    assert not isinstance(refused.value, StorageError) and not list(tmp_path.iterdir())


def test_errors_without_a_number_keep_their_words():
    assert said(OSError("odd")) == "odd" and said(OSError()) == "OSError"
    assert explain(OSError(errno.ENOTTY, "Not a typewriter")) == "Not a typewriter (ENOTTY)."
    try:
        try:
            raise OSError("lib.so: failed to map segment from shared object")
        except OSError as cause:
            raise OSError("the library could not be loaded") from cause
    except OSError as problem:
        assert "ulimit -v" in advice(problem)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("error", [errno.EACCES, errno.EMFILE], ids=errno.errorcode.get)
def test_an_input_that_may_not_be_read_says_why(tmp_path, monkeypatch, name, error):
    import gzip

    path, plain = tmp_path / name, b"a,y\n1,p\n2,q\n"
    path.write_bytes(gzip.compress(plain) if name.endswith("gz") else plain)
    own, calls = Path.open, []

    def refuse(self, *arguments, **more):
        calls.append(self)
        if len(calls) == 3:
            raise OSError(error, os.strerror(error), str(self))
        return own(self, *arguments, **more)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError) as refused:
        for _ in range(3):
            linsep.read(path).load()
    assert errno.errorcode[error] in str(refused.value) and HELPS[error] in str(refused.value)
    assert "fetch it again" not in str(refused.value)


def written(folder, format):
    """A file of three rows."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([0.0, 1.0, 1.0])
    path = folder / f"t.{format}"
    if format in ("csv", "gz", "bz2"):
        import bz2
        import gzip

        pack = {"csv": bytes, "gz": gzip.compress, "bz2": bz2.compress}[format]
        path.write_bytes(pack(b"a,b,y\n0,1,0\n1,0,1\n2,2,1\n"))
    elif format == "svm":
        path.write_text("0 2:1\n1 1:1\n1 1:2 2:2\n")
    elif format == "npy":
        np.save(path, np.column_stack([X, y]))
    elif format == "npz":
        np.savez(path, X=X, y=y)
    elif format == "idx":
        path = folder / "t-images-idx3-ubyte"
        path.write_bytes(bytes([0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 2, 0, 1, 1, 0, 2, 2]))
        labels = bytes([0, 0, 8, 1, 0, 0, 0, 3, 0, 1, 1])
        path.with_name("t-labels-idx1-ubyte").write_bytes(labels)
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        save = parquet.write_table if format == "parquet" else feather.write_feather
        save(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), path)
    return path


FORMATS = ["csv", "gz", "bz2", "svm", "npy", "npz", "idx", "parquet", "feather"]


@pytest.mark.parametrize("format", FORMATS)
def test_an_input_removed_at_any_moment_is_named(tmp_path, monkeypatch, format):
    """Before each look at the file in turn, it is removed: all rows come, or an error by name."""
    refused, count = 0, 0
    while True:
        path = written(tmp_path, format)
        left = count

        def looked(own, path=path):
            def look(self, *arguments, **more):
                nonlocal left
                if Path(self) == path:
                    left -= 1
                    if left == -1:
                        path.unlink()
                return own(self, *arguments, **more)

            return look

        with monkeypatch.context() as patch:
            for name in ("open", "stat"):
                patch.setattr(Path, name, looked(getattr(Path, name)))
            try:
                assert linsep.read(path).load()[0].shape[0] == 3
                linsep.Perceptron(max_iter=1).fit(linsep.read(path))
            except DataError as problem:
                assert path.name in str(problem)
                refused += 1
        if left >= 0:
            break
        count += 1
    assert count >= refused > 3
    chunks = linsep.read(path)
    path.unlink()
    with pytest.raises(DataError, match=path.name):
        chunks.load()
    with pytest.raises(DataError, match=path.name):
        linsep.Perceptron().fit(chunks)
