"""What an experiment finds: tables, claims that hold or do not, and one picture."""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from linsep.data.files.atomic import replace


class Table(NamedTuple):
    """Rows of numbers and words under their headings."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def lines(self) -> Iterator[str]:
        """The table as text, numbers to the right and words to the left."""
        cells = [[_written(cell) for cell in row] for row in self.rows]
        widths = [
            max(len(name), *(len(row[k]) for row in cells), 1)
            for k, name in enumerate(self.columns)
        ]
        words = [
            any(isinstance(row[k], str) and not _numeric(row[k]) for row in self.rows)
            for k in range(len(self.columns))
        ]
        yield self.title
        for row in [list(self.columns), *cells]:
            parts = [
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, words, strict=True)
            ]
            yield "  ".join(parts).rstrip()


class Claim(NamedTuple):
    """A sentence about the numbers found, and whether they bear it out."""

    sentence: str
    holds: bool


class Findings(NamedTuple):
    """The outcome of an experiment.

    `draw(figure)` draws the picture, of which `size` is the size in inches.
    """

    title: str
    data: str
    tables: Sequence[Table]
    claims: Sequence[Claim]
    draw: Callable[[Any], None]
    size: tuple[float, float] = (9.6, 4.2)

    @property
    def hold(self) -> bool:
        """Whether all claims do."""
        return all(claim.holds for claim in self.claims)

    def __str__(self) -> str:
        lines = [self.title, f"Data: {self.data}"]
        for table in self.tables:
            lines += ["", *table.lines()]
        lines.append("")
        lines += [f"{'holds' if c.holds else 'FAILS'}  {c.sentence}" for c in self.claims]
        return "\n".join(lines)

    def record(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        tables = [
            {"title": t.title, "rows": [dict(zip(t.columns, r, strict=True)) for r in t.rows]}
            for t in self.tables
        ]
        claims = [{"sentence": c.sentence, "holds": bool(c.holds)} for c in self.claims]
        return {"title": self.title, "data": self.data, "tables": tables, "claims": claims}

    def picture(self) -> Any:
        """The picture as a matplotlib figure."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=self.size, layout="constrained")
        self.draw(figure)
        return figure

    def save(self, path: Path) -> None:
        """Write the picture to a file; its suffix says which format."""
        path.parent.mkdir(parents=True, exist_ok=True)
        save_figure(self.picture(), path)


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure of matplotlib in one step; the suffix says which format."""
    held = io.BytesIO()
    figure.savefig(held, dpi=120, format=path.suffix[1:])
    replace(path, [held.getvalue()])


def _written(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return "-" if cell is None else str(cell)


def _numeric(text: str) -> bool:
    try:
        float(text.rstrip("%"))
    except ValueError:
        return False
    return True
