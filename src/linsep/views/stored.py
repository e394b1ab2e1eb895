"""Model files as the command line opens them."""

import sys
from typing import Any


def open_model(path: str) -> Any:
    """The model in a file, or in standard input where the path is -."""
    from linsep.model.files.store import from_bytes, load

    if path == "-":
        return from_bytes(sys.stdin.buffer.read(), "standard input")
    return load(path)
