"""What pages say to have a film, a slider or a list of sessions in them, for Sphinx."""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from . import players, sessions, sliders
from .beside import build, slider_html


def top(directive: Directive) -> str:
    """The way from the page to the folder of all pages."""
    page = directive.state.document.settings.env.docname
    return "../" * page.count("/")


class Player(Directive):
    """A film at one of its steps: `{player} name`, with `:step:` and a sentence below."""

    required_arguments, has_content = 1, True
    option_spec = {"step": directives.nonnegative_int}

    def run(self) -> list[Any]:
        name, step = self.arguments[0], self.options.get("step")
        if name not in players.PLAYERS:
            raise self.error(f"there is no film {name!r}: {', '.join(players.PLAYERS)}")
        words = escape(" ".join(self.content))
        page = f"{top(self)}_static/players/{name}.html" + (f"#t={step}" if step else "")
        html = (
            f'<figure class="player"><div class="film"><iframe src="{page}" title="{words}" '
            f'loading="lazy"></iframe></div><figcaption>{words} '
            f'<a href="{page}">On a page of its own</a></figcaption></figure>'
        )
        return [nodes.raw("", html, format="html")]


class Slide(Directive):
    """Pictures for the values of a slider: `{slider} name`, with a sentence below."""

    required_arguments, has_content = 1, True

    def run(self) -> list[Any]:
        name = self.arguments[0]
        if name not in sliders.SLIDERS:
            raise self.error(f"there is no slider {name!r}: {', '.join(sliders.SLIDERS)}")
        one = sliders.SLIDERS[name]
        words = [sliders.drawn(one, value)[1] for value in one.values]
        return [nodes.raw("", slider_html(name, top(self), words, self.content), format="html")]


class Sessions(Directive):
    """Links to the sessions of the lab."""

    def run(self) -> list[Any]:
        links = "".join(
            f'<li><a href="{top(self)}_static/sessions/{name}.html">{escape(one.title)}</a></li>'
            for name, one in sessions.SESSIONS.items()
        )
        return [nodes.raw("", f"<ul>{links}</ul>", format="html")]


class Notebook(Directive):
    """A link to the notebook of this lecture."""

    def run(self) -> list[Any]:
        page = Path(self.state.document.settings.env.docname).name
        link = f'<a href="{top(self)}notebooks/{page}.ipynb" download>as a notebook</a>'
        return [nodes.raw("", f'<p class="notebook">This page {link}.</p>', format="html")]


def _finished(app: Any, problem: Exception | None) -> None:
    if problem is None and app.builder.name == "html":
        build(Path(app.outdir))


def setup(app: Any) -> dict[str, bool]:
    """Add the directives."""
    for name, made in (
        ("player", Player), ("slider", Slide), ("sessions", Sessions), ("notebook", Notebook),
    ):  # fmt: skip
        app.add_directive(name, made)
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
