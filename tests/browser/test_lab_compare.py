# ruff: noqa: E501
"""The lab's headline, two learners side by side, and files: what is shown belongs together."""

import numpy as np

from linsep import LinearSVC
from linsep.views.lab.toys import TOYS


def test_the_headline_names_the_radius_and_the_margin_of_the_bound(page):
    page.open("v=2&data=three-points&learner=online")
    said = page.one(".verdict").text.replace("\u00a0", " ")
    assert "at most 120 mistakes: (R/γ)², R = 3.202, γ = 0.2921" in said
    known = "A line separates the classes: at most 120 mistakes = (R/γ)², R = 3.202, γ = 0.2921."
    assert page.one("#headline").text.replace("\u00a0", " ") == known


def test_circles_and_ellipses_of_the_second_learner_are_drawn(page):
    page.open("v=2&data=gaussians&learner=lda+svm")
    count = "return document.querySelector('.pane.input .support.other').getAttribute('d').split('M').length - 1"
    X, y = TOYS["gaussians"].rows()
    assert page.script(count) == len(LinearSVC().fit(X, y).support_)
    page.open("v=2&data=gaussians&learner=svm+lda")
    assert len(page.all(".pane.input .ellipse.other:not([visibility=hidden])")) == 2
    page.open("v=2&data=gaussians&learner=svm")
    assert page.all(".pane.input .ellipse:not([visibility=hidden])") == []
    assert page.one(".pane.input .support.other").get_attribute("d") == ""


def test_the_second_learner_has_the_region_of_weights_at_its_own_intercept(page):
    page.open("v=2&data=two-groups&learner=online+svm")
    corners = """const s = document.querySelectorAll('.pane.weight polygon.solution')[1].getAttribute('points');
        return s.split(' ').map((one) => one.split(',').map(Number))"""
    dot = "const b = document.querySelector('.pane.weight .now.other').getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]"
    from matplotlib.path import Path

    inside = Path(page.script(corners)).contains_point(page.script(dot))
    wrong = page.script("return lab.runs()[1].count(lab.runs()[1].T - 1)")
    assert inside == (wrong == 0)


def test_notes_about_weight_space_are_told_beside_weight_space_only(page):
    page.open("v=2&data=separable&learner=online")
    assert page.one(".of-weights").is_displayed()
    page.choose("#view", "sphere")
    assert not page.one(".of-weights").is_displayed()


def test_a_large_file_stays_a_sample_with_its_own_column_names(page, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 2))
    lines = [f"{a:.4f},{b:.4f},{'no' if a < 0 else 'yes'}" for a, b in X]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,income,bought", *lines]))
    chooser = page.one("input[type=file]")
    page.script("arguments[0].hidden = false", chooser)
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    page.one("#use-table").click()
    page.until(lambda: page.script("return lab.state().data") == "points")
    page.settle()
    for act in (
        lambda: None,
        lambda: page.choose("#other", "lda"),
        lambda: page.one("#present").click(),
    ):
        act()
        page.settle()
        assert "2,000 of 10,000 rows" in page.one("#sample").text
        assert page.script("return lab.story().axes") == ["age", "income"]
    page.press("\ue00c")
    page.one("[data-name=xor]").click()
    page.settle()
    assert page.one("#sample").text == ""
    assert page.script("return lab.story().axes") == ["x₁", "x₂"]
    assert page.clean() == []
