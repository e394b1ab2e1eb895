"""A linear model as one Python file that needs nothing but the interpreter."""

import pprint
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.encoding import Encoding
from linsep.data.table import cells
from linsep.data.table.memory import USUAL
from linsep.errors import ParameterError
from linsep.model.export import standalone
from linsep.model.export.export import levels_of, planes_of
from linsep.model.pipeline import Mapped
from linsep.model.predictor import LOG_ODDS, Model
from linsep.rows.feature_maps import PairMap

Array = npt.NDArray[Any]


def source_of(model: Model) -> str:
    """The text of `model.py`."""
    described = pprint.pformat(_described(model), width=100, compact=True, sort_dicts=False)
    parts = [
        f'"""{model.learner} made by linsep: predict(rows), predict_proba(rows).\n\n'
        "Rows are dicts by column, or lists of numbers (or an array of NumPy) where the model was\n"
        "fitted on such. Run it with a CSV file to print a label for every row. Needs Python 3.11 "
        'and\nnothing else.\n"""',
        _body(Path(cells.__file__).read_text(encoding="utf-8")),
        _body(Path(standalone.__file__).read_text(encoding="utf-8")).replace(
            "MODEL: dict[str, Any] = {}", f"MODEL: dict[str, Any] = {described}"
        ),
        'if __name__ == "__main__":\n    main()',
    ]
    return "\n\n".join(parts) + "\n"


def _body(text: str) -> str:
    """A module without its own title."""
    return text.split('"""', 2)[2].strip()


def _described(model: Model) -> dict[str, Any]:
    planes, levels = planes_of(model, "a Python file"), levels_of(model)
    classes = None if model.classes_ is None else model.classes_.tolist()
    if classes is not None and not all(
        isinstance(c, (str, bytes, bool, int, float)) for c in classes
    ):
        raise ParameterError("the classes are neither texts nor numbers, so no file can hold them.")
    encoding = model.encoding_
    tabular = isinstance(encoding, Encoding) and bool(encoding.columns)
    words = encoding.words if tabular else USUAL
    return {
        "learner": model.learner,
        "classes": classes,
        "first_at_zero": bool(model.first_at_zero),
        "log_odds": model.learner in LOG_ODDS,
        "single": model.classes_ is None and np.ndim(model.form.weights) == 1,
        "header": bool(encoding.header) if tabular else False,
        "decimal": words.decimal,
        "width": encoding.width if tabular else None,
        "target": encoding.target.column if tabular and encoding.target else None,
        "missing_numbers": sorted(words.numbers),
        "missing_texts": sorted(words.texts),
        "columns": [_column(one) for one in encoding.columns] if tabular else [],
        "formula": _formula(encoding),
        "weights": planes.weights.tolist(),
        "intercept": planes.intercept.tolist(),
        "centre": planes.centre.tolist(),
        "thresholds": [] if levels is None else (-levels.intercept).tolist(),
        "ranks": [] if levels is None else levels.ranks.tolist(),
        "maps": [_map(one) for one in model.form.maps] if isinstance(model.form, Mapped) else [],
    }


def _formula(encoding: Any) -> Any:
    """Trees of features, and the columns of texts that a row must have one of."""
    made = getattr(encoding, "formula", None)
    if made is None:
        return None
    return {key: made.to_json()[key] for key in ("trees", "texts")}


def _map(one: Any) -> dict[str, Any]:
    if isinstance(one, PairMap):
        return {"pairs": one.pairs.tolist(), "include_input": one.include_input}
    return {"centres": one.centres.tolist(), "squared": one.squared,
            "include_input": one.include_input}  # fmt: skip


def _column(column: Any) -> dict[str, Any]:
    return {
        "source": column.table_name, "numeric": column.numeric, "reading": column.reading,
        "mean": column.mean, "part": column.part, "width": column.width, "bins": column.bins,
        "fold": column.fold, "other": column.other, "words": column.kind == "words",
        "places": {text: place for place, text in enumerate(column.categories)},
    }  # fmt: skip


def sample(model: Model, n: int) -> tuple[Any, Any]:
    """Rows as the file takes them, gaps and unknown texts among them; and their features."""
    rng = np.random.default_rng(0)
    encoding = model.encoding_
    if not (isinstance(encoding, Encoding) and encoding.columns):
        rows = 3.0 * rng.normal(size=(n, model.n_features_in_))
        return rows.tolist(), rows
    columns: dict[str, list[Any]] = {}
    for column in encoding.columns:
        if column.table_name in columns:
            continue
        if encoding.formula is not None and column.kind in ("number", "text"):
            columns[column.table_name] = near(column, rng, n)
            continue
        if column.kind == "truth":
            made: list[Any] = ["True" if k else "false" for k in rng.integers(0, 2, n)]
        elif column.kind == "date":
            days = rng.integers(0, 20_000, n).astype("datetime64[D]")
            made = [day.item() for day in days]
        elif column.numeric:
            made = (column.mean + (abs(column.mean) or 3.0) * rng.normal(size=n)).tolist()
        elif column.kind == "words":
            words = np.array([*column.categories, "unheard", "of"], object)
            made = [" ".join(words[rng.integers(0, len(words), 4)].tolist()) for _ in range(n)]
        else:
            texts = [*column.categories, "a text nobody has seen"]
            made = [texts[k] for k in rng.integers(0, len(texts), n)]
        gaps = rng.random(n) < 0.1
        columns[column.table_name] = [None if g else c for g, c in zip(gaps, made, strict=True)]
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return records, encoding.apply(columns)


def near(column: Any, rng: Any, n: int) -> list[Any]:
    """Cells that a formula can be asked about: numbers near their mean, texts of the fit."""
    if column.kind == "number":
        return [float(x) for x in column.mean * (1.0 + 0.05 * rng.normal(size=n))]
    return [column.categories[k] for k in rng.integers(0, len(column.categories), n)]


def answers_of(source: str, rows: Any) -> tuple[Array, list[Any]]:
    """Scores and labels that the file finds."""
    module: dict[str, Any] = {"__name__": "exported"}
    exec(compile(source, "model.py", "exec"), module)
    scores = np.asarray(module["decision_function"](rows), np.float64).reshape(len(rows), -1)
    labels = module["predict"](rows) if module["MODEL"]["classes"] is not None else []
    return scores, labels
