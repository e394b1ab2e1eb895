"""Install linsep for work in this clone, and tell how far it is: python building/install.py WHAT...

WHAT goes to pip. Everything pip says is kept in a file beside the environment, and its end is shown
if the installation fails.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

STEP = re.compile(r"\s*\[(\d+)/(\d+)\] (Building|Linking)")
SAID = {
    "Installing build dependencies": "fetching what the build needs",
    "Building editable": "compiling the kernels",
    "Installing collected packages": "installing libraries",
}


def main() -> int:
    log = Path(sys.prefix) / "install.log"
    pip = [sys.executable, "-m", "pip", "install", "--verbose", "--disable-pip-version-check"]
    begun, terminal = time.monotonic(), sys.stderr.isatty()
    with log.open("a", encoding="utf8") as kept:
        run = subprocess.Popen(
            [*pip, "--editable", *sys.argv[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        assert run.stdout is not None
        for line in run.stdout:
            kept.write(line)
            start = next((start for start in SAID if start in line), "")
            told = SAID.pop(start, "")
            step = STEP.match(line)
            if step and terminal:
                told = f"compiling the kernels: {step[1]} of {step[2]}"
            if told:
                end = "\r" if step else "\n"
                print(f"  {time.monotonic() - begun:3.0f} s  {told}", end=end, file=sys.stderr)
        failed = run.wait()
    if failed:
        last = log.read_text(encoding="utf8").splitlines()[-30:]
        print("\n".join([*last, f"All of it is in {log}."]), file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
