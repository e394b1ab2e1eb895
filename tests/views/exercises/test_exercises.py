"""Every exercise knows right answers from wrong ones, and says what fails."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.errors import ParameterError
from linsep.views.cli.exercise import command
from linsep.views.exercises import exercises


def gradient(w, x, y):
    return -y * x / (1 + np.exp(y * (w @ x)))


RIGHT = {
    "1.1": [(1, 1, 1, -2), (2, 2, 2, -3)],
    "1.2": [lambda u, v: u * v, lambda u, v: (u - v) ** 2],
    "1.3": [(2, 1, -5.5), (0.8, 0.4, -2.2)],
    "2.1": [([(1, 1, 0, 0), (0, 0, 1, 1)], [(1, 0, 1, 0), (0, 1, 0, 1)])],
    "2.2": [(2, 1, 0)],
    "2.3": [(-2, -0.5, 3.5)],
    "3.1": [(1.4, 0.9)],
    "3.2": [0.6],
    "3.3": [gradient],
    "4.1": [(-0.14, 0.22, -0.02)],
    "4.2": [([[1, 1], [1, 1]], [-1, -2], [1, -1], -1)],
    "4.3": [([[0], [1], [2], [30]], [-1, -1, 1, 1])],
    "5.1": [(1, 1, -1.5)],
    "5.2": [(2, -1), (-4, 2)],
    "5.3": [[(1, 0), (-1, 1), (0, -1)]],
}
WRONG = {
    "1.1": ((1, 1, 1, -3), r"\(0, 1, 1\)"),
    "1.2": (lambda u, v: u + v, "no plane separates"),
    "1.3": ((1, 1, -4), "keeps more than"),
    "2.1": (([(1, 1, 0, 0)], [(1, 0, 1, 0)]), "must cancel"),
    "2.2": ((0, 1, 2), "another order makes fewer"),
    "2.3": ((-2.5, 0, 3), "better plane"),
    "3.1": ((1, 1), "residuals add up"),
    "3.2": (0.3, "still shrink"),
    "3.3": (lambda w, x, y: -gradient(w, x, y), "it is"),
    "4.1": ((0.1, 0.1, 0.1), "second"),
    "4.2": (([[1, 1], [1, 1]], [-1, -2], [1, 1], -1), r"\(1, 1\)"),
    "4.3": (([[0], [1], [2], [3]], [-1, -1, 1, 1]), "on their sides"),
    "5.1": ((2, 2, -3.0), "zero as it must"),
    "5.2": ((1, 0), "reaches more"),
    "5.3": ([(1, 0), (0, 1), (0, 1)], "class 2"),
}
ALSO_WRONG = {
    "1.3": ((1, 0, 0), r"\(1, 1\) is not on its side"),
    "2.1": (([(1, 0, 0, 0)], [(1, 0, 1, 0)]), "is 0, not 1"),
    "2.3": ((0, 0, 1), "not on its side"),
    "3.2": (0.7, "grow"),
    "4.3": (([[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1]), "no plane separates"),
    "5.1": ((1, 1, 0), "half way"),
    "5.2": ((0, 0), "no direction"),
}


PAGES = Path(__file__).parents[3] / "docs" / "lectures"


@pytest.mark.parametrize("lecture", range(1, 6))
def test_the_page_of_the_lecture_asks_the_questions(lecture):
    (page,) = PAGES.glob(f"{lecture}-*.md")
    text = page.read_text("utf-8")
    for number, one in exercises().items():
        if number.startswith(f"{lecture}."):
            asked = f"**{number} {one.title}.** {one.question} *Answer:* {one.form}."
            assert asked in text


def test_each_lecture_has_three():
    assert list(exercises()) == [f"{lecture}.{k}" for lecture in range(1, 6) for k in (1, 2, 3)]
    assert RIGHT.keys() == WRONG.keys() == exercises().keys()


@pytest.mark.parametrize("number", RIGHT)
def test_right_answers_are_recognised(number):
    for answer in RIGHT[number]:
        verdict = linsep.exercise(number, answer)
        assert verdict, verdict
        assert str(verdict).startswith("Right: ")


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [(n, *one) for table in (WRONG, ALSO_WRONG) for n, one in table.items()],
)
def test_wrong_answers_are_told_what_fails(number, answer, said):
    verdict = linsep.exercise(number, answer)
    assert not verdict
    assert re.search(said, str(verdict)), verdict


@pytest.mark.parametrize("number", sorted(set(RIGHT) - {"1.2", "3.3"}))
def test_answers_of_another_form_are_refused_in_words(number):
    with pytest.raises(ParameterError, match="must be"):
        linsep.exercise(number, "nonsense")


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ParameterError, match=r"'6\.1'; the exercises are 1\.1, "):
        linsep.exercise("6.1")


def test_the_command_lists_prints_and_checks(tmp_path):
    run = CliRunner().invoke
    assert "2.2  Orders matter" in run(command).output
    assert "constant step" in run(command, ["3.2"]).output
    answer = tmp_path / "answer.py"
    answer.write_text("answer = 3 / 5\n")
    done = run(command, ["3.2", str(answer)])
    assert done.exit_code == 0 and done.output.startswith("Right: ")
    answer.write_text("answer = 0.5\n")
    done = run(command, ["3.2", str(answer)])
    assert done.exit_code == 1 and done.output.startswith("Not yet: ")
    answer.write_text("x = 1\n")
    done = run(command, ["3.2", str(answer)])
    assert isinstance(done.exception, ParameterError) and "answer" in str(done.exception)
