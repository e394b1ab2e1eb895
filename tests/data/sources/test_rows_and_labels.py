"""As many labels as rows: with and without a header, in all formats, packed or not, whatever
stands in the first row."""

import bz2
import csv
import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from hypothesis import event, given
from hypothesis import strategies as st

import linsep
from linsep.errors import LinsepError
from linsep.views.cli import group

pytestmark = [
    pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged"),
    pytest.mark.filterwarnings("ignore:Column .* holds texts that were not in the fit:UserWarning"),
]

TEXTS = st.one_of(
    st.sampled_from(["", "a", "0", "1.5", "n.a.", "NA", "?", "c0", "target", "1:2", "inf", "#"]),
    st.text("ab1 ,;\t|\"'\n\r:#.é—", max_size=6),
)
NUMBERS = st.one_of(
    st.sampled_from(["", "?", "NA", "nan", "null", "-", "0", "1"]),
    st.floats(-1e6, 1e6).map(repr),
)
MATRICES = st.lists(st.lists(st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=8)
EXAMPLE = [[1, 0, 2, 0], [0, 2, 1, 1], [2, 1, 0, 1]]  # the label comes last
PACKED = st.sampled_from(["", ".gz", ".bz2", ".zst"])


def packed(content, suffix):
    if suffix == ".zst":
        return pytest.importorskip("pyarrow").compress(content, "zstd", asbytes=True)
    return {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[suffix](content)


@st.composite
def tables(draw):
    """Kinds of columns, and new rows of them."""
    kinds = draw(st.lists(st.sampled_from(["number", "text"]), min_size=1, max_size=4))
    row = st.tuples(*[NUMBERS if kind == "number" else TEXTS for kind in kinds])
    return kinds, draw(st.lists(row, min_size=1, max_size=8))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def fitted(path, **how):
    return linsep.Perceptron(max_iter=1).fit(linsep.read(path, **how))


def predicted(learner, path, **how):
    """How many labels `predict` gives, the method and the command."""
    count = len(learner.predict(linsep.read(path, like=learner, **how)))
    linsep.save(learner, path.parent / "model.linsep")
    options = [word for name, sign in how.items() for word in ("--read", f"{name}={sign}")]
    done = CliRunner().invoke(
        group, ["predict", str(path.parent / "model.linsep"), str(path), "-q", *options],
        catch_exceptions=False,
    )  # fmt: skip
    assert done.exit_code == 0 and len(done.stdout.splitlines()) == count
    return count


def table_model(folder, kinds, header):
    """A learner that knows columns of these kinds, and their names."""
    names = [f"c{j}" for j in range(len(kinds))]
    cells = [[str(k) if kind == "number" else f"t{k}" for kind in kinds] for k in range(3)]
    lines = [[*names, "target"]] * header
    lines += [[*row, label] for row, label in zip(cells, "pqq", strict=True)]
    (folder / "train.csv").write_bytes(as_csv(lines, ","))
    own = names if header else [str(j) for j in range(len(kinds))]
    columns = dict(zip(own, kinds, strict=True))
    return fitted(folder / "train.csv", header=header, columns=columns), names


def as_csv(lines, delimiter):
    stream = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if len(lines[0]) == 1 else csv.QUOTE_MINIMAL  # a space is no row
    csv.writer(stream, delimiter=delimiter, quoting=quoting).writerows(lines)
    return stream.getvalue().encode()


@pytest.mark.parametrize("header", [True, False], ids=["header", "headerless"])
@given(tables(), st.sampled_from(",\t;"), st.booleans(), PACKED)
def test_of_delimited_texts(folder, header, table, delimiter, labelled, suffix):
    kinds, rows = table
    learner, names = table_model(folder, kinds, header)
    width = len(kinds) + labelled
    lines = [[*names, "target"][:width]] * header + [[*row, "p"][:width] for row in rows]
    path = folder / f"new.csv{suffix}"
    path.write_bytes(packed(as_csv(lines, delimiter), suffix))
    assert predicted(learner, path, delimiter=delimiter, quote='"') == len(rows)
    try:  # where all is judged, that may fail, but not in silence
        X, _ = linsep.read(path, like=learner).load()
    except LinsepError as refused:
        event(f"refused: {type(refused).__name__}")
    else:
        assert X.shape[0] == len(rows)


@pytest.mark.parametrize("format", ["parquet", "feather"])
@given(tables(), st.booleans())
def test_of_columnar_files(folder, format, table, labelled):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    kinds, rows = table
    learner, names = table_model(folder, kinds, True)
    cells = [
        [None if c in ("", "?", "NA", "null", "-") else float(c) if kind == "number" else c
         for c in column]
        for kind, column in zip(kinds, zip(*rows, strict=True), strict=True)
    ]  # fmt: skip
    columns = dict(zip(names, cells, strict=True)) | (
        {"target": ["p"] * len(rows)} if labelled else {}
    )
    path = folder / f"new.{format}"
    save = parquet.write_table if format == "parquet" else feather.write_feather
    save(pa.table(columns), path)
    assert predicted(learner, path) == len(rows)


@given(MATRICES, PACKED)
def test_of_svmlight_lines(folder, matrix, suffix):
    def lines(rows):
        pairs = [[f"{j}:{v}" for j, v in enumerate(row[:3], 1) if v] for row in rows]
        return "".join(f"{' '.join(['1', *row])}\n" for row in pairs).encode()

    train, path = folder / "train.svm", folder / f"new{suffix}"
    train.write_bytes(lines(EXAMPLE).replace(b"1 ", b"0 ", 1))
    path.write_bytes(packed(lines(matrix), suffix))
    assert predicted(fitted(train), path) == len(matrix)


@given(MATRICES)
def test_of_arrays(folder, matrix):
    train, path, X = folder / "train.npy", folder / "new.npy", np.array(matrix, float)
    np.save(train, np.array(EXAMPLE, float))
    np.save(path, X)
    assert predicted(fitted(train), path) == len(X)
    np.savez(folder / "new.npz", X=X, y=np.zeros(len(X)))
    assert predicted(fitted(train), folder / "new.npz") == len(X)
    sp.save_npz(folder / "thin.npz", sp.csr_array(X))
    np.save(folder / "thin_y.npy", np.zeros(len(X)))
    assert predicted(fitted(train), folder / "thin.npz") == len(X)


@given(MATRICES, st.sampled_from(["", ".gz"]))
def test_of_idx_files(folder, matrix, suffix):
    train, values = folder / "train.npy", np.abs(matrix).astype(np.uint8)
    np.save(train, np.array(EXAMPLE, float))
    path = folder / f"t-images-idx3-ubyte{suffix}"
    for name, array in (("images-idx3", values.reshape(-1, 3, 1)), ("labels-idx1", values[:, 0])):
        sizes = np.array(array.shape, ">u4").tobytes()
        content = bytes([0, 0, 8, array.ndim]) + sizes + array.tobytes()
        (folder / f"t-{name}-ubyte{suffix}").write_bytes(packed(content, suffix))
    assert predicted(fitted(train), path) == len(values)
    for one in folder.glob("t-*"):
        one.unlink()
