"""The same table in a file, a frame, a dict, records or a buffer is the same table."""

import datetime
import io
import math

import hypothesis.strategies as st
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings

import linsep
from linsep.errors import DataError
from linsep.model.files.store import from_bytes, to_bytes
from linsep.views.cli import group

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = ["Rome", "Oslo ", "ns", "New York", "Zürich", "x-1"]
LAST = datetime.date(2030, 1, 1)


@st.composite
def tables(draw):
    """Columns of numbers, texts, dates and truth values with gaps, and labels of two classes."""
    n = draw(st.integers(6, 40))
    seed = draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    gaps = rng.random((4, n)) < draw(st.sampled_from([0.0, 0.2]))
    gaps[:, 0] = False
    first = LAST - datetime.timedelta(days=9000)
    columns = {
        "amount": [round(x, 3) for x in rng.normal(0, 1000, n).tolist()],
        "city": [TEXTS[k] for k in rng.integers(0, len(TEXTS), n)],
        "since": [first + datetime.timedelta(days=k) for k in rng.integers(0, 9000, n).tolist()],
        "vip": (rng.random(n) < 0.5).tolist(),
    }
    for gap, name in zip(gaps, columns, strict=True):
        columns[name] = [None if g else c for g, c in zip(gap, columns[name], strict=True)]
    columns["count"] = rng.integers(-5, 50, n).tolist()
    labels = draw(st.sampled_from([["no", "yes"], [0, 1], [False, True]]))
    columns["y"] = [labels[k % 2] for k in range(n)]
    return columns


def every_way(columns, folder):
    """The table in all the ways it may come."""
    table = pa.table(columns)
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "t.csv", index=False)
    parquet.write_table(table, folder / "t.parquet")
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {
        "csv": folder / "t.csv",
        "parquet": folder / "t.parquet",
        "pandas": frame,
        "pandas from arrow": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "arrow": table,
        "dict": columns,
        "records": records,
        "buffer": (folder / "t.csv").read_bytes(),
        "open file": io.BytesIO((folder / "t.parquet").read_bytes()),
    }


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_the_same_table_gives_the_same_model_and_labels_whatever_it_comes_in(tmp_path, columns):
    ways = every_way(columns, tmp_path)
    made = {
        way: linsep.LogisticRegression(max_iter=3).fit(linsep.read(table, target="y"))
        for way, table in ways.items()
    }
    whole = {way: to_bytes(model) for way, model in made.items()}
    assert {way for way, content in whole.items() if content != whole["csv"]} == set()
    learner, model = made["csv"], from_bytes(whole["csv"])
    wanted = learner.predict(linsep.read(ways["csv"], like=learner)).tolist()
    for way in ("pandas", "pandas from arrow", "polars", "arrow", "dict", "records", "buffer"):
        assert learner.predict(ways[way]).tolist() == wanted, way
        assert model.predict(ways[way]).tolist() == wanted, way
    assert model.score(ways["pandas"]) == learner.score(ways["records"])


def test_a_target_of_true_and_false_is_scored_as_it_was_fitted(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "y": [False, False, True, True]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    learner = linsep.LogisticRegression().fit(linsep.read(tmp_path / "t.csv"))
    assert learner.score(frame) == 1.0
    assert learner.score(linsep.read(tmp_path / "t.csv", like=learner)) == 1.0
    linsep.save(learner, tmp_path / "m")
    done = CliRunner().invoke(group, ["score", str(tmp_path / "m"), str(tmp_path / "t.csv")])
    assert done.exit_code == 0 and done.output.startswith("0.00% of 4 rows wrong")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 60), "city": rng.choice(["a", "b"], 60)})
    return frame, np.where(frame["age"] > 40, "old", "young")


@pytest.fixture(scope="module")
def fitted(people):
    return linsep.LogisticRegression().fit(*people)


def test_a_frame_with_texts_is_encoded_as_read_does(people, fitted):
    frame, y = people
    other = linsep.LogisticRegression().fit(linsep.read(frame.assign(y=y), target="y"))
    assert fitted.encoding_.feature_names == ["age", "city=a", "city=b"]
    assert fitted.coef_.tolist() == other.coef_.tolist()
    again = from_bytes(to_bytes(linsep.Scaled(linsep.Perceptron()).fit(*people)))
    assert again.predict(frame).shape == (60,)


def test_one_record_is_a_row(fitted):
    old = {"age": 70, "city": "b"}
    assert fitted.predict([old]).tolist() == fitted.predict(old).tolist() == ["old"]
    assert fitted.predict([{"age": " 70 ", "city": None}]).tolist() == ["old"]
    with pytest.warns(UserWarning, match="'city' holds texts that were not in the fit"):
        strange = from_bytes(to_bytes(fitted)).predict([{"city": "zz", "age": "1,070"}])
    assert strange.tolist() == ["old"]


@pytest.mark.parametrize("empty", [[], {"age": [], "city": []}, np.empty((0, 3))])
def test_an_empty_batch_has_an_empty_answer(fitted, empty):
    for model in (fitted, from_bytes(to_bytes(fitted))):
        assert model.predict(empty).shape == (0,)
        assert model.predict_proba(empty).shape == (0, 2)
        assert model.predict(pd.DataFrame({"age": [], "city": []})).shape == (0,)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"age": 1}], "no column 'city'"),
        ([{"age": "old", "city": "a"}], "'age' holds 'old' at row 0; a number is wanted"),
        ([{"age": math.inf, "city": "a"}], "infinity: row 0, column 'age'"),
        ({"age": [1, 2], "city": ["a"]}, "differ in length"),
        ({"age": ["x"] * 80, "city": ["a"] * 80}, "'age' holds 'x' at row 0"),
    ],
)
def test_cells_that_do_not_fit_are_named(fitted, rows, told):
    with pytest.raises(DataError, match=told):
        fitted.predict(rows)


def test_records_and_columns_are_read_alike(fitted):
    cells = {"age": [1, None, "3", 4.5], "city": ["a", "c", None, "b "]}
    records = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    from linsep.data.sources.new_rows import new_rows

    with pytest.warns(UserWarning, match="not in the fit, in 1 row: 'c' \\(1\\)"):
        one, other = new_rows(records, fitted), new_rows(cells, fitted)
    assert one.tolist() == other.tolist()


def test_names_with_blanks_around_them_and_names_that_are_numbers_are_found(fitted):
    spaced = {" age": [70, 20], "city ": ["a", "b"]}
    records = [dict(zip(spaced, row, strict=True)) for row in zip(*spaced.values(), strict=True)]
    wanted = ["old", "young"]
    for rows in (spaced, records, records * 40, pd.DataFrame(spaced), pa.table(spaced)):
        assert fitted.predict(rows).tolist()[:2] == wanted
    numbered = [{0: k % 9, 1: "ab"[k % 2], "y": k % 2} for k in range(30)]
    model = linsep.LogisticRegression().fit(linsep.read(numbered, target="y"))
    assert model.encoding_.table_columns == ["0", "1"]
    assert model.predict(numbered).tolist() == [row["y"] for row in numbered]


def test_numbers_with_a_decimal_comma_mean_the_same_in_a_file_and_in_texts(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(0, 3, (60, 2)).round(3)
    texts = [[f"{a:.3f}".replace(".", ","), f"{b:.1f}".replace(".", ",")] for a, b in x]
    y = ["ja" if a > 0 else "nein" for a, _ in x]
    lines = ["a;b;y", *(";".join([*row, label]) for row, label in zip(texts, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    records = [
        dict(zip("aby", [*row, lab], strict=True)) for row, lab in zip(texts, y, strict=True)
    ]
    from_file = linsep.LogisticRegression().fit(linsep.read(tmp_path / "t.csv"))
    wanted = from_file.predict(linsep.read(tmp_path / "t.csv", like=from_file)).tolist()
    again = from_bytes(to_bytes(from_file))
    assert again.encoding_.decimal == ","
    for rows in (records, pd.DataFrame(records), pl.DataFrame(records)):
        assert again.predict(rows).tolist() == wanted
    assert again.predict(records[:3]).tolist() == wanted[:3]  # -2,345 is no thousand
    one = (tmp_path / "t.csv").read_text().splitlines()
    buffer = f"{one[0]}\n{one[1]}\n".encode()
    assert again.predict(buffer).tolist() == wanted[:1]
    from_records = linsep.LogisticRegression().fit(linsep.read(records, target="y"))
    assert to_bytes(from_records) == to_bytes(from_file)


def test_rows_without_a_header_are_known_by_the_places_of_the_fit():
    lines = ["id,x,note,y,t", *(f"C{k},{k % 9},n{k},{k % 2},{'pq'[k % 2]}" for k in range(40))]
    read = linsep.read("\n".join(lines).encode(), "y", columns={"id": "drop", "note": "drop"})
    model = from_bytes(to_bytes(linsep.LogisticRegression().fit(read)))
    assert model.encoding_.table == ["id", "x", "note", "y", "t"]
    for row in (b"C1,3,hm,1,q\n", b"C1,3,hm,q\n", b"3,q\n"):
        assert model.predict(row).tolist() == [1]
        assert model.predict(linsep.read(row, like=model.encoding_, header=False)).tolist() == [1]
    with pytest.raises(DataError, match="3 columns without names; the model takes 2 or 4 or 5"):
        linsep.read(b"1,2,3\n", like=model.encoding_, header=False)
    with pytest.raises(DataError, match=r"no columns 'x', 't'; .* Pass header=False"):
        model.predict(b"C1,3,hm\n")


def test_a_model_of_named_numbers_takes_records(people):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    learner = linsep.Perceptron().fit(frame, [0, 0, 1, 1])
    wanted = learner.predict(frame).tolist()
    assert learner.predict(frame.to_dict("records")).tolist() == wanted
    assert learner.predict({"b": frame["b"].tolist(), "a": frame["a"].tolist()}).tolist() == wanted
