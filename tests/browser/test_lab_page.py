# ruff: noqa: E501
"""The lab in a real browser: place, drag and see, step, compare, share, and solve every lesson."""

import json
import re
import warnings

import numpy as np
import pytest
from driving import Lab

import linsep
from linsep.views.lab.choices import LEARNERS, PARAMETERS, settings
from linsep.views.lab.toys import TOYS

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install linsep[lab]")


def test_by_mouse_points_are_placed_dragged_deleted_and_taken_back(page, address):
    page.one(".tools [title^='Clear']").click()
    page.until(lambda: page.points == [])
    page.click_at(0.3, 0.3)
    page.click_at(0.4, 0.6)
    page.one(".swatch[data-code='1']").click()
    page.click_at(0.8, 0.4)
    page.click_at(0.7, 0.7)
    page.settle()
    assert [point[2] for point in page.points] == [0, 0, 1, 1]
    assert "Separable" in page.one(".verdict h2").text
    before = page.points
    mark = page.all(".pane.input .mark")[0]
    page.chain().drag_and_drop_by_offset(mark, 60, 20).perform()
    page.settle()
    assert page.points[0] != before[0]
    assert page.points[1:] == before[1:]
    known = fitted("online", page.points)
    drawn = page.script("const r = lab.runs()[0]; return [...r.plane(r.T - 1)]")
    assert drawn == [*known.coef_[0], *known.intercept_]
    page.chain().context_click(page.all(".pane.input .mark")[3]).perform()
    page.until(lambda: len(page.points) == 3)
    page.one(".tools [title='Undo (Z)']").click()
    page.one(".tools [title='Undo (Z)']").click()
    page.until(lambda: page.points == before)
    page.one(".tools [title='Redo (Y)']").click()
    page.until(lambda: page.points[0] != before[0])
    page.settle()
    used = page.script("return performance.getEntriesByType('resource').map(one => one.name)")
    home = address.split("#")[0]
    assert {one.removeprefix(home) for one in used} <= {"fit", "run", "enter"}
    assert page.clean() == []


def fitted(name, points, **given):
    usual = {key: one.usual for key, one in PARAMETERS.items()}
    X = np.array([point[:2] for point in points])
    y = np.array([2 * point[2] - 1 for point in points])
    return getattr(linsep, LEARNERS[name].kind)(**settings(name, usual | given)).fit(X, y)


def test_a_brush_paints_many_points_and_snap_puts_them_on_the_grid(page):
    board, before = page.one(".pane.input svg.picture"), len(page.points)
    page.one("#more").click()
    page.one("[title^=Brush]").click()
    page.one("[data-code='2']").click()
    stroke = page.chain().move_to_element_with_offset(board, *page.at(0.4, 0.7)).click_and_hold()
    for _ in range(5):
        stroke = stroke.move_by_offset(20, 0)
    stroke.release().perform()
    page.settle()
    assert [one[2] for one in page.points[before:]] == [2] * 6
    page.press("z")  # a stroke is taken back as a whole
    page.settle()
    assert len(page.points) == before
    page.one("[title^=Brush]").click()
    page.one("[title^=Snap]").click()
    page.click_at(0.23, 0.12)  # where no point is
    page.settle()
    assert len(page.points) == before + 1
    assert all((2 * part).is_integer() for part in map(float, page.points[-1][:2]))
    assert page.clean() == []


def stops(page):
    """What Tab goes through, as the browser counts it."""
    return page.script("""return [...document.querySelectorAll('button, select, input, [tabindex], summary')]
        .filter((one) => one.tabIndex >= 0 && !one.disabled && one.getClientRects().length)
        .map((one) => one.getAttribute('class') || one.id || one.tagName)""")


def test_by_keyboard_only(page):
    from selenium.webdriver.common.keys import Keys

    assert stops(page).count("mark") == 1
    assert len(stops(page)) < 50
    page.script("document.querySelector('.mark[tabindex=\"0\"]').focus()")
    count, row = len(page.points), "return Number(document.activeElement.dataset.row)"
    here = page.script(row)
    page.press(Keys.ARROW_RIGHT)
    there = page.script(row)
    assert there != here and page.points[there][0] > page.points[here][0]
    assert stops(page).count("mark") == 1
    met = {there}
    for _ in range(count - 1):
        page.press(Keys.PAGE_DOWN)
        met.add(page.script(row))
    assert met == set(range(count))
    before = page.points[page.script(row)]
    page.press(Keys.ENTER, Keys.ARROW_LEFT)
    page.until(lambda: page.points[page.script(row)] != before)
    assert page.script("return document.activeElement.getAttribute('aria-pressed')") == "true"
    page.press(Keys.ENTER)
    page.press("c")
    page.until(lambda: page.points[page.script(row)][2] == 2)
    page.press("n", Keys.ARROW_UP, Keys.ENTER)
    page.until(lambda: len(page.points) == count + 1)
    page.until(lambda: page.script(row) == count)
    page.press(Keys.DELETE)
    page.until(lambda: len(page.points) == count)
    page.settle()
    page.script("document.activeElement.blur()")
    page.press("z")
    page.until(lambda: len(page.points) == count + 1)
    page.press("4")  # the fourth family
    page.until(lambda: page.script("return lab.state().learners[0]") == "svm")
    page.press("1")
    page.settle()
    page.press(Keys.HOME)
    assert page.frame == 0
    page.press(Keys.ARROW_RIGHT)
    assert page.frame == 1
    page.press(Keys.END)
    assert page.frame == page.script("return lab.runs()[0].T - 1")
    page.press("?")
    assert "Every change is fitted at once" in page.one("dialog").text
    page.press(Keys.ESCAPE)
    assert not page.one("dialog").is_displayed()
    page.one("[title^='Clear']").click()
    page.until(lambda: page.points == [])
    page.script("document.querySelector('.pane.input svg.picture').focus()")
    page.press(Keys.ENTER)
    page.until(lambda: len(page.points) == 1)
    page.until(lambda: page.script(row) == 0)
    assert page.clean() == []


def test_by_touch_points_are_placed_and_dragged(start_browser, address):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    browser = start_browser("--touch-events=enabled")
    page = Lab(browser, address).open("v=2&data=two-groups&learner=online")
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    before = page.points
    finger = PointerInput("touch", "finger")
    hand = ActionBuilder(browser, mouse=finger)
    where = page.all(".pane.input .mark")[2].rect
    x, y = (int(where[a] + where[b] / 2) for a, b in (("x", "width"), ("y", "height")))
    hand.pointer_action.move_to_location(x, y).pointer_down()
    hand.pointer_action.move_to_location(x + 30, y + 5).move_to_location(x + 50, y + 9).pointer_up()
    hand.perform()
    page.until(lambda: page.points[2] != before[2])
    assert ActionChains(browser)
    page.settle()
    assert page.clean() == []


@pytest.mark.parametrize(("end", "name", "given"), [
    ("v=2&data=two-groups&learner=averaged", "averaged", {}),
    ("v=2&data=two-groups&learner=online&fit_intercept=false", "online", {"fit_intercept": False}),
    ("v=2&data=gaussians&learner=svm", "svm", {}),
    ("v=2&data=gaussians&learner=lda", "lda", {}),
])  # fmt: skip
def test_what_is_drawn_is_what_the_library_says(page, end, name, given):
    page.open(end)
    toy = re.search("data=([a-z-]+)", end)[1]
    X, y = TOYS[toy].rows()
    usual = {key: one.usual for key, one in PARAMETERS.items()}
    with warnings.catch_warnings(action="ignore"):
        known = getattr(linsep, LEARNERS[name].kind)(**settings(name, usual | given)).fit(X, y)
    proved = linsep.separability(X, y, fit_intercept=given.get("fit_intercept", True))
    halos = (
        "return document.querySelector('.pane.input .halo').getAttribute('d').split('M').length - 1"
    )
    lead = np.sign(y) * known.decision_function(X)
    assert page.script(halos) == (lead <= 0).sum()
    assert proved.verdict in page.one(".verdict").text
    scale = page.script("""const s = document.querySelector('.boundary').getAttribute('d');
        return s.match(/-?[\\d.e]+/g).map(Number)""")  # fmt: skip
    inverse = """const at = arguments[0], marks = [0, 1].map(k => lab.runs()[0].story.points.slice(2 * k, 2 * k + 2));
        const box = document.querySelectorAll('.pane.input .mark');
        const place = (k) => { const r = box[k].getBBox(); return [r.x + r.width / 2, r.y + r.height / 2]; };
        return [place(at[0]), place(at[1])]"""
    i, j = int(X[:, 0].argmin()), int(X[:, 0].argmax())
    (x0, y0), (x1, _) = page.script(inverse, [i, j])
    across = (x1 - x0) / (X[j, 0] - X[i, 0])
    ends = np.array([[X[i, 0] + (px - x0) / across, X[i, 1] - (py - y0) / across]
                     for px, py in zip(scale[::2], scale[1::2], strict=True)])  # fmt: skip
    far = np.abs(known.decision_function(ends)) / np.linalg.norm(known.coef_)
    assert far.max() < 0.02 * np.ptp(X, axis=0).max()


def test_two_learners_share_one_clock_and_the_address_brings_all_of_it_back(page):
    page.open("v=2&data=two-groups&learner=online+passive-aggressive&t=3")
    assert page.frame == 3
    assert len(page.all(".model h3")) == 2
    said = page.one(".narration").text
    page.until(lambda: page.browser.current_url.endswith("&t=3"))
    shared = page.browser.current_url.split("#")[1]
    page.open(shared)
    assert (page.frame, page.one(".narration").text) == (3, said)
    assert page.clean() == []


def test_the_shared_file_plays_the_run_without_a_server(page, tmp_path):
    page.open("v=2&data=two-groups&learner=online+svm")
    said = page.one(".narration").text
    text = page.script("""const done = lab.request();
        const key = JSON.parse(document.getElementById('menu').textContent).key;
        return fetch('/film', {method: 'POST', body: JSON.stringify(done), headers:
            {'Content-Type': 'application/json', 'X-Lab-Key': key}}).then(one => one.text())""")  # fmt: skip
    (tmp_path / "film.html").write_text(text, "utf-8")
    page.browser.get((tmp_path / "film.html").as_uri())
    assert page.one(".narration").text == said
    page.one("[title^='Start']").click()
    assert page.frame == 0
    assert page.script("return performance.getEntriesByType('resource').length") == 0
    assert page.clean() == []


def test_a_file_is_dropped_its_columns_are_chosen_and_it_is_fitted(page, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat(["no", "yes"], 30)
    X[30:, 1] += 5
    lines = [",".join([*map(repr, row), name]) for row, name in zip(X.tolist(), y, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,<img src=x onerror=alert(1)>,answer", *lines]))
    chooser = page.one("input[type=file]")
    page.script("arguments[0].hidden = false", chooser)
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    assert "60 rows, 3 features, classes no, yes" in page.one("dialog").text
    page.all("dialog .columns input")[2].click()
    page.one("#use-table").click()
    page.until(lambda: page.script("return lab.state().data") == "table")
    page.settle()
    assert page.script("return lab.story().axes") == ["a", "b"]
    known = linsep.separability(X[:, :2], y)
    assert known.verdict in page.one(".verdict").text
    page.one("#scaled").click()
    page.settle()
    scaled = (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0)
    drawn = page.script("return Array.from(lab.story().points)")
    np.testing.assert_allclose(np.reshape(drawn, (-1, 2)), scaled, atol=1e-12)
    page.one("[data-name=xor]").click()
    page.settle()
    assert not page.script("return lab.state().scale")  # points of a toy are where they are
    assert not page.one("#scaled").is_displayed()
    assert page.all("img") == []
    assert page.clean() == []


NASTY = ["<img src=x onerror=document.title='gone'>", "</script><script>alert(1)</script>",
         "javascript:alert(1)", "{{7*7}}", "\u202egnp.exe", "'\"><svg onload=alert(1)>"]  # fmt: skip


def test_two_hundred_hostile_names_and_cells_run_nothing(page, tmp_path):
    ends = [f"{one}{k}" for k in range(34) for one in NASTY]
    assert len(ends) >= 200
    for end in ends[::6]:
        page.script("location.hash = '#' + arguments[0]", end)
        page.until(lambda: "not name=value" in page.one("#message").text)
    quoted = ['"' + one.replace('"', '""') + '"' for one in ends]
    lines = [",".join(["a", *quoted[:24], "kind"])]
    lines += [",".join([str(k), *["1"] * 24, quoted[24 + k % 12]]) for k in range(60)]
    path = tmp_path / "<b>rows.csv"
    path.write_text("\n".join(lines), "utf-8")
    chooser = page.one("input[type=file]")
    page.script("arguments[0].hidden = false", chooser)
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    page.one("#use-table").click()
    page.until(lambda: page.script("return lab.state().data") == "table")
    page.settle()
    assert "onerror" in page.one(".legend").text
    assert page.browser.title == "linsep lab"
    assert page.all("img") == []
    assert page.clean() == []


def test_an_address_is_read_as_entered_though_the_run_before_writes_its_own(page):
    page.script("""location.hash = '#nonsense';
        history.replaceState(null, '', '#v=2&data=xor&learner=online')""")
    page.until(lambda: "not name=value" in page.one("#message").text)
    page.settle()
    assert page.script("return lab.state().data") == "separable"
    assert page.clean() == []


@pytest.mark.parametrize(("end", "words"), [
    ("v=1&data=xor&learner=online", "another version"),
    ("v=2&data=moons&learner=online", "data that the lab does not have"),
    ("v=2&data=xor&learner=constructor", "a learner that the lab does not have"),
    ("v=2&data=xor&learner=online&max_iter=1e9", "from 1 to 1000"),
    ("v=2&data=xor&learner=online&__proto__=1", "which the lab does not know"),
    ("v=2&data=xor&data=or&learner=online", "data twice"),
    ("v=2&data=points&points=1,2,7&learner=online", "not x1,x2,class"),
    ("v=2&data=xor&learner=online&lift=up", "a lift that the lab does not have"),
    ("<img src=x>", "not name=value"),
])  # fmt: skip
def test_an_address_that_is_not_of_the_lab_is_refused_with_words(page, end, words):
    page.script("location.hash = '#' + arguments[0]", end)
    page.until(lambda: words in page.one("#message").text)
    assert page.all("img") == []


def test_every_lesson_is_solved(page):
    from selenium.webdriver.common.keys import Keys

    def begin(k):
        page.one("#lessons").click()
        page.one(f"[data-lesson='{k}']").click()
        page.settle()

    def answer(text):
        field = page.one(".lesson li:not(.done) input")
        field.send_keys(text)

    def done(count):
        page.until(lambda: page.one(".lesson").get_attribute("data-done") == str(count))

    begin(0)
    page.press(Keys.HOME)
    done(1)
    page.press(Keys.END)
    done(2)
    page.place([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]])
    done(3)
    begin(1)
    answer("1")
    answer("13")
    page.place([[-1, -1, 0], [1, 1, 1]])
    done(3)
    begin(2)
    page.choose("#other", "least-squares")
    done(1)
    page.choose("#view", "loss")
    done(2)
    page.place([[0, 0, 0], [0.2, 1, 0], [1, 0, 1], [1, 1, 1], [40, 0, 1]])
    done(3)
    begin(3)
    page.one("#parameter-penalised").click()
    page.settle()
    done(1)
    page.place([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [0.2, 0.4, 1]])
    done(2)
    begin(4)
    page.choose("#view", "projection")
    page.choose("#other", "svm")
    done(2)
    page.place([[0, 0, 0], [0.2, 3, 0], [0.1, -3, 0], [3, 0, 1], [3.1, 1, 1], [60, 40, 1]])
    if page.one(".lesson").get_attribute("data-done") != "3":
        page.place([[0, 0, 0], [0, 1, 0], [0, -1, 0], [2, 0, 1], [2, 1, 1], [2, 60, 1], [2, -1, 1]])
    done(3)
    begin(5)
    page.place([[0, 0, 0], [1, 1, 1], [2, 2, 0]])
    done(2)  # the weights come back too
    page.open("v=2&data=xor&learner=online")
    begin(6)
    answer("no")
    page.place([[2, 2.01, 1], [2, 2, 0], [3, 3.01, 1], [3, 3, 0]])
    done(2)
    assert page.clean() == []


def test_type_is_large_enough_and_every_control_has_a_name(page):
    script = """return [...document.querySelectorAll('button, select, input, textarea')].filter(one =>
        one.type !== 'file' && !(one.getAttribute('aria-label') ||
          one.textContent.trim() && one.tagName === 'BUTTON' || one.labels && one.labels.length)
        ).map(one => one.outerHTML)"""
    sizes = """return [...document.querySelectorAll('body *')].filter(one => one.childNodes.length &&
        [...one.childNodes].some(part => part.nodeType === 3 && part.textContent.trim()) &&
        !['SCRIPT', 'STYLE', 'NOSCRIPT'].includes(one.tagName) && one.getClientRects().length)
        .map(one => [parseFloat(getComputedStyle(one).fontSize), one.className.baseVal || one.className])
        .filter(([size]) => size < 14)"""
    assert page.script(script) == []
    assert page.script(sizes) == []
    page.one("#present").click()
    assert page.script("return parseFloat(getComputedStyle(document.body).fontSize)") == 20
    page.press("\ue00c")
    assert json.loads(page.one("#menu").get_attribute("textContent"))["most"] == 2000
