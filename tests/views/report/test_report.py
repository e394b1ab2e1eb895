"""Reports hold the model's own numbers, and nothing from elsewhere."""

import re
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.dummy import DummyClassifier
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    log_loss,
    precision_recall_fscore_support,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import linsep
from linsep import (
    KernelPerceptron,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    Scaled,
    report,
)
from linsep.data.toys import height_weight, overlapping, three_classes, two_groups, xor
from linsep.errors import DataError, LinsepError, ParameterError
from linsep.views.cli import group
from linsep.views.report.curves import calibration, leads_of, precision_recall, roc
from linsep.views.report.findings import find
from linsep.views.report.parts import held_out_rows, parts_of
from linsep.views.report.pictures import _against, edges_of
from linsep.views.report.thresholds import thresholds


@pytest.fixture
def page(tmp_path):
    def write(model, X, y, **more):
        return report(model, X, y, tmp_path / "r.html", **more).read_text("utf-8")

    return write


def test_the_numbers_are_those_of_the_model(page):
    X, y = overlapping(n=300)
    model = LogisticRegression(C=2.0).fit(X, y)
    text = page(model, X, y, holdout=0)
    wrong = 1 - model.score(X, y)
    assert f"Training rows: {wrong:.2%} of 300 rows wrong" in text
    assert "new rows will do worse" in text
    said = model.predict(X)
    assert counts_of(text) == [
        int(((y == t) & (said == p)).sum()) for t in (-1, 1) for p in (-1, 1)
    ]
    standard = model.coef_[0] * X.std(axis=0)
    order = np.argsort(-np.abs(standard))
    numbers = r'</th><td class="number">([^<]+)' + 3 * r'</td><td class="number">([^<]+)'
    shown = re.findall(rf'<th scope="row">(x\d){numbers}</td><td class="bar">', text)
    assert [name for name, *_ in shown] == [f"x{k}" for k in order]
    for (_, *values), k in zip(shown, order, strict=True):
        w = model.coef_[0][k]
        wanted = [w, standard[k], np.exp(w), np.exp(standard[k])]
        assert [float(one) for one in values] == pytest.approx(wanted, rel=1e-3)
    assert "C=2.0" in text
    assert linsep.separability(X, y).verdict in text
    assert f"{model.gap_:.1e}" in text
    assert text.count("<figure>") == 5  # plane, leads, ROC, precision and recall, calibration


def counts_of(text):
    found = re.findall(r'<td class="(?:right|wrong|none)"[^>]*>([\d,]+)</td>', text)
    return [int(one) for one in found]


def test_rows_that_the_fit_has_not_seen_come_first(page):
    X, y = overlapping(n=300)
    model = LogisticRegression().fit(X, y)
    text = page(model, X, y)
    test = held_out_rows(y, 0.2, True)
    assert len(test) == 60
    rest = np.setdiff1d(np.arange(300), test)
    other = LogisticRegression().fit(X[rest], y[rest])
    assert f"Held-out rows: {1 - other.score(X[test], y[test]):.2%} of 60 rows wrong" in text
    assert f"Training rows: {1 - model.score(X, y):.2%} of 300 rows wrong" in text
    assert sum(counts_of(text)) == 60
    chances = other.predict_proba(X[test])
    for figure in (log_loss(y[test], chances), brier_score_loss(y[test], chances[:, 1])):
        assert f"{figure:.4f} (" in text
    given = page(model, X, y, test=(X[:50], y[:50]))
    assert f"Test rows: {1 - model.score(X[:50], y[:50]):.2%} of 50 rows wrong" in given
    assert sum(counts_of(given)) == 50
    others = page(model, X[:50], y[:50])
    assert "These rows: " in others and "Training rows" not in others
    with pytest.raises(ParameterError, match="holdout is 2"):
        page(model, X, y, holdout=2)


def test_thresholds_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    codes, scores = rng.integers(0, 2, 200), rng.random(200)
    for one in thresholds(scores, codes == 1, [0.2, 0.5, 0.9]):
        said = scores >= one.at
        found = precision_recall_fscore_support(codes, said, average="binary")[:3]
        assert (one.precision, one.recall, one.f1) == pytest.approx(found)
        assert one.specificity == pytest.approx((~said & (codes == 0)).sum() / (codes == 0).sum())


def test_the_largest_errors_are_named_with_what_led_to_them():
    X, y = overlapping(n=200)
    model = LogisticRegression().fit(X, y)
    found = find(model, X, y, holdout=0)
    wrong = np.flatnonzero(model.predict(X) != y)
    worst = wrong[np.argsort(-model.predict_proba(X)[wrong].max(axis=1), kind="stable")][:10]
    assert [one.row for one in found.mistakes] == worst.tolist()
    for one in found.mistakes:
        (name, value), k = one.values[0], one.row
        j = int(name[1:])
        assert value == X[k, j]
        pull = np.sign(model.decision_function(X[[k]])[0]) * model.coef_[0] * (X[k] - X.mean(0))
        assert j == pull.argmax()


def test_of_many_features_those_of_the_largest_weights_are_described(page):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60))
    X[:, :20] = 1.0  # no weight: the columns before those that have one
    y = np.repeat([-1, 1], 40)
    X[y == 1, 30:] += np.linspace(0.5, 3, 30)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    text = page(model, X, y, holdout=0)
    table = text.split("features, those of the largest weights:")[1].split("</table>")[0]
    named = re.findall(r">x(\d+)<", table)
    weight = np.abs(model.coef_[0] * X.std(axis=0))
    assert [int(one) for one in named] == np.argsort(-weight, kind="stable")[: len(named)].tolist()
    assert f"{len(named)} of 60 features" in text
    assert weight[[int(one) for one in named]].min() > 0


def test_a_model_without_intercept_is_told_about_planes_through_the_origin(page):
    X, y = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 2.0]]), [0, 1, 1]
    text = page(linsep.LogisticRegression(fit_intercept=False).fit(X, y), X, y)
    assert "rule every plane through the origin out" in text
    assert "through the origin" not in page(linsep.LogisticRegression().fit(X, y), X, y)


def test_areas_are_scikit_learns_with_ties_too():
    rng = np.random.default_rng(0)
    for _ in range(20):
        codes = rng.integers(0, 2, 60)
        codes[:2] = 0, 1
        scores = rng.integers(0, 9, 60) / 3
        false, true, area = roc(scores, codes)
        assert area == pytest.approx(roc_auc_score(codes, scores), abs=1e-12)
        assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
        recall, precision, mean = precision_recall(scores, codes == 1)
        assert mean == pytest.approx(average_precision_score(codes, scores), abs=1e-12)
        assert (recall[-1], precision[-1]) == pytest.approx((1, codes.mean()))


def test_calibration_compares_what_was_said_with_what_came():
    chances = np.repeat([0.1, 0.9], 50)
    came = np.r_[np.arange(50) < 5, np.arange(50) < 45]
    tenths = calibration(chances, came)
    assert [one.rows for one in tenths] == [10] * 10
    assert (tenths[0].said, tenths[-1].said) == pytest.approx((0.1, 0.9))
    assert np.mean([one.came for one in tenths]) == pytest.approx(0.5)
    assert all(one.interval.low <= one.came <= one.interval.high for one in tenths)


def test_leads_are_negative_exactly_for_rows_that_are_wrong():
    X, y = three_classes(60, spread=2.0)
    with np.errstate(all="ignore"):
        model = LinearSVC().fit(X, y)
    leads = leads_of(model.decision_function(X), y)
    assert ((leads < 0) == (model.predict(X) != y)).all()


def test_every_kind_of_model_has_its_page(page, recwarn):
    X, y = three_classes(60, spread=2.0)
    assert page(LinearSVC().fit(X, y), X, y).count('<table class="weights">') == 3
    A, t = two_groups()
    assert page(Perceptron().fit(A, t), A, t).count("<figure>") == 4  # it has no probabilities
    assert '<table class="weights">' not in page(KernelPerceptron("rbf").fit(A, t), A, t)
    assert "<figure>" in page(Scaled(LogisticRegression()).fit(A, t), A, t)
    H, w = height_weight()
    assert "root mean square" in page(LinearRegression().fit(H, w), H, w)
    B, s = xor()
    assert "Not separable" in page(Perceptron(max_iter=3).fit(B, s), B, s)


def test_a_model_of_named_columns_is_reported_without_a_warning(page, recwarn):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [0.0, 1.0, 2.0, 3.0], "age": [1.0, 0.0, 1.0, 2.0]})
    y = ["no", "no", "yes", "yes"]
    text = page(linsep.LogisticRegression().fit(X, y), X, y)
    assert "size" in text
    assert [str(one.message) for one in recwarn] == []


def test_a_loaded_model_has_a_page_too(page, tmp_path):
    X, y = two_groups()
    linsep.save(LogisticRegression().fit(X, y), tmp_path / "m")
    assert "0.00% of 8 rows wrong" in page(linsep.load(tmp_path / "m"), X, y)


def rows_of(text):
    tables = "".join(re.findall(r'<table class="weights">.*?</table>', text, re.DOTALL))
    return re.findall(r'<th scope="row">([^<]+)</th><td class="number">', tables)


def test_weights_of_a_model_from_a_file_are_named_by_its_columns(page, people, model, tmp_path):
    X, y = linsep.read(people, "income").load()
    names = {"age", "hours", "city=Rome", "city=Oslo", "city=Lima, Peru"}
    assert set(rows_of(page(linsep.load(model), X, y))) == names
    assert (
        set(rows_of(page(LogisticRegression().fit(linsep.read(people, "income")), X, y))) == names
    )
    for scale in ([], ["--scale", "mean"]):
        out = tmp_path / "fit.html"
        asked = ["fit", str(people), "--target", "income", "--report", str(out), "-q", *scale]
        done = CliRunner().invoke(group, asked)
        assert done.exit_code == 0, done.output
        assert set(rows_of(out.read_text("utf-8"))) == names


def test_a_pipeline_is_reported_by_its_last_step_on_prepared_rows(page):
    pandas = pytest.importorskip("pandas")
    X, y = overlapping(n=60)
    last = LogisticRegression()
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False), last)
    table = pandas.DataFrame(X, columns=["size", "age"])
    text = page(pipeline.fit(table, y), table, y)
    assert f"{1 - pipeline.score(table, y):.2%} of 60 rows wrong" in text
    assert "StandardScaler(), PolynomialFeatures(include_bias=False)" in text
    assert set(rows_of(text)) == {"size", "age", "size^2", "size age", "age^2"}
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert set(rows_of(page(plain, X, y))) == {"x0", "x1"}
    search = GridSearchCV(plain, {"logisticregression__C": [1e-3, 1.0]}).fit(X, y)
    assert f"C={search.best_params_['logisticregression__C']}" in page(search, X, y)
    assert "rows wrong" in page(make_pipeline(LogisticRegression()).fit(X, y), X, y)


def test_scores_that_are_all_but_the_same_have_a_histogram():
    for leads in ([], [2.0], [1.0, 1.0 + 1e-16, 1.0 - 1e-16], [0.0, 0.0], [1e300, 1e300]):
        edges = edges_of(np.array(leads))
        assert (np.diff(edges) > 0).all()
        assert np.histogram(leads, edges)[0].sum() == len(leads)


def test_the_page_is_whole_harmless_and_the_same_each_time(page):
    X, y = two_groups()
    labels = np.where(y > 0, "<script>alert(1)</script>", "$\\frac$ & co")
    text = page(LogisticRegression().fit(X, labels), X, labels)
    assert "<script" not in text
    assert "default-src 'none'" in text
    outside = set(re.findall(r'https?://[^\s"<]+', text))
    assert outside <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names only
    names = re.findall(r'\bid="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert page(LogisticRegression().fit(X, labels), X, labels) == text


def test_what_cannot_be_reported_is_said(tmp_path):
    X, y = two_groups()
    with pytest.raises(ParameterError, match=r"ends in \.html"):
        report(LinearSVC().fit(X, y), X, y, tmp_path / "r.pdf")
    with pytest.raises(DataError, match="not fitted"):
        report(LinearSVC(), X, y, tmp_path / "r.html")
    with pytest.raises(DataError, match="not fitted"):
        report(make_pipeline(StandardScaler(), LinearSVC()), X, y, tmp_path / "r.html")
    with pytest.raises(ParameterError, match="model is a DummyClassifier; a report takes"):
        report(DummyClassifier().fit(X, y), X, y, tmp_path / "r.html")
    with pytest.raises(DataError, match="fitted on 2"):
        report(LinearSVC().fit(X, y), np.ones((8, 3)), y, tmp_path / "r.html")


def test_a_fit_of_the_command_line_writes_its_report(tmp_path):
    out = tmp_path / "r.html"
    done = CliRunner().invoke(group, ["fit", "cancer", "--report", str(out), "-q"])
    assert done.exit_code == 0, done.output
    text = out.read_text("utf-8")
    error = re.search(r"Training rows: ([\d.]+%) of 569", done.output).group(1)
    assert f"{error} of 569 rows wrong" in text


def test_a_report_that_cannot_be_drawn_is_refused_before_the_fit(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out, page = tmp_path / "m.linsep", tmp_path / "r.html"
    told = ["fit", "cancer", "--out", str(out), "--report", str(page)]
    done = CliRunner().invoke(group, told)
    assert isinstance(done.exception, LinsepError) and "linsep[plot]" in str(done.exception)
    assert not out.exists() and not page.exists()


def test_the_areas_of_several_classes_in_the_pictures_are_those_of_the_table():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % 3
    X[:, :3] += np.eye(3)[y]
    model = LogisticRegression().fit(X, y)
    (part,) = parts_of(model, X, y, None, 0.0, None)
    curves = list(_against(model, part))
    areas = [roc(scores, mine.astype(int))[2] for _, _, scores, mine in curves]
    means = [precision_recall(scores, mine)[2] for _, _, scores, mine in curves]
    figures = part.tally.figures()
    assert np.mean(areas) == pytest.approx(figures["roc_auc"], abs=1e-12)
    assert np.mean(means) == pytest.approx(figures["average_precision"], abs=1e-12)
    by_scores = [roc(part.scores[:, k], (y == k).astype(int))[2] for k in range(3)]
    assert np.mean(by_scores) != pytest.approx(figures["roc_auc"], abs=1e-6)
