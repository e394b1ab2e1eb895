"""What all tests share: the same examples in every run, and data that may be absent."""

import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "linsep",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("linsep")

# A shell starts what it runs in the background with Ctrl-C ignored, and processes hand that down:
# those that tests interrupt would never end.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without the network: a browser looks for its maker at every start.
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1300,900",
)  # fmt: skip

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data():
    """The folder of a real data set by its name, or a skip that says what is missing."""

    def folder(name):
        path = DATA / name
        if not path.is_dir():
            pytest.skip(f"the {name} data are not in ../shared/data")
        return path

    return folder


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """A function that starts a real Chromium, or a skip that says what is missing."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    from selenium.webdriver.chrome.service import Service

    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver:
        pytest.skip("chromium and chromium-driver are not installed")
    started = []

    def start(*flags):
        options = webdriver.ChromeOptions()
        options.binary_location = browser
        for flag in (*FLAGS, *flags, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        started.append(webdriver.Chrome(options=options, service=Service(driver)))
        return started[-1]

    yield start
    for one in started:
        one.quit()


@pytest.fixture(scope="session")
def browser(start_browser):
    return start_browser()
