"""How the numbers of a report can be had again: lines, versions, and which data they are of."""

import platform
import re
from typing import Any

import numpy as np

import linsep
from linsep.model.files.store import fingerprint

LIBRARIES = ("numpy", "scipy", "scikit-learn")


def lines_of(learner: Any, model: Any, held: bool, tested: bool) -> str:
    """Python that fits and reports the same, given X and y."""
    learner = getattr(learner, "best_estimator_", learner)
    said = repr(learner) if hasattr(learner, "get_params") else _call(model)
    test = ", test=(X_test, y_test)" if tested else "" if held else ", holdout=0"
    names = [one for one in dict.fromkeys(re.findall(r"\w+(?=\()", said)) if hasattr(linsep, one)]
    imports = f"from linsep import {', '.join(names)}\n" if names else ""
    return (
        f"import linsep\n{imports}model = {said}.fit(X, y)\n"
        f'linsep.report(model, X, y, "report.html"{test})'
    )


def _call(model: Any) -> str:
    call = f"{model.learner}({parameters_of(model)})"
    return call if model.scaled is None else f"Scaled({call}, how={model.scaled!r})"


def parameters_of(model: Any) -> str:
    """The parameters that differ from what they are if nothing is said, as Python writes them."""
    import inspect

    usual = inspect.signature(getattr(linsep, model.learner)).parameters
    return ", ".join(
        f"{name}={value!r}"
        for name, value in model.parameters.items()
        if name not in usual or usual[name].default != value
    )


def versions() -> str:
    """Of linsep, Python and what linsep stands on."""
    from importlib.metadata import PackageNotFoundError, version

    named = [f"linsep {linsep.__version__}", f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            named.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join([*named, platform.machine()])


def data_print(X: Any, y: Any) -> str:
    """Shape, type and SHA-256 of rows and labels, as `linsep.save(model, path, data=(X, y))`."""
    rows = X if hasattr(X, "tocsr") else np.asarray(X)
    kind = "sparse " if hasattr(X, "tocsr") else ""
    digest = fingerprint(X, y)["sha256"]
    return f"{rows.shape[0]:,} x {rows.shape[1]:,}, {kind}{rows.dtype}, SHA-256 {digest}"
