"""The map of solvers, drawn from the table: `python -m docs.pictures.solver_map`."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from linsep.train.convex.choose import line_for, shape_of
from linsep.views.scene.palette import COLOURS

HERE = Path(__file__).parent
SOLVERS = ("newton", "newton_cg", "dual_descent", "interior_point", "prox_newton", "lbfgs")
PANELS = {
    "logistic, dense": ("logistic", False),
    "hinge, dense": ("hinge", False),
    "logistic, sparse: 20 a row": ("logistic", True),
    "hinge, sparse: 20 a row": ("hinge", True),
}
ENTRIES = 20  # of a sparse row
ROWS, COLUMNS = np.geomspace(30, 1e6, 110), np.geomspace(4, 1e5, 90)


def rows_like(n: int, d: int, sparse: bool):
    """Rows of that size, which nobody reads: one number stands for all."""
    if not sparse:
        return np.broadcast_to(np.float64(0.0), (n, d))
    X, entries = sp.csr_array((n, d)), n * min(d, ENTRIES)
    X.indptr = np.arange(n + 1, dtype=np.int64) * min(d, ENTRIES)
    X.data, X.indices = np.broadcast_to(0.0, entries), np.broadcast_to(np.int64(0), entries)
    return X


def solver_of(n: int, d: int, loss: str, sparse: bool) -> str:
    """What the table says of two classes, with a penalty and weights to be found from zero."""
    return line_for(shape_of(rows_like(n, d, sparse), loss)).solver


def drawn() -> Figure:
    """A panel for each loss and layout: rows across, features up."""
    figure = Figure(figsize=(9.6, 7.6), layout="constrained")
    colours = ListedColormap([COLOURS[k] for k in range(len(SOLVERS))])
    met = set()
    for ax, (title, (loss, sparse)) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
        which = [[SOLVERS.index(solver_of(int(n), int(d), loss, sparse)) for n in ROWS]
                 for d in COLUMNS]  # fmt: skip
        met |= {SOLVERS[k] for k in np.unique(which)}
        ax.pcolormesh(ROWS, COLUMNS, which, cmap=colours, vmin=-0.5, vmax=len(SOLVERS) - 0.5,
                      alpha=0.75, rasterized=True)  # fmt: skip
        ax.set(xscale="log", yscale="log", title=title, xlabel="rows", ylabel="features")
    figure.legend(handles=[Patch(color=COLOURS[k], alpha=0.75, label=name)
                           for k, name in enumerate(SOLVERS) if name in met],
                  loc="outside lower center", ncols=5, frameon=False)  # fmt: skip
    return figure


if __name__ == "__main__":
    drawn().savefig(HERE / "solver-map.png", dpi=90)
