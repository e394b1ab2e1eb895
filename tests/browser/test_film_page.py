"""The player in a real browser: keys, links between the pictures, words, and nothing fetched."""

import math

import numpy as np
import pytest

import linsep
from linsep import Perceptron
from linsep.data.toys import separated, three_points, xor


@pytest.fixture
def opened(browser, tmp_path):
    """A function that films a run and opens the page."""

    def open_film(learner, X, y, window=browser):
        made = linsep.film(learner.fit(X, y).trace_, tmp_path / "run.html")
        window.get(made.path.as_uri())
        return Page(window)

    return open_film


class Page:
    def __init__(self, browser):
        self.browser = browser

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    @property
    def frame(self):
        return int(self.one("#player").get_attribute("data-frame"))

    def visible(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].filter(one => one.getAttribute('visibility') !== 'hidden').length"  # noqa: E501
        return self.browser.execute_script(script, selector)

    def circles(self, selector):
        """How many outlines one path has."""
        script = (
            "return document.querySelector(arguments[0]).getAttribute('d').split('M').length - 1"
        )
        return self.browser.execute_script(script, selector)


def test_keys_step_through_the_run_and_the_page_tells_each_correction(opened):
    from selenium.webdriver.common.keys import Keys

    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    assert page.browser.get_log("browser") == []
    assert page.frame == 13  # a film opens at its end
    page.press(Keys.HOME)
    assert page.frame == 0
    page.press(*[Keys.ARROW_RIGHT] * 6)
    assert page.frame == 6
    assert "row 1 of class 1 scored −2.5" in page.one(".narration").text
    assert "(−1, −1) + (1) · (0.5, 3) = (−0.5, 2)" in page.one(".state pre").text
    assert "6 of at most 120" in page.one(".state").text
    assert page.circles(".pane.input .halo") == 1
    page.press(Keys.ARROW_LEFT)
    assert page.frame == 5
    page.press(Keys.END)
    assert page.frame == 13
    assert "All 3 rows are on their own side" in page.one(".narration").text
    assert page.visible("path.edge") == 2
    page.press(Keys.HOME)
    assert page.frame == 0
    page.press(Keys.SHIFT, Keys.ARROW_RIGHT)
    assert page.frame == 1
    page.press(Keys.NULL)


def test_an_address_may_name_the_moment(opened):
    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    where = page.browser.current_url
    for end, frame in (("#t=6", 6), ("#t=99", 13), ("#t=<b>", 13)):
        page.browser.get("about:blank")
        page.browser.get(where + end)
        assert page.frame == frame


def test_an_address_may_ask_the_film_to_play(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    where = page.browser.current_url
    page.browser.get("about:blank")
    page.browser.get(where + "#play")
    first = page.frame
    assert first < 13
    WebDriverWait(page.browser, 25, 0.05).until(lambda _: page.frame > first)


def test_the_scrubber_and_the_buttons_go_where_they_say(opened):
    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    script = "const s = arguments[0]; s.value = 9; s.dispatchEvent(new Event('input'))"
    page.browser.execute_script(script, page.one("input[type=range]"))
    assert page.frame == 9
    names = [button.get_attribute("title") and button.text for button in page.all("button")]
    assert all(names)
    page.all("button")[0].click()
    assert page.frame == 0
    page.all("button")[4].click()
    assert page.frame == 1


def test_space_plays_to_the_end_and_stops(opened):
    from selenium.webdriver.support.ui import WebDriverWait

    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    page.browser.execute_script("document.querySelector('[aria-label=speed]').value = '60'")
    page.press(" ")
    WebDriverWait(page.browser, 30).until(lambda _: page.frame == 13)
    assert page.one(".narration").get_attribute("aria-live") in ("off", "polite")
    WebDriverWait(page.browser, 30).until(
        lambda _: page.one(".narration").get_attribute("aria-live") == "polite"
    )


def test_a_row_lights_its_line_and_a_line_its_row(opened):
    from selenium.webdriver.common.action_chains import ActionChains

    page = opened(Perceptron(shuffle=False, trace=True), *three_points())
    page.press("p")
    assert page.visible("path.constraint.lit") == 1
    assert page.visible("circle.ring") == 1
    page.press("P")
    ActionChains(page.browser).move_to_element(page.all("path.mark")[2]).perform()
    lit = page.all("path.constraint.lit")
    assert [one.get_attribute("stroke") for one in lit] == ["#D55E00"]
    ends = "return document.querySelector('.constraint.lit').getAttribute('d').split('M')[1]"
    x1, y1, x2, y2 = map(float, page.browser.execute_script(ends).replace("L", " ").split())
    svg = page.one(".pane.weight svg.picture")
    ActionChains(page.browser).move_to_element(page.one(".verdict")).perform()
    assert page.visible("path.constraint.lit") == 0
    away = [(x1 + x2 - svg.rect["width"]) / 2, (y1 + y2 - svg.rect["height"]) / 2]
    ActionChains(page.browser).move_to_element_with_offset(svg, *away).perform()
    assert page.visible("path.constraint.lit") == page.visible("circle.ring") == 1
    assert page.all("path.constraint.lit")[0].get_attribute("stroke") == "#D55E00"


def test_where_nothing_separates_the_proof_is_on_the_page(opened):
    with pytest.warns(linsep.errors.NotConverged):
        page = opened(Perceptron(shuffle=False, max_iter=5, trace=True), *xor())
    assert "Not separable" in page.one(".verdict").text
    assert [one.text for one in page.all(".certificate td:last-child")] == ["1/4"] * 4
    assert page.circles(".hull") == 2
    assert "no weights put every row right" in page.one("text.empty").text


def test_the_page_fetches_nothing(opened):
    X, y, _ = separated(n=60, margin=0.1)
    page = opened(Perceptron(trace=True), X, y)
    script = "return performance.getEntriesByType('resource').length"
    assert page.browser.execute_script(script) == 0
    assert page.browser.get_log("browser") == []


def test_labels_are_text_and_never_markup(opened):
    X, y = three_points()
    nasty = ["<img src=x onerror=document.title='gone'>" if one > 0 else "</script>" for one in y]
    page = opened(Perceptron(trace=True), X, nasty)
    assert page.all("img") == []
    assert page.browser.title == "Perceptron at work"
    assert "</script>" in page.one(".legend").text


def test_who_asks_for_less_motion_gets_steps_without_it(start_browser, opened):
    quiet = start_browser("--force-prefers-reduced-motion")
    page = opened(Perceptron(shuffle=False, trace=True), *three_points(), window=quiet)
    assert page.one("[aria-label=speed]").get_attribute("value") == "1"
    from selenium.webdriver.common.keys import Keys

    page.press(Keys.ARROW_LEFT)
    drawn = page.one("path.boundary").get_attribute("d")
    script = "return new Promise(r => setTimeout(() => r(document.querySelector('path.boundary').getAttribute('d')), 250))"  # noqa: E501
    assert page.browser.execute_script(script) == drawn


def test_ten_classes_differ_in_colour_and_in_mark_and_are_named(opened):
    from selenium.webdriver.common.keys import Keys

    y = np.repeat(np.arange(10), 3)
    angle = 2 * np.pi * y / 10
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    page = opened(Perceptron(trace=True), X, [f"kind {k}" for k in y])
    assert page.browser.get_log("browser") == []
    legend = page.all(".legend path")
    assert len({one.get_attribute("d") for one in legend}) == 10
    assert len({one.get_attribute("fill") for one in legend}) == 10
    ends = page.all("path.now")
    assert len({one.value_of_css_property("fill") for one in ends}) == 10
    page.press(Keys.END)
    names = [one.text for one in page.all("text.label")]
    assert sorted(filter(None, names)) == sorted([f"kind {k}" for k in range(10)] * 2)


def test_the_film_of_an_average_ends_on_the_average_and_says_so(opened):
    from selenium.webdriver.common.keys import Keys

    learner = Perceptron(keep="average", shuffle=False, trace=True)
    page = opened(learner, *three_points())
    page.press(Keys.END)
    assert page.frame == 14
    assert "The model returned: the average of all weights met." in page.one(".narration").text
    assert "the model returned: the average of all weights met" in page.one(".state").text
    page.press(Keys.ARROW_LEFT)
    assert "correction 13, pass 7" in page.one(".state").text


def test_the_legend_names_the_solution_region_where_it_is_drawn(opened):
    words = "weights that solve it"
    X, y, _ = separated(n=200, margin=0.1)
    page = opened(Perceptron(trace=True), X, y)
    assert page.visible("polygon.solution") == 1
    assert words in page.one(".legend").text
    page = opened(Perceptron(trace=True), np.column_stack([X, X[:, 0] * X[:, 1]]), y)
    assert page.visible("polygon.solution") == 0  # of 200 rows some have a line
    assert words not in page.one(".legend").text


def test_the_solution_region_holds_the_weights_exactly_when_all_rows_are_right(opened):
    from selenium.webdriver.common.keys import Keys

    X, y, _ = separated(n=30, margin=0.2, seed=2)
    page = opened(Perceptron(fit_intercept=False, shuffle=False, trace=True), X, y)
    corners = """const found = document.querySelector('polygon.solution');
        const box = document.querySelector('path.now').getBBox();
        return [found.getAttribute('points').split(' ').map(one => one.split(',').map(Number)),
                [box.x + box.width / 2, box.y + box.height / 2]]"""
    page.press(Keys.HOME)
    for _ in range(4):
        region, (x, y0) = page.browser.execute_script(corners)
        # How far from each side, in pixels; lines that meet in a corner may draw it twice.
        far = [((b[0] - a[0]) * (y0 - a[1]) - (b[1] - a[1]) * (x - a[0])) / math.dist(a, b)
               for a, b in zip(region, [*region[1:], region[0]], strict=True)
               if math.dist(a, b) > 0.1]  # fmt: skip
        assert len(far) >= 3
        right = page.one(".model dd").text.startswith("0 of 30")
        assert (min(far) > 0.1 or max(far) < -0.1) == right
        page.press(Keys.SHIFT, Keys.ARROW_RIGHT, Keys.NULL)
