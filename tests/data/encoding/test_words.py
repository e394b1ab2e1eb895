"""Words of a column as features: those of scikit-learn's vectorizers, however the rows come in."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import linsep
from linsep.data.encoding.encoding import Encoding
from linsep.errors import DataError, ParameterError

NOTES = ["Too dear, too slow", "fast and cheap", "", "CHEAP but slow", "dear dear dear", "fast"]
LABELS = ["no", "yes", "no", "yes", "no", "yes"]


def table(notes=NOTES):
    return pd.DataFrame({"x": np.arange(len(notes)) * 1.0, "note": notes, "y": LABELS})


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else X


def test_counts_are_those_of_count_vectorizer():
    chunks = linsep.read(table(), target="y", columns={"note": "words"})
    X, _ = chunks.load()
    known = CountVectorizer().fit(NOTES)
    np.testing.assert_array_equal(dense(X)[:, 1:], known.transform(NOTES).toarray())
    names = [f"note:{word}" for word in known.get_feature_names_out()]
    assert chunks.encoding.feature_names == ["x", *names]


@given(st.lists(st.text(" abcAB,.1é", max_size=12), min_size=6, max_size=6))
def test_records_frames_and_documents_agree(notes):
    for kind in ("words:3+hash", "words:4"):
        if kind == "words:4" and not CountVectorizer().build_analyzer()(" ".join(notes)):
            continue
        chunks = linsep.read(table(notes), target="y", columns={"note": kind, "x": "drop"})
        X = dense(chunks.load()[0])
        again = Encoding.from_json(chunks.encoding.to_json())
        assert again == chunks.encoding
        np.testing.assert_array_equal(dense(again.apply({"note": notes})), X)
        from linsep.data.encoding.records import RecordReader

        np.testing.assert_array_equal(RecordReader(again).rows([{"note": n} for n in notes]), X)


def test_the_commonest_words_have_features():
    chunks = linsep.read(table(), target="y", columns={"note": "words:2"})
    assert chunks.encoding.feature_names == ["x", "note:cheap", "note:dear"]


@pytest.mark.parametrize("kind", ["words", "words:16+hash"])
def test_a_file_with_words_goes_all_the_way(tmp_path, kind):
    path = tmp_path / "t.csv"
    table().to_csv(path, index=False)
    learner = linsep.LogisticRegression().fit(linsep.read(path, target="y", columns={"note": kind}))
    linsep.save(learner, tmp_path / "m.linsep")
    model = linsep.load(tmp_path / "m.linsep")
    records = table().to_dict("records")
    expected = learner.predict(table()).tolist()
    assert model.predict(records).tolist() == expected
    linsep.export(model, tmp_path / "model.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", tmp_path / "model.py", path],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == expected
    with pytest.raises(ParameterError, match=r"words of column 'note'"):
        linsep.export(model, tmp_path / "model.sql")


def test_a_column_without_words_is_refused_by_name():
    with pytest.raises(DataError, match="'note' holds no words"):
        linsep.read(table(["."] * 6), target="y", columns={"note": "words"}).load()
    with pytest.raises(ParameterError, match=r"words, words:500, words\+hash"):
        linsep.read(table(), target="y", columns={"note": "words+fold"}).load()
