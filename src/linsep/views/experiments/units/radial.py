"""Votes of the 11 nearest neighbours, before and after the radius is the feature."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from linsep import Radial, separability
from linsep.data.toys import rings
from linsep.views.findings import Claim, Findings, Table

K, TRAIN, NOISE = 11, 60, 0.35


def find(data: Path | None = None) -> Findings:
    """Let neighbours in the plane vote, then neighbours in r²."""
    X, y = rings(TRAIN, noise=NOISE, seed=2)
    new, truth = rings(20_000, noise=NOISE, seed=3)
    radius = Radial([0.0, 0.0]).fit(X)

    def squares(rows: Any) -> Any:
        return radius.transform(rows)[:, -1:]

    plane = KNeighborsClassifier(K).fit(X, y)
    invariant = KNeighborsClassifier(K).fit(squares(X), y)
    errors = {
        "(x₁, x₂)": 1 - plane.score(new, truth),
        "r²": 1 - invariant.score(squares(new), truth),
    }
    angles = np.linspace(0, 2 * np.pi, 361)
    circle = 1.5 * np.column_stack([np.cos(angles), np.sin(angles)])
    turned = {
        "(x₁, x₂)": float(np.ptp(plane.predict_proba(circle)[:, 1])),
        "r²": float(np.ptp(invariant.predict_proba(squares(circle))[:, 1])),
    }
    return Findings(
        "A feature that does not change when the answer does not",
        f"a disc in a ring, {TRAIN} noisy points to learn from and {len(new):,} new",
        [
            Table(f"Votes of {K} nearest neighbours",
                  ["feature", "errors on new points", "spread of the vote along r = 1.5"],
                  [[name, f"{errors[name]:.2%}", turned[name]] for name in errors]),
        ],
        [
            Claim("Neighbours in r² err less than neighbours in the plane.",
                  errors["r²"] < errors["(x₁, x₂)"]),
            Claim("In the plane the vote changes with the angle, which does not matter.",
                  turned["(x₁, x₂)"] > 0.3),
            Claim("In r² it is the same all around.", turned["r²"] == 0.0),
            Claim("Without noise one threshold on the radius separates the classes.",
                  separability(squares(rings(200, noise=0.0)[0]),
                               rings(200, noise=0.0)[1]).separable is True),
        ],
        lambda figure: _draw(figure, X, y, plane, invariant, squares),
        (10.4, 7.6),
    )  # fmt: skip


def _draw(figure: Any, X: Any, y: Any, plane: Any, invariant: Any, squares: Any) -> None:
    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import BLACK, shades

    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    line = np.linspace(-3, 3, 161)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    ways = (("neighbours in (x₁, x₂)", plane, grid), ("neighbours in r²", invariant, squares(grid)))
    for row, (name, voter, rows) in zip(axes, ways, strict=True):
        votes = voter.predict_proba(rows)[:, 1].reshape(len(line), len(line))
        points(X, y, row[0])
        row[0].set_title(f"{name}: training points")
        drawn = row[1].contourf(line, line, votes, levels=np.linspace(0, 1, 12), cmap="Greys")
        row[1].set_title(f"votes (K = {K})")
        row[2].pcolormesh(line, line, votes >= 0.5, cmap=shades(2), rasterized=True)
        row[2].contour(line, line, votes, levels=[0.5], colors=BLACK)
        row[2].set_title(f"prediction (K = {K})")
        for ax in row:
            ax.set(aspect="equal", xlim=(-3, 3), ylim=(-3, 3))
    figure.colorbar(drawn, ax=axes[:, 1], label="share of votes for the disc", shrink=0.6)
