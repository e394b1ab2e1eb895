"""Kills by SIGKILL, at any moment and inside saves: what was being made is there whole, or not.

    python -m faults.kills [KILLS [NAMES ...]]        # in tests; some minutes for a thousand

Every kind of run has its turn: fits with a checkpoint (each learner and solver, and files of each
format), everything that writes a file, and binary copies. Runs are processes forked from this one,
which has read everything already. After each kill the same run begins again in the same place. One
that ends must have the bytes of a run that was never killed; files that are to be replaced hold the
old bytes or the new ones all the while; and no temporary file is left.
"""

import functools
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "train" / "run"))

import killed

import linsep
from faults.writers import WRITERS, model, table
from linsep.data.files import disk
from linsep.errors import NotConverged
from linsep.train.run.checkpoint import Checkpoint

FORMATS = ("csv", "csv.gz", "svmlight", "npy", "parquet")
MEMORY = "/dev/shm"
OLD = b"what was there before"


class Fit:
    """A fit of arrays that writes its checkpoint at every pass."""

    def __init__(self, name):
        self.name = name
        killed.data(name)  # made once, before processes are forked

    def run(self, folder):
        killed.fit(self.name, folder / "run.ckpt", folder / "result")

    def begin(self, folder):
        """What lies in a folder before the first run."""

    def hold(self, folder, whole):
        """What must be so after a kill; `whole` is what a run ends with."""


class Read(Fit):
    """A fit of a file, piece by piece or by way of a kept binary copy."""

    def __init__(self, suffix, copied):
        self.path, self.copied = _file(suffix), copied

    def run(self, folder):
        cache = folder / "copies"
        cache.mkdir(exist_ok=True)
        more = {"memory": 1, "cache": cache} if self.copied else {"memory": 0}
        chunks = linsep.read(self.path, n_jobs=1, **more)
        learner = linsep.Perceptron(max_iter=8, n_jobs=1)
        learner.fit(chunks, checkpoint=Checkpoint(folder / "run.ckpt", every=0))
        killed.write(folder / "result", killed.answer(learner))


class Write:
    """A file that is written in the place of another."""

    def __init__(self, name):
        self.name = name
        with tempfile.TemporaryDirectory() as place:
            WRITERS[name](Path(place) / f"out-{name}")  # what it imports is there for all

    def run(self, folder):
        path = folder / f"out-{self.name}"
        WRITERS[self.name](path)
        killed.write(folder / "result", path.read_bytes())

    def begin(self, folder):
        table(folder, bad=self.name == "bad-rows")
        (folder / f"out-{self.name}").write_bytes(OLD)

    def hold(self, folder, whole):
        assert (folder / f"out-{self.name}").read_bytes() in (OLD, whole)


@functools.cache
def _place():
    return Path(tempfile.mkdtemp(prefix="linsep-kills-"))


def _file(suffix):
    rng = np.random.default_rng(3)
    X, y = np.round(rng.standard_normal((9000, 4)), 3), rng.integers(0, 2, 9000)
    path = _place() / f"rows.{suffix}"
    if suffix == "npy":
        np.save(path, np.column_stack([X, y]))
    elif suffix == "svmlight":
        rows = zip(X.tolist(), y.tolist(), strict=True)
        path.write_text("".join(f"{t} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) + "\n"
                                for x, t in rows))  # fmt: skip
    else:
        import pandas as pd

        frame = pd.DataFrame(X, columns=[*"abcd"]).assign(y=y)
        (frame.to_parquet if suffix == "parquet" else frame.to_csv)(path, index=False)
    return path


def kinds():
    """Every kind of run, by name: what makes it."""
    made = {name: functools.partial(Fit, name) for name in killed.LEARNERS | killed.SOLVERS}
    for suffix in FORMATS:
        made[f"{suffix}, streamed"] = functools.partial(Read, suffix, False)
        made[f"{suffix}, copied"] = functools.partial(Read, suffix, True)
    return made | {f"writes {name}": functools.partial(Write, name) for name in WRITERS}


class Counting(disk.Disk):
    """A disk that writes down how many operations there were."""

    def __init__(self, path):
        self._path, self._count = path, 0

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if callable(found) and not name.startswith("_"):
            self._count += 1
            self._path.write_text(str(self._count))
        return found


def forked(subject, folder, at_disk=None):
    """The run in a process of its own."""
    assert threading.active_count() == 1
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        disk.DISK = at_disk or disk.Disk()
        with warnings.catch_warnings(action="ignore", category=NotConverged):
            subject.run(folder)
        code = 0
    finally:
        if code:
            import traceback

            traceback.print_exc()
        os._exit(code)


def left(folder):
    return [path for path in folder.rglob(".linsep-*") if path.name != ".linsep-"]


def kill(subject, wanted, folder, draw):
    """Kill runs until there were as many kills, and one that ended: (kills, in saves, ends)."""
    place = folder / "run"

    def anew():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        subject.begin(place)

    anew()
    begun = time.monotonic()
    child = forked(subject, place, Counting(folder / "count"))
    assert os.waitpid(child, 0)[1] == 0
    seconds = time.monotonic() - begun
    whole = (place / "result").read_bytes()
    operations = int((folder / "count").read_text())
    anew()
    kills = aimed = ends = 0
    while kills < wanted or not ends:
        aims = kills % 2 == 0 and kills < wanted
        child = forked(subject, place, killed.Deadly(draw.randint(1, operations)) if aims else None)
        if not aims and kills < wanted:
            time.sleep(draw.uniform(0.0, seconds))
            os.kill(child, signal.SIGKILL)  # one that has ended is still there to be waited for
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL), f"the run ended with {code}"
        if code:
            kills, aimed = kills + 1, aimed + aims
            subject.hold(place, whole)
        if (place / "result").exists():
            assert (place / "result").read_bytes() == whole, "other bytes than without a kill"
            assert code or not left(place), left(place)
            ends += 1
            seconds *= 0.8 if not aims and kills < wanted else 1.0  # it was begun on a busy machine
            anew()
    return kills, aimed, ends


def main():
    if Path(MEMORY).is_dir():
        tempfile.tempdir = MEMORY  # a kill ends a process, not the disk
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    every = kinds()
    names = sys.argv[2:] or list(every)
    seed = int.from_bytes(os.urandom(4))
    draw, sums, begun = random.Random(seed), [0, 0, 0], time.monotonic()
    model()
    for k, name in enumerate(names):
        wanted = total * (k + 1) // len(names) - total * k // len(names)
        with tempfile.TemporaryDirectory(prefix="linsep-kills-") as folder:
            told = kill(every[name](), wanted, Path(folder), draw)
        sums = [a + b for a, b in zip(sums, told, strict=True)]
        line = "{}: {} kills, {} inside a save, {} runs ended the same".format(name, *told)
        print(line, flush=True)
    shutil.rmtree(_place())
    print(
        "{} kills, {} of them inside a save; {} runs ended with the bytes of one that was not "
        "killed".format(*sums)
        + f"; {time.monotonic() - begun:.0f} s, seed {seed}"
    )


if __name__ == "__main__":
    main()
