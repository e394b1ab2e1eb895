"""What `linsep warm` compiles is read off the table of solvers."""

import pytest

from linsep.train.convex import choose
from linsep.views.cli import warm

LOSSES = {"LinearSVC": "hinge", "LogisticRegression": "logistic"}


def met(name):
    """The lines of the table that the fits of `linsep warm` meet."""
    lines = set()
    for sparse in (False, True):
        for _, (n, d, entries), classes in warm._fits((name,), sparse):
            several = 2 if name == "LinearSVC" else classes
            rows = warm._outline(n, d, entries, sparse)
            lines.add(choose.line_for(choose.shape_of(rows, LOSSES[name], several)))
    return lines


@pytest.mark.parametrize("name", LOSSES)
def test_every_line_of_the_table_is_met_by_a_fit(name):
    of_loss = [line for line in choose.TABLE if line.when.startswith(LOSSES[name])]
    assert len(of_loss) >= 3 and met(name) >= set(of_loss)


def test_a_line_that_is_added_to_the_table_is_met_too(monkeypatch):
    new = choose.Line("new", lambda s: not s.sparse and s.n > 5_000 and s.d < 30, "", "")
    monkeypatch.setattr(choose, "TABLE", (new, *choose.TABLE))
    assert new in met("LinearSVC") and new in met("LogisticRegression")


def test_rows_are_no_larger_than_a_solver_asks_for():
    sizes = warm.sizes_met("LinearSVC", False, 2)
    assert warm.FEW in sizes and max(n * d for n, d, _ in sizes) <= 4_000_000
