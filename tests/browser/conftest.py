"""A real browser, or a skip that says what is missing."""

import shutil

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--window-size=1300,900",
)  # fmt: skip


@pytest.fixture(scope="session")
def start_browser(tmp_path_factory):
    """A function that starts Chromium with more flags."""
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
