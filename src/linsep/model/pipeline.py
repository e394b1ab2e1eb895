"""Models that see rows through feature maps: pipelines of linsep's own parts, and their files."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.errors import ParameterError
from linsep.model.forms import require
from linsep.rows.channel_map import ChannelMap
from linsep.rows.feature_maps import PairMap, RadialMap

Array = npt.NDArray[Any]

Map = PairMap | RadialMap | ChannelMap
MOST = 100  # maps one after the other
MOST_PIXELS = 1 << 20  # numbers of an image that a file may speak of
MOST_TURNS = 360  # and directions


@dataclass(frozen=True, eq=False)
class Mapped:
    """A form whose rows first go through feature maps, one after the other."""

    inner: Any
    maps: tuple[Map, ...]

    def __getattr__(self, name: str) -> Any:
        """What it is beside that: the form inside."""
        if name.startswith("__") or name in ("inner", "maps"):
            raise AttributeError(name)
        return getattr(self.inner, name)

    def apply(self, X: Any) -> Any:
        """Rows as the form inside sees them."""
        for one in self.maps:
            X = one.apply(X)
        return X

    def scores(self, X: Any) -> Array:
        """Scores of rows in the units of the data."""
        return np.asarray(self.inner.scores(self.apply(X)))

    def reach(self, X: Array) -> Array:
        """That of the rows after the maps."""
        return np.asarray(self.inner.reach(self.apply(X)))

    def names(self, given: list[str]) -> list[str]:
        """What the features are called that the form inside sees."""
        for one in self.maps:
            given = one.names(given)
        return given

    def steps(self) -> list[dict[str, Any]]:
        """The maps as a file lists them, beside their tensors."""
        return [_step(one) for one in self.maps]

    def tensors(self) -> dict[str, Array]:
        """The numbers, by name."""
        own = {}
        for k, one in enumerate(self.maps):
            if isinstance(one, PairMap):
                own[f"step{k}.pairs"] = one.pairs.astype(np.int64)
            elif isinstance(one, RadialMap):
                own[f"step{k}.centres"] = np.asarray(one.centres, np.float64)
        return dict(self.inner.tensors()) | own


def _step(one: Map) -> dict[str, Any]:
    if isinstance(one, ChannelMap):
        return {"name": one.name, "shape": list(one.shape), "colours": one.colours,
                "cell": list(one.cell), "orientations": one.orientations}  # fmt: skip
    radial = {"squared": one.squared} if isinstance(one, RadialMap) else {}
    return {"name": one.name, "include_input": one.include_input} | radial


def read_maps(
    steps: Any, tensors: dict[str, Array], d: int
) -> tuple[tuple[Map, ...], dict[str, Array], int]:
    """The maps of a file, the tensors that are something else, and how many features there are."""
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST:
        raise ValueError("steps are no list of feature maps")
    maps: list[Map] = []
    rest = dict(tensors)
    for k, step in enumerate(steps):
        one = _read_map(step, rest, k, d)
        maps.append(one)
        d = one.width(d)
        if not 0 < d < 1 << 31:
            raise ValueError(f"step {k} makes {d} features")
    return tuple(maps), rest, d


def _read_channels(step: dict[str, Any], k: int, d: int) -> ChannelMap:
    if set(step) != {"name", "shape", "colours", "cell", "orientations"}:
        raise ValueError(f"step {k} is no feature map")
    pairs = [step["shape"], step["cell"]]
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise ValueError(f"step {k} has no shape")
    sizes = [*step["shape"], *step["cell"], step["colours"], step["orientations"]]
    if not all(type(size) is int and 1 <= size <= MOST_PIXELS for size in sizes):
        raise ValueError(f"step {k} has a size that is none")
    height, width, high, wide, colours, orientations = sizes
    if high > height or wide > width or orientations > MOST_TURNS:
        raise ValueError(f"step {k} has no cell, or too many orientations")
    if height * width * colours != d or d * (colours + orientations + 1) > MOST_PIXELS * 8:
        raise ValueError(f"step {k} is of other images")
    return ChannelMap((height, width), colours, (high, wide), orientations)


def _read_map(step: Any, rest: dict[str, Array], k: int, d: int) -> Map:
    if isinstance(step, dict) and step.get("name") == "Channels":
        return _read_channels(step, k, d)
    fields = {"PairProducts": {"include_input"}, "Radial": {"include_input", "squared"}}
    name = step.get("name") if isinstance(step, dict) else None
    if not isinstance(name, str) or name not in fields or set(step) != fields[name] | {"name"}:
        raise ValueError(f"step {k} is no feature map")
    if any(type(step[field]) is not bool for field in fields[name]):
        raise ValueError(f"step {k} has a switch that is none")
    if name == "PairProducts":
        key = f"step{k}.pairs"
        pairs = rest.pop(key, np.empty(0))
        require({key: pairs}, {key: ((len(pairs), 2), ("int64",))})
        if pairs.size and not (pairs.min() >= 0 and pairs.max() < d):
            raise ValueError(f"step {k} names a column that is not there")
        return PairMap(pairs, step["include_input"])
    key = f"step{k}.centres"
    centres = rest.pop(key, np.empty(0))
    require({key: centres}, {key: ((len(centres), d), ("float64",))})
    if not len(centres):
        raise ValueError(f"step {k} has no centre")
    return RadialMap(centres, step["squared"], step["include_input"])


def model_of(pipeline: Any, as_model: Any, data: Any) -> Any:
    """What a fitted pipeline predicts with: maps of linsep, then a learner."""
    maps = tuple(_map_of(one) for _, one in pipeline.steps[:-1] if one not in (None, "passthrough"))
    inner = as_model(pipeline.steps[-1][1], data)
    if not maps:
        return inner
    names = getattr(pipeline, "feature_names_in_", None)
    return replace(
        inner,
        form=Mapped(inner.form, maps),
        n_features_in_=int(pipeline.n_features_in_),
        feature_names_in_=None if names is None else np.asarray(names, object),
    )


def _map_of(step: Any) -> Map:
    kind = type(step).__name__
    own = type(step).__module__.startswith("linsep.")
    if own and kind == "PairProducts" and hasattr(step, "pairs_"):
        return PairMap(step.pairs_.astype(np.int64), bool(step.include_input))
    if own and kind == "Radial" and hasattr(step, "centres_"):
        return RadialMap(step.centres_, bool(step.squared), bool(step.include_input))
    if own and kind == "Channels" and hasattr(step, "shape_"):
        channels: ChannelMap = step.map()
        d = channels.shape[0] * channels.shape[1] * channels.colours
        _read_channels(_step(channels), 0, d)  # refuses what a file may not hold
        return channels
    if own and kind in ("PairProducts", "Radial", "Channels"):
        raise ParameterError(f"This {kind} is not fitted; call fit of the pipeline first.")
    raise ParameterError(
        f"a step of the pipeline is a {kind}; a model file can hold PairProducts, Radial and "
        "Channels before a learner, alone or in Scaled (which stands for StandardScaler and "
        "MinMaxScaler). "
        + ("HOG needs scikit-image, and loading a model imports nothing. " if kind == "HOG" else "")
        + "Save the last step, and prepare new rows as before."
    )


def estimator_of(model: Any) -> Any:
    """The scikit-learn pipeline again."""
    from sklearn.pipeline import make_pipeline

    import linsep  # reached as a user would, by public name

    steps: list[Any] = []
    d = model.n_features_in_
    for one in model.form.maps:
        step: Any
        if isinstance(one, PairMap):
            step = linsep.PairProducts(one.pairs.tolist(), include_input=one.include_input)
            step.pairs_ = one.pairs.astype(np.uint32)
        elif isinstance(one, ChannelMap):
            step = linsep.Channels(one.shape, colours=one.colours, cell=one.cell,
                                   orientations=one.orientations)  # fmt: skip
            step.shape_, step.cells_, step.channels_ = one.shape, one.cells, one.channels
        else:
            step = linsep.Radial(one.centres.tolist(), squared=one.squared,
                                 include_input=one.include_input)  # fmt: skip
            step.centres_ = one.centres
        step.n_features_in_ = d
        if not steps and model.feature_names_in_ is not None:
            step.feature_names_in_ = model.feature_names_in_
        steps.append(step)
        d = one.width(d)
    inner = replace(model, form=model.form.inner, n_features_in_=d, feature_names_in_=None)
    return make_pipeline(*steps, inner.to_estimator())
