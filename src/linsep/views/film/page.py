"""One HTML file that holds the player and what it plays, and asks nobody for anything."""

import html
import json
import re
from importlib.resources import files
from typing import Any

from linsep.views.scene.colours import COLOURS, pale

PLAYER = "linsep.views.player"
PARTS = (
    "colours.js", "drawing.js", "input_space.js", "weight_space.js", "state_panel.js",
    "timeline.js", "player.js",
)  # fmt: skip
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def film_page(story: dict[str, Any]) -> str:
    """The film as one page."""
    start = (
        'play(document.getElementById("player"), '
        '[JSON.parse(document.getElementById("story").textContent)], { at: moment() });'
    )
    return part("page.html").format(
        policy=POLICY,
        title=html.escape(story["title"]),
        style=part("player.css"),
        story=harmless(story),
        script=f"{bundle(PARTS)}\n{start}",
    )


def bundle(names: tuple[str, ...], folder: str = PLAYER) -> str:
    """The modules as one: each may use what those before it define."""
    joined = "\n".join(part(name, folder) for name in names)
    joined = re.sub(r"^import [^;]*;\n", "", joined, flags=re.MULTILINE)
    return re.sub(r"^export ", "", joined, flags=re.MULTILINE)


def part(name: str, folder: str = PLAYER) -> str:
    """A file of the player, or of a page around it; colours.js is written from the one list."""
    if name == "colours.js":
        lists = {"COLOURS": COLOURS, "PALE": [pale(one) for one in COLOURS]}
        return "".join(f"export const {key} = {json.dumps(one)};\n" for key, one in lists.items())
    return files(folder).joinpath(name).read_text(encoding="utf-8")


def harmless(value: Any) -> str:
    r"""JSON that ends no script element and opens none, whatever the labels are.

    >>> harmless(["</script>", "&"])
    '["\\u003c/script\\u003e","\\u0026"]'
    """
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
