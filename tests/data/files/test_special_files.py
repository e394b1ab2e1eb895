"""What is no regular file is written to, or refused, and never replaced."""

import os
import socket
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

import linsep
from linsep.data.files import atomic
from linsep.data.files.special_files import kind_of, own_descriptor
from linsep.errors import ParameterError, StorageError
from linsep.views.output_paths import require_place

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, and a function that gives what came through it."""
    path, came = tmp_path / "pipe.html", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: came.append(path.read_bytes()), daemon=True)
    reader.start()

    def content():
        reader.join(20)
        assert not reader.is_alive(), "the reader still waits"
        assert stat.S_ISFIFO(path.stat().st_mode)
        return came[0]

    yield path, content
    if reader.is_alive():  # let it go where a test has failed
        os.close(os.open(path, os.O_RDWR))


def fitted(**more):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]), np.array([0, 1, 1])
    return linsep.Perceptron(max_iter=3, **more).fit(X, y), X, y


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(pipe):
    path, content = pipe
    assert atomic.replace(path, [b"one ", b"two"]) == 7
    assert content() == b"one two"


def test_a_pipe_gets_a_model(pipe):
    path, content = pipe
    learner, _, _ = fitted()
    linsep.save(learner, path)
    path.with_name("m").write_bytes(content())
    assert linsep.load(path.with_name("m")).learner == "Perceptron"


def test_a_pipe_gets_a_trace(pipe):
    path, content = pipe
    fitted(trace=True)[0].trace_.save(path)
    assert b'"linsep_trace"' in content()


def test_a_pipe_gets_a_film(pipe):
    path, content = pipe
    made = linsep.film(fitted(trace=True)[0].trace_, path)
    assert len(content()) == made.size > 1000


def test_a_pipe_gets_a_report(pipe):
    path, content = pipe
    linsep.report(*fitted(), path)
    assert b"</html>" in content()


def test_a_pipe_gets_an_export(pipe):
    path, content = pipe
    path.with_name("pipe.sql").symlink_to(path.name)
    linsep.export(fitted()[0], path.with_name("pipe.sql"))
    assert b"SELECT" in content() and path.with_name("pipe.sql").is_symlink()


def test_a_device_takes_what_is_written_and_stays(tmp_path):
    atomic.replace("/dev/null", [b"gone"])
    (tmp_path / "null").symlink_to("/dev/null")
    atomic.replace(tmp_path / "null", [b"gone"])
    assert kind_of("/dev/null") == "a device" and (tmp_path / "null").is_symlink()
    assert list(tmp_path.iterdir()) == [tmp_path / "null"]
    with pytest.raises(StorageError, match=r"/dev/full could not be written, on writing: No space"):
        atomic.replace("/dev/full", [b"x" * 100])


def test_a_folder_and_a_socket_are_refused(tmp_path):
    with pytest.raises(StorageError, match="is a folder; name a file in it"):
        atomic.replace(tmp_path, [b"x"])
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(StorageError, match="is a socket; name a file"):
            atomic.replace(tmp_path / "s", [b"x"])
        assert kind_of(tmp_path / "s") == "a socket"
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_links_are_followed_and_stay(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "dangling").symlink_to("elsewhere/new")
    atomic.replace(tmp_path / "dangling", [b"first"])
    assert (folder / "new").read_bytes() == b"first" and (tmp_path / "dangling").is_symlink()
    for name, other in (("a", "b"), ("b", "a")):
        (tmp_path / name).symlink_to(other)
    with pytest.raises(StorageError, match="ELOOP"):
        atomic.replace(tmp_path / "a", [b"x"])
    assert (tmp_path / "a").is_symlink()


def test_a_file_that_is_open_already_is_written_where_it_stands(tmp_path):
    program = (
        "from linsep.data.files.atomic import replace; print('before'); "
        "replace('/dev/stdout', [b'inside\\n']); print('after')"
    )
    with (tmp_path / "out").open("ab") as file:
        file.write(b"long before\n")
        file.flush()
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True, timeout=60)
    assert (tmp_path / "out").read_text() == "long before\nbefore\ninside\nafter\n"
    piped = subprocess.run([sys.executable, "-c", program], stdout=-1, check=True, timeout=60)
    assert piped.stdout == b"before\ninside\nafter\n"
    assert own_descriptor("/dev/fd/7") == 7 and own_descriptor(tmp_path / "1") is None


def test_a_checkpoint_is_a_file_of_its_own(tmp_path):
    learner, X, y = fitted()
    for path, kind in (("/dev/null", "a device"), (tmp_path, "a folder")):
        with pytest.raises(ParameterError, match=f"which is {kind}"):
            learner.fit(X, y, checkpoint=path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="which is a pipe"):
        learner.fit(X, y, checkpoint=tmp_path / "pipe")
    (tmp_path / "data.csv").write_text("precious")
    with pytest.raises(ParameterError, match="is there and is no checkpoint"):
        learner.fit(X, y, checkpoint=tmp_path / "data.csv")
    assert (tmp_path / "data.csv").read_text() == "precious"
    assert kind_of("/dev/null") == "a device" and kind_of(tmp_path / "pipe") == "a pipe"


def test_bad_rows_go_to_a_file_or_a_device(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,p\nz,q\n2,q\n3,p\n")
    assert linsep.read(table, bad_rows="/dev/null").n_rows == 3
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="which is a pipe; name a file"):
        linsep.read(table, bad_rows=tmp_path / "pipe")
    with pytest.raises(StorageError, match=r"bad_rows is '/dev/full'.*ENOSPC"):
        linsep.read(table, bad_rows="/dev/full").load()


def test_a_command_sees_beforehand_what_it_will_write_to(tmp_path, monkeypatch):
    require_place("--out", "/dev/null")
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) == "/dev/null")
    require_place("--out", "/dev/null")  # whether or not files may be made beside it
    monkeypatch.undo()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        with pytest.raises(StorageError, match=r"--out is '.*s', which is a socket; name a file"):
            require_place("--out", tmp_path / "s")
