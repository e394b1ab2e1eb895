"""What the documents show is what happens."""

import doctest
import re
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

ROOT = Path(__file__).parents[1]


def test_the_readme_runs_as_it_is_printed():
    failures, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried >= 4
    assert failures == 0


def test_what_the_model_file_page_shows_happens_and_its_lists_are_whole():
    from linsep.model.document import FIELDS, LEARNERS

    page = ROOT / "docs" / "model-file.md"
    failures, tried = doctest.testfile(str(page), module_relative=False)
    assert tried >= 8
    assert failures == 0
    text = page.read_text()
    assert {name for name in FIELDS if f"| `{name}` |" in text} == FIELDS
    assert all(f"`{name}`" in text for name in LEARNERS)


def test_the_readme_has_its_two_commands_and_its_picture():
    text = (ROOT / "README.md").read_text()
    targets = re.findall(r"^([a-z]+(?: [a-z]+)*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    verbs = {verb for line in targets for verb in line.split()}
    assert {"demo", "test"} <= verbs
    assert "make demo" in text
    assert "make test" in text
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        assert (ROOT / picture).exists()


def test_every_public_name_is_in_the_readme_or_has_a_docstring():
    import linsep

    for name in linsep.__all__:
        assert getattr(linsep, name).__doc__, name


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.EstimatorCheckFailedWarning")
def test_the_learner_shown_in_contributing_learns_and_keeps_the_contract(monkeypatch):
    text = (ROOT / "CONTRIBUTING.md").read_text()
    code = next(c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "class " in c)
    module = types.ModuleType("shown_learner")
    monkeypatch.setitem(sys.modules, "shown_learner", module)
    exec(code, module.__dict__)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) + np.repeat([[5, 0], [0, 5], [-5, -5]], 30, axis=0)
    y = np.repeat(["a", "b", "c"], 30)
    with warnings.catch_warnings():
        learner = module.NormalizedPerceptron().fit(X, y)
    assert learner.score(X, y) == 1.0
    assert learner.status_.name == "separated"
    order = "it shuffles the repeated rows, and the rule depends on their order"
    names = ("dense", "sparse")
    expected = {f"check_sample_weight_equivalence_on_{name}_data": order for name in names}
    check_estimator(module.NormalizedPerceptron(), expected_failed_checks=expected)
