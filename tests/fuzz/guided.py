"""Inputs grown by coverage: atheris (libFuzzer for Python) chooses what to change next.

    python -m fuzz.guided TARGET SECONDS SEED

What is changed, read and held against a second reader is as in `targets`. Lines of linsep, of the
verifier and of json that an input is the first to reach make it one to change further.
"""

import json
import os
import random
import signal
import sys
import time

import atheris

READERS = ["linsep", "json", "linsep_verify", "fuzz"]


def main():
    with atheris.instrument_imports(include=READERS):
        from fuzz.__main__ import SLOW, _late, grown, keep, limit
        from fuzz.targets import TARGETS
    name, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    target = TARGETS[name]()
    seeds, found, slowest, count = target.seeds(), [], 0.0, 0
    for data in seeds:
        target.read(data)
    limit(name)
    signal.signal(signal.SIGALRM, _late)
    start, before = time.perf_counter(), grown()

    def change(data, size, number):
        draw = random.Random(number)
        return target.make(draw, bytes(data) or draw.choice(seeds), draw.choice(seeds))[:size]

    def read(data):
        nonlocal count, slowest
        begun = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, SLOW)
        try:
            target.read(data)
        except Exception as problem:
            found.append((f"{type(problem).__name__}: {problem}"[:300], data))
        signal.setitimer(signal.ITIMER_REAL, 0)
        count += 1
        now = time.perf_counter()
        slowest = max(slowest, now - begun)
        if now - start > seconds or len(found) == 20:
            told = {"target": name, "inputs": count, "seconds": round(now - start, 1), "kinds": 0}
            told |= {"slowest": round(slowest, 3), "grown_mb": (grown() - before) >> 10}
            print(json.dumps({**told, "found": keep(name, found)}), flush=True)
            os._exit(0)

    words = [sys.argv[0], f"-seed={seed}", "-max_len=200000", "-timeout=0", "-rss_limit_mb=0"]
    words += ["-handle_alrm=0", "-verbosity=0", "-len_control=0"]
    atheris.Setup(words, read, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
