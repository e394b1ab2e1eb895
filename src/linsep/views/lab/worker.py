"""A process of its own for fits: it reads jobs from its standard input and answers on its output.

The server ends it when nobody waits for the answer any more, which stops a fit at once wherever it
is. Both sides are this program, so that jobs travel as Python values.
"""

import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from linsep.errors import LinsepError


def main() -> None:
    """Answer jobs until there are no more."""
    source, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not land among the answers
    from linsep.views.lab import runs, tables

    works: dict[str, Callable[[Any], Any]] = {
        "run": runs.packed,
        "film": runs.film,
        "model": runs.saved,
        "table": lambda given: tables.read_table(*given),
    }
    _warm()
    out.write(b"ready\n")
    out.flush()
    while head := source.read(8):
        name, given = pickle.loads(source.read(int.from_bytes(head, "little")))
        answer: tuple[bool, Any]
        try:
            answer = True, works[name](given)
        except LinsepError as problem:
            answer = False, str(problem)
        except Exception as problem:
            answer = False, f"This run failed: {type(problem).__name__}. Try other values."
        message = pickle.dumps(answer)
        out.write(len(message).to_bytes(8, "little") + message)
        out.flush()


def _warm() -> None:
    """Load or compile what the first run needs, before anybody waits for it."""
    from linsep.views.lab.request import read_request
    from linsep.views.lab.runs import job_of, packed

    packed(job_of(read_request(b'{"toy": "separable", "learners": ["online"]}'), None, True))
