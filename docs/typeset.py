"""Formulas of the pages as drawings, made by matplotlib: nothing is fetched when they are read."""

import io
import re
from html import escape

from matplotlib import mathtext, rc_context
from matplotlib.font_manager import FontProperties


def drawing(formula: str, size: float) -> str:
    """A formula as inline SVG that takes the colour of the text around it."""
    buffer = io.StringIO()
    long = re.sub(r"\\(le|ge|ne)(?![a-z])", r"\\\1q", formula)  # matplotlib has no short names
    long = re.sub(r"(\\sum(?:_(?:\{[^}]*\}|\w))?)", r"\\,\1\\; ", long)  # else they touch
    tex = f"${' '.join(long.split())}$"
    with rc_context({"mathtext.fontset": "stix", "svg.hashsalt": "linsep"}):
        depth = mathtext.math_to_image(tex, buffer, FontProperties(size=size), 72, "svg")
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].rstrip()  # a blank would stand before the comma that follows
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="patch_1">.*?</g>', "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'style="fill: #000000"', "", svg)
    style = f'class="formula" style="vertical-align: -{depth:.2f}pt" role="img"'
    return svg.replace("<svg", f'<svg {style} aria-label="{escape(formula, quote=True)}"', 1)


def inline(self, node):  # type: ignore[no-untyped-def]
    from docutils import nodes

    self.body.append(drawing(node.astext(), 13))
    raise nodes.SkipNode


def display(self, node):  # type: ignore[no-untyped-def]
    from docutils import nodes

    self.body.append(f'<div class="formula-block">{drawing(node.astext(), 15)}</div>')
    raise nodes.SkipNode


def setup(app):  # type: ignore[no-untyped-def]
    app.add_html_math_renderer("mathtext", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
