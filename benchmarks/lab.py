# ruff: noqa: E501
"""The lab in Chromium: from mouse to paint, first paint, scrubbing, and many runs at once."""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from linsep.views.lab.choices import LEARNERS

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--window-size=1280,800")  # fmt: skip
LINSEP = [sys.executable, "-c", "from linsep.views.cli import main; main()", "lab", "--no-browser"]
RUNS, MOVES = 200, 100

WATCH = """
window.times = [];
let moved = null, asked = null, drawn = [];
const svg = document.querySelector('.pane.input svg.picture'), after = new MessageChannel(), send = window.fetch;
const box = document.querySelector('.pane.input .mark').getBoundingClientRect();
after.port1.onmessage = () => { times.push(...drawn.map((from) => performance.now() - from)); drawn = []; };
svg.addEventListener('pointerrawupdate', (event) => { if (event.buttons) moved = event.timeStamp; }, {capture: true});
window.fetch = (path, ...more) => { if (path === '/fit') asked = moved; return send(path, ...more); };
new MutationObserver(() => {  // the frame is told last: all is drawn by then, and painted before a message comes
  if (asked === null) return;
  const from = asked;
  asked = null;
  requestAnimationFrame(() => { drawn.push(from); after.port2.postMessage(0); });
}).observe(document.getElementById('player'), {attributeFilter: ['data-frame']});
return [box.x + box.width / 2, box.y + box.height / 2];
"""
PAINT = """
const [paint] = performance.getEntriesByType('paint'), [load] = performance.getEntriesByType('navigation');
return paint ? paint.startTime : load.domContentLoadedEventEnd;  // a browser without a screen may not paint
"""
SCRUB = """
const done = arguments[0], times = [], bar = document.querySelector('.buttons input[type=range]');
let k = 0;
const step = () => {
  const start = performance.now();
  bar.value = String(Math.floor((Number(bar.max) * k) / 240));
  bar.dispatchEvent(new Event('input'));
  document.body.getBoundingClientRect();
  times.push(performance.now() - start);
  if (++k > 240) { done([times, Number(bar.max)]); return; }
  requestAnimationFrame(step);
};
step();
"""


@contextlib.contextmanager
def server(*more: str) -> Iterator[str]:
    process = subprocess.Popen([*LINSEP, *more], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        words = (word for line in process.stderr for word in line.split())
        yield next(word for word in words if word.startswith("http://"))
    finally:
        process.terminate()
        process.communicate(timeout=60)


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        browser.set_script_timeout(120)
        try:
            yield browser
        finally:
            browser.quit()


def open_page(browser: Any, address: str, seconds: float = 60) -> None:
    """Go there and wait until the run with all its steps is drawn."""
    browser.get("about:blank")
    browser.get(address)
    ready = ("return Boolean(window.lab) && lab.runs().length > 0 && lab.settled() "
             "&& !document.querySelector('.busy')")  # fmt: skip
    end = time.monotonic() + seconds
    while not browser.execute_script(ready):
        if time.monotonic() > end:
            raise TimeoutError(f"the page did not come to rest within {seconds:g} s")
        time.sleep(0.05)


def asking(address: str) -> Any:
    import httpx

    home, token = address.split("#token=")
    client = httpx.Client(base_url=home, trust_env=False, timeout=300,
                          limits=httpx.Limits(max_connections=RUNS + 10))  # fmt: skip
    client.headers.update({"origin": home.rstrip("/"), "content-type": "application/json"})
    client.post("/enter", json={"token": token})
    found = re.search(r'"key":"([0-9a-f]+)"', client.get("/").text)
    client.headers["x-lab-key"] = found[1] if found else ""
    return client


def line(workload: str, value: float, goal: float, note: str) -> dict[str, Any]:
    """A measured number beside its goal, which stands where other benchmarks have a peer."""
    return {"workload": f"lab: {workload}", "linsep": value, "peer": goal,
            "ratio": goal / max(value, 1e-9), "wanted": 1.0, "note": note}  # fmt: skip


def quantiles(workload: str, times: list[float], median: float, most: float) -> Any:
    """Seconds at the median and at 95 %."""
    middle, high = np.quantile(times, [0.5, 0.95]) / 1000
    yield line(f"{workload}, median", middle, median, f"goal {median:g} s")
    yield line(f"{workload}, 95 %", high, most, f"goal {most:g} s")


def long_trace(path: Path) -> int:
    """A run of about 100,000 corrections that a file holds."""
    import linsep
    from linsep.data.toys import overlapping

    X, y = overlapping(n=200)
    with warnings.catch_warnings(action="ignore"):
        learner = linsep.Perceptron(max_iter=3000, trace=True).fit(X, y)
    learner.trace_.save(path)
    return int(learner.trace_.count)


def in_browser() -> Iterator[dict[str, Any]]:
    """First paint, size, and the time from a mouse to the painted model and verdict."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.arange(200) % 2
    X[y == 1] += 1.5
    points = ";".join(f"{a:.3f},{b:.3f},{c}" for (a, b), c in zip(X, y, strict=True))
    with server() as address, chromium() as browser:
        for _ in range(2):  # the first visit exchanges the token, and may compile
            open_page(browser, address)
        paint = browser.execute_script(PAINT)
        yield line("first paint", paint / 1000, 0.5, "goal 0.5 s")
        with contextlib.closing(asking(address)) as client:
            size = len(client.get("/").content)
        yield line("page in MB", size / 1e6, 0.15, f"{size:,} bytes; goal below 150,000")
        for learner in LEARNERS:
            open_page(browser, f"{address}&v=2&data=points&learner={learner}&points={points}")
            yield from quantiles(f"drag, 200 points, {learner}", drag(browser), 0.025, 0.05)


def drag(browser: Any) -> list[float]:
    """Milliseconds from a move of the mouse, as the browser got it, to the picture painted."""
    x, y = browser.execute_script(WATCH)
    rng = np.random.default_rng(0)

    def mouse(kind: str, x: float, y: float) -> None:
        event = {"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    mouse("mousePressed", x, y)
    for k in range(MOVES):
        mouse("mouseMoved", x + 40 * np.sin(k / 9), y + 30 * np.cos(k / 7))
        time.sleep(0.045 + 0.016 * rng.random())  # at any place between two frames
    mouse("mouseReleased", x, y)
    return list(browser.execute_script("return times"))


def scrubbing() -> Iterator[dict[str, Any]]:
    """A frame of a long run, from the scrubber's move to the finished layout."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        count = long_trace(path)
        with server(str(path)) as address, chromium() as browser:
            open_page(browser, address)
            times, frames = browser.execute_async_script(SCRUB)
    for one in quantiles("scrubbing", times, 1 / 60, 1 / 60):
        one["note"] = f"{count:,} corrections, {frames:,} frames of them; 60 a second"
        yield one


def in_parallel() -> Iterator[dict[str, Any]]:
    """Many runs at once, and a small one among them."""
    body = {"toy": "gaussians", "learners": ["online"], "parameters": {"max_iter": 200}}
    small = {"toy": "xor", "learners": ["online"]}
    with server() as address, contextlib.closing(asking(address)) as client:
        client.post("/run", json=small)

        def one(k: int) -> int:
            return int(client.post("/run", json=body, headers={"x-lab-page": str(k)}).status_code)

        with ThreadPoolExecutor(RUNS) as pool:
            answers = [pool.submit(one, k) for k in range(RUNS)]
            time.sleep(0.5)
            asked = time.perf_counter()
            quick = client.post("/fit", json=small).status_code
            waited = time.perf_counter() - asked
            lost = sum(answer.result() != 200 for answer in answers)
    note = f"answered {quick} among {RUNS} runs, of which {lost} were lost; goal none, and 1 s"
    yield line("a small run among many", waited if not lost else 1e9, 1.0, note)


def rows() -> Iterator[dict[str, Any]]:
    """All of it, where there is a browser."""
    if shutil.which("chromium") and shutil.which("chromedriver"):
        yield from in_browser()
        yield from scrubbing()
    else:
        print("chromium and chromedriver are not installed: the page is not measured")
    yield from in_parallel()
