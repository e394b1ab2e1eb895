"""The lab's page as a hand drives it, and its server as a program asks it."""

import re


def httpx_client(address):
    import httpx

    home, token = address.split("#token=")
    client = httpx.Client(base_url=home, trust_env=False, timeout=300)
    client.headers.update({"origin": home.rstrip("/"), "content-type": "application/json"})
    client.post("/enter", json={"token": token})
    client.headers["x-lab-key"] = re.search(r'"key":"([0-9a-f]+)"', client.get("/").text)[1]
    return client


class Lab:
    def __init__(self, browser, address):
        self.browser, self.home = browser, address

    def open(self, end=""):
        self.browser.get("about:blank")
        self.browser.get(self.home + (f"&{end}" if end else ""))
        self.until(lambda: self.script("return Boolean(window.lab)"))
        self.settle()
        return self

    def script(self, text, *given):
        return self.browser.execute_script(text, *given)

    def settle(self):
        """Wait until the run with all its steps is there."""
        done = "return lab.runs().length > 0 && lab.settled() && !document.querySelector('.busy')"
        self.until(lambda: self.script(done))

    def until(self, true):
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 25, 0.05).until(lambda _: true())

    def one(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def chain(self):
        from selenium.webdriver.common.action_chains import ActionChains

        return ActionChains(self.browser)

    def press(self, *keys):
        self.chain().send_keys(*keys).perform()

    def at(self, x, y):
        """Where a place of the input space is, from the middle of the picture."""
        find = """const s = document.querySelector('.pane.input svg.picture'),
            box = s.getBoundingClientRect(), all = s.querySelectorAll('.axes text');
            return [box.width, box.height]"""
        wide, high = self.script(find)
        return x * wide - wide / 2, y * high - high / 2

    def click_at(self, x, y):
        """Click on the board, x and y being shares of its width and height."""
        board = self.one(".pane.input svg.picture")
        self.chain().move_to_element_with_offset(board, *self.at(x, y)).click().perform()

    @property
    def frame(self):
        return int(self.one("#player").get_attribute("data-frame"))

    @property
    def points(self):
        return self.script("return lab.state().points")

    def place(self, points):
        """Put points where a hand would, all at once: through the address."""
        state = self.script("return lab.state()")
        text = ";".join(",".join(map(str, one)) for one in points)
        learners = "+".join(state["learners"])
        end = f"#v=2&data=points&points={text}&learner={learners}"
        if not state["parameters"]["penalised"]:
            end += "&penalised=false"
        self.script("location.hash = arguments[0]", end)
        self.until(lambda: self.script("return lab.state().points.length") == len(points))
        self.settle()

    def choose(self, selector, value):
        self.script("""const s = document.querySelector(arguments[0]); s.value = arguments[1];
            s.dispatchEvent(new Event('change'))""", selector, value)  # fmt: skip
        self.settle()

    def clean(self):
        """What the browser complained of, but for the door, which is closed at first."""
        return [one["message"] for one in self.browser.get_log("browser")
                if "status of 401" not in one["message"]]  # fmt: skip
