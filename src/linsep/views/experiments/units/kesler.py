"""One-vs-rest leaves regions without a decision; Kesler's construct leaves none."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from linsep import Perceptron, kesler_rows, separability
from linsep.data.toys import three_classes
from linsep.errors import NotConverged
from linsep.views.findings import Claim, Findings, Table


def find(data: Path | None = None) -> Findings:
    """Train both on three clouds, and Kesler's again as one binary perceptron on expanded rows."""
    X, y = three_classes(n=90, spread=0.8, seed=1)
    X = np.round(8 * X) / 8  # sums of eighths are exact, so that runs can be compared to the bit
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        apart = Perceptron(multiclass="ovr", max_iter=2000).fit(X, y)
    rivals = [separability(X, y == k).separable for k in range(3)]
    kesler = Perceptron(shuffle=False, trace=True).fit(X, y)
    shares = {"one-vs-rest": _shares(apart, X, _above_zero), "Kesler": _shares(kesler, X, _ahead)}
    updates, V = _expanded(X, y, kesler.n_iter_)
    recorded = [
        (event["row"], np.column_stack([event["w"], event["b"]])) for event in kesler.trace_.updates
    ]
    same = len(recorded) == len(updates) and all(
        row == other and np.array_equal(W, U)
        for (row, W), (other, U) in zip(recorded, updates, strict=True)
    )
    return Findings(
        "Three classes: each against the rest, or all at once",
        "90 points around the corners of a triangle",
        [
            Table(
                "Share of the plane around the points",
                ["way", "no class", "several classes", "one class", "training errors"],
                [
                    [way, *(f"{share:.1%}" for share in shares[way]),
                     int((model.predict(X) != y).sum())]
                    for way, model in (("one-vs-rest", apart), ("Kesler", kesler))
                ],
            ),
            Table(
                "Kesler's perceptron, and a binary perceptron on the expanded rows",
                ["run", "corrected rows", "passes", "norm of weights"],
                [
                    ["Kesler", len(recorded), kesler.n_iter_,
                     float(np.hypot(np.linalg.norm(kesler.coef_),
                                    np.linalg.norm(kesler.intercept_)))],
                    ["expanded", len(updates), kesler.n_iter_, float(np.linalg.norm(V))],
                ],
            ),
        ],
        [
            Claim("One-vs-rest leaves parts of the plane to no class or to several.",
                  shares["one-vs-rest"][2] < 0.99),
            Claim("Kesler's construct leaves none: everywhere one class is ahead of all others.",
                  shares["Kesler"] == (0.0, 0.0, 1.0)),
            Claim("Kesler's construct separates the three classes, although one of them cannot be "
                  "separated from the rest by a line.",
                  kesler.status_.name == "separated" and False in rivals),
            Claim("It equals the binary perceptron on the expanded rows, update by update.", same),
        ],
        lambda figure: _draw(figure, X, y, apart, kesler),
    )  # fmt: skip


def _shares(model: Any, X: Any, claims: Any, side: int = 300) -> tuple[float, float, float]:
    """Shares of the rectangle around X that no class, several classes, and one class claim."""
    low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
    grid = np.stack(
        np.meshgrid(*(np.linspace(low[j], high[j], side) for j in (0, 1))), axis=-1
    ).reshape(-1, 2)
    count = claims(model, grid).sum(axis=1)
    return float((count == 0).mean()), float((count > 1).mean()), float((count == 1).mean())


def _above_zero(model: Any, rows: Any) -> Any:
    """(n, K) whether each class claims a row for itself against the rest: a score of at least 0."""
    return model.decision_function(rows) >= 0


def _ahead(model: Any, rows: Any) -> Any:
    """(n, K) whether each class claims a row as Kesler does: against every rival, one by one."""
    W, b = model.coef_, model.intercept_
    claims = np.ones((len(rows), len(W)), bool)
    for k in range(len(W)):
        for rival in range(len(W)):
            if rival != k:
                claims[:, k] &= rows @ (W[k] - W[rival]) + (b[k] - b[rival]) > 0
    return claims


def _expanded(X: Any, y: Any, passes: int) -> tuple[list[tuple[int, Any]], Any]:
    """Run a binary perceptron on Kesler's rows: x̃ at the own class, −x̃ at a rival, else 0.

    A row of class c asks, for every rival k in turn, that ⟨α, x̃ at c and −x̃ at k⟩ > 0. Returns
    α as (K, 3) after each row that needed a correction.
    """
    rows, labels = kesler_rows(X, y)
    K = int(y.max()) + 1
    gammas = (labels[:, None] * rows).reshape(len(X), K - 1, K, 3)
    alpha = np.zeros((K, 3))
    updates = []
    for _ in range(passes):
        for i, rivals in enumerate(gammas):
            corrected = False
            for gamma in rivals:
                if (alpha * gamma).sum() <= 0:
                    alpha = alpha + gamma
                    corrected = True
            if corrected:
                updates.append((i, alpha.copy()))
    return updates, alpha


def _draw(figure: Any, X: Any, y: Any, apart: Any, kesler: Any) -> None:
    from linsep.views.plots import boundary
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import COLOURS, shades

    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    across = np.linspace(X[:, 0].min() - 0.6, X[:, 0].max() + 0.6, 400)
    up = np.linspace(X[:, 1].min() - 0.6, X[:, 1].max() + 0.6, 400)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    scores = apart.decision_function(grid).reshape(400, 400, 3)
    claims = (scores >= 0).sum(axis=2)
    alone = np.where(claims == 1, scores.argmax(axis=2), np.nan)
    left.pcolormesh(across, up, alone, cmap=shades(3), vmin=-0.5, vmax=2.5, rasterized=True)
    left.contourf(across, up, claims, levels=[-0.5, 0.5], colors="none", hatches=["///"])
    left.contourf(across, up, claims, levels=[1.5, 3.5], colors="none", hatches=["xxx"])
    for k in range(3):
        left.contour(across, up, scores[:, :, k], levels=[0], colors=COLOURS[k])
    points(X, y, left)
    left.set_title("one-vs-rest: /// no class, xxx several")
    boundary(kesler, X, y, right)
    right.set_title("Kesler: always exactly one class")
    right.set(xlim=across[[0, -1]], ylim=up[[0, -1]])  # of both: they share their axes
