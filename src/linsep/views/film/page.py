"""One HTML file that holds the player and what it plays, and asks nobody for anything."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

from linsep.views.film.shrink import shrink, shrink_style
from linsep.views.scene.colours import COLOURS
from linsep.views.scene.packing import pack

PLAYER = "linsep.views.player"
PARTS = (
    "colours.js", "drawing.js", "curves.js", "run.js", "words.js", "images.js", "input_space.js",
    "weight_space.js", "state.js", "timeline.js", "player.js",
)  # fmt: skip
START = """
film(document.getElementById("player"),
  unpack(bytesOf(document.getElementById("story").textContent)).stories);
"""


def film_page(*stories: dict[str, Any]) -> str:
    """One film, or two on one clock, as one page."""
    return film_of(pack({"stories": list(stories)}), stories[0]["title"])


def film_of(packed: bytes, title: str) -> str:
    """The page of stories that are packed already."""
    script, style = f"\n{bundle(PARTS)}{START}", f"\n{shrink_style(part('player.css'))}"
    return part("page.html").format(
        policy=policy(script, style),
        title=html.escape(title),
        style=style,
        story=base64.b64encode(packed).decode(),
        script=script,
    )


def policy(script: str, style: str, more: str = "") -> str:
    """What a page may do: run this script, use this style, and what `more` says."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        f"img-src data: blob:; {more}base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def bundle(names: tuple[str, ...], folder: str = PLAYER) -> str:
    """The modules as one: each may use what those before it define."""
    joined = "\n".join(part(name, folder) for name in names)
    joined = re.sub(r"^import [^;]*;\n", "", joined, flags=re.MULTILINE)
    joined = re.sub(r"^export ", "", joined, flags=re.MULTILINE)
    joined = re.sub(r"^ *//.*\n|^ +|^\n", "", joined, flags=re.MULTILINE)
    return shrink(joined)


def part(name: str, folder: str = PLAYER) -> str:
    """A file of the player, or of a page around it; colours.js is written from the one list."""
    if name == "colours.js":
        return f"export const COLOURS = {json.dumps(COLOURS)};\n"
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
