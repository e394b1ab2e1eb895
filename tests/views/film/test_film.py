"""Films show the run as it was, prove what they say, and carry nothing harmful."""

import base64
import json
import re
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import linsep
from linsep import LinearRegression, LinearSVC, LogisticRegression, PassiveAggressive, Perceptron
from linsep.data.toys import (
    height_weight,
    overlapping,
    separated,
    three_classes,
    three_points,
    two_groups,
    xor,
)
from linsep.errors import DataError, NotConverged, ParameterError
from linsep.train.run import trace as recording
from linsep.train.run.trace import Trace
from linsep.train.run.trace_file import read_into
from linsep.views.cli import group
from linsep.views.film.page import PARTS, bundle, film_page, part
from linsep.views.film.shrink import shrink
from linsep.views.film.story import story_of
from linsep.views.lab.page import HERE, OWN
from linsep.views.scene.geometry import Box, region
from linsep.views.scene.packing import pack, unpack
from linsep.views.scene.run import open_run


def fit(learner, X, y):
    with warnings.catch_warnings(action="ignore", category=NotConverged):
        return learner.fit(X, y)


def story(learner, X, y):
    return story_of(open_run(fit(learner, X, y).trace_, None, None))


def wrong(told, t):
    """The rows misplaced, as the page tells them: from bits, or from rows and planes."""
    frames, points, codes = told["frames"], told["points"], told["codes"]
    if "wrong" in frames:
        bits = np.unpackbits(frames["wrong"][t], bitorder="little")
        return bits[: len(points)].astype(bool)
    scores = points @ frames["planes"][t, :, :2].T + frames["planes"][t, :, 2]
    if len(told["classes"]) == 2:
        return np.where(codes == 1, 1, -1) * scores[:, 0] <= 0
    own = scores[np.arange(len(points)), codes]
    return (own[:, None] <= scores).sum(axis=1) > 1


def test_the_three_points_are_told_correction_by_correction():
    told = story(Perceptron(shuffle=False, trace=True), *three_points())
    frames = told["frames"]
    assert frames["n"].tolist() == list(range(14))
    assert frames["at"].tolist() == [-1, 0, 2, 0, 2, 0, 1, 2, 0, 2, 0, 0, 2, 0]
    assert frames["planes"][-1].tolist() == [[-2.5, 0.0, 3.0]]
    assert (frames["epoch"][6], frames["score"][6], frames["step"][6]) == (3, -2.5, 1.0)
    assert frames["mistake"].tolist() == [0, *[1] * 13]
    assert told["facts"]["separable"] is True
    assert told["facts"]["bound"] == 120
    assert [after for after, _, _ in told["passes"]] == [2, 4, 7, 9, 10, 12, 13, 13]


@pytest.mark.parametrize("learner", [
    Perceptron(max_iter=5, trace=True), Perceptron("batch", max_iter=5, trace=True),
    Perceptron("minibatch", max_iter=5, trace=True), PassiveAggressive(max_iter=5, trace=True),
    Perceptron(multiclass="ovr", max_iter=5, trace=True),
    LogisticRegression(solver="sgd", max_iter=3, trace=True),
    LinearSVC(solver="sgd", max_iter=3, trace=True),
], ids=repr)  # fmt: skip
@pytest.mark.parametrize("classes", [2, 3])
def test_halos_are_around_the_rows_that_the_weights_of_the_moment_misplace(learner, classes):
    X, y = overlapping(n=40, seed=1) if classes == 2 else three_classes(30, spread=2.0)
    told = story(learner, X, y)
    frames = told["frames"]
    codes = np.unique(y, return_inverse=True)[1]
    for t, event in [(t, learner.trace_.updates[t - 1]) for t in range(1, len(frames["n"]), 7)]:
        if event["plane"] is None and len(event["w"]) == frames["planes"].shape[1]:
            scores = X @ event["w"].T + event["b"]
            if classes == 2:
                off = np.where(codes == 1, 1, -1) * scores[:, 0] <= 0
            else:
                own = scores[np.arange(len(X)), codes]
                off = (own[:, None] <= scores).sum(axis=1) > 1
            assert wrong(told, t).tolist() == off.tolist()
        assert frames["count"][t] == wrong(told, t).sum()
    last = np.column_stack([learner.coef_, learner.intercept_])
    np.testing.assert_array_equal(frames["planes"][-1], last)


def test_a_run_may_start_elsewhere_and_the_film_knows_where():
    told = story(Perceptron("batch", init=[0.0, 1.0, -0.5], trace=True), *two_groups())
    assert told["frames"]["planes"][0].tolist() == [[0.0, 1.0, -0.5]]
    assert told["frames"]["planes"][1:, 0].tolist() == [pytest.approx([1.45, -0.6, -0.5])]
    assert np.flatnonzero(wrong(told, 0)).tolist() == [0, 3, 5, 6]
    assert told["facts"]["bound"] is None  # the theorem speaks of runs from zero
    X, y = three_points()
    stream = Perceptron(trace=True).partial_fit(X, y).partial_fit(X, y)
    start = story_of(open_run(stream, None, None))["frames"]["planes"][0]
    assert start.tolist() == [[-1.0, -1.0, 0.0]]


def test_no_run_that_the_theorem_speaks_of_exceeds_the_bound_that_is_shown():
    for seed in range(3):
        X, y, _ = separated(n=40, margin=0.1, seed=seed)
        for asked in ({}, {"fit_intercept": False}, {"bias_step": "radius"}):
            told = story(Perceptron(trace=True, random_state=seed, **asked), X, y)
            assert told["frames"]["n"][-1] <= told["facts"]["bound"]
    X, y = three_classes()
    told = story(Perceptron(trace=True), X, y)
    assert told["frames"]["n"][-1] <= told["facts"]["bound"]
    assert story(Perceptron(margin=0.5, trace=True), X, y)["facts"]["bound"] is None
    assert story(Perceptron(schedule="1/t", trace=True), *three_points())["facts"]["bound"] is None


def test_where_no_line_separates_the_rows_that_prove_it_are_shown_and_meet():
    facts = story(Perceptron(max_iter=3, trace=True), *xor())["facts"]
    assert facts["separable"] is False
    assert facts["rows"] == [0, 1, 2, 3]
    assert facts["multipliers"] == ["1/4"] * 4
    assert facts["meet"] == [0.5, 0.5]  # the diagonals cross
    assert facts["bound"] is None


def test_without_an_intercept_the_proof_is_about_planes_through_the_origin():
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]]), [0, 1, 1]
    assert story(Perceptron(trace=True), X, y)["facts"]["separable"] is True
    facts = story(Perceptron(fit_intercept=False, max_iter=5, trace=True), X, y)["facts"]
    assert facts["separable"] is False
    assert "every plane through the origin" in facts["verdict"]
    assert (facts["rows"], facts["meet"], facts["bound"]) == ([0, 1], None, None)
    zero = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, 2.0]])  # a proof that has one class only
    facts = story(Perceptron(fit_intercept=False, max_iter=5, trace=True), zero, [0, 1, 1])["facts"]
    assert facts["rows"] == [0]


def test_a_fixed_intercept_is_no_plane_through_the_origin():
    X, y = np.array([[1.0], [2.0]]), [0, 1]
    learner = Perceptron(fit_intercept=False, init=([0.0], [-3.0]), max_iter=3, trace=True)
    facts = story(learner, X, y)["facts"]
    assert facts["separable"] is True
    assert "origin" not in facts["verdict"]


def test_through_the_origin_the_plane_of_two_weights_is_all_there_is():
    X, y, _ = separated(n=30, margin=0.2, seed=2)
    told = story(Perceptron(fit_intercept=False, shuffle=False, trace=True), X, y)
    view = told["weights"]
    assert (view["names"], view["exact"], told["intercept"]) == (["w₁", "w₂"], True, False)
    assert view["lines"].tolist() == list(range(30))
    assert "offsets" not in view  # the page has rows and weights, and needs no more


def test_one_feature_with_an_intercept_has_all_of_its_weights_on_the_plane():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    told = story(Perceptron(trace=True), X, [0, 0, 1, 1])
    assert told["weights"]["names"] == ["w", "b"]
    assert told["features"] == 1
    assert told["points"].tolist() == [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]


def test_a_region_is_what_the_half_planes_leave_of_the_box():
    box = Box(-1, 1, -1, 1)
    A, B, C = np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 0.5])
    corners = region(A, B, C, box)
    assert sorted(map(tuple, corners.tolist())) == [(0, -0.5), (0, 1), (0.5, -0.5), (0.5, 1)]
    assert len(region(np.array([1.0, -1.0]), np.zeros(2), np.array([-0.1, -0.1]), box)) == 0
    assert len(region(np.zeros(1), np.zeros(1), np.array([-1.0]), box)) == 0


def test_more_features_are_projected_and_the_film_says_so_and_still_tells_the_truth():
    X, y, _ = separated(n=80, d=6, margin=0.05, seed=3)
    learner = Perceptron(trace=True)
    told = story(learner, X, y)
    assert "6 features, seen along two axes" in told["notes"][0]
    assert told["weights"]["offsets"].shape == (len(told["frames"]["n"]), 80)
    axis = learner.coef_[0] / np.linalg.norm(learner.coef_[0])
    np.testing.assert_allclose(np.array(told["points"])[:, 0], X @ axis, rtol=1e-9)
    trace = learner.trace_
    for t, event in enumerate(trace.updates, 1):
        off = y * (X @ event["w"][0] + event["b"][0]) <= 0
        assert wrong(told, t).tolist() == off.tolist()


def test_thousands_of_corrections_are_thinned_and_the_last_one_stays():
    X, y = overlapping(n=300, seed=0)
    told = story(Perceptron(max_iter=60, trace=True), X, y)
    numbers = told["frames"]["n"]
    assert len(numbers) <= 2001
    assert len(set(np.diff(numbers.astype(int))[1:-1])) == 1
    assert any("corrections are shown" in note for note in told["notes"])


def test_of_many_rows_a_sample_is_kept_and_nothing_is_claimed_about_the_rest(monkeypatch):
    monkeypatch.setattr(recording, "ENTRIES", 100)
    X, y, _ = separated(n=500, margin=0.2)
    learner = fit(Perceptron(max_iter=1, trace=True), X, y)
    assert len(learner.trace_.rows.X) == 50
    told = story_of(open_run(learner, None, None))
    assert told["facts"]["separable"] is None
    assert "only 50 of 500 rows" in told["facts"]["verdict"]
    learner = Perceptron(trace=True).fit(X, y)
    told = story_of(open_run(learner, None, None))
    assert told["facts"]["separable"] is True
    assert "met all 500 rows strictly on their own sides. 50 of them" in told["facts"]["verdict"]
    monkeypatch.setattr(recording, "ENTRIES", 10**6)
    assert story_of(open_run(learner, X, y))["facts"]["separable"] is True


def test_the_page_is_small_whole_and_asks_for_nothing(tmp_path):
    X, y = three_points()
    learner = Perceptron(shuffle=False, trace=True).fit(X, y)
    page = linsep.film(learner.trace_, tmp_path / "run.html").path.read_text("utf-8")
    without = re.sub(r'id="story">.*?</script>', "", page, flags=re.DOTALL)
    assert len(without.encode()) < 150_000
    links = re.findall(r"https?://[^\s\"']+", without)
    assert set(links) <= {"http://www.w3.org/2000/svg"}  # a name, never fetched
    assert "default-src 'none'" in page
    assert "unsafe" not in re.search('Policy" content="([^"]*)"', page)[1]
    assert not re.search(r"\b(src|href)=", without)
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval\(", without)


def test_labels_cannot_break_out_of_the_page(tmp_path):
    X, y = three_points()
    nasty = np.where(y > 0, "</script><script>alert(1)</script>", "<!--<b>&\u2028")
    learner = Perceptron(trace=True).fit(X, nasty)
    page = linsep.film(learner.trace_, tmp_path / "run.html").path.read_text("utf-8")
    assert page.count("</script>") == 2
    assert "<!--" not in page.replace("<!doctype", "")
    told = unpack(base64.b64decode(page.split('id="story">')[1].split("</script>")[0]))
    assert told["stories"][0]["classes"] == sorted(set(nasty.tolist()))


def test_the_parts_of_the_player_define_each_name_once_and_hold_no_imports_when_joined():
    script = bundle(PARTS)
    parts = "\n".join(map(part, PARTS))  # joined, they are not indented: all names look alike
    names = re.findall(r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", parts, re.MULTILINE)
    assert len(names) == len(set(names)) > 20
    assert "import " not in re.sub(r"//.*", "", script)
    used = {name for text in map(part, PARTS) for group in
            re.findall(r"^import \{([^}]*)\}", text, re.MULTILINE) for name in
            re.findall(r"\w+", group)}  # fmt: skip
    assert used <= set(names)


def test_a_shrunk_page_has_the_same_words_signs_and_texts():
    for script in [*map(part, PARTS), *(part(name, HERE) for name in OWN)]:
        shrunk = shrink(script)
        script = re.sub(r"^ *//.*$| // [^`\n]*$", "", script, flags=re.MULTILINE)
        script = re.sub(r"\bconst\b", "let", script)
        assert re.findall(r"[\w$]+|\S", shrunk) == re.findall(r"[\w$]+|\S", script)
        for text in re.findall(r"\"[A-Z][\w ,.;:?!]*\"", script):
            assert text in shrunk


def test_spaces_that_tell_signs_apart_stay():
    assert shrink("a = b + +c - -d;") == "a=b + +c - -d;"
    assert shrink("a = ( b / 2 ) , `${c} / d` + `e , f`;") == "a=(b/2),`${c} / d`+`e , f`;"
    assert shrink("return x in y ? `a  ${ b }  c` : 1;") == "return x in y?`a  ${b}  c`:1;"
    assert shrink("a = /x , y/.test( b );") == "a=/x , y/.test(b);"
    assert shrink("a = `b ${ c ? ` , d` : 1 } , e`;") == "a=`b ${c?` , d`:1} , e`;"
    assert shrink("a = 'b , c' ;") == "a='b , c';"
    with pytest.raises(ValueError, match="template"):
        shrink("a = `b ,\n c`;")


def test_moving_pictures_have_a_frame_for_each_correction(tmp_path):
    learner = Perceptron(shuffle=False, trace=True).fit(*three_points())
    made = linsep.film(learner.trace_, tmp_path / "run.gif")
    with Image.open(made.path) as picture:
        assert picture.n_frames == made.frames == 14
        first = np.asarray(picture.convert("RGB"))
        picture.seek(13)
        assert (np.asarray(picture.convert("RGB")) != first).any()


def test_what_cannot_be_shown_is_said(tmp_path):
    X, y = three_points()
    out = tmp_path / "run.html"
    trace = Perceptron(trace=True).fit(X, y).trace_
    with pytest.raises(ParameterError, match=r"ends in \.html or \.gif"):
        linsep.film(trace, tmp_path / "run.mp4")
    with pytest.raises(DataError, match="trace=True"):
        linsep.film(Perceptron().fit(X, y), out)
    with pytest.raises(DataError, match="no classes"):
        line = LinearRegression("batch", trace=True).fit(*height_weight())
        linsep.film(line.trace_, out)
    with pytest.raises(DataError, match="holds no corrections, only its passes"):
        linsep.film(fit(LogisticRegression(trace=True), X, y).trace_, out)
    with pytest.raises(DataError, match="X and y go together"):
        linsep.film(trace, out, X)
    with pytest.raises(DataError, match="2 features"):
        linsep.film(trace, out, np.ones((3, 5)), y)
    with pytest.raises(DataError, match="the class '7'"):
        linsep.film(trace, out, X, [1, 7, -1])
    assert not out.exists()


def command(*arguments, **options):
    return CliRunner().invoke(group, [str(one) for one in arguments], **options)


def test_a_run_of_the_command_line_becomes_a_film(tmp_path):
    recorded, out = tmp_path / "run.jsonl", tmp_path / "run.html"
    asked = ["fit", "xor", "--learner", "Perceptron", "-p", "max_iter=4", "--trace", recorded]
    assert command(*asked).exit_code == 0
    done = command("film", recorded, out)
    assert done.exit_code == 0, done.output
    assert f"{out.stat().st_size:,} bytes" in done.stdout
    assert "on 4 rows" in done.stdout
    told = base64.b64decode(out.read_text("utf-8").split('id="story">')[1].split("</script>")[0])
    assert "Not separable" in unpack(told)["stories"][0]["facts"]["verdict"]
    again = command("film", "-", tmp_path / "again.html", input=recorded.read_text())
    assert again.exit_code == 0
    assert (tmp_path / "again.html").read_bytes() == out.read_bytes()


def test_a_scaled_fit_is_recorded_in_the_units_it_ran_in(tmp_path):
    recorded = tmp_path / "run.jsonl"
    asked = ["--learner", "Perceptron", "-p", "max_iter=2", "--scale", "mean"]
    assert command("fit", "cancer", *asked, "--trace", recorded).exit_code == 0
    rows = Trace.load(recorded).rows
    np.testing.assert_allclose(rows.X.std(axis=0), 1)


def test_a_trace_comes_back_from_its_file_as_it_was(tmp_path):
    X, y = two_groups()
    trace = Perceptron("batch", init=[0.0, 1.0, -0.5], trace=True).fit(X, y).trace_
    trace.save(tmp_path / "run.jsonl")
    back = Trace.load(tmp_path / "run.jsonl")
    assert list(back.lines()) == list(trace.lines())
    one, other = (story_of(open_run(which, None, None)) for which in (back, trace))
    assert pack(one) == pack(other)


def lines_of_a_trace():
    return list(Perceptron(shuffle=False, trace=True).fit(*three_points()).trace_.lines())


TRACE = lines_of_a_trace()


@pytest.mark.parametrize(("line", "old", "new", "said"), [
    (0, '"linsep_trace": 1', '"linsep_trace": 9', "line 1 has no linsep_trace: 1"),
    (0, '"classes": [-1, 1]', '"classes": 3', "line 1 has no classes"),
    (1, '"codes": [1, 1, 0]', '"codes": [1, 1, 2]', "line 2 has a code"),
    (1, '"index": [0, 1, 2]', '"index": [0, 2, 1]', "line 2 has row numbers that do not go up"),
    (1, "[1.0, 1.0]", "[1.0, NaN]", "line 2 has no X"),
    (2, '"w": [[1.0, 1.0]]', '"w": [[1.0, 1.0, 2.0]]', "line 3 has 3 weights, where others have 2"),
    (2, '"w": [[1.0, 1.0]]', '"w": "x"', "line 3 has no w"),
    (2, '"row": 0', '"row": -4', "line 3 has row -4"),
    (3, '"n": 2', '"n": 1', "line 4 has correction 1 after 1"),
    (4, '"loss": 1.66', '"loss": "a", "x": 1.66', "line 5 has loss 'a'"),
    (4, '"kind": "pass"', '"kind": "fail"', "line 5 is of kind 'fail'"),
    (4, "{", "[{", "line 5 is not JSON"),
    (-1, '"separated"', '"won"', "has status 'won'"),
])  # fmt: skip
def test_a_bad_trace_file_is_refused_by_line_with_exit_code_three(line, old, new, said, tmp_path):
    lines = lines_of_a_trace()
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new, 1)
    (tmp_path / "bad").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(said)):
        Trace.load(tmp_path / "bad")


@settings(max_examples=300)
@given(
    st.sampled_from([(k, name) for k, line in enumerate(TRACE) for name in json.loads(line)]),
    st.sampled_from([None, [], {}, "x", -1, 10**30, 1e308, [[]], [["a"]], [1], [[1.0]], True,
                     [[1e308, 1e308]], [1e308], 3, {"rule": []}]),
)  # fmt: skip
def test_a_trace_with_any_value_replaced_is_refused_or_shown_but_never_breaks(place, value):
    line, name = place
    lines = list(TRACE)
    event = json.loads(lines[line])
    lines[line] = json.dumps(event | {name: value})
    trace = Trace("", {}, [])
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):
        try:
            read_into(trace, lines, "changed")
            film_page(story_of(open_run(trace, None, None)))
        except DataError as problem:
            assert str(problem)


def test_a_trace_that_is_cut_off_missing_or_foreign_is_refused(tmp_path):
    bad = tmp_path / "bad"
    with pytest.raises(DataError, match="cannot be read"):
        Trace.load(bad)
    bad.write_text("\n".join(lines_of_a_trace()[:-1]) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="stops after 23 lines without the end"):
        Trace.load(bad)
    bad.write_bytes(b"\x89PNG\xff\n\x00")
    with pytest.raises(DataError, match="is not UTF-8 text"):
        Trace.load(bad)
    bad.write_text("")
    with pytest.raises(DataError, match="stops after 0 lines"):
        Trace.load(bad)
    from commands import process

    code, out, said = process("film", bad, tmp_path / "out.html")
    assert (code, out) == (3, b"")
    assert "Traceback" not in said
    assert process("film", bad, tmp_path / "out.avi")[0] == 3
