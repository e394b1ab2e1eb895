"""The n-th allocation fails: an error in words, nothing of it left, and the next run as ever.

    python -m faults.allocations [MOST [NAMES ...]]     # in tests

Requests of 128 kB and more are counted, which is where rows, scores and files lie (NumPy's own
buffers are smaller; where it gets none, it ends the process). failing_malloc.c refuses the n-th of
them, or all from then on. Each trial is a process forked from this one. What fails must end in
MemoryError or an error of linsep's own, and the same again, with memory, in the bytes of ever.
"""

import contextlib
import ctypes
import functools
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from click.testing import CliRunner

import linsep
from faults.kills import left
from linsep.errors import LinsepError, NotConverged
from linsep.views.cli import group

SOURCE = Path(__file__).with_name("failing_malloc.c")
LEAST = 128 << 10  # bytes
MANY = 20_000  # rows: a number for each is more than that
CRASH = 70


@functools.cache
def rows(n=MANY):
    """Rows of three classes that overlap, as sparse as may be."""
    rng = np.random.default_rng(5)
    X = np.round(rng.standard_normal((n, 6)), 3)
    return X, (X[:, 0] + 0.5 * rng.standard_normal(n) > 0).astype(int) + (X[:, 1] > 0.7)


def fitted(learner, classes=2, layout=np.asarray, n=MANY):
    X, y = rows(n)
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        learner.fit(layout(X), np.minimum(y, classes - 1))
    found = getattr(learner, "coef_", getattr(learner, "dual_coef_", None))
    return np.asarray(found).tobytes() + learner.predict(layout(X)).tobytes()


def file(suffix, folder):
    """The rows as a file of a format, made once."""
    import pandas as pd

    path = folder / f"t.{suffix}"
    X, y = rows()
    if suffix == "svmlight" and not path.exists():
        lines = (f"{t} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) + "\n"
                 for x, t in zip(X.tolist(), y.tolist(), strict=True))  # fmt: skip
        path.write_text("".join(lines))
    elif suffix == "npy" and not path.exists():
        np.save(path, np.column_stack([X, y]))
    elif not path.exists():
        frame = pd.DataFrame(X, columns=[*"abcdef"]).assign(y=y)
        (frame.to_parquet if suffix == "parquet" else frame.to_csv)(path, index=False)
    return path


def read(suffix, folder):
    A, t = linsep.read(file(suffix, folder), n_jobs=1).load()
    return (A.toarray() if sp.issparse(A) else A).tobytes() + np.asarray(t).tobytes()


def command(folder, name, *arguments):
    """A command in this process, and the file it writes."""
    out = folder / f"out-{name}"
    done = CliRunner().invoke(group, [name, *map(str, arguments), "--out", str(out)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code in (0, 3), done.output
    return out.read_bytes()


def saved(folder):
    """A voted perceptron keeps as many numbers as are wanted here."""
    learner = voted()
    linsep.save(learner, folder / "m.linsep")
    return linsep.load(folder / "m.linsep").predict(rows()[0][:500]).tobytes()


@functools.cache
def voted():
    return linsep.VotedPerceptron(1, n_jobs=1).fit(rows(4000)[0], rows(4000)[1] > 0)


def runs(folder):
    """What is tried: name, and what gives bytes."""
    L, S = linsep.LogisticRegression, linsep.LinearSVC
    few = {"n": 600}
    learners = {
        "Perceptron": ((linsep.Perceptron(max_iter=3, n_jobs=1),), {}),
        "Perceptron, sparse": ((linsep.Perceptron(max_iter=3, n_jobs=1), 2, sp.csr_array), {}),
        "Perceptron, classes": ((linsep.Perceptron(max_iter=3, n_jobs=1), 3), {}),
        "VotedPerceptron": ((linsep.VotedPerceptron(1, n_jobs=1),), {"n": 4000}),
        "KernelPerceptron": ((linsep.KernelPerceptron("rbf", max_iter=2, n_jobs=1),), few),
        "PassiveAggressive": ((linsep.PassiveAggressive(max_iter=3, n_jobs=1),), {}),
        "logistic": ((L(n_jobs=1),), {}),
        "logistic, sparse": ((L(n_jobs=1), 2, sp.csr_array), {}),
        "logistic, float32": ((L(n_jobs=1), 2, np.float32), {}),
        "logistic, l1": ((L(l1_ratio=1.0, n_jobs=1),), {}),
        "logistic, sgd": ((L(solver="minibatch", max_iter=3, n_jobs=1),), {}),
        "softmax": ((L(n_jobs=1), 3), {}),
        "likelihood": ((L(C=np.inf, n_jobs=1),), {}),
        "hinge": ((S(n_jobs=1),), {}),
        "hinge, dual": ((S(solver="dual", tol=1e-2, n_jobs=1),), {}),
        "squared hinge": ((S(loss="squared_hinge", n_jobs=1),), {}),
        "squared hinge, l1": ((S(loss="squared_hinge", penalty="l1", n_jobs=1),), {}),
        "joint machine": ((S(multiclass="crammer-singer", tol=1e-2, n_jobs=1), 3), {"n": 6000}),
        "KernelSVC": ((linsep.KernelSVC(n_jobs=1),), few),
        "LDA": ((linsep.LinearDiscriminantAnalysis(n_jobs=1), 3), {}),
        "Fisher": ((linsep.FisherDiscriminant(n_jobs=1),), {}),
        "regression": ((linsep.LinearRegression(n_jobs=1),), {}),
    }
    made = {
        name: functools.partial(fitted, *given, **how) for name, (given, how) in learners.items()
    }
    for suffix in ("csv", "svmlight", "npy", "parquet"):
        made[f"reads {suffix}"] = functools.partial(read, suffix, folder)
    table, model = file("csv", folder), folder / "given.linsep"
    linsep.save(linsep.LogisticRegression().fit(linsep.read(file("npy", folder))), model)
    np.save(folder / "new.npy", rows()[0])
    made["predict"] = lambda: command(folder, "predict", model, folder / "new.npy", "-q")
    made["certify"] = lambda: command(folder, "certify", table)
    made["saves and loads"] = lambda: saved(folder)
    return made


def trial(run, n, lasting, whole, folder):
    """One run in which the n-th allocation fails; 0 told, 1 nothing failed or it did not matter."""
    from_c = ctypes.CDLL(None)
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = CRASH
    try:
        told = False
        from_c.linsep_fail(n, ctypes.c_size_t(LEAST), lasting)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                assert run() == whole, "other bytes"
        except (MemoryError, LinsepError, SystemError) as problem:
            # NumPy's X[rows] forgets to say what went wrong: SystemError is Python's word for it
            told = not isinstance(problem, LinsepError) or "emory" in str(problem)
            assert told, problem
        finally:
            from_c.linsep_fail(0, ctypes.c_size_t(LEAST), 0)
        assert not left(folder), left(folder)
        assert run() == whole, "other bytes after an allocation failed"
        code = 0 if told else 1
    finally:
        if code == CRASH:
            import traceback

            traceback.print_exc()
        sys.stderr.flush()
        os._exit(code)


def main():
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10**9
    draw, from_c, total, bad = random.Random(0), ctypes.CDLL(None), 0, 0
    with tempfile.TemporaryDirectory() as place:
        every = runs(Path(place))
        for name in sys.argv[2:] or every:
            run = every[name]
            whole = run()
            assert run() == whole
            assert threading.active_count() == 1, threading.enumerate()
            from_c.linsep_fail(0, ctypes.c_size_t(LEAST), 0)
            run()
            count = from_c.linsep_met()
            tried = sorted(draw.sample(range(1, count + 1), min(count, most)))
            codes = [
                trial(run, n, lasting, whole, Path(place)) for n in tried for lasting in (0, 1)
            ]
            wrong = [
                (n, c) for n, c in zip(np.repeat(tried, 2), codes, strict=True) if c not in (0, 1)
            ]
            total, bad = total + len(codes), bad + len(wrong)
            print(f"{name}: {count} allocations, {len(codes)} failed, {codes.count(0)} told"
                  + f", WRONG {wrong[:5]}" * bool(wrong), flush=True)  # fmt: skip
    print(f"{total} runs with an allocation that failed, {bad} that did not end in words")
    return bool(bad)


def with_failing_malloc(*arguments):
    """This program where allocations can fail: its exit code and what it said."""
    with tempfile.TemporaryDirectory() as place:
        library = Path(place) / "failing_malloc.so"
        compiler = os.environ.get("CC") or shutil.which("cc")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", SOURCE, "-o", library], check=True)
        env = {**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-X", "faulthandler", "-m", "faults.allocations", *arguments],
            env=env, cwd=Path(__file__).parents[1], check=False,
        ).returncode  # fmt: skip


if __name__ == "__main__":
    preloaded = "failing_malloc" in os.environ.get("LD_PRELOAD", "")
    sys.exit(main() if preloaded else with_failing_malloc(*sys.argv[1:]))
