"""Parquet and Feather: every column as pyarrow itself gives it, however the file was cut."""

import datetime
import decimal
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linsep import read
from linsep.data.table import parquet as columnar
from linsep.data.table.column import Texts
from linsep.data.table.memory import MISSING_TEXTS
from linsep.data.table.table_part import holds_texts

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, parquet  # noqa: E402

WHOLE = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
UNSIGNED = {pa.uint8(): 8, pa.uint16(): 16, pa.uint32(): 32, pa.uint64(): 64}
DAY = datetime.date(1970, 1, 1)
VALUES = {
    **{kind: st.integers(-(2 ** (b - 1)), 2 ** (b - 1) - 1) for kind, b in WHOLE.items()},
    **{kind: st.integers(0, 2**b - 1) for kind, b in UNSIGNED.items()},
    pa.float64(): st.floats(allow_infinity=False),
    pa.float32(): st.floats(width=32, allow_infinity=False),
    pa.float16(): st.floats(width=16, allow_infinity=False).map(np.float16),
    pa.bool_(): st.booleans(),
    pa.decimal128(12, 3): st.integers(-(10**9), 10**9).map(lambda k: decimal.Decimal(k) / 1000),
    pa.date32(): st.integers(-20000, 40000).map(lambda k: DAY + datetime.timedelta(k)),
    pa.timestamp("ms"): st.integers(-(10**12), 10**12),
    pa.string(): st.sampled_from(["red", "green", " blue ", "?", "", "NA", "ü"]),
    pa.large_string(): st.text(max_size=3),
    pa.dictionary(pa.int8(), pa.string()): st.sampled_from(["a", "b", "?"]),
}


def number(value, kind):
    """What a cell of this type means, in Python's own arithmetic."""
    if value is None:
        return math.nan
    if isinstance(value, datetime.datetime):
        raise TypeError("times are taken as whole numbers")
    if isinstance(value, datetime.date):
        return float((value - DAY).days)
    return value / 86_400_000.0 if pa.types.is_timestamp(kind) else float(value)


@st.composite
def tables(draw):
    n = draw(st.sampled_from([0, 1, 2, 100, 1023, 1024, 1025, 2600]))
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4))
    columns, fields = [], []
    for j, kind in enumerate(kinds):
        few = draw(st.lists(VALUES[kind] | st.none(), min_size=1, max_size=6))
        some = draw(st.integers(0, 2**32))
        picked = np.random.default_rng(some).integers(0, len(few), n)
        columns.append([few[k] for k in picked])
        fields.append(pa.field(f"c{j}", kind))
    arrays = [pa.array(c, f.type) for c, f in zip(columns, fields, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields)), columns


def as_read(path, kinds, jobs):
    """All rows of all columns, as they come."""
    found = list(columnar.parts(path, kinds, n_jobs=jobs))
    assert not any(part.bad for part in found)
    whole = {}
    for name in kinds:
        cells = [part.columns[name] for part in found]
        if kinds[name] == "text":
            whole[name] = [None if c < 0 else one.texts[c] for one in cells for c in one.codes]
        else:
            assert not any(isinstance(one, Texts) for one in cells)
            whole[name] = np.concatenate([np.empty(0), *cells])
    return whole


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.sampled_from([7, 500, 1024, 5000]), st.booleans(), st.sampled_from([1, 2, 3]))
def test_columns_hold_what_was_written(tmp_path_factory, made, group, coded, jobs):
    table, columns = made
    path = tmp_path_factory.mktemp("columns") / "t.parquet"
    parquet.write_table(table, path, row_group_size=group, use_dictionary=coded)
    names, guessed = columnar.kinds_of(path)
    kinds = dict(zip(names, guessed, strict=True))
    for field in table.schema:  # texts may look like numbers or dates, and would be read as such
        kinds[field.name] = "text" if holds_texts(field.type) else kinds[field.name]
    found = as_read(path, kinds, jobs)
    for field, cells in zip(table.schema, columns, strict=True):
        if kinds[field.name] == "text":
            words = [None if c is None else c.strip() for c in cells]
            assert found[field.name] == [None if w in MISSING_TEXTS else w for w in words]
        else:
            expected = np.array([number(c, field.type) for c in cells], float)
            near = 1e-15 if pa.types.is_temporal(field.type) else 0.0  # days are a quotient
            np.testing.assert_allclose(found[field.name], expected, rtol=near)


@pytest.mark.parametrize("jobs", [1, 2, 4])
@pytest.mark.parametrize("group", [10, 1000, 1500, 100_000])
def test_dictionaries_that_differ_between_row_groups_make_one_column(tmp_path, group, jobs):
    n = 5000
    texts = [f"t{k * 7 % 13 + 13 * (k // 1000)}" for k in range(n)]  # others in every thousand
    x = np.arange(n, dtype=float)
    table = pa.table({"text": texts, "x": x, "y": np.arange(n) % 2})
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path, row_group_size=group)
    chunks = read(path, n_jobs=jobs)
    X, y = chunks.load()
    categories = sorted(set(texts))
    assert chunks.encoding.feature_names == [*(f"text={t}" for t in categories), "x"]
    expected = np.zeros((n, len(categories) + 1))
    expected[np.arange(n), [categories.index(t) for t in texts]] = 1.0
    expected[:, -1] = x
    np.testing.assert_array_equal(X.toarray(), expected)
    assert y.tolist() == (np.arange(n) % 2).tolist()


def test_texts_stored_as_codes_are_read_as_codes_and_rare_ones_are_not(tmp_path):
    n = 20_000
    table = pa.table({"few": [f"t{k % 5}" for k in range(n)], "many": [f"t{k}" for k in range(n)],
                      "x": np.arange(n)})  # fmt: skip
    path = tmp_path / "t.parquet"
    parquet.write_table(table, path)
    wanted = {"few": "text", "many": "text", "x": "number"}
    with columnar._opened(path) as file:
        lots = columnar._batches(path, file, wanted, 1)
    types = {field.name: field.type for field in next(lots[0]).schema}
    assert pa.types.is_dictionary(types["few"]) and pa.types.is_string(types["many"])


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_rows_of_one_column_have_the_same_bytes_by_any_number_of_threads(tmp_path, kind, jobs):
    rng = np.random.default_rng(0)
    table = pa.table({"x": rng.normal(size=9000), "y": rng.integers(0, 3, 9000)})
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=2500)
    else:
        feather.write_feather(table, path, chunksize=2500)
    X, y = read(path, n_jobs=jobs).load()
    assert X.tobytes() == table["x"].to_numpy().tobytes()
    assert y.tolist() == table["y"].to_pylist()


@pytest.mark.parametrize("size", [1, 7, 1000, 4096, 10_000])
def test_blocks_are_cut_by_row_number_and_not_by_what_the_reader_delivers(tmp_path, size):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000 if size > 7 else 1500, 3))
    columns = {f"f{j}": X[:, j] for j in range(3)} | {"y": np.arange(len(X)) % 2}
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=1100)
    found = list(read(path).blocks(size))
    assert [len(part) for part, _ in found[:-1]] == [size] * (len(found) - 1)
    np.testing.assert_array_equal(np.concatenate([part for part, _ in found]), X)
    np.testing.assert_array_equal(np.concatenate([y for _, y in found]), np.arange(len(X)) % 2)


def test_a_bad_row_is_left_out_of_rows_made_beside_it(tmp_path):
    x = np.arange(3000.0)
    x[[5, 2999]] = np.inf, -np.inf
    z = np.where(np.arange(3000) % 10 == 0, np.nan, 1.0)
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": x, "z": z, "y": np.arange(3000) % 2}), path)
    chunks = read(path, bad_rows="skip")
    X, y = chunks.load()
    assert chunks.skipped == 2 and "row 5, column 'x'" in chunks.bad_rows.first[0]
    keep = np.isfinite(x)
    np.testing.assert_array_equal(X, np.column_stack([x, np.ones(3000)])[keep])
    assert y.tolist() == (np.arange(3000) % 2)[keep].tolist()
