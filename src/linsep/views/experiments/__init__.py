"""The lectures' findings, each as one file that measures, claims and draws.

A module of a room of this folder (`perceptrons`, `units`, `criteria`) is an experiment: its
docstring says what it shows, and its `find(data)` returns `linsep.views.findings.Findings`. `data`
is a folder with the MNIST files, or None for embedded or made data.
"""

import ast
from importlib import import_module
from pathlib import Path

from linsep.errors import ParameterError
from linsep.views.findings import Findings


def _files() -> dict[str, Path]:
    files = Path(__file__).parent.glob("*/[a-z]*.py")
    return {file.stem.replace("_", "-"): file for file in files}


def names() -> list[str]:
    """The experiments there are, such as 'mnist-01'."""
    return sorted(_files())


def summary(name: str) -> str:
    """What an experiment shows, in one line; nothing is imported for it."""
    text = ast.get_docstring(ast.parse(_files()[name].read_text(encoding="utf-8")))
    return (text or "").splitlines()[0]


def find(name: str, data: Path | None = None) -> Findings:
    """Run an experiment.

    >>> print(find("gates").claims[0].sentence)
    One unit is enough for AND, OR, NAND and NOR.
    """
    files = _files()
    if name not in files:
        raise ParameterError(f"name is {name!r}; the experiments are {', '.join(names())}.")
    room = files[name].parent.name
    findings: Findings = import_module(f"{__name__}.{room}.{files[name].stem}").find(data)
    return findings
