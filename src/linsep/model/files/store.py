"""`linsep.save` and `linsep.load`: models as files that hold numbers and texts, never code.

A file is one safetensors container (`container`) with a JSON document (`document`) in its metadata;
docs/model-file.md specifies both. Loading opens that one file, imports nothing it names, and
checks all of it before any of it is used.
"""

import hashlib
import os
import stat
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep._arguments import path_of
from linsep.data.check.plain import is_sparse
from linsep.data.files.atomic import replace
from linsep.data.files.system_errors import explain
from linsep.errors import ModelFileError, ParameterError
from linsep.model.files import document, selftest
from linsep.model.files.container import parse, refusal, seal, spell, unseal
from linsep.model.files.document import LEARNERS, RESULTS
from linsep.model.pipeline import model_of
from linsep.model.predictor import Model

Array = npt.NDArray[Any]


def save(model: Any, path: str | os.PathLike[str], *, data: Any = None) -> None:
    """Write a fitted learner to `path`, in one step that a crash cannot leave half done.

    The file holds what prediction needs, and how the fit ended. It holds no training rows, except
    for kernels and votes, which score new rows by old ones; `load(path).carries_rows` counts them.

    Parameters
    ----------
    model : a fitted learner of linsep, a pipeline that ends in one, or what `load` returned
        Steps before the learner may be `PairProducts`, `Radial` and `Channels`.
    path : where to write, replacing what is there
    data : (X, y), optional
        The training rows and labels, to keep the SHA-256 of all of them in the file. Their number
        and a digest of some of them, which the fit has noted, are in it anyway.

    Raises
    ------
    ParameterError
        Where the model is not fitted, or cannot be written without code (a kernel that is a
        function).
    StorageError
        Where the file cannot be written; what was there before is still there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from linsep import Perceptron, load, save
    >>> learner = Perceptron().fit([[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, Path(folder) / "heights.linsep")
    ...     model = load(Path(folder) / "heights.linsep")
    >>> model.predict([[0.2], [9.0]]).tolist(), model.learner
    (['low', 'high'], 'Perceptron')
    """
    replace(path_of("path", path), [to_bytes(model, data=data)])


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that `save` wrote.

    Takes no scikit-learn, and no trust: a file can only make this function
    return a model or raise. Use `model.to_estimator()` for a scikit-learn estimator.

    Raises
    ------
    ModelFileError
        Where the file is not exactly what `save` writes, saying why.
    """
    return from_bytes(_content(path), str(path))


def _content(path: str | os.PathLike[str]) -> bytes:
    try:
        with path_of("path", path).open("rb") as stream:
            about = os.fstat(stream.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise refusal(str(path), "it is not a regular file")
            return stream.read(about.st_size)
    except OSError as problem:
        raise ModelFileError(f"{path} cannot be read: {explain(problem)}") from None


def to_bytes(model: Any, *, data: Any = None) -> bytes:
    """The file that `save` writes, as bytes. The same model gives the same bytes."""
    model = as_model(model, data)
    answers = selftest.answers(model.form, model.n_features_in_)
    content = seal(spell(document.write(model, answers)), model.form.tensors())
    from_bytes(content, "the model to be saved")
    return content


def from_bytes(content: bytes, name: str = "the model") -> Model:
    """The model in the bytes of a file; `name` stands for it in errors."""
    text, tensors = unseal(content, name)
    del content  # the tensors are copies; a large file need not stay in memory beside them
    described = parse(text, name)
    try:
        if spell(described) != text:
            raise ValueError("its document is not in the spelling of linsep")
        model, expected = document.read(described, tensors)
        if not selftest.agrees(model.form, model.n_features_in_, expected):
            raise ValueError("it does not answer its five self-test rows as it once did")
    except (ValueError, TypeError, OverflowError, RecursionError) as problem:
        if isinstance(problem, ModelFileError):
            raise
        raise refusal(name, str(problem)) from None
    return model


def as_model(learner: Any, data: Any = None) -> Model:
    """What a fitted learner predicts with, detached from it."""
    if isinstance(learner, Model):
        return learner
    if hasattr(learner, "steps") and hasattr(learner, "named_steps"):
        return model_of(learner, as_model, data)
    outer, scaled = learner, None
    if type(learner).__name__ == "Scaled" and hasattr(learner, "learner_"):
        learner, scaled = learner.learner_, learner.how
    name = type(learner).__name__
    if name not in LEARNERS or not type(learner).__module__.startswith("linsep."):
        raise ParameterError(
            f"model is a {name}; linsep.save takes the learners of linsep, alone, in Scaled or "
            f"behind PairProducts, Radial and Channels in a pipeline: {', '.join(LEARNERS)}."
        )
    if not hasattr(learner, "status_"):
        raise ParameterError(f"This {name} is not fitted; call fit first.")
    form = outer._form()
    inner = form if scaled is None else form.inner
    kernel = getattr(inner, "kernel", None)
    if kernel is not None and not isinstance(kernel.form, str):
        raise ParameterError(
            f"kernel is the function {kernel.name}, and a model file holds no code; use one of the "
            "named kernels, or compute its features first."
        )
    parameters = learner.get_params(deep=False)
    parameters.pop("callback", None)
    if callable(parameters.get("schedule")):  # code
        parameters.pop("schedule")
    if getattr(learner, "offset_", None) is not None:
        parameters["offset_"] = learner.offset_  # of fit, and of every prediction
    names = vars(outer).get("feature_names_in_")  # an encoding has its own
    proof = getattr(learner, "proof_", None)
    return Model(
        learner=name,
        parameters=parameters,
        classes_=getattr(learner, "classes_", None),
        n_features_in_=int(outer.n_features_in_),
        feature_names_in_=None if names is None else np.asarray(names, object),
        status_=learner.status_,
        form=form,
        encoding_=getattr(outer, "encoding_", None),
        results={field: _number(getattr(learner, f"{field}_", None)) for field in RESULTS},
        certificate=None if proof is None else proof.to_json(),
        data=_about(learner, data),
        scaled=scaled,
    )


def _about(learner: Any, data: Any) -> dict[str, Any] | None:
    """What the learner was fitted on, as it noted, and the digest of all of it if it is given."""
    noted = getattr(learner, "data_", None)
    if data is None and noted is None:
        return None
    about = {"rows": None, "columns": None, "sample": None, "sha256": None} | (noted or {})
    if data is not None:
        if not isinstance(data, (tuple, list)) or len(data) != 2 or not hasattr(data[0], "shape"):
            raise ParameterError(f"data is {data!r:.60}; give (X, y), the arrays of the fit.")
        about |= {"columns": int(data[0].shape[1])} | fingerprint(*data)
    return about


def _number(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # passes, of all classes at once
        return int(value.max())
    return None if value is None or not np.isfinite(value) else value


def fingerprint(X: Any, y: Any) -> dict[str, Any]:
    """The number of rows, and a SHA-256 over shape, type, entries and labels.

    >>> fingerprint(np.zeros((2, 1)), [0, 1])["sha256"][:16]
    '8882adb25034f167'
    """
    digest = hashlib.sha256()
    parts = [X.indptr, X.indices, X.data] if is_sparse(X) else [np.asarray(X)]
    for part in parts:
        digest.update(f"{part.dtype.str}{part.shape}".encode())
        digest.update(np.ascontiguousarray(part).data.cast("B") if part.size else b"")
    digest.update(repr(np.asarray(y).tolist()).encode("utf-8", "surrogatepass"))
    return {"rows": int(X.shape[0]), "sha256": digest.hexdigest()}
