"""A lab that is started again: a page that was open goes on with it."""

import subprocess
import sys

from driving import Lab

LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()"]


def start(*more):
    process = subprocess.Popen([*LINSEP, "lab", "--no-browser", *more], stderr=subprocess.PIPE,
                               text=True)  # fmt: skip
    return process, process.stderr.readline().split()[4]


def stop(process):
    process.terminate()
    process.communicate(timeout=60)


def test_a_page_goes_on_when_its_server_was_started_again(start_browser):
    browser = start_browser()
    first, address = start("--port", "0")
    port = address.split(":")[2].split("/")[0]
    page = Lab(browser, address).open("v=2&data=xor&learner=online")
    stop(first)
    page.one("[data-name=rings]").click()
    page.until(lambda: "does not answer" in page.one("#message").text)
    second, address = start("--port", port)
    page.until(lambda: "started anew" in page.one("#message").text)
    here = browser.current_window_handle
    browser.switch_to.new_window("tab")
    Lab(browser, address).open()
    browser.close()
    browser.switch_to.window(here)
    page.until(lambda: page.script("return lab.story().rows") == 60)
    page.settle()
    assert page.one("#message").text == ""
    assert page.script("return lab.state().data") == "rings"
    stop(second)


def test_a_file_is_read_again_where_the_new_server_does_not_hold_it(start_browser, tmp_path):
    browser = start_browser()
    first, address = start("--port", "0")
    port = address.split(":")[2].split("/")[0]
    page = Lab(browser, address).open("v=2&data=xor&learner=online")
    path = tmp_path / "people.csv"
    lines = [f"{k},{k % 7},{k % 5},{'ab'[k % 3 == 0]}" for k in range(30)]
    path.write_text("\n".join(["age,height,weight,kind", *lines]))
    chooser = page.one("input[type=file]")
    page.script("arguments[0].hidden = false", chooser)
    chooser.send_keys(str(path))
    page.until(lambda: page.one("dialog").is_displayed())
    page.one("#use-table").click()
    page.settle()
    stop(first)
    second, address = start("--port", port)
    here = browser.current_window_handle
    browser.switch_to.new_window("tab")
    Lab(browser, address).open()
    browser.close()
    browser.switch_to.window(here)
    page.one("[data-family=SVM]").click()
    page.until(lambda: page.script("return lab.story().title") == "SVM: widest margin")
    page.settle()
    assert page.one("#message").text == ""
    assert page.script("return lab.story().features") == 3
    stop(second)
