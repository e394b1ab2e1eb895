"""The lectures as notebooks: the same words and the same code as the pages."""

import json
import re
from pathlib import Path
from typing import Any

LECTURES = Path(__file__).parents[1] / "lectures"
PAGES = sorted(LECTURES.glob("[0-9]-*.md"))
BLOCK = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(text: str) -> list[dict[str, Any]]:
    """A page in cells: words, and code without the prompts and answers of the page.

    >>> two = cells("Add:\\n\\n```python\\n>>> 1 + 1\\n2\\n```\\n")
    >>> [(one["cell_type"], "".join(one["source"])) for one in two]
    [('markdown', 'Add:'), ('code', '1 + 1')]
    """
    made, at = [], 0
    for block in BLOCK.finditer(text):
        made.append(_words(text[at : block.start()]))
        kind, code = block[1], block[3]
        if kind == "python":
            made.append(_code(code))
        elif kind in ("{player}", "{slider}"):
            said = "\n".join(line for line in code.splitlines() if not line.startswith(":"))
            made.append(_words(f"*On the page this moves.* {said}"))
        else:
            made.append(_words(block[0]))
        at = block.end()
    made.append(_words(text[at:]))
    return [cell for cell in made if cell["source"]]


def _words(text: str) -> dict[str, Any]:
    # a notebook lies elsewhere: pictures and pages are reached through the page's own folder
    text = re.sub(r"\]\(\.\./pictures/([^)]+)\)", r"](../_images/\1)", text.strip())
    text = re.sub(r"\]\(((?:\.\./)?[\w/-]+)\.md(#[^)]*)?\)", _page, text)
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _page(link: re.Match[str]) -> str:
    place, anchor = link[1], link[2] or ""
    place = place[3:] if place.startswith("../") else f"lectures/{place}"
    return f"](../{place}.html{anchor})"


def _code(block: str) -> dict[str, Any]:
    lines = [line[4:] for line in block.splitlines() if line[:4].rstrip() in (">>>", "...")]
    source = "\n".join(lines).rstrip().splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [],
            "source": source}  # fmt: skip


def notebook(page: Path) -> dict[str, Any]:
    """The notebook of a page, in the format that Jupyter opens."""
    made = cells(page.read_text("utf-8"))
    for number, cell in enumerate(made):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def build(folder: Path) -> None:
    """Write a notebook for each lecture."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        text = json.dumps(notebook(page), ensure_ascii=False, indent=1)
        (folder / f"{page.stem}.ipynb").write_text(text + "\n", encoding="utf-8")
