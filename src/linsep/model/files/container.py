"""The outer layer of a model file: the safetensors layout, read strictly.

    8 bytes   n, the length of the header, little-endian
    n bytes   JSON: {"__metadata__": {texts}, name: {"data_offsets", "dtype", "shape"}, ...}
    the rest  the numbers of all tensors, little-endian, one after the other, nothing between

Any safetensors reader can open what is written here. What is read must be written exactly so:
the header in the one spelling `seal` gives it, every byte of the file belonging to it or to one
tensor, and the SHA-256 of the whole right. Nothing is allocated before it is known to be there.
"""

import hashlib
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ModelFileError

Array = npt.NDArray[Any]

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4"}
LONGEST = 1 << 24  # bytes of a header
MOST = 200_000  # lists and objects in a header
ZEROS = "0" * 64
MARK = b'"sha256":"'


def spell(value: Any) -> str:
    """JSON in the one spelling that is accepted: sorted keys, no spaces, ASCII, finite numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def seal(document: str, tensors: dict[str, Array]) -> bytes:
    """A file with `document` and `tensors`, and the digest of it all."""
    header: dict[str, Any] = {"__metadata__": {"linsep": document, "sha256": ZEROS}}
    names = {np.dtype(code): name for name, code in TYPES.items()}
    parts, offset = [], 0
    for name in sorted(tensors):
        array = np.asarray(tensors[name], order="C")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        end = offset + array.nbytes
        header[name] = {
            "data_offsets": [offset, end],
            "dtype": names[array.dtype],
            "shape": list(array.shape),
        }
        parts.append(array.tobytes())
        offset = end
    text = _padded(spell(header).encode("ascii"))
    _require_modest(text, "the model to be saved")
    data = b"".join([len(text).to_bytes(8, "little"), text, *parts])
    place = data.index(MARK) + len(MARK)
    digest = hashlib.sha256(data).hexdigest().encode("ascii")
    return b"".join([data[:place], digest, data[place + len(digest) :]])


def unseal(data: bytes, name: str) -> tuple[str, dict[str, Array]]:
    """The document and the tensors of a file, or a ModelFileError that says what is wrong."""
    text = _header(data, name)
    _require_digest(data, len(text), name)
    header = parse(text.rstrip(b" "), name)
    if _padded(spell(header).encode("ascii")) != text:
        raise refusal(name, "its header is not in the spelling of linsep")
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or set(metadata) != {"linsep", "sha256"}:
        raise refusal(name, "its metadata are not those of linsep; other safetensors files hold")
    document = metadata["linsep"]
    if not isinstance(document, str):
        raise refusal(name, "its document is not a text")
    start = 8 + len(text)
    places = _places(header, len(data) - start, name)
    return document, {
        key: np.frombuffer(data, dtype, math.prod(shape), start + offset).reshape(shape).copy()
        for key, (dtype, shape, offset) in places.items()
    }


def ranges(data: bytes) -> list[tuple[int, int, str]]:
    """Every byte of a sound file: where it begins, where it ends, what it is."""
    length = int.from_bytes(data[:8], "little")
    start = 8 + length
    header = json.loads(data[8:start])
    header.pop("__metadata__")
    parts = [(0, 8, "length of the header"), (8, start, "header: document, digest, tensor list")]
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        what = f"{name}: {entry['dtype']} {'×'.join(map(str, entry['shape'])) or 'one number'}"
        parts.append((start + first, start + last, what))
    return parts


def parse(text: bytes | str, name: str) -> Any:
    """JSON without duplicate keys, NaN or infinity."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as problem:
        raise refusal(name, f"its text is not valid JSON ({problem})") from None


def refusal(name: str, why: str) -> ModelFileError:
    """The error for a file that is not what it should be."""
    return ModelFileError(
        f"{name} is not a sound linsep model file: {why}. Save the model again with linsep.save, "
        "or fetch the file again."
    )


def _header(data: bytes, name: str) -> bytes:
    """The header with its padding, if its length can be true."""
    if len(data) < 16:
        raise refusal(name, f"it has {len(data)} bytes, too few for any model")
    length = int.from_bytes(data[:8], "little")
    if length > len(data) - 8 or length % 8:
        raise refusal(name, f"its first 8 bytes announce a header of {length} bytes")
    text = data[8 : 8 + length]
    if not text.startswith(b'{"__metadata__":{"linsep":"'):
        raise refusal(name, f"it begins with {data[:16]!r}, as files of other kinds do")
    _require_modest(text, name)
    return text


def _require_modest(text: bytes, name: str) -> None:
    """Refuse a header that would take much memory to read, before it is read."""
    if len(text) > LONGEST:
        raise refusal(name, f"its header has {len(text)} bytes, more than {LONGEST}")
    nested = text.count(b"[") + text.count(b"{")  # in names too: a bound, not a count
    if nested > MOST:
        raise refusal(name, f"its header holds {nested} opening brackets, more than {MOST}")


def _require_digest(data: bytes, length: int, name: str) -> None:
    """SHA-256 of the whole file, with zeros in the place of the digest itself."""
    place = data.find(MARK, 8, 8 + length)
    if place < 0:
        raise refusal(name, "its header has no digest")
    place += len(MARK)
    view = memoryview(data)
    digest = hashlib.sha256(view[:place])
    digest.update(ZEROS.encode("ascii"))
    digest.update(view[place + 64 :])
    if digest.hexdigest().encode("ascii") != data[place : place + 64]:
        raise refusal(name, "its bytes do not have the SHA-256 written in it, so some have changed")


def _places(header: dict[str, Any], room: int, name: str) -> dict[str, tuple[str, Any, int]]:
    """Type, shape and offset of every tensor; together they must cover `room` bytes exactly."""
    places, reached = {}, 0
    for key in sorted(header):
        entry = header[key]
        if not isinstance(entry, dict) or set(entry) != {"data_offsets", "dtype", "shape"}:
            raise refusal(name, f"tensor {key!r} has other fields than type, shape and offsets")
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(code, str) or code not in TYPES:
            raise refusal(name, f"tensor {key!r} has the type {code!r}")
        if not (_sizes(shape) and _sizes(offsets) and len(shape) <= 2 and len(offsets) == 2):
            raise refusal(name, f"tensor {key!r} has shape {shape!r} and offsets {offsets!r}")
        size = math.prod(shape) * np.dtype(TYPES[code]).itemsize
        if offsets != [reached, reached + size] or reached + size > room:
            raise refusal(name, f"tensor {key!r} lies at {offsets!r}, not at {reached}")
        places[key] = (TYPES[code], tuple(shape), reached)
        reached += size
    if reached != room:
        raise refusal(name, f"its tensors take {reached} bytes, but {room} are there")
    return places


def _sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 62 for v in values)


def _padded(text: bytes) -> bytes:
    return text + b" " * (-len(text) % 8)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice")
    return members


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number")
