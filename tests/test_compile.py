"""The compiler's manners: where machine code is kept, when it is made anew, what it may change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import linsep
from linsep._compile import by_type, kernel, lanes
from linsep.rows.rows import as_rows, dot
from linsep.train.rules import Rosenblatt, wrong

SOURCES = Path(linsep.__file__).parent
WHERE = "from linsep._compile import CACHE; print(CACHE)"
FIT = "from linsep import Perceptron; print(Perceptron().fit([[0.0], [1.0]], [0, 1]).status_.name)"


def python(program, **environment):
    """Run a program in a fresh interpreter with these variables changed."""
    changed = {k: str(v) for k, v in environment.items()}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | changed,
        capture_output=True,
        text=True,
        check=True,
    )


def test_a_cold_start_says_one_line_and_a_warm_one_none(tmp_path):
    cold = python(FIT, LINSEP_CACHE=tmp_path)
    assert cold.stdout == "separated\n"
    assert cold.stderr == "linsep: compiling kernels, once (kept for next time)\n"
    assert list(tmp_path.rglob("*.nbc"))
    warm = python(FIT, LINSEP_CACHE=tmp_path)
    assert warm.stdout == "separated\n"
    assert warm.stderr == ""


def test_where_nothing_can_be_written_kernels_run_without_being_kept(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way of a folder")
    done = python(FIT, LINSEP_CACHE=blocked)
    assert done.stdout == "separated\n"
    assert done.stderr == (
        "linsep: compiling kernels, once (no folder to keep them in: set LINSEP_CACHE)\n"
    )


def test_a_home_that_is_no_folder_is_survived(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way of a folder")
    assert python(WHERE, LINSEP_CACHE="", XDG_CACHE_HOME="", HOME=blocked).stdout == "None\n"


def test_the_folder_is_the_one_asked_for(tmp_path):
    places = {
        "LINSEP_CACHE": {"LINSEP_CACHE": tmp_path / "a"},
        "XDG_CACHE_HOME": {"LINSEP_CACHE": "", "XDG_CACHE_HOME": tmp_path / "b"},
        "HOME": {"LINSEP_CACHE": "", "XDG_CACHE_HOME": "", "HOME": tmp_path / "c"},
    }
    found = [Path(python(WHERE, **env).stdout.strip()) for env in places.values()]
    assert [path.relative_to(tmp_path).parts[0] for path in found] == ["a", "b", "c"]
    assert len({path.name for path in found}) == 1  # the digest of the same sources


@pytest.mark.parametrize("edited", ["train/rules.py", "rows/rows.py", "_compile.py"])
def test_editing_a_source_moves_the_cache_so_that_no_old_code_can_run(tmp_path, edited):
    copy = tmp_path / "linsep"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    where = {"LINSEP_CACHE": tmp_path / "cache", "PYTHONPATH": tmp_path}
    before = python(WHERE, **where).stdout
    assert python(WHERE, **where).stdout == before
    with (copy / edited).open("a") as source:
        source.write("\n# edited\n")
    assert python(WHERE, **where).stdout != before


@kernel
def total(values):
    s = 0.0
    for i in range(values.shape[0]):
        s += values[i]
    return s


@kernel
def is_nan(values):
    s = total(values)
    return s != s


@lanes
def two_totals(values):
    s = t = 0.0
    for i in range(values.shape[0]):
        s += values[i]
        t -= values[i]
    return s, t


@pytest.mark.parametrize("values", [[1.0, np.nan], [np.inf, -np.inf], [np.nan] * 99])
def test_nan_survives_sums_that_may_be_reordered(values):
    values = np.array(values)
    assert np.isnan(total(values))
    assert is_nan(values)
    assert np.isnan(two_totals(values)).all()


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_survives_sums_that_may_be_reordered(infinity):
    assert total(np.array([1.0, infinity, 3.0] * 20)) == infinity
    assert not is_nan(np.array([1.0, infinity]))


@kernel
def asks(rule, rows, w):
    return wrong(rule, dot(rows, 0, w))


def test_a_row_that_is_no_number_is_a_mistake_not_a_success():
    w = np.array([1.0, 1.0])
    rule = Rosenblatt(1.0, 0.0)
    assert asks(rule, as_rows(np.array([[1.0, np.nan]])), w)
    assert asks(rule, as_rows(np.array([[np.inf, -np.inf]])), w)
    assert not asks(rule, as_rows(np.array([[1.0, 1.0]])), w)


def test_a_kernel_is_also_the_python_it_was_written_as():
    rows, w = as_rows(np.array([[1.0, -3.0]])), np.array([2.0, 1.0])
    rule = Rosenblatt(1.0, 0.0)
    assert asks.py_func(rule, rows, w) == asks(rule, rows, w)


@by_type
def apply(thing, value):
    """The method of the thing's own type."""
    return thing.apply(value)


@kernel
def applied(thing, value):
    return apply(thing, value)


class Twice(NamedTuple):
    factor: float

    def apply(self, value):
        return 2.0 * self.factor * value


class Shift(NamedTuple):
    by: float

    def apply(self, value):
        return value + self.by


def test_the_type_of_the_first_argument_picks_the_code():
    assert applied(Twice(3.0), 5.0) == 30.0
    assert applied(Shift(3.0), 5.0) == 8.0


def test_a_field_is_a_number_and_needs_no_new_code():
    applied(Shift(1.0), 1.0)
    known = len(applied.signatures)
    assert applied(Shift(2.0), 1.0) == 3.0
    assert len(applied.signatures) == known
