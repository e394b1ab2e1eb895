"""Plain values and arrays as bytes that the page reads without parsing a number.

Four bytes with the length of the JSON, the JSON, and the arrays, each at a multiple of eight. An
array stands in the JSON as `{"$": [kind, shape, where]}`.
"""

import json
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

KINDS = ("f8", "f4", "i4", "u4", "u2", "u1")


def pack(value: Any) -> bytes:
    """The bytes of dicts, lists, texts, numbers and arrays.

    >>> unpack(pack({"w": np.array([1.5, 2.0]), "said": "é"}))["w"].tolist()
    [1.5, 2.0]
    """
    arrays: list[Array] = []
    size = 0

    def plain(one: Any) -> Any:
        nonlocal size
        if isinstance(one, dict):
            return {key: plain(part) for key, part in one.items()}
        if isinstance(one, (list, tuple)):
            return [plain(part) for part in one]
        if not isinstance(one, np.ndarray):
            return one
        kind = one.dtype.str[1:]
        if kind not in KINDS:
            raise TypeError(f"an array of {one.dtype} has no place in a page")
        where, size = size, size + -(-one.nbytes // 8) * 8
        arrays.append(one)
        return {"$": [kind, list(one.shape), where]}

    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    head = text.encode()
    head += b" " * (-(len(head) + 4) % 8)
    body = b"".join(_bytes(one) for one in arrays)
    return len(head).to_bytes(4, "little") + head + body


def unpack(packed: bytes) -> Any:
    """What `pack` was given; the page does the same."""
    length = int.from_bytes(packed[:4], "little")
    start = 4 + length

    def rich(one: Any) -> Any:
        if isinstance(one, dict) and set(one) == {"$"}:
            kind, shape, where = one["$"]
            count = int(np.prod(shape))
            return np.frombuffer(packed, f"<{kind}", count, start + where).reshape(shape)
        if isinstance(one, dict):
            return {key: rich(part) for key, part in one.items()}
        if isinstance(one, list):
            return [rich(part) for part in one]
        return one

    return rich(json.loads(packed[4:start]))


def _bytes(one: Array) -> bytes:
    plain = one.astype(one.dtype.newbyteorder("<"), copy=False).tobytes()
    return plain + b"\0" * (-len(plain) % 8)
