"""The oracle: every algorithm of the perceptron family in a few plain lines.

Nothing here is shared with linsep. Numbers are whatever is handed in; with `fractions.Fraction` or
integers every answer is exact. Rows are lists of numbers, classes are numbered from 0, and the
weights of K hyperplanes are K lists [w₁, ..., w_d, b], the intercept last.
"""

from fractions import Fraction
from typing import NamedTuple


class Shown(NamedTuple):
    """One presentation of a row (or of a batch, row None), and the weights after it."""

    epoch: int
    row: int | None
    corrections: int
    scores: list
    step: list
    weights: list


def dot(u, v):
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def extended(x, bias):
    """A row with its constant feature; the intercept moves by `bias` times a step."""
    return [*x, 1 if bias else 0]


def scores(W, x, bias):
    return [dot(w, extended(x, bias)) for w in W]


def moved(W, step, x, bias):
    """wₖ + stepₖ x and bₖ + stepₖ bias."""
    return [[*(w + a * t for w, t in zip(wk, x, strict=False)), wk[-1] + a * bias]
            for wk, a in zip(W, step, strict=True)]  # fmt: skip


def questions(c, planes):
    """What is asked of a row of class c: vectors g for which Σ gₖsₖ must be positive."""
    if planes == 1:
        return [[1 if c == 1 else -1]]
    return [[(k == c) - (k == j) for k in range(planes)] for j in range(planes) if j != c]


def zeros(planes, d):
    return [[Fraction(0)] * (d + 1) for _ in range(planes)]


def online(X, codes, planes, passes, *, eta=1, bias=1, margin=0, start=None, times=None,
           order=None, stop=True):  # fmt: skip
    """Rosenblatt's rule after every row. `times[i]` presents row i so often, a broken part last."""
    W, shown = start or zeros(planes, len(X[0])), []
    for epoch in range(1, passes + 1):
        step_size, before = eta(epoch) if callable(eta) else eta, len(shown)
        for i in order(epoch) if order else range(len(X)):
            for part in presentations(1 if times is None else times[i]):
                s, step, found = scores(W, X[i], bias), [Fraction(0)] * planes, 0
                for g in questions(codes[i], planes):
                    if dot(g, scores(W, X[i], bias)) <= margin:
                        W = moved(W, [part * step_size * k for k in g], X[i], bias)
                        step = [a + part * step_size * k for a, k in zip(step, g, strict=True)]
                        found += 1
                shown.append(Shown(epoch, i, found, s, step, W))
        if stop and not any(p.corrections for p in shown[before:]):
            break
    return shown


def presentations(weight):
    """Weight 2.5 is two presentations and one with half a step."""
    whole = int(weight)
    return [1] * whole + ([weight - whole] if weight > whole else [])


def batches(X, codes, planes, passes, *, size=None, mean=False, eta=1, bias=1, margin=0, start=None,
            weights=None, stop=True):  # fmt: skip
    """Correct by the sum or mean of what `size` rows ask for, all seen by the same weights."""
    W, shown, n = start or zeros(planes, len(X[0])), [], len(X)
    weights, size = weights or [1] * n, size or n
    for epoch in range(1, passes + 1):
        before = len(shown)
        for first in range(0, n, size):
            group, new, found = range(first, min(first + size, n)), W, 0
            total = sum(weights[i] for i in group) if mean else 1
            for i in group:
                for g in questions(codes[i], planes):
                    if weights[i] and dot(g, scores(W, X[i], bias)) <= margin:
                        step = (eta(epoch) if callable(eta) else eta) * Fraction(weights[i]) / total
                        new, found = moved(new, [step * k for k in g], X[i], bias), found + 1
            W = new
            shown.append(Shown(epoch, None, found, [], [], W))
        if stop and not any(p.corrections for p in shown[before:]):
            break
    return shown


def average(shown):
    """The plain mean of the weights after every presentation."""
    planes, width = len(shown[0].weights), len(shown[0].weights[0])
    return [[sum(p.weights[k][j] for p in shown) / len(shown) for j in range(width)]
            for k in range(planes)]  # fmt: skip


def lives(shown, start):
    """Every separator of a run with the number of presentations it survived, in order."""
    found = [[start, 0]]
    for p in shown:
        if p.corrections:
            found.append([p.weights, 0])
        else:
            found[-1][1] += 1
    return found


def misplaced(W, X, codes, bias):
    return sum(
        any(dot(g, scores(W, x, bias)) <= 0 for g in questions(c, len(W)))
        for x, c in zip(X, codes, strict=True)
    )


def pocket(shown, X, codes, bias, start):
    """The weights that misplaced the fewest rows among the longest-lived of each pass.

    A pass in batches offers its last weights. Of equally long lives the one still going on wins,
    then the earliest; of equally few mistakes the earliest.
    """
    best, fewest = None, None
    for epoch in sorted({p.epoch for p in shown}):
        one = [p for p in shown if p.epoch == epoch]
        found = lives(one, start)
        if one[0].row is None:
            found = [[one[-1].weights, 0]]
        start = found[-1][0]
        longest = max(found[:-1], key=lambda pair: pair[1], default=found[-1])
        candidate = found[-1] if found[-1][1] >= longest[1] else longest
        mistakes = misplaced(candidate[0], X, codes, bias)
        if fewest is None or mistakes < fewest:
            best, fewest = candidate[0], mistakes
    return best


def kesler(X, codes, planes, bias):
    """Kesler's construct: row x of class c becomes one row for each rival, in K blocks.

    The block of c holds (x, 1), that of the rival −(x, 1); every one of these rows must score
    positive, so a binary perceptron without intercept on them is the multiclass perceptron.
    """
    for x, c in zip(X, codes, strict=True):
        for g in questions(c, planes):
            yield [a * t for a in g for t in extended(x, bias)]


def vote(separators, x, bias):
    """Two classes: Σ cₙ sgn(⟨wₙ, x⟩ + bₙ); more: the votes of each class. A zero is positive."""
    planes = len(separators[0][0])
    if planes == 1:
        return sum(c if scores(W, x, bias)[0] >= 0 else -c for W, c in separators)
    counted = [0] * planes
    for W, c in separators:
        s = scores(W, x, bias)
        counted[s.index(max(s))] += c
    return counted


def passive_aggressive(X, codes, planes, passes, *, C, variant, bias=1, start=None, stop=True):
    """PA-I and PA-II; several classes by the own class against its strongest rival."""
    W, shown = start or zeros(planes, len(X[0])), []
    for epoch in range(1, passes + 1):
        before = len(shown)
        for i, x in enumerate(X):
            s = scores(W, x, bias)
            g = min(questions(codes[i], planes), key=lambda g: dot(g, s))
            lack, step, found = 1 - dot(g, s), [Fraction(0)] * planes, 0
            if lack > 0:
                square = (dot(x, x) + bias) * dot(g, g)
                if variant == "PA-I":
                    tau = min(C, Fraction(lack) / square) if square else 0
                else:
                    tau = lack / (square + 1 / (2 * Fraction(C)))
                step, found = [tau * k for k in g], 1
                W = moved(W, step, x, bias)
            shown.append(Shown(epoch, i, found, s, step, W))
        if stop and not any(p.corrections for p in shown[before:]):
            break
    return shown


def delta_rule(X, signs, passes, *, eta, start=None, batch=False):
    """Δw = η(t − y)x with outputs y = ±1; an output on the boundary counts as the wrong one."""
    W = start or zeros(1, len(X[0]))
    for _ in range(passes):
        change = zeros(1, len(X[0]))
        for x, t in zip(X, signs, strict=True):
            y = t if t * scores(W, x, 1)[0] > 0 else -t
            step = [eta * Fraction(t - y) / (len(X) if batch else 1)]
            if batch:
                change = moved(change, step, x, 1)
            else:
                W = moved(W, step, x, 1)
        if batch:
            W = [[w + c for w, c in zip(W[0], change[0], strict=True)]]
    return W
