"""The compiler's manners: where machine code is kept, when it is made anew, what it may change."""

import importlib
import inspect
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep
from linsep._compile import by_type, fetch, kernel, upper_half, weighted_sum
from linsep._compile.core import Kernel
from linsep.rows.rows import as_rows, dot

SOURCES = Path(linsep.__file__).parent
WHERE = "from linsep._compile import CACHE; print(CACHE)"
# An editable install answers imports before the folders of PYTHONPATH are asked.
BY_FOLDER = "import sys; sys.meta_path = [f for f in sys.meta_path if isinstance(f, type)]; "
FIT = """from linsep import LogisticRegression as Fit
print(Fit().fit([[0.0], [1.0], [2.0]], [0, 1, 2]).status_.name)"""


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


SUMS = """
import numpy as np
from linsep import LogisticRegression
rng = np.random.default_rng(0)
X = rng.integers(-9, 10, (200_000, 20)).astype(float)
y = X[:, 0] + X[:, 1] + rng.integers(-9, 10, 200_000) > 0
print(LogisticRegression().fit(X, y).coef_.tobytes().hex())
"""


def test_kernels_compiled_now_and_kernels_from_disk_round_alike(tmp_path):
    compiled = python(SUMS, LINSEP_CACHE=tmp_path)
    assert compiled.stderr
    from_disk = python(SUMS, LINSEP_CACHE=tmp_path)
    assert not from_disk.stderr
    assert from_disk.stdout == compiled.stdout


def _kernel_code():
    """Every function of linsep that is compiled: kernels, and methods that kernels call by type."""
    for info in pkgutil.walk_packages(linsep.__path__, "linsep."):
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            if isinstance(value, Kernel):
                yield value.py_func
            elif isinstance(value, type) and issubclass(value, tuple):
                methods = [f for f in vars(value).values() if inspect.isfunction(f)]
                yield from (f for f in methods if not f.__annotations__)


def test_kernels_take_in_whole_what_they_call():
    """A call left in machine code would end in whichever copy was loaded first: see `inline`.

    What is computed as written rounds alike in every copy.
    """
    code = set(_kernel_code())
    assert len(code) > 100
    called = {
        (f"{f.__module__}.{f.__qualname__}", name): f.__globals__.get(name)
        for f in code
        for name in f.__code__.co_names
    }
    kernels = {who: callee for who, callee in called.items() if isinstance(callee, Kernel)}
    assert len(kernels) > 20
    loose = {who: callee.options for who, callee in kernels.items() if callee.options["fastmath"]}
    assert not [who for who, o in loose.items() if not (o.get("forceinline") or o.get("inline"))]


def test_a_cold_start_says_one_line_and_a_warm_one_none(tmp_path):
    cold = python(FIT, LINSEP_CACHE=tmp_path)
    assert cold.stdout == "converged\n"
    assert cold.stderr == "linsep: compiling kernels, once (kept for next time)\n"
    warm = python(FIT, LINSEP_CACHE=tmp_path)
    assert warm.stdout == "converged\n"
    assert warm.stderr == ""


SLOWLY = """
import sys, time
import numpy as np
from linsep import _kernel_cache
from linsep.train.convex.dual.kernels import inner
load = _kernel_cache.load
def after_a_while(path):
    content = load(path)
    time.sleep(0.2)
    return content
_kernel_cache.load = after_a_while
print([float(inner(np.ones(3, kind), np.arange(3, dtype=kind))) for kind in sys.argv[1:]])
"""


def test_processes_that_compile_at_the_same_time_keep_what_each_has_made(tmp_path):
    environment = os.environ | {"LINSEP_CACHE": str(tmp_path)}
    program = [sys.executable, "-c", SLOWLY]
    both = [
        subprocess.Popen([*program, *kinds], env=environment, stdout=subprocess.PIPE, text=True)
        for kinds in (("f8", "f4"), ("f4", "f8"))
    ]
    assert [one.communicate()[0] for one in both] == ["[3.0, 3.0]\n"] * 2
    again = subprocess.run(
        [*program, "f8", "f4"], env=environment, capture_output=True, text=True, check=True
    )
    assert again.stdout == "[3.0, 3.0]\n"
    assert again.stderr == "", "compiled again: what one of them made was lost"


def test_where_nothing_can_be_written_kernels_run_without_being_kept(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way of a folder")
    done = python(FIT, LINSEP_CACHE=blocked)
    assert done.stdout == "converged\n"
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


@pytest.mark.parametrize("edited", ["train/convex/losses.py", "rows/rows.py", "_compile/core.py"])
def test_editing_a_source_moves_the_cache_so_that_no_old_code_can_run(tmp_path, edited):
    copy = tmp_path / "linsep"
    shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    where = {"LINSEP_CACHE": tmp_path / "cache", "PYTHONPATH": tmp_path}
    before = python(BY_FOLDER + WHERE, **where).stdout
    assert python(BY_FOLDER + WHERE, **where).stdout == before
    (noted,) = (tmp_path / "cache" / "linsep" / "sources").iterdir()
    noted.write_text("torn")
    assert python(BY_FOLDER + WHERE, **where).stdout == before
    with (copy / edited).open("a") as source:
        source.write("\n# edited\n")
    assert python(BY_FOLDER + WHERE, **where).stdout != before


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


@kernel
def eight_sums(data, indices, W, s):
    weighted_sum(data, indices, 0, data.shape[0], W, 0, 4, s)
    weighted_sum(data, indices, 0, data.shape[0], W, 4, 4, s)


@kernel
def twelve_sums(data, indices, W, s):
    weighted_sum(data, indices, 0, data.shape[0], W, 0, 12, s)


@kernel
def halved(x):
    return upper_half(x)


@pytest.mark.parametrize("values", [[1.0, np.nan], [np.inf, -np.inf], [np.nan] * 99])
def test_nan_survives_sums_that_may_be_reordered(values):
    values = np.array(values)
    assert np.isnan(total(values))
    assert is_nan(values)


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_survives_sums_that_may_be_reordered(infinity):
    assert total(np.array([1.0, infinity, 3.0] * 20)) == infinity
    assert not is_nan(np.array([1.0, infinity]))


@pytest.mark.parametrize("dtype", ["f4", "f8", "u2"])
@pytest.mark.parametrize("entries", [0, 1, 2, 7, 30])
def test_weighted_sums_are_what_plain_python_makes_of_them(dtype, entries):
    rng = np.random.default_rng(entries)
    data = rng.integers(-9, 9, entries).astype("f8" if dtype == "f8" else "f4")
    indices = rng.integers(0, 20, entries).astype(np.uint32)
    W = rng.integers(-9, 9, (20, 12)).astype("f4" if dtype == "u2" else dtype)
    if dtype == "u2":
        W = (W.view(np.uint32) >> 16).astype(np.uint16)  # whole numbers have short upper halves
    for sums, lanes in ((eight_sums, 8), (twelve_sums, 12)):
        found, plain = np.zeros(12), np.zeros(12)
        sums(data, indices, W, found)
        sums.py_func(data, indices, W, plain)
        assert (found[:lanes] == plain[:lanes]).all()


def test_the_order_of_additions_does_not_depend_on_the_number_of_lanes():
    rng = np.random.default_rng(0)
    data, W = rng.normal(size=1001).astype("f4"), rng.normal(size=(50, 12)).astype("f4")
    indices = rng.integers(0, 50, 1001).astype(np.uint32)
    eight, twelve = np.zeros(12, "f4"), np.zeros(12, "f4")
    eight_sums(data, indices, W, eight)
    twelve_sums(data, indices, W, twelve)
    assert (eight[:8] == twelve[:8]).all()


def test_nan_and_infinity_survive_weighted_sums():
    s = np.zeros(8)
    W = np.ones((2, 8))
    W[1] = np.nan, np.inf, -np.inf, 1, 1, 1, 1, 1
    eight_sums(np.ones(2), np.array([0, 1], np.uint32), W, s)
    assert np.isnan(s[0])
    assert (s[1:] == [np.inf, -np.inf, 2, 2, 2, 2, 2]).all()


@given(st.floats(width=32, allow_nan=False))
def test_the_upper_half_of_a_number_is_its_first_eight_binary_digits(x):
    found = np.uint32(int(halved(np.float32(x))) << 16).view(np.float32)
    assert halved(np.float32(x)) == upper_half(x)
    if 1e-37 < abs(x) < 1e38:
        assert abs(float(found) - x) <= abs(x) * 2.0**-8


@kernel
def asks(rows, w):
    return dot(rows, 0, w)


def test_a_kernel_is_also_the_python_it_was_written_as():
    rows, w = as_rows(np.array([[1.0, -3.0]])), np.array([2.0, 1.0])
    assert asks.py_func(rows, w) == asks(rows, w) == -1.0


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


@kernel
def total_ahead(values):
    """Σ x, each line of memory asked for early, beyond the end too."""
    total = 0.0
    for i in range(values.shape[0]):
        fetch(values, i + 8)
        total += values[i]
    return total


def test_memory_asked_for_ahead_changes_no_result():
    values = np.arange(100.0)
    assert total_ahead(values) == total_ahead.py_func(values) == 4950.0
