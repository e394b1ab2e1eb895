"""Models that keep rows: a sum of kernel values, and the vote of a perceptron's separators."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from linsep.model.forms import require
from linsep.rows.gram import ROOM, Support
from linsep.rows.kernels import NAMES, Each, Kernel, check_kernel

Array = npt.NDArray[Any]

_PART = re.compile(r"rows\.(\d{3})(?:\.(data|indices|indptr))?")


@dataclass(frozen=True, eq=False)
class Expansion:
    """f(x) = Σⱼ aⱼ κ(xⱼ, x) + b over kept rows xⱼ.

    Attributes
    ----------
    support : the rows
    coefficients : (S, K) array, a
    intercept : (K,) array
    kernel : κ
    """

    support: Support
    coefficients: Array
    intercept: Array
    kernel: Kernel

    name: ClassVar[str] = "kernel"
    tolerance: ClassVar[float] = 1e-6

    @property
    def carries(self) -> int:
        """How many training rows there are."""
        return len(self.support)

    def scores(self, X: Any, each: Each = map) -> Array:
        """f of each row: a vector for two classes, a column per class for more."""
        a = np.ascontiguousarray(self.coefficients)  # as in a file: the same bytes
        scores = self.support.expand(self.kernel, X, a, each)
        scores += self.intercept
        return scores.ravel() if scores.shape[1] == 1 else scores

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        return {"name": self.name, "kernel": _kernel_document(self.kernel)}

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        tensors = {"coefficients": self.coefficients, "intercept": self.intercept}
        return tensors | _row_tensors(self.support)

    def reach(self, X: Any) -> Array:
        """Σ|aⱼ κ(xⱼ, x)| + |b|."""
        part = np.zeros((X.shape[0], self.coefficients.shape[1]))
        if len(self.support):
            part = np.abs(self.support.products(self.kernel, X)) @ np.abs(self.coefficients)
        return np.asarray(part + np.abs(self.intercept) + 1.0)


@dataclass(frozen=True, eq=False)
class Votes:
    """sgn Σ cₙ sgn(⟨wₙ, φ(x)⟩ + bₙ): separator n is the sum of the first n corrections.

    Attributes
    ----------
    support : the corrected rows, each once
    where : (M,) which of them each correction was about
    steps : (M, K) what each class received of its row
    survival : (M + 1,) votes of each separator
    kernel : κ
    bias : square of the constant feature: 0 for no intercept, 1 with one
    """

    support: Support
    where: Array
    steps: Array
    survival: Array
    kernel: Kernel
    bias: float

    name: ClassVar[str] = "vote"
    tolerance: ClassVar[float] = 0.05  # one separator that is exactly at zero may turn its vote

    @property
    def carries(self) -> int:
        """How many training rows there are."""
        return len(self.support)

    def scores(self, X: Any, each: Each = map) -> Array:
        """The balance of votes of each row, or for more than two classes the share of each.

        In the order of the compiled count, addition by addition: the same bytes.
        """
        planes = self.steps.shape[1]
        counted = np.zeros((X.shape[0], planes))
        counted[:, 0] += self.survival[0]

        def count(top: int, K: Array) -> None:
            high = max(1, ROOM // max(1, len(self.where) * planes))
            for first in range(0, len(K), high):
                part = K[first : first + high]
                counted[top + first : top + first + len(part)] = self._count(
                    part, counted[top + first : top + first + len(part)]
                )

        self.support.by_blocks(self.kernel, X, count, each)
        counted /= self.survival.sum() or 1.0
        return counted.ravel() if planes == 1 else counted

    def _count(self, K: Array, start: Array) -> Array:
        products = K[:, self.where] + self.bias
        running = [np.cumsum(products * step, axis=1) for step in self.steps.T]
        later = self.survival[1:]
        if len(running) == 1:
            votes = [np.where(running[0] >= 0.0, later, -later)]
        else:
            best = np.argmax(np.stack(running), axis=0)  # the first of equal ones
            votes = [np.where(best == k, later, 0.0) for k in range(len(running))]
        sums = [np.cumsum(np.column_stack([start[:, k], v]), axis=1) for k, v in enumerate(votes)]
        return np.column_stack([total[:, -1] for total in sums])

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        kernel = _kernel_document(self.kernel)
        return {"name": self.name, "kernel": kernel, "intercept": bool(self.bias)}

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        tensors = {"where": self.where, "steps": self.steps, "survival": self.survival}
        return tensors | _row_tensors(self.support)

    def reach(self, X: Any) -> Array:
        """All votes together count one."""
        return np.ones((X.shape[0], self.steps.shape[1]))


def read_expansion(document: dict[str, Any], tensors: dict[str, Array], d: int, K: int) -> Any:
    """An `Expansion` or `Votes` from a file; ValueError where it does not add up."""
    vote = document["name"] == "vote"
    if set(document) != {"name", "kernel"} | ({"intercept"} if vote else set()):
        raise ValueError("the form has other fields than its own")
    kernel = _read_kernel(document["kernel"])
    support, rest = _read_rows(tensors, d)
    S, double = len(support), ("float64",)
    if not vote:
        require(rest, {"coefficients": ((S, K), double), "intercept": ((K,), double)})
        return Expansion(support, rest["coefficients"], rest["intercept"], kernel)
    M = rest["where"].size if "where" in rest else 0
    require(
        rest,
        {
            "where": ((M,), ("int64",)),
            "steps": ((M, K), double),
            "survival": ((M + 1,), double),
        },
    )
    where, survival = rest["where"], rest["survival"]
    if M and not (where.min() >= 0 and where.max() < S):
        raise ValueError(f"a correction is about row {int(where.max())}; there are {S}")
    if not (survival >= 0).all():
        raise ValueError("a separator has fewer than no votes")
    if type(document["intercept"]) is not bool:
        raise ValueError("whether there is an intercept must be true or false")
    return Votes(support, where, rest["steps"], survival, kernel, float(document["intercept"]))


def _kernel_document(kernel: Kernel) -> dict[str, Any]:
    return dict(kernel._asdict())


def _read_kernel(document: Any) -> Kernel:
    if not isinstance(document, dict) or set(document) != set(Kernel._fields):
        raise ValueError("the kernel has other fields than form, degree, gamma and coef0")
    if not isinstance(document["form"], str) or document["form"] not in NAMES:
        raise ValueError(f"{document['form']!r} is no kernel of a model file")
    exact = [type(document[name]) for name in ("degree", "gamma", "coef0")]
    if exact != [int, float, float] or document["degree"] > 1 << 16:
        raise ValueError("the parameters of the kernel are not of their types")
    check_kernel(**{"kernel" if k == "form" else k: v for k, v in document.items()})
    return Kernel(**document)


def _row_tensors(support: Support) -> dict[str, Array]:
    tensors = {}
    for number, part in enumerate(support.parts):
        name = f"rows.{number:03}"
        if sp.issparse(part):
            tensors[f"{name}.data"] = part.data
            tensors[f"{name}.indices"] = part.indices.astype(np.int32)
            tensors[f"{name}.indptr"] = part.indptr.astype(np.int64)
        else:
            tensors[name] = part
    return tensors


def _read_rows(tensors: dict[str, Array], d: int) -> tuple[Support, dict[str, Array]]:
    """The kept rows, and the tensors that are something else."""
    parts: dict[int, dict[str | None, Array]] = {}
    rest = {}
    for name, tensor in tensors.items():
        match = _PART.fullmatch(name)
        if match is None:
            rest[name] = tensor
        else:
            parts.setdefault(int(match[1]), {})[match[2]] = tensor
    if sorted(parts) != list(range(len(parts))):
        raise ValueError("parts of the kept rows are missing")
    return Support(tuple(_read_part(parts[n], d) for n in sorted(parts))), rest


def _read_part(parts: dict[str | None, Array], d: int) -> Any:
    kinds = ("float32", "float64")
    if set(parts) == {None}:
        rows = parts[None]
        require({"rows": rows}, {"rows": ((len(rows) if rows.ndim else 0, d), kinds)})
        return rows
    tensors = {str(name): tensor for name, tensor in parts.items()}
    size = tensors["data"].size if "data" in tensors else 0
    height = tensors["indptr"].size if "indptr" in tensors else 0
    require(
        tensors,
        {
            "data": ((size,), kinds),
            "indices": ((size,), ("int32",)),
            "indptr": ((height,), ("int64",)),
        },
    )
    data, indices, indptr = (tensors[name] for name in ("data", "indices", "indptr"))
    rising = height >= 1 and indptr[0] == 0 and indptr[-1] == size and (np.diff(indptr) >= 0).all()
    if not rising or d > np.iinfo(np.int32).max:
        raise ValueError("the row pointers of kept rows do not run from 0 to their entries")
    if size and not (indices.min() >= 0 and indices.max() < d):
        raise ValueError("a kept row has an entry beyond its columns")
    small = np.int32 if size <= np.iinfo(np.int32).max else np.int64
    rows = sp.csr_array((data, indices, indptr.astype(small)), shape=(height - 1, d))
    if not rows.has_canonical_format:
        raise ValueError("the entries of a kept row are not in order")
    return rows
