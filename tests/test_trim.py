"""Imports are trimmed in the command's own process, and nowhere else."""

import subprocess
import sys

import pytest

PACKAGE = {
    "__init__.py": "",
    "plain.py": "import trimmed.side\nimport trimmed.absent_too\nanswer = 1\n",
    "side.py": "value = 'side'\n",
    "absent_too.py": "try:\n    import ballast\nexcept ImportError:\n    ballast = None\n",
    "looks.py": "import trimmed.side\nanswer = trimmed.side.value\n",
    "takes.py": "from trimmed.side import value\nanswer = value\n",
    "needs.py": "import trimmed.absent_too\nimport ballast\nanswer = ballast.heavy\n",
    "deep.py": "import trimmed.bulk.part\nanswer = trimmed.bulk.part.deep\n",
    "bulk/__init__.py": "",
    "bulk/part.py": "deep = 'deep'\n",
}


@pytest.fixture
def package(tmp_path):
    for name, text in PACKAGE.items():
        path = tmp_path / "trimmed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "ballast.py").write_text("heavy = 'heavy'\n")
    return tmp_path


def run(program, folder="."):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


IMPORT = """
import sys
from linsep._trim import import_without
unused = ("trimmed.side", "trimmed.bulk")
import_without("trimmed.{name}", unused=unused, absent=("ballast",))
import trimmed
print(*(name in sys.modules for name in ("trimmed.side", "trimmed.bulk", "ballast")))
print(*(name in vars(trimmed) for name in ("side", "bulk")))
module = sys.modules["trimmed.{name}"]
print(module.answer, getattr(sys.modules.get("trimmed.absent_too"), "ballast", "-"))
import trimmed.side, ballast
print(trimmed.side.value, ballast.heavy)
"""
NO, YES = "False", "True"
CASES = {
    "plain": [NO, NO, NO, NO, NO, "1", "None"],
    "looks": [YES, NO, NO, YES, NO, "side", "-"],  # looked into: it is there
    "takes": [YES, NO, NO, YES, NO, "side", "-"],
    "deep": [NO, YES, NO, NO, YES, "deep", "-"],  # cannot be trimmed: imported as it is
}


@pytest.mark.parametrize("name", CASES)
def test_what_stands_in_is_gone_or_the_module_itself(package, name):
    found = run(IMPORT.format(name=name), package)
    assert found == [*CASES[name], "side", "heavy"]


NEEDING = """
import sys
from linsep._trim import import_without
import_without("trimmed.needs", unused=("trimmed.side",), absent=("ballast",))
print(sys.modules["trimmed.needs"].answer, sys.modules["trimmed.absent_too"].ballast.heavy)
"""


def test_a_library_that_needs_what_was_left_out_is_imported_whole(package):
    assert run(NEEDING, package) == ["heavy", "heavy"]


FAILING = """
import sys
from linsep._trim import import_without
try:
    import_without("trimmed.bad", unused=("trimmed.side",), absent=("ballast",))
except ModuleNotFoundError as problem:
    print(problem.name, "ballast" in sys.modules, "trimmed.side" in sys.modules)
"""


def test_an_import_that_fails_either_way_fails_as_it_would_anywhere(package):
    (package / "trimmed" / "bad.py").write_text("import not_there_at_all\n")
    assert run(FAILING, package) == ["not_there_at_all", NO, NO]


LEARNER = """
import sys
from linsep import _face
_face.own_process = {own}
import linsep
linsep.Perceptron
import sklearn.utils.fixes as fixes
print(fixes.pd is None, "pandas" in sys.modules, "scipy.stats" in sys.modules)
"""


def test_scikit_learn_is_trimmed_in_the_command_and_whole_in_programs_of_users():
    pytest.importorskip("pandas")
    assert run(LEARNER.format(own=True)) == [YES, NO, NO]
    assert run(LEARNER.format(own=False)) == [NO, YES, YES]


CHANGED = """
import sys
class Changed:
    '''A scikit-learn whose import needs a part of scipy.stats, and pandas.'''
    def find_spec(self, name, path=None, target=None):
        if name == "sklearn.base":
            import pandas
            import scipy.stats.distributions
sys.meta_path.insert(0, Changed())
from linsep import _face
_face.own_process = True
import linsep
import numpy as np
from sklearn.base import clone
model = clone(linsep.Perceptron()).fit(np.array([[0.0], [1.0]]), [0, 1])
print(model.score([[0.0], [1.0]], [0, 1]), "pandas" in sys.modules)
"""


def test_a_scikit_learn_that_has_changed_is_imported_whole():
    pytest.importorskip("pandas")
    assert run(CHANGED) == ["1.0", YES]
