"""A recording of a run, in bounded memory.

Few corrections are all kept. When there are more than fit, every second one is dropped and from
then on only every second one is recorded, again and again: what is kept is spread evenly over the
run. Passes are thinned likewise. Rows that are few are kept too, of many an even sample, so that a
film can be made from the recording alone. As a file a trace is JSON lines: a header, the `rows`,
the weights at the `start`, then `update` and `pass` events in order, then `end` with the model
returned.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.sampling import sample_by_class
from linsep.data.files.atomic import replace
from linsep.status import Status
from linsep.train.run.loop import Pass

Array = npt.NDArray[Any]

SCHEMA = 1
FLOATS = 4_000_000  # numbers kept at most, so that a trace stays below about 32 MB
EVENTS = 10_000  # corrections kept at most
ENTRIES = 500_000  # numbers of the rows kept at most, 4 MB
EVERY = 1 << 62


class KeptRows(NamedTuple):
    """The rows of a run, or an even sample of them.

    Attributes
    ----------
    X : (m, d) array
    codes : (m,) class number of each
    numbers : (m,) their places among all rows
    total : how many rows there were
    """

    X: Array
    codes: Array
    numbers: Array
    total: int

    @property
    def whole(self) -> bool:
        """Whether these are all rows."""
        return len(self.numbers) == self.total


class Trace:
    """Everything a run did, or an even sample of it.

    Attributes
    ----------
    updates : list of dict
        One for each correction kept: its number `n` (from 1), `epoch`, `row` (None for a batch
        step), the scores before it, what each class received of the row (`step`), and the weights
        `w` and intercepts `b` after it; with one-vs-rest, `plane` is the (first) class they are
        for.
    passes : list of dict
        One for each pass: `epoch`, `mistakes`, `updates`, `loss`, `eta`, and how many corrections
        there had been `after` it.
    stride : int
        1 when every correction was kept, 2 when every second one was, and so on.
    rows : KeptRows or None
        The rows, or an even sample where there are many.
    start : (w, b) or None
        Weights and intercepts before the first correction, where they are not zero.
    returned : (w, b) or None
        Weights and intercepts of the model that the fit returned. They need not be those after the
        last correction: an average, a pocket and a descent that keeps its best pass differ. None
        where a vote or a kernel decides.
    """

    def __init__(self, learner: str, parameters: dict[str, Any], classes: list[Any]) -> None:
        self.learner = learner
        self.parameters = parameters
        self.classes = classes
        self.updates: list[dict[str, Any]] = []
        self.passes: list[dict[str, Any]] = []
        self.status: Status | None = None
        self.stride = 1
        self.count = 0
        self.rows: KeptRows | None = None
        self.start: tuple[Array, Array] | None = None
        self.returned: tuple[Array, Array] | None = None
        self._every = 1  # of the passes

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The corrections, one after the other."""
        return iter(self.updates)

    def keep_rows(self, X: Any, codes: Array) -> None:
        """Copy the rows, or an even sample of each class where they hold over `ENTRIES` numbers."""
        n, d = X.shape
        index = sample_by_class(codes, max(1, ENTRIES // max(1, d)))
        some = X[index]
        dense = some.toarray() if hasattr(some, "toarray") else np.array(some)
        self.rows = KeptRows(dense, np.array(codes[index]), index, n)

    def begin(self, w: Array, b: Array) -> None:
        """Note the weights before the first correction."""
        if np.any(w) or np.any(b):
            self.start = np.array(w, float), np.array(b, float)

    def __call__(self, done: Pass) -> None:
        """Listen to the end of a pass."""
        if done.epoch % self._every:
            return
        self.passes.append(
            {
                "epoch": done.epoch,
                "mistakes": done.mistakes,
                "updates": done.updates,
                "loss": done.loss,
                "eta": done.eta,
                "after": self.count,
            }
        )
        if len(self.passes) > EVENTS:
            self._every *= 2
            self.passes = [event for event in self.passes if event["epoch"] % self._every == 0]

    def wait(self) -> int:
        """How many corrections the kernel may make before the next one to be recorded is done."""
        return self.stride - self.count % self.stride

    def update(
        self,
        made: int,
        epoch: int,
        row: int | None,
        scores: npt.NDArray[Any],
        step: npt.NDArray[Any],
        w: npt.NDArray[Any],
        b: npt.NDArray[Any],
        plane: int | None = None,
    ) -> None:
        """Listen to corrections: `made` more, of which the last is described."""
        self.count += made
        if made == 0 or self.count % self.stride:
            return
        self.updates.append(
            {
                "n": self.count,
                "epoch": epoch,
                "row": row,
                "scores": scores.tolist(),
                "step": step.tolist(),
                "w": np.array(w),
                "b": np.array(b),
                "plane": plane,
            }
        )
        room = max(64, min(EVENTS, FLOATS // max(1, w.size + b.size)))
        if len(self.updates) > room:
            self.stride *= 2
            self.updates = [event for event in self.updates if event["n"] % self.stride == 0]

    def end(self, status: Status, w: Array | None = None, b: Array | None = None) -> None:
        """Listen to the end of the run: how it ended, and the weights of the model returned."""
        self.status = status
        if w is not None and b is not None:
            self.returned = np.array(w, float, ndmin=2), np.array(b, float, ndmin=1)

    def lines(self) -> Iterator[str]:
        """The trace as JSON lines."""
        header = {
            "linsep_trace": SCHEMA,
            "learner": self.learner,
            "parameters": self.parameters,
            "classes": [
                c.decode(errors="backslashreplace") if isinstance(c, bytes) else c
                for c in self.classes
            ],
            "stride": self.stride,
            "corrections": self.count,
        }
        yield json.dumps(header, default=str)
        if self.rows is not None:
            X, codes, index, total = self.rows
            kept = {"of": total, "index": index.tolist(), "codes": codes.tolist(), "X": X.tolist()}
            yield json.dumps({"kind": "rows", **kept})
        if self.start is not None:
            w, b = (part.tolist() for part in self.start)
            yield json.dumps({"kind": "start", "w": w, "b": b})
        updates = iter(self.updates)
        event = next(updates, None)
        for done in self.passes:
            while event is not None and event["n"] <= done["after"]:
                yield self._line(event)
                event = next(updates, None)
            yield json.dumps({"kind": "pass", **done})
        while event is not None:
            yield self._line(event)
            event = next(updates, None)
        status = self.status or Status.interrupted
        end: dict[str, Any] = {"kind": "end", "status": status.name, "sentence": status.value}
        if self.returned is not None:
            end |= {"w": self.returned[0].tolist(), "b": self.returned[1].tolist()}
        yield json.dumps(end)

    @staticmethod
    def _line(event: dict[str, Any]) -> str:
        plain = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in event.items()}
        return json.dumps({"kind": "update", **plain})

    def save(self, path: str | Path) -> None:
        """Write the trace as a file of JSON lines."""
        replace(path, (f"{line}\n".encode() for line in self.lines()))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a trace that was saved; every line is checked, and errors name the line."""
        from linsep.train.run.trace_file import opened, read_into

        trace = cls("", {}, [])
        with opened(path) as lines:
            read_into(trace, lines, str(path))
        return trace

    def __len__(self) -> int:
        return len(self.updates)

    def __repr__(self) -> str:
        kept = "all" if self.stride == 1 else f"every {self.stride}th"
        return f"<Trace of {self.learner}: {self.count} corrections, {kept} kept>"

    def _repr_html_(self) -> str:
        """The run as a film that plays inside a notebook, or in words where it has no steps."""
        import html
        import tempfile

        import linsep  # films lie downstream: reached as a user would, by public name

        with tempfile.TemporaryDirectory() as folder:
            try:
                page = linsep.film(self, Path(folder) / "run.html").path.read_text("utf-8")
            except linsep.errors.LinsepError as problem:
                return f"<p>{html.escape(repr(self))}<br>{html.escape(str(problem))}</p>"
        style = "box-sizing:border-box;width:100%;height:680px;border:1px solid #c9ced4"
        return (
            f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" style="{style}" '
            'title="The run, step by step"></iframe>'
        )
