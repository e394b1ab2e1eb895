"""One pass over a long file: rows are learnt from while they are parsed, to the same bytes."""

import gzip
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linsep
from linsep import Perceptron
from linsep.data.sources import one_pass
from linsep.errors import DataError
from linsep.model.files.store import to_bytes
from linsep.status import Status

pytestmark = pytest.mark.filterwarnings("ignore::linsep.errors.NotConverged")

ONCE = {"max_iter": 1, "keep": "average"}
CLI = """
from linsep.data.sources import one_pass
from linsep.views.cli import main
one_pass.LONG = 0
main()
"""


def lines(n=9000, d=300, seed=0, classes=(-1, 1), base=1):
    """Rows of a few entries, two blocks and a part of a third."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    found = []
    for _ in range(n):
        places = np.sort(rng.choice(d, rng.integers(1, 9), replace=False))
        values = rng.normal(size=len(places))
        label = classes[int(values @ w[places] + rng.normal() > 0)]
        pairs = " ".join(f"{j + base}:{v:.17g}" for j, v in zip(places, values, strict=True))
        found.append(f"{label} {pairs}")
    return found


def written(path, rows, end="\n"):
    path.write_bytes(("\n".join(rows) + end).encode())
    return path


def both(monkeypatch, path, **asked):
    """Models of the same file, by rows at rest and by rows that pass, and whether they passed."""
    asked = ONCE | asked
    monkeypatch.setattr(one_pass, "LONG", 1 << 60)
    rest = Perceptron(**asked).fit(linsep.read(path))
    monkeypatch.setattr(one_pass, "LONG", 0)
    chunks = linsep.read(path)
    passing = Perceptron(**asked).fit(chunks)
    assert to_bytes(passing) == to_bytes(rest)
    assert passing.mistakes_ == rest.mistakes_ and passing.data_ == rest.data_
    assert chunks.n_rows == linsep.read(path).n_rows
    return chunks.judged is not None


PLAIN = [
    {}, {"shuffle": False}, {"keep": "last"}, {"random_state": 7}, {"fit_intercept": False},
    {"n_jobs": 1}, {"n_jobs": 3}, {"schedule": "1/sqrt(t)", "eta0": 0.3},
]  # fmt: skip


@pytest.mark.parametrize("asked", PLAIN)
def test_the_model_has_the_bytes_of_a_fit_on_rows_at_rest(tmp_path, monkeypatch, asked):
    assert both(monkeypatch, written(tmp_path / "t.svm", lines()), **asked)


@pytest.mark.parametrize("piece", [512, 1000, 1 << 14])
@pytest.mark.parametrize("segment", [64, 4097, 1 << 20])
def test_the_size_of_pieces_changes_nothing(tmp_path, monkeypatch, piece, segment):
    monkeypatch.setattr(one_pass, "PIECE", piece)
    monkeypatch.setattr(one_pass, "_SEGMENT", segment)
    assert both(monkeypatch, written(tmp_path / "t.svm", lines()))


@pytest.mark.parametrize("places", [1, 5, 100, 5000])
def test_few_places_of_lines_are_enough(tmp_path, monkeypatch, places):
    monkeypatch.setattr(one_pass, "_PLACES", places)
    monkeypatch.setattr(one_pass, "_SEGMENT", 4096)
    passed = both(monkeypatch, written(tmp_path / "t.svm", lines()))
    assert passed or places < 3  # blocks would begin between the places that are known


CHANGES = {
    "empty lines": lambda rows: ["", *rows[:5], "", "  ", *rows[5:8000], "\t", *rows[8000:], ""],
    "spaces": lambda rows: [
        f"  {rows[0]}  ",
        *(row.replace(" ", "  \t") + " " for row in rows[1:]),
    ],
    "a late wider row": lambda rows: [*rows[:8999], "1 5:1 7000:2.5"],
    "a late index zero": lambda rows: [*rows[:8999], "1 0:1 7:2.5"],
    "rows without entries": lambda rows: ["1", *rows[:4095], "-1", "1 ", *rows[4095:], "1"],
    "explicit zeros": lambda rows: [*rows[:100], "1 3:0 4:-0.0", *rows[100:]],
    "numbers left to Python": lambda rows: [*rows[:99], "1 3:" + "1" * 30 + "e-30", *rows[99:]],
    "other signs of the same label": lambda rows: [row.replace("1 ", "1.0 ", 1) for row in rows],
    "carriage returns": lambda rows: [f"{row}\r" for row in rows],
}


@pytest.mark.parametrize("change", CHANGES)
def test_plain_lines_of_all_kinds_pass(tmp_path, monkeypatch, change):
    monkeypatch.setattr(one_pass, "_SEGMENT", 5000)
    for end in ("\n", ""):
        assert both(monkeypatch, written(tmp_path / "t.svm", CHANGES[change](lines()), end))


OTHERS = {
    "a comment": lambda rows: [*rows[:-1], rows[-1] + " # 999:4"],
    "a line of comment": lambda rows: [*rows[:5000], "# 1:2", *rows[5000:]],
    "query ids": lambda rows: [row.replace(" ", " qid:3 ", 1) for row in rows],
    "lines that end by a carriage return": lambda rows: ["\r".join(rows[:2]), *rows[2:]],
    "a third label in the last row": lambda rows: [*rows, "2 5:1"],
    "an index of many digits": lambda rows: [*rows, "1 5:1 00000000012:1"],
    "a label of many digits": lambda rows: [*rows, "1.00000000000000000000 5:1"],
    "tiny numbers": lambda rows: [*rows[:4096], *(f"1 3:1e-{300 + k % 20}" for k in range(4096))],
}


@pytest.mark.parametrize("change", OTHERS)
def test_other_lines_are_read_as_ever(tmp_path, monkeypatch, change):
    assert not both(monkeypatch, written(tmp_path / "t.svm", OTHERS[change](lines())))


def test_a_long_line_or_block_is_read_as_ever(tmp_path, monkeypatch):
    path = written(tmp_path / "t.svm", lines())
    with monkeypatch.context() as patch:
        patch.setattr(one_pass, "PIECE", 64)
        assert not both(patch, path)
    monkeypatch.setattr(one_pass, "WIDE", 1000)
    assert not both(monkeypatch, path)


ASKED = [
    {"max_iter": 2}, {"keep": "pocket"}, {"rule": "batch"}, {"rule": "minibatch"}, {"margin": 0.5},
    {"bias_step": "radius"}, {"class_weight": "balanced"}, {"trace": True},
]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
def test_fits_that_need_more_of_the_rows_keep_them(tmp_path, monkeypatch, asked):
    assert not both(monkeypatch, written(tmp_path / "t.svm", lines(5000)), **asked)


def test_packed_files_and_several_files_are_read_as_ever(tmp_path, monkeypatch):
    rows = lines()
    one = written(tmp_path / "one.svm", rows)
    packed = tmp_path / "packed.svm.gz"
    packed.write_bytes(gzip.compress(one.read_bytes()))
    parts = [written(tmp_path / f"{k}.svm", rows[k * 3000 : (k + 1) * 3000]) for k in range(3)]
    assert not both(monkeypatch, packed)
    assert not both(monkeypatch, parts)
    found = [Perceptron(**ONCE).fit(linsep.read(path)).coef_ for path in (one, packed, parts)]
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


def test_options_of_reading_are_honoured(tmp_path, monkeypatch):
    path = written(tmp_path / "t.svm", lines())
    for how, passed in (
        ({"base": 0}, True), ({"n_features": 400}, True), ({"classes": [-1, 1]}, False),
        ({"cache": tmp_path / "kept"}, False),
    ):  # fmt: skip
        monkeypatch.setattr(one_pass, "LONG", 1 << 60)
        rest = Perceptron(**ONCE).fit(linsep.read(path, **how))
        monkeypatch.setattr(one_pass, "LONG", 0)
        chunks = linsep.read(path, **how)
        assert to_bytes(Perceptron(**ONCE).fit(chunks)) == to_bytes(rest)
        assert (chunks.judged is not None) == passed


@pytest.mark.parametrize("bad", ["1 5:x", "1 5:1 4:1", "1 5:1e999", "word 1:2"])
def test_a_bad_row_is_named_as_ever_or_skipped(tmp_path, monkeypatch, bad):
    rows = lines()
    path = written(tmp_path / "t.svm", [*rows[:7000], bad, *rows[7000:]])
    monkeypatch.setattr(one_pass, "LONG", 0)
    with pytest.raises(DataError, match="line 7001"):
        Perceptron(**ONCE).fit(linsep.read(path))
    chunks = linsep.read(path, bad_rows="skip")
    kept = Perceptron(**ONCE).fit(chunks)
    assert chunks.skipped == 1
    without = Perceptron(**ONCE).fit(linsep.read(written(tmp_path / "u.svm", rows)))
    assert to_bytes(kept) == to_bytes(without)


LINES = [
    "1 1:2", "-1 2:3 5:1e-3", "", " ", "#", "1", "1 1:2 # 7:1", "2 1:1", "-1  3:1\t", "0 qid:1 2:1",
    "1 0:1", "x", "1 3:", "1\r-1 2:1",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=30), st.booleans())
@settings(deadline=None)
def test_the_ends_of_lines_tell_what_the_parser_finds_or_nothing(tmp_path_factory, rows, ends):
    path = written(tmp_path_factory.mktemp("t") / "t.svm", rows, "\n" if ends else "")
    if not path.stat().st_size:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_pass, "LONG", 0)
        patch.setattr(one_pass, "_SEGMENT", 16)
        try:
            found = one_pass.stream_of(linsep.read(path, format="svmlight"))
            seen = list(found.blocks([0])) if found else []
            if found:
                found.require_as_scanned()
        except one_pass.ScanMismatch:
            return
        if not found:
            return
        X, y = linsep.read(path, format="svmlight").load()
        assert X.shape == (found.n_rows, found.n_features)
        assert seen[0].values.tolist() == X.data.tolist()
        assert seen[0].places.tolist() == X.indices.tolist()
        assert seen[0].pointers.tolist() == X.indptr.tolist()
        assert found.classes[seen[0].codes].tolist() == y.tolist()
        every = found.rows(np.arange(found.n_rows))
        assert every.values.tolist() == X.data.tolist() and every.labels.tolist() == y.tolist()


def command(*asked, **more):
    return subprocess.run([sys.executable, "-c", CLI, *map(str, asked)], check=False,
                          capture_output=True, **more)  # fmt: skip


def test_the_command_says_that_mistakes_were_counted_on_the_way(tmp_path):
    path, out = written(tmp_path / "t.svm", lines()), tmp_path / "m"
    asked = ["fit", path, "--learner", "Perceptron", "-p", "max_iter=1", "--out", out]
    told = command(*asked)
    assert told.returncode == 0
    assert b"wrong side when they came, each judged before it was learnt from" in told.stdout
    assert b"true \\ predicted" not in told.stdout
    record = json.loads(command(*asked, "--json", "-q").stdout)
    learner = Perceptron(max_iter=1).fit(*linsep.read(path).load())
    assert record["progressive"] is True
    assert record["train"]["confusion"] is None
    assert record["train"]["error"] == learner.mistakes_ / 9000
    X, y = linsep.read(path).load()
    assert record["train"]["baseline_error"] == min(np.mean(y == -1), np.mean(y == 1))
    assert linsep.load(out).predict(X).tolist() == learner.predict(X).tolist()
    spooled = command("fit", "-", *asked[2:-1], tmp_path / "n", "-q", input=path.read_bytes())
    assert spooled.returncode == 0
    assert (tmp_path / "n").read_bytes() == out.read_bytes()
    again = json.loads(command(*asked, "-p", "keep=pocket", "--json", "-q").stdout)
    assert again["progressive"] is False and sum(map(sum, again["train"]["confusion"])) == 9000


def test_a_bad_row_leaves_no_model(tmp_path):
    path, out = written(tmp_path / "t.svm", [*lines(), "1 2"]), tmp_path / "m"
    done = command("fit", path, "--learner", "Perceptron", "-p", "max_iter=1", "--out", out)
    assert done.returncode == 3
    assert b"line 9001" in done.stderr
    assert not out.exists()


def test_a_file_that_changes_under_the_pass_is_an_error(tmp_path, monkeypatch):
    path = written(tmp_path / "t.svm", lines())
    monkeypatch.setattr(one_pass, "LONG", 0)

    def touch(done):
        os.utime(path, ns=(1, 1))

    with pytest.raises(DataError, match="changed while it was read"):
        Perceptron(**ONCE).fit(linsep.read(path), callback=touch)


def test_an_interrupt_in_the_middle_keeps_the_weights_so_far(tmp_path, monkeypatch):
    path = written(tmp_path / "t.svm", lines())
    monkeypatch.setattr(one_pass, "LONG", 0)
    note = one_pass.OnePassStream._note

    def interrupted(self, seen, state):
        note(self, seen, state)
        if self.seen > 5000:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(one_pass.OnePassStream, "_note", interrupted)
    chunks = linsep.read(path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells may have it ignored
    try:
        learner = Perceptron(**ONCE, shuffle=False).fit(chunks)
    finally:
        signal.signal(signal.SIGINT, before)
    assert learner.status_ is Status.interrupted
    assert learner.coef_.any() and learner.data_ is None
    assert chunks.judged.rows == 4096  # the second block came, and was not learnt from
    assert 0 < chunks.judged.mistakes < 4096
    assert sum(len(y) for _, y in chunks) == chunks.n_rows == 9000
