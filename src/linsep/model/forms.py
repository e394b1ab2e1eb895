"""The forms a trained model can have, as arrays in a file and as scores of rows.

    linear   hyperplanes                                        LinearModel
    ordinal  one hyperplane, and thresholds between levels      Ordinal
    centred  hyperplanes scored from a centre, perhaps axes     Centred
    kernel   a sum of kernel values with kept rows              Expansion
    vote     every separator of a perceptron run has its say    Votes

and each of them on rows of one size (Framed).

Each can list its tensors (`tensors`), what else is to be written (`document`), and be made again
from both (`read_form`), where every shape and number is checked. The last two need the rows they
were trained on.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linsep.data.blocks.blocks import spans
from linsep.model.centred import CentredModel
from linsep.model.linear import LinearModel
from linsep.rows.scaling import Frame

Array = npt.NDArray[Any]


class Linear(LinearModel):
    """Hyperplanes alone."""

    name: ClassVar[str] = "linear"
    carries: ClassVar[int] = 0

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        return {"name": self.name}

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        return {"coef": self.weights, "intercept": self.intercept}

    def reach(self, X: Array) -> Array:
        """Σ|wⱼxⱼ| + |b|: what rounding errors of the scores are in proportion to."""
        return _reach(X, self.weights) + np.abs(self.intercept)

    @property
    def tolerance(self) -> float:
        """How far scores may differ between machines, as a part of `reach`."""
        return 1e-9 if self.weights.dtype == np.float64 else 1e-4


@dataclass(frozen=True, eq=False)
class Calibrated(Linear):
    """Hyperplanes with Platt's sigmoid for each: a and b of σ(as + b), (K, 2)."""

    sigmoids: Array

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        return super().tensors() | {"sigmoids": self.sigmoids}


@dataclass(frozen=True, eq=False)
class Centred:
    """Hyperplanes that are scored from the centre where the origin is too far away.

    Attributes
    ----------
    weights : (K, d), or (d,) for one number to be predicted
    intercept : (K,), or one number
    planes : the same hyperplanes seen from the centre
    axes : where rows can be projected, or None
    """

    weights: Array
    intercept: Any
    planes: CentredModel
    axes: CentredModel | None = None

    name: ClassVar[str] = "centred"
    carries: ClassVar[int] = 0

    def scores(self, X: Any) -> Array:
        """⟨w, x⟩ + b for each row."""
        if self.planes.far(X.dtype):
            return self.planes.scores(X)
        if self.weights.ndim == 1:
            return np.asarray(X @ self.weights) + self.intercept
        return LinearModel(self.weights, self.intercept).scores(X)

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        return {"name": self.name}

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        tensors = {
            "coef": self.weights,
            "intercept": np.asarray(self.intercept),
            "planes.at_centre": self.planes.at_centre,
            "planes.centre": self.planes.centre,
            "planes.size": np.broadcast_to(
                np.asarray(self.planes.size, np.float64), self.planes.at_centre.shape
            ),
            "planes.weights": self.planes.weights,
        }
        if self.axes is not None:
            tensors |= {"axes.centre": self.axes.centre, "axes.weights": self.axes.weights}
        return tensors

    def reach(self, X: Array) -> Array:
        """Σ|wⱼ(xⱼ − cⱼ)| + |b|, or Σ|wⱼxⱼ| + |b| where scores are taken so."""
        planes = self.planes
        if planes.far(X.dtype):
            return _reach(X - planes.centre, planes.weights) + np.abs(planes.at_centre)
        return _reach(X, np.atleast_2d(self.weights)) + np.abs(self.intercept)

    @property
    def tolerance(self) -> float:
        """How far scores may differ between machines, as a part of `reach`."""
        return 1e-9 if self.weights.dtype == np.float64 else 1e-4


@dataclass(frozen=True, eq=False)
class Framed:
    """A form whose rows are first brought to (x − centre) / scale, as `linsep.Scaled` does."""

    inner: Any
    frame: Frame

    @property
    def name(self) -> str:
        """The form inside."""
        return str(self.inner.name)

    @property
    def carries(self) -> int:
        """How many training rows there are."""
        return int(self.inner.carries)

    @property
    def tolerance(self) -> float:
        """How far scores may differ between machines, as a part of `reach`."""
        return float(self.inner.tolerance)

    @property
    def axes(self) -> None:
        """Rows are not projected."""
        return

    @property
    def weights(self) -> Array:
        """In the units of the data."""
        return self._carried()[0]

    @property
    def intercept(self) -> Any:
        """In the units of the data."""
        return self._carried()[1]

    def _carried(self) -> tuple[Array, Any]:
        weights = self.inner.weights
        return carried(self.frame, weights, self.inner.intercept, weights.dtype)

    def scores(self, X: Any) -> Array:
        """Scores of rows in the units of the data."""
        return np.asarray(self.inner.scores(self.frame.apply(X)))

    def document(self) -> dict[str, Any]:
        """What a file says beside the tensors."""
        return dict(self.inner.document())

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        centre, scale = self.frame
        return self.inner.tensors() | {"frame.centre": centre, "frame.scale": scale}

    def reach(self, X: Array) -> Array:
        """That of the rows in the frame."""
        return np.asarray(self.inner.reach(self.frame.apply(X)))


def carried(frame: Frame, v: Array, a: Any, dtype: Any) -> tuple[Array, Any]:
    """w = v/s and b = a − ⟨w, c⟩: hyperplanes found in a frame, in the units of the data."""
    a = np.asarray(a)
    planes = np.atleast_2d(v).astype(np.float64) / frame.scale
    K = max(len(planes), a.size)  # parallel planes have their weights once
    at_centre = np.broadcast_to(np.atleast_1d(a).astype(np.float64), K)
    model = CentredModel(np.broadcast_to(planes, (K, planes.shape[1])), at_centre, frame.centre)
    model.require_finite()
    coef, intercept = model.as_type(dtype)
    coef = coef[: len(planes)].reshape(v.shape)
    return coef, intercept if a.ndim else intercept.dtype.type(intercept[0])


def read_frame(tensors: dict[str, Array], n_features: int) -> tuple[Frame, dict[str, Array]]:
    """The frame of a file, and the tensors that are something else."""
    mine = {name: tensors[name] for name in tensors if name.startswith("frame.")}
    wanted = ((n_features,), ("float64",))
    require(mine, {"frame.centre": wanted, "frame.scale": wanted})
    if not (mine["frame.scale"] > 0).all():
        raise ValueError("a feature has no positive scale")
    rest = {name: tensor for name, tensor in tensors.items() if name not in mine}
    return Frame(mine["frame.centre"], mine["frame.scale"]), rest


def _reach(X: Array, weights: Array) -> Array:
    """Σ|wⱼxⱼ|, in blocks of columns so that it takes little memory."""
    total = np.zeros((len(X), len(weights)))
    for start, stop in spans(X.shape[1], 1 << 16):
        total += np.abs(X[:, start:stop]) @ np.abs(weights[:, start:stop]).T
    return total


def read_form(document: Any, tensors: dict[str, Array], n_features: int, planes: int) -> Any:
    """The form a file describes; ValueError where it does not add up.

    `planes` is how many hyperplanes the classes ask for, or 0 for a regression.
    """
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise ValueError("the form has no name")
    name = document["name"]
    if name in ("linear", "centred"):
        if set(document) != {"name"}:
            raise ValueError(f"the form {name!r} has further fields")
        return _linear(name, tensors, n_features, planes)
    if name == "ordinal" and planes:
        from linsep.model.ordinal import read_ordinal

        return read_ordinal(document, tensors, n_features, planes)
    if name in ("kernel", "vote") and planes:
        from linsep.model.expansion import read_expansion

        return read_expansion(document, tensors, n_features, planes)
    raise ValueError(f"{name!r} is no form a model of this learner can have")


def _linear(name: str, tensors: dict[str, Array], d: int, planes: int) -> Any:
    single = planes == 0 and "coef" in tensors and tensors["coef"].ndim == 1
    K = planes or (1 if single else len(tensors.get("coef", ())))
    kinds = ("float32", "float64")
    wanted: dict[str, Any] = {"coef": ((K, d), kinds), "intercept": ((K,), kinds)}
    if single:
        wanted = {"coef": ((d,), kinds), "intercept": ((), kinds)}
    if name == "centred":
        double = ("float64",)
        wanted |= {
            "planes.at_centre": ((K,), double),
            "planes.centre": ((d,), double),
            "planes.size": ((K,), double),
            "planes.weights": ((K, d), double),
        }
        if "axes.weights" in tensors:
            columns = len(tensors["axes.weights"]) if tensors["axes.weights"].ndim == 2 else 0
            if not 1 <= columns <= max(1, planes):
                raise ValueError(f"there are {columns} axes for {planes} hyperplanes")
            wanted |= {"axes.weights": ((columns, d), double), "axes.centre": ((d,), double)}
    if name == "linear" and "sigmoids" in tensors:
        wanted["sigmoids"] = ((K, 2), ("float64",))
    require(tensors, wanted)
    if K < 1:
        raise ValueError("there is no hyperplane")
    if name == "linear":
        if planes == 0:
            raise ValueError("a regression has the form 'centred'")
        planes_given = tensors["coef"], tensors["intercept"]
        if "sigmoids" in tensors:
            return Calibrated(*planes_given, tensors["sigmoids"])
        return Linear(*planes_given)
    if not (tensors["planes.size"] >= 0).all():
        raise ValueError("a size is negative")
    seen = CentredModel(
        tensors["planes.weights"],
        tensors["planes.at_centre"],
        tensors["planes.centre"],
        tensors["planes.size"],
    )
    axes = None
    if "axes.weights" in tensors:
        weights = tensors["axes.weights"]
        axes = CentredModel(weights, np.zeros(len(weights)), tensors["axes.centre"])
    intercept = tensors["intercept"][()] if single else tensors["intercept"]
    return Centred(tensors["coef"], intercept, seen, axes)


def require(tensors: dict[str, Array], wanted: dict[str, tuple[Any, tuple[str, ...]]]) -> None:
    """Exactly these tensors, of these shapes and types, and all numbers finite."""
    if set(tensors) != set(wanted):
        odd = sorted(set(tensors) ^ set(wanted))[0]
        state = "not wanted" if odd in tensors else "missing"
        raise ValueError(f"the tensor {odd!r} is {state}")
    for name, (shape, types) in wanted.items():
        tensor = tensors[name]
        if tensor.shape != shape or tensor.dtype.name not in types:
            raise ValueError(
                f"the tensor {name!r} has shape {tensor.shape} and type {tensor.dtype}; "
                f"{shape} and {' or '.join(types)} were wanted"
            )
        if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
            raise ValueError(f"the tensor {name!r} holds NaN or infinity")
