"""The lab in a real browser: place points, run, step, compare, and open a shared address."""

import subprocess
import sys

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install linsep[lab]")

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


@pytest.fixture(scope="module")
def address():
    process = subprocess.Popen(
        [*LINSEP, "lab", "--port", "0", "--no-browser"], stderr=subprocess.PIPE, text=True
    )
    yield process.stderr.readline().split()[4]
    process.terminate()
    process.communicate(timeout=60)


class Lab:
    def __init__(self, browser):
        self.browser = browser

    def open(self, address):
        self.browser.get("about:blank")
        self.browser.get(address)
        return self

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def choose(self, name, value):
        self.one(f"#{name} option[value='{value}']").click()

    def click_at(self, x, y):
        """Click on the board, x and y being shares of its width and height."""
        from selenium.webdriver.common.action_chains import ActionChains

        board = self.one("#board svg")
        across, up = (x - 0.5) * board.size["width"], (y - 0.5) * board.size["height"]
        ActionChains(self.browser).move_to_element_with_offset(board, across, up).click().perform()

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def until(self, true):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 120).until(lambda _: true())

    @property
    def frame(self):
        return int(self.one("#player").get_attribute("data-frame") or -1)

    def run(self):
        self.one("#run").click()
        self.until(lambda: self.all("#player .timeline"))

    @property
    def points(self):
        return [mark.get_attribute("aria-label") for mark in self.all("#board .mark")]


@pytest.fixture
def page(browser, address):
    browser.get_log("browser")
    return Lab(browser).open(address)


def test_points_are_placed_run_stepped_and_shared(page, address):
    from selenium.webdriver.common.keys import Keys

    assert len(page.points) == 3  # the lectures' three points
    page.one("#board form button:last-child").click()
    assert page.points == []
    page.click_at(0.3, 0.3)
    page.click_at(0.4, 0.6)
    page.one("#tool-add-B").click()
    page.click_at(0.8, 0.4)
    page.click_at(0.7, 0.7)
    assert [point.split("class ")[1][0] for point in page.points] == ["A", "A", "B", "B"]
    page.browser.execute_script("document.querySelectorAll('#board .mark')[3].focus()")
    before = page.points[3]
    page.press(Keys.ARROW_UP)
    assert page.points[3] != before
    assert page.frame == -1  # arrows move the point; there is no film yet
    page.choose("second", "passive-aggressive")
    page.run()
    assert len(page.all("#player .stage")) == 2
    page.browser.execute_script("document.activeElement.blur()")
    page.press(Keys.ARROW_RIGHT)
    assert page.frame == 1
    page.until(lambda: page.browser.current_url.endswith("&t=1"))
    shared, points = page.browser.current_url, page.points
    python, said = page.one("#python").text, page.one(".narration").text
    assert "second = linsep.PassiveAggressive(" in python
    page.open(shared)
    page.until(lambda: page.frame == 1)
    assert page.points == points
    assert page.one("#python").text == python
    assert page.one(".narration").text == said
    script = "return performance.getEntriesByType('resource').map(one => one.name)"
    assert set(page.browser.execute_script(script)) == {f"{address}run"}
    assert page.browser.get_log("browser") == []


def test_points_are_dragged_and_deleted(page):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    mark = page.all("#board .mark")[0]
    before = page.points
    ActionChains(page.browser).drag_and_drop_by_offset(mark, 40, 20).perform()
    assert page.points[0] != before[0]
    assert page.points[1:] == before[1:]
    assert page.one("#data").get_attribute("value") == "points"
    page.one("#tool-delete").click()
    page.all("#board .mark")[1].click()
    assert len(page.points) == 2
    page.browser.execute_script("document.querySelectorAll('#board .mark')[0].focus()")
    page.press(Keys.DELETE)
    assert len(page.points) == 1
    page.one("#run").click()
    page.until(lambda: "2 to 500 points" in page.one("#message").text)


@pytest.mark.parametrize(("end", "words"), [
    ("#v=2&data=xor&learner=online", "another version"),
    ("#v=1&data=moons&learner=online", "data that the lab does not have"),
    ("#v=1&data=xor&learner=constructor", "a learner that the lab does not have"),
    ("#v=1&data=xor&learner=online&max_iter=1e9", "from 1 to 1000"),
    ("#v=1&data=xor&learner=online&__proto__=1", "which the lab does not know"),
    ("#v=1&data=xor&data=or&learner=online", "data twice"),
    ("#v=1&data=points&points=1,2,3&learner=online", "not x1,x2,label"),
    ("#v=1&data=points&points=1,2,1,4&learner=online", "not x1,x2,label"),
    ("#<img src=x>", "not name=value"),
])  # fmt: skip
def test_an_address_that_is_not_of_the_lab_is_refused_with_words(page, address, end, words):
    page.open(address + end)
    assert words in page.one("#message").text
    assert len(page.points) == 3
    assert page.all("img") == []


def test_every_control_has_a_name(page):
    script = """return [...document.querySelectorAll('button, select, input')].filter(one =>
        !(one.getAttribute('aria-label') || one.textContent.trim() && one.tagName === 'BUTTON'
          || one.labels && one.labels.length)).map(one => one.outerHTML)"""
    page.run()
    assert page.browser.execute_script(script) == []
