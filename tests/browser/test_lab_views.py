# ruff: noqa: E501
"""Views of the lab: what they show is so, everything can be taken away, and nobody is left out."""

import json
import shutil
import subprocess

import numpy as np
import pytest

import linsep
from linsep.data.toys import three_classes

VIEWS = {
    "weights": "data=two-groups&learner=online+svm", "sphere": "data=separable&learner=online",
    "loss": "data=two-groups&learner=delta", "projection": "data=gaussians&learner=fisher",
    "kesler": "data=three-classes&learner=online", "lift": "data=xor&learner=online&lift=product",
}  # fmt: skip
DIALOGS = ("lessons", "share", "export", "help")


def test_steps_by_example_also_show_the_rows_that_are_left_alone(page):
    from selenium.webdriver.common.keys import Keys

    page.open("v=2&data=separable&learner=online")
    page.choose("[aria-label='step by']", "example")
    page.script("document.activeElement.blur()")
    page.press(Keys.HOME)
    told = page.script(
        "return [[...lab.story().points], [...lab.story().codes], [...lab.story().order], [...lab.story().frames.visit]]"
    )
    points, codes = np.array(told[0]).reshape(-1, 2), np.array(told[1])
    order, visits = told[2], told[3]
    w, b = np.zeros(2), 0.0
    for visit in range(1, 61):  # a perceptron by hand, beside the one on the page
        page.press(Keys.ARROW_RIGHT)
        k = order[visit - 1]
        sign = 1 if codes[k] == 1 else -1
        wrong = sign * (points[k] @ w + b) <= 0
        assert (visit in visits) == wrong
        said = page.one(".narration").text
        assert said.startswith("Correction" if wrong else f"Example {visit}, pass 1: row {k} ")
        if wrong:
            w, b = w + sign * points[k], b + sign
    page.press(Keys.ARROW_LEFT)
    assert page.one(".narration").text.startswith("Example 59") or 59 in visits
    assert page.clean() == []


def test_on_the_sphere_the_patch_holds_exactly_the_separators(page):
    page.open("v=2&data=separable&learner=online")
    page.choose("#view", "sphere")
    assert page.one(".pane.weight h2").text.startswith("Sphere")
    told = page.script("return [lab.patch(), [...lab.story().points], [...lab.story().codes]]")
    corners, points = np.array(told[0]), np.array(told[1]).reshape(-1, 2)
    rows = np.column_stack([points, np.ones(len(points))]) * np.where(told[2], 1, -1)[:, None]
    assert len(corners) >= 3
    tight = np.abs(corners @ rows.T) < 1e-6
    assert (corners @ rows.T > -1e-6).all() and (tight.sum(axis=1) >= 2).all()
    assert (corners.mean(axis=0) @ rows.T > 0).all()
    before = page.one(".view path.solution").get_attribute("d")
    page.script("document.querySelector('.view:not([hidden]) svg').focus()")
    page.press("\ue014")  # the arrow turns it
    assert page.one(".view path.solution").get_attribute("d") != before


def test_weights_that_go_round_are_named_and_their_loop_is_drawn(page):
    page.open("v=2&data=xor&learner=online")
    assert "come back every pass" in page.one(".cycle").text
    cycle = page.script("return lab.story().cycle")
    drawn = page.one("polyline.loop").get_attribute("points").split()
    assert len(drawn) == cycle["last"] - cycle["first"] + 1
    assert drawn[0] == drawn[-1]


def test_back_on_the_ground_the_lifted_plane_is_a_curve(page):
    page.open("v=2&data=xor&learner=online&lift=product")
    assert page.one(".view .raised").is_displayed()
    page.script("height.value = 0; height.dispatchEvent(new Event('input'))")
    assert page.all(".view .raised") == []
    drawn = page.one(".view:not([hidden]) path.curve").get_attribute("d")
    ends = np.array([float(part) for part in drawn.replace("M", " ").replace("L", " ").split()])
    x, y = (ends.reshape(-1, 2) / 200 * 1.3 - 0.15).T  # the ground is a little wider than the rows
    a, b, c, d = page.script("return [...lab.runs()[0].plane(lab.at())]")
    assert len(x) > 20
    assert np.abs(a * x + b * y + c * x * y + d).max() < 0.02 * np.abs([a, b, c, d]).max()


def test_without_a_model_nothing_is_said_of_weights(page):
    page.open("v=2&data=xor&learner=online")
    assert page.one("text.empty").text
    page.place([[0, 0, 0], [1, 1, 0]])
    assert page.one(".verdict h2").text == "? Not known"
    assert not page.one("text.empty").text
    assert not page.one(".pane.weight .solution").is_displayed()


def test_the_direction_of_a_projection_is_turned_by_hand_and_by_keys(page):
    page.open("v=2&data=gaussians&learner=fisher")
    page.choose("#view", "projection")
    note = page.one(".view:not([hidden]) .note")
    first = [float(part) for part in note.text.replace(";", "").split() if part[0].isdigit()]
    assert first[0] == pytest.approx(first[1], rel=1e-3)  # Fisher's weights have the largest J
    handle = page.one("circle.handle")
    page.chain().drag_and_drop_by_offset(handle, -60, 140).perform()
    turned = [float(part) for part in note.text.replace(";", "").split() if part[0].isdigit()]
    assert turned[0] < first[0] and turned[1] == first[1]
    assert len(page.points) == 60  # the handle is no place for a new point
    page.one("#own-direction").click()
    assert "along the weights" in note.text
    page.one("#direction").send_keys("\ue014")
    assert "turned by hand" in note.text
    page.choose("#view", "weights")
    assert not page.one("circle.handle").is_displayed()


def test_kesler_shows_the_vector_that_was_added(page):
    page.open("v=2&data=three-classes&learner=online&t=1")
    page.choose("#view", "kesler")
    cells = [one.text for one in page.all(".kesler tbody tr:last-child td")]
    assert cells[1:] == ["0: wrong", "0: wrong"]  # all weights are zero before the first
    k = page.script("return lab.story().frames.at[1]")
    own = page.script("return lab.story().codes[arguments[0]]", k)
    block = page.all(".kesler tbody tr")[own].find_elements("css selector", "td")
    assert len({one.text for one in block[1:]}) == 1  # x̃ against every rival


def test_every_download_holds_what_it_says(start_browser, address, tmp_path):
    from driving import Lab
    from PIL import Image
    from selenium.webdriver.support.ui import WebDriverWait

    window = start_browser()
    window.execute_cdp_cmd("Browser.setDownloadBehavior",
                           {"behavior": "allow", "downloadPath": str(tmp_path)})  # fmt: skip
    lab = Lab(window, address).open("v=2&data=two-groups&learner=svm")
    lab.one("#export").click()
    wanted = {"save-csv": "points.csv", "save-model": "model.linsep", "svg-input": "Input space.svg",
              "png-input": "Input space.png", "svg-weight": "Weight space.svg",
              "png-weight": "Weight space.png"}  # fmt: skip
    for button, name in wanted.items():
        lab.one(f"#{button}").click()
        WebDriverWait(window, 20).until(lambda _, name=name: (tmp_path / name).exists())
    model = linsep.load(tmp_path / "model.linsep")
    X, y = linsep.read(tmp_path / "points.csv", "label").load()
    assert X.shape == (8, 2) and model.score(X, y.astype(int)) == 1.0
    assert model.coef_[0].tolist() == lab.script("return lab.story().model.w[0]")
    assert "<svg" in (tmp_path / "Input space.svg").read_text()
    with Image.open(tmp_path / "Weight space.png") as picture:
        assert picture.width > 400 and len(picture.convert("RGB").getcolors(1 << 20)) > 10
    lab.script("document.querySelector('dialog').close()")
    lab.one("#share").click()
    lab.one("#save-film").click()
    WebDriverWait(window, 20).until(lambda _: (tmp_path / "film.html").exists())
    assert "Content-Security-Policy" in (tmp_path / "film.html").read_text()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The script of axe-core, from npm; too large to keep here."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed: axe-core cannot be had")
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(["npm", "pack", "axe-core@4"], cwd=folder, check=True, capture_output=True,
                       timeout=60)  # fmt: skip
    except (subprocess.SubprocessError, OSError):
        pytest.skip("axe-core cannot be had from npm here")
    import tarfile

    with tarfile.open(next(folder.glob("axe-core-*.tgz"))) as held:
        return held.extractfile("package/axe.min.js").read().decode()


def violations(page, axe):
    """What axe objects to, and contrasts that it cannot decide outside of pictures."""
    page.script(axe)
    run = """const done = arguments[0], seen = (node) => !document.querySelector(node.target[0]).closest('svg');
        axe.run(document).then(({violations, incomplete}) => done([
          ...violations.map(v => [v.id, v.nodes.length, v.nodes[0].html]),
          ...incomplete.filter(v => v.id === 'color-contrast').flatMap(v => v.nodes).filter(seen).map(n => ['undecided', n.html, n.any[0].data.messageKey])]))"""
    return page.browser.execute_async_script(run)


# Axe cannot look through pictures within pictures: their words are measured here, with the halo that is behind them.
FAINT = """
const light = (text) => { const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
  .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const opaque = (one) => { for (let at = one; at; at = at.parentElement) if (getComputedStyle(at).opacity !== '1') return false; return true; };
const words = [...document.querySelectorAll('svg text')].filter((one) => one.textContent && one.getClientRects().length
  && getComputedStyle(one).visibility !== 'hidden' && getComputedStyle(one.closest('svg.picture') || one).opacity !== '0');
return [words.length, words.filter((one) => {
  const { fill, backgroundColor } = getComputedStyle(one), [a, b] = [light(fill), light(backgroundColor)].sort((p, q) => q - p);
  return !opaque(one) || (a + 0.05) / (b + 0.05) < 4.5;
}).map((one) => one.outerHTML)];
"""


def faint(page):
    """How many words stand in pictures, and those whose contrast is below 4.5 : 1."""
    return page.script(FAINT)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_to_object_to(page, axe, theme, tmp_path):
    page.browser.set_script_timeout(60)
    tall = {"width": 1300, "height": 2400, "deviceScaleFactor": 1, "mobile": False}
    page.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", tall
    )  # nothing is scrolled away
    try:
        look_at_all(page, axe, theme, tmp_path)
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert json.dumps(page.clean()) == "[]"


def look_at_all(page, axe, theme, tmp_path):
    for name, end in VIEWS.items():
        page.open(f"v=2&{end}")
        page.choose("#view", name)
        page.script("document.documentElement.dataset.theme = arguments[0]", theme)
        assert violations(page, axe) == [], name
        words, pale = faint(page)
        assert words > 10 and pale == [], name
    page.one("#more").click()
    assert violations(page, axe) == []
    for name in DIALOGS:
        page.one(f"#{name}").click()
        assert violations(page, axe) == [], name
        page.script("document.querySelector('dialog').close()")
    X, y = three_classes(60)
    learner = linsep.LogisticRegression().fit(X, y)
    linsep.report(learner, X, y, tmp_path / "report.html")
    film = linsep.film(linsep.Perceptron(trace=True).fit(X, y).trace_, tmp_path / "film.html")
    for path in (tmp_path / "report.html", film.path):
        page.browser.get(path.as_uri())
        page.script("document.documentElement.dataset.theme = arguments[0]", theme)
        assert violations(page, axe) == [], path.name


def test_lines_of_rows_that_are_gone_are_not_drawn(page):
    page.open("v=2&data=gaussians&learner=online")
    seen = """const lines = [...document.querySelectorAll('.pane.weight .constraint:not(.lit)')];
        return [lines.reduce((sum, one) => sum + (one.getAttribute('d').match(/L/g) || []).length, 0),
        lab.story().weights.lines.length]"""
    many = page.script(seen)[1]
    page.one("[data-name=xor]").click()
    page.settle()
    page.until(lambda: page.script("return lab.story().rows") == 4)
    drawn, lines = page.script(seen)
    assert lines == 4 < many
    assert drawn <= lines
