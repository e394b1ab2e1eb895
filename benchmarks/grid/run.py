"""The command: every cell in its own process with a time limit, the table, JSON and a picture."""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.grid.judge import Verdict, judge, read, summary, write
from benchmarks.grid.learners import LEARNERS
from benchmarks.grid.picture import draw
from benchmarks.grid.sets import SETS
from benchmarks.grid.table import HEADING, line

PEERS = Path(sys.prefix) / "peers" / "bin" / "python"
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 15.0
FIRST = 240.0  # seconds until linsep's first answer: loading, compiling, one fit
GRACE = 40.0  # seconds a cell has beyond its systems' from then on, for the fit under way
SYSTEMS = 5  # times its seconds a cell has for search and turns
OUT = Path("out")


def interpreter() -> str:
    """Python of the environment that holds the peers, or this one."""
    return str(PEERS) if PEERS.exists() else sys.executable


def run_cell(name: str, learner: str, seconds: float, orders: int, alone: bool) -> Verdict | None:
    """The verdict on one cell; None where the learner is not for such a set."""
    command = [
        interpreter(), "-m", "benchmarks.grid.cell", name, learner, str(seconds), str(orders),
        *(["--alone"] if alone else []),
    ]  # fmt: skip
    places = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))},
    )  # fmt: skip
    try:
        told, ending = _listen(process, FIRST, SYSTEMS * seconds + GRACE)
    except BaseException:  # it has a session of its own, which no Ctrl-C reaches
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if any("unsuited" in fact for fact in told):
        return None
    return judge(name, learner, told, ending)._replace(commit=commit())


@cache
def commit() -> str:
    """The last commit of the sources that are measured, with a + where they were changed since."""

    def ask(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    return ask("log", "-1", "--format=%h", "--", "src") + (
        "+" if ask("status", "--short", "src") else ""
    )


def _listen(process: Any, first: float, then: float) -> tuple[list[dict[str, Any]], str]:
    """What a cell tells until it ends or its time is over, and why it ended if not by itself.

    It has the seconds `first` for the first answer, and `then` for all others.
    """
    lines: queue.Queue[str | None] = queue.Queue()
    errors: list[str] = []

    def read() -> None:
        for text in process.stdout:
            lines.put(text)
        lines.put(None)

    threads = [
        threading.Thread(target=read, daemon=True),
        threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True),
    ]
    for thread in threads:
        thread.start()
    told: list[dict[str, Any]] = []
    answered, seconds, end = False, first, time.monotonic() + first
    while True:
        try:
            text = lines.get(timeout=max(0.01, end - time.monotonic()))
        except queue.Empty:
            os.killpg(process.pid, signal.SIGKILL)  # with workers, which keep its pipes open
            _close(process, threads)
            return told, f"out of time after {seconds:.0f} s"
        if text is None:
            break
        if text.startswith("{"):  # some systems print on their own
            told.append(json.loads(text))
            if "system" in told[-1] and not answered:
                answered, seconds, end = True, then, time.monotonic() + then
    code = _close(process, threads)
    last = errors[-1].strip()[:160] if errors else ""
    return told, f"exit code {code}: {last}" if code else ""


def _close(process: Any, threads: list[threading.Thread]) -> int:
    code = process.wait()
    for thread in threads:
        thread.join()
    process.stdout.close()
    process.stderr.close()
    return int(code)


def chosen(given: str | None, known: list[str]) -> list[str]:
    """Names from a list with commas; a name ending in * stands for all that begin so."""
    if not given:
        return known
    names: list[str] = []
    for part in given.split(","):
        hits = [name for name in known if name == part or _begins(name, part)]
        if not hits:
            raise SystemExit(f"{part!r} is none of: {', '.join(known)}")
        names += hits
    return list(dict.fromkeys(names))


def _begins(name: str, part: str) -> bool:
    return part.endswith("*") and name.startswith(part[:-1])


def run(names: list[str], learners: list[str], options: argparse.Namespace) -> list[Verdict]:
    """All cells, each shown and written down as soon as it ends; those left at the end are told."""
    verdicts: list[Verdict] = []
    print(HEADING, flush=True)
    path = options.out / "grid.json"
    done = {(v.name, v.learner) for v in kept(path) if options.missing and v.commit == commit()}
    end = time.monotonic() + 60 * options.minutes
    left = []
    for name in names:
        if not SETS[name].here:
            print(f"{name}: not on this machine, left out")
            continue
        for learner in learners:
            if (name, learner) in done:
                continue
            if time.monotonic() > end:
                left.append(f"{name} {learner}")
                continue
            verdict = run_cell(name, learner, options.seconds, options.orders, options.alone)
            if verdict is not None:
                verdicts.append(verdict)
                print(line(verdict), flush=True)
                keep([verdict], options.out)
    if left:
        print(f"out of time; not begun, some of them unsuited: {', '.join(left)}")
    return verdicts


def kept(path: Path) -> list[Verdict]:
    """The cells of earlier runs."""
    return read(path) if path.exists() else []


def keep(verdicts: list[Verdict], out: Path) -> list[Verdict]:
    """These cells beside those of earlier runs in grid.json."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "grid.json"
    cells = {(v.name, v.learner): v for v in kept(path)}
    cells |= {(v.name, v.learner): v for v in verdicts}
    order = [(name, learner) for name in SETS for learner in LEARNERS]
    every = [cells[key] for key in order if key in cells]
    write(every, path)
    return every


def main(arguments: list[str]) -> list[Verdict]:
    """`python -m benchmarks grid`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks grid", description=__doc__)
    parser.add_argument("--sets", help="names with commas; a* is all that begin with a")
    parser.add_argument("--learners", help="names with commas")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each system of a cell")
    parser.add_argument("--orders", type=int, default=1, help="row orders to time linsep in")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no cell after these"
    )
    parser.add_argument(
        "--missing", action="store_true", help="leave out cells that grid.json has of this commit"
    )
    parser.add_argument("--alone", action="store_true", help="time linsep without its peers")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of grid.json and grid.png")
    options = parser.parse_args(arguments)
    names = chosen(options.sets, list(SETS))
    verdicts = run(names, chosen(options.learners, list(LEARNERS)), options)
    every = keep(verdicts, options.out)
    if every:
        draw(every, options.out)
    print(f"\n{summary(verdicts)}")
    if len(every) > len(verdicts):
        print(f"with the cells of earlier runs: {summary(every)}")
    print(f"written to {options.out}: grid.json, grid.png, grid-strip.png")
    return verdicts


def rows() -> list[dict[str, Any]]:
    """The cells with a ratio as lines of `python -m benchmarks`."""
    return [
        {
            "workload": f"{v.name} {v.learner}", "linsep": v.seconds, "peer": v.peers[v.rival],
            "ratio": v.ratio, "wanted": 1.0, "note": f"best peer: {v.rival}; {v.status}",
        }
        for v in main(["--orders", "3"])
        if v.ratio > 0
    ]  # fmt: skip
