# ruff: noqa: E501
"""What the lab promises beside placing, comparing and sharing: numbers of a step, proofs, and real runs."""

import contextlib
import subprocess
import sys

import numpy as np
import pytest
from driving import Lab

import linsep
from linsep.data.toys import overlapping, three_points
from linsep.views.lab.toys import TOYS

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


@contextlib.contextmanager
def lab_of(browser, *given):
    """A lab that was started with something, opened in the browser."""
    process = subprocess.Popen([*LINSEP, "lab", "--no-browser", "--port", "0", *map(str, given)],
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    said = process.stderr.readline()
    assert "The lab is at" in said, said
    yield Lab(browser, said.split()[4]).open()
    process.terminate()
    process.communicate(timeout=60)


def test_each_step_tells_its_numbers_and_the_bound_holds_them_in(page):
    page.open("v=2&data=three-points&learner=online&t=6")
    assert "(−1, −1) + (1) · (0.5, 3) = (−0.5, 2)" in page.one(".state pre").text
    told = page.script(
        "const {frames, facts} = lab.story(); return [[...frames.n], [...frames.along], [...frames.length], facts.squeeze]"
    )
    n, along, length, proof = map(np.asarray, told)
    proof = proof.item()
    assert (proof["margin"] * n <= along + 1e-5).all() and (along <= length + 1e-5).all()
    assert (length <= proof["radius"] * np.sqrt(n) + 1e-5).all()
    assert len(page.all(".chart .curve.bound")) == 2


def test_the_curves_are_linked_with_the_scrubber(page):
    page.open("v=2&data=gaussians&learner=delta")
    cursor = "return document.querySelector('.chart .cursor').getAttribute('d')"
    shown = "return document.querySelectorAll('.chart b')[1].textContent"
    last = page.script(cursor), page.script(shown)
    page.script(
        "const s = document.querySelector('.buttons input[type=range]'); s.value = 3; s.dispatchEvent(new Event('input'))"
    )
    assert page.frame == 3
    assert (page.script(cursor), page.script(shown)) != last
    loss = page.script("return lab.story().frames.loss[3]")
    assert float(page.script(shown)) == pytest.approx(loss, rel=1e-3)
    chart = page.all(".chart svg")[1]  # a click on a curve goes there
    page.chain().move_to_element_with_offset(
        chart, -chart.rect["width"] // 2 + 1, 0
    ).click().perform()
    assert page.frame == 0


def test_the_margin_and_its_support_vectors_are_drawn(page):
    page.open("v=2&data=gaussians&learner=svm")
    X, y = TOYS["gaussians"].rows()
    known = linsep.LinearSVC().fit(X, y)
    circles = "return document.querySelector('.pane.input .support').getAttribute('d').split('M').length - 1"
    assert page.script(circles) == len(known.support_)
    assert len(page.all(".pane.input path.edge:not([visibility=hidden])")) == 2
    assert page.one(".pane.input .band").get_attribute("d")


def test_the_loss_surface_has_the_path_of_the_steps_on_it(page):
    page.open("v=2&data=two-groups&learner=delta")
    page.choose("#view", "loss")
    points = page.one(".view:not([hidden]) polyline.path").get_attribute("points").split()
    assert len(points) == page.script("return lab.runs()[0].T") > 4
    assert page.one(".view:not([hidden]) .contours").get_attribute("d").count("M") > 50


@pytest.mark.parametrize(("toy", "separable"), [("separable", True), ("touching", False)])
def test_without_a_penalty_weights_that_run_away_are_told_also_where_rows_touch(
    page, toy, separable
):
    page.open(f"v=2&data={toy}&learner=logistic&penalised=false")
    assert page.script("return lab.story().facts.separable") is separable
    assert "no best weights" in page.one(".cycle").text
    assert len(page.all(".growth tr")) == 6
    page.open(f"v=2&data={toy}&learner=logistic")
    assert page.all(".cycle") == []


def test_bounds_are_walls_on_which_weights_come_to_rest(page):
    page.open("v=2&data=gaussians&learner=logistic&bounds=-1..1")
    known = linsep.LogisticRegression(bounds=(-1.0, 1.0)).fit(*TOYS["gaussians"].rows())
    assert np.abs(known.coef_).max() == 1.0
    assert page.script("return lab.story().model.w") == known.coef_.tolist()
    assert "bound on a weight" in page.one(".legend").text
    box = "const b = document.querySelector(arguments[0]).getBBox(); return [b.x, b.x + b.width]"
    middle = sum(page.script(box, ".pane.weight .now")) / 2
    wall = page.one(".pane.weight .wall").get_attribute("d")
    upright = {
        float(part.split()[0])
        for part in wall.split("M")
        if "L" in part and part.split()[0] == part.split("L")[1].split()[0]
    }
    assert min(abs(middle - one) for one in upright) < 1
    page.choose("#parameter-bounds", "free")
    page.script("document.getElementById('parameter-bounds').dispatchEvent(new Event('input'))")
    page.settle()
    assert not page.one(".pane.weight .wall").get_attribute("d")


def test_images_of_many_pixels_are_projected_and_halos_tell_the_truth(page):
    page.open("v=2&data=digits&learner=svm")
    assert page.script("return lab.story().features") == 64
    assert "64 features, seen along two axes" in page.one(".notes").text
    assert len(page.all(".images canvas")) == 2


def test_a_recorded_run_of_the_command_line_is_played(start_browser, tmp_path):
    X, y = three_points()
    rows = "\n".join(f"{a},{b},{c}" for (a, b), c in zip(X, y, strict=True))
    (tmp_path / "rows.csv").write_text(f"a,b,kind\n{rows}\n")
    trace = tmp_path / "run.jsonl"
    subprocess.run([*LINSEP, "fit", str(tmp_path / "rows.csv"), "--target", "kind", "--learner", "Perceptron", "--trace", str(trace),
                    "--out", str(tmp_path / "m.linsep")], check=True, capture_output=True)  # fmt: skip
    known = linsep.train.run.trace.Trace.load(trace)
    with lab_of(start_browser(), trace) as page:
        assert page.script("return lab.runs()[0].T") == known.count + 1
        assert "at most 120 mistakes" in page.one("#headline").text
        assert not page.one("[data-family=SVM]").is_enabled()  # a recording is not fitted anew


def test_a_saved_model_is_shown_on_the_rows_of_a_file(start_browser, tmp_path):
    X, y = overlapping(n=40, distance=2.0, seed=1)
    rows = "\n".join(
        f"{a!r},{b!r},{'yes' if c > 0 else 'no'}" for (a, b), c in zip(X.tolist(), y, strict=True)
    )
    path, model = tmp_path / "people.csv", tmp_path / "m.linsep"
    path.write_text(f"a,b,kind\n{rows}\n")
    subprocess.run([*LINSEP, "fit", str(path), "--target", "kind", "--learner", "LinearSVC", "--out", str(model)],
                   check=True, capture_output=True)  # fmt: skip
    known = linsep.load(model)
    with lab_of(start_browser(), path, "--model", model) as page:
        drawn = page.script("const r = lab.runs()[0]; return [...r.plane(0)]")
        assert drawn == [*known.coef_[0], *np.atleast_1d(known.intercept_)]
        wrong = (known.predict(X) != np.where(y > 0, "yes", "no")).sum()
        assert f"{wrong} of 40" in page.one(".model dd").text
        assert page.clean() == []
