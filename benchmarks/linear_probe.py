"""The linear probe: softmax regression on embeddings with a thousand classes, as for ImageNet.

    python -m benchmarks linear_probe                        128,000 rows against both peers
    python -m benchmarks linear_probe --rows 320000 --peers none --predict 3.1

Rows are made: a mean for each class and noise whose spectrum falls off, of one length. The cost of
a pass is measured, and what it predicts for 1.28 million rows is told; `--predict` is the cost of a
pass over 128,000 rows in an earlier run, to be checked by this one.
"""

import argparse
import json
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grid.learners import LEARNERS
from benchmarks.grid.made import clusters
from benchmarks.grid.peers import installed
from benchmarks.stopwatch import peak_memory
from linsep import LogisticRegression

FEATURES, CLASSES, HELD_OUT = 768, 1_000, 16_000
IMAGENET = 1_281_167
NEAR = 1e-3
Array = Any


def _pass(X: Array, y: Array) -> float:
    """Seconds of one pass: scores, probabilities, gradient."""
    from linsep.parallel import Pool
    from linsep.train.convex.coordinates import Blocks, Columns
    from linsep.train.convex.softmax.passes import SoftmaxPasses

    K, nothing = int(y.max()) + 1, np.empty(0)
    with Pool(None) as pool:
        blocks = Blocks(X, Columns(nothing, nothing))
        passes = SoftmaxPasses(blocks, y, np.array([1 / len(y)]), K, pool, X.dtype)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            passes(np.zeros((K, X.shape[1])), np.zeros(K))
            times.append(time.perf_counter() - start)
    return min(times)


def ours(X: Array, y: Array, C: float, tol: float, verbose: bool) -> tuple[float, Any]:
    """linsep's fit, from the rows in memory or in a file to the certified model."""
    start = time.perf_counter()
    model = LogisticRegression(C=C, tol=tol, verbose=verbose).fit(X, y)
    return time.perf_counter() - start, model


def sklearn_lbfgs(X: Array, y: Array, C: float, steps: int) -> Any:
    from sklearn.linear_model import LogisticRegression as Theirs

    model = Theirs(C=C, max_iter=steps, tol=1e-12).fit(X, y)
    return model.coef_, model.intercept_


def torch_lbfgs(X: Array, y: Array, C: float, steps: int) -> Any:
    import torch

    rows, labels = torch.from_numpy(X), torch.from_numpy(y.astype(np.int64))
    W = torch.zeros((X.shape[1], int(y.max()) + 1), requires_grad=True)
    b = torch.zeros(W.shape[1], requires_grad=True)
    descent = torch.optim.LBFGS(
        [W, b], max_iter=steps, line_search_fn="strong_wolfe", history_size=10,
        tolerance_grad=1e-12, tolerance_change=1e-14,
    )  # fmt: skip

    def closure() -> Any:
        descent.zero_grad()
        value = torch.nn.functional.cross_entropy(rows @ W + b, labels)
        value = value + 0.5 / (C * len(y)) * (W**2).sum()
        value.backward()
        return value

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


def _steps_needed(
    X: Array, y: Array, C: float, name: str, best: float, first: int, most: int
) -> Any:
    """A peer with more and more steps, until it is near enough: seconds, steps, answer."""
    steps, run = first, PEERS[name][1]
    while True:
        start = time.perf_counter()
        answer = run(X, y, C, steps)
        seconds = time.perf_counter() - start
        away = _objective(answer, X, y, C) / best - 1
        print(f"  {name}: {steps} steps, {seconds:.1f} s, {away:.1e} from the best", flush=True)
        if away <= NEAR or steps >= most:
            return seconds, steps, answer, away
        steps = int(steps * 1.5)


def main(arguments: list[str]) -> dict[str, Any]:
    """`python -m benchmarks linear_probe`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks linear_probe", description=__doc__)
    parser.add_argument("--rows", type=int, default=128_000)
    parser.add_argument("--classes", type=int, default=CLASSES)
    parser.add_argument("--C", type=float, default=1e-2)
    parser.add_argument("--tol", type=float, default=NEAR)
    parser.add_argument("--peers", default="scikit-learn,torch", help="or none")
    parser.add_argument("--first", type=int, default=10, help="steps of a peer to begin with")
    parser.add_argument("--most", type=int, default=200, help="steps of a peer at which to give up")
    parser.add_argument("--file", action="store_true", help="rows in an NPY file, mapped")
    parser.add_argument("--predict", type=float, help="seconds of a pass over 128,000 rows")
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    X, y = clusters(options.rows + HELD_OUT, FEATURES, options.classes, 0)
    held, truth = X[options.rows :].copy(), y[options.rows :]
    X, y = X[: options.rows], y[: options.rows]
    if options.file:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.npy")
            np.save(path, X)
            del X
            return _measure(np.load(path, mmap_mode="r"), y, held, truth, options)
    return _measure(X, y, held, truth, options)


def _measure(X: Array, y: Array, held: Array, truth: Array, options: Any) -> dict[str, Any]:
    n, C = len(y), options.C
    small = LogisticRegression(C=C, tol=0.1).fit(X[:4096, :32].copy(), y[:4096] % 30)  # compiles
    assert small.status_.good
    before = peak_memory()
    one = _pass(X, y)
    size = X.nbytes / 2**20
    print(
        f"{n} rows, {size:.0f} MB: a pass {one:.2f} s, "
        f"{4e-9 * X.size * options.classes / one:.0f} GFLOP/s"
    )
    seconds, model = ours(X, y, C, options.tol, True)
    most = peak_memory()
    answer = model.coef_, model.intercept_
    best = _objective(answer, X, y, C)
    record: dict[str, Any] = {
        "rows": n, "pass": one, "linsep": seconds, "n_iter": int(np.max(model.n_iter_)),
        "gap": float(model.gap_), "status": model.status_.name,
        "accuracy": _accuracy(answer, held, truth), "memory": most, "before": before,
        "rows_mb": size,
    }  # fmt: skip
    print(
        f"linsep: {seconds:.1f} s, {record['n_iter']} passes, gap {model.gap_:.1e}, "
        f"{model.status_.name}, held-out accuracy {record['accuracy']:.4f}, memory {most:.0f} MB "
        f"({before:.0f} MB before), {most / size:.2f} of the rows"
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
            took, steps, theirs, away = _steps_needed(
                X, y, C, name, best, options.first, options.most
            )
            right = _accuracy(theirs, held, truth)
            print(f"{name}: {took:.1f} s, {took / seconds:.1f} of linsep's, accuracy {right:.4f}")
            record["peers"][name] = {
                "seconds": took, "steps": steps, "away": away, "accuracy": right
            }  # fmt: skip
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
