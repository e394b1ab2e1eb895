"""The cache of compiled kernels is a convenience: no damage to it stops or changes a fit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep import _kernel_cache

MODULE = """
from linsep._compile import kernel

@kernel
def total(values, factor):
    s = 0.0
    for i in range(values.shape[0]):
        s += factor * values[i]
    return s
"""
RUN = """
import sys
import numpy as np
import kernels
print(kernels.total(np.arange(4.0), 2), "numba" in sys.modules)
"""
FILES = {
    "note": "sources/*",
    "verdict": "*/code/convention-*",
    "object code": "*/code/kernels.total-*",
    "compiled": "*/compiled/kernels.total-*",
}
MADE = "linsep: compiling kernels, once (kept for next time)"  # where the probe is made again


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with a kernel that has been compiled, and the cache it is kept in."""
    folder = tmp_path_factory.mktemp("warm")
    (folder / "kernels.py").write_text(MODULE)
    assert run(folder) == ("12.0 True", [MADE])
    assert run(folder) == ("12.0 False", [])
    return folder


@pytest.fixture
def copied(warm, tmp_path):
    """A cache of its own for a test to damage."""
    shutil.copytree(warm / "cache", tmp_path / "cache")
    (tmp_path / "kernels.py").symlink_to(warm / "kernels.py")
    return tmp_path


def environment(folder):
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PYTHONPATH": path, "LINSEP_CACHE": str(folder / "cache")}


def run(folder, program=RUN, *before):
    """What a fresh process prints, and the lines of its stderr."""
    done = subprocess.run(
        [*before, sys.executable, "-c", program],
        env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.splitlines()


def kept(folder, *kinds):
    """The files of these kinds in the cache: one of each."""
    paths = []
    for kind in kinds:
        (path,) = (folder / "cache" / "linsep").glob(FILES[kind])
        paths.append(path)
    return paths


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def become_folder(path):
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("")


DAMAGES = {
    "emptied": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"0"),
    "no text": lambda path: path.write_bytes(b"\xff\xfe" * 8),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "a folder": become_folder,
}


def is_mended(folder):
    """The first run computes, and says one thing; the next has nothing to say or compile."""
    answer, said = run(folder)
    assert answer.startswith("12.0 ")
    assert len([line for line in said if line != MADE]) == 1, said
    assert all(line.startswith("linsep: ") for line in said)
    assert run(folder) == ("12.0 False", [])
    return said


def test_the_cache_holds_files_of_these_kinds_and_no_others(warm):
    files = {path for path in (warm / "cache").rglob("*") if path.is_file()}
    assert files == set(kept(warm, *FILES))


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_cache_whose_files_are_all_damaged_is_made_again(copied, damage):
    for path in kept(copied, *FILES):
        DAMAGES[damage](path)
    is_mended(copied)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_each_kind_with_one_bit_flipped_is_made_again(copied, kind):
    (path,) = kept(copied, kind)
    flip(path, path.stat().st_size * 2 // 3)
    if kind == "compiled":  # nobody asks for it as long as the object code is there
        assert run(copied) == ("12.0 False", [])
        assert run(copied, "import numba\n" + RUN)[0] == "12.0 True"
        assert run(copied, "import numba\n" + RUN) == ("12.0 True", [])
    else:
        assert any(str(path) in line for line in is_mended(copied))


def test_a_file_under_the_name_of_another_is_not_used(copied):
    code, compiled = kept(copied, "object code", "compiled")
    code.write_bytes(compiled.read_bytes())
    is_mended(copied)


def test_a_kernel_kept_for_other_sources_is_not_used(copied):
    (code,) = kept(copied, "object code")
    other = code.parents[2] / "0123456789abcdef" / "code" / code.name
    _kernel_cache.store(other, code.read_bytes()[_kernel_cache.DIGEST :])
    code.write_bytes(other.read_bytes())
    shutil.rmtree(other.parents[1])
    is_mended(copied)


SWAPPED = MODULE + MODULE.replace("def total", "def most").replace("s += factor", "s -= factor")


def test_kernels_that_have_changed_places_are_compiled_again(tmp_path):
    (tmp_path / "kernels.py").write_text(SWAPPED)
    program = RUN + "print(kernels.most(np.arange(4.0), 2))"
    assert run(tmp_path, program)[0] == "12.0 True\n-12.0"
    for kind in ("code", "compiled"):
        one, other = ((tmp_path / "cache" / "linsep").glob(f"*/{kind}/kernels.{name}-*")
                      for name in ("total", "most"))  # fmt: skip
        (one,), (other,) = one, other
        swap = one.read_bytes(), other.read_bytes()
        other.write_bytes(swap[0])
        one.write_bytes(swap[1])
    answer, said = run(tmp_path, program)
    assert answer.split() == ["12.0", "True", "-12.0"]
    assert any("is not used" in line for line in said)
    assert run(tmp_path, program) == ("12.0 False\n-12.0", [])


def give_away(path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12345, -1)


@pytest.mark.skipif(os.name != "posix", reason="owners are POSIX's")
@pytest.mark.parametrize(
    "taint", [give_away, lambda path: path.chmod(0o666)], ids=["foreign", "open"]
)
def test_a_file_that_another_user_made_or_may_change_is_not_used(copied, taint):
    (path,) = kept(copied, "object code")
    taint(path)
    assert any(str(path) in line for line in is_mended(copied))
    assert path.stat().st_mode & 0o777 == 0o600 and path.stat().st_uid == os.geteuid()


@pytest.mark.skipif(os.name != "posix", reason="owners are POSIX's")
@pytest.mark.parametrize("depth", range(3))
def test_nothing_in_a_folder_of_another_user_is_used(copied, depth):
    (path,) = kept(copied, "object code")
    before = path.read_bytes()
    give_away(path.parents[depth])
    answer, said = run(copied)
    assert answer == "12.0 True" and path.read_bytes() == before
    assert len([line for line in said if "belongs to another user" in line]) == 1, said


@pytest.mark.skipif(os.name != "posix", reason="owners are POSIX's")
def test_folders_of_the_cache_are_closed_to_others(copied):
    (path,) = kept(copied, "object code")
    for folder in path.parents[:3]:
        folder.chmod(0o777)
    path.unlink()
    run(copied)
    assert [folder.stat().st_mode & 0o777 for folder in path.parents[:3]] == [0o700] * 3


def test_files_in_the_place_of_folders_are_replaced(copied):
    (code,) = kept(copied, "object code")
    shutil.rmtree(code.parent)
    code.parent.write_text("in the way")
    is_mended(copied)
    shutil.rmtree(code.parents[1])
    code.parents[1].write_text("in the way")
    assert run(copied)[0] == "12.0 True"
    assert run(copied) == ("12.0 False", [])


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_replaced(copied):
    for path in kept(copied, *FILES):
        path.chmod(0)
    is_mended(copied)


def test_no_damaged_byte_goes_unseen(warm, tmp_path, monkeypatch):
    monkeypatch.setattr(_kernel_cache, "tell", lambda text: None)
    for path in kept(warm, *FILES):
        copy = tmp_path.joinpath(*path.parts[-3:])
        copy.parent.mkdir(parents=True, exist_ok=True)
        whole = path.read_bytes()
        copy.write_bytes(whole)
        assert _kernel_cache.load(copy) == whole[_kernel_cache.DIGEST :]
        step = max(1, len(whole) // 200)
        for place in (*range(min(len(whole), 300)), *range(0, len(whole), step), -1):
            for mask in (1, 128):
                broken = bytearray(whole)
                broken[place] ^= mask
                copy.write_bytes(broken)
                assert _kernel_cache.load(copy) is None


@given(st.binary(max_size=100), st.data())
def test_what_is_stored_comes_back_whole_or_not_at_all(tmp_path_factory, content, data):
    path = tmp_path_factory.mktemp("store") / "folder" / "file"
    _kernel_cache.store(path, content)
    assert _kernel_cache.load(path) == content
    assert [one.name for one in path.parent.iterdir()] == ["file"]
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole)))
    other = data.draw(st.binary(max_size=9))
    path.write_bytes(whole[:place] + other)
    assert _kernel_cache.load(path) == (content if whole[:place] + other == whole else None)


DELETED = """
import shutil, sys
from pathlib import Path
import numpy as np
import kernels
cache = Path(kernels.kernel.__globals__["CACHE"])
print(kernels.total(np.arange(4.0), 2))
shutil.rmtree(cache.parent)
print(kernels.total(np.arange(4), 2))
"""


def test_a_cache_deleted_while_a_process_uses_it_is_made_again(copied):
    assert run(copied, DELETED) == ("12.0\n12.0", [MADE])
    assert run(copied, RUN.replace("4.0", "4")) == ("12.0 False", [])


SMALL_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES, BYTES))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
def test_a_disk_that_takes_no_more_ends_no_run(copied):
    for path in kept(copied, "object code", "compiled"):
        path.unlink()
    answer, said = run(copied, SMALL_FILES.replace("BYTES", "1000") + RUN)
    assert answer == "12.0 True"
    (line,) = said
    assert "cannot be kept (File too large)" in line
    assert "LINSEP_CACHE" in line
    assert {path for path in (copied / "cache").rglob("*") if path.is_file()} == set(
        kept(copied, "note", "verdict")
    )
    assert run(copied)[0] == "12.0 True"
    assert run(copied) == ("12.0 False", [])


def mounted(folder, how):
    """A command that runs another one where the cache is on a file system of its own."""
    cache = folder / "cache"
    script = f'{how.format(cache=cache)} && exec "$@"'
    return "unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"


def can_mount(tmp_path):
    (tmp_path / "cache").mkdir(exist_ok=True)
    command = mounted(tmp_path, "mount -t tmpfs -o size=64k tmpfs {cache}")
    return (
        shutil.which("unshare") is not None
        and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("pages", [1, 2, 4])
def test_a_full_file_system_ends_no_run(warm, tmp_path, pages):
    if not can_mount(tmp_path):
        pytest.skip("no file system can be mounted here")
    (tmp_path / "kernels.py").symlink_to(warm / "kernels.py")
    mount = mounted(tmp_path, f"mount -t tmpfs -o size={4 * pages}k tmpfs {{cache}}")
    answer, said = run(tmp_path, RUN, *mount)
    assert answer == "12.0 True"
    (line,) = [line for line in said if line != MADE]
    assert "kept" in line or "keep" in line


def test_a_cache_that_can_only_be_read_is_used(copied):
    if not can_mount(copied):
        pytest.skip("no file system can be mounted here")
    mount = mounted(
        copied, "mount --bind {cache} {cache} && mount -o remount,bind,ro {cache} {cache}"
    )
    assert run(copied, RUN, *mount) == ("12.0 False", [])
    answer, (line,) = run(copied, RUN.replace("4.0", "4"), *mount)
    assert answer == "12.0 True"
    assert "cannot be kept (Read-only file system)" in line


def test_a_fit_on_a_full_disk_ends_well_and_says_so_once(tmp_path):
    fit = "from linsep import KernelSVC; print(KernelSVC().fit([[0.0], [1.0]], [0, 1]).n_iter_)"
    answer, said = run(tmp_path, SMALL_FILES.replace("BYTES", "5000") + fit)
    assert int(answer) > 0
    (line,) = [line for line in said if line != MADE]
    assert "cannot be kept (File too large)" in line
    answer, (line,) = run(tmp_path, SMALL_FILES.replace("BYTES", "1000") + fit)
    assert int(answer) > 0
    assert line == MADE.replace("kept for next time", "no folder to keep them in: set LINSEP_CACHE")
    assert not list(Path(tmp_path).rglob("compiled/linsep.*"))


def test_a_relative_folder_stays_the_same_one_when_the_process_goes_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LINSEP_CACHE", "kept")
    place = _kernel_cache.base()
    monkeypatch.chdir(tmp_path.parent)
    assert place == tmp_path / "kept" / "linsep"
