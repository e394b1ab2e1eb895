"""The linear probe: softmax regression on embeddings with a thousand classes, as for ImageNet.

    python -m benchmarks linear_probe                        128,000 rows against both peers
    python -m benchmarks linear_probe --rows 320000 --peers none --predict 3.1

Rows are made: a mean for each class and noise whose spectrum falls off, of one length. The cost of
a pass is measured, and what it predicts for 1.28 million rows is told; `--predict` is the cost of a
pass over 128,000 rows in an earlier run, to be checked by this one.
"""

import argparse
import contextlib
import json
import tempfile
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.grid.learners import LEARNERS
from benchmarks.grid.made import clusters
from benchmarks.grid.peers import installed
from benchmarks.stopwatch import held_memory, peak_held
from linsep import LogisticRegression, path

FEATURES, CLASSES, HELD_OUT = 768, 1_000, 16_000
IMAGENET = 1_281_167
NEAR = 1e-3
APART = 0.22  # of class means: about four held-out rows in five can be told right
Array = Any


def _pass(X: Array, y: Array) -> float:
    """Seconds of one pass: scores, probabilities, gradient."""
    from linsep.parallel import Pool
    from linsep.train.convex.classes.class_sums import ClassProblem, ClassSums

    K = int(y.max()) + 1
    with Pool(None) as pool:
        problem = ClassProblem.of(X, y, None, 1.0, K, False, False)
        passes = ClassSums(problem, pool, X.dtype)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            passes.at(np.zeros((K, X.shape[1])))
            times.append(time.perf_counter() - start)
    return min(times)


def ours(X: Array, y: Array, C: float, tol: float, verbose: bool) -> tuple[float, Any]:
    """linsep's fit, from the rows in memory or in a file to the certified model."""
    start = time.perf_counter()
    model = LogisticRegression(C=C, tol=tol, verbose=verbose).fit(X, y)
    return time.perf_counter() - start, model


class Watch:
    """The clock of a peer, which ends it where it is near enough to `target` or out of time."""

    def __init__(self, target: float, most: float) -> None:
        self.target, self.most, self.start = target, most, time.perf_counter()
        self.steps = 0

    def step(self, value: float) -> None:
        """To be called after each step with the objective; raises StopIteration at the end."""
        self.steps += 1
        if value <= self.target or time.perf_counter() - self.start > self.most:
            raise StopIteration


def sklearn_lbfgs(X: Array, y: Array, C: float, watch: Watch) -> Any:
    """scikit-learn's lbfgs; its objective is ours divided by C and the number of rows."""
    from scipy import optimize
    from sklearn.linear_model import LogisticRegression as Theirs

    minimize, unit = optimize.minimize, C * len(y)

    def watched(*given: Any, **options: Any) -> Any:
        def after(intermediate_result: Any) -> None:
            watch.step(unit * float(intermediate_result.fun))

        return minimize(*given, **options | {"callback": after})

    with mock.patch.object(optimize, "minimize", watched):
        model = Theirs(C=C, max_iter=10_000, tol=1e-12).fit(X, y)
    return model.coef_, model.intercept_


def torch_lbfgs(X: Array, y: Array, C: float, watch: Watch) -> Any:
    """torch's L-BFGS, stopped between evaluations."""
    import torch

    rows, labels = torch.from_numpy(X), torch.from_numpy(y.astype(np.int64))
    W = torch.zeros((X.shape[1], int(y.max()) + 1), requires_grad=True)
    b = torch.zeros(W.shape[1], requires_grad=True)
    descent = torch.optim.LBFGS(
        [W, b], max_iter=10_000, line_search_fn="strong_wolfe", history_size=10,
        tolerance_grad=1e-12, tolerance_change=1e-14,
    )  # fmt: skip

    def closure() -> Any:
        descent.zero_grad()
        value = torch.nn.functional.cross_entropy(rows @ W + b, labels)
        value = value + 0.5 / (C * len(y)) * (W**2).sum()
        watch.step(C * len(y) * float(value.detach()))
        value.backward()
        return value

    with contextlib.suppress(StopIteration):
        descent.step(closure)
    return W.detach().numpy().T.copy(), b.detach().numpy().copy()


PEERS = {"scikit-learn": ("sklearn", sklearn_lbfgs), "torch": ("torch", torch_lbfgs)}


def _objective(answer: Any, X: Array, y: Array, C: float) -> float:
    """½‖W‖² + C Σ loss, in float64, by the grid's neutral code for C = 1."""
    W, b = answer
    half = 0.5 * float(np.sum(np.square(W, dtype=np.float64)))
    return half + C * (LEARNERS["softmax"].value((W, b), X, y) - half)


def _accuracy(answer: Any, X: Array, y: Array) -> float:
    return float(np.mean((X @ np.asarray(answer[0]).T + answer[1]).argmax(axis=1) == y))


def _raced(name: str, X: Array, y: Array, C: float, best: float, most: float) -> dict[str, Any]:
    """A peer until it is near enough or out of time: how long it took, and where it came to."""
    import_module(PEERS[name][0])
    watch = Watch((1 + NEAR) * best, most)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it was stopped
        answer = PEERS[name][1](X, y, C, watch)
    seconds = time.perf_counter() - watch.start
    away = _objective(answer, X, y, C) / best - 1
    return {"seconds": seconds, "steps": watch.steps, "away": away, "answer": answer}


def _path(X: Array, y: Array, tol: float) -> dict[str, Any]:
    """Ten values of C by two folds, then a fit to all rows."""
    start = time.perf_counter()
    chosen = path(LogisticRegression(tol=tol), X, y, Cs=np.logspace(-4, 0, 10).tolist(), cv=2)
    seconds = time.perf_counter() - start
    print(f"path: {seconds:.1f} s\n{chosen}", flush=True)
    return {"seconds": seconds, "C": float(chosen.C), "scores": chosen.mean.tolist()}


def main(arguments: list[str]) -> dict[str, Any]:
    """`python -m benchmarks linear_probe`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks linear_probe", description=__doc__)
    parser.add_argument("--rows", type=int, default=128_000)
    parser.add_argument("--classes", type=int, default=CLASSES)
    parser.add_argument("--C", type=float, default=1e-2)
    parser.add_argument("--tol", type=float, default=NEAR)
    parser.add_argument("--peers", default="scikit-learn,torch", help="or none")
    parser.add_argument("--most", type=float, default=10.0, help="times linsep's, for a peer")
    parser.add_argument("--path", action="store_true", help="ten values of C by two folds")
    parser.add_argument("--file", action="store_true", help="rows in an NPY file, mapped")
    parser.add_argument("--predict", type=float, help="seconds of a pass over 128,000 rows")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    X, y = clusters(options.rows + HELD_OUT, FEATURES, options.classes, 0, APART)
    held, truth = X[options.rows :].copy(), y[options.rows :]
    X, y = X[: options.rows], y[: options.rows]
    if options.file:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "rows.npy")
            np.save(file, X)
            del X
            return _measure(np.load(file, mmap_mode="r"), y, held, truth, options)
    return _measure(X, y, held, truth, options)


def _measure(X: Array, y: Array, held: Array, truth: Array, options: Any) -> dict[str, Any]:
    n, C = len(y), options.C
    small = LogisticRegression(C=C, tol=0.1).fit(X[:4096, :32].copy(), y[:4096] % 30)  # compiles
    assert small.status_.good
    one = _pass(X, y)
    size = X.nbytes / 2**20
    print(
        f"{n} rows, {size:.0f} MB: a pass {one:.2f} s, "
        f"{4e-9 * X.size * options.classes / one:.0f} GFLOP/s"
    )
    before = held_memory()
    seconds, model = ours(X, y, C, options.tol, True)
    beside = peak_held() - before
    answer = model.coef_, model.intercept_
    best = _objective(answer, X, y, C)
    record: dict[str, Any] = {
        "rows": n, "pass": one, "linsep": seconds, "n_iter": int(np.max(model.n_iter_)),
        "gap": float(model.gap_), "status": model.status_.name,
        "accuracy": _accuracy(answer, held, truth), "beside_mb": beside, "rows_mb": size,
    }  # fmt: skip
    print(
        f"linsep: {seconds:.1f} s, {record['n_iter']} passes, gap {model.gap_:.1e}, "
        f"{model.status_.name}, held-out accuracy {record['accuracy']:.4f}, {beside:.0f} MB beside "
        f"the rows, with them {1 + beside / size:.2f} times the rows"
    )
    if options.predict:
        foreseen = options.predict * n / 128_000
        print(f"a pass was predicted to take {foreseen:.2f} s; it took {one:.2f} s")
        record["predicted"] = foreseen
    whole = one * IMAGENET / n
    print(
        f"ImageNet, {IMAGENET} rows: {whole:.0f} s for a pass, "
        f"{seconds * IMAGENET / n / 60:.0f} minutes for a fit like this one"
    )
    record |= {"imagenet_pass": whole, "imagenet_fit": seconds * IMAGENET / n, "peers": {}}
    for name in options.peers.split(","):
        if name in PEERS and installed(PEERS[name][0]):
            peer = _raced(name, X, y, C, best, options.most * seconds)
            peer["accuracy"] = _accuracy(peer.pop("answer"), held, truth)
            least = "" if peer["away"] <= 1.1 * NEAR else "at least "
            print(
                f"{name}: {peer['seconds']:.1f} s, {peer['steps']} steps, {peer['away']:.1e} from "
                f"linsep's objective, accuracy {peer['accuracy']:.4f}; linsep is faster by "
                f"{least}{peer['seconds'] / seconds:.1f}",
                flush=True,
            )
            record["peers"][name] = peer
    if options.path:
        record["path"] = _path(X, y, options.tol)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"linear_probe_{n}.json").write_text(json.dumps(record, indent=1))
    return record


def rows() -> list[dict[str, Any]]:
    """Both peers, as lines of `python -m benchmarks`."""
    record = main([])
    return [
        {
            "workload": f"linear probe, {record['rows']} rows", "linsep": record["linsep"],
            "peer": peer["seconds"], "ratio": peer["seconds"] / record["linsep"], "wanted": 5.0,
            "note": f"{name} L-BFGS, {peer['steps']} steps, {peer['away']:.0e} away",
        }
        for name, peer in record["peers"].items()
    ]  # fmt: skip
