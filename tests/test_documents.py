"""What the documents show is what happens."""

import doctest
import json
import re
import subprocess
import sys
import types
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

ROOT = Path(__file__).parents[1]
MADE = {"_build", "gallery"}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "docs").rglob("*.md")
    if not MADE & set(path.relative_to(ROOT / "docs").parts)
)
RUNNABLE = [page for page in PAGES if ">>>" in (ROOT / page).read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", RUNNABLE)
def test_the_code_of_the_page_runs_as_it_is_printed(page):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failures, tried = doctest.testfile(
        str(ROOT / page), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert tried >= 2
    assert failures == 0


def test_no_page_shows_python_that_does_not_run():
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        assert all(block.startswith(">>> ") for block in blocks), page


@pytest.mark.parametrize("page", [*RUNNABLE, "README.md"])
def test_code_fits_its_column(page):
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL):
        long = [line for line in block.splitlines() if line[:4] in (">>> ", "... ")]
        assert max(map(len, long)) <= 88


def anchors(page):
    """The names of the headings of a page, as links know them."""
    headings = re.findall(r"^#+ (.+)$", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


ITEMS = re.findall(
    r"^\| \d \| \[(.+?)\]\(([^)#]+)#([^)]+)\) \| (.+) \|$",
    (ROOT / "tests/lectures.md").read_text("utf-8"),
    re.MULTILINE,
)


def test_every_item_of_the_lectures_has_a_place_and_tests_that_exist():
    assert len(ITEMS) == 194
    for what, page, anchor, named in ITEMS:
        assert anchor in anchors(f"docs/lectures/{page}"), what
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", named)
        assert tests, what
        for file, name in tests:
            assert f"def {name}(" in (ROOT / file).read_text("utf-8"), (file, name)


def test_the_index_of_the_lectures_names_every_item_under_its_heading():
    text = (ROOT / "docs/lectures/index.md").read_text("utf-8")
    lines = {
        place: line for line in text.splitlines() for place in re.findall(r"\((\S+#\S+)\)", line)
    }
    for what, page, anchor, _ in ITEMS:
        assert what in lines[f"{page}#{anchor}"], what
    for page in PAGES:
        if re.match(r"docs/lectures/\d", page):
            for anchor in re.findall(r"^## (.+)$", (ROOT / page).read_text("utf-8"), re.MULTILINE):
                anchor = re.sub(r"[^\w\- ]", "", anchor.lower()).replace(" ", "-")
                assert f"{Path(page).name}#{anchor}" in lines, anchor


WORKS = {  # what each lecture names, and of the two that name none what their pages are based on
    "1-classifiers": [("McCulloch and W. Pitts", 1943), ("Rosenblatt", 1957),
                      ("Dalal and B. Triggs", 2005), ("Dollár", 2009)],
    "2-threshold-units": [("McCulloch and W. Pitts", 1943), ("Novikoff", 1962), ("Block", 1962),
                          ("Freund and R. E. Schapire", 1998)],
    "3-regression": [("Rosenblatt", 1958), ("Minsky and S. Papert", 1969),
                     ("Cristianini and J. Shawe-Taylor", 2000)],
    "4-delta-rule": [("Rosenblatt", 1958), ("Widrow and M. E. Hoff", 1960), ("Cox", 1958)],
    "5-single-layer": [("Duda, P. E. Hart and D. G. Stork", 2001), ("Fisher", 1936),
                       ("Nilsson", 1965)],
}  # fmt: skip


@pytest.mark.parametrize("page", WORKS)
def test_a_lecture_page_lists_the_works_its_lecture_names(page):
    text = (ROOT / f"docs/lectures/{page}.md").read_text("utf-8")
    listed = re.split(r"^## References.*$", text, flags=re.MULTILINE)[1]
    lines = [line for line in listed.splitlines() if line.startswith("- ")]
    for author, year in WORKS[page]:
        assert any(author in line and str(year) in line for line in lines), (author, year)
    if page == "3-regression":
        history = text.split("## History")[1].split("\n## ")[0]
        assert "1956" in history and "1969" in history


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+\.md)[)#]", (ROOT / page).read_text("utf-8")):
            assert ((ROOT / page).parent / target).exists(), (page, target)


def test_every_experiment_has_a_page_of_the_gallery_and_its_picture_a_place_in_a_lecture():
    from linsep.views.experiments import names

    text = "".join((ROOT / page).read_text("utf-8") for page in PAGES)
    for name in names():
        script = (ROOT / "examples" / f"plot_{name.replace('-', '_')}.py").read_text("utf-8")
        assert f'find("{name}")' in script
        assert f"pictures/experiments/{name}.png" in text
        assert (ROOT / "docs/pictures/experiments" / f"{name}.png").stat().st_size < 120_000


def test_every_example_has_a_title_for_the_gallery():
    for script in (ROOT / "examples").glob("*.py"):
        _, title, line, *_ = script.read_text("utf-8").split("\n")
        assert title and set(line) == {"="}, script


def test_every_picture_of_a_page_is_in_the_repository():
    for page in PAGES:
        for picture in re.findall(r"!\[[^]]*\]\(([^):]+)\)", (ROOT / page).read_text("utf-8")):
            assert ((ROOT / page).parent / picture).exists(), (page, picture)


def test_every_public_name_is_in_the_python_reference():
    import linsep

    text = (ROOT / "docs/api.md").read_text("utf-8")
    for name in linsep.__all__:
        assert f"linsep.{name}" in text, name
    for name in linsep.plot.__all__:
        assert f"linsep.plot.{name}" in text, name


def test_the_readme_runs_as_it_is_printed():
    failures, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert tried >= 4
    assert failures == 0


def test_what_the_model_file_page_shows_happens_and_its_lists_are_whole():
    from linsep.model.files.document import FIELDS, LEARNERS

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


def test_every_erratum_is_marked_on_its_page():
    folder = ROOT / "docs" / "lectures"
    named = [(page, anchor) for what, page, anchor, _ in ITEMS if what.endswith("(erratum)")]
    assert len(named) > 15
    for page, place in set(named):
        sections = re.split(r"(?m)^## ", (folder / page).read_text("utf-8"))
        slugs = [
            re.sub(r"[^\w -]", "", one.split("\n")[0].lower()).replace(" ", "-") for one in sections
        ]
        boxes = sections[slugs.index(place)].count("> *Erratum.*")
        assert boxes >= named.count((page, place)), place


def test_the_numbers_about_the_grid_are_those_of_its_cells():
    cells = json.loads((ROOT / "docs/pictures/grid.json").read_text("utf-8"))["cells"]
    rated = [one for one in cells if one.get("ratio")]
    page = (ROOT / "docs/promises/speed.md").read_text("utf-8")
    assert f"**{len(cells)} cells**" in page
    assert f"In {len(rated)} cells" in page
    assert f"all {len(rated)} cells" in (ROOT / "docs/index.md").read_text("utf-8")
    commits = Counter(one["commit"] for one in cells)
    known = subprocess.run(["git", "cat-file", "--batch-check"], cwd=ROOT, capture_output=True,
                           text=True, input="\n".join(filter(None, commits)))  # fmt: skip
    if known.returncode == 0:  # not a copy without its history
        assert "missing" not in known.stdout
    for commit, count in commits.items():
        assert (f"{commit} {count}" if commit else f"{count} of a version before") in page


def test_no_line_of_the_solution_region_runs_through_a_point_of_its_picture():
    from docs.pictures.make import four_points

    X, _ = four_points()
    normal = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert (np.abs(normal @ normal.T) > 0.15).all()
