"""Polynomials of rising degree: bias falls, variance rises, and their sum is least between."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from linsep import LinearRegression, LogisticRegression, bias_variance
from linsep.data.toys import rings
from linsep.views.findings import Claim, Findings, Table

NOISE, ROWS, REPEATS = 0.3, 30, 120
DEGREES = range(9)
AT = np.linspace(-1, 1, ROWS)[:, None]
LOOK = np.linspace(-0.95, 0.95, 41)[:, None]


def find(data: Path | None = None) -> Findings:
    """Resample polynomial fits to a sine, beside the closed form; then a classifier."""
    parts = {
        degree: bias_variance(
            make_pipeline(PolynomialFeatures(degree, include_bias=False), LinearRegression())
            if degree else _Constant(),
            _sample, at=LOOK, truth=_sine(LOOK), repeats=REPEATS,
        )
        for degree in DEGREES
    }  # fmt: skip
    exact = {degree: _closed_form(degree) for degree in DEGREES}
    rows = [
        [degree, one.bias, exact[degree][0], one.variance, exact[degree][1], one.error]
        for degree, one in parts.items()
    ]
    best = min(parts, key=lambda degree: parts[degree].error)
    close = [
        abs(one.bias - exact[d][0]) < 0.1 * exact[d][0] + 0.004
        and abs(one.variance / exact[d][1] - 1) < 3 * np.sqrt(2 / REPEATS / (d + 1))
        for d, one in parts.items()
    ]
    X, y = rings(120, noise=0.35)
    classes = {
        degree: bias_variance(
            make_pipeline(PolynomialFeatures(degree, include_bias=False),
                          LogisticRegression(tol=1e-3)),
            X, y, repeats=20,
        )
        for degree in (1, 2)
    }  # fmt: skip
    return Findings(
        "Bias and variance against the degree of a polynomial",
        f"{ROWS} points of a sine with noise {NOISE:g}, drawn {REPEATS} times; and two noisy rings",
        [
            Table("Regression: resampled, and in closed form",
                  ["degree", "bias²", "exact bias²", "variance", "exact variance", "error"], rows),
            Table("Classification of two rings, rows left out of each draw",
                  ["degree", "bias²", "variance", "errors"],
                  [[d, one.bias, one.variance, f"{one.error:.1%}"] for d, one in classes.items()]),
        ],
        [
            Claim("Bias and variance add up to the error, at every degree.",
                  all(abs(one.bias + one.variance - one.error) < 1e-12
                      for one in [*parts.values(), *classes.values()])),
            Claim("Resampling agrees with the closed form, to three standard errors.", all(close)),
            Claim("Variance rises with every degree.",
                  all(parts[d].variance < parts[d + 1].variance for d in DEGREES[:-1])),
            Claim("The least error lies between the extremes.", 0 < best < max(DEGREES)),
            Claim("Squares turn the rings' bias into a small error.",
                  classes[2].error < classes[1].error / 2),
        ],
        lambda figure: _draw(figure, parts),
    )  # fmt: skip


def _Constant() -> Any:  # noqa: N802
    from sklearn.dummy import DummyRegressor

    return DummyRegressor()


def _sine(x: Any) -> Any:
    return np.sin(4 * x[:, 0])


def _sample(rng: np.random.Generator) -> tuple[Any, Any]:
    return AT, _sine(AT) + NOISE * rng.standard_normal(ROWS)


def _closed_form(degree: int) -> tuple[float, float]:
    """Bias² and variance of least squares at fixed places: E(Y) = Hf and V(Y) = σ² HHᵀ."""
    powers = np.polynomial.chebyshev.chebvander
    H = powers(LOOK[:, 0], degree) @ np.linalg.pinv(powers(AT[:, 0], degree))
    bias = (H @ _sine(AT) - _sine(LOOK)) ** 2
    variance = NOISE**2 * np.square(H).sum(axis=1)
    return float(bias.mean()), float(variance.mean())


def _draw(figure: Any, parts: dict[int, Any]) -> None:
    from linsep.views.plots import bias_variance as draw
    from linsep.views.scene.palette import BLACK, BLUE, GREEN, ORANGE

    left, right = figure.subplots(1, 2)
    draw(parts, left)
    left.set_title("mean over the points")
    right.plot(LOOK[:, 0], _sine(LOOK), color=BLACK, lw=2, label="the sine")
    for degree, colour in ((1, BLUE), (3, GREEN), (8, ORANGE)):
        one = parts[degree]
        spread = np.sqrt(one.variances)
        right.plot(LOOK[:, 0], one.means, color=colour, ls="--", label=f"degree {degree}: E(Y)")
        right.fill_between(LOOK[:, 0], one.means - spread, one.means + spread, color=colour,
                           alpha=0.2, lw=0)  # fmt: skip
    right.set(xlabel="x", ylabel="y", title="mean prediction ± its deviation", ylim=(-1.9, 1.9))
    right.legend(frameon=False, fontsize=8, loc="lower right")
