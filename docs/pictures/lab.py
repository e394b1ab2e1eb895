"""Photograph the lab in Chromium: `make pictures`, with all others."""

import base64
import io
import shutil
import time
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.lab import chromium, open_page, server
from PIL import Image

HERE = Path(__file__).parent
LOOK = """
const view = document.getElementById("view");
view.value = arguments[0];
view.dispatchEvent(new Event("change"));
"""


class View(NamedTuple):
    """A picture: the end of its address, what the right side shows, which lesson is open.

    `present` is for a class: large type, and no bar.
    """

    address: str
    look: str = "weights"
    lesson: int | None = None
    dark: bool = False
    present: bool = False


VIEWS = {
    "lab.png": View("v=2&data=two-groups&learner=online+svm&t=5"),
    "lab-sphere.png": View("v=2&data=separable&learner=online", look="sphere", dark=True),
    "lab-curved.png": View("v=2&data=rings&learner=kernel-svm", dark=True),
    "lab-lift.png": View("v=2&data=xor&learner=online&lift=product", look="lift", present=True),
    "lab-loss.png": View("v=2&data=two-groups&learner=delta", look="loss"),
    "lab-projection.png": View("v=2&data=gaussians&learner=fisher", look="projection", dark=True),
    "lab-kesler.png": View("v=2&data=three-classes&learner=online", look="kesler"),
    "lab-lesson.png": View("v=2&data=xor&learner=online", lesson=5),
    "lab-walls.png": View("v=2&data=gaussians&learner=logistic+svm&bounds=-1..1"),
    "lab-infinity.png": View("v=2&data=separable&learner=logistic&penalised=false"),
}


def photograph(browser: Any, address: str, name: str, view: View) -> None:
    """One picture of 1280 by 760 pixels."""
    theme = {"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
    open_page(browser, f"{address}&{view.address}", seconds=300)  # the first time it compiles
    if view.lesson is not None:
        browser.find_element("id", "lessons").click()
        browser.find_element("css selector", f"[data-lesson='{view.lesson}']").click()
    if view.look != "weights":
        browser.execute_script(LOOK, view.look)
    if view.present:
        browser.find_element("id", "present").click()
    browser.execute_script("document.querySelector('.cue').hidden = true")
    time.sleep(1)
    picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    seen = Image.open(io.BytesIO(base64.b64decode(picture["data"]))).convert("RGB")
    seen.quantize(256, kmeans=1).save(HERE / name, optimize=True)  # a third of the bytes


def main() -> None:
    """All of them."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        print("no chromium: the pictures of the lab stay as they are")
        return
    size = {"width": 1280, "height": 760, "deviceScaleFactor": 1, "mobile": False}
    with server() as address, chromium() as browser:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for name, view in VIEWS.items():
            photograph(browser, address, name, view)


if __name__ == "__main__":
    main()
