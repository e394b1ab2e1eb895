"""What `separability` found, with its proof: an object, a sentence, and a file."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.errors import DataError

Array = npt.NDArray[Any]

FORMAT = "linsep separability certificate"
VERSION = 1


class Span(NamedTuple):
    """Rows with positive multipliers that annihilate them and that span all rows.

    Attributes
    ----------
    rows, rivals, multipliers
        As in `Separability`; at most twice the dimension of them.
    normals : tuple of tuples of int
        Vectors (w, b) on which every row vanishes; with the rows they fill the space.
    """

    rows: Array
    rivals: Array | None
    multipliers: tuple[Fraction, ...]
    normals: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Separability:
    """Whether a plane separates the classes, and why.

    Attributes
    ----------
    separable : bool or None
        True: a plane has every row strictly on its side. False: none has. None: undecided.
    quasi_separable : bool or None
        Where `separable` is False: whether some plane has no row on the wrong side, some rows on
        it and some off it. None: undecided.
    weights, bias : array and float
        The separator: class `classes[1]` lies where ⟨w, x⟩ + b > 0. With many classes one row of
        weights, and one bias, per class: the class with the largest ⟨wₖ, x⟩ + bₖ wins.
    fit_intercept : bool
        False: all of this is about planes through the origin. Every bias is 0, and the multipliers
        satisfy Σ αᵢyᵢxᵢ = 0, on at most d + 1 rows, or (K-1)d + 1 with many classes.
    plane : tuple or None
        The separator in fractions, (w₁, …, w_d, b) for each row of weights, where floats cannot
        express one. The proof then rests on it, and `weights` and `bias` are its nearest floats.
    margin : float
        The distance of the nearest row from the separator, rounded down; hence a lower bound on
        the largest margin. 0.0 where no separator is known. With many classes: the least lead of a
        class over a rival, divided by √2 ‖W‖, which for two classes is the same.
    margin_upper : float
        No separator has a larger margin than this; rounded up. 0.0 where none exists.
    rows, multipliers : array and tuple of Fraction
        Where no separator exists: at most d + 2 rows, and multipliers ≥ 0 of sum 1, with
        Σ αᵢyᵢ(xᵢ, 1) = 0. No plane can have Σ αᵢ yᵢ(⟨w, xᵢ⟩ + b) > 0.
    rivals : array or None
        With many classes: for each of `rows`, the class (an index into `classes`) it is compared
        with; a row may occur with several. At most (K-1)(d+1) + 1 in all.
    bound_rows, bound_rivals, bound_multipliers
        The convex combination behind `margin_upper`: its length is the bound.
    span : Span or None
        Where not even a plane through some rows exists: what proves that.
    classes : array
        The classes, sorted.
    shape : (int, int)
        Rows and columns of the data.
    fingerprint : str
        A digest of the data, to tell data sets apart; no part of the proof.

    See Also
    --------
    linsep.separability : where these come from.
    """

    separable: bool | None
    quasi_separable: bool | None
    classes: Array
    shape: tuple[int, int]
    weights: Array | None = None
    bias: Any = None
    plane: tuple[tuple[Fraction, ...], ...] | None = None
    margin: float = 0.0
    margin_upper: float = math.inf
    rows: Array | None = None
    rivals: Array | None = None
    multipliers: tuple[Fraction, ...] | None = None
    bound_rows: Array | None = None
    bound_rivals: Array | None = None
    bound_multipliers: tuple[Fraction, ...] | None = None
    span: Span | None = None
    fit_intercept: bool = True
    fingerprint: str = ""

    @property
    def kind(self) -> str:
        """ "separable", "quasi-separable", "not separable" or "undecided"."""
        if self.separable is None:
            return "undecided"
        if self.separable:
            return "separable"
        return "quasi-separable" if self.quasi_separable else "not separable"

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        n, d = self.shape
        data = f"{n} rows in {d} {'dimension' if d == 1 else 'dimensions'}"
        where = "" if self.fit_intercept else " through the origin"
        least, most = f"{self.margin:.6g}", f"{self.margin_upper:.6g}"
        if self.separable is None:
            known = "" if math.isinf(self.margin_upper) else f"; no margin exceeds {most}"
            return (
                f"Undecided: neither a separator{where} of {data} nor a proof against one{known}."
            )
        if self.separable:
            known = "" if math.isinf(self.margin_upper) else f" (the largest is at most {most})"
            two = len(self.classes) == 2
            plane, have = ("a plane", "has") if two else (f"{len(self.classes)} planes", "have")
            return (
                f"Separable: {plane}{where} {have} all {data} strictly on their sides, "
                f"margin {least}{known}."
            )
        assert self.rows is not None
        some = len(set(self.rows.tolist()))  # with many classes a row may meet several rivals
        why = (
            f"{some} of the {data} rule{'s' if some == 1 else ''} every plane{where} out by an "
            "exact combination to zero"
        )
        if self.quasi_separable:
            return f"Not separable, but quasi-separable (points on the plane): {why}."
        if self.quasi_separable is False:
            return f"Not separable, not even with points on the plane: {why}."
        return f"Not separable: {why}."

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Separability: {self.kind}, {self.shape[0]} rows, {self.shape[1]} columns>"

    def verify(self, X: Any, y: Any) -> bool:
        """Check the proof against data, exactly, by code that shares nothing with the search.

        False also where nothing was proved (undecided). `linsep.proofs.verify.separability.check`
        says why.
        """
        from linsep.proofs.verify.separability import check

        return check(self, X, y) == ""

    def to_json(self) -> str:
        """The certificate as text: floats and fractions are written so that nothing is lost."""
        body = _body(self)
        return json.dumps({**body, "digest": _digest(body)}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Separability":
        """Read what `to_json` wrote; a DataError says what is wrong with anything else."""
        return _parse(text)


def fingerprint(X: Any, codes: Array) -> str:
    """A digest of shape, labels and up to 256 rows, whatever the layout and float width.

    >>> A = np.array([[0.0, 2.0]])
    >>> fingerprint(A, np.array([0])) == fingerprint(sp.csr_array(A), np.array([0]))
    True
    """
    n, d = X.shape
    some = np.arange(0, n, max(1, n // 256))
    rows = sp.csr_array(X[some].astype(np.float64))
    rows.eliminate_zeros()
    digest = hashlib.blake2b(f"{n} {d}".encode(), digest_size=16)
    for part in (np.bincount(codes), codes[some], rows.indptr, rows.indices):
        digest.update(part.astype("<i8").tobytes())
    digest.update(rows.data.astype("<f8").tobytes())
    return digest.hexdigest()


def _body(c: Separability) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "verdict": c.verdict,
        "separable": c.separable,
        "quasi_separable": c.quasi_separable,
        "classes": [_label(label) for label in c.classes.tolist()],
        "shape": list(c.shape),
        "fit_intercept": c.fit_intercept,
        "fingerprint": c.fingerprint,
        "weights": _floats(c.weights),
        "bias": _floats(c.bias),
        "plane": None if c.plane is None else [[_ratio(a) for a in part] for part in c.plane],
        "margin": _floats(c.margin),
        "margin_upper": _floats(c.margin_upper),
        "rows": _indices(c.rows),
        "rivals": _indices(c.rivals),
        "multipliers": _ratios(c.multipliers),
        "bound_rows": _indices(c.bound_rows),
        "bound_rivals": _indices(c.bound_rivals),
        "bound_multipliers": _ratios(c.bound_multipliers),
        "span": None
        if c.span is None
        else {
            "rows": _indices(c.span.rows),
            "rivals": _indices(c.span.rivals),
            "multipliers": _ratios(c.span.multipliers),
            "normals": [[_number(a) for a in normal] for normal in c.span.normals],
        },
    }


def _digest(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _label(label: Any) -> Any:
    return label if isinstance(label, (str, int, float, bool)) else str(label)


def _floats(value: Any) -> Any:
    """Floats as hexadecimal text, which is exact; arrays as nested lists of them."""
    if value is None:
        return None
    if np.ndim(value) == 0:
        return float(value).hex()
    return [_floats(part) for part in value]


def _number(a: int) -> str:
    return str(a) if abs(a) < 10**40 else hex(a)  # decimal text of huge numbers is slow, and capped


def _ratio(a: Fraction) -> str:
    return f"{_number(a.numerator)}/{_number(a.denominator)}"


def _ratios(values: Sequence[Fraction] | None) -> list[str] | None:
    return None if values is None else [_ratio(a) for a in values]


def _indices(values: Array | None) -> list[int] | None:
    return None if values is None else [int(i) for i in values]


def _parse(text: str) -> Separability:
    try:
        body = json.loads(text)
        if not isinstance(body, dict) or body.get("format") != FORMAT:
            raise DataError(f"this is no {FORMAT}; `linsep certify DATA --out CERT` writes one.")
        if body.get("version") != VERSION:
            raise DataError(
                f"the certificate has version {body.get('version')!r}; this linsep reads "
                f"version {VERSION}. Make it again."
            )
        claimed = body.pop("digest", None)
        if claimed != _digest(body):
            raise DataError(
                "the certificate was altered after it was written: its digest does not match. "
                "Make it again."
            )
        return _read(body)
    except DataError:
        raise
    except _UNREADABLE as problem:
        raise DataError(f"the certificate cannot be read: {problem}. Make it again.") from None


_UNREADABLE = (ValueError, KeyError, IndexError, TypeError, AttributeError, ArithmeticError,
               RecursionError)  # fmt: skip


def _read(body: dict[str, Any]) -> Separability:
    plane, span = body["plane"], body["span"]
    if not isinstance(body["classes"], list) or len({*map(type, body["classes"])}) > 1:
        raise TypeError(f"classes is {body['classes']!r:.40}, not a list of labels of one kind")
    weights = _unfloat(body["weights"])
    bias = _unfloat(body["bias"])
    return Separability(
        separable=_truth(body["separable"]),
        quasi_separable=_truth(body["quasi_separable"]),
        classes=np.array(body["classes"]),
        shape=(int(body["shape"][0]), int(body["shape"][1])),
        fit_intercept=_free(body.get("fit_intercept", True)),  # older certificates do not say
        fingerprint=str(body["fingerprint"]),
        weights=None if weights is None else np.array(weights, np.float64),
        bias=np.array(bias, np.float64) if isinstance(bias, list) else bias,
        plane=None if plane is None else tuple(tuple(map(_unratio, part)) for part in plane),
        margin=float.fromhex(body["margin"]),
        margin_upper=float.fromhex(body["margin_upper"]),
        rows=_unindices(body["rows"]),
        rivals=_unindices(body["rivals"]),
        multipliers=_unratios(body["multipliers"]),
        bound_rows=_unindices(body["bound_rows"]),
        bound_rivals=_unindices(body["bound_rivals"]),
        bound_multipliers=_unratios(body["bound_multipliers"]),
        span=None
        if span is None
        else Span(
            np.array(span["rows"], np.int64),
            _unindices(span["rivals"]),
            tuple(map(_unratio, span["multipliers"])),
            tuple(tuple(int(a, 0) for a in normal) for normal in span["normals"]),
        ),
    )


def _truth(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true, false nor null")
    return value


def _free(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"fit_intercept is {value!r}, neither true nor false")
    return value


def _unfloat(value: Any) -> Any:
    if isinstance(value, list):
        return [_unfloat(part) for part in value]
    return None if value is None else float.fromhex(value)


def _unratio(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    return Fraction(int(top, 0), int(bottom, 0))


def _unratios(values: list[str] | None) -> tuple[Fraction, ...] | None:
    return None if values is None else tuple(map(_unratio, values))


def _unindices(values: list[int] | None) -> Array | None:
    return None if values is None else np.array(values, np.int64).reshape(len(values))
