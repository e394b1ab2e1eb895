"""The lab's page: the player with a board, menus and a box of Python around it, in one piece."""

import base64
import hashlib
from typing import Any, NamedTuple

from linsep.views.film.page import PARTS, bundle, harmless, part
from linsep.views.lab.choices import menu
from linsep.views.lab.runs import Opened

HERE = "linsep.views.lab"
OWN = ("address.js", "board.js", "lab.js")


class Page(NamedTuple):
    """The page, and the script and style that it may use."""

    text: str
    script: str
    style: str


def lab_page(opened: Opened | None) -> Page:
    """The page with all its parts inside."""
    script = f"\n{bundle(PARTS)}\n{bundle(OWN, HERE)}\n"
    style = f"\n{part('player.css')}\n{part('lab.css', HERE)}\n"
    known: dict[str, Any] = {"opened": None, **menu()}
    if opened is not None:
        known["opened"] = {"name": opened.name, "story": opened.story}
    text = part("lab.html", HERE).format(style=style, script=script, menu=harmless(known))
    return Page(text, script, style)


def policy(page: Page) -> str:
    """This script, this style, requests to the lab itself: nothing else."""
    return (
        f"default-src 'none'; script-src {_hash(page.script)}; style-src {_hash(page.style)}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
