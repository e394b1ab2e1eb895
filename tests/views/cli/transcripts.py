"""The transcripts of the three messy tables in docs/command-line.md: run again, and compared.

    python tests/views/cli/transcripts.py

takes them anew. In a block, `…` stands for lines that are left out; what comes after it begins at
the line that begins alike.
"""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "command-line.md"
HEADING = "## Three messy tables"
ALIKE = 12  # letters by which the line after an ellipsis is found


def make_tables(folder):
    """The files that the commands read."""
    runpy.run_path(str(ROOT / "examples" / "messy_tables.py"))["write"](Path(folder))


def section(text):
    """Where the transcripts are in the page."""
    start = text.index(HEADING)
    end = text.find("\n## ", start)
    return start, len(text) if end < 0 else end


def commands(block):
    """(command, lines shown below it) of a block."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2].splitlines()) for part in parts]


def said(command, folder):
    """The lines that a command prints, results before notes."""
    words = shlex.split(command)
    own = [sys.executable, "-m", "linsep"] if words[0] == "linsep" else [sys.executable]
    done = subprocess.run([*own, *words[1:]], cwd=folder, capture_output=True, text=True,
                          check=False)  # fmt: skip
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    return [line for line in lines if not line.startswith("linsep: compiling")]


def shown(lines, actual):
    """What of the actual lines the page shows, by the ellipses that it has."""
    if not lines or lines[0] != "…":
        return actual
    first = lines[1][:ALIKE]
    place = next((k for k, line in enumerate(actual) if line.startswith(first)), len(actual))
    return ["…", *actual[place:]]


def retake():
    """Write the section of the page anew."""
    import tempfile

    text = PAGE.read_text()
    start, end = section(text)
    with tempfile.TemporaryDirectory() as folder:
        make_tables(folder)

        def again(match):
            made = []
            for command, lines in commands(match[1]):
                made += [f"$ {command}", *shown(lines, said(command, folder))]
            return "```console\n" + "\n".join(made) + "\n```"

        new = re.sub(r"```console\n(.*?)\n```", again, text[start:end], flags=re.DOTALL)
    PAGE.write_text(text[:start] + new + text[end:])


if __name__ == "__main__":
    retake()
