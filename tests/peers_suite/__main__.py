"""scikit-learn's own tests of the five classes both have, run against linsep: `make peers-suite`.

What fails is compared with `expected.txt`, in which every difference has its kind and its reason. A
failure that is not listed there ends the command with 1; so does a test that is listed and passes.
With --list every failure is shown, with its kind and the first line of what it said.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
FILES = (
    "linear_model.tests.test_logistic",
    "linear_model.tests.test_base",
    "linear_model.tests.test_perceptron",
    "svm.tests.test_svm",
    "tests.test_discriminant_analysis",
)
KINDS = {
    "words": "says the same in other words, or refuses by another error",
    "private": "looks at private parts of scikit-learn, or at its texts",
    "meaning": "differs on purpose, as the page for those who come from scikit-learn says",
    "digits": "asks for digits of a solver that stops elsewhere",
    "missing": "is not there, for the reason given",
}


def expected() -> list[tuple[str, str, str]]:
    """(pattern, kind, reason) of every listed difference."""
    lines = (HERE / "expected.txt").read_text().splitlines()
    told = [line for line in lines if line.strip() and not line.startswith("#")]
    return [tuple(part.strip() for part in line.split(" | ", 2)) for line in told]  # type: ignore[misc]


def outcomes() -> dict[str, list[str]]:
    """How every test ended, and what the failing ones said first."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "outcomes.json")
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "swap", "-p", "no:cacheprovider",
            "-p", "no:randomly", "-c", os.devnull, "--rootdir", folder, "-W", "ignore", "--pyargs",
            *(f"sklearn.{name}" for name in FILES),
        ]  # fmt: skip
        paths = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {"PEERS_SUITE_OUT": str(out), "PYTHONPATH": paths}
        subprocess.run(command, cwd=folder, env=environment, check=False,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        return dict(json.loads(out.read_text()))


def main() -> int:
    """Run, compare, and tell."""
    found, listed = outcomes(), expected()
    failed = {name: told for name, (end, told) in found.items() if end == "failed"}
    kinds: Counter[str] = Counter()
    used = set()
    strange = []
    for name, told in failed.items():
        match = next((one for one in listed if fnmatchcase(name, one[0].replace("[", "[[]"))), None)
        if match is None:
            strange.append(f"{name} | ? | {told}")
        else:
            used.add(match)
            kinds[match[1]] += 1
            if "--list" in sys.argv:
                print(f"{match[1]} | {name} | {told}")
    passed = sum(end == "passed" for end, _ in found.values())
    print(f"{passed} of scikit-learn's tests pass, {len(failed)} fail as listed or not:")
    for kind, meaning in KINDS.items():
        print(f"  {kinds[kind]:4d} {kind}: {meaning}")
    print(f"  {len(strange):4d} not listed")
    for line in strange:
        print(line)
    gone = [one for one in listed if one not in used]
    for pattern, _, _ in gone:
        print(f"listed, but nothing fails: {pattern}")
    return 1 if strange or gone else 0


if __name__ == "__main__":
    sys.exit(main())
