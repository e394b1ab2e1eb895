"""Moved, dimmed and inverted digits: edges keep their meaning where pixels lose theirs."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from linsep import HOG, Channels, LinearSVC, VotedPerceptron
from linsep.views.digits import Digits, digits
from linsep.views.findings import Claim, Findings, Table

SHIFTS = [0, 1, 2, 3, 4]
TRAIN, TEST = 6000, 2000


def find(data: Path | None = None) -> Findings:
    """Learn from digits as they are, then read new ones that were moved or lit differently."""
    given = digits(data)
    X, side = _framed(given, given.X[:TRAIN])
    new, _ = _framed(given, given.X_test[:TEST])
    y, y_new = given.y[:TRAIN], given.y_test[:TEST]
    seen = {f"moved by {by}": _moved(new, side, by) for by in SHIFTS}
    seen["a third as bright"] = new / 3
    seen["on a grey ground"] = 0.3 + 0.7 * new
    seen["as a negative"] = 1 - new
    ways: dict[str, Any] = {
        "pixels": VotedPerceptron(decide="average"),
        "HOG": make_pipeline(HOG((side, side), block=(2, 2)), VotedPerceptron(decide="average")),
        "pixels, SVM": LinearSVC(C=0.1, tol=1e-2),
        "HOG, SVM": make_pipeline(HOG((side, side), block=(2, 2)), LinearSVC(tol=1e-2)),
        "channels, SVM": make_pipeline(
            Channels((side, side), cell=(4, 4)), LinearSVC(C=0.01, tol=1e-2)
        ),
    }
    errors = {
        name: {how: 1 - learner.score(rows, y_new) for how, rows in seen.items()}
        for name, learner in ((name, way.fit(X, y)) for name, way in ways.items())
    }
    cells = ways["HOG"][0]
    count = len(cells.get_feature_names_out())
    edges, pixels = errors["HOG"], errors["pixels"]
    light = list(seen)[len(SHIFTS) :]
    return Findings(
        "Histograms of oriented gradients against pixels",
        f"{given.name}; {len(X):,} framed to {side} by {side}, {len(new):,} new ones changed",
        [
            Table(f"Errors of averaged perceptrons and of support vector machines on "
                  f"{side * side} pixels, {count} numbers of HOG, or channels",
                  ["new digits", *ways],
                  [[how, *(f"{errors[name][how]:.2%}" for name in ways)] for how in seen]),
        ],
        [
            Claim("HOG describes an image by fewer numbers than it has pixels.",
                  count < side * side),
            Claim("It gets fewer of the unchanged digits wrong.",
                  edges["moved by 0"] < pixels["moved by 0"]),
            Claim("Moved by two pixels, HOG gets at most half as many wrong.",
                  edges["moved by 2"] < pixels["moved by 2"] / 2),
            Claim("Brightness, ground and inversion do not matter to HOG.",
                  all(abs(edges[how] - edges["moved by 0"]) < 0.005 for how in light)),
            Claim("Pixels cannot read a negative.", pixels["as a negative"] > 0.8),
            Claim("With a support vector machine, as Dalal and Triggs had it, HOG still wins.",
                  errors["HOG, SVM"]["moved by 0"] < errors["pixels, SVM"]["moved by 0"]
                  and errors["HOG, SVM"]["moved by 2"] < errors["pixels, SVM"]["moved by 2"] / 2),
            Claim("So do channel features with one, on digits moved by two pixels.",
                  errors["channels, SVM"]["moved by 2"] < errors["pixels, SVM"]["moved by 2"]),
        ],
        lambda figure: _draw(figure, errors, X[0].reshape(side, side), side),
    )  # fmt: skip


def _framed(given: Digits, X: Any) -> tuple[Any, int]:
    """Images in an empty frame: 28 by 28 in 32 by 32, or 8 by 8 enlarged four times in 40 by 40."""
    images = X.reshape(-1, *given.shape)
    if given.shape[0] < 16:
        images = images.repeat(4, axis=1).repeat(4, axis=2)
    room = 2 if given.mnist else 4
    images = np.pad(images, ((0, 0), (room, room), (room, room)))
    return images.reshape(len(images), -1), images.shape[1]


def _moved(X: Any, side: int, by: int) -> Any:
    images = np.roll(X.reshape(-1, side, side), (by, by), axis=(1, 2))
    return images.reshape(len(images), -1)


def _draw(figure: Any, errors: dict[str, dict[str, float]], image: Any, side: int) -> None:
    from linsep.views.scene.palette import COLOURS, ORANGE

    left, right = figure.subplots(1, 2)
    left.imshow(image, cmap="Greys", vmax=1.6)
    cells = HOG((side, side)).fit(image.reshape(1, -1))
    votes = cells.transform(image.reshape(1, -1)).reshape(*cells.cells_, -1)
    high, wide = cells.cell
    for i in range(votes.shape[0]):
        for j in range(votes.shape[1]):
            middle = np.array([(j + 0.5) * wide - 0.5, (i + 0.5) * high - 0.5])
            for k, vote in enumerate(votes[i, j]):
                # An edge runs across its gradient.
                angle = np.pi * (k + 0.5) / votes.shape[2] + np.pi / 2
                half = 0.5 * wide * vote * np.array([np.cos(angle), np.sin(angle)])
                left.plot(*zip(middle - half, middle + half, strict=True), color=ORANGE, lw=1.6)
    left.set_xticks(np.arange(0, image.shape[1] + 1, wide) - 0.5, [])
    left.set_yticks(np.arange(0, image.shape[0] + 1, high) - 0.5, [])
    left.grid(color="#999999", lw=0.5)
    left.set_title(f"edges in cells of {high} by {wide} pixels, {votes.shape[2]} directions")
    names = list(errors["pixels"])
    place = np.arange(len(names))
    for k, (name, shares) in enumerate(errors.items()):
        right.barh(place - 0.32 + 0.16 * k, [100 * shares[how] for how in names], 0.15,
                   color=COLOURS[k], hatch=("", "//", "", "//", "..")[k], edgecolor="white",
                   label=name)  # fmt: skip
    right.set_yticks(place, names)
    right.invert_yaxis()
    right.set(xlabel="errors on new digits, %", title="reading changed digits", xlim=(0, 100))
    right.legend(
        frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3, fontsize=8
    )
