"""Each kind of source gives the rows and labels it holds, and learners take them as they are."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from linsep import Perceptron
from linsep.data.sources.arrays import ArraySource
from linsep.data.sources.dataset import Chunks
from linsep.data.sources.frames import FrameSource, frame_chunks, needs_encoding
from linsep.data.sources.learner_rows import by_block, opened, scores_of
from linsep.data.sources.read import read, recognise
from linsep.data.sources.svmlight import SvmlightSource
from linsep.errors import ParameterError

X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
Y = np.array([1, 0, 1])


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def written(folder, kind):
    path = folder / f"t.{kind}"
    if kind == "npz":
        np.savez(path, X=X, y=Y)
    elif kind == "svmlight":
        path.write_text("1 1:1\n0 2:2\n1 1:3\n")
    else:
        path.write_text("a,b,y\n1,0,1\n0,2,0\n3,0,1\n")
    return path


@pytest.mark.parametrize(
    ("kind", "source"), [("npz", ArraySource), ("svmlight", SvmlightSource), ("csv", None)]
)
def test_a_file_is_known_by_its_content_and_gives_its_rows(tmp_path, kind, source):
    path = written(tmp_path, kind)
    rows = read(path)
    assert isinstance(rows, Chunks) and recognise(path) == kind
    assert source is None or type(rows.source) is source
    loaded, labels = rows.load()
    assert dense(loaded).tolist() == X.tolist() and labels.tolist() == Y.tolist()
    assert (rows.n_rows, rows.n_features, rows.classes.tolist()) == (3, 2, [0, 1])


def test_blocks_are_the_rows_in_order(tmp_path):
    rows = read(written(tmp_path, "csv"))
    blocks = list(rows.blocks(2))
    assert [len(y) for _, y in blocks] == [2, 1]
    np.testing.assert_array_equal(np.concatenate([block for block, _ in blocks]), X)


def test_a_frame_of_texts_is_encoded_and_one_of_numbers_is_not():
    frame = pd.DataFrame({"city": ["a", "b", "a"]})
    assert needs_encoding(frame) and not needs_encoding(pd.DataFrame(X))
    rows = frame_chunks(frame, 1 << 20)
    assert type(rows.source) is FrameSource
    assert dense(rows.gather().X).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert Perceptron().fit(frame, [0, 1, 0]).predict(frame).tolist() == [0, 1, 0]


def test_a_fit_opens_files_and_leaves_arrays_alone(tmp_path):
    with opened(X, Y) as (rows, labels, encoding):
        assert rows is X and labels is Y and encoding is None
    file = read(written(tmp_path, "csv"))
    with opened(file, None) as (rows, labels, encoding):
        assert np.asarray(rows).tolist() == X.tolist()
        assert labels.labels().tolist() == Y.tolist() and encoding == file.encoding
    with pytest.raises(ParameterError, match="leave y out"), opened(file, Y):
        pass


def test_partial_fit_and_scores_go_through_a_file_block_by_block(tmp_path):
    file, met = read(written(tmp_path, "csv")), []

    class Learner:
        @by_block
        def partial_fit(self, X, y=None, classes=None, sample_weight=None):
            met.append((X.tolist(), y.tolist(), classes if classes is None else classes.tolist()))
            return self

    learner = Learner().partial_fit(file)
    assert met == [(X.tolist(), Y.tolist(), [0, 1])] and learner.encoding_ == file.encoding
    assert scores_of(file, file.encoding, lambda rows: rows.sum(axis=1)).tolist() == [1, 2, 3]
    other = read(pd.DataFrame({"c": [1.0], "y": [0]}), target="y").encoding
    with pytest.raises(ParameterError, match="another way"):
        scores_of(file, other, len)
    assert Perceptron().fit(file).score(file) == 1.0
