"""The verifier and linsep's own checks against each other, on true and on tampered certificates.

    python tests/proofs/exported/duel.py COUNT [SEED]      # or make duel COUNT=5000

A tampered certificate may still be true. So what is wanted is that both programs say the same, save
for what only linsep demands: that margins are not only true but as claimed to eleven digits, that
no more rows are listed than are needed, and that no plane through some rows exists either.
"""

import contextlib
import importlib.util
import io
import json
import math
import random
import sys
import tempfile
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import linsep
from linsep.errors import DataError
from linsep.proofs.exported.claims import bound_claim, document, gap_claims, separability_claim
from linsep.proofs.separability.certificate import Separability, _digest
from linsep.proofs.verify.mistake_bound import check_bound
from linsep.proofs.verify.separability import check

FILE = Path(__file__).parents[3] / "verify" / "linsep_verify.py"
ONLY_LINSEP = ("of these weights is not", "give less", "are enough", "spanning rows", "a normal",
               "the rows span", "does not show that its rows span",
               "inhomogeneous")  # fmt: skip


def verifier():
    """The program as a module."""
    found = importlib.util.spec_from_file_location("linsep_verify", FILE)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


VERIFIER = verifier()


def verdict(data, certificate, model=None):
    """Exit code and sentences."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = VERIFIER.check(*(None if p is None else str(p) for p in (data, certificate, model)))
    return code, out.getvalue()


def write_csv(path, X, y):
    rows = zip(X.tolist(), y, strict=True)
    path.write_text("".join(",".join([*map(repr, row), str(label)]) + "\n" for row, label in rows))


def some_data(rng, number):
    """Rows and labels of two to four classes: apart, mixed, touching, of odd sizes."""
    K, d = int(rng.choice([2, 2, 3, 4])), int(rng.integers(1, 5))
    n = int(rng.integers(K + 1, 25))
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    X = rng.standard_normal((n, d))
    if number % 3 == 0:
        X = np.rint(2 * X)  # ties, and points on planes
    gap = rng.choice([0.0, 2.0, 8.0])
    X[np.arange(n), y % d] += gap * (1 + y // d)
    return X * 2.0 ** int(rng.choice([0, 0, 0, -40, 60, -300, 300])), y


def tampered(body, rng):
    """The same claims with one number, list or word changed."""
    body = json.loads(json.dumps(body))
    places = [name for name, value in body.items() if isinstance(value, list) and value]
    single = ("margin", "margin_upper", "bias", "separable", "quasi_separable", "fit_intercept")
    places += [k for k in (*single, "radius", "bound") if body.get(k) is not None]
    places = [p for p in places if p != "classes"]
    name = rng.choice(places)
    if name == "shape":
        body[name][rng.randrange(2)] += rng.choice([-1, 1])
    elif isinstance(body[name], list):
        _change(body[name], rng)
    elif isinstance(body[name], bool):
        body[name] = not body[name]
    else:
        body[name] = _other(body[name], rng)
    return body


def _change(values, rng):
    while isinstance(values[0], list):
        values = rng.choice(values)
    act, i = rng.randrange(5), rng.randrange(len(values))
    if act == 0:
        del values[i]
    elif act == 1:
        values.append(values[i])
    elif act == 2:
        j = rng.randrange(len(values))
        values[i], values[j] = values[j], values[i]
    elif isinstance(values[i], int) and act == 3:
        values[i] = max(0, values[i] + rng.choice([-1, 1, 2]))
    else:
        values[i] = _other(values[i], rng)


def _other(value, rng):
    if isinstance(value, int):
        return max(0, value + rng.choice([-1, 1]))
    if "p" in value:
        x = float.fromhex(value)
        return rng.choice([math.nextafter(x, math.inf), math.nextafter(x, -math.inf), -x, 2 * x,
                           x / 2, x + 1e-9, x * (1 + 1e-9)]).hex()  # fmt: skip
    if value == "inf":
        return (1.0).hex()
    a = Fraction(*(int(part, 0) for part in value.split("/")))
    a = rng.choice([a + Fraction(1, 10**30), -a, 2 * a, a + 1, a - Fraction(1, 1000)])
    return f"{a.numerator}/{a.denominator}"


def separability_round(X, y, rng, folder, tally):
    """One data set: the true certificate, and several that were changed."""
    data, path = folder / "d.csv", folder / "c.json"
    write_csv(data, X, y)
    proof = linsep.separability(X, y, fit_intercept=bool(rng.randrange(4)))
    claim = separability_claim(proof)
    path.write_text(document([claim], proof.classes, proof.shape, {"target": X.shape[1]}))
    code, told = verdict(data, path)
    wanted = 2 if proof.separable is None else 0
    assert code == wanted, (told, proof.to_json(), X.tolist(), y.tolist())
    tally["true"] += 1
    whole = json.loads(proof.to_json())
    for _ in range(8):
        body = tampered(whole, rng)
        body["digest"] = _digest({k: v for k, v in body.items() if k != "digest"})
        path.write_text(json.dumps(body))
        code, told = verdict(data, path)
        try:
            why = check(Separability.from_json(path.read_text()), X, y)
        except (DataError, AttributeError, TypeError, IndexError, ValueError, OverflowError) as odd:
            why = f"unreadable: {odd!r}"
        tally["proved still" if code == 0 else "refused"] += 1
        if (why == "") != (code == 0):
            only = code == 0 and any(word in why for word in ONLY_LINSEP)
            assert only, (why, code, told, json.dumps(body), X.tolist(), y.tolist())
            tally["refused by linsep alone"] += 1


def bound_round(X, y, rng, folder, tally):
    """Novikoff's bound, true and changed."""
    data, path = folder / "d.csv", folder / "c.json"
    free, step = bool(rng.randrange(3)), rng.choice(["unit", "radius"])
    bound = linsep.mistake_bound(X, y, fit_intercept=free, bias_step=step)
    if bound.weights is None or bound.bound == math.inf:
        return
    claim = bound_claim(bound)
    for turn in range(5):
        body = claim if turn == 0 else tampered(claim, rng)
        path.write_text(document([body], np.unique(y), X.shape, {"target": X.shape[1]}))
        code, told = verdict(data, path)
        answer = _bound_of(body, bound)
        why = "unreadable" if answer is None else check_bound(answer, X, y)
        assert (why == "") == (code == 0), (why, told, body, X.tolist(), y.tolist())
        tally["true" if turn == 0 else "proved still" if code == 0 else "refused"] += 1


def _bound_of(body, bound):
    def floats(value):
        return [floats(v) for v in value] if isinstance(value, list) else (
            float.fromhex(value) if isinstance(value, str) else float(value))  # fmt: skip

    from dataclasses import replace

    try:
        plane = body["plane"]
        if plane is not None:
            plane = tuple(tuple(Fraction(*(int(p, 0) for p in a.split("/"))) for a in part)
                          for part in plane)  # fmt: skip
        return replace(
            bound, radius=floats(body["radius"]), margin=floats(body["margin"]),
            bound=Fraction(*(int(p, 0) for p in body["bound"].split("/"))),
            weights=np.array(floats(body["weights"])),
            bias=np.array(floats(body["bias"])), fit_intercept=body["fit_intercept"], plane=plane,
        )  # fmt: skip
    except (ValueError, TypeError, AttributeError):
        return None


def gap_round(X, y, rng, folder, tally):
    """Certificates of optima: true ones, and ones that claim a little more than is so."""
    data, path = folder / "d.csv", folder / "c.json"
    Logistic, SVC = linsep.LogisticRegression, linsep.LinearSVC
    learner = rng.choice([
        Logistic(tol=1e-9), Logistic(l1_ratio=1.0, C=3.0), Logistic(class_weight="balanced"),
        Logistic(l1_ratio=0.5, fit_intercept=False), SVC(loss="hinge"), SVC(loss="squared_hinge"),
        SVC(penalty="l1", loss="squared_hinge"), SVC(multiclass="crammer-singer"),
    ])  # fmt: skip
    X = X / max(float(np.abs(X).max()), 1e-300)
    write_csv(data, X, y)
    claims = gap_claims(learner.fit(X, y), X, y)
    texts = {"target": X.shape[1]}
    path.write_text(document(claims, learner.classes_, X.shape, texts))
    code, told = verdict(data, path)
    assert code == 0, (told, learner, X.tolist(), y.tolist())
    tally["true"] += 1
    for _ in range(3):
        claim = json.loads(json.dumps(rng.choice(claims)))
        how, primal = rng.randrange(4), float.fromhex(str(claim["primal"]))
        if how == 0:
            claim["primal"] = (primal * (1 - 1e-6)).hex()
        elif how == 1 and claim["dual"]:
            claim["dual"] = (float.fromhex(claim["dual"]) + 1e-6 * primal).hex()
        elif how == 2 and learner.fit_intercept:
            part = rng.choice(claim["multipliers"])
            i = rng.randrange(len(part))
            part[i] = (float.fromhex(str(part[i])) * 1.5 + 2.0**-50).hex()
        else:
            claim["weights"][0][0] = (float.fromhex(str(claim["weights"][0][0])) + primal + 1).hex()
        path.write_text(document([claim], learner.classes_, X.shape, texts))
        code, told = verdict(data, path)
        near = float.fromhex(str(claim["dual"])) < primal * (1 - 1e-6) and how == 1
        assert code == 1 or near, (how, told, learner, X.tolist(), y.tolist())
        tally["refused" if code else "proved still"] += 1


def duel(count, seed, folder):
    """`count` data sets; how many certificates of each kind there were."""
    rng, draw, tally = np.random.default_rng(seed), random.Random(seed), Counter()
    for number in range(count):
        X, y = some_data(rng, number)
        separability_round(X, y, draw, folder, tally)
        bound_round(X, y, draw, folder, tally)
        if number % 4 == 0:
            gap_round(X, y, draw, folder, tally)
    return tally


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
        tally = duel(int(sys.argv[1]), seed, Path(place))
    print(dict(tally), f"in {time.perf_counter() - start:.0f} s: no disagreement.")
