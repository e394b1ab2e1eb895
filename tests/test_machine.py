"""Machine code of kernels: kept in files, and run by processes that have no compiler."""

import os
import subprocess
import sys

import numpy as np

from linsep import _machine

KERNELS = """
import sys
from typing import NamedTuple
import numpy as np
import kernels
pair = kernels.Pair(np.arange(5.0), 2)
print(kernels.answers(pair, (1, np.float32(0.5)), True, np.arange(6).reshape(2, 3).T))
try:
    kernels.divided(1, 0)
except ZeroDivisionError as problem:
    print(problem)
print(kernels.nothing(np.zeros(0)), kernels.turned(False), "numba" in sys.modules)
print(kernels.sorted_first(np.array([3.0, 1.0])), "numba" in sys.modules)
"""
MODULE = """
from typing import NamedTuple
import numpy as np
from linsep._compile import kernel

class Pair(NamedTuple):
    x: np.ndarray
    k: int

@kernel
def answers(pair, some, flag, across):
    return pair.x[pair.k] + some[1], some[0] + across[2, 1], flag and across[1, 0] == 1

@kernel
def divided(a, b):
    return a // b

@kernel
def nothing(x):
    for i in range(x.shape[0]):
        x[i] = 1.0

@kernel
def turned(flag):
    return not flag

@kernel
def sorted_first(x):
    return np.sort(x)[0]
"""


def test_numbers_tuples_errors_and_arrays_pass_as_they_do_through_the_compiler(tmp_path):
    (tmp_path / "kernels.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "LINSEP_CACHE": str(tmp_path / "cache")}

    def run():
        done = subprocess.run(
            [sys.executable, "-c", KERNELS], env=environment, check=True, capture_output=True,
            text=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    answers = ["(2.5, 6, True)", "integer division by zero"]
    assert run() == [*answers, "None True True", "1.0 True"]
    # The last allocates: it is left to the compiler, which is imported for it.
    assert run() == [*answers, "None True False", "1.0 True"]
    (tmp_path / "kernels.py").write_text(MODULE.replace("not flag", "flag"))
    assert run() == [*answers, "None False True", "1.0 True"]


def test_arguments_of_other_types_have_other_names():
    x = np.arange(6.0)
    still = x.copy()
    still.flags.writeable = False
    others = [
        (x,), (x.astype("f4"),), (x[::2],), (still,), (x.reshape(2, 3),), (x.reshape(2, 3).T,),
        (x, 1), (x, 1.0), (x, True), (x, np.int32(1)), (x, (1, 1)), (x, 1, 1), (x, None),
    ]  # fmt: skip
    assert len({_machine.kinds(given) for given in others}) == len(others)
    likes = {_machine.laid_out(given)[0] for given in [*others, (1 << 70,), (1,)]}
    assert len(likes) == len(others) + 2
    assert _machine.laid_out((x, (1, 0.5)))[0] == _machine.laid_out((x + 1, (2, 1.5)))[0]
    assert _machine.kinds((x, 1, 0.5)) == _machine.kinds((still + 1, np.int64(7), np.float64(2)))
    odd = [("text",), ([1],), (x.astype(">f8"),), (1 << 70,), (x.astype(object),)]
    assert [_machine.kinds(given) for given in odd] == [""] * len(odd)


def test_the_compiler_and_values_give_types_the_same_names():
    import numba

    from linsep._compile.type_names import kind
    from linsep.rows.rows import as_rows
    from linsep.train.online.rules import Rosenblatt

    still = np.arange(3)
    still.flags.writeable = False
    for value in (
        np.zeros((2, 3), "f4"), np.zeros((2, 3)).T, np.zeros(9)[::2], still, np.zeros(2, bool), 1,
        1.5, True, np.int8(1), np.bool_(True), (1, 2.0), Rosenblatt(1.0, 0.5, 0.5),
        as_rows(np.zeros((2, 2))), np.zeros((0, 3)),
    ):  # fmt: skip
        assert kind(numba.typeof(value)) == _machine.kinds((value,)) != ""
