"""The lectures' findings, each as one file that measures, claims and draws.

A module of this folder is an experiment: its docstring says what it shows, and its `find(data)`
returns `linsep.views.findings.Findings`. `data` is a folder with the MNIST files, or None for
embedded or made data.
"""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from linsep.errors import ParameterError
from linsep.views.findings import Findings


def names() -> list[str]:
    """The experiments there are, such as 'mnist-01'."""
    return sorted(module.name.replace("_", "-") for module in iter_modules(__path__))


def summary(name: str) -> str:
    """What an experiment shows, in one line; nothing is imported for it."""
    spec = find_spec(f"{__name__}.{name.replace('-', '_')}")
    assert spec is not None and spec.origin is not None
    text = ast.get_docstring(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    return (text or "").splitlines()[0]


def find(name: str, data: Path | None = None) -> Findings:
    """Run an experiment.

    >>> print(find("gates").claims[0].sentence)
    One unit is enough for AND, OR, NAND and NOR.
    """
    if name not in names():
        raise ParameterError(f"name is {name!r}; the experiments are {', '.join(names())}.")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    found: Findings = module.find(data)
    return found
