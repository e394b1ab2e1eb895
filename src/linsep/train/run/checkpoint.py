"""Training that survives the death of its process: state on disk after passes, and resumed from.

A checkpoint is a listener of the loop. It writes down, pass by pass, whatever the next pass depends
on; a fit that finds one of the same learner, parameters and data goes on from there, and ends with
the same bytes as a fit that was never interrupted. The file is replaced whole and carries a
digest; the generation before is kept, in case the newest cannot be read.

    "linsep checkpoint 1\\n" · SHA-256 of the rest · length of the header · header (JSON) · arrays
"""

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.data.blocks.blocks import on_cluster
from linsep.data.files import atomic, disk
from linsep.data.files.special_files import kind_of
from linsep.data.files.system_errors import explain, storing
from linsep.errors import ParameterError, StorageError
from linsep.train.run.loop import Pass
from linsep.train.run.state import freeze, thaw

Array = npt.NDArray[Any]

MAGIC = b"linsep checkpoint 1\n"
SECONDS = 5.0
"""Time between two saves, unless asked otherwise."""

FREE = {"max_iter", "n_jobs", "verbose", "warm_start"}
"""Parameters that may differ when a fit is resumed."""


class Checkpoint:
    """Where, and how often, a fit writes down how far it has come.

    Parameters
    ----------
    path : the file; the one before is kept as `path` + '.previous'
    every : seconds between two saves, the first of which is after the first pass; 0 saves after
        every pass
    """

    def __init__(self, path: str | os.PathLike[str], every: float = SECONDS) -> None:
        self.path = Path(os.path.realpath(path))  # a link keeps pointing where it did
        self.previous = Path(f"{self.path}.previous")
        self.every = every

    def save(self, content: bytes) -> None:
        """Put a new generation in the place of the last, which is kept."""
        try:
            with suppress(FileNotFoundError):
                disk.DISK.rename(str(self.path), str(self.previous))
        except OSError as problem:
            raise StorageError(
                f"the checkpoint {self.path} could not be renamed: {explain(problem)}"
            ) from problem
        atomic.replace(self.path, [content])

    def _require_own(self) -> None:
        """Refuse what is there and no checkpoint: it would be renamed, or removed as damaged."""
        for path in (self.path, self.previous):
            kind = kind_of(path)
            if kind is not None:
                raise ParameterError(f"checkpoint is {path}, which is {kind}; name a file.")
        if self.previous.exists() or not self.path.exists():
            return
        with self.path.open("rb") as file:
            start = file.read(len(MAGIC))
        if start and start != MAGIC:
            raise ParameterError(
                f"checkpoint is {self.path}, which is there and is no checkpoint; choose another "
                "path, or remove it."
            )

    def load(self) -> tuple[dict[str, Any], list[Array]] | None:
        """The newest generation that can be read; None where there is none."""
        self._require_own()
        state = None
        for path in (self.path, self.previous):
            try:
                state = unpack(path.read_bytes())
            except (OSError, ValueError, KeyError, TypeError):
                state = None
            if state is not None:
                break
            if path == self.path:
                damaged = f"the checkpoint {path}, which is damaged, could not be removed"
                with storing(damaged), suppress(FileNotFoundError):
                    disk.DISK.remove(str(path))  # or it would take the place of the better one
        return state


class Keeper:
    """The listener that saves a learner's state and gives it back.

    Parameters
    ----------
    checkpoint : where to
    learner : whose state
    names : attributes that hold it; none where a fit begins again instead
    key : what must agree for a state to be of the same fit
    """

    def __init__(
        self, checkpoint: Checkpoint, learner: Any, names: tuple[str, ...], key: dict[str, Any]
    ) -> None:
        self.checkpoint, self.learner, self.names = checkpoint, learner, names
        self.key = json.loads(json.dumps(key))
        self._last = -math.inf  # the first pass is written down at once

    def check(self) -> None:
        """Refuse a checkpoint of another fit, before any work is done."""
        self._earlier = self.checkpoint.load()
        if self._earlier is None:
            return
        kept = self._earlier[0]["key"]
        for field in sorted(set(kept) | set(self.key)):
            if kept.get(field) != self.key.get(field):
                raise ParameterError(
                    f"checkpoint {self.checkpoint.path} belongs to another fit: its {field} is "
                    f"{kept.get(field)!r}, here it is {self.key.get(field)!r}. Delete it, or "
                    "choose another path."
                )

    def resume(self) -> Pass | None:
        """Restore the state, if there is one; the last pass it includes."""
        if self._earlier is None or not self.names:
            return None
        header, arrays = self._earlier
        if set(header["state"]) != set(self.names):  # of an older version
            return None
        for name in self.names:
            state = header["state"][name]
            setattr(self.learner, name, thaw(state, getattr(self.learner, name, None), arrays))
        return Pass(**header["pass"])

    def __call__(self, done: Pass) -> None:
        now = time.monotonic()
        if not self.names or now - self._last < self.checkpoint.every:
            return
        self._last = now
        arrays: list[Array] = []
        state = {name: freeze(getattr(self.learner, name), arrays) for name in self.names}
        about = {f: getattr(done, f) for f in ("epoch", "mistakes", "updates", "loss", "eta")}
        plain = {k: v.item() if isinstance(v, np.generic) else v for k, v in about.items()}
        self.checkpoint.save(pack({"key": self.key, "pass": plain, "state": state}, arrays))


def keeper_of(
    learner: Any, checkpoint: Any, classes: list[Any], settings: dict[str, Any], *data: Any
) -> list[Keeper]:
    """The listener that saves what the next pass of a learner depends on, if one is asked for.

    Parameters
    ----------
    checkpoint : a path, a `Checkpoint`, or None
    settings : the learner's plain parameters
    data : the rows, then whatever else the fit is a function of
    """
    if checkpoint is None:
        return []
    if getattr(learner, "trace", False):
        raise ParameterError(
            "trace=True records a whole run, which a resumed one is not; leave out trace or "
            "checkpoint."
        )
    if not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    keeper = Keeper(checkpoint, learner, learner._resumable, {
        "learner": type(learner).__name__,
        "parameters": {k: v for k, v in settings.items() if k not in FREE},
        "classes": [str(one) for one in classes],
        "data": list(fingerprint(*data)),
    })  # fmt: skip
    keeper.check()
    return [keeper]


def pack(header: dict[str, Any], arrays: list[Array]) -> bytes:
    """A checkpoint's bytes."""
    body, places = [], []
    for array in arrays:
        data = np.ascontiguousarray(array).tobytes()
        places.append({"dtype": array.dtype.str, "shape": list(array.shape), "bytes": len(data)})
        body.append(data)
    text = json.dumps({**header, "arrays": places}).encode()
    rest = b"".join([len(text).to_bytes(8, "little"), text, *body])
    return MAGIC + hashlib.sha256(rest).digest() + rest


def unpack(content: bytes) -> tuple[dict[str, Any], list[Array]]:
    """Header and arrays of a checkpoint; a ValueError where a single bit of it is wrong.

    >>> unpack(pack({"a": 1}, [np.arange(3.0)]))[1]
    [array([0., 1., 2.])]
    """
    start = len(MAGIC)
    digest, rest = content[start : start + 32], content[start + 32 :]
    if not content.startswith(MAGIC) or hashlib.sha256(rest).digest() != digest:
        raise ValueError("not a whole checkpoint")
    try:
        return _parts(rest)
    except Exception as problem:  # whatever numpy and json say of what has a digest and no sense
        raise ValueError(f"no checkpoint of linsep: {problem!r}") from None  # though it is whole


def _parts(rest: bytes) -> tuple[dict[str, Any], list[Array]]:
    size = int.from_bytes(rest[:8], "little")
    header = json.loads(rest[8 : 8 + size])
    arrays, at = [], 8 + size
    for one in header.pop("arrays"):
        flat = np.frombuffer(rest[at : at + one["bytes"]], np.dtype(one["dtype"]))
        arrays.append(flat.reshape(one["shape"]).copy())
        at += one["bytes"]
    return header, arrays


class Fingerprint(NamedTuple):
    """What tells one set of rows from another."""

    shape: list[int]
    digest: str


def fingerprint(X: Any, *more: Any) -> Fingerprint:
    """A digest of all rows, labels and weights."""
    digest = hashlib.blake2b(digest_size=16)
    if on_cluster(X):
        digest.update(X.digest().encode())
    parts = [] if on_cluster(X) else [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
    for array in [*parts, *(one for one in more if one is not None)]:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        step = max(1, (1 << 22) // max(1, array[:1].nbytes))
        for first in range(0, len(array), step):
            digest.update(np.ascontiguousarray(array[first : first + step]).view(np.uint8).data)
    return Fingerprint(list(X.shape), digest.hexdigest())
