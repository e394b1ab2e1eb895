"""Machine code of kernels: kept in files, and run by processes that have no compiler."""

import os
import subprocess
import sys

import numpy as np
import pytest

from linsep import _machine
from linsep.data.svmlight import parser as svmlight

LINES = b"1 2:0.5 7:1e-3 9:123456789.123456789\n-1 1:3 # said\n\n+1 12345678:1 123456789:2\n"
ALONE = """
import sys
from linsep.data.svmlight import parser as svmlight
print(svmlight.parse_piece(sys.stdin.buffer.read()))
print("numba" in sys.modules)
"""


def alone(cache):
    done = subprocess.run(
        [sys.executable, "-c", ALONE], input=LINES, capture_output=True, check=True,
        env={**os.environ, "LINSEP_CACHE": str(cache)},
    )  # fmt: skip
    *part, compiler = done.stdout.decode().splitlines()
    return "\n".join(part), compiler == "True"


def test_the_parser_is_compiled_once_and_then_needs_no_compiler(tmp_path):
    first, second = alone(tmp_path), alone(tmp_path)
    assert first == (str(svmlight.parse_piece(LINES)), True)
    assert second == (first[0], False)
    (kept,) = (tmp_path / "linsep").glob("*/code/linsep.data.svmlight.lines.parse-*")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert alone(tmp_path) == (first[0], True)  # torn or rotten: not run, made again
    assert alone(tmp_path) == (first[0], False)


def test_where_nothing_can_be_kept_the_parser_works_all_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    assert alone(tmp_path / "file") == (str(svmlight.parse_piece(LINES)), True)


def test_the_kernel_gives_the_same_as_plain_python():
    from linsep.data.svmlight.lines import parse

    def run(function):
        room = svmlight._Room(256)
        room.text[:] = 10
        room.text[: len(LINES)] = np.frombuffer(LINES, np.uint8)
        state = np.array([0, 0, 0, 0, 0, svmlight.LARGEST + 1, -1, 0, 0, len(LINES)])
        with np.errstate(over="ignore"):
            wrong = function(*room.arrays(state))
        n = int(state[svmlight.ENTRY])
        return wrong, state.tolist(), room.places[:n].tolist(), room.values[:n].tolist()

    assert run(svmlight._parser()) == run(parse) == run(parse.py_func)


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


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4096, 1 << 16])
def test_rows_end_where_the_text_ends_whatever_a_thread_parsed_before(n):
    svmlight.parse_piece(b"1 1:123456789\n" * 2000)
    digits = "7" * n
    part = svmlight.parse_piece(f"1 1:{digits}".encode())
    assert part.values.tolist() == [float(digits)] if n < 309 else not len(part.values)
