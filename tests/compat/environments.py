"""`make compat`: the smoke tests on the oldest and the newest of what linsep is built on.

    python tests/compat/environments.py FOLDER [NAMES]

makes three environments in FOLDER, or those named. "oldest": the lower bounds of pyproject.toml on
the oldest Python. "newest": the newest versions on the oldest Python. "newest-python": the newest
versions on the newest Python that is here and for which they can be installed. What cannot be had
is left out, and said; kernels are compiled in each. Ends with 1 if a test fails anywhere, or if
nothing could be tested.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NEEDED = PROJECT["dependencies"]
TOOLS = ["pytest", "pytest-timeout", "hypothesis", "pandas", "matplotlib"]
TESTS = ["tests/compat", "tests/test_import.py"]
SHOWN = ("numpy", "scipy", "scikit-learn")


class Environment(NamedTuple):
    """What is installed where: a name, requirements, and interpreters in order of preference."""

    name: str
    requirements: list[str]
    pythons: list[str]


def minor(python: str) -> int:
    """11 for Python 3.11; 0 if this is no Python 3 that runs."""
    program = "import sys; print(sys.version_info[1] if sys.version_info[0] == 3 else 0)"
    try:
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(done.stdout)


def interpreters() -> dict[int, str]:
    """The interpreters that are here, by minor version: on the path, or pyenv's."""
    oldest = int(re.search(r">=3\.(\d+)", PROJECT["requires-python"])[1])
    names = [f"python3.{version}" for version in range(oldest, oldest + 10)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [sys.executable, *(shutil.which(name) for name in names)]
    places += sorted(map(str, pyenv.glob("3.*/bin/python")))
    known: dict[int, str] = {}
    for python in filter(None, places):
        known.setdefault(minor(python), python)
    return {version: python for version, python in sorted(known.items()) if version >= oldest}


def environments() -> list[Environment]:
    """The three, as far as there are interpreters for them."""
    known = interpreters()
    first, *others = known.values()
    print("Interpreters:", ", ".join(f"3.{version} ({path})" for version, path in known.items()))
    if not others:
        print("There is no newer Python here: left out.")
    lowest = [one.replace(">=", "==") for one in NEEDED]
    return [
        Environment("oldest", lowest, [first]),
        Environment("newest", NEEDED, [first]),
        *([Environment("newest-python", NEEDED, others[::-1])] if others else []),
    ]


def made(environment: Environment, folder: Path) -> Path | None:
    """The interpreter of the environment, or None if it cannot be had."""
    for python in environment.pythons:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        wanted = [*environment.requirements, *TOOLS]
        done = subprocess.run(
            [*install, "--only-binary", ":all:", *wanted], capture_output=True, text=True
        )
        if done.returncode == 0:
            print(f"{environment.name}: compiling the kernels ...", flush=True)
            subprocess.run([*install, "--no-deps", str(ROOT)], check=True)
            return inside
        print(f"{environment.name}: cannot be had on {python}: {done.stderr.strip()[-300:]}")
    return None


def versions(python: Path) -> str:
    """What is installed there, in one line."""
    program = (
        "import sys; from importlib.metadata import version\n"
        f"print('Python', sys.version.split()[0], *(f'{{n}} {{version(n)}}' for n in {SHOWN!r}))"
    )
    return subprocess.run([python, "-c", program], capture_output=True, text=True).stdout.strip()


def main(folder: Path, names: list[str]) -> int:
    """The exit code: 0 if all that could be tried has passed, and something could."""
    results = []
    for environment in environments():
        if names and environment.name not in names:
            continue
        place = folder.resolve() / environment.name
        python = made(environment, place)
        if python is None:
            results.append((environment.name, "left out", ""))
            continue
        print(f"\n{environment.name}: {versions(python)}", flush=True)
        tests = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
        code = subprocess.run(tests, cwd=ROOT).returncode
        results.append((environment.name, "passed" if code == 0 else "FAILED", versions(python)))
    print("\n" + "\n".join(f"{name:14} {ending:9} {what}" for name, ending, what in results))
    endings = {ending for _, ending, _ in results}
    return 0 if "passed" in endings and "FAILED" not in endings else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
