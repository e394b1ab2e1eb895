"""Kept object code is called only where a probe has shown how this compiler wants to be called."""

import shutil
import sys
from pathlib import Path

import pytest

from linsep import _convention, _kernel_cache, _machine
from linsep._compile import portable
from linsep._compile.core import OPTIONS
from linsep._machine import AS_ASSUMED, LEFT, OTHERWISE
from test_kernel_cache import RUN, copied, kept, run, warm  # noqa: F401


@pytest.fixture(scope="module")
def codes():
    return list(portable._probes(OPTIONS))


def test_the_probe_finds_what_is_assumed_with_this_compiler(codes):
    assert _convention.verdict(codes) == AS_ASSUMED


def swapped_sizes(given, like, flat):
    """Arrays with the two numbers in front of their address exchanged."""
    for value in given:
        start = len(flat)
        add((value,), like, flat)
        if hasattr(value, "ctypes"):
            flat[start + 2], flat[start + 3] = flat[start + 3], flat[start + 2]


def swapped_strides(given, like, flat):
    """Arrays of two dimensions with their strides exchanged."""
    for value in given:
        start = len(flat)
        add((value,), like, flat)
        if hasattr(value, "ctypes") and value.ndim == 2:
            flat[start + 7], flat[start + 8] = flat[start + 8], flat[start + 7]


add = _machine._lay_out


@pytest.mark.parametrize("wrong", [swapped_sizes, swapped_strides])
def test_the_probe_sees_arguments_handed_over_otherwise(codes, wrong, monkeypatch):
    assert _convention.holds(codes)
    monkeypatch.setattr(_machine, "_lay_out", wrong)
    assert not _convention.holds(codes)


@pytest.mark.parametrize("returns", ["(float64,int64,bool,float64,uint8,int8)", "float64", ""])
def test_the_probe_sees_answers_given_otherwise(codes, returns):
    if returns.startswith("("):
        mixed = codes[0]._replace(returns=returns)
        assert not _convention.holds([mixed, codes[1]])
    else:
        assert not _convention.holds([codes[0], codes[1]._replace(returns=returns)])


def test_a_call_that_crashes_crashes_a_process_of_its_own(codes, monkeypatch):
    crash = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n# {path}"
    monkeypatch.setattr(_convention, "CHILD", crash)
    assert _convention.verdict(codes) == OTHERWISE


def test_where_no_process_can_be_started_nothing_is_decided(codes, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    assert _convention.verdict(codes) is None
    monkeypatch.setattr(sys, "executable", "/there/is/no/python")
    assert _convention.verdict(codes) is None


def test_an_entrance_with_other_types_is_left_to_the_compiler(monkeypatch):
    monkeypatch.setattr(portable, "parameters", lambda arguments: ["ptr", "ptr", "i64"])
    assert list(portable._probes(OPTIONS)) == [LEFT, LEFT]


def test_insides_of_the_compiler_that_are_gone_leave_code_to_it():
    assert portable.portable(object()) == LEFT


@pytest.mark.parametrize("verdict", [OTHERWISE, None], ids=["otherwise", "none"])
def test_without_a_good_verdict_kept_code_is_not_called(copied, verdict):  # noqa: F811
    (path,) = kept(copied, "verdict")
    path.unlink()
    if verdict is not None:
        _kernel_cache.store(path, verdict)
        assert run(copied) == ("12.0 True", [])
        assert run(copied) == ("12.0 True", [])
    else:
        assert run(copied)[0] == "12.0 True"
        assert run(copied) == ("12.0 False", [])


def test_the_verdict_is_that_of_one_compiler_and_one_processor(tmp_path, monkeypatch):
    here = _machine.convention_file(tmp_path)
    monkeypatch.setattr(_machine, "about", lambda: "another version")
    assert _machine.convention_file(tmp_path) != here


NO_CACHE = """
import numba.core.caching
del numba.core.caching._Cache
"""


def test_a_compiler_whose_cache_has_changed_compiles_and_says_so(copied):  # noqa: F811
    answer, (line,) = run(copied, NO_CACHE + RUN)
    assert answer == "12.0 True"
    assert "this version of Numba" in line
    shutil.rmtree(Path(copied) / "cache")
    assert run(copied, NO_CACHE + RUN)[0] == "12.0 True"
