"""The nastiest tables of columns: a right answer, or an error that names what to do."""

from decimal import Decimal

import pytest

import linsep
from linsep.errors import DataError, ParameterError

pa = pytest.importorskip("pyarrow")


def table(folder, columns, name="t.parquet"):
    from pyarrow import feather, parquet

    path = folder / name
    kind = pa.table(columns)
    if path.suffix == ".feather":
        feather.write_feather(kind, path)
    else:
        parquet.write_table(kind, path, row_group_size=2)
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_columns_of_every_usable_type_become_numbers(tmp_path, name):
    columns = {
        "i": pa.array([1, None, 3], pa.int8()),
        "u": pa.array([2**63, 1, 0], pa.uint64()),
        "h": pa.array([0.5, 1.0, 2.0], pa.float32()),
        "b": [True, False, None],
        "d": [Decimal("1.25"), Decimal("2.50"), Decimal("0.00")],
        "w": pa.array([0, 43_200_000_000, 86_400_000_000], pa.timestamp("us")),
        "n": pa.nulls(3),
        "c": pa.array(["x", "y", "x"]).dictionary_encode(),
        "y": ["p", "q", "p"],
    }
    chunks = linsep.read(table(tmp_path, columns, name))
    X, y = chunks.load()
    assert X[:, 0].tolist() == [1, 2, 3] and X[:, 1].tolist() == [2.0**63, 1, 0]
    assert X[:, 3].tolist() == [1, 0, 0.5] and X[:, 4].tolist() == [1.25, 2.5, 0]
    assert X[:, 5].tolist() == [0, 0.5, 1] and X[:, 6].tolist() == [0, 0, 0]
    assert X[:, 7:].tolist() == [[1, 0], [0, 1], [1, 0]] and y.tolist() == ["p", "q", "p"]


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"a": [[1], [2]], "y": [0, 1]}, "column 'a' holds values of the type list"),
        ({"a": [{"k": 1}, {"k": 2}], "y": [0, 1]}, "column 'a' holds values of the type struct"),
        ({"a": [b"1", b"2"], "y": [0, 1]}, "column 'a' holds values of the type binary"),
        ({"a": [1.0, float("inf")], "y": [0, 1]}, "row 1, column 'a': 'infinity'"),
        ({"a": [1.0, 2.0], "y": [0, None]}, "row 1, column 'y': 'empty'"),
        ({"a": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}, "gave no row"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_columns_that_cannot_be_used_are_named(tmp_path, columns, told):
    with pytest.raises(DataError, match=told):
        linsep.read(table(tmp_path, columns)).load()


def test_parquet_files_of_a_folder_may_differ_in_order_and_width_of_numbers(tmp_path):
    table(tmp_path, {"a": pa.array([1, 2]), "b": ["x", "y"], "y": [0, 1]}, "1.parquet")
    table(tmp_path, {"y": [1, 0], "b": ["z", "x"], "a": [0.5, 1.5]}, "2.parquet")
    X, y = linsep.read(tmp_path, target="y").load()
    assert X.tolist() == [[1, 1, 0, 0], [2, 0, 1, 0], [0.5, 0, 0, 1], [1.5, 1, 0, 0]]
    assert y.tolist() == [0, 1, 1, 0]
    table(tmp_path, {"y": [1, 0], "A": [0.5, 1.5]}, "3.parquet")
    with pytest.raises(
        DataError, match=r"3\.parquet.*differ in the column 'A', which the former has"
    ):
        linsep.read(tmp_path, target="y").load()


def test_parquet_files_of_a_folder_may_differ_in_columns_that_are_dropped(tmp_path):
    table(tmp_path, {"a": [1, 2], "b": [1, 2], "y": [0, 1]}, "1.parquet")
    table(tmp_path, {"a": [3, 4], "y": [0, 1]}, "2.parquet")
    with pytest.raises(DataError, match=r"2\.parquet.*differ in the column 'b', which .* lacks"):
        linsep.read(tmp_path, target="y").load()
    X, _ = linsep.read(tmp_path, target="y", columns={"b": "drop"}).load()
    assert X.tolist() == [[1], [2], [3], [4]]


def test_a_further_file_may_hold_a_header_alone(tmp_path):
    (tmp_path / "1.csv").write_text("a,y\n1,0\n2,1\n")
    (tmp_path / "2.csv").write_text("a,y\n")
    (tmp_path / "3.csv").write_text("y,a\n1,3\n")
    X, y = linsep.read(tmp_path, target="y").load()
    assert X.tolist() == [[1], [2], [3]] and y.tolist() == [0, 1, 1]


def test_damaged_parquet_is_an_error_whatever_byte_is_cut(tmp_path):
    whole, damaged = table(tmp_path, {"a": [1.0, 2.0], "y": [0, 1]}).read_bytes(), tmp_path / "m"
    for cut in range(4, len(whole), 37):
        damaged.write_bytes(whole[:cut])
        with pytest.raises(DataError):
            linsep.read(damaged, format="parquet").load()
    path = tmp_path / "m.parquet"
    path.write_bytes(b"PAR1" + b"\0" * 20 + b"PAR1")
    with pytest.raises(DataError, match="Parquet"):
        linsep.read(path).load()


def test_many_levels_are_hashed_on_request_and_rows_stay_sparse(tmp_path):
    texts = [f"id{i}" for i in range(3000)]
    path = table(tmp_path, {"t": texts, "v": list(range(3000)), "y": [0, 1] * 1500})
    with pytest.raises(DataError, match="3000 different texts"):
        linsep.read(path).load()
    X, _ = linsep.read(path, columns={"t": "hash:64"}).load()
    assert X.shape == (3000, 65) and X.nnz == 6000
    with pytest.raises(ParameterError, match="choose number, truth, date"):
        linsep.read(path, columns={"t": "sentences"})
    with pytest.raises(ParameterError, match="'u', which is no column"):
        linsep.read(path, columns={"u": "text"})


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("last, told", [(2**53, False), (2**53 + 1, True), (-(2**53) - 1, True),
                                        (2**60, False)])  # fmt: skip
def test_whole_numbers_that_are_rounded_are_told(tmp_path, kind, last, told):
    from pyarrow import csv, feather, parquet

    table = pa.table({"id": [1, 2, last], "x": [0.5, 1.5, 1e300], "y": [0, 1, 1]})
    path = tmp_path / f"t.{kind}"
    write = {"csv": csv.write_csv, "parquet": parquet.write_table, "feather": feather.write_feather}
    write[kind](table, path)
    chunks = linsep.read(path, target="y")
    X, _ = chunks.load()
    assert X[2, 0] == float(last)
    notes = [note for note in chunks.notes if "2^53" in note]
    assert bool(notes) == told and all("'id': 'drop'" in note for note in notes)
    dropped = linsep.read(path, target="y", columns={"id": "drop"})
    dropped.load()
    assert not any("2^53" in note for note in dropped.notes)


def test_the_largest_numbers_without_a_sign_are_told_as_well(tmp_path):
    from pyarrow import parquet

    values = pa.array([2**64 - 1, None, 3], pa.uint64())
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"id": values, "y": [0, 1, 1]}), path)
    chunks = linsep.read(path)
    X, _ = chunks.load()
    assert X[0, 0] == 2.0**64 and any("2^53" in note for note in chunks.notes)
