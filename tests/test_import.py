"""The public face: which names there are, and what it costs to import them."""

import subprocess
import sys

import pytest

import linsep

NAMES = [
    "Channels",
    "FisherDiscriminant",
    "HOG",
    "KernelPerceptron",
    "KernelSVC",
    "Layer",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "NO_DECISION",
    "OrdinalRegression",
    "PairProducts",
    "PassiveAggressive",
    "Perceptron",
    "Radial",
    "Scaled",
    "Status",
    "ThresholdNetwork",
    "VotedPerceptron",
    "bias_variance",
    "data",
    "errors",
    "exercise",
    "export",
    "fewest_mistakes",
    "film",
    "formula",
    "gap",
    "kesler_rows",
    "likelihood",
    "load",
    "logic",
    "losses",
    "margin",
    "mistake_bound",
    "ordered_steps",
    "path",
    "plot",
    "proof_steps",
    "read",
    "report",
    "save",
    "separability",
    "sigmoid",
]


def test_the_public_names_are_these():
    assert linsep.__all__ == NAMES


@pytest.mark.parametrize("name", linsep.__all__)
def test_every_public_name_leads_somewhere(name):
    assert getattr(linsep, name) is not None
    assert name in dir(linsep)


def test_nothing_but_public_names_is_listed():
    assert [name for name in dir(linsep) if not name.startswith("__")] == NAMES


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Perceptorn'"):
        linsep.Perceptorn


def imported_by(statement):
    """Top-level packages in memory after `statement` in a fresh interpreter."""
    program = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import linsep",
        "import linsep; linsep.Status; linsep.errors; linsep.data",
        "import linsep.model.linear",
        "import linsep; linsep.load; linsep.save",
        "import linsep.train.run.trace",
    ],
)
def test_importing_the_package_brings_in_neither_compiler_nor_scikit_learn(statement):
    loaded = imported_by(statement)
    assert "linsep" in loaded
    assert not loaded & {"sklearn", "scipy", "pandas", "matplotlib"}


def test_a_learner_brings_in_scikit_learn_but_no_pictures_and_no_compiler_before_it_is_needed():
    loaded = imported_by("from linsep import Perceptron, PassiveAggressive, VotedPerceptron")
    assert "sklearn" in loaded
    assert not loaded & {"polars", "matplotlib", "rich", "click"}


def test_the_package_runs_as_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "linsep", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("linsep, version")


def test_plot_can_be_imported_by_its_name():
    code = "import linsep.plot; from linsep.plot import boundary; import linsep; assert linsep.plot.boundary is boundary"  # noqa: E501
    subprocess.run([sys.executable, "-c", code], check=True)
