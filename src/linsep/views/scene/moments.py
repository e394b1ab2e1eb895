"""Which moment of a run a frame shows, and which frames show a mistake."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.views.scene.run import Run

Array = npt.NDArray[Any]


def when(run: Run, t: int) -> str:
    """Which moment of the run a frame shows, as the end of a title."""
    if run.shows_model(t):
        return f", the model returned ({run.returned})"
    n = 0 if t == 0 else run.events[t - 1]["n"]
    return f" after {n:,} of {run.trace.count:,} corrections"


def mistakes(run: Run, wrong: Array) -> Array:
    """1 for each frame whose correction answered a mistake; `wrong` counts rows misplaced."""
    places = {int(number): place for place, number in enumerate(run.rows.numbers)}
    marks = np.zeros(len(run.W), np.uint8)
    for t, event in enumerate(run.events, 1):
        if not run.shows_model(t):
            place = None if event["row"] is None else places.get(event["row"])
            marks[t] = _mistake(run, event, place, int(wrong[t - 1]))
    return marks


def _mistake(run: Run, event: dict[str, Any], place: int | None, wrong: int) -> bool:
    if event["row"] is None:
        return wrong > 0
    if place is None:
        return run.trace.learner == "Perceptron"
    code, scores = int(run.rows.codes[place]), np.array(event["scores"])
    if len(scores) == 1:
        positive = code == (1 if event["plane"] is None else event["plane"])
        return bool(scores[0] <= 0 if positive else scores[0] >= 0)
    if event["plane"] is not None:
        signs = np.where(np.arange(len(scores)) + event["plane"] == code, 1, -1)
        return bool((signs * scores <= 0).any())
    return bool(scores[code] <= np.delete(scores, code).max())
