"""Progress on a stream that is no terminal: few lines, with what can be said."""

from linsep.train.run.loop import UNCOUNTED, Pass
from linsep.train.run.progress import Progress


def lines(capsys, passes, **options):
    with Progress(100, "Learner", **options) as bar:
        for done in passes:
            bar(done)
    return capsys.readouterr().err.splitlines()


def test_passes_one_two_four_and_so_on_are_shown(capsys):
    shown = lines(capsys, [Pass(epoch, 3, 3, 0.5) for epoch in range(1, 10)])
    assert [line.split(":")[1] for line in shown] == [" pass 1", " pass 2", " pass 4", " pass 8"]
    assert shown[0] == "Learner: pass 1: 3 mistakes, loss 0.5"


def test_the_next_pass_told_of_stands_for_those_left_out(capsys):
    shown = lines(capsys, [Pass(epoch, 1, 1, 0.0) for epoch in (1, 11, 21, 31, 41)])
    assert [line.split(":")[1] for line in shown] == [" pass 1", " pass 11", " pass 21", " pass 41"]


def test_mistakes_that_nobody_counts_are_not_shown_and_speed_is_where_rows_are_known(capsys):
    (line,) = lines(capsys, [Pass(1, UNCOUNTED, 1, 2.0)], rows=10)
    assert line.startswith("Learner: pass 1: loss 2, ")
    assert line.endswith(" rows/s")
