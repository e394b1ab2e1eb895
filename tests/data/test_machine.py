"""The parser's machine code: kept in a file, and run by processes that have no compiler."""

import os
import subprocess
import sys

import numpy as np
import pytest

from linsep import _machine
from linsep._compile import object_code
from linsep.data import svmlight

LINES = b"1 2:0.5 7:1e-3 9:123456789.123456789\n-1 1:3 # said\n\n+1 12345678:1 123456789:2\n"
ALONE = """
import sys
from linsep.data import svmlight
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
    (kept,) = (tmp_path / "linsep" / "machine").iterdir()
    whole = kept.read_bytes()
    for broken in (whole[:-1], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        kept.write_bytes(broken)
        assert _machine._read(kept) is None
    assert alone(tmp_path) == (first[0], True)  # torn or rotten: not run, made again
    assert alone(tmp_path) == (first[0], False)


def test_where_nothing_can_be_kept_the_parser_works_all_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    assert alone(tmp_path / "file") == (str(svmlight.parse_piece(LINES)), True)


def test_the_kernel_gives_the_same_as_plain_python():
    from linsep.data.svmlight_lines import parse

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


def test_a_kernel_that_calls_out_is_left_to_the_compiler():
    from linsep.data.columns import add_up

    arrays = np.ones((2, 3)), np.zeros(3), np.zeros(3, np.int64)
    symbol, code = object_code(add_up, arrays)
    _machine.linked(symbol, code)(*arrays)
    assert arrays[1].tolist() == [2.0, 2.0, 2.0]

    class Allocating:
        @staticmethod
        def py_func(x):
            return np.sort(x)[0]

    assert object_code(Allocating, (np.ones(3),)) is None


@pytest.mark.parametrize("n", [1, 7, 8, 9, 4096, 1 << 16])
def test_rows_end_where_the_text_ends_whatever_a_thread_parsed_before(n):
    svmlight.parse_piece(b"1 1:123456789\n" * 2000)
    digits = "7" * n
    part = svmlight.parse_piece(f"1 1:{digits}".encode())
    assert part.values.tolist() == [float(digits)] if n < 309 else not len(part.values)
