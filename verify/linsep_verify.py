"""Check certificates and models of linsep against data, exactly, with nothing of linsep.

python linsep_verify.py DATA CERTIFICATE [MODEL]: CSV, svmlight or NPY; what `linsep certify` wrote,
or a model file; a model whose weights have to be those of the certificate. Exits with 0 (proved),
1 (refuted) or 2 (cannot tell, or unreadable). docs/certificates.md is the specification.
"""

import argparse
import array
import copy
import csv
import hashlib
import io
import json
import math
import os
import re
import stat
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import pairwise
from threading import Timer

MOST_BYTES, MOST_DATA, MOST_ENTRIES = 1 << 26, 1 << 31, 20_000_000
DECIMAL = re.compile(r"[+-]?(\d{1,400}(\.\d{0,1100})?|\.\d{1,1100})([eE][+-]?\d{1,4})?", re.ASCII)
FLOAT = re.compile(r"-?0x[01](\.[0-9a-f]{1,13})?p[+-]?\d{1,4}", re.ASCII)
WHOLE = re.compile(r"-?(\d{1,4000}|0x[0-9a-f]{1,40000})", re.ASCII)
PAIRS = re.compile(r"\S+([ \t]+\d+:\S+)+[ \t\r]*(#.*)?", re.ASCII)
NPY = re.compile(
    rb"(?s)\x93NUMPY.{4,6}\{'descr': '[<|]([fiub]\d)', 'fortran_order': (True|False), 'shape': "
    rb"\((\d{1,18}), (\d{1,18})\), ?\} *\n"
)
NAMES = "f8 f4 i8 i4 i2 i1 u8 u4 u2 u1 b1 F64 F32 I64 I32"
TYPES = dict(zip(NAMES.split(), "dfqihbQIHBBdfqi", strict=True))
FIELDS = {"loss", "C", "l1", "l2", "intercept", "penalty_weights", "offset", "lower", "upper"}
BITS, ONE, ERROR = 160, 1 << 160, Fraction(1 << 16, 1 << 160)
LOG_TWO = 0xB17217F7D1CF79ABC9E3B39803F2F6AF40F34326


class Ending(Exception):
    """An exit code and a sentence."""


def need(fine, why, code=1):
    if not fine:
        raise Ending(code, f"{'REFUTED' if code == 1 else 'CANNOT TELL'}: {why}.")


readable = partial(need, code=2)


def content(path, most):
    """The bytes of a file; nothing that it says about sizes is believed later."""
    about = os.stat(path)
    good = stat.S_ISREG(about.st_mode) and about.st_size <= most
    readable(good, f"{path!a} is too large, or odd")
    with open(path, "rb") as stream:
        return stream.read(most)


def parse(text):
    """JSON without NaN, infinity or very many brackets."""
    readable(text.count("[") + text.count("{") <= 2_000_000, "too many brackets")
    return json.loads(text, parse_constant=count)


def number(value):
    """None, or a fraction from a number, hexadecimal float text, or text n or n/d."""
    if not isinstance(value, str):
        return None if value is None else Fraction(value)
    if FLOAT.fullmatch(value):
        return Fraction(float.fromhex(value))
    parts = value.split("/", 1)
    readable(all(map(WHOLE.fullmatch, parts)), f"{value!a:.40} is no number")
    return Fraction(*(int(part, 16 if "x" in part else 10) for part in parts))


def numbers(values, length, width=None):
    """A list of numbers, or of lists of `width` numbers."""
    readable(type(values) is list, f"{values!a:.40} is no list")
    need(len(values) == length, f"{len(values)} entries stand where {length} belong")
    return [number(x) if width is None else numbers(x, width) for x in values]


def count(value):
    readable(type(value) is int and value >= 0, f"{value!a:.40} is no count")
    return value


def over_one(fractions):
    """Whole numbers over one denominator."""
    one = 1
    for fraction in fractions:
        if one % fraction.denominator:
            one = math.lcm(one, fraction.denominator)
            readable(one.bit_length() < 1 << 22, "the common denominator is too long")
    return [f.numerator * (one // f.denominator) for f in fractions], one


def decimal(text, place):
    value = float(text) if DECIMAL.fullmatch(text.strip()) else math.inf
    readable(math.isfinite(value), f"{place}: {text[:40]!a} is no finite number")
    return value


def meaning(label):
    """Labels that mean the same, alike: 1, 1.0 and +1; True and true."""
    if DECIMAL.fullmatch(label):
        return int(label) if label.lstrip("+-").isdigit() else Fraction(float(label))
    return label.lower() if label.lower() in ("true", "false") else label


def read_csv(text, about):
    first, target, header = text.partition("\n")[0], about.get("target"), about.get("header")
    cut = about.get("delimiter") or max(",;\t", key=first.count)
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=cut) if line]
    width = len(lines[0])
    target = width - 1 if target is None else count(target)
    readable(target < width > 1, f"there are {width} columns, and no column {target}")
    if header is None:
        cells = lines[0][:target] + lines[0][target + 1 :]
        header = not all(DECIMAL.fullmatch(cell.strip()) for cell in cells)
    rows, labels = [], []
    for at, line in enumerate(lines[bool(header) :], 1 + bool(header)):
        readable(len(line) == width, f"record {at} has {len(line)} cells, not {width}")
        labels.append(line.pop(target).strip())
        values = [decimal(cell, f"record {at}, cell {j + 1}") for j, cell in enumerate(line)]
        rows.append([(j, x) for j, x in enumerate(values) if x])
    return rows, labels, width - 1


def read_svmlight(text, about):
    rows, labels = [], []
    for at, line in enumerate(text.split("\n"), 1):
        label, *cells = line.partition("#")[0].split() or [None]
        pairs = [cell.partition(":") for cell in cells]
        readable(all(j.isdigit() and len(j) < 19 for j, _, _ in pairs), f"line {at}: no index")
        row = [(int(j), decimal(x, f"line {at}")) for j, _, x in pairs]
        readable(all(a[0] < b[0] for a, b in pairwise(row)), f"line {at}: indices do not rise")
        if label is not None:
            rows.append(row)
            labels.append(label)
    least = min((row[0][0] for row in rows if row), default=0)
    base = int(least > 0) if about.get("base") is None else count(about["base"])
    readable(least >= base, f"there is an index {least}, and features count from {base}")
    most = max((row[-1][0] for row in rows if row), default=-1)
    return [[(j - base, x) for j, x in row] for row in rows], labels, most + 1 - base


def read_npy(raw, about):
    head = NPY.match(raw[:4096])
    readable(head, "the header is not that of plain little-endian numbers")
    n, d, turned = int(head[3]), int(head[4]), head[2] == b"True"
    cells = array.array(TYPES[head[1].decode()], raw[head.end() :]).tolist()
    readable(n * d == len(cells) <= MOST_ENTRIES, f"there are {len(cells)} numbers, not {n}x{d}")
    rows = [cells[i::n] if turned else cells[i * d : i * d + d] for i in range(n)]
    target = about.get("target")
    labels = [row.pop(-1 if target is None else count(target)) for row in rows]
    return [[(j, float(x)) for j, x in enumerate(row) if x] for row in rows], labels, d - 1


class Data:
    """Rows of (column, whole number), each number over `unit`, a power of two; classes as codes."""

    def __init__(self, path, about, classes, shape):
        raw = content(path, MOST_DATA)
        text = "" if raw.startswith(b"\x93NUMPY") else raw.decode("utf-8-sig")
        first = next((x for x in text.split("\n") if x.partition("#")[0].strip()), "")
        sparse = PAIRS.fullmatch(first)
        read = read_svmlight if sparse else read_csv if text else read_npy
        rows, labels, d = read(text or raw, about)
        self.n, self.d, self.K = count(shape[0]), count(shape[1]), len(classes)
        fits = len(rows) == len(labels) == self.n > 0 and (d == self.d or (sparse and d < self.d))
        need(fits, f"the data have {len(rows)} rows in {d} columns, the certificate {shape}")
        readable(sum(map(len, rows)) <= MOST_ENTRIES, f"more than {MOST_ENTRIES} numbers")
        self.unit = max((x.as_integer_ratio()[1] for row in rows for _, x in row), default=1)
        ratios = ([(j, *x.as_integer_ratio()) for j, x in row] for row in rows)
        self.rows = [[(j, a * (self.unit // q)) for j, a, q in row] for row in ratios]
        names, labels = [str(c).strip() for c in classes], [str(label) for label in labels]
        if set(labels) != set(names):
            names, labels = list(map(meaning, names)), list(map(meaning, labels))
        readable(len(set(names)) == len(names) > 1, "fewer than two classes, or one twice")
        need(set(labels) == set(names), "the data have other classes than the certificate")
        self.codes = [names.index(label) for label in labels]

    def combine(self, moves):
        """Σ moves[i][k]·xᵢ for each k: {column: number}."""
        totals = {k: {} for k in range(self.K)}
        for i, each in moves.items():
            for k, move in each.items():
                for j, x in self.rows[i]:
                    totals[k][j] = totals[k].get(j, 0) + move * x
        return totals


class Planes:
    """(w, b) of every class in whole numbers; two classes have the planes 0 and (w, b)."""

    def __init__(self, claim, data, free):
        height = 1 if data.K == 2 else data.K
        if claim.get("plane") is not None:
            parts = numbers(claim["plane"], height, data.d + 1)
        else:
            W, b = claim["weights"], claim["bias"]
            W = numbers(W if type(W[0]) is list else [W], height, data.d)
            b = numbers(b if type(b) is list else [b], height)
            parts = [[*w, c] for w, c in zip(W, b, strict=True)]
        need(free or not any(part[-1] for part in parts), "a bias, of planes through the origin")
        self.data, width = data, data.d + 1
        flat, over = over_one([a for part in parts for a in part])
        flat = [0] * (width * data.K - len(flat)) + flat
        self.parts = [flat[k : k + width] for k in range(0, data.K * width, width)]
        self.over, self.unit = over, over * data.unit
        self.weights = Fraction(sum(a * a for p in self.parts for a in p[:-1]), over**2)
        self.biases = Fraction(sum(p[-1] ** 2 for p in self.parts), over**2)

    def scores(self):
        """Of every row its class and ⟨w, x⟩ + b of all classes, times `unit`."""
        for own, row in zip(self.data.codes, self.data.rows, strict=True):
            yield own, [sum(p[j] * x for j, x in row) + p[-1] * self.data.unit for p in self.parts]

    def leads(self):
        """The least and the largest lead that the class of each row has over another."""
        for own, scores in self.scores():
            mine = scores.pop(own)
            yield mine - max(scores), mine - min(scores)

    def least_lead(self):
        least, i = min((low, i) for i, (low, _) in enumerate(self.leads()))
        need(least > 0, f"row {i} (from 0) is not on its side of the plane")
        return Fraction(least, self.unit)


def combination(data, claim, prefix, free):
    """Σ of listed rows against rivals, with multipliers ≥ 0 of sum one whose biases cancel."""
    rows, rivals, alpha = (claim[prefix + name] for name in ("rows", "rivals", "multipliers"))
    alpha, over = over_one(numbers(alpha, len(rows)))
    need(rows and all(count(i) < data.n for i in rows), "no row, or one that the data do not have")
    need((rivals is None) == (data.K == 2), "rivals belong to more than two classes")
    rivals = [1 - data.codes[i] for i in rows] if rivals is None else list(map(count, rivals))
    pairs = list(zip(rows, rivals, strict=True))
    need(len(set(pairs)) == len(pairs), "a row is listed twice")
    need(all(k < data.K and k != data.codes[i] for i, k in pairs), "a rival is no other class")
    need(min(alpha) >= 0 and sum(alpha) == over, "multipliers are negative, or not of sum one")
    moves = {i: dict.fromkeys(range(data.K), 0) for i in rows}
    for (i, k), a in zip(pairs, alpha, strict=True):
        moves[i][k] -= a
        moves[i][data.codes[i]] += a
    unbalanced = free and any(sum(move[k] for move in moves.values()) for k in range(data.K))
    need(not unbalanced, "the multipliers of the classes do not balance")
    sums = [a for total in data.combine(moves).values() for a in total.values()]
    return len(pairs), sums, over * data.unit


def check_separability(claim, data):
    free, separable, quasi = claim["fit_intercept"], claim["separable"], claim["quasi_separable"]
    readable(type(free) is bool and separable is not None, "the certificate says undecided")
    where = "" if free else " through the origin"
    if not separable:
        used, sums, _ = combination(data, claim, "", free)
        need(not any(sums), "the multipliers do not annihilate the rows")
        if quasi:
            low, high = zip(*Planes(claim, data, free).leads(), strict=True)
            need(min(low) >= 0 < max(high), "a row is on the wrong side, or every row on the plane")
        return f"No plane{where} separates the classes: {used} rows rule every one out."
    planes, factor = Planes(claim, data, free), min(2, data.K - 1)
    square, margin = planes.least_lead() ** 2 / (factor * planes.weights), number(claim["margin"])
    need(margin >= 0 and margin**2 <= square, f"the margin is less than {float(margin):.9g}")
    if claim["margin_upper"] != "inf":
        _, sums, unit = combination(data, claim, "bound_", free)
        square, upper = Fraction(sum(a * a for a in sums), 2 * unit**2), claim["margin_upper"]
        need(number(upper) >= 0 and square <= number(upper) ** 2, "margin_upper is too small")
    return f"The classes are separable{where}, with a margin of {float(margin):.6g}."


def check_bound(claim, data):
    free, step = claim["fit_intercept"], claim["bias_step"]
    readable(type(free) is bool and step in ("unit", "radius"), "neither unit nor radius")
    longest = Fraction(max(sum(x * x for _, x in row) for row in data.rows), data.unit**2)
    constant = free * (longest if step == "radius" else Fraction(1))
    planes, radius2 = Planes(claim, data, free), min(2, data.K - 1) * (longest + constant)
    need(constant or not planes.biases, "a bias on a constant feature that is zero")
    square = planes.weights + (planes.biases / constant if constant else 0)
    gamma2 = planes.least_lead() ** 2 / square
    radius, margin, most = (number(claim[name]) for name in ("radius", "margin", "bound"))
    need(radius >= 0 and radius**2 >= radius2, "a row is longer than the radius")
    need(margin >= 0 and margin**2 <= gamma2, "the margin is smaller than claimed")
    need(
        math.floor(radius2 / gamma2) <= most, f"there may be {float(radius2 / gamma2):.9g} mistakes"
    )
    return f"A perceptron makes at most {most if most < 10**15 else float(most)} mistakes."


def log_of(a):
    """log of a positive number over ONE. It and exp are within ERROR, 65,536 units: each of fewer
    than 200 divisions or shifts loses less than one unit, LOG_TWO enters at most 231 times, and
    log a (a ≥ 1) and p log p enlarge what a and p lack by at most 1 and 112."""
    k = a.bit_length() - BITS - 1
    m = a >> k if k > 0 else a << -k
    t = (m - ONE) * ONE // (m + ONE)  # log m = 2 artanh t
    power, total, j = t, 0, 1
    while power not in (0, -1):
        total, power, j = total + power // j, power * t // ONE * t // ONE, j + 2
    return 2 * total + k * LOG_TWO


def exp_of(t):
    """exp of a number that is not positive, both over ONE."""
    k, rest = divmod(max(t, -BITS * ONE), LOG_TWO)
    total, term, j = 0, ONE, 1
    while term:
        total, term, j = total + term, (term * rest >> BITS) // j, j + 1
    return total >> -k


class Objective:
    """Σ Cᵢφᵢ + Σ pⱼ(l1|wⱼ| + ½ l2 wⱼ²) over weights between bounds, as a claim states it."""

    def __init__(self, claim, data):
        of, n, d, height = claim["objective"], data.n, data.d, 1 if data.K == 2 else data.K
        self.data, self.loss, self.free = data, of["loss"], of["intercept"]
        known = self.loss in ("logistic", "hinge", "squared hinge") and type(self.free) is bool
        readable(known and set(of) == FIELDS, "an objective of another form")
        self.C = numbers(of["C"], n) if type(of["C"]) is list else [number(of["C"])] * n
        p, offset, open_ended = of["penalty_weights"], of["offset"], [[None] * d] * height
        self.p = [Fraction(1)] * d if p is None else numbers(p, d)
        self.l1, self.l2 = number(of["l1"]), number(of["l2"])
        need(min([*self.C, self.l1, self.l2, *self.p]) >= 0, "a weight or penalty is negative")
        # Of two classes the first has the plane 0, which is fixed.
        zeros, first = [Fraction(0)] * d, data.K - height
        self.low = [zeros] * first + numbers(of["lower"] or open_ended, height, d)
        self.high = [zeros] * first + numbers(of["upper"] or open_ended, height, d)
        shifts = [[0] * height] * n if offset is None else numbers(offset, n, height)
        self.offset = [[0] * first + shift for shift in shifts]
        self.planes = Planes(claim, data, self.free)

    @staticmethod
    def soft(scores, own):
        """log Σ exp sₖ − s of the own class, within 2·ERROR for each score."""
        top = max(scores)
        total = log_of(sum(exp_of(math.floor((s - top) * ONE)) for s in scores))
        return Fraction(total, ONE) + top - scores[own]

    @staticmethod
    def entropy(shares):
        """−Σ p log p, within ERROR for each share."""
        floors = [math.floor(p * ONE) for p in shares]
        return Fraction(-sum(p * log_of(p) >> BITS for p in floors if p > 0), ONE)

    def value(self):
        """The objective of the weights, and by how much it may be wrong."""
        planes, total, error = self.planes, Fraction(0), 0
        for (own, scores), C, shift in zip(planes.scores(), self.C, self.offset, strict=True):
            scores = [Fraction(s, planes.unit) + o for s, o in zip(scores, shift, strict=True)]
            if self.loss == "logistic":
                total, error = total + C * self.soft(scores, own), error + 2 * C * len(scores)
            else:
                inside = max(s + (k != own) for k, s in enumerate(scores)) - scores[own]
                total += C * (inside if self.loss == "hinge" else inside**2)
        for part, lows, highs in zip(planes.parts, self.low, self.high, strict=True):
            for a, p, low, high in zip(part[:-1], self.p, lows, highs, strict=True):
                w = Fraction(a, planes.over)
                need((low is None or low <= w) and (high is None or w <= high), "a bound is broken")
                total += p * (self.l1 * abs(w) + self.l2 * w * w / 2)
        return total, error * ERROR

    def bound(self, multipliers):
        """What no weights between the bounds fall below, and by how much it may be wrong."""
        data, total, error, classes = self.data, Fraction(0), 0, range(self.data.K)
        flat, over = over_one([a for part in numbers(multipliers, data.K, data.n) for a in part])
        need(min(flat) >= 0, "a multiplier is negative")
        moves = {i: {k: -flat[k * data.n + i] for k in classes} for i in range(data.n)}
        for (i, move), C, own in zip(moves.items(), self.C, data.codes, strict=True):
            need(move[own] == 0, f"row {i} (from 0) has a multiplier for its own class")
            mass = Fraction(-sum(move.values()), over)
            limit = mass if self.loss == "squared hinge" and C > 0 else C
            need(mass <= limit, f"the multipliers of row {i} (from 0) exceed its weight")
            if self.loss == "logistic" and C:
                shares = [1 - mass / C, *(Fraction(-a, over) / C for a in move.values())]
                total, error = total + C * self.entropy(shares), error + C * len(shares)
            elif C:
                total += mass - (mass * mass / (4 * C) if self.loss == "squared hinge" else 0)
            move[own] = int(mass * over)
            total -= sum(Fraction(move[k], over) * self.offset[i][k] for k in classes)
        for k, sums in data.combine(moves).items():
            need(not (self.free and sum(m[k] for m in moves.values())), "classes do not balance")
            for j in range(data.d):
                v = Fraction(sums.get(j, 0), over * data.unit)
                total += self.least(v, j, self.low[k][j], self.high[k][j])
        return total, error * ERROR

    def least(self, v, j, low, high):
        """min p(l1|w| + ½ l2 w²) − vw between the bounds of a weight of column j."""
        l1, l2 = self.p[j] * self.l1, self.p[j] * self.l2
        need(None in (low, high) or low <= high, "a lower bound is above the upper one")
        endless = l2 == 0 and ((high is None and v > l1) or (low is None and v < -l1))
        need(not endless, f"no bound: column {j} (from 0) adds up to {float(v):.6g}")
        at = [Fraction(0), low, high, *([(v - l1) / l2, (v + l1) / l2] if l2 else [])]
        at = [x if low is None else max(x, low) for x in at if x is not None]
        at = {x if high is None else min(x, high) for x in at}
        return min(l1 * abs(x) + l2 * x * x / 2 - v * x for x in at)


def check_gap(claim, data):
    if claim["against_rest"] is not None:  # two classes, of which that one is the second
        k, data = count(claim["against_rest"]), copy.copy(data)
        data.K, data.codes = 2, [int(code == k) for code in data.codes]
    objective, primal, dual = Objective(claim, data), number(claim["primal"]), number(claim["dual"])
    value, error = objective.value()
    need(value - error <= primal, f"the objective is {float(value):.17g}, more than claimed")
    readable(value + error <= primal, "the objective is too near the claim to tell")
    value, error = objective.bound(claim["multipliers"])
    need(value + error >= dual, f"the multipliers show {float(value):.17g}, less than claimed")
    readable(value - error >= dual, "the lower bound is too near the claim to tell")
    primal, dual, gap = float(primal), float(dual), float(primal - dual)
    return f"The objective is at most {primal:.9g}, and at least {dual:.9g}: a gap of {gap:.3g}."


def read_model(raw):
    """The document of a model file, its weights and its intercepts."""
    size, place = int.from_bytes(raw[:8], "little"), raw.index(b'"sha256":"') + 10
    header = parse(raw[8 : 8 + size].decode("ascii"))
    digest = hashlib.sha256(raw[:place] + b"0" * 64 + raw[place + 64 :]).hexdigest().encode()
    readable(digest == raw[place : place + 64], "the SHA-256 of the model file is not its own")
    document, values = parse(header["__metadata__"]["linsep"]), []
    for name in ("coef", "intercept"):
        first, last = (8 + size + count(at) for at in header[name]["data_offsets"])
        values.append(array.array(TYPES[header[name]["dtype"]], raw[first:last]).tolist())
    d = count(document["n_features"])
    return document, [values[0][i : i + d] for i in range(0, len(values[0]), d)], values[1]


def claims_of(raw):
    """Where the data lie in their file, classes, shape, and claims."""
    if not raw.startswith(b"{"):
        document, W, b = read_model(raw)
        readable(document["scaled"] is None and "steps" not in document, "the model maps its rows")
        if document["certificate"] is not None:
            return claims_of(document["certificate"].encode())
        alone = document["status"] == "separated"
        readable(alone, "a model alone does not tell; have `linsep certify --model --export` prove")
        claim = {"claim": "separability", "separable": True, "quasi_separable": False, "margin": 0,
                 "margin_upper": "inf", "fit_intercept": True, "weights": W, "bias": b}  # fmt: skip
        classes = document["classes"]["values"]
        classes = [next(iter(c.values())) if type(c) is dict else c for c in classes]
        return {}, classes, [document["data"][name] for name in ("rows", "columns")], [claim]
    body = parse(raw.decode())
    if body["format"] == "linsep separability certificate":
        claim = {"fit_intercept": True} | body | {"claim": "separability"}
        body |= {"format": "linsep proof", "data": {}, "claims": [claim]}
    known = body["format"] == "linsep proof" and body["version"] == 1 and body["claims"]
    readable(known, "this is no certificate of a version that is known")
    return body["data"], body["classes"], body["shape"], body["claims"]


def check(data, certificate, model=None):
    """Print a sentence for each claim; return the exit code."""
    kinds = {"separability": check_separability, "mistake bound": check_bound, "gap": check_gap}
    try:
        about, classes, shape, claims = claims_of(content(certificate, MOST_BYTES))
        rows = Data(data, about, classes, shape)
        for claim in claims:
            if model is not None:
                _, W, b = read_model(content(model, MOST_BYTES))
                k = claim.get("against_rest")
                W, b = (W, b) if k is None else (W[count(k) :][:1], b[k:][:1])
                same = numbers(claim["weights"], len(W), len(W[0])) == numbers(W, len(W), len(W[0]))
                need(same and numbers(claim["bias"], len(b)) == b, "the model has other weights")
            print("PROVED:", kinds[claim["claim"]](claim, rows))
        return 0
    except Ending as end:
        code, sentence = end.args
    except Exception as why:  # a proof that cannot be followed is none, whatever is wrong with it
        code, sentence = 2, f"CANNOT TELL: unreadable or too large: {why!a:.200}."
    print(sentence)
    return code


def main():
    parser = argparse.ArgumentParser(description="Check a certificate of linsep against data.")
    for name, many in (("data", None), ("certificate", None), ("model", "?")):
        parser.add_argument(name, nargs=many)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--megabytes", type=int, default=4096)
    given = parser.parse_args()
    with suppress(ImportError, ValueError, OverflowError):  # where there is such a limit
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (given.megabytes << 20, hard))
    late = b"CANNOT TELL: checking takes longer than --seconds allows.\n"
    clock = Timer(given.seconds, lambda: os.write(1, late) and os._exit(2))
    clock.daemon = True
    clock.start()
    raise SystemExit(check(given.data, given.certificate, given.model))


if __name__ == "__main__":
    main()
