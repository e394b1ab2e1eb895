"""`python -m benchmarks [NAME ...]`: run the benchmarks, print a table, write JSON.

`python -m benchmarks grid --help` tells the options of the grid, `linear_probe --help` those of the
linear probe; with options, each is run alone. `hostile` holds endings against the truth, not the
clock.
"""

import json
import platform
import sys
from importlib import import_module
from pathlib import Path

NAMES = [
    "perceptrons", "proofs", "reading", "memory",
    "file_to_model", "predicting", "paths", "growth",
    "convex.race", "cluster", "lab", "linear_probe", "grid",
]  # fmt: skip
WITH_OPTIONS = ("grid", "linear_probe", "hostile")


def main(names: list[str]) -> None:
    lines = []
    print(f"{'workload':<44}{'linsep s':>10}{'peer s':>10}{'ratio':>8}{'wanted':>9}  verdict")
    for name in names or NAMES:
        for line in import_module(f"benchmarks.{name}").rows():
            wanted = line["wanted"]
            met = line["ratio"] >= wanted if wanted > 0 else line["ratio"] <= -wanted
            line["met"] = bool(met)
            lines.append(line)
            sign = ">=" if wanted > 0 else "<="
            print(
                f"{line['workload']:<44}{line['linsep']:>10.4f}{line['peer']:>10.4f}"
                f"{line['ratio']:>8.2f}{sign + format(abs(wanted), '.1f'):>9}  "
                f"{'met' if met else 'MISSED'}; {line['note']}",
                flush=True,
            )
    out = Path("out")
    out.mkdir(exist_ok=True)
    record = {"machine": platform.processor() or platform.machine(), "lines": lines}
    (out / "bench.json").write_text(json.dumps(record, indent=1))
    missed = sum(not line["met"] for line in lines)
    print(f"\n{len(lines) - missed} of {len(lines)} goals met; written to {out / 'bench.json'}")


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in WITH_OPTIONS:
        import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])
    elif {"-h", "--help"} & set(sys.argv[1:]):
        print(f"{__doc__}\nNames: {', '.join(NAMES)}. Without a name all are run: some hours.")
    elif unknown := [name for name in sys.argv[1:] if name not in NAMES]:
        sys.exit(f"{unknown[0]} is no benchmark; choose from {', '.join(NAMES)}.")
    else:
        main(sys.argv[1:])
