"""What happens in each frame, in words and numbers."""

from typing import Any, NamedTuple

import numpy as np

from linsep.views.scene.run import Run

WIDEST = 4  # features whose numbers are written out


class Caption(NamedTuple):
    """What a frame shows: a sentence, the sum that was done, and whether a row was wrong."""

    said: str
    sum: str
    mistake: bool


def captions(run: Run, wrong: list[int]) -> list[Caption]:
    """One caption for each frame; `wrong` counts the rows misplaced at each."""
    n = len(run.rows.X)
    start = "all weights are zero" if not run.W[0].any() else "the weights it was given"
    first = f"Start: {start}. {wrong[0]} of {n} rows are not strictly on their own side."
    captions = [Caption(first, _weights(run, 0), False)]
    places = {int(number): place for place, number in enumerate(run.rows.numbers)}
    for t, event in enumerate(run.events, 1):
        if run.shows_model(t):
            said = f"The model returned: {run.returned}. {_left(wrong[t], n)}"
            captions.append(Caption(said, _weights(run, t), False))
            continue
        place = places.get(event["row"]) if event["row"] is not None else None
        mistake = _mistake(run, event, place, wrong[t - 1])
        said = f"{_opening(run, event, place, mistake)} {_turn(run, t)}{_left(wrong[t], n)}"
        captions.append(Caption(said, _sum(run, t, event, place), mistake))
    return captions


def when(run: Run, t: int) -> str:
    """Which moment of the run a frame shows, as the end of a title."""
    if run.shows_model(t):
        return f", the model returned ({run.returned})"
    n = 0 if t == 0 else run.events[t - 1]["n"]
    return f" after {n:,} of {run.trace.count:,} corrections"


def number(value: float) -> str:
    """A number as it is read.

    >>> number(-0.5), number(3.0), number(1 / 3)
    ('−0.5', '3', '0.3333')
    """
    return f"{value + 0.0:.4g}".replace("-", "−")


def vector(values: Any) -> str:
    """Several numbers."""
    return f"({', '.join(number(float(one)) for one in values)})"


def _opening(run: Run, event: dict[str, Any], place: int | None, mistake: bool) -> str:
    head = f"Correction {event['n']:,}, pass {event['epoch']:,}:"
    if event["row"] is None:
        return f"{head} one step for many rows together."
    who = f"row {event['row']}"
    if place is not None:
        who += f" of class {run.labels[run.rows.codes[place]]}"
    scores = event["scores"]
    if len(scores) != 1:
        return f"{head} {who} was {'taken for another class' if mistake else 'not far ahead'}."
    if event["plane"] is not None:
        who += f", for or against class {run.labels[event['plane']]},"
    side = "on the wrong side" if mistake else "on its side"
    if scores[0] == 0:
        side = "on the boundary, which counts as wrong"
    return f"{head} {who} scored {number(scores[0])}, {side}."


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


def _turn(run: Run, t: int) -> str:
    """How far the boundary turned, if there is one boundary and it was there before."""
    if not run.binary:
        return ""
    before, after = run.W[t - 1, 0], run.W[t, 0]
    lengths = np.linalg.norm(before) * np.linalg.norm(after)
    if lengths == 0:
        return "" if after.any() else "The weights are zero: there is no boundary. "
    angle = np.degrees(np.arccos(np.clip(before @ after / lengths, -1, 1)))
    since = "" if run.every == 1 else " since the frame before"
    return f"The boundary turned by {number(round(float(angle), 1))}°{since}. "


def _left(wrong: int, n: int) -> str:
    if wrong == 0:
        return f"All {n} rows are on their own side."
    return f"{wrong} of {n} rows {'is' if wrong == 1 else 'are'} wrong now."


def _weights(run: Run, t: int) -> str:
    if not run.binary or run.W.shape[2] > WIDEST:
        return ""
    return f"w = {vector(run.W[t, 0])}, b = {number(float(run.b[t, 0]))}"


def _sum(run: Run, t: int, event: dict[str, Any], place: int | None) -> str:
    """w + η y x = w′ with its numbers, where the correction was exactly that."""
    if run.every != 1 or place is None or not event["step"]:
        return _weights(run, t)
    x, first = run.rows.X[place], event["plane"] or 0
    lines = []
    for k, step in enumerate(event["step"]):
        if step == 0:
            continue
        at = 0 if run.binary else first + k
        before, after = run.W[t - 1, at], run.W[t, at]
        reach = np.abs(before).max() + abs(step) * np.abs(x).max()
        if np.abs(before + step * x - after).max() > 1e-5 * reach:
            return _weights(run, t)
        name = "" if run.binary else f" of class {run.labels[at]}"
        lines.append(_line(name, before, step, x, after))
        lines.append(_bias(run, t, at, name))
    return "\n".join(line for line in lines if line)


def _line(name: str, before: Any, step: float, x: Any, after: Any) -> str:
    if len(x) <= WIDEST:
        return f"w{name}: {vector(before)} + ({number(step)}) · {vector(x)} = {vector(after)}"
    long = [number(float(np.linalg.norm(one))) for one in (before, x, after)]
    lengths = f"‖w‖ = {long[0]}, ‖x‖ = {long[1]}, then ‖w‖ = {long[2]}"
    return f"w{name}: w + ({number(step)}) · x; lengths {lengths}"


def _bias(run: Run, t: int, at: int, name: str) -> str:
    before, after = float(run.b[t - 1, at]), float(run.b[t, at])
    if before == after:
        return ""
    return f"b{name}: {number(before)} + ({number(after - before)}) = {number(after)}"
