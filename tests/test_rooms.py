"""The map of the package is true, and every part has a test of its own."""

import ast
import inspect
import re
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import linsep

ROOT = Path(__file__).parents[1]
SOURCES = Path(linsep.__file__).parent
PAGE = (ROOT / "docs/inside.md").read_text("utf-8")


def top_names(path):
    """What a module defines, and `Class.method`."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def test_every_path_and_name_on_the_page_of_the_insides_exists():
    places = re.findall(r"`((?:\w+/)*\w+\.(?:py|md)|(?:\w+/)+)(?:::(\w+))?`", PAGE)
    assert len(places) > 60
    for path, name in places:
        base = ROOT if path.startswith(("tests/", "CONTRIBUTING")) else SOURCES
        rooms = [base / path, *(base / room / path for room in ("learners", "train/convex"))]
        there = [room for room in rooms if room.exists()]
        assert there, path
        assert not name or name in top_names(there[0]), f"{path}::{name}"


def test_every_path_of_the_guide_to_contributors_exists():
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    places = set(re.findall(r"`((?:\w+/)*\w+\.py|tests/\w+|src/[\w/]+)`", guide))
    own = {"examples/plot_NAME.py", "src/linsep/learners/perceptrons/normalized.py"}
    own |= {"tests/learners/test_normalized.py"}  # the reader's own
    for place in places - own:
        rooms = (ROOT, SOURCES, SOURCES / "data", SOURCES / "train", SOURCES / "learners")
        assert any((room / place).exists() for room in rooms), place


def test_every_room_says_what_happens_there():
    for folder in sorted({path.parent for path in SOURCES.rglob("*.py")}):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
        assert text, folder


@cache
def imported(path):
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


PARTS = sorted(
    path.relative_to(SOURCES)
    for package in ("data", "proofs", "train")
    for path in (SOURCES / package).rglob("*.py")
    if path.name != "__init__.py" and "cluster" not in path.parts
)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.with_suffix("").as_posix())
def test_every_part_of_data_train_and_proofs_is_imported_by_a_test(part):
    name = ".".join(("linsep", *part.with_suffix("").parts))
    room = ROOT / "tests" if part.parts[0] == "data" else ROOT / "tests" / part.parent
    assert any(name in imported(test) for test in room.rglob("*.py")), f"{room} has none of {name}"


def stacks_at_kernels(fit):
    """The files on the way from a fit to each kernel that it calls, the kernel's own at the end."""
    stacks = set()

    def note(frame, event, argument):
        here = frame.f_code
        if (
            event != "call"
            or here.co_name != "__call__"
            or not here.co_filename.endswith("core.py")
        ):
            return
        files = [Path(inspect.getsourcefile(frame.f_locals["self"].py_func))]
        while frame is not None:
            files.append(Path(frame.f_code.co_filename))
            frame = frame.f_back
        inside = [file for file in reversed(files) if file.is_relative_to(SOURCES)]
        stacks.add(tuple(file.relative_to(SOURCES).as_posix() for file in inside))

    sys.setprofile(note)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return stacks


def test_a_row_of_a_perceptron_walks_straight_from_the_loop_to_the_kernel():
    X = np.random.default_rng(0).standard_normal((200, 5))
    learner = linsep.Perceptron()
    stacks = stacks_at_kernels(lambda: learner.fit(X, X[:, 0] > 0))
    assert any(stack[-1] == "train/online/kernels.py" for stack in stacks)
    passed = {"rows/rows.py", "train/online/rules.py"}  # what the kernel takes in by type
    for stack in stacks:
        passed |= set(stack)
        loop = stack.index("train/run/loop.py") if "train/run/loop.py" in stack else len(stack)
        assert not any(file.startswith("learners/") for file in stack[loop:]), stack
    assert len(passed) <= 15, sorted(passed)
    on_page = PAGE[PAGE.index("**A row of") : PAGE.index("**A sparse row of")]
    for file in passed - {"_compile/core.py", "parallel.py", "learners/base.py"}:
        assert f"`{file}::" in on_page, file
