"""The map of the package is true, and every part has a test of its own."""

import ast
import re
from functools import cache
from pathlib import Path

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
    places = re.findall(r"`((?:\w+/)*\w+\.(?:py|md|cpp|hpp)|(?:\w+/)+)(?:::(\w+))?`", PAGE)
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
