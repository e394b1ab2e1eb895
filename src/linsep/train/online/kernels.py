"""One pass of a correction rule over rows, one after the other.

The kernels change weights in place and keep their counts in `tally`, so that a run can stop after
any block of rows, or after any number of corrections, and go on from there. Averages are lazy:
with u ← u + t·(correction) at presentation t, the mean of all weights after T presentations is
w − u/T, so that averaging costs one more addition per *mistake*, sparse where the row is sparse.
"""

from linsep._compile import kernel, piece
from linsep.rows.int8_screen import drafted, guess, off, reach
from linsep.rows.rows import add, add_to, count, dot, scores, sketch, square
from linsep.train.online.averaging import note
from linsep.train.online.bf16_screen import closer, doubt, follow
from linsep.train.online.rules import loss, size, spread, wrong

# Places in the tally.
SEEN, UPDATES, MISTAKES, LOSS, RUN, BEST, ROW, STEPS = range(8)
TALLY = 8
LAST, AVERAGE, POCKET = range(3)


@piece
def copy_into(best, w, b):
    """best ← (w, b), entry by entry.

    A slice assignment would bring in the compiler's error texts, three seconds of a cold start.
    """
    for j in range(w.shape[0]):
        best[j] = w[j]
    for k in range(b.shape[0]):
        best[w.shape[0] + k] = b[k]


@piece
def copy_all_into(best, W, b):
    """best ← (W, b), row after row."""
    m = 0
    for j in range(W.shape[0]):
        for k in range(W.shape[1]):
            best[m] = W[j, k]
            m += 1
    for k in range(b.shape[0]):
        best[m + k] = b[k]


@kernel
def present(
    rule, rows, draft, codes, scale, order, start, limit, bias, keep, w, b, u, ub, best, tally, s, a
):
    """Correct w after each row of order[start:]; stop after `limit` corrections. Two classes.

    `bias` is the square of the constant feature (0: no intercept). A row whose draft tells that it
    is right is not read. Returns where it stopped.
    """
    seen, run, total = tally[SEEN], tally[RUN], 0.0
    updates = mistakes = 0
    position = order.shape[0]
    length = reach(draft, w)
    for p in range(start, order.shape[0]):
        i = order[p]
        y = 1.0 if codes[i] == 1 else -1.0
        if drafted(draft):
            z = y * (guess(draft, i, w) + b[0])
            if not wrong(rule, z - off(draft, i, length) - 1e-15 * abs(b[0]), y):
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
                copy_into(best, w, b)
            step = part * y * size(rule, z, square(rows, i) + bias)
            add(rows, i, step, w)  # w ← w + ηyx
            b[0] += step * bias  # b ← b + ηy·bias
            if keep == AVERAGE:
                add(rows, i, step * seen, u)  # u ← u + t·ηyx
                ub[0] += step * seen * bias
            length = reach(draft, w)
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


@piece
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
    charge = loss(rule, z)
    if not wrong(rule, z, y):
        return 0, 0, charge
    if rival < 0:
        a[0] = y * size(rule, z, square(rows, i) + bias)
        return 1, int(not z > 0.0), charge
    squared = square(rows, i) + bias if pace > 0.0 else 0.0
    return spread(rule, s, c, squared, pace, a), int(not z > 0.0), charge


@piece
def ahead(rule, rows, i, s, b, c, short):
    """Whether class c outscores all others beyond doubt, by the scores s of first digits."""
    near, k = doubt(count(rows, i)), 0
    own = -1.0  # the doubt about class c itself, once it is needed
    while k < b.shape[0]:
        z = (s[c] + b[c]) - (s[k] + b[k]) - 1e-15 * (abs(b[c]) + abs(b[k]))
        y = 1.0 if c < k else -1.0
        if k != c and wrong(rule, z - near * (short.reach[c] + short.reach[k]), y):
            off = closer(rows, i, c if own < 0.0 else k, near, short)
            if own < 0.0:
                own = off
                continue
            if wrong(rule, z - own - off, y):
                return False
        k += 1
    return True


@piece
def aside(rule, rows, i, s, b, own, short):
    """Whether the own class scores above zero, and all others below, beyond doubt."""
    near = doubt(count(rows, i))
    for k in range(b.shape[0]):
        z = s[k] + b[k]
        y = 1.0 if k == own else -1.0
        z = y * z - 1e-15 * abs(b[k])
        if wrong(rule, z - near * short.reach[k], y) and wrong(
            rule, z - closer(rows, i, k, near, short), y
        ):
            return False
    return True


@kernel
def present_classes(
    rule, rows, codes, scale, order, start, limit, bias, keep, W, b, log, ub, best, tally, s, a,
    wide, short,
):  # fmt: skip
    """`present` for several classes by Kesler's construct; one visit to a row serves them all.

    Rows are first scored by the first digits of W, where these are kept: see `Short`.
    """
    K = b.shape[0]
    position = order.shape[0]
    updates = 0
    for p in range(start, order.shape[0]):
        i, c = order[p], codes[order[p]]
        if short is not None and short.reach.shape[0] > 0:
            sketch(rows, i, short.V, wide)
            if ahead(rule, rows, i, wide, b, c, short):
                tally[RUN] += 1.0
                tally[SEEN] += 1.0
                continue
        scores(rows, i, W, wide)
        for k in range(K):
            s[k] = wide[k] + b[k]  # sₖ = ⟨wₖ, x⟩ + bₖ
        part = scale[p] if scale.shape[0] > 0 else 1.0
        corrections, mistakes, charge = correct(rule, rows, i, c, bias, part, s, a)
        tally[LOSS] += part * charge
        if corrections > 0:
            if keep == POCKET and tally[RUN] > tally[BEST]:
                tally[BEST] = tally[RUN]
                copy_all_into(best, W, b)
            for k in range(K):
                s[k] = wide[k] + b[k]
                a[k] *= part
            move(rows, i, a, bias, W, b)
            if keep == AVERAGE:
                note(log, i, a, tally[SEEN], bias, ub)
            if short is not None and short.reach.shape[0] > 0:
                follow(rows, i, a, wide, W, short)
            tally[ROW] = i
            tally[RUN] = 0.0
            tally[UPDATES] += corrections
            tally[MISTAKES] += mistakes
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


@piece
def move(rows, i, a, bias, W, b):
    """wₖ ← wₖ + aₖx for every class."""
    for k in range(b.shape[0]):
        if a[k] != 0.0:
            add_to(rows, i, a[k], W, k)
            b[k] += a[k] * bias


@kernel
def present_rivals(
    rule, rows, codes, first, scale, order, start, limit, bias, keep, W, b, log, ub, tally, s, a,
    wide, short,
):  # fmt: skip
    """`present` for the classes first, first + 1, ..., each against all others.

    Rows are first scored by the first digits of W, where these are kept: see `Short`.
    """
    position = order.shape[0]
    updates = 0
    for p in range(start, order.shape[0]):
        i = order[p]
        own = codes[i] - first
        if short is not None and short.reach.shape[0] > 0:
            sketch(rows, i, short.V, wide)
            if aside(rule, rows, i, wide, b, own, short):
                tally[SEEN] += 1.0
                continue
        scores(rows, i, W, wide)
        part = scale[p] if scale.shape[0] > 0 else 1.0
        found = 0
        for k in range(b.shape[0]):
            y = 1.0 if k == own else -1.0
            z = y * (wide[k] + b[k])
            a[k] = 0.0
            if wrong(rule, z, y):
                a[k] = part * y * size(rule, z, square(rows, i) + bias)
                found += 1
                tally[LOSS] += part * loss(rule, z)
                tally[MISTAKES] += not z > 0.0
        if found > 0:
            for k in range(b.shape[0]):
                s[k] = wide[k] + b[k]
            move(rows, i, a, bias, W, b)
            if keep == AVERAGE:
                note(log, i, a, tally[SEEN], bias, ub)
            if short is not None and short.reach.shape[0] > 0:
                follow(rows, i, a, wide, W, short)
            tally[ROW] = i
            tally[UPDATES] += found
            updates += 1
            if updates == limit:
                tally[SEEN] += 1.0
                position = p + 1
                break
        tally[SEEN] += 1.0
    tally[STEPS] += updates
    return position


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
