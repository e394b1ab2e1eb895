"""A unit and a layer as the lectures draw them: inputs, weights on the edges, sum, activation."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from linsep.errors import DataError
from linsep.views.scene.palette import BLACK, BLUE, GREY, ORANGE, axes_of

MOST = 12  # inputs or outputs that can still be read


def unit(model: Any, ax: Any = None) -> Figure:
    """Draw a fitted learner of two classes as one unit: inputs, weights, sum, activation.

    Edges are as thick as their weights are large, blue where positive and dashed orange where
    negative.

    Parameters
    ----------
    model : fitted learner with one hyperplane, or a `linsep.logic.ThresholdUnit`
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> from linsep.data.toys import gates
    >>> figure = linsep.plot.unit(linsep.Perceptron().fit(*gates("AND")))
    """
    W, b, names, activation = _parts(model)
    if len(W) != 1:
        raise DataError(f"The model has {len(W)} hyperplanes; use plot.layer for several units.")
    figure, ax = axes_of(ax, (6.4, 0.75 * max(3, W.shape[1] + 1) + 0.5))
    d = W.shape[1]
    places = _column(d + 1)
    middle = 0.0
    for place, name in zip(places, [*names, "1"], strict=True):
        _node(ax, 0.0, place, name, GREY if name == "1" else BLACK)
    for place, w in zip(places, [*W[0], b[0]], strict=True):
        _edge(ax, (0.0, place), (2.2, middle), w, np.abs([*W[0], b[0]]).max(), 0.4)
    _node(ax, 2.2, middle, "Σ", BLACK)
    _node(ax, 3.5, middle, activation, BLACK, 0.34)
    ax.annotate("", (3.14, middle), (2.46, middle), arrowprops={"arrowstyle": "->"})
    ax.annotate("", (4.5, middle), (3.86, middle), arrowprops={"arrowstyle": "->"})
    ax.text(4.6, middle, _said(model), va="center", ha="left", fontsize=10)
    ax.text(2.8, middle + 0.12, "z", ha="center", va="bottom", fontsize=9)
    _bare(ax, (-0.5, 5.9), places)
    return figure


def layer(model: Any, ax: Any = None) -> Figure:
    """Draw several units over the same inputs: y = σ(Wx + b), a weight on each edge.

    Parameters
    ----------
    model : fitted `Layer`, learner of several classes, or anything with `coef_` and `intercept_`
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep, numpy as np
    >>> X = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 0]])
    >>> Y = np.column_stack([X[:, 0] | X[:, 1], X[:, 2]])
    >>> figure = linsep.plot.layer(linsep.Layer().fit(X, Y))
    """
    W, b, names, activation = _parts(model)
    K, d = W.shape
    figure, ax = axes_of(ax, (6.8, 0.85 * max(3, d + 1, K) + 0.5))
    left, right = _column(d + 1), _column(K)
    largest = np.abs(np.column_stack([W, b])).max()
    for place, name in zip(left, [*names, "1"], strict=True):
        _node(ax, 0.0, place, name, GREY if name == "1" else BLACK)
    for k, there in enumerate(right):
        for j, here in enumerate(left):
            # Labels of different outputs stand at different parts of their edges.
            _edge(ax, (0.0, here), (3.4, there), [*W[k], b[k]][j], largest, 0.3 + 0.16 * (k % 3))
        _node(ax, 3.4, there, activation, BLACK, 0.34)
        ax.annotate("", (4.5, there), (3.76, there), arrowprops={"arrowstyle": "->"})
        ax.text(4.6, there, f"y{_low(k + 1)}", va="center", fontsize=11)
    _bare(ax, (-0.5, 5.2), [*left, *right])
    return figure


def gates(logic: Any, ax: Any = None) -> Figure:
    """Draw two layers of threshold units as gates wired together: every weight on its wire.

    Parameters
    ----------
    logic : `linsep.logic.Network`, such as `linsep.logic.network("x1 ^ x2")`
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import linsep
    >>> figure = linsep.plot.gates(linsep.logic.network("x1 ^ x2"))
    """
    if not hasattr(logic, "hidden") or not hasattr(logic, "output"):
        raise DataError(f"{logic!r:.60} is not a network of two layers; use plot.unit for a unit.")
    hidden = logic.hidden
    if max(logic.n, len(hidden)) > MOST:
        raise DataError(f"The network has {len(hidden)} hidden units; a diagram shows {MOST}.")
    figure, ax = axes_of(ax, (7.4, 0.95 * max(3, logic.n, len(hidden)) + 0.5))
    inputs, middle = _column(logic.n), _column(len(hidden))
    largest = float(max(abs(w) for one in (*hidden, logic.output) for w in one.weights))
    for j, place in enumerate(inputs):
        _node(ax, 0.0, place, f"x{_low(j + 1)}", BLACK)
    for k, (gate, there) in enumerate(zip(hidden, middle, strict=True)):
        for j, here in enumerate(inputs):
            w = float(gate.weights[j])
            if w:
                _edge(ax, (0.0, here), (2.6, there), w, largest, 0.3 + 0.2 * (k % 2))
        _edge(ax, (2.6, there), (5.2, 0.0), float(logic.output.weights[k]), largest, 0.45)
        _node(ax, 2.6, there, _threshold(gate), BLACK, 0.36)
    _node(ax, 5.2, 0.0, _threshold(logic.output), BLACK, 0.36)
    ax.annotate("", (6.2, 0.0), (5.6, 0.0), arrowprops={"arrowstyle": "->"})
    ax.text(6.3, 0.0, "y", va="center", fontsize=11)
    _bare(ax, (-0.5, 6.7), [*inputs, *middle])
    return figure


def activation(ax: Any = None, *, reach: float = 6.0) -> Figure:
    """Draw what a unit makes of its sum: the sign, the step from 0 to 1, and the sigmoid.

    Parameters
    ----------
    ax : matplotlib axes, optional
    reach : scores are shown from −reach to reach

    Examples
    --------
    >>> import linsep
    >>> figure = linsep.plot.activation()
    """
    figure, ax = axes_of(ax, (5.4, 3.4))
    z = np.linspace(-reach, reach, 401)
    ax.plot(z, 1.0 / (1.0 + np.exp(-z)), color=BLUE, lw=2, label="sigmoid 1/(1 + e⁻ᶻ)")
    for low, colour, style, name in ((-1, ORANGE, "--", "sign ±1"), (0, BLACK, ":", "step 0, 1")):
        ax.step([-reach, 0, reach], [low, low, 1], where="pre", color=colour, ls=style, label=name)
    ax.axvline(0, color=GREY, lw=0.5)
    ax.set(xlabel="score z = ⟨w, x⟩ + b", ylabel="what the unit says", ylim=(-1.15, 1.15))
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def _threshold(gate: Any) -> str:
    """The sum from which a gate fires."""
    return f"≥ {-float(gate.bias):.3g}".replace("-", "−")


def _parts(model: Any) -> tuple[Any, Any, list[str], str]:
    """Weights (K, d), biases (K,), names of the inputs, and the sign of the activation."""
    if hasattr(model, "weights") and hasattr(model, "truth_table"):
        W, b = np.array([[float(w) for w in model.weights]]), np.array([float(model.bias)])
    elif hasattr(model, "coef_") and hasattr(model, "intercept_"):
        W, b = np.atleast_2d(np.asarray(model.coef_, float)), np.ravel(model.intercept_)
        if len(W) < len(b):
            raise DataError(
                f"{type(model).__name__} has one set of weights and {len(b)} thresholds, which are "
                "no units of their own. Use plot.weights or plot.boundary."
            )
    else:
        raise DataError(f"{model!r} has no weights to draw; fit a learner with hyperplanes first.")
    if W.shape[1] > MOST or len(W) > MOST:
        raise DataError(
            f"The model has {W.shape[1]} inputs and {len(W)} outputs; a diagram shows {MOST} at "
            "most. Use plot.weights."
        )
    given = getattr(model, "feature_names_in_", None)
    names = [f"x{_low(j + 1)}" for j in range(W.shape[1])]
    if given is not None:
        names = [str(name) for name in given]
    soft = hasattr(model, "predict_proba")
    return W, np.broadcast_to(b, len(W)), names, "σ" if soft else "±1"


def _said(model: Any) -> str:
    if not hasattr(model, "classes_"):
        return "y"
    low, high = (str(label) for label in model.classes_)
    if hasattr(model, "predict_proba"):
        return f"P({high})"
    return f"{high} if z ≥ 0\n{low} if z < 0"


def _column(count: int) -> list[float]:
    return [0.85 * ((count - 1) / 2 - k) for k in range(count)]


def _low(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))


def _node(ax: Any, x: float, y: float, text: str, colour: str, radius: float = 0.26) -> None:
    ax.add_patch(Circle((x, y), radius, facecolor="white", edgecolor=colour, lw=1.3, zorder=3))
    ax.text(x, y, text, ha="center", va="center", fontsize=10 if len(text) < 3 else 7, zorder=4)


def _edge(ax: Any, start: Any, end: Any, w: float, largest: float, at: float) -> None:
    colour, style = (BLUE, "-") if w >= 0 else (ORANGE, "--")
    thick = 0.6 + 2.4 * abs(w) / largest if largest > 0 else 0.6
    ax.plot(*zip(start, end, strict=True), color=colour, ls=style, lw=thick, alpha=0.7, zorder=1)
    x, y = (1 - at) * np.array(start) + at * np.array(end)
    ax.text(x, y, f"{w:.3g}".replace("-", "−"), fontsize=8, ha="center", va="center", zorder=2,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8})  # fmt: skip


def _bare(ax: Any, across: tuple[float, float], places: list[float]) -> None:
    ax.set(xlim=across, ylim=(min(places) - 0.5, max(places) + 0.5), aspect="equal")
    ax.set_axis_off()
