"""Files of every format come back as the numbers they hold, or as an error that names the place."""

import bz2
import gzip
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import linsep
from linsep.data.files.idx import read_idx
from linsep.data.table.column import Texts
from linsep.data.table.delimited import _Reader
from linsep.data.table.dialect import sniff
from linsep.errors import DataError, ParameterError

DATA = Path(__file__).parents[4] / "shared" / "data"


def load(path, target=None, format=None):
    """All rows and labels; a missing value is an error."""
    return linsep.read(path, target, format, fill="fail").load()


def write(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def numbers_and_labels(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, 3, n)


def as_csv(X, y, header=True):
    lines = [",".join([f"f{j}" for j in range(X.shape[1])] + ["label"])] if header else []
    lines += [",".join([*map(repr, x.tolist()), str(label)]) for x, label in zip(X, y, strict=True)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_csv_numbers_survive_exactly_packed_or_not(tmp_path, header, pack):
    X, y = numbers_and_labels()
    path = write(tmp_path, pack(as_csv(X, y, header).encode()))
    read_X, read_y = load(path)
    assert np.array_equal(read_X, X)
    assert read_y.tolist() == y.tolist()
    assert read_y.dtype == np.int64


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,x,p\n2,y,q\n3,x,p\n",
        "1;x;0\n2;y;1\n-0.5e3;x;1\n",
        '1,"x, or y",0\r\n2," x",1\r\n3,x ,1\r\n',
        "a\tb\n1\tyes\n\n2\tno\n",
        "\ufeffa,b\n1,2\n3,4\n",
        'a,b\n1,"two\nlines"\n2,p\n3,p\n',
    ],
)
def test_the_plain_reader_and_pyarrow_read_the_same(tmp_path, text):
    pytest.importorskip("pyarrow")
    path = write(tmp_path, text)
    layout = sniff(path)
    reader = _Reader(layout)
    piece = text.removeprefix("\ufeff").encode()
    fast, plain = reader._fast(piece, layout.header), reader._plain(piece, layout.header)
    assert fast is not None
    for name, cells in plain.columns.items():
        if isinstance(cells, Texts):
            assert fast.columns[name].texts == cells.texts
            assert fast.columns[name].codes.tolist() == cells.codes.tolist()
        else:
            assert fast.columns[name].tolist() == cells.tolist()


def test_text_columns_become_zeros_and_ones_in_sorted_order(tmp_path):
    X, y = load(write(tmp_path, "colour,size,ok\nred,1,0\nblue,2,1\nred,3,1\n"))
    assert X.tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]
    assert y.tolist() == [0, 1, 1]


@pytest.mark.parametrize("target", ["kind", 0, -3, "0"])
def test_the_target_may_be_any_column_by_name_or_index(tmp_path, target):
    X, y = load(write(tmp_path, "kind,a,b\nyes,1,2\nno,3,4\n"), target=target)
    assert X.tolist() == [[1, 2], [3, 4]]
    assert y.tolist() == ["yes", "no"]


def test_a_header_is_seen_even_where_every_column_is_text(tmp_path):
    X, y = load(write(tmp_path, "cap,edible\nflat,yes\nround,no\nflat,no\n"))
    assert X.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert y.tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a,b,c\n1,2,0\n3,,1\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,0\n3,NA,1\n4,4,1\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,0\n3,inf,1\n4,5,1\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,0\n3,1_000,1\n4,5,1\n", "line 3, column 'b'"),
        ("a,b,c\n1,2,0\n3,4\n4,5,1\n", "line 3: the row has 2 cells where 3"),
        ("a,b,c\n1,2,x\n\n3,4,\n5,6,y\n", "line 4, column 'c'"),
        ("a,b,c\n1,2,0\n3,4,1\n5,oops,1\n", "line 4, column 'b': 'oops'"),
        ("a,b,c\n1,x,0\n3,null,1\n4,y,1\n", "line 3, column 'b'"),
        (b"a,b\n1,2\n\xff\xfe,3\n", "not UTF-8"),
        ("", "empty"),
        ("a,b,c\n", "one line"),
        ("label\n1\n2\n", "only column"),
    ],
)
def test_a_bad_csv_cell_is_named_by_line_and_column(tmp_path, text, place):
    with pytest.raises(DataError, match=place):
        load(write(tmp_path, text))


def test_too_many_texts_are_refused_not_expanded(tmp_path):
    rows = "".join(f"{i},name{i},0\n" for i in range(1500))
    with pytest.raises(DataError, match="1500 different texts"):
        load(write(tmp_path, "n,name,y\n" + rows))


def test_a_wrong_target_lists_the_columns(tmp_path):
    path = write(tmp_path, "a,b\n1,2\n3,4\n")
    with pytest.raises(ParameterError, match="a, b"):
        load(path, target="c")
    with pytest.raises(ParameterError, match="columns 0 to 1"):
        load(path, target=2)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_svmlight_comes_back_sparse_and_equal(tmp_path, pack):
    X = sp.random_array((30, 8), density=0.3, rng=1, format="csr")
    y = np.where(np.arange(30) % 2, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "plain"), zero_based=False)
    path = write(tmp_path, pack((tmp_path / "plain").read_bytes()), "packed")
    read_X, read_y = load(path)
    assert isinstance(read_X, sp.csr_array)
    assert abs(read_X - X[:, : read_X.shape[1]]).max() < 1e-12
    assert read_y.tolist() == y.tolist()


@pytest.mark.parametrize("text", ["1 1:2 3:x\n", "1 3:1 2:1\n", "1 1:1\nspam 2:1\n"])
def test_bad_svmlight_is_a_data_error(tmp_path, text):
    with pytest.raises(DataError, match="svmlight"):
        load(write(tmp_path, text), format="svmlight")


def test_a_compressed_npy_is_said_to_be_compressed(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress((tmp_path / "a.npy").read_bytes()))
    with pytest.raises(DataError, match="unpack it"):
        linsep.read(tmp_path / "a.npy.gz").load()


def test_npy_and_npz_give_back_their_arrays(tmp_path):
    X, y = numbers_and_labels()
    np.save(tmp_path / "a.npy", np.column_stack([y, X]))
    np.savez(tmp_path / "b.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "c.npz", X=X.reshape(40, 5, 1), y=y)
    for path, target in (("a.npy", 0), ("b.npz", None), ("c.npz", None)):
        read_X, read_y = load(tmp_path / path, target=target)
        assert np.array_equal(read_X, X)
        assert np.array_equal(read_y, y)


def test_a_sparse_npz_finds_its_labels_beside_it(tmp_path):
    X = sp.random_array((20, 6), density=0.3, rng=0, format="csr")
    y = np.arange(20) % 2
    sp.save_npz(tmp_path / "train_counts.npz", X)
    with pytest.raises(DataError, match=r"train_y\.npy"):
        load(tmp_path / "train_counts.npz")
    np.save(tmp_path / "train_y.npy", y)
    read_X, read_y = load(tmp_path / "train_counts.npz")
    assert abs(read_X - X).max() == 0
    assert np.array_equal(read_y, y)


def test_pickled_objects_are_refused_in_npy_and_npz(tmp_path):
    objects = np.array([[1, "a"], [2, {}]], dtype=object)
    np.save(tmp_path / "a.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "b.npz", X=objects, y=np.arange(2))
    for name in ("a.npy", "b.npz"):
        with pytest.raises(DataError, match="read"):
            load(tmp_path / name)


def test_npz_without_x_and_y_says_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", images=np.ones((2, 2)))
    with pytest.raises(DataError, match="images"):
        load(tmp_path / "a.npz")


def write_idx(path, values, code, pack=bytes):
    header = bytes([0, 0, code, values.ndim]) + np.array(values.shape, ">u4").tobytes()
    path.write_bytes(pack(header + values.astype(values.dtype.newbyteorder(">")).tobytes()))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx_images_find_their_labels_from_the_file_and_from_the_folder(tmp_path, pack):
    images = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
    labels = np.array([7, 0, 9], np.uint8)
    end = ".gz" if pack is gzip.compress else ""
    write_idx(tmp_path / f"train-images-idx3-ubyte{end}", images, 8, pack)
    write_idx(tmp_path / f"train-labels-idx1-ubyte{end}", labels, 8, pack)
    write_idx(tmp_path / f"t10k-images-idx3-ubyte{end}", images[:1], 8, pack)
    for path in (tmp_path, tmp_path / f"train-images-idx3-ubyte{end}"):
        X, y = load(path)
        assert X.dtype == np.float32
        assert X.tolist() == images.reshape(3, 20).tolist()
        assert y.tolist() == [7, 0, 9]


@pytest.mark.parametrize(
    ("dtype", "code"), [("u1", 8), ("i1", 9), ("i2", 11), ("i4", 12), ("f4", 13), ("f8", 14)]
)
def test_idx_reads_every_type(tmp_path, dtype, code):
    values = np.array([[0, 1], [100, 3]], dtype)
    write_idx(tmp_path / "v", values, code)
    again = read_idx(tmp_path / "v")
    assert again.tolist() == values.tolist()
    assert again.dtype.isnative


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        b"\0\0\x07\1\0\0\0\1a",
        b"\0\0\x08\1\0\0\0\2a",
        b"\0\0\x08\1\0\0\0\1ab",
        b"\0\0\x08\3" + b"\xff" * 12 + b"abc",
        gzip.compress(b"\0\0\x08\1\0\0\0\1a", mtime=0)[:-9],
    ],
)
def test_a_damaged_idx_file_is_refused(tmp_path, content):
    with pytest.raises(DataError):
        read_idx(write(tmp_path, content, "damaged"))


def test_images_without_labels_name_the_file_that_is_wanted(tmp_path):
    write_idx(tmp_path / "train-images-idx3-ubyte", np.zeros((1, 2, 2), np.uint8), 8)
    with pytest.raises(DataError, match="train-labels-idx1-ubyte"):
        load(tmp_path)


def test_parquet_reads_numbers_texts_and_truth_values(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"a": [1, 2, 3], "b": ["x", "y", "x"], "c": [True, False, True], "y": [0, 1, 1]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    X, y = load(tmp_path / "t.parquet")
    assert X.tolist() == [[1, 1, 0, 1], [2, 0, 1, 0], [3, 1, 0, 1]]
    assert y.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("values", "place"), [([1.0, None, 3.0], "row 1, column 'a'"), ([[1], [2], [3]], "list")]
)
def test_parquet_refuses_empty_places_and_other_types_by_name(tmp_path, values, place):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"a": values, "y": [0, 1, 1]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=place):
        load(tmp_path / "t.parquet")


def test_a_damaged_parquet_file_is_a_data_error(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match="Parquet"):
        load(write(tmp_path, b"PAR1 and then nothing", "t.parquet"))


def test_a_missing_file_an_unknown_format_and_a_useless_target_are_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        load(tmp_path / "absent.csv")
    with pytest.raises(ParameterError, match="svmlight"):
        load(tmp_path / "absent.csv", format="excel")
    with pytest.raises(ParameterError, match="leave target out"):
        load(write(tmp_path, "1 1:2\n"), target="label")


@pytest.mark.skipif(not (DATA / "mnist").exists(), reason="the real data are not here")
def test_mnist_has_its_known_counts():
    X, y = load(DATA / "mnist" / "t10k-images-idx3-ubyte.gz")
    assert X.shape == (10000, 784)
    assert np.bincount(y)[:2].tolist() == [980, 1135]


def test_labels_that_floats_cannot_tell_apart_are_never_merged(tmp_path):
    names = [2**60, 2**60, 2**60 + 1, 2**60 + 1]
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i},{y}\n" for i, y in enumerate(names)))
    with pytest.raises(DataError, match=r"may stand for several whole numbers.*as texts"):
        linsep.Perceptron().fit(linsep.read(path))
    as_texts = linsep.Perceptron().fit(linsep.read(path, columns={"y": "text"}))
    assert as_texts.classes_.tolist() == [str(2**60), str(2**60 + 1)]
