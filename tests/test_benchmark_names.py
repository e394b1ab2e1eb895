"""What benchmarks take from inside linsep is still there, also where they import it late."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "benchmarks").rglob("*.py"))


def taken(path):
    """(module, name) of every import from linsep, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "linsep":
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_benchmarks_import_what_is_there(path):
    for module, name in taken(path):
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"


def test_some_are_looked_at():
    assert sum(len(list(taken(path))) for path in FILES) > 20
