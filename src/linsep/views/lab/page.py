"""The lab's page: the player with bar, board and lessons around it, in one piece."""

import base64
from typing import Any, NamedTuple

from linsep.views.film.page import PARTS, bundle, harmless, part, policy
from linsep.views.film.shrink import shrink_style
from linsep.views.lab.choices import menu
from linsep.views.lab.runs import Opened
from linsep.views.scene.packing import pack

HERE = "linsep.views.lab"
OWN = (
    "address.js", "requests.js", "history.js", "blank.js", "board.js", "bar.js", "turning.js",
    "lift.js", "sphere.js", "kesler.js", "surface.js", "views.js", "tables.js", "lessons.js",
    "sharing.js", "lab.js",
)  # fmt: skip


class Page(NamedTuple):
    """The page, and the script and style that it may use."""

    text: str
    script: str
    style: str


def lab_page(opened: Opened | None, key: str = "") -> Page:
    """The page with all its parts inside."""
    script = f"\n{bundle(PARTS)}\n{bundle(OWN, HERE)}\n"
    style = f"\n{shrink_style(part('player.css') + part('lab.css', HERE))}\n"
    known: dict[str, Any] = {"opened": None, "key": key, **menu()}
    if opened is not None:
        story = None
        if opened.story is not None:
            story = base64.b64encode(pack({"stories": [opened.story]})).decode()
        known["opened"] = {"name": opened.name, "sample": opened.sample, "story": story}
    text = part("lab.html", HERE).format(style=style, script=script, menu=harmless(known))
    return Page(text, script, style)


def door_page() -> tuple[str, str]:
    """The page of who has no cookie yet, and its policy."""
    script, style = part("door.js", HERE), "body { font: 16px system-ui; margin: 3rem; }"
    page = Page(part("door.html", HERE).format(style=style, script=script), script, style)
    return page.text, policy_of(page)


def policy_of(page: Page) -> str:
    """This script, this style, requests to the lab itself: nothing else."""
    own = "connect-src 'self'; frame-ancestors 'none'; "
    return policy(page.script, page.style, own)
