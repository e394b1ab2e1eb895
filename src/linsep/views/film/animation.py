"""A run as moving pictures."""

import io
from pathlib import Path
from typing import Any

import numpy as np

from linsep.data.files.atomic import replace
from linsep.errors import LinsepError
from linsep.views.scene.axes import Flat, WeightView, flatten, weight_view
from linsep.views.scene.geometry import Box, around, cut
from linsep.views.scene.moments import when
from linsep.views.scene.run import Run

FRAMES = 80
SECONDS = 12.0  # at most, but for the last frame
STILL = 2.0


def animate(run: Run, path: Path) -> int:
    """Write the frames as a GIF that goes round; returns how many bytes."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise LinsepError(
            "A GIF is drawn by matplotlib and pillow: pip install 'linsep[plot]'; a film ending in "
            ".html needs neither."
        ) from None

    pictures = [Image.fromarray(frame).quantize(256) for frame in frames(run)]
    each = int(1000 * min(0.5, SECONDS / len(pictures)))
    lasting = [each] * (len(pictures) - 1) + [int(1000 * STILL)]
    made = io.BytesIO()
    pictures[0].save(made, "GIF", save_all=True, append_images=pictures[1:], duration=lasting,
                     loop=0)  # fmt: skip
    return replace(path, [made.getvalue()])


def frames(run: Run) -> Any:
    """Each frame as an array of pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    flat = flatten(run)
    view = weight_view(run, flat)
    for t in range(len(run.W)):
        figure = Figure(figsize=(9.6, 4.6), dpi=80)
        canvas = FigureCanvasAgg(figure)
        draw_frame(figure, run, flat, view, t)
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def draw_frame(figure: Any, run: Run, flat: Flat, view: WeightView, t: int) -> None:
    """The rows on the left, the weights on the right, what happens above."""
    from linsep.views.plots.weight_space import draw_weights, weight_box

    left, right = figure.subplots(1, 2)
    figure.subplots_adjust(left=0.07, right=0.985, bottom=0.26, top=0.85, wspace=0.2)
    wrong = draw_rows(left, run, flat, t, around(flat.points, 0.12, 4 / 3))
    draw_weights(right, run, view, t, weight_box(view))
    words = f"{run.trace.learner}{when(run, t)}: {wrong} of {len(run.rows.X)} rows wrong"
    figure.suptitle(words, fontsize=11)
    part = "" if view.exact else " (slice)" if run.binary else " (one path for each class)"
    left.set_title("input space" if flat.exact else "input space (projected)", fontsize=10)
    right.set_title(f"weight space{part}", fontsize=10)
    for ax, columns in ((left, 3 if run.binary else 6), (right, 2)):
        if ax is left or run.binary:  # the paths of several classes bear their names
            ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14),
                      ncols=columns, columnspacing=1.0, handletextpad=0.3)  # fmt: skip


def draw_rows(ax: Any, run: Run, flat: Flat, t: int, box: Box) -> int:
    """Regions, boundary, rows, rings around the wrong ones; how many these are."""
    from matplotlib.patches import Polygon

    from linsep.views.plots.boundary import points
    from linsep.views.scene.palette import BLACK, PINK, name_class, shades

    planes = flat.planes[t]
    if run.binary:
        planes = np.stack([-planes[0], planes[0]]) / 2
    pale = shades(len(planes))
    for k, plane in enumerate(planes):
        corners = box.corners
        for j, rival in enumerate(planes):
            if j != k and len(corners):
                a, b, c = plane - rival
                corners = cut(corners, a * corners[:, 0] + b * corners[:, 1] + c)
        if len(corners):
            ax.add_patch(Polygon(corners, facecolor=pale(k), edgecolor=BLACK, lw=1.2))
            if not run.binary:
                name_class(ax, run.labels[k], corners.mean(axis=0))
    wrong = run.lead(t) <= 0
    ax.scatter(*flat.points[wrong].T, s=130, facecolors=PINK, alpha=0.45, edgecolors=BLACK,
               linewidths=0.8, label="wrong")  # fmt: skip
    points(flat.points, np.array(run.labels)[run.rows.codes], ax, run.labels)
    row = None if t == 0 else run.events[t - 1]["row"]
    at = np.flatnonzero(run.rows.numbers == row)
    if row is not None and len(at):
        ax.scatter(*flat.points[at].T, s=190, facecolors="none", edgecolors=BLACK, linewidths=2)
    ax.set(xlim=(box.left, box.right), ylim=(box.low, box.high), xlabel=flat.names[0],
           ylabel=flat.names[1])  # fmt: skip
    return int(wrong.sum())
