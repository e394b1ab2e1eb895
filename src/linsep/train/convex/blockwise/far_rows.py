"""A logistic step by a model that keeps the losses of rows that Newton's step moves too far.

A row deep on one side has next to no curvature. Where such rows are all that speaks for a
direction, as with columns of heavy tails, Newton's step drives them far across zero, and a line
search then shortens the steps of all other rows, again and again. So the rows K that the quadratic
model misjudges most keep their losses, and the others alone have a quadratic:

    M(s) = gᵀs + ½sᵀHs + Σ_K (φᵢ(zᵢ + ⟨s, aᵢ⟩) − its second-order expansion at zᵢ),   aᵢ = yᵢx̃ᵢ

(`linsep.train.convex.newton.near_kinks` has the same for losses made of quadratic pieces.) M is as
steep as F where it begins, so that F falls along the way to its minimum. A Hessian made elsewhere
serves too: K is taken out of it where it was made, and is right wherever the step begins.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.train.convex.curvature import Curvature

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

FEW = 32  # one row in so many is kept at most: a step of the model costs so little of a Hessian
FEWEST = 64  # however few rows there are
ENTRIES = 1 << 22  # numbers that kept rows may have
KNOWN = 0.1  # of the model's error that rows left out may make, if they are as many as those kept
HELD = 0.25  # part of the slope along a step that F has to fall by: ½ where the model is right
ROUNDS = 3  # in which rows are added at one point
STEPS = 60  # of the model's minimisation, at most
TRIALS = 30  # of its line search
FARTHEST = 1e6  # times a step of the model that the line search goes
LOWEST = 0.1  # of its slope at first, below which a point of a line is as good as the lowest


class Quadratic(NamedTuple):
    """A Hessian of all rows, the point where it was made, and the relative error of its sums."""

    H: Floats
    u: Floats
    digits: float

    @property
    def curvature(self) -> Curvature:
        """It alone, to be solved with."""
        return Curvature(self.H, self.digits)


class FarRows:
    """The rows whose losses are kept, out of those of `sums`."""

    def __init__(self, sums: Any, fit_intercept: bool) -> None:
        self._sums, self._free = sums, fit_intercept
        n, width = sums.blocks.n_rows, sums.blocks.n_features + 1
        self._most = min(max(FEWEST, n // FEW), ENTRIES // width)
        self.places = np.empty(0, np.int64)
        self._rows, self._c = np.empty((0, width)), np.empty(0)

    def __len__(self) -> int:
        return len(self.places)

    def take(self, places: Array) -> None:
        """Keep the losses of these rows, beside those that are kept."""
        self.places = np.union1d(self.places, places)
        rows = self._sums.blocks.rows(self.places)
        self._rows = np.ones((len(rows), rows.shape[1] + 1))
        self._rows[:, :-1] = rows
        self._rows[:, -1] = self._free
        self._rows *= self._sums.signs[self.places, None]
        c = self._sums.c
        self._c = np.full(len(rows), c[0]) if len(c) == 1 else c[self.places]

    def add(self, u: Floats, step: Floats, error: float) -> bool:
        """Keep the rows that make most of a model's `error` at u − step; whether there are any."""
        least = KNOWN * abs(error) / self._most
        places, errors = self._sums.misjudged(u, step, least, self._most)
        new = ~np.isin(places, self.places)
        places, errors = places[new], errors[new]
        if len(places) > self._most:
            places = places[np.argpartition(-errors, self._most)[: self._most]]
        if not len(places) or (len(self) + len(places)) * self._rows.shape[1] > ENTRIES:
            return False
        self.take(places)
        return True

    def step(self, g: Floats, model: Quadratic, u: Floats, enough: float) -> Floats:
        """The −s with the smallest M(s) at u, where the slope of F is g, as far as is `enough`: the
        part of the fall so far that the next one may be."""
        A, c = self._rows, self._c
        rest = model.H - (A.T * _terms(A @ model.u, c)[1]) @ A
        z, s, along = A @ u, np.zeros_like(g), np.zeros_like(g)
        first = g + A.T @ _terms(z, c)[0]  # the slope of all other rows
        for _ in range(STEPS):
            alpha, D = _terms(z, c)
            slope = first + along - A.T @ alpha
            way = -Curvature(rest + (A.T * D) @ A, model.digits).solve(slope)
            falls = -float(slope @ way)
            if not falls > max(0.0, enough * -float(g @ s)):
                break
            dz, bent = A @ way, rest @ way
            line = float((first + along) @ way), max(0.0, float(way @ bent)), falls
            t = _lowest(z, dz, c, *line)
            s, z, along = s + t * way, z + t * dz, along + t * bent
        return -s


def _terms(z: Floats, c: Floats) -> tuple[Floats, Floats]:
    """cσ(−z) and cσ(z)σ(−z) of each row."""
    tail = np.exp(-np.abs(z))
    inverse = 1.0 / (1.0 + tail)
    return c * inverse * np.where(z > 0.0, tail, 1.0), c * tail * inverse * inverse


def _lowest(z: Floats, dz: Floats, c: Floats, slope: float, bend: float, falls: float) -> float:
    """The t with about the smallest t·slope + ½t²·bend + Σ cᵢ log(1 + e^{−zᵢ − t·dzᵢ})."""
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(TRIALS):
        alpha, D = _terms(z + t * dz, c)
        value, curved = slope + t * bend - float(alpha @ dz), bend + float(D @ (dz * dz))
        if abs(value) <= LOWEST * falls:
            break
        low, high = (t, high) if value < 0.0 else (low, t)
        trial = t - value / curved if curved > 0.0 else np.inf
        if not low < trial < high:
            trial = 0.5 * (low + high) if high < np.inf else 4.0 * t
        if trial > FARTHEST:
            break
        t = trial
    return t
