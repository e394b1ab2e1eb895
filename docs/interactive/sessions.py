"""Sessions of the lab as it saves them: one file each, that needs neither lab nor network."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from linsep.views.lab.request import read_request
from linsep.views.lab.runs import film, job_of


class Session(NamedTuple):
    """What was asked of the lab, and what there is to see."""

    title: str
    request: dict[str, Any]


SESSIONS = {
    "two-orders": Session(
        "Online and batch perceptron on the same rows, on one clock",
        {"toy": "separable", "learners": ["online", "batch"]},
    ),
    "never-ends": Session(
        "Exclusive or: the perceptron goes round in a circle",
        {"toy": "xor", "learners": ["online"], "parameters": {"max_iter": 20}},
    ),
    "lifted": Session(
        "Exclusive or with the product as a third feature",
        {"toy": "xor", "learners": ["online"], "lift": "product"},
    ),
    "three-classes": Session(
        "Three classes by Kesler's construct",
        {"toy": "three-classes", "learners": ["online"]},
    ),
    "soft-and-hard": Session(
        "Perceptron and logistic regression side by side",
        {"toy": "separable", "learners": ["online", "logistic-sgd"]},
    ),
}


def build(folder: Path) -> None:
    """Write all sessions."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, session in SESSIONS.items():
        job = job_of(read_request(json.dumps(session.request).encode()), None, True)
        (folder / f"{name}.html").write_bytes(film(job))


def as_markdown() -> str:
    """A list of links, as a page shows it."""
    lines = [f"- [{one.title}](_static/sessions/{name}.html)" for name, one in SESSIONS.items()]
    return "\n".join(lines)
