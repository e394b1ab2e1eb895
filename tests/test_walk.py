"""The way of a row of `Perceptron().fit`, as docs/inside.md tells it."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import linsep
from linsep import Perceptron
from linsep.kernels import online

SOURCES = Path(linsep.__file__).parent
MOST = 15  # files
LOOP = "train/run/loop.py"


def _holds(value: Any, X: np.ndarray, depth: int = 0) -> bool:
    """Whether the memory of X is in a value, or in what it is made of."""
    if isinstance(value, np.ndarray):
        return bool(np.may_share_memory(value, X))
    if isinstance(value, (tuple, list)):
        return depth < 3 and any(_holds(one, X, depth + 1) for one in value)
    ours = type(value).__module__.startswith("linsep")
    inside = getattr(value, "__dict__", {}).values() if ours else ()
    return depth < 3 and any(_holds(one, X, depth + 1) for one in inside)


def _place(file: str) -> str:
    path = Path(file)
    return path.relative_to(SOURCES).as_posix() if path.is_relative_to(SOURCES) else ""


def _walk(X: np.ndarray, y: np.ndarray, patch: Any) -> tuple[list[str], list[list[str]]]:
    """The files of functions that are given the rows, and those between the loop and the kernel"""
    passed: dict[str, None] = {}
    stacks: list[list[str]] = []
    present = online.present

    def presented(*given: Any) -> int:
        assert any(_holds(one, X) for one in given)
        stack, above = [], sys._getframe(1)
        while above is not None and _place(above.f_code.co_filename) != LOOP:
            stack.append(_place(above.f_code.co_filename))
            above = above.f_back
        assert above is not None
        passed[LOOP] = passed["kernels/perceptron/online.cpp"] = None
        stacks.append(stack)
        return int(present(*given))

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code, place = frame.f_code, _place(frame.f_code.co_filename)
        if event != "call" or not place:
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 1]
        given = [frame.f_locals[name] for name in names if name in frame.f_locals]
        if any(_holds(one, X) for one in given):
            passed[place] = None

    patch.setattr(online, "present", presented)
    sys.setprofile(watch)
    try:
        learner = Perceptron().fit(X, y)
    finally:
        sys.setprofile(None)
    assert learner.status_.good
    return list(passed), stacks


def test_a_row_of_the_perceptron_passes_few_files_and_never_goes_back_to_the_learner(
    monkeypatch: Any,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int)
    passed, stacks = _walk(X, y, monkeypatch)
    assert len(passed) <= MOST, passed
    assert stacks and not [stack for stack in stacks if any("learners/" in one for one in stack)]
    page = (Path(__file__).parents[1] / "docs" / "inside.md").read_text(encoding="utf-8")
    walk = page.split("**A row of `Perceptron().fit(X, y)`.**")[1].split("\n\n")[0]
    told = set(re.findall(r"`([\w/]+\.[ch]pp|[\w/]+\.py)", walk))
    assert set(passed) <= told, f"not in docs/inside.md: {sorted(set(passed) - told)}"
