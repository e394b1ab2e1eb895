"""Makes the files of `problems` anew: `python -m linref.make [NAME ...]`, from the folder tests.

Data are multiples of small powers of two, so that floats hold them and exact answers stay short.
"""

import sys
from fractions import Fraction

import mpmath
import numpy as np

from linref import nist, proof, solve
from linref.problems import FOLDER, Certified, write


def rows(n, d, seed, noise=2.0, classes=2, unit=8):
    """Rows on a grid, of classes that overlap."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * unit) / unit
    W = rng.normal(size=(classes, d)) * 1.5
    W[0] = -W[1] if classes == 2 else W[0]
    y = (X @ W.T + noise * rng.gumbel(size=(n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def apart(n, d, seed, unit=8):
    """Rows that a hyperplane separates, with some room."""
    X, _ = rows(n, d, seed, unit=unit)
    w = np.arange(1.0, d + 1) * np.where(np.arange(d) % 2, -1, 1)
    s = X @ w / np.linalg.norm(w)
    return X[np.abs(s) > 0.3], (s > 0).astype(int)[np.abs(s) > 0.3]


def quarters(n, seed):
    return np.random.default_rng(seed).integers(1, 9, n) / 4.0


def stretched(X):
    """Columns of sizes 2⁻²⁰, 1, 2²⁰, ..."""
    return X * np.ldexp(1.0, 20 * (np.arange(X.shape[1]) % 3 - 1))


def nearly_collinear(X, y):
    """A last column that differs from the first by a millionth of its size."""
    return np.column_stack([X, X[:, 0] + np.ldexp(X[:, 1] * X[:, 2], -20)]), y


def nearly_apart(n, d, seed):
    """Separable but for one row, which lies on the wrong side of its nearest neighbour by 2⁻¹⁰."""
    X, y = apart(n, d, seed)
    near = X[y == 1][0]
    wrong = near + np.ldexp(1.0, -10) * np.eye(d)[0]
    return np.vstack([X, wrong]), np.append(y, 0)


def touching(n, d, seed):
    """Separable but for two points of the hyperplane, each in both classes: quasi-separable."""
    X, y = apart(n, d, seed)  # by a hyperplane of normal (1, -2, 3)
    on = np.array([[2.0, 1.0, 0.0], [0.0, 1.5, 1.0]])
    return np.vstack([X, on, on]), np.r_[y, 0, 0, 1, 1]


def tied(n, d, seed):
    """Few different rows, many times each, with both labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, d)).astype(float)
    y = (rng.random(n) < 0.25 + 0.5 * (X[:, 0] > X[:, 1])).astype(int)
    return X, y


SHIFT = 2.0**20
WIDE = (9, 12, 4)


def changed(change, seed):
    X, y = rows(28, 3, seed)
    return change(X), y


PLAIN = {  # data that every objective is given: name, what it is, X and y
    "": ("rows that overlap", lambda: rows(28, 3, 1)),
    "scaled": ("columns of sizes 1e-6, 1 and 1e6", lambda: changed(stretched, 9)),
    "shifted": ("features with an offset of a million", lambda: changed(lambda X: X + SHIFT, 10)),
    "wide": ("more columns than rows", lambda: rows(*WIDE)),
    "separable": ("rows that a hyperplane separates", lambda: apart(28, 3, 5)),
    "nearly-separable": ("separable but for one row by 1/1000", lambda: nearly_apart(24, 2, 6)),
    "quasi-separable": (
        "separable but for points of the hyperplane that are in both classes",
        lambda: touching(24, 3, 12),
    ),
    "collinear": (
        "a column that another repeats but for a millionth",
        lambda: nearly_collinear(*rows(28, 3, 7)),
    ),
    "tied": ("few different rows, many times each, with both labels", lambda: tied(28, 3, 8)),
}  # fmt: skip


def variants(kind, about):
    """(name, about, X, y, more) of an objective for two classes."""
    for data, (what, make) in PLAIN.items():
        yield f"{kind}-{data}".rstrip("-"), f"{about}: {what}", *make(), {}
    X, y = rows(28, 3, 11)
    yield (
        f"{kind}-weights",
        f"{about}: rows count 1/4 to 2 times",
        X,
        y,
        {"weights": quarters(28, 0)},
    )
    yield f"{kind}-strong", f"{about}: C = 1/1024", X, y, {"C": 2.0**-10}
    yield f"{kind}-weak", f"{about}: C = 1024", X, y, {"C": 2.0**10}
    yield f"{kind}-no-intercept", f"{about}: no intercept", X, y, {"fit_intercept": False}


def two_classes():
    yield from (("logistic", *v) for v in variants("logistic", "two classes, ½‖w‖²"))
    for data in ("", "scaled", "shifted", "nearly-separable", "collinear", "tied"):
        what, make = PLAIN[data]
        name = f"likelihood-{data}".rstrip("-")
        yield "logistic", name, f"maximum likelihood: {what}", *make(), {"C": np.inf}
    X, y = rows(28, 3, 11)
    yield "logistic", "likelihood-no-intercept", "maximum likelihood without intercept", X, y, {
        "C": np.inf, "fit_intercept": False}  # fmt: skip
    yield "logistic", "likelihood-weights", "maximum likelihood: rows count 1/4 to 2 times", X, y, {
        "C": np.inf, "weights": quarters(28, 0)}  # fmt: skip
    for name, rho in (("l1", 1.0), ("elastic", 0.5)):
        for data in ("", "scaled", "wide", "tied", "separable"):
            what, make = PLAIN[data]
            yield (
                "logistic",
                f"logistic-{name}-{data}".rstrip("-"),
                f"logistic, {name}: {what}",
                *make(),
                {"l1_ratio": rho},
            )
        yield (
            "logistic",
            f"logistic-{name}-weak",
            f"logistic, {name}: C = 32",
            X,
            y,
            {"l1_ratio": rho, "C": 32.0},
        )
        about = f"logistic, {name}: no intercept"
        more = {"l1_ratio": rho, "fit_intercept": False}
        yield "logistic", f"logistic-{name}-no-intercept", about, X, y, more
    yield from (("hinge", *v) for v in variants("hinge", "hinge, ½‖w‖²"))
    yield from (("squared_hinge", *v) for v in variants("squared-hinge", "squared hinge, ½‖w‖²"))
    for data in ("", "wide", "separable"):
        what, make = PLAIN[data]
        yield (
            "squared_hinge",
            f"squared-hinge-l1-{data}".rstrip("-"),
            f"squared hinge, ‖w‖₁: {what}",
            *make(),
            {"l1_ratio": 1.0},
        )


def many_classes():
    for kind, short in (("softmax", "softmax"), ("crammer_singer", "joint-machine")):
        n = 30 if kind == "softmax" else 21
        X, y = rows(n, 2, 21, classes=3)
        yield kind, short, "three classes", X, y, {}
        yield (
            kind,
            f"{short}-weights",
            "rows count 1/4 to 2 times",
            X,
            y,
            {"weights": quarters(n, 1)},
        )
        yield kind, f"{short}-strong", "C = 1/16", X, y, {"C": 2.0**-4}
        yield kind, f"{short}-weak", "C = 64", X, y, {"C": 64.0}
        yield kind, f"{short}-no-intercept", "no intercept", X, y, {"fit_intercept": False}
        X, y = rows(n, 3, 22, classes=3)
        yield kind, f"{short}-scaled", "columns of sizes 1e-6, 1 and 1e6", stretched(X), y, {}
        yield kind, f"{short}-shifted", "features with an offset of a million", X + SHIFT, y, {}
        X, y = rows(6, 7, 23, classes=3)
        yield kind, f"{short}-wide", "more columns than rows", X, y, {}
        X, y = rows(n, 2, 24, classes=3, noise=0.01)
        yield kind, f"{short}-separable", "three classes that hardly overlap", X, y, {}
    X, y = rows(30, 2, 21, classes=3)
    rng = np.random.default_rng(25)
    tied = rng.integers(0, 2, size=(30, 2)).astype(float)
    yield (
        "softmax",
        "softmax-tied",
        "few different rows, with all labels",
        tied,
        np.arange(30) % 3,
        {},
    )
    yield "softmax", "softmax-elastic", "three classes, half ‖W‖₁", X, y, {"l1_ratio": 0.5}
    yield "softmax", "softmax-l1", "three classes, ‖W‖₁", X, y, {"l1_ratio": 1.0}


def discriminants():
    for kind, K in (("lda", 2), ("lda", 3), ("fisher", 2)):
        short = kind if K == 2 else f"{kind}-three"
        X, y = rows(30, 3, 31, classes=K)
        yield kind, short, f"{K} classes", X, y, {}
        yield kind, f"{short}-scaled", "columns of sizes 1e-6, 1 and 1e6", stretched(X), y, {}
        yield kind, f"{short}-shifted", "features with an offset of a million", X + SHIFT, y, {}
        yield (
            kind,
            f"{short}-weights",
            "rows count 1/4 to 2 times",
            X,
            y,
            {"weights": quarters(30, 1)},
        )
        yield kind, f"{short}-collinear", PLAIN["collinear"][0], *nearly_collinear(X, y), {}


def as_fraction(v):
    with mpmath.workdps(62):
        return Fraction(mpmath.nstr(v, 60)) if v else Fraction(0)


def machine(p):
    """A machine's answer, from the rows that differ, counted from the first one."""
    rows, own, back = np.unique(
        np.column_stack([p.X, p.y]), axis=0, return_index=True, return_inverse=True
    )[:3]
    counts = np.bincount(back.ravel(), p.weights)
    origin = p.X[0] * p.fit_intercept
    X, y = rows[:, :-1] - origin, p.y[own]
    if p.kind == "crammer_singer":
        W, b, alpha = solve.joint_machine(X, y, counts, p.C, p.fit_intercept)
    else:
        W, b, alpha = solve.machine(X, y, counts, p.C, p.kind, p.fit_intercept, p.l1_ratio == 1)
    b = [
        t - sum(v * Fraction(o) for v, o in zip(w, origin, strict=True))
        for w, t in zip(W, b, strict=True)
    ]
    middle = sum(b) / len(b) if len(b) > 1 else 0
    part = [Fraction(c) / Fraction(counts[k]) for c, k in zip(p.weights, back.ravel(), strict=True)]
    alpha = np.array(alpha, dtype=object)[back.ravel()]
    alpha = alpha * np.array(part, dtype=object).reshape(-1, *[1] * (alpha.ndim - 1))
    text = [[*map(str, a)] if alpha.ndim > 1 else str(a) for a in alpha]
    return p._replace(coef=W, intercept=[t - middle for t in b], proof={"multipliers": text})


def solved(p):
    """The problem with its answer."""
    if p.kind in ("hinge", "squared_hinge", "crammer_singer"):
        return machine(p)
    if p.kind in ("logistic", "softmax"):
        u = [*map(as_fraction, solve.newton(p, proof.slopes))]
        d = p.X.shape[1]
        planes = [u[k : k + d + 1] for k in range(0, len(u), d + 1)]
        return p._replace(coef=[v[:d] for v in planes], intercept=[v[d] for v in planes])
    if p.kind == "regression":
        A = [[*map(Fraction, x), *([Fraction(1)] * p.fit_intercept)] for x in p.X.tolist()]
        t, k = [Fraction(v) for v in p.y.tolist()], range(len(A[0]))
        normal = [[sum(r[i] * r[j] for r in A) for j in k] for i in k]
        found = solve.eliminate(
            normal, [sum(r[i] * v for r, v in zip(A, t, strict=True)) for i in k]
        )
        d = p.X.shape[1]
        return p._replace(
            coef=[found[:d]], intercept=[found[d] if p.fit_intercept else Fraction(0)]
        )
    return discriminant(p)


def discriminant(p):
    means, sums, S = proof.scatter(p)
    total = sum(sums)
    if p.kind == "fisher" or p.classes == 2:
        apart = [a - b for a, b in zip(means[1], means[0], strict=True)]
        scale = 1 if p.kind == "fisher" else total
        W = [[scale * v for v in solve.eliminate(S, apart)]]
        b = [-sum(v * (a + c) / 2 for v, a, c in zip(W[0], *means[:2], strict=True))]
        odds = [sums[1] / sums[0] if p.kind == "lda" else Fraction(1)]
    else:
        W = [[total * v for v in solve.eliminate(S, m)] for m in means]
        b = [
            -sum(v * a for v, a in zip(w, m, strict=True)) / 2
            for w, m in zip(W, means, strict=True)
        ]
        odds = [v / total for v in sums]
    with mpmath.workdps(90):
        logs = [mpmath.log(mpmath.mpf(v.numerator) / v.denominator) for v in odds]
    b = [t + as_fraction(v) for t, v in zip(b, logs, strict=True)]
    return p._replace(coef=W, intercept=b)


def everything():
    for kind, name, about, X, y, more in (*two_classes(), *many_classes(), *discriminants()):
        yield Certified(name, about, kind, X, y, **{"weights": np.ones(len(X)), **more})
    for name, X, y, intercept, answer in nist.sets():
        yield Certified(
            f"nist-{name}", f"NIST's {name}", "regression", X, y, np.ones(len(X)),
            fit_intercept=intercept, proof={"certified": answer},
        )  # fmt: skip


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for problem in everything():
        if sys.argv[1:] and problem.name not in sys.argv[1:]:
            continue
        answered = solved(problem)
        proof.prove(answered)
        write(answered)
        print(problem.name, flush=True)
