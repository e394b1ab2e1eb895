"""The certified problems: what they ask, the answer in exact or 60-digit numbers, and its digits.

A file of `problems` holds data (floats, exactly as a learner reads them), the objective's name and
parameters, and the answer: fractions where the optimum is rational, otherwise decimals of 60
digits. `proof.py` proves every answer anew from the data alone.

- logistic, softmax: Ω(W) + C Σ cᵢ (−log of the probability of the own class)
- hinge, squared_hinge: Ω(w) + C Σ cᵢ max(0, 1 − zᵢ), or its square
- crammer_singer: ½‖W‖² + C Σ cᵢ max(0, maxₖ(1 + sₖ − s_yᵢ))
- regression: ½ Σ cᵢ (yᵢ − ⟨w, xᵢ⟩ − b)²
- lda, fisher: solutions of linear equations, of which only the weights are compared

with Ω(w) = (1 − ρ)/2 ‖w‖² + ρ‖w‖₁, and without Ω where C is infinite.
"""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import mpmath
import numpy as np

FOLDER = Path(__file__).parent / "problems"
DIGITS = 80  # of the arithmetic in which answers are compared


class Certified(NamedTuple):
    name: str
    about: str
    kind: str
    X: np.ndarray  # floats; the numbers as stored are the data
    y: np.ndarray  # codes 0, 1, ..., or the numbers of a regression
    weights: np.ndarray  # cᵢ
    C: float = 1.0
    l1_ratio: float = 0.0
    fit_intercept: bool = True
    coef: tuple = ()  # rows of fractions: 60 digits are fractions too
    intercept: tuple = ()
    proof: dict = {}

    @property
    def classes(self):
        return int(self.y.max()) + 1 if self.kind != "regression" else 1

    @property
    def fits_float32(self):
        return bool(np.all(self.X.astype(np.float32) == self.X))


def _as_text(value):
    return str(value) if isinstance(value, Fraction) else value


def write(problem):
    """One file: data in lines of rows, answers as text."""
    record = {
        "name": problem.name, "about": problem.about, "kind": problem.kind, "C": str(problem.C),
        "l1_ratio": problem.l1_ratio, "fit_intercept": problem.fit_intercept,
        "weights": problem.weights.tolist(), "y": problem.y.tolist(), "X": problem.X.tolist(),
        "coef": [[_as_text(v) for v in row] for row in problem.coef],
        "intercept": [_as_text(v) for v in problem.intercept], "proof": problem.proof,
    }  # fmt: skip
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in record.items()]
    path = FOLDER / f"{problem.name}.json"
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")


@cache
def read(name):
    record = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for key in ("X", "y", "weights"):
        record[key] = np.array(record[key], dtype=float)
    if record["kind"] != "regression":
        record["y"] = record["y"].astype(int)
    record["C"] = float(record["C"])
    record["coef"] = tuple(tuple(Fraction(v) for v in row) for row in record["coef"])
    record["intercept"] = tuple(Fraction(v) for v in record["intercept"])
    return Certified(**record)


def names():
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def number(value):
    """A float, fraction or text in the arithmetic of `DIGITS` digits."""
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(float(value))


def _losses(problem, scores):
    """The loss of each row, from its scores."""
    for s, y in zip(scores, problem.y.tolist(), strict=True):
        if problem.kind == "regression":
            yield (number(y) - s[0]) ** 2 / 2
        elif problem.kind == "softmax":
            yield mpmath.log(sum(mpmath.exp(t - s[y]) for t in s))
        elif problem.kind == "crammer_singer":
            yield max([mpmath.mpf(0), *(1 + t - s[y] for k, t in enumerate(s) if k != y)])
        else:
            z = s[0] if y else -s[0]
            if problem.kind == "logistic":
                yield mpmath.log1p(mpmath.exp(-z))
            else:
                yield max(mpmath.mpf(0), 1 - z) ** (2 if problem.kind == "squared_hinge" else 1)


def objective(problem, coef, intercept):
    """The objective at any weights, in `DIGITS` digits."""
    W = [[number(v) for v in row] for row in coef]
    b = [number(v) for v in intercept]
    X = [[number(v) for v in row] for row in problem.X.tolist()]
    scores = [
        [mpmath.fdot(row, w) + t for w, t in zip(W, b, strict=True)]
        for row in X
    ]  # fmt: skip
    total = mpmath.fdot(map(number, problem.weights), _losses(problem, scores))
    if problem.kind == "regression" or np.isinf(problem.C):
        return total
    rho = number(problem.l1_ratio)
    flat = [v for row in W for v in row]
    penalty = (1 - rho) / 2 * mpmath.fdot(flat, flat) + rho * mpmath.fsum(map(abs, flat))
    return penalty + number(problem.C) * total


@cache
def optimum(name):
    """The certified least value of the objective."""
    problem = read(name)
    with mpmath.workdps(DIGITS):
        return objective(problem, problem.coef, problem.intercept)


@cache
def attainable(name, single):
    """Digits of the objective that the certified answer itself keeps as floats, less one.

    Weights as floats are off by a part in 1e16 (or 1e7); an offset of a million in the features,
    or an optimum near zero, makes that many digits of the objective.
    """
    problem, kind = read(name), np.float32 if single else np.float64
    coef, intercept = (
        np.array([float(v) for v in np.ravel(part)]).astype(kind).astype(float)
        for part in (problem.coef, problem.intercept)
    )
    with mpmath.workdps(DIGITS):
        return _of_objective(problem, coef.reshape(len(problem.coef), -1), intercept)[0] - 1


def digits_of(error, cap=16.0):
    """−log₁₀ of a relative error, between 0 and what floats hold."""
    return cap if not error else float(min(max(-mpmath.log10(error), 0), cap))


class Digits(NamedTuple):
    objective: float  # of the optimum: how near the objective at these weights comes to it
    weights: float  # of the worst weight, each in the units of its column's spread
    proved: float = float("nan")  # −log₁₀ of the gap that the learner itself proves
    shortfall: float = 0.0  # (F(w) − F*)/F(w): what a gap must be no less than


def compare(problem, coef, intercept, gap=None):
    """How many digits of the certified answer these weights have."""
    with mpmath.workdps(DIGITS):
        coef, intercept = np.atleast_2d(coef), np.atleast_1d(intercept)
        if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
            return Digits(0.0, 0.0, 0.0)
        spread = [number(v) or mpmath.mpf(1) for v in np.ptp(problem.X, axis=0)]
        exact = _apart(problem.coef, problem.intercept)
        found = _apart(coef.tolist(), intercept.tolist())
        size = max(abs(v) * s for row in exact for v, s in zip(row[:-1], spread, strict=True))
        errors = [
            abs(f - e) * s / max(size, abs(e) if j == len(spread) else 0)
            for pair in zip(found, exact, strict=True)
            for j, (f, e, s) in enumerate(zip(*pair, [*spread, 1], strict=True))
        ]
        proved = float("nan") if gap is None else digits_of(mpmath.mpf(float(gap)))
        value, short = _of_objective(problem, coef, intercept)
        return Digits(value, digits_of(max(errors)), proved, short)


def _apart(coef, intercept):
    """(w, b) of each plane; of three and more, which only matter against each other, centred."""
    rows = [[number(v) for v in (*w, b)] for w, b in zip(coef, intercept, strict=True)]
    if len(rows) == 1:
        return rows
    middle = [mpmath.fsum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [[v - m for v, m in zip(row, middle, strict=True)] for row in rows]


def _of_objective(problem, coef, intercept):
    if problem.kind in ("lda", "fisher"):
        return float("nan"), 0.0
    best, value = optimum(problem.name), objective(problem, coef, intercept)
    short = (value - best) / (value or 1)
    if not best:  # a perfect fit: what is left counts against the losses without weights
        zero = np.zeros((len(problem.coef), problem.X.shape[1]))
        best = objective(problem, zero, np.zeros(len(problem.intercept)))
    return digits_of(abs(value - optimum(problem.name)) / best), float(short)
