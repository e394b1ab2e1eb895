"""How predictions compare with the truth, counted block by block."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.views.figures import (
    exact_interval,
    per_class,
    probability_figures,
    ranking_figures,
)

Array = npt.NDArray[Any]

SHOWN = 20  # classes up to which a table is drawn
MOST_CLASSES = 1000  # up to which each has its own figures
MOST_KEPT = 1 << 24  # scores kept for areas and losses


class Confusion:
    """Counts of true against predicted classes.

    Examples
    --------
    >>> seen = Confusion(np.array(["ham", "spam"]))
    >>> seen.add(np.array(["ham", "ham", "spam"]), np.array(["ham", "spam", "spam"]))
    >>> seen.error, seen.baseline
    (0.3333333333333333, ('ham', 0.3333333333333333))
    """

    def __init__(self, classes: Array) -> None:
        self.labels: list[Any] = classes.tolist()
        self._place = {label: k for k, label in enumerate(self.labels)}
        if self.labels == [False, True]:  # files and frames have them as words
            words = ("false", "true")
            self._place |= {w: k for k, v in enumerate(words) for w in (v, v.title(), v.upper())}
        self.known = len(self.labels)
        self.counts: dict[tuple[int, int], int] = {}
        self.n = 0
        self._kept: list[tuple[Array, Array | None, Array | None]] = []
        self._entries = 0
        self._figures: dict[str, Any] | None = None

    def add(
        self, truth: Array, predicted: Array, scores: Array | None = None,
        chances: Array | None = None,
    ) -> None:  # fmt: skip
        """Count some rows; scores and probabilities are kept for areas and losses."""
        true = self._codes(truth)
        self._entries += len(true) * len(self.labels)
        self._figures = None
        if scores is not None and self._entries <= MOST_KEPT:
            if chances is not None and chances.shape[1] == 2 and not self.unknown:
                chances = chances[np.arange(len(true)), true]  # of the own class
            self._kept.append((true.astype(np.int32), scores, chances))
        pairs, counts = np.unique(true * (1 << 32) + self._codes(predicted), return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            key = divmod(pair, 1 << 32)
            self.counts[key] = self.counts.get(key, 0) + count
        self.n += len(true)

    @property
    def full(self) -> bool:
        """Whether there is no room for more scores."""
        return self._entries > MOST_KEPT

    def _codes(self, labels: Array) -> npt.NDArray[np.int64]:
        distinct, inverse = np.unique(np.asarray(labels), return_inverse=True)
        codes = []
        for label in distinct.tolist():
            if label not in self._place:  # a class the model has never seen
                self._place[label] = len(self.labels)
                self.labels.append(label)
            codes.append(self._place[label])
        return np.array(codes, np.int64)[inverse]

    @property
    def right(self) -> int:
        """Rows predicted right."""
        return sum(count for (t, p), count in self.counts.items() if t == p)

    @property
    def error(self) -> float:
        """The share of rows predicted wrong."""
        return (self.n - self.right) / self.n

    @property
    def matrix(self) -> list[list[int]]:
        """Counts with a row per true and a column per predicted class."""
        size = range(len(self.labels))
        return [[self.counts.get((t, p), 0) for p in size] for t in size]

    def figures(self) -> dict[str, Any]:
        """What people quote: accuracy and its interval, areas, losses, and each class."""
        if self._figures is None:
            self._figures = self._made_figures()
        return dict(self._figures)

    def _made_figures(self) -> dict[str, Any]:
        labels = [plain(one) for one in self.labels]
        each = per_class(np.array(self.matrix), labels) if len(labels) <= MOST_CLASSES else None
        there = [one["recall"] for one in each or [] if one["rows"]]
        figures: dict[str, Any] = {
            "accuracy": self.right / self.n,
            "accuracy_interval": list(exact_interval(self.right, self.n)),
            "balanced_accuracy": sum(there) / len(there) if there else None,
            "per_class": each,
            "roc_auc": None,
            "roc_auc_interval": None,
            "average_precision": None,
            "log_loss": None,
            "brier": None,
        }
        whole = self._kept and sum(len(codes) for codes, _, _ in self._kept) == self.n
        if not whole or self.unknown:
            return figures
        codes = np.concatenate([one[0] for one in self._kept])
        scores = np.concatenate([one[1] for one in self._kept if one[1] is not None])
        chances = [one[2] for one in self._kept if one[2] is not None]
        joined = np.concatenate(chances) if chances else None
        self._kept = [(codes, scores, joined)]  # in place of the parts
        if joined is not None:
            figures |= probability_figures(codes, joined)
            scores = joined if scores.ndim == 2 else scores
        return figures | ranking_figures(codes, scores)

    @property
    def totals(self) -> list[int]:
        """Rows of each true class."""
        totals = [0] * len(self.labels)
        for (t, _), count in self.counts.items():
            totals[t] += count
        return totals

    @property
    def baseline(self) -> tuple[Any, float]:
        """The most frequent true class, and the error of always saying it."""
        totals = self.totals
        place = totals.index(max(totals))
        return self.labels[place], (self.n - totals[place]) / self.n

    @property
    def strangers(self) -> bool:
        """Whether no row has a label that the model knows."""
        return bool(self.unknown) and not any(self.totals[: self.known])

    @property
    def unknown(self) -> list[Any]:
        """True classes that the model does not know."""
        return self.labels[self.known :]

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return _record(self, self.matrix) | self.figures()

    def text(self) -> str:
        """Errors, and the table of counts where it is small enough to read."""
        label, baseline = self.baseline
        lines = [
            f"{self.error:.2%} of {self.n:,} rows wrong; always saying {plain(label)!r} gets "
            f"{baseline:.2%} wrong."
        ]
        if self.unknown:
            some = ", ".join(repr(one) for one in self.unknown[:5])
            lines.append(f"The model does not know the classes {some}: their rows count as wrong.")
        lines += self._figure_lines()
        if len(self.labels) <= SHOWN:
            lines += ["", *self._table()]
        return "\n".join(lines)

    def _figure_lines(self) -> list[str]:
        figures = self.figures()
        low, high = figures["accuracy_interval"]
        first = [f"Accuracy {figures['accuracy']:.4f} (95 %: {low:.4f} to {high:.4f})"]
        names = {"balanced_accuracy": "balanced accuracy", "roc_auc": "ROC AUC",
                 "average_precision": "average precision", "log_loss": "log loss",
                 "brier": "Brier score"}  # fmt: skip
        for key, name in names.items():
            if figures[key] is not None:
                between = figures.get(f"{key}_interval")
                more = f" ({between[0]:.4f} to {between[1]:.4f})" if between else ""
                first.append(f"{name} {figures[key]:.4f}{more}")
        lines = ["; ".join(first) + "."]
        between = figures["roc_auc_interval"]
        if between and between[0] <= 0.5 <= between[1]:
            lines.append("These rows do not show that it is better than chance: the interval of "
                         "the ROC AUC holds 0.5.")  # fmt: skip
        each = figures["per_class"]
        if each is not None and len(each) <= SHOWN:
            wide = max(8, *(len(str(one["class"])[:20]) + 2 for one in each))
            lines += ["", f"{'class':<{wide}}{'precision':>10}{'recall':>9}{'F1':>9}{'rows':>10}"]
            lines += [
                f"{str(one['class'])[:20]:<{wide}}{one['precision']:>10.4f}{one['recall']:>9.4f}"
                f"{one['f1']:>9.4f}{one['rows']:>10,}"
                for one in each
            ]
        return lines

    def _table(self) -> list[str]:
        names = [str(plain(label)) for label in self.labels]
        matrix = self.matrix
        wide = [
            max(len(names[k][:14]), *(len(f"{row[k]:,}") for row in matrix)) + 2
            for k in range(len(names))
        ]
        first = max(16, *(len(name[:20]) for name in names)) + 2
        head = "true \\ predicted".ljust(first)
        lines = [head + "".join(f"{n[:14]:>{w}}" for n, w in zip(names, wide, strict=True))]
        for name, row in zip(names, matrix, strict=True):
            cells = [f"{count:,}" if count else "·" for count in row]
            shown = "".join(f"{cell:>{w}}" for cell, w in zip(cells, wide, strict=True))
            lines.append(name[:20].ljust(first) + shown)
        return lines


class Progressive:
    """Mistakes of a single pass: each row was judged before it was learnt from.

    Parameters
    ----------
    classes : the labels
    n : rows judged
    mistakes : how many were on the wrong side, or on the boundary, when they came
    totals : rows of each class
    """

    def __init__(self, classes: Array, n: int, mistakes: int, totals: list[int]) -> None:
        self.labels, self.totals = classes.tolist(), totals
        self.n, self.error = n, mistakes / max(1, n)

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON; no class was predicted, so there is no table."""
        return _record(self, None)

    @property
    def baseline(self) -> tuple[Any, float]:
        """The most frequent class, and the error of always saying it."""
        place, total = self.totals.index(max(self.totals)), max(1, sum(self.totals))
        return self.labels[place], (total - self.totals[place]) / total

    def text(self) -> str:
        """The mistakes in a sentence that says what they are."""
        label, baseline = self.baseline
        return (
            f"{self.error:.2%} of {self.n:,} rows were on the wrong side when they came, each "
            f"judged before it was learnt from; always saying {plain(label)!r} gets {baseline:.2%} "
            "wrong. linsep score tells the errors of the model."
        )


def _record(errors: Confusion | Progressive, confusion: list[list[int]] | None) -> dict[str, Any]:
    label, error = errors.baseline
    return {
        "rows": errors.n,
        "error": errors.error,
        "baseline_error": error,
        "baseline_class": plain(label),
        "classes": [plain(one) for one in errors.labels],
        "confusion": confusion,
    }


class Errors:
    """Squared errors of numbers predicted, beside those of always saying the mean."""

    def __init__(self) -> None:
        self.n = 0
        self._mean = self._spread = self._left = 0.0

    def add(self, truth: Array, predicted: Array) -> None:
        """Take in some rows (Chan's update of mean and squared deviation)."""
        truth = np.asarray(truth, np.float64).ravel()
        n = len(truth)
        mean = float(truth.mean())
        apart = mean - self._mean
        total = self.n + n
        self._spread += float(np.square(truth - mean).sum()) + apart**2 * self.n * n / total
        self._mean += apart * n / total
        self._left += float(np.square(truth - np.asarray(predicted).ravel()).sum())
        self.n = total

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return math.sqrt(self._left / self.n)

    def record(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "rows": self.n,
            "rmse": self.rmse,
            "baseline_rmse": math.sqrt(self._spread / self.n),
            "r2": 1.0 - self._left / self._spread if self._spread else None,
        }

    def text(self) -> str:
        """The errors in a sentence."""
        record = self.record()
        share = "" if record["r2"] is None else f"; R² {record['r2']:.4f}"
        return (
            f"Off by {self.rmse:.6g} (root mean square) on {self.n:,} rows; always saying the mean "
            f"is off by {record['baseline_rmse']:.6g}{share}."
        )


def tally_for(classes: Any) -> Any:
    """`Confusion` for classes, `Errors` for numbers."""
    return Errors() if classes is None else Confusion(classes)


def plain(label: Any) -> Any:
    """A label as JSON and text can show it."""
    label = label.item() if isinstance(label, np.generic) else label
    return label.decode("latin-1") if isinstance(label, bytes) else label
