"""What the pages move works from a folder and from a server of files, and fetches nothing else."""

import functools
import http.server
import os
import threading
from pathlib import Path

import pytest
from docs.interactive import beside, players, sliders

STATIC = Path(__file__).parents[2] / "docs" / "_static"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, if there is one, else a page with a film and a slider."""
    built = os.environ.get("LINSEP_SITE")
    if built:
        return Path(built).resolve(), "lectures/5-single-layer.html"
    folder = tmp_path_factory.mktemp("site")
    beside.build(folder)
    words = sliders.build(folder / "_static" / "sliders")["axis"]
    slider = beside.slider_html("axis", "", words, ["A line that turns."])
    (folder / "page.html").write_text(
        "<!doctype html><meta charset='utf-8'><title>A page</title>"
        f"<iframe src='_static/players/one-step.html#t=1' title='film'></iframe>{slider}"
        f"<script>{(STATIC / 'sliders.js').read_text('utf-8')}</script>",
        encoding="utf-8",
    )
    return folder, "page.html"


@pytest.fixture(params=["file", "http"])
def address(request, site):
    folder, page = site
    if request.param == "file":
        yield (folder / page).as_uri()
        return
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{page}"
        server.shutdown()
        thread.join()


def test_a_film_opens_at_its_step_and_a_slider_changes_picture_and_words(browser, address):
    browser.get_log("browser")
    browser.get(address)
    frame = browser.find_element("css selector", "iframe[src*=one-step]")
    browser.execute_script("arguments[0].scrollIntoView()", frame)
    browser.switch_to.frame(frame)
    assert browser.find_element("css selector", "#player").get_attribute("data-frame") == "1"
    browser.switch_to.default_content()

    figure = browser.find_element("css selector", "figure.slider")
    slider, picture = (figure.find_element("css selector", one) for one in ("input", "img"))
    before = picture.get_attribute("src"), figure.find_element("css selector", "output").text
    slider.send_keys("\ue012")  # the left arrow
    after = picture.get_attribute("src"), figure.find_element("css selector", "output").text
    assert before[0] != after[0] and before[1] != after[1]
    loaded = "return arguments[0].complete && arguments[0].naturalWidth > 0"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 10, 0.05).until(lambda _: browser.execute_script(loaded, picture))
    assert slider.get_attribute("aria-valuetext") == after[1]
    home = address.split("/lectures/")[0].rsplit("/page.html", 1)[0]
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map(one => one.name)"
    )
    assert all(one.startswith((home, "data:", "blob:")) for one in fetched), fetched
    told = ("favicon", "pydata-sphinx-theme.js")  # the theme says what it does
    log = [one for one in browser.get_log("browser") if not any(w in one["message"] for w in told)]
    assert log == []


@pytest.mark.parametrize("name", players.PLAYERS)
def test_every_film_of_the_pages_opens_without_complaint(browser, site, name):
    browser.get_log("browser")
    browser.get((site[0] / "_static" / "players" / f"{name}.html").as_uri())
    assert int(browser.find_element("css selector", "#player").get_attribute("data-frame")) > 0
    assert browser.get_log("browser") == []
