# ruff: noqa: E501
"""Hands on the lab: a phone, thousands of points, and files whose last column is no label."""

import numpy as np
import pytest
from driving import Lab

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


@pytest.fixture(scope="module")
def phone(start_browser, address):
    browser = start_browser("--touch-events=enabled")
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    return Lab(browser, address)


def finger(page, *places):
    """Put a finger down, move it, and lift it, as the screen tells the browser."""
    send = page.browser.execute_cdp_cmd
    for k, (x, y) in enumerate(places):
        kind = "touchMove" if k else "touchStart"
        send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def empty_place(page):
    """A place of the picture that is far from every point, on the screen."""
    return page.script("""const svg = document.querySelector('.pane.input svg.picture');
        svg.scrollIntoView({block: 'center'});
        const box = svg.getBoundingClientRect(), marks = [...document.querySelectorAll('.pane.input .mark')].map((one) => one.getBoundingClientRect());
        for (let x = box.left + 90; x < box.right - 20; x += 8) for (let y = box.top + 60; y < box.bottom - 60; y += 8)
          if (marks.every((one) => Math.hypot(one.x + 6 - x, one.y + 6 - y) > 40)) return [x, y];""")


def test_on_a_phone_a_swipe_scrolls_a_tap_adds_and_a_drag_moves(phone):
    page = phone.open("v=2&data=two-groups&learner=online")
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    count, (x, y) = len(page.points), empty_place(page)
    before = page.script("return scrollY")
    finger(page, (x, y), *[(x, y - 12 * k) for k in range(1, 12)])
    page.until(lambda: page.script("return scrollY") > before + 20)
    assert len(page.points) == count
    x, y = empty_place(page)
    finger(page, (x, y))
    page.until(lambda: len(page.points) == count + 1)
    page.settle()
    mark = page.script("""const r = document.querySelectorAll('.pane.input .mark')[0].getBoundingClientRect();
        return [r.x + r.width / 2 + 9, r.y + r.height / 2 + 9]""")  # a finger need not hit it
    before, scrolled = page.points[0], page.script("return scrollY")
    finger(page, mark, *[(mark[0] + 6 * k, mark[1] + 4 * k) for k in range(1, 6)])
    page.until(lambda: page.points[0] != before)
    assert len(page.points) == count + 1
    assert page.script("return scrollY") == scrolled
    page.settle()
    assert page.clean() == []


def test_two_thousand_points_are_dragged(page):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), np.arange(2000) % 2
    X[y == 1] += 2.0
    X[0] = [-3.0, 5.0]
    page.place(
        [[round(a, 2), round(b, 2), int(c)] for (a, b), c in zip(X.tolist(), y, strict=True)]
    )
    assert len(page.all(".pane.input .mark:not([visibility=hidden])")) == 2000
    seen = "return [lab.runs()[0], document.querySelector('.boundary').getAttribute('d')]"
    mark, drawn = page.all(".pane.input .mark")[0], page.script(seen)[1]
    hand = page.chain().click_and_hold(mark)
    for _ in range(5):
        hand = hand.move_by_offset(12, 9)
    hand.perform()
    page.until(lambda: page.script(seen)[1] != drawn)
    page.chain().release().perform()
    page.settle()
    assert page.points[0][:2] != [-3.0, 5.0]
    assert page.points[1:] == page.script("return lab.state().points.slice(1)")
    assert page.script("return lab.story().rows") == 2000
    assert page.clean() == []


def test_where_the_last_column_is_no_label_another_is_chosen_or_asked_about(page, tmp_path):
    lines = [f"n{k},{k % 7},{'ny'[k % 2]},{k * 1.5}" for k in range(60)]
    path = tmp_path / "prices.csv"
    path.write_text("\n".join(["name,rooms,sold,price", *lines]))
    chooser = page.one("input[type=file]")
    page.script("arguments[0].hidden = false", chooser)
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    assert "price has 60 different values" in page.one("dialog .problem").text
    assert page.all("#use-table") == []
    page.script("""const s = document.getElementById('target'); s.value = 'sold';
        s.dispatchEvent(new Event('change'))""")
    page.until(lambda: page.all("#use-table"))
    assert "classes n, y" in page.one("dialog").text
    ticked = page.script("""return [...document.querySelectorAll('dialog .columns input')]
        .filter((one) => one.checked).map((one) => one.parentElement.textContent.trim())""")
    assert ticked == ["rooms", "price"]  # sixty names are no features
    page.one("#use-table").click()
    page.until(lambda: page.script("return lab.state().data") == "table")
    page.settle()
    assert page.script("return lab.story().axes") == ["rooms", "price"]
    assert page.one(".pane.weight .axes .name").text == "weight of rooms"
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    page.script("""const s = document.getElementById('target'); s.value = 'price > 45.0';
        s.dispatchEvent(new Event('change'))""")
    page.until(lambda: page.all("#use-table"))
    assert "60 rows" in page.one("dialog").text
    page.script("document.querySelector('dialog').close()")
    assert page.clean() == []
