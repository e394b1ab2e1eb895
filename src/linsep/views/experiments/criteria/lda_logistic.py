"""Gaussians with one covariance and logistic regression: two ways to the same sigmoid."""

from pathlib import Path
from typing import Any

import numpy as np

from linsep import LinearDiscriminantAnalysis, LogisticRegression
from linsep.views.findings import Claim, Findings, Table

MEANS = np.array([[-1.0, 0.0], [1.0, 0.5]])
COVARIANCE = np.array([[1.0, 0.6], [0.6, 1.5]])
PRIOR = 0.4  # of class 1


def find(data: Path | None = None) -> Findings:
    """Fit both to more and more rows, and compare with the sigmoid behind the data."""
    inverse = np.linalg.inv(COVARIANCE)
    w = inverse @ (MEANS[1] - MEANS[0])  # w = (m₁ − m₀)Σ⁻¹
    b = 0.5 * (MEANS[0] @ inverse @ MEANS[0] - MEANS[1] @ inverse @ MEANS[1])
    b += np.log(PRIOR / (1 - PRIOR))
    truth = np.array([*w, b])
    rows: list[list[Any]] = [["the truth", "", *truth, 0.0]]
    far: dict[str, list[float]] = {"LDA": [], "logistic": []}
    for n in (100, 1000, 10_000, 100_000):
        X, y = _draw_rows(n)
        models = {
            "LDA": LinearDiscriminantAnalysis().fit(X, y),
            "logistic": LogisticRegression(C=np.inf).fit(X, y),
        }
        for name, model in models.items():
            fitted = np.array([*model.coef_[0], model.intercept_[0]])
            far[name].append(float(np.linalg.norm(fitted - truth)))
            rows.append([name, f"{n:,}", *fitted, far[name][-1]])
        if n == 1000:
            shown = X, y, models
    X, y, models = shown
    lda = models["LDA"]
    apart = float(np.abs(lda.predict_proba(X)[:, 1] - _bayes(lda, X)).max())
    small, _ = _draw_rows(50)
    mean, variance = small[:, 0].mean(), small[:, 0].var()
    best = _likelihood(small[:, 0], mean, variance)
    others = [
        _likelihood(small[:, 0], mean + dm, variance * dv)
        for dm in (-0.1, 0, 0.1) for dv in (0.9, 1, 1.1) if (dm, dv) != (0, 1)
    ]  # fmt: skip
    return Findings(
        "Two ways to one sigmoid",
        "rows of two Gaussians with a shared covariance, 40% of them of class 1",
        [
            Table("P(class 1 | x) = σ(w·x + b)",
                  ["found by", "rows", "w1", "w2", "b", "off by"], rows),
        ],
        [
            Claim("LDA's probability is Bayes' rule on its two Gaussians.", apart < 1e-12),
            Claim("Both come close to the truth with 100,000 rows.",
                  far["LDA"][-1] < 0.05 and far["logistic"][-1] < 0.05),
            Claim("Both ways get closer from 100 rows to 100,000, at least tenfold.",
                  all(d[-1] < d[0] / 10 for d in far.values())),
            Claim("Mean and variance (with 1/N) of a sample are its most likely Gaussian.",
                  best > max(others)),
        ],
        lambda figure: _draw(figure, X, y, models, truth),
    )  # fmt: skip


def _draw_rows(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < PRIOR).astype(int)
    return rng.multivariate_normal([0, 0], COVARIANCE, n) + MEANS[y], y


def _bayes(lda: Any, X: Any) -> Any:
    """p(x | 1)P(1) / Σ p(x | k)P(k), straight from the densities."""
    inverse = np.linalg.inv(lda.covariance_)
    parts = []
    for mean, prior in zip(lda.means_, lda.priors_, strict=True):
        away = X - mean
        parts.append(prior * np.exp(-0.5 * np.einsum("ij,jk,ik->i", away, inverse, away)))
    return parts[1] / (parts[0] + parts[1])


def _likelihood(x: Any, mean: float, variance: float) -> float:
    return float(-0.5 * np.sum(np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance))


def _draw(figure: Any, X: Any, y: Any, models: dict[str, Any], truth: Any) -> None:
    from linsep.views.plots import confidence
    from linsep.views.scene.palette import BLACK, BLUE, ORANGE

    left, right = figure.subplots(1, 2)
    confidence(models["logistic"], X, y, left)
    left.set_title("logistic regression: confidence")
    z = np.linspace(-4, 4, 200)
    w = truth[:2] / np.linalg.norm(truth[:2])
    line = z[:, None] * w
    ways = {"LDA": (BLUE, "--"), "logistic": (ORANGE, "-.")}
    right.plot(z, 1 / (1 + np.exp(-(line @ truth[:2] + truth[2]))), color=BLACK, label="the truth")
    for name, (colour, style) in ways.items():
        right.plot(z, models[name].predict_proba(line)[:, 1], color=colour, ls=style, lw=2,
                   label=f"{name}, 1,000 rows")  # fmt: skip
    right.set(xlabel="place along w", ylabel="P(class 1 | x)", title="the same sigmoid twice")
    right.legend(frameon=False, loc="upper left")
