"""Reports hold the model's own numbers, and nothing from elsewhere."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score
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
from linsep.errors import DataError, ParameterError
from linsep.views.cli import group
from linsep.views.report.pictures import calibration, edges_of, leads_of, roc


@pytest.fixture
def page(tmp_path):
    def write(model, X, y):
        return report(model, X, y, tmp_path / "r.html").read_text("utf-8")

    return write


def test_the_numbers_are_those_of_the_model(page):
    X, y = overlapping(n=300)
    model = LogisticRegression(C=2.0).fit(X, y)
    text = page(model, X, y)
    wrong = 1 - model.score(X, y)
    assert f"{wrong:.2%} of 300 rows wrong" in text
    counts = re.findall(r'<td class="(?:right|wrong|none)"[^>]*>([\d,]+)</td>', text)
    said = model.predict(X)
    assert [int(c) for c in counts] == [
        int(((y == t) & (said == p)).sum()) for t in (-1, 1) for p in (-1, 1)
    ]
    order = np.argsort(-np.abs(model.coef_[0]))
    shown = re.findall(r'<th scope="row">(x\d)</th><td class="number">([^<]+)', text)
    assert [name for name, _ in shown] == [f"x{k}" for k in order]
    assert [float(w) for _, w in shown] == pytest.approx(model.coef_[0][order].tolist(), rel=1e-5)
    assert "C=2.0" in text
    assert linsep.separability(X, y).verdict in text
    assert f"{model.gap_:.1e}" in text
    assert text.count("<figure>") == 4  # plane, leads, ROC, calibration


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


def test_calibration_compares_what_was_said_with_what_came():
    chances = np.repeat([0.1, 0.9], 50)
    came = np.r_[np.arange(50) < 5, np.arange(50) < 45]
    said, share, rows = calibration(chances, came)
    assert rows == 10
    assert said[0] == pytest.approx(0.1)
    assert said[-1] == pytest.approx(0.9)
    assert share.mean() == pytest.approx(0.5)


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
    assert page(Perceptron().fit(A, t), A, t).count("<figure>") == 3  # it has no probabilities
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
    return re.findall(r'<th scope="row">([^<]+)</th><td class="number">', text)


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
