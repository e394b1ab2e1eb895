"""The document inside a model file: every field, its type, and what it must agree with."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import linsep
from linsep.data.encoding.encoding import Encoding
from linsep.model.files.container import spell
from linsep.model.files.selftest import ROWS
from linsep.model.files.values import pack, pack_classes, unpack, unpack_classes
from linsep.model.forms import Framed, read_form, read_frame
from linsep.model.pipeline import Mapped, read_maps
from linsep.model.predictor import Model
from linsep.status import Status

Array = npt.NDArray[Any]

FORMAT = 3
FORMATS = (1, 2, FORMAT)
"""Formats that are read: all there ever were."""
PLAIN = 2
"""What is written where rows go through no feature map: older versions read it."""
LEARNERS = linsep._LEARNERS
"""The names a file may bear, from the table of public names."""

REGRESSIONS = ("LinearRegression",)
RESULTS = ("gap", "mistakes", "n_iter", "objective")
FIELDS = {
    "certificate", "classes", "data", "encoding", "feature_names", "form", "format", "learner",
    "linsep", "n_features", "parameters", "results", "rows_kept", "scaled", "self_test", "status",
}  # fmt: skip


def write(model: Model, self_test: list[list[float]] | None) -> dict[str, Any]:
    """The document of a model."""
    names = model.feature_names_in_
    steps = {"steps": model.form.steps()} if isinstance(model.form, Mapped) else {}
    return steps | {
        "certificate": model.certificate,
        "classes": None if model.classes_ is None else pack_classes(model.classes_),
        "data": model.data,
        "encoding": None if model.encoding_ is None else model.encoding_.to_json(),
        "feature_names": None if names is None else names.tolist(),
        "form": model.form.document(),
        "format": FORMAT if steps else PLAIN,
        "learner": model.learner,
        "linsep": linsep.__version__,
        "n_features": model.n_features_in_,
        "parameters": {name: pack(value) for name, value in model.parameters.items()},
        "results": {name: model.results.get(name) for name in RESULTS},
        "rows_kept": model.carries_rows,
        "scaled": model.scaled,
        "self_test": self_test,
        "status": model.status_.name,
    }


def read(document: Any, tensors: dict[str, Array]) -> tuple[Model, list[list[float]] | None]:
    """The model a document and its tensors describe; ValueError where they do not add up."""
    if not isinstance(document, dict):
        raise ValueError("its document is not an object")
    if document.get("format") not in FORMATS or type(document["format"]) is not int:
        raise ValueError(
            f"it has format {str(document.get('format'))[:40]}; this linsep, "
            f"{linsep.__version__}, reads formats {FORMATS[0]} to {FORMAT}, so a newer one may "
            "have made it"
        )
    fields = FIELDS | ({"steps"} if document["format"] == FORMAT else set())
    if set(document) != fields:
        raise ValueError(f"the field {sorted(set(document) ^ fields)[0]!r} is missing or unknown")
    learner = _text(document, "learner", LEARNERS)
    status = Status[_text(document, "status", tuple(Status.__members__))]
    d = _whole(document["n_features"], "n_features", least=1)
    classes = _classes(document["classes"], learner)
    planes = 0 if classes is None else (1 if len(classes) == 2 else len(classes))
    form = _form(document, tensors, d, planes)
    if _whole(document["rows_kept"], "rows_kept") != form.carries:
        raise ValueError(f"it says to hold {document['rows_kept']} training rows")
    model = Model(
        learner=learner,
        parameters=_parameters(document["parameters"]),
        classes_=classes,
        n_features_in_=d,
        feature_names_in_=_names(document["feature_names"], d),
        status_=status,
        form=form,
        encoding_=_encoding(document["encoding"], d),
        results=_results(document["results"]),
        certificate=None if document["certificate"] is None else _text(document, "certificate"),
        data=_data(document["data"], document["format"]),
        scaled=document["scaled"],
        version=_text(document, "linsep"),
    )
    return model, _self_test(document["self_test"], form, planes)


def _form(document: dict[str, Any], tensors: dict[str, Array], d: int, planes: int) -> Any:
    if "steps" in document:
        maps, tensors, d = read_maps(document["steps"], tensors, d)
        inner = {name: value for name, value in document.items() if name != "steps"}
        return Mapped(_form(inner, tensors, d, planes), maps)
    if document["scaled"] is None:
        return read_form(document["form"], tensors, d, planes)
    _text(document, "scaled", ("mean", "min-max"))
    frame, rest = read_frame(tensors, d)
    return Framed(read_form(document["form"], rest, d, planes), frame)


def _text(document: dict[str, Any], name: str, known: tuple[str, ...] | None = None) -> str:
    value = document[name]
    if not isinstance(value, str) or (known is not None and value not in known):
        raise ValueError(f"{name} is {str(value)[:40]!r}")
    return value


def _whole(value: Any, name: str, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 53:
        raise ValueError(f"{name} is {str(value)[:40]}")
    return int(value)


def _classes(value: Any, learner: str) -> Array | None:
    if (value is None) != (learner in REGRESSIONS):
        raise ValueError(f"{learner} with{'out' if value is None else ''} classes")
    return None if value is None else unpack_classes(value)


def _names(value: Any, d: int) -> Array | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != d or any(type(n) is not str for n in value):
        raise ValueError(f"feature_names are not {d} texts")
    names = np.empty(d, object)
    names[:] = value
    return names


def _parameters(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > 100:
        raise ValueError("parameters are not an object of at most 100")
    if any(not name.isidentifier() or len(name) > 100 for name in value):
        raise ValueError("a parameter has a name that is no name")
    return {name: unpack(one) for name, one in value.items()}


def _results(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or set(value) != set(RESULTS):
        raise ValueError(f"results are other than {', '.join(RESULTS)}")
    for name, number in value.items():
        kinds = (int,) if name == "n_iter" else (int, float)
        most = math.inf if type(number) is float else 1 << 53
        if number is not None and not (type(number) in kinds and 0 <= number < most):
            raise ValueError(f"the result {name} is {str(number)[:40]}")
    return value


def _encoding(value: Any, d: int) -> Encoding | None:
    if value is None:
        return None
    encoding = Encoding.from_json(value)
    if encoding.n_features != d or spell(encoding.to_json()) != spell(value):
        raise ValueError(f"the encoding makes {encoding.n_features} features, or is not spelled so")
    return encoding


def _data(value: Any, version: int) -> dict[str, Any] | None:
    if value is None:
        return None
    fields = {"rows", "sha256"} if version == 1 else {"columns", "rows", "sample", "sha256"}
    if not isinstance(value, dict) or set(value) != fields:
        raise ValueError("data are not a number of rows and digests")
    _whole(value["rows"], "the number of training rows", least=1)
    value = {"columns": None, "sample": None} | value
    if value["columns"] is not None:
        _whole(value["columns"], "the number of columns", least=1)
    for name, digits in (("sample", 32), ("sha256", 64)):
        digest = value[name]
        if digest is not None:
            exact = isinstance(digest, str) and len(digest) == digits
            if not exact or any(c not in "0123456789abcdef" for c in digest):
                raise ValueError(f"the digest of the data is not {digits} hexadecimal digits")
    return value


def _self_test(value: Any, form: Any, planes: int) -> list[list[float]] | None:
    if value is None:
        return None
    width = planes or np.asarray(form.intercept).size
    if not isinstance(value, list) or len(value) != ROWS:
        raise ValueError(f"the self-test has not {ROWS} rows")
    for scores in value:
        if not isinstance(scores, list) or [type(s) for s in scores] != [float] * width:
            raise ValueError(f"a row of the self-test has not {width} scores")
    return value
