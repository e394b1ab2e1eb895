"""Each target in a process of its own for its share of the time; what is found is kept and told."""

import contextlib
import hashlib
import importlib.util
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fuzz import native
from fuzz.targets import TARGETS

SLOW = 10.0  # seconds for one input, on a busy machine
MEMORY = 6 << 30  # bytes of address space of a process
GROWTH = 700 << 10  # kilobytes that a process may grow by while it reads inputs
MEMORY_DISK = "/dev/shm"  # a folder takes milliseconds to make on some disks
FOUND = Path(__file__).parents[2] / "out" / "fuzz"


def run(name, seconds, seed, most=10**9):
    """Fuzz one target; counts, and what was found: (words, input)."""
    target, draw = TARGETS[name](), random.Random(seed)
    corpus, said, found = target.seeds(), set(), []
    for data in corpus:
        target.read(data)
    start, count, slowest = time.perf_counter(), 0, 0.0
    before = grown()
    signal.signal(signal.SIGALRM, _late)
    last = Path(tempfile.gettempdir()) / f"fuzz-last-{name}"
    batch = getattr(target, "batch", 1)
    while time.perf_counter() - start < seconds and count < most and len(found) < 20:
        inputs = [target.make(draw, draw.choice(corpus), draw.choice(corpus)) for _ in range(batch)]
        if name == "parquet":
            last.write_bytes(inputs[0])  # a crash of the process leaves it
        begun = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, SLOW * (10 if batch > 1 else 1))
        try:
            told = target.read_all(inputs) if batch > 1 else [target.read(inputs[0])]
        except BaseException as problem:
            if isinstance(problem, KeyboardInterrupt):
                raise
            found.append((f"{type(problem).__name__}: {problem}"[:300], inputs[0]))
            told = []
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, (time.perf_counter() - begun) / batch)
        for word, data in zip(told, inputs, strict=False):
            if word not in said and len(corpus) < 2000:
                said.add(word)
                corpus.append(data)
        count += len(inputs)
    more = grown() - before
    if more > GROWTH:
        found.append((f"memory grew by {more >> 10} MB", b""))
    spent = time.perf_counter() - start
    counts = {"target": name, "inputs": count, "seconds": max(0.1, round(spent, 1))}
    counts |= {"kinds": len(said), "slowest": round(slowest, 3), "grown_mb": more >> 10}
    return counts, found


def grown():
    """The most memory this process has had, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _late(*_):
    raise TimeoutError(f"more than {SLOW:g} seconds")


def keep(name, found):
    """Write what was found, one file for each; their names."""
    FOUND.mkdir(parents=True, exist_ok=True)
    names = []
    for words, data in found:
        path = FOUND / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        path.with_suffix(".txt").write_text(words)
        names.append((words.splitlines()[0] if words else "", str(path)))
    return names


def limit(name):
    """No more address space than MEMORY for this process; temporary files in memory."""
    with contextlib.suppress(ValueError, OSError):
        if name not in ("address", "lines"):  # Node and sanitizers reserve more than they use
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))


def one(name, seconds, seed):
    """A target in this process, with limits."""
    limit(name)
    counts, found = native.run(seconds, seed) if name == "lines" else run(name, seconds, seed)
    print(json.dumps({**counts, "found": keep(name, found)}))


def ways(name):
    """How a target is fuzzed: by changes of what gave new answers, and by coverage."""
    if importlib.util.find_spec("atheris") and name not in ("lines", "parquet", "address"):
        return ["fuzz", "--one"], ["fuzz.guided"]
    return (["fuzz", "--one"],)


def main():
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    names = sys.argv[2:] or [*TARGETS, *["lines"] * bool(native.COMPILER)]
    seed, total, bad = int(time.time()), 0, 0
    runs = [(name, way) for name in names for way in ways(name)]
    if Path(MEMORY_DISK).is_dir():
        os.environ["TMPDIR"] = MEMORY_DISK
    for name, way in runs:
        share = str(seconds / len(runs))
        command = [sys.executable, "-m", *way, name, share, str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        how = name + " guided" * (way == ["fuzz.guided"])
        if done.returncode:
            print(f"{how:18} the process ended with {done.returncode}: {done.stderr[-500:]}")
            bad += 1
            continue
        told = json.loads(done.stdout.splitlines()[-1])
        total, bad = total + told["inputs"], bad + len(told["found"])
        print(f"{how:18} {told['inputs']:>9,} inputs, {told['inputs'] / told['seconds']:>8,.0f} "
              f"a second, {told['kinds']} kinds of answers, slowest {told['slowest']} s, memory "
              f"+{told['grown_mb']} MB, found {len(told['found'])}", flush=True)  # fmt: skip
        for words, path in told["found"]:
            print(f"    {words[:150]}  ({path})")
    print(f"{total:,} inputs in {seconds:g} s, seed {seed}; {bad} findings.")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
