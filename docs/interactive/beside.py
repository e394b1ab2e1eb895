"""The files that lie beside the pages, and the HTML of a slider."""

import json
from html import escape
from pathlib import Path
from typing import Any

from . import notebooks, players, sessions, sliders


def slider_html(name: str, way: str, words: list[str], content: Any) -> str:
    """A slider, at its first value; without scripts that picture stays."""
    one = sliders.SLIDERS[name]
    place = f"{way}_static/sliders/{name}"
    return (
        f'<figure class="slider" data-place="{place}" data-words="{escape(json.dumps(words))}">'
        f'<img src="{place}-{one.first}.png" alt="{escape(words[one.first])}">'
        f"<label>{escape(one.label)} "
        f'<input type="range" min="0" max="{len(words) - 1}" value="{one.first}" step="1" '
        f'aria-valuetext="{escape(words[one.first])}"></label>'
        f"<output>{escape(words[one.first])}</output>"
        f"<figcaption>{escape(' '.join(content))}</figcaption></figure>"
    )


def build(folder: Path) -> None:
    """Put beside the pages what they move: films, pictures, sessions, notebooks."""
    players.build(folder / "_static" / "players")
    sliders.build(folder / "_static" / "sliders")
    sessions.build(folder / "_static" / "sessions")
    notebooks.build(folder / "notebooks")
