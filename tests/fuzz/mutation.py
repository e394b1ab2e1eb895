"""Inputs made from good ones: of bytes, of tokens that matter to a reader, and of parsed JSON."""

import json
import random
from copy import deepcopy
from typing import Any

TOKENS = (
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b'"', b"'", b",", b";", b"\t",
    b" ", b":", b"#", b"-", b"-0", b"1", b"1e400", b"1e-400", b"nan", b"inf", b"0x1p1", b"1_0",
    b"9" * 40, b"18446744073709551616", b"2147483648", b"1.5", b"\xe2\x88\x921", b"\xd9\xa1",
    b"null", b"true", b"{", b"}", b"[", b"]", b"[" * 500, b"\\ud800", b"qid:1",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 2**31, 2**53, 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324, "", "x",
    "\0", "\ud800", "inf", "nan", "0x1p1", "1/0", [], {}, [0], [[]], {"": 0}, "9" * 30,
)  # fmt: skip


def of_bytes(draw: random.Random, data: bytes, other: bytes) -> bytes:
    """One to four changes of bytes; `other` is another good input."""
    out = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        i, j = sorted(draw.randrange(len(out) + 1) for _ in range(2))
        act = draw.randrange(8)
        if act == 0 and out:
            out[min(i, len(out) - 1)] ^= 1 << draw.randrange(8)
        elif act == 1 and out:
            out[min(i, len(out) - 1)] = draw.randrange(256)
        elif act == 2:
            out[i:i] = draw.choice(TOKENS)
        elif act == 3:
            out[i : min(j, i + 12)] = draw.choice(TOKENS)
        elif act == 4:
            del out[i : min(j, i + draw.choice((1, 4, 40)))]
        elif act == 5:
            out[i:i] = out[i : min(j, i + 60)]
        elif act == 6:
            out = out[:i] + bytearray(other[draw.randrange(len(other) + 1) :])
        else:
            del out[i:]
    return bytes(out[:200_000])


def of_json(draw: random.Random, text: bytes) -> bytes:
    """One value, name or member of a JSON text changed; the text as it is where it is no JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for _ in range(draw.choice((1, 1, 2))):
        document = _changed(draw, document, 0)
    return json.dumps(document).encode()


def _changed(draw: random.Random, value: Any, depth: int) -> Any:
    inside = isinstance(value, (list, dict)) and value and draw.random() < 0.85
    if not inside:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and draw.random() < 0.5:
            return value + draw.choice((-1, 1)) if abs(value) < 1e300 else value
        return deepcopy(draw.choice(VALUES))
    places = list(value) if isinstance(value, dict) else range(len(value))
    key = draw.choice(places)
    act = draw.randrange(12)
    if act == 0:
        del value[key]
    elif act == 1 and isinstance(value, list):
        value.append(deepcopy(value[key]))
    elif act == 1:
        value[draw.choice(("x", "", str(key) + "_"))] = deepcopy(value[key])
    else:
        value[key] = _changed(draw, value[key], depth + 1)
    return value
