"""Weight from height: the exact line, and the same line by batch, minibatch and single steps."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import LinearRegression
from linsep.data.toys import height_weight
from linsep.views.findings import Claim, Findings, Table

WAYS = {
    "exact": LinearRegression(),
    "batch": LinearRegression("batch", tol=1e-12),
    "batch, two-point start": LinearRegression("batch", start="two-point", tol=1e-12),
    "folds of 32": LinearRegression("minibatch", tol=1e-9),
    "single rows": LinearRegression("sgd", tol=1e-9),
}


def find(data: Path | None = None) -> Findings:
    """Fit the line in every way; the descents see features of one size and report centimetres."""
    X, y = height_weight(100)
    from sklearn.base import clone

    models = {name: clone(way).fit(X, y) for name, way in WAYS.items()}
    exact = models["exact"]
    best = exact.loss_curve_[-1]
    rows = [
        [name, float(model.coef_[0]), float(model.intercept_), float(model.loss_curve_[-1]),
         model.n_iter_, float(model.predict([[180.0]])[0])]
        for name, model in models.items()
    ]  # fmt: skip
    first = X[:2, 0], y[:2]
    slope = (first[1][1] - first[1][0]) / (first[0][1] - first[0][0])
    start = LinearRegression("batch", start="two-point", max_iter=1, tol=0, eta0=1e-12)
    begun = _quietly(start, X, y)
    at_180 = [row[-1] for row in rows]
    close = max(abs(a - at_180[0]) for a in at_180)
    descents = [model for name, model in models.items() if name.startswith("batch")]
    return Findings(
        "A line through heights and weights",
        "100 simulated people; weight = 0.9 height − 85, give or take 8 kg",
        [
            Table("ŷ = w x + b", ["solver", "w (kg/cm)", "b (kg)", "½ MSE", "passes",
                                  "kg at 180 cm"], rows),
        ],
        [
            Claim("Every descent predicts 180 cm as the exact line does, to 10 g.", close < 0.01),
            Claim("No descent has a smaller loss than the exact line.",
                  all(model.loss_curve_[-1] >= best * (1 - 1e-9) for model in models.values())),
            Claim("Batch descent never raises the loss.",
                  all((np.diff(m.loss_curve_) <= 1e-9 * best).all() for m in descents)),
            Claim("The two-point start is the line through the first two people.",
                  abs(float(begun.coef_[0]) - slope) < 1e-6 * abs(slope)),
        ],
        lambda figure: _draw(figure, X, y, models, best),
    )  # fmt: skip


def _quietly(model: Any, X: Any, y: Any) -> Any:
    import warnings

    from linsep.errors import NotConverged

    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return model.fit(X, y)


def _draw(figure: Any, X: Any, y: Any, models: dict[str, Any], best: float) -> None:
    from linsep.views.scene.palette import BLACK, COLOURS, GREY, MARKS

    left, right = figure.subplots(1, 2)
    left.scatter(X[:, 0], y, c=GREY, s=18, label="people")
    ends = np.array([[X.min()], [X.max()]])
    left.plot(ends[:, 0], models["exact"].predict(ends), color=BLACK, lw=2, label="the exact line")
    left.set(xlabel="height, cm", ylabel="weight, kg", title="weight from height")
    left.legend(frameon=False, loc="upper left")
    for k, (name, model) in enumerate(list(models.items())[1:]):
        above = np.maximum(np.array(model.loss_curve_) / best - 1, 1e-13)
        right.plot(np.arange(1, len(above) + 1), above, color=COLOURS[k], marker=MARKS[k], ms=3.5,
                   label=name)  # fmt: skip
    right.set(xlabel="pass over the data", ylabel="loss above the least, relative",
              title="how the descents get there", yscale="log", xscale="log")  # fmt: skip
    right.legend(frameon=False, fontsize=8, loc="upper right")
