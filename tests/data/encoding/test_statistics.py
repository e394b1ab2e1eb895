"""What one pass over the rows settles, whatever the pieces they come in."""

import numpy as np
import pytest

from linsep.data.encoding.column_statistics import ColumnStatistics, Means
from linsep.data.encoding.drift import Drift
from linsep.data.encoding.encoding import Encoding
from linsep.data.encoding.encoding_document import read, write
from linsep.data.encoding.label_statistics import EncodedLabels, LabelStatistics
from linsep.data.encoding.words import counted
from linsep.data.table.column import Column, Texts
from linsep.data.table.target import find_target
from linsep.errors import DataError


def texts(*cells):
    """A column of these cells; None is a missing one."""
    own = list(dict.fromkeys(cell for cell in cells if cell is not None))
    return Texts(
        np.array([-1 if cell is None else own.index(cell) for cell in cells], np.int32), own
    )


@pytest.mark.parametrize("cut", [1, 4096, 5000, 9999])
def test_means_do_not_depend_on_how_rows_are_cut(cut):
    rows = np.random.default_rng(0).standard_normal((10_000, 2)) * [1.0, 1e9]
    rows[::7, 0] = np.nan
    whole, parts = Means(2), Means(2)
    whole.add(rows)
    for first in range(0, len(rows), cut):
        parts.add(rows[first : first + cut])
    means, counts = whole.finish()
    assert [a.tobytes() for a in parts.finish()] == [means.tobytes(), counts.tobytes()]
    np.testing.assert_allclose(means, np.nanmean(rows, axis=0), rtol=1e-12)


def test_columns_become_means_and_sorted_categories():
    seen = ColumnStatistics({"age": "number", "city": "text"})
    for ages, cities in (([1.0, np.nan], ["rome", "bonn"]), ([4.0], ["oslo"])):
        seen.add({"city": texts(*cities)}, np.array(ages)[:, None])
    age, city = seen.finish()
    assert age.mean == 2.5 and city.categories == ("bonn", "oslo", "rome")


@pytest.mark.parametrize(
    ("parts", "classes", "labels"),
    [
        ([["no", "yes"], ["no"]], ["no", "yes"], ["no", "yes", "no"]),
        ([["10", "9"], ["9"]], [9, 10], [10, 9, 9]),
        ([["true", "False"]], [False, True], [True, False]),
        ([[3.0, 1.0], [1.0]], [1, 3], [3, 1, 1]),
        ([[0.5, 1.0]], None, [0.5, 1.0]),
    ],
)
def test_labels_settle_into_classes(parts, classes, labels):
    statistics, stored = LabelStatistics(), []
    for part in parts:
        cells = texts(*part) if isinstance(part[0], str) else np.array(part)
        stored.append(statistics.add(cells)[0])
    settled = statistics.finish()
    assert (None if settled.classes is None else settled.classes.tolist()) == classes
    assert statistics.decoded(np.concatenate(stored), settled).tolist() == labels


def test_rows_of_other_classes_are_left_out_and_counted():
    statistics = LabelStatistics(keep=["a", "b"])
    _, keep = statistics.add(texts("a", "c", "b", "c"))
    assert keep.tolist() == [True, False, True, False] and statistics.left_out == 2
    assert statistics.finish().classes.tolist() == ["a", "b"]


def test_a_question_makes_labels_true_and_false_and_kinds_must_agree():
    statistics = LabelStatistics(find_target("delay > 15", ["delay"]))
    assert statistics.add(np.array([10.0, 20.0]))[0].tolist() == [0.0, 1.0]
    mixed = LabelStatistics()
    mixed.add(np.array([1.0]))
    mixed.add(texts("a"))
    with pytest.raises(DataError, match="numbers in one file and texts in another"):
        mixed.finish()


def test_encoded_labels_are_the_labels():
    encoded = EncodedLabels(np.array(["a", "b"]), np.array([1, 0, 1], np.int32))
    assert encoded.labels().tolist() == ["b", "a", "b"]


def test_a_document_is_the_encoding_and_names_the_field_that_is_wrong():
    columns = (Column("age", "number", mean=2.5), Column("city", "text", categories=("a", "b")))
    encoding = Encoding.of(columns)
    document = write(encoding)
    assert read(document) == encoding
    with pytest.raises(DataError, match="n_features"):
        read(document | {"n_features": -1})


def test_texts_that_were_not_in_the_fit_are_counted_and_told():
    encoding = Encoding.of((Column("city", "text", categories=("bonn", "rome")),))
    drift, other = Drift(), Drift()
    drift.note(encoding, {"city": texts("rome", "oslo", "oslo")})
    other.note(encoding, {"city": texts("oslo")})
    drift.add(other)
    assert drift.unknown["city"] == {"oslo": 3}
    (sentence,) = drift.sentences()
    assert "'oslo' (3)" in sentence and "rome" not in sentence


def test_words_are_counted_by_cell():
    column = Column("note", "words", categories=("cheap", "dear"))
    rows = counted(column, texts("cheap", "dear, DEAR", None))
    assert rows.toarray().tolist() == [[1, 0], [0, 2], [0, 0]]
