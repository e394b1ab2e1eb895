"""What may be wrong with a table, column by column, and the option that deals with it.

Looked for in the first rows, up to MOST_ROWS of them: ids, dates, constant, duplicate and nearly
duplicate columns, columns that alone tell the label (or nearly), texts that differ in case alone,
numbers that stand for missing values, many texts, many gaps; labels out of balance, numbers as
labels, rows that come again.
"""

import re
import shlex
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep.data.encoding.column_statistics import MOST_TEXTS
from linsep.data.sources.raw_table import RawTable, joined
from linsep.data.table.cells import number
from linsep.data.table.column import Texts, wanted
from linsep.views.arguments import one_line
from linsep.views.figures import roc_auc

Array = npt.NDArray[Any]

MOST_ROWS = 200_000
FEWEST = 20  # rows below which most of this would be chance
MANY_TEXTS = 50
SENTENCE = 3  # words of a text, on average, from which on it is more than a name
NEAR_ROWS = 20_000  # rows a column is ranked on
NEARLY = 0.99  # the ROC AUC of one column from which on it is looked at
OFTEN = 0.3  # classes for each row beyond which they are hardly labels
MOST_COMPARED = 300  # columns of numbers compared with each other


_ID = re.compile(r"(?i:(^|[^a-z0-9])(id|key|nr|no|number|uuid|guid)$)|[a-z](ID|Id|Key|Nr|No)$")
_CODE = re.compile(r"-(\d)\1*|9{2,}[789]|([789])\2+")  # -1, -9, -77, 88, 997, 999
FEW_CODES = 6  # different numbers of a column that may stand for missing values


class Finding(NamedTuple):
    """A problem: the column (None for the table), its name, a sentence, and options that help."""

    column: str | None
    what: str
    sentence: str
    option: str | None = None


class Table(NamedTuple):
    """Columns of the first rows, and labels as class numbers, or None where they are numbers."""

    columns: dict[str, Any]
    labels: Array | None
    label_texts: list[str]
    n: int


def gathered(raw: RawTable) -> Table:
    """The first rows of a source of tables, by column."""
    inner = raw.source
    plan = [column.table_name for column in inner.statistics.numbers]
    columns: dict[str, Any] = {}
    for name in inner.features:
        if name in plan:
            columns[name] = raw.numbers[:, plan.index(name)]
        else:
            columns[name] = raw.texts.get(name, joined([]))
    codes, names = _label_codes([one for one in raw.labels if one is not None])
    return Table(columns, codes, names, raw.n)


def _label_codes(parts: list[Any]) -> tuple[Array | None, list[str]]:
    if not parts:
        return None, []
    if isinstance(parts[0], Texts):
        whole = joined(parts)
        return whole.codes, whole.texts
    values = np.concatenate(parts)
    known, codes = np.unique(values, return_inverse=True)
    many = len(known) > min(50, max(10, OFTEN * len(values)))
    if many or (known != np.floor(known)).any():
        return None, []
    return codes, [f"{value:g}" for value in known]


def findings(table: Table, kinds: dict[str, str], target: str) -> list[Finding]:
    """All that was found, in the order of the columns; what concerns the table comes last."""
    noted: list[Finding] = []
    for name, cells in table.columns.items():
        if isinstance(cells, Texts):
            noted += _of_texts(name, cells, table)
        else:
            noted += _of_numbers(name, cells, table, kinds[name])
    noted += _alike(table)
    if table.n >= FEWEST:
        noted += _of_labels(table, target)
        again = _repeated(table)
        if again:
            noted.append(
                Finding(None, "repeated rows", f"are repeated; copies of others: {again:,}")
            )
    dropped = {one.column for one in noted if one.option == _drop(one.column or "")}
    if dropped >= set(table.columns):  # nothing would be left to learn from
        noted = [one._replace(option=None) if one.what == "leak" else one for one in noted]
    return noted


def _drop(name: str) -> str:
    return f"--column {_quoted(f'{name}=drop')}"


def _quoted(text: str) -> str:
    """A word for the shell; with the ends of lines written out, as bash and zsh take them."""
    if not text.isprintable():
        plain = text.replace("\\", "\\\\").replace("'", "\\'")
        return f"$'{one_line(plain)}'"
    return shlex.quote(text)


def _of_texts(name: str, cells: Texts, table: Table) -> list[Finding]:
    there = cells.codes >= 0
    met, distinct = int(there.sum()), len(cells.texts)
    if table.n < FEWEST or not met:
        return []
    leak = _leak(name, cells.codes, ~there, table)
    length = sum(len(text.split()) for text in cells.texts[:1000]) / min(1000, distinct)
    if met >= FEWEST and distinct > min(0.9 * met, MANY_TEXTS) and length >= SENTENCE:
        text = f"holds sentences, of {length:.0f} words each or about: count these, or drop it"
        option = f"--column {_quoted(f'{name}=words')}"
        return [Finding(name, "words", text, option)]
    if met >= FEWEST and distinct >= 0.9 * met:
        text = f"has a different text in nearly every row ({distinct:,} in {met:,}): an id"
        return [Finding(name, "id", text, _drop(name))]
    if leak:
        return leak
    noted = _placeholder_texts(name, cells)
    folded = len({text.casefold() for text in cells.texts})
    if folded < distinct:
        text = f"has texts that differ in case alone ({distinct - folded})"
        option = f"--column {_quoted(f'{name}=text+fold')}"
        noted.append(Finding(name, "case", text, option))
    if distinct > MANY_TEXTS:
        over = ", more than can have a feature each" if distinct > MOST_TEXTS else ""
        text = f"has {distinct:,} different texts{over}"
        option = f"--column {_quoted(f'{name}=text:{MANY_TEXTS}')}"
        noted.append(Finding(name, "many texts", text, option))
    elif distinct == 1 and met == table.n:
        noted.append(Finding(name, "constant", "is the same in every row", _drop(name)))
    return noted


def _of_numbers(name: str, cells: Array, table: Table, kind: str) -> list[Finding]:
    gaps = np.isnan(cells)
    there = cells[~gaps]
    if table.n < FEWEST:
        return []
    if not len(there):
        return [Finding(name, "empty", "has no value in any row", _drop(name))]
    leak = _leak(name, cells, gaps, table)
    if (there == there[0]).all() and not gaps.any():
        return [Finding(name, "constant", "is the same in every row", _drop(name))]
    if not gaps.any() and _counts(there):
        return [Finding(name, "id", "counts the rows: an id", _drop(name))]
    if not gaps.any() and _ID.search(name) and _all_differ(there):
        return [Finding(name, "id", "is a different whole number in every row: an id", _drop(name))]
    if leak:
        return leak
    noted = _placeholder_numbers(name, there) + _near_leak(name, cells, gaps, table)
    if wanted(kind).word == "date":
        text = "is a date, taken as days since 1970; its parts may say more"
        option = f"--column {_quoted(f'{name}=parts:{wanted(kind).detail}')}"
        noted.append(Finding(name, "date", text, option))
    if gaps.mean() > 0.05:
        text = f"is missing in {gaps.mean():.0%} of the rows, which may itself tell something"
        option = f"--column {_quoted(f'{name}={kind}+gap')}"
        noted.append(Finding(name, "gaps", text, option))
    return noted


def _leak(name: str, values: Array, gaps: Array, table: Table) -> list[Finding]:
    """Whether a column, or that it is missing, tells the label of every row by itself."""
    y = table.labels
    if y is None or len(np.unique(y)) < 2:
        return []
    sentence = None
    if 0 < gaps.sum() < len(gaps) and _tells(gaps.astype(int), y):
        sentence = "is missing exactly where the label says so"
    elif values.dtype.kind == "f" and not gaps.any():
        if len(np.unique(y)) == 2 and _parts(values, y):
            sentence = "tells the label of every row by itself"
    elif values.dtype.kind != "f" and values.max() + 1 <= len(values) // 5 and _tells(values, y):
        sentence = "tells the label of every row by itself"
    if sentence is None:
        return []
    return [Finding(name, "leak", f"{sentence}, so it may be known only afterwards", _drop(name))]


def _counts(values: Array) -> bool:
    """Whether whole numbers go up or down row by row, with few left out."""
    steps = np.diff(values)
    whole = bool((values == np.floor(values)).all())
    one_way = bool((steps > 0).all() or (steps < 0).all())
    return whole and one_way and values.max() - values.min() < 1.5 * len(values)


def _all_differ(values: Array) -> bool:
    """Whether all are whole numbers, none of them twice."""
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def _placeholder_numbers(name: str, values: Array) -> list[Finding]:
    """Numbers such as -9 or 999, met again and again: the only ones below zero, or far above."""
    known, times = np.unique(values, return_counts=True)
    below, above = known[known < 0], known[known > 0]
    codes: list[float] = []
    if 0 < len(below) <= FEW_CODES and all(_CODE.fullmatch(f"{value:g}") for value in below):
        codes = below.tolist()
    first = len(above)
    while first > 2 and _CODE.fullmatch(f"{above[first - 1]:g}"):
        first -= 1
        if above[first] - above[first - 1] > 0.5 * (above[first - 1] - min(0.0, above[0])):
            codes += above[first:].tolist()
            break
    often = dict(zip(known.tolist(), times.tolist(), strict=True))
    met = [value for value in codes if often[value] >= 3]
    if not met or len(known) - len(codes) < 3:
        return []
    words, rows = [f"{value:g}" for value in sorted(met)], sum(often[value] for value in met)
    return [_placeholder(name, words, rows)]


def _placeholder_texts(name: str, cells: Texts) -> list[Finding]:
    """Such a number among texts that are none."""
    numbers = [code for code, text in enumerate(cells.texts) if number(text) is not None]
    if 2 * len(numbers) >= len(cells.texts):
        return []
    times = {c: int((cells.codes == c).sum()) for c in numbers if _CODE.fullmatch(cells.texts[c])}
    return [_placeholder(name, [cells.texts[c]], n) for c, n in times.items() if n >= 3]


def _placeholder(name: str, words: list[str], rows: int) -> Finding:
    which = " or ".join(words)
    text = f"is {which} in {rows:,} rows, unlike all else, which may stand for a missing value"
    return Finding(name, "placeholder", text, f"--read missing={','.join(words)}")


def _near_leak(name: str, values: Array, gaps: Array, table: Table) -> list[Finding]:
    """Whether a number nearly tells the two labels apart by itself."""
    y = table.labels
    if y is None or len(np.unique(y)) != 2:
        return []
    there = np.flatnonzero(~gaps)[:NEAR_ROWS]
    positive = (y == y.max())[there]
    if min(positive.sum(), (~positive).sum()) < FEWEST:
        return []
    area = roc_auc(positive, values[there])
    if area is None or max(area, 1 - area) < NEARLY:
        return []
    text = (
        f"nearly tells the label by itself (ROC AUC {max(area, 1 - area):.3f}), so it may be known "
        "only afterwards"
    )
    return [Finding(name, "nearly a leak", text, _drop(name))]


def _tells(codes: Array, y: Array) -> bool:
    """Whether each code goes with one label."""
    pairs = np.unique(np.stack([codes, y]), axis=1)
    return len(np.unique(codes)) == pairs.shape[1]


def _parts(values: Array, y: Array) -> bool:
    """Whether a threshold parts the two classes."""
    first, second = values[y == y.min()], values[y != y.min()]
    return bool(first.max() < second.min() or second.max() < first.min())


def _alike(table: Table) -> list[Finding]:
    """Columns that are others again, or nearly."""
    if table.n < FEWEST:
        return []
    noted = []
    seen: dict[bytes, str] = {}
    plain = {}
    for name, cells in table.columns.items():
        values = cells.codes if isinstance(cells, Texts) else cells
        if isinstance(cells, Texts):
            key = repr(cells.texts).encode() + values.tobytes()
        else:
            key = values.tobytes()
            some = values[:NEAR_ROWS]
            if not np.isnan(values).any() and (some != some[0]).any():
                plain[name] = some
        if key in seen:
            text = f"is {seen[key]!r} again"
            noted.append(Finding(name, "duplicate", text, _drop(name)))
            plain.pop(name, None)
        else:
            seen[key] = name
    names = list(plain)[:MOST_COMPARED]
    if len(names) > 1:
        near = np.abs(np.corrcoef(np.stack([plain[name] for name in names])))
        for j, k in np.argwhere(np.triu(near > 0.999, 1)).tolist():
            text = f"is nearly {names[j]!r} in other units (correlation {near[j, k]:.4f})"
            noted.append(Finding(names[k], "near-duplicate", text, _drop(names[k])))
    return noted


def _of_labels(table: Table, target: str) -> list[Finding]:
    if table.labels is None:
        text = "is a number with many values: predict the number, or a condition on it"
        option = f"--learner LinearRegression, or --target {_quoted(f'{target} > VALUE')}"
        return [Finding(target, "number", text, option)]
    counts = Counter(table.labels.tolist())
    least, rows = min(counts.items(), key=lambda pair: pair[1])
    if len(counts) < 2 or rows / table.n >= 0.1 or rows / table.n * len(counts) >= 0.5:
        return []
    label = table.label_texts[least]
    text = (
        f"is {label!r} in {rows / table.n:.1%} of the rows: look at balanced accuracy, recall and "
        "average precision, not at accuracy"
    )
    return [Finding(target, "imbalance", text, "-p class_weight=balanced")]


def _repeated(table: Table) -> int:
    """Rows that come again."""
    columns = [c.codes if isinstance(c, Texts) else c for c in table.columns.values()]
    columns = [np.nan_to_num(np.asarray(c, np.float64), nan=1e300) for c in columns]
    if table.labels is not None:
        columns.append(table.labels.astype(np.float64))
    if not columns:
        return 0
    rows = np.ascontiguousarray(np.stack(columns, axis=1))
    whole = rows.view([("", np.void, rows.shape[1] * 8)]).ravel()
    return int(len(whole) - len(np.unique(whole)))
