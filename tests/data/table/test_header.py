"""Whether a CSV file has a header: judged once, at the fit; and what a number as target means."""

import json

import pytest
from click.testing import CliRunner

import linsep
from linsep.data.table import delimited
from linsep.data.table.dialect import sniff
from linsep.errors import DataError
from linsep.views.cli import group


def run(*arguments):
    return CliRunner().invoke(group, [str(one) for one in arguments])


def written(path, text):
    path.write_text(text)
    return path


@pytest.fixture
def headerless(tmp_path):
    """A model of three rows without a header: two numbers, and the label."""
    table = written(tmp_path / "train.csv", "1,2,p\n2,1,q\n3,0,q\n")
    return linsep.Perceptron(max_iter=2).fit(linsep.read(table))


@pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")
class TestTheEncodingKeepsWhatTheFitSaw:
    def test_a_first_row_like_a_header_is_a_row_of_a_headerless_model(self, tmp_path, headerless):
        new = written(tmp_path / "new.csv", "NA,2\n" + "1,2\n" * 4)
        assert len(headerless.predict(linsep.read(new, like=headerless))) == 5
        new = written(tmp_path / "new.csv", "n.a.,2\n" + "1,2\n" * 4)
        with pytest.raises(DataError, match=r"line 1, column '0': 'n.a.'.*pass header=True"):
            linsep.read(new, like=headerless).load()
        chunks = linsep.read(new, like=headerless, bad_rows="skip")
        assert (len(chunks.load()[0]), chunks.skipped) == (4, 1)

    def test_rows_of_texts_are_all_rows(self, tmp_path):
        table = written(tmp_path / "t.csv", "red,small,p\nblue,large,q\nred,large,q\n")
        learner = linsep.Perceptron(max_iter=2).fit(linsep.read(table, header=False))
        new = written(tmp_path / "new.csv", "green,tiny\nred,small\nblue,large\n")
        assert linsep.read(new, like=learner).load()[0].tolist()[0] == [0, 0, 0, 0]
        with pytest.warns(UserWarning, match="not in the fit.*'green'.*'tiny'"):
            assert len(learner.predict(linsep.read(new, like=learner))) == 3

    def test_one_row_is_enough(self, tmp_path, headerless):
        new = written(tmp_path / "new.csv", "1,2\n")
        X, y = linsep.read(new, like=headerless).load()
        assert X.tolist() == [[1, 2]] and y is None
        comma = written(tmp_path / "comma.csv", "1,5;2,5\n")
        chunks = linsep.read(comma, like=headerless, delimiter=";")
        assert chunks.load()[0].tolist() == [[1.5, 2.5]]

    def test_a_header_of_numbers_is_one_where_the_fit_had_one(self, tmp_path):
        table = written(tmp_path / "t.csv", "2001,2002,y\n1,2,0\n2,1,1\n3,0,1\n")
        learner = linsep.Perceptron(max_iter=2).fit(linsep.read(table))
        assert learner.encoding_.feature_names == ["2001", "2002"]
        new = written(tmp_path / "new.csv", "2002,2001\n5,7\n")
        assert linsep.read(new, like=learner).load()[0].tolist() == [[7, 5]]
        new = written(tmp_path / "new.csv", "1,2\n3,4\n")
        with pytest.raises(DataError, match="no columns '2001', '2002'; there are 1, 2"):
            linsep.read(new, like=learner)

    def test_it_can_be_told_otherwise(self, tmp_path, headerless):
        new = written(tmp_path / "new.csv", "a,b\n1,2\n")
        assert linsep.read(new, like=headerless, header=True).load()[0].tolist() == [[1, 2]]

    def test_predict_and_score_see_every_row(self, tmp_path, headerless):
        linsep.save(headerless, tmp_path / "m.linsep")
        new = written(tmp_path / "new.csv", "?,2,p\n1,2,q\n3,1,q\n")
        done = run("predict", tmp_path / "m.linsep", new)
        assert (done.exit_code, len(done.stdout.split())) == (0, 3)
        done = run("score", tmp_path / "m.linsep", new, "--json")
        assert json.loads(done.stdout)["rows"] == 3
        labels = written(tmp_path / "labels.csv", "1,2,\n1,2,?\n")  # nobody asks for them
        assert len(run("predict", tmp_path / "m.linsep", labels).stdout.split()) == 2

    def test_rows_without_labels_load_and_are_no_rows_to_fit(self, tmp_path, headerless):
        new = written(tmp_path / "new.csv", "1,2\n3,4\n")
        for more in ({}, {"memory": 1}, {"cache": tmp_path / "kept"}, {"cache": tmp_path / "kept"}):
            chunks = linsep.read(new, like=headerless, **more)
            with pytest.raises(DataError, match="holds no labels"):
                linsep.Perceptron().fit(chunks)
            assert [(X.tolist(), y) for X, y in chunks] == [([[1, 2], [3, 4]], None)]

    def test_a_text_is_of_the_format_of_the_fit(self, tmp_path):
        table = written(tmp_path / "t.csv", "5\t12:30\tp\n6\t13:45\tq\n")
        learner = linsep.Perceptron(max_iter=2).fit(linsep.read(table, format="csv"))
        new = written(tmp_path / "new.csv", "5\t12:30\n6\t3:20\n")
        assert len(learner.predict(linsep.read(new, like=learner))) == 2
        lines = written(tmp_path / "lines.svm", "1 1:2\n0 2:1\n")
        learner = linsep.Perceptron(max_iter=2).fit(linsep.read(lines))
        zeros = written(tmp_path / "zeros", "0\n0\n1\n")
        assert len(learner.predict(linsep.read(zeros, like=learner))) == 3


class TestANumberIsAPosition:
    def test_a_cell_of_that_text_makes_no_header(self, tmp_path):
        lines = "".join(f"{k % 2},{k},{k * k}\n" for k in range(17))
        chunks = linsep.read(written(tmp_path / "t.csv", lines), target="0")
        assert chunks.n_rows == 17 and chunks.classes.tolist() == [0, 1]
        moved = "".join(f"{k},{k % 2},{k * k}\n" for k in range(17))
        chunks = linsep.read(written(tmp_path / "t.csv", moved), target="1")
        assert chunks.n_rows == 17 and chunks.classes.tolist() == [0, 1]

    def test_a_header_that_is_there_may_hold_it(self, tmp_path):
        table = written(tmp_path / "t.csv", "1,0,name\n5,0.5,7\n6,0.25,8\n")
        assert linsep.read(table, target="1").classes.tolist() == [5, 6]
        assert linsep.read(table, target=1).load()[1].tolist() == [0.5, 0.25]
        named = written(tmp_path / "n.csv", "1,0\n5,2\n6,3\n")
        assert linsep.read(named, target="0", header=True).classes.tolist() == [2, 3]
        assert linsep.read(named, target="0").classes.tolist() == [1, 5, 6]

    def test_it_is_a_position_in_the_file_that_is_scored(self, tmp_path):
        table = written(tmp_path / "t.csv", "y,a,b\n0,2,1\n1,1,5\n0,3,1\n1,1,4\n")
        model = tmp_path / "m.linsep"
        run("fit", table, "--target", "y", "--learner", "Perceptron", "--out", model)
        done = run("score", model, table, "--target", "0", "--json")
        assert json.loads(done.stdout)["error"] == 0


class TestAFirstRowOfNumbers:
    def test_one_cell_that_is_no_number_does_not_make_names_of_the_rest(self, tmp_path):
        table = written(tmp_path / "t.csv", "n.a.,2.5,p\n1,2,q\n3,1,p\n")
        with pytest.raises(DataError, match=r"line 1.*'n.a.' is not a finite number"):
            linsep.read(table).load()
        assert linsep.read(table, missing=["n.a."]).n_rows == 3
        assert linsep.read(table, header=True).n_rows == 2

    def test_years_and_counts_may_be_names(self, tmp_path):
        table = written(tmp_path / "t.csv", "150,4,setosa\n1.5,2,0\n3,1.5,1\n")
        assert linsep.read(table).n_rows == 2


@pytest.mark.parametrize("text", ['"', '"\n', '""\n', '"\n\n"', ' " \n', '\ufeff"', '\n\n"\n'])
def test_a_file_of_a_quote_is_named(tmp_path, text):
    with pytest.raises(DataError, match=r"t\.csv.*rows are wanted"):
        linsep.read(written(tmp_path / "t.csv", text))


def test_rows_of_nothing_but_tabs_are_rows(tmp_path):
    table = written(tmp_path / "t.tsv", "a\tb\ty\n1\t2\tp\n2\t1\tq\n")
    encoding = linsep.read(table).encoding
    new = written(tmp_path / "new.tsv", "a\tb\n1\t2\n" + "\t\n" * 9)
    assert linsep.read(new, like=encoding).load()[0].shape == (10, 2)
    assert [part.n for part in delimited.parts(new, sniff(new), size=4)] == [0, 1] + [2] * 4 + [1]
