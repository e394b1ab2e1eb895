"""The grid of benchmarks: cells run, verdicts are fair, losses are shown."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.grid import made, peers, run
from benchmarks.grid.judge import judge, read, summary, write
from benchmarks.grid.learners import LEARNERS
from benchmarks.grid.picture import draw
from benchmarks.grid.sets import SETS, in_order, two_classes


def fact(system, seconds, value, **more):
    ours = {"tol": 1e-4, "order": 0, "status": "converged", "gap": 1e-5, "solver": "newton"}
    return {"system": system, "seconds": seconds, "value": value} | (
        ours | more if system == "linsep" else more
    )


def test_a_cell_runs_in_a_process_of_its_own_and_is_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LINSEP_GRID_SETS", str(tmp_path))
    given = f"--sets iris --learners logistic,softmax --orders 2 --alone --out {tmp_path}"
    verdicts = run.main(given.split())
    assert [v.learner for v in verdicts] == ["logistic", "softmax"]
    assert all(v.status == "converged" and not v.failure and v.spread >= 1 for v in verdicts)
    kept = json.loads((tmp_path / "grid.json").read_text())
    assert [cell["name"] for cell in kept["cells"]] == ["iris", "iris"]
    assert kept["cells"][0]["commit"] == run.commit()
    assert (tmp_path / "grid.png").stat().st_size > 1000
    assert "GRID 0 cells with a ratio" in capsys.readouterr().out


def test_a_run_goes_on_where_an_earlier_one_ended(tmp_path, capsys, monkeypatch):
    cell = judge("wine", "logistic", [fact("linsep", 0.2, 100.0)])._replace(commit=run.commit())
    begun = []

    def run_cell(name, learner, *how):
        begun.append(learner)
        return cell._replace(name=name, learner=learner)

    monkeypatch.setattr(run, "run_cell", run_cell)
    given = f"--sets wine --learners logistic,softmax --missing --out {tmp_path}".split()
    run.main([*given, "--minutes", "0"])
    assert begun == []
    assert (
        "not begun, some of them unsuited: wine logistic, wine softmax" in capsys.readouterr().out
    )
    run.keep([cell], tmp_path)
    run.main(given)
    assert begun == ["softmax"]
    assert [v.learner for v in read(tmp_path / "grid.json")] == ["logistic", "softmax"]
    run.keep([cell._replace(commit="older")], tmp_path)
    run.main(given)
    assert begun == ["softmax", "logistic"]


def test_only_answers_near_the_best_objective_count():
    told = [
        fact("linsep", 1.0, 100.001, first=True),
        fact("linsep", 0.2, 100.001),
        fact("loose", 0.01, 101.0),
        fact("tight", 0.3, 100.0),
        fact("tight", 0.25, 100.0),
    ]
    verdict = judge("iris", "logistic", told)
    assert verdict.peers == {"tight": 0.25}
    assert verdict.ratio == pytest.approx(1.25)
    assert verdict.failure == ""


def test_linsep_fails_where_it_is_far_from_the_best():
    verdict = judge("iris", "logistic", [fact("linsep", 0.2, 101.0), fact("peer", 0.3, 100.0)])
    assert "above the best objective" in verdict.failure


@pytest.mark.parametrize("status", ["gap_left", "unproved"])
def test_an_ending_without_a_proof_fails(status):
    verdict = judge("iris", "logistic", [fact("linsep", 0.2, 100.0, status=status)])
    assert status in verdict.failure


def test_a_cell_that_is_ended_early_says_during_what():
    verdict = judge("iris", "hinge", [{"began": "linsep"}], "out of time after 5 s")
    assert verdict.failure == "no answer (out of time after 5 s during linsep)"
    assert math.isnan(verdict.seconds)


def test_the_summary_counts_losses_and_failures():
    verdicts = [
        judge("iris", "logistic", [fact("linsep", 1.0, 1.0), fact("peer", 4.0, 1.0)]),
        judge("iris", "hinge", [fact("linsep", 1.0, 1.0), fact("peer", 0.25, 1.0)]),
        judge("iris", "l1", []),
        judge("iris", "softmax", [fact("linsep", 0.01, 9.0), fact("peer", 4.0, 1.0)]),
    ]
    line = summary(verdicts)
    assert (line.cells, line.won, line.worst, line.where) == (2, 1, 0.25, "iris hinge")
    assert line.mean == pytest.approx(1.0)
    assert len(line.failed) == 2


def test_what_did_not_end_or_was_not_tried_is_named():
    told = [fact("linsep", 1.0, 1.0), {"system": "slow", "error": "no time left to try it"}]
    verdict = judge("iris", "hinge", [*told, {"began": "slower"}], "out of time after 5 s")
    assert verdict.errors == {
        "slow": "no time left to try it", "slower": "out of time after 5 s"
    }  # fmt: skip
    assert verdict.failure == ""


def test_a_perceptron_that_made_all_its_passes_has_not_failed():
    told = [fact("linsep", 1.0, 0.2, status="budget"), fact("peer", 2.0, 0.1)]
    verdict = judge("iris", "perceptron", told)
    assert (verdict.failure, verdict.ratio) == ("", 2.0)


def test_verdicts_are_read_as_they_were_written_and_drawn(tmp_path):
    verdicts = [
        judge("iris", "logistic", [fact("linsep", 1.0, 1.0), fact("peer", 40.0, 1.0)]),
        judge("iris", "softmax", [fact("linsep", 1.0, 1.0), fact("peer", 0.05, 1.0)]),
        judge("wine", "logistic", [fact("linsep", 0.125, 1.0)]),
        judge("wine", "softmax", []),
    ]
    write(verdicts, tmp_path / "grid.json")
    again = read(tmp_path / "grid.json")
    assert str(again) == str(verdicts)  # NaN is unlike itself
    draw(again, tmp_path)
    for name in ("grid.png", "grid-strip.png"):
        assert 1000 < (tmp_path / name).stat().st_size < 150_000


def test_a_peer_is_warmed_up_on_few_rows_of_the_same_layout():
    seen = []
    for X in (np.ones((9, 5), np.float32), sp.csr_matrix(np.eye(9))):
        peers.warm(lambda rows, y: seen.append((rows, y)), X, 4)
        rows, y = seen[-1]
        assert sp.issparse(rows) == sp.issparse(X) and rows.dtype == X.dtype
        assert len(set(y)) == 3 and len(y) == rows.shape[0]


def test_the_spread_is_over_row_orders():
    told = [
        fact("linsep", 9.0, 1.0),
        fact("linsep", 1.0, 1.0, compared=True),
        fact("linsep", 1.5, 1.0, order=1, compared=True),
    ]
    verdict = judge("iris", "hinge", told)
    assert verdict.spread == pytest.approx(1.5)
    assert verdict.seconds == 9.0  # runs beside the peers' count, not those that compare orders


@pytest.mark.parametrize("name", ["softmax", "crammer-singer", "logistic", "regression"])
def test_objectives_are_those_written_out(name):
    rng = np.random.default_rng(0)
    X, W, b = rng.normal(size=(7, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    y, signs = rng.integers(0, 3, 7), np.where(rng.random(7) < 0.5, 1, -1)
    S, half = X @ W.T + b, 0.5 * (W**2).sum()
    wanted = {
        "softmax": half + sum(np.log(np.exp(s).sum()) - s[k] for s, k in zip(S, y, strict=True)),
        "crammer-singer": half
        + sum(max(s[j] - s[k] + (j != k) for j in range(3)) for s, k in zip(S, y, strict=True)),
        "logistic": 0.5 * (W[0] ** 2).sum() + np.log1p(np.exp(-signs * S[:, 0])).sum(),
        "regression": ((S[:, 0] - signs) ** 2).sum(),
    }
    several = LEARNERS[name].several
    answer = (W, b) if several else (W[0], b[:1])
    for rows in (X, sp.csr_matrix(X)):
        value = LEARNERS[name].value(answer, rows, y if several else signs)
        assert value == pytest.approx(wanted[name])


def test_names_are_chosen_by_list_or_beginning():
    assert run.chosen("embedding-384*,iris", list(SETS))[-1] == "iris"
    assert len(run.chosen("embedding-384*", list(SETS))) == 3
    with pytest.raises(SystemExit, match="none of"):
        run.chosen("irisses", list(SETS))


def test_there_are_enough_sets_and_labels_for_two_classes():
    assert len(SETS) >= 25
    assert set(two_classes(np.array([0, 1, 2]), 1)) == {-1, 1}
    assert two_classes(np.array([0, 1, 2]), None) is None
    X, y = in_order(np.arange(5)[:, None], np.arange(5), 3)
    assert (X[:, 0] == y).all() and (y != np.arange(5)).any()


def test_made_rows_have_the_shapes_they_are_named_for():
    X, y = made.embeddings(200, 16, 10, 0)
    assert X.dtype == np.float32 and len(np.unique(y)) > 5
    assert np.allclose(np.linalg.norm(X, axis=1), 4.0, atol=1e-4)
    X, y = made.clicks(500, 6, 64, 0)
    assert X.shape == (500, 64) and set(y) == {-1, 1}
    X, y = made.one_hot(100, 4, 5, 0)
    assert (X.sum(axis=1) == 4).all()
    X, y = made.text(300, 50, 6, 4, 0)
    assert np.allclose(sp.linalg.norm(X, axis=1), 1.0)


@pytest.mark.parametrize(
    ("said", "first", "then"), [({"began": "linsep"}, 2, 600), ({"system": "linsep"}, 600, 2)]
)
def test_a_cell_out_of_time_ends_with_the_workers_it_started(said, first, then):
    """Workers inherit the pipes: as long as one lives, reading does not end. Until the first answer
    a cell has a time of its own."""
    script = (
        "import subprocess, sys, time\n"
        "worker = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"print({json.dumps(said)!r}, flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    told, ending = run._listen(process, first, then)
    assert told == [said]
    assert ending == "out of time after 2 s"
