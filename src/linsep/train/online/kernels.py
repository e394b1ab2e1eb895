"""One pass of a correction rule over rows, one after the other.

The kernels change weights in place and keep their counts in `tally`, so that a run can stop after
any block of rows, or after any number of corrections, and go on from there. `present` is for two
classes, `present_classes` for several; what is kept beside the last weights is said by `Kept`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import by_type, inline, kernel
from linsep.rows.int8_screen import error_bound as int8_error
from linsep.rows.int8_screen import int8_score, norm_bound, screens
from linsep.rows.rows import add, add_to, bf16_scores, count, dot, scores, square
from linsep.train.online.averaging import log_correction
from linsep.train.online.bf16_screen import error_bound, relative_error, update_screen
from linsep.train.online.rules import loss, size, spread, wrong

Array = npt.NDArray[Any]

# Places in the tally.
SEEN, UPDATES, MISTAKES, LOSS, RUN, BEST, ROW, STEPS = range(8)
TALLY = 8
LAST, AVERAGE, POCKET = range(3)
NOTHING = np.empty(0)


class Presented(NamedTuple):
    """Rows to present: the class number of each, their order, and the share of a step of each."""

    codes: Array
    order: Array
    scale: Array


class Kept(NamedTuple):
    """What is kept beside the last weights: the lazy sums (or their log), or the longest-lived."""

    kind: int = LAST
    sums: Any = NOTHING
    bias_sums: Array = NOTHING
    longest: Array = NOTHING


class Scratch(NamedTuple):
    """Room for the scores of a row, what each class receives of it, and scores as wide as W."""

    scores: Array
    steps: Array
    wide: Array


@inline
def copy_into(longest, w, b):
    """longest ← (w, b), entry by entry.

    A slice assignment would bring in the compiler's error texts, three seconds of a cold start.
    """
    for j in range(w.shape[0]):
        longest[j] = w[j]
    for k in range(b.shape[0]):
        longest[w.shape[0] + k] = b[k]


@inline
def copy_all_into(longest, W, b):
    """longest ← (W, b), row after row."""
    m = 0
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            longest[m] = W[j, k]
            m += 1
    for k in range(b.shape[0]):
        longest[m + k] = b[k]


@kernel
def present(rule, rows, screen, presented, start, limit, planes, kept, tally, scratch):
    """Correct w after each row of order[start:]; stop after `limit` corrections. Two classes.

    A row whose screen tells that it is right is not read. Returns where it stopped.
    """
    codes, order, scale = presented
    w, b, bias = planes
    keep, u, ub, longest = kept
    s, a, _ = scratch
    seen, run, total = tally[SEEN], tally[RUN], 0.0
    updates = mistakes = 0
    position = order.shape[0]
    norm = norm_bound(screen, w)
    for p in range(start, order.shape[0]):
        i = order[p]
        y = 1.0 if codes[i] == 1 else -1.0
        if screens(screen):
            z = y * (int8_score(screen, i, w) + b[0])
            if not wrong(rule, z - int8_error(screen, i, norm) - 1e-15 * abs(b[0]), y):
                run += 1.0
                seen += 1.0
                continue
        score = dot(rows, i, w) + b[0]
        z = y * score  # z = y(⟨w, x⟩ + b)
        part = scale[p] if scale.shape[0] > 0 else 1.0
        total += part * loss(rule, z)
        if wrong(rule, z, y):
            if keep == POCKET and run > tally[BEST]:
                tally[BEST] = run  # the longest-lived so far
                copy_into(longest, w, b)
            step = part * y * size(rule, z, square(rows, i) + bias)
            add(rows, i, step, w)  # w ← w + ηyx
            b[0] += step * bias  # b ← b + ηy·bias
            if keep == AVERAGE:
                add(rows, i, step * seen, u)  # u ← u + t·ηyx
                ub[0] += step * seen * bias
            norm = norm_bound(screen, w)
            s[0], a[0], tally[ROW] = score, step, i
            run = 0.0
            updates += 1
            mistakes += not z > 0.0
            if updates == limit:
                position = p + 1
                seen += 1.0
                break
        else:
            run += 1.0
        seen += 1.0
    tally[SEEN], tally[RUN] = seen, run
    tally[STEPS] += updates
    tally[UPDATES] += updates
    tally[MISTAKES] += mistakes
    tally[LOSS] += total
    return position


@inline
def correct(rule, rows, i, c, bias, pace, s, a):
    """a ← what each class must receive of row i of class c in a whole step, given its scores s.

    Returns (corrections, mistakes, loss). One score is a question of two classes; several are
    Kesler's construct, the own class against each rival. `pace` says by how much of a step the
    weights move while the rivals are gone through: 1 online, or the share of a last presentation;
    0 in a batch.
    """
    for k in range(a.shape[0]):
        a[k] = 0.0
    rival = -1
    if s.shape[0] == 1:
        y = 1.0 if c == 1 else -1.0
        z = y * s[0]
    else:
        for k in range(s.shape[0]):
            if k != c and (rival < 0 or s[k] > s[rival]):
                rival = k
        y = 1.0 if c < rival else -1.0  # of equal scores the first wins
        z = s[c] - s[rival]
    cost = loss(rule, z)
    if not wrong(rule, z, y):
        return 0, 0, cost
    if rival < 0:
        a[0] = y * size(rule, z, square(rows, i) + bias)
        return 1, int(not z > 0.0), cost
    squared = square(rows, i) + bias if pace > 0.0 else 0.0
    return spread(rule, s, c, squared, pace, a), int(not z > 0.0), cost


class Kesler(NamedTuple):
    """Several classes by Kesler's construct: the own class must outscore each rival."""

    nothing: int = 0

    def settled(self, rule, rows, i, c, s, b, screen):
        relative, k = relative_error(count(rows, i)), 0
        own = -1.0  # the error bound of class c itself, once it is needed
        while k < b.shape[0]:
            z = (s[c] + b[c]) - (s[k] + b[k]) - 1e-15 * (abs(b[c]) + abs(b[k]))
            y = 1.0 if c < k else -1.0
            norms = screen.norm_bounds[c] + screen.norm_bounds[k]
            if k != c and wrong(rule, z - relative * norms, y):
                error = error_bound(rows, i, c if own < 0.0 else k, relative, screen)
                if own < 0.0:
                    own = error
                    continue
                if wrong(rule, z - own - error, y):
                    return False
            k += 1
        return True

    def ask(self, rule, rows, i, c, bias, part, s, a, tally):
        corrections, mistakes, cost = correct(rule, rows, i, c, bias, part, s, a)
        tally[LOSS] += part * cost
        tally[MISTAKES] += mistakes
        return corrections


class OneVsRest(NamedTuple):
    """The classes first, first + 1, ..., each against all others."""

    first: int

    def settled(self, rule, rows, i, c, s, b, screen):
        relative = relative_error(count(rows, i))
        for k in range(b.shape[0]):
            z = s[k] + b[k]
            y = 1.0 if k == c - self.first else -1.0
            z = y * z - 1e-15 * abs(b[k])
            if wrong(rule, z - relative * screen.norm_bounds[k], y) and wrong(
                rule, z - error_bound(rows, i, k, relative, screen), y
            ):
                return False
        return True

    def ask(self, rule, rows, i, c, bias, part, s, a, tally):
        corrections = 0
        for k in range(s.shape[0]):
            y = 1.0 if k == c - self.first else -1.0
            z = y * s[k]
            a[k] = 0.0
            if wrong(rule, z, y):
                a[k] = y * size(rule, z, square(rows, i) + bias)
                corrections += 1
                tally[LOSS] += part * loss(rule, z)
                tally[MISTAKES] += not z > 0.0
        return corrections


Scheme = Kesler | OneVsRest


@by_type
def settled(scheme, rule, rows, i, c, s, b, screen):
    """Whether the scores s of a bfloat16 copy of W prove that row i of class c needs no step."""
    return scheme.settled(rule, rows, i, c, s, b, screen)


@by_type
def ask(scheme, rule, rows, i, c, bias, part, s, a, tally):
    """a ← what each class must receive of row i of class c; returns the number of corrections."""
    return scheme.ask(rule, rows, i, c, bias, part, s, a, tally)


@kernel
def present_classes(
    scheme, rule, rows, screen, presented, start, limit, planes, kept, tally, scratch
):
    """`present` for several classes; one visit to a row serves them all.

    Rows are first scored by a bfloat16 copy of W, where one is kept: see `Bf16Screen`.
    """
    codes, order, scale = presented
    W, b, bias = planes
    keep, log, ub, longest = kept
    s, a, wide = scratch
    position = order.shape[0]
    updates = 0
    for p in range(start, order.shape[0]):
        i, c = order[p], codes[order[p]]
        if screen is not None and screen.norm_bounds.shape[0] > 0:
            bf16_scores(rows, i, screen.V, wide)
            if settled(scheme, rule, rows, i, c, wide, b, screen):
                tally[RUN] += 1.0
                tally[SEEN] += 1.0
                continue
        scores(rows, i, W, wide)
        for k in range(b.shape[0]):
            s[k] = wide[k] + b[k]  # sₖ = ⟨wₖ, x⟩ + bₖ
        part = scale[p] if scale.shape[0] > 0 else 1.0
        corrections = ask(scheme, rule, rows, i, c, bias, part, s, a, tally)
        if corrections > 0:
            if keep == POCKET and tally[RUN] > tally[BEST]:
                tally[BEST] = tally[RUN]
                copy_all_into(longest, W, b)
            for k in range(b.shape[0]):
                s[k] = wide[k] + b[k]
                a[k] *= part
            move(rows, i, a, bias, W, b)
            if keep == AVERAGE:
                log_correction(log, i, a, tally[SEEN], bias, ub)
            if screen is not None and screen.norm_bounds.shape[0] > 0:
                update_screen(rows, i, a, wide, W, screen)
            tally[ROW] = i
            tally[RUN] = 0.0
            tally[UPDATES] += corrections
            updates += 1
            if updates == limit:
                tally[SEEN] += 1.0
                position = p + 1
                break
        else:
            tally[RUN] += 1.0
        tally[SEEN] += 1.0
    tally[STEPS] += updates
    return position


@inline
def move(rows, i, a, bias, W, b):
    """wₖ ← wₖ + aₖx for every class."""
    for k in range(b.shape[0]):
        if a[k] != 0.0:
            add_to(rows, i, a[k], W, k)
            b[k] += a[k] * bias


@kernel
def misplaced(rows, codes, weights, first, W, b, s):
    """How many rows do not lie strictly on their own side, each counted with its weight.

    With first ≥ 0 the hyperplanes stand for the classes first, first + 1, ..., each against all
    others, and a row is counted once for each that has it on the wrong side; with first < 0 they
    are one hyperplane for two classes, or Kesler's for all.
    """
    count = 0.0
    for i in range(codes.shape[0]):
        scores(rows, i, W, s)
        c = codes[i]
        bad = 0
        for k in range(b.shape[0]):
            if first >= 0:
                y = 1.0 if c == first + k else -1.0
                bad += not y * (s[k] + b[k]) > 0.0
            elif b.shape[0] == 1:
                y = 1.0 if c == 1 else -1.0
                bad += not y * (s[0] + b[0]) > 0.0
            elif k != c and not s[c] + b[c] > s[k] + b[k]:
                bad = 1
        if bad > 0:
            count += bad * (weights[i] if weights.shape[0] > 0 else 1.0)
    return count
