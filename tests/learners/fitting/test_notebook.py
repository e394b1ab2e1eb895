"""What a notebook shows: how a fit ended, what is proved, and the run itself."""

import html
import re

import numpy as np
import pytest

from linsep import LinearSVC, LogisticRegression, Perceptron, Scaled
from linsep.data.toys import three_points, two_groups, xor
from linsep.errors import NotConverged
from linsep.learners.fitting.notebook import ending_html


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC(), Scaled(LinearSVC())])
def test_a_fitted_learner_shows_status_and_proof(learner):
    assert "linsep-ending" not in learner._repr_html_()
    shown = learner.fit(*two_groups())._repr_html_()
    inner = getattr(learner, "learner_", learner)
    assert html.escape(inner.status_.value) in shown
    assert f"{inner.gap_:.1e}" in shown
    assert learner._repr_mimebundle_()["text/html"].count("linsep-ending") == 1


def test_a_bad_ending_shows_in_another_colour_and_what_is_said_is_text():
    with pytest.warns(NotConverged):
        learner = Perceptron(max_iter=3).fit(*xor())
    shown = ending_html(learner)
    assert html.escape(learner.status_.value) in shown and "#a34700" in shown
    X, y = two_groups()
    wild = LogisticRegression(C=np.inf)
    with pytest.warns(NotConverged):
        wild.fit(X, np.where(y > 0, "<b>", "<i>"))
    assert not re.search("<[bi]>", ending_html(wild))


def test_a_trace_plays_where_it_is_shown():
    shown = Perceptron(shuffle=False, trace=True).fit(*three_points()).trace_._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown  # all of the page is inside the attribute
    page = html.unescape(re.search('srcdoc="([^"]*)"', shown)[1])
    assert "Content-Security-Policy" in page
    still = LogisticRegression(trace=True).fit(*two_groups()).trace_
    assert "holds no corrections" in still._repr_html_()
