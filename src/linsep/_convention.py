"""A probe: does compiled code take its arguments, and give its answers, as `_machine` assumes?

Machine code that is kept is called without the compiler that made it: arrays, tuples and numbers
are laid out as `_machine.linked` does it, which is the compiler's own affair and may change with
any version. So before code is kept, two small functions are compiled whose answers depend on every
part of every argument, and a process of its own, in which a wrong guess may crash, calls them as
kept code is called. Only if their answers are those of plain Python is kept code ever called;
otherwise every process compiles, or loads what it compiled, through the compiler.
"""

import os
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np

from linsep import _machine
from linsep._machine import AS_ASSUMED, OTHERWISE, Code

MANY = 100_003  # no answer below is right by chance


class Nested(NamedTuple):
    """A tuple with a name, an array and a tuple in it, as row layouts and rules are."""

    values: Any
    factor: Any
    more: Any


def mixed(flat, across, nested, few, flag, nothing, text):  # type: ignore[no-untyped-def]
    """Numbers of all sizes from every part of the arguments; `flat` is written to."""
    total = 0.0
    for i in range(across.shape[0]):
        for j in range(across.shape[1]):
            total = total * 3.0 + across[i, j]
    for i in range(nested.values.shape[0]):
        flat[i] += nested.factor * nested.values[i]
    size = flat.shape[0] * 1000 + flat.size * 100 + across.size * 10 + text.itemsize
    small = few[1] * nested.more[0]
    return total, size + few[0], flag and nothing is None, small, text[2], nested.more[1]


def divided(a, b):  # type: ignore[no-untyped-def]
    """An error where b is 0."""
    return a // b


def examples() -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """Each function, and arguments of every kind that is handed to kept code."""
    across = np.arange(24.0).reshape(4, 6)[::2, 1::2]
    text = np.arange(7, 17, dtype=np.uint8)
    text.flags.writeable = False
    nested = Nested(np.arange(1, 4, dtype=np.float32), 0.5, (np.float32(1.5), np.int8(-3)))
    few = (MANY, np.float32(0.25))
    return (
        (mixed, (np.arange(3.0), across, nested, few, True, None, text)),
        (divided, (7, 2)),
    )


def answers(functions: list[Any]) -> list[Any]:
    """What the functions answer, write and raise."""
    results: list[Any] = []
    for function, (_, given) in zip(functions, examples(), strict=True):
        results += [function(*given), given[0].tolist() if hasattr(given[0], "tolist") else None]
    try:
        functions[-1](1, 0)
    except ZeroDivisionError as problem:
        results.append(str(problem) != "")
    return results


def holds(codes: list[Code]) -> bool:
    """Whether code made of the functions answers as they do when it is called as kept code is."""
    pairs = zip(codes, examples(), strict=True)
    linked = [_called(_machine.linked(code, given)) for code, (_, given) in pairs]
    return answers(linked) == answers([function for function, _ in examples()])


def _called(code: Any) -> Any:
    return lambda *given: code(_machine.laid_out(given)[1])


CHILD = """
import sys
sys.path[:] = {path!r}
from linsep._convention import main
main()
"""


def main() -> None:
    """The process of its own: codes come by stdin, the verdict goes to stdout."""
    sizes, _, content = sys.stdin.buffer.read().partition(b"\n")
    codes = []
    for size in map(int, sizes.split()):
        codes.append(_machine.unpack(content[:size]))
        content = content[size:]
    sys.stdout.buffer.write(AS_ASSUMED if holds(codes) else OTHERWISE)
    sys.stdout.flush()
    os._exit(0)


def verdict(codes: list[Code]) -> bytes | None:
    """What a process of its own finds; None if it could not be asked."""
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    packed = [_machine.pack(code) for code in codes]
    content = " ".join(str(len(one)) for one in packed).encode() + b"\n" + b"".join(packed)
    program = CHILD.format(path=sys.path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], input=content, capture_output=True, timeout=120
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode == 0 and done.stdout in (AS_ASSUMED, OTHERWISE):
        return done.stdout
    return OTHERWISE if done.returncode < 0 else None  # it crashed, or did not get that far
