"""What every kernel asks at its door: types, shapes and places that do not fit are refused.

Kernels are found by introspection, and their arguments made from their signatures. Under the
sanitizers (`make sanitize`) a kernel that reads outside of what it was given ends the test.
"""

import re
import types
import zlib
from typing import Any

import numpy as np
import pytest

from linsep import kernels
from linsep.kernels import rows
from linsep.rows.int8_screen import Int8Screen
from linsep.rows.rows import CSR, Dense

SIGNATURES = {
    f"{module.__name__.rpartition('.')[2]}.{name} {number}": (getattr(module, name), one[0])
    for module in vars(kernels).values()
    if isinstance(module, types.ModuleType) and "._kernels_" in module.__name__
    for name, function in vars(module).items()
    if hasattr(function, "__nb_signature__")
    for number, one in enumerate(function.__nb_signature__)
}


def parts(listed: str) -> list[str]:
    """Cut at the commas that stand in no brackets."""
    found, depth = [""], 0
    for sign in listed:
        depth += (sign == "[") - (sign == "]")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return [one.strip() for one in found if one.strip()]


def asked(signature: str) -> list[str]:
    """The types of the arguments."""
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    return [one.partition(": ")[2] for one in parts(inside) if one != "/"]


class Maker:
    """Makes arguments whose sizes and numbers are drawn from few."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.sizes = self.rng.integers(0, 9, size=self.rng.integers(1, 4))
        self.arrays: list[tuple[str, np.ndarray]] = []

    def size(self) -> int:
        return int(self.rng.choice(self.sizes)) + int(self.rng.random() < 0.05)

    def numbers(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        drawn = self.rng.normal(size=shape) * 3
        if dtype == "bool":
            return drawn > 0
        if dtype.startswith("float"):
            drawn[self.rng.random(shape) < 0.02] = np.nan
            return drawn.astype(dtype)
        lowest = 0 if dtype.startswith("uint") or self.rng.random() < 0.7 else -2
        return self.rng.integers(lowest, max(self.size(), 1) + 1, size=shape).astype(dtype)

    def rows(self, kind: str, dtype: str) -> Dense | CSR:
        n, d = self.size(), self.size()
        if kind == "Dense":
            return Dense(self.numbers(dtype, (n, d)))
        start = np.cumsum([0, *self.rng.integers(0, d + 1, size=n)]).astype(np.int64)
        column = self.rng.integers(0, max(d, 1), size=start[-1]).astype(np.uint32)
        return CSR(self.numbers(dtype, (int(start[-1]),)), column, start, d)

    def screen(self) -> Int8Screen | tuple[()]:
        n = self.size()
        Q = self.numbers("int8", (n, int(self.rng.choice([2, 32]))))
        return Int8Screen(Q, *np.abs(self.rng.normal(size=(3, n)))) if n % 2 else ()

    def one(self, wanted: str) -> Any:
        kind, _, inside = wanted.partition("[")
        told = parts(inside[:-1])
        if kind in ("array", "writable"):
            shape = tuple(self.size() for _ in range(int(told[1])))
            made = self.numbers(told[0], shape)
            self.arrays.append((kind, made))
            return made
        if kind == "tuple":
            return tuple(self.one(part) for part in told)
        if kind in ("Dense", "CSR"):
            return self.rows(kind, told[0])
        simple = {
            "int": lambda: int(self.rng.choice([-1, 0, 1, 2, self.size()])),
            "float": lambda: float(self.rng.choice([-1.0, 0.0, 0.5, 2.0])),
            "bool": lambda: bool(self.rng.random() < 0.5),
            "str": lambda: "x",
            "bytes": lambda: b"x",
            "Rosenblatt": lambda: (1.0, 0.0, 0.0),
            "PassiveAggressive": lambda: (1.0, 0.5),
            "Int8Screen": self.screen,
            "Loss": lambda: Loss((0.5,), kind=int(self.rng.integers(0, 4))),
            "list": lambda: [
                (self.numbers("float64", (self.size(),)), self.size(), 0.0, None)
                for _ in range(self.size())
            ],
        }
        return simple[kind]()


class Loss(tuple):
    """A loss as kernels take it: its parameter, and a number for its kind."""

    kind: int

    def __new__(cls, parameters: tuple[float, ...], kind: int) -> "Loss":
        made = super().__new__(cls, parameters)
        made.kind = kind
        return made


def replaced(given: Any, old: np.ndarray, new: Any) -> Any:
    """The arguments with one array replaced wherever it stands."""
    if given is old:
        return new
    if type(given) in (tuple, list):
        return type(given)(replaced(one, old, new) for one in given)
    return given


def test_all_kernels_are_found_and_say_what_they_take():
    assert len(SIGNATURES) > 200 and callable(rows.dot)
    for _, signature in SIGNATURES.values():
        for wanted in asked(signature):
            Maker(0).one(wanted)


@pytest.mark.parametrize("name", SIGNATURES)
def test_arrays_of_another_type_or_order_are_refused(name):
    function, signature = SIGNATURES[name]
    maker = Maker(3)
    maker.sizes = np.array([4])
    given = [maker.one(wanted) for wanted in asked(signature)]
    for kind, array in maker.arrays:
        wider = np.repeat(array, 2, axis=-1)[..., ::2]
        fixed = array.copy()
        fixed.flags.writeable = False
        wrong = [array.astype(complex), array[None, None, None], wider, array.tolist(), None]
        if array.dtype.itemsize > 1:
            wrong.append(array.astype(array.dtype.newbyteorder(">")))
        if kind == "writable":
            wrong.append(fixed)
        for one in wrong:
            with pytest.raises(TypeError, match="incompatible function arguments"):
                function(*replaced(given, array, one))


@pytest.mark.parametrize("name", SIGNATURES)
def test_nothing_outside_of_the_arguments_is_read_or_written(name):
    function, signature = SIGNATURES[name]
    wanted = asked(signature)
    for seed in range(60):
        maker = Maker(zlib.crc32(f"{name} {seed}".encode()))
        given = [maker.one(one) for one in wanted]
        try:
            function(*given)
        except (ValueError, TypeError, IndexError) as refused:
            assert re.search(r"\w \w", str(refused)), "a refusal is a sentence"
