"""How a fit ends, and who is told."""

import os
import pty
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model

import linsep
from linsep import LogisticRegression, PassiveAggressive, Perceptron, Status, VotedPerceptron
from linsep.data.toys import overlapping, separated, three_classes, xor
from linsep.errors import NotConverged
from linsep.learners.fitting.certificates import accept
from linsep.proofs.gap.certificate import Certificate


@pytest.mark.parametrize("seed", range(10))
def test_the_defaults_find_a_separator_where_there_is_one(seed):
    X, y, _ = separated(n=400, d=20, margin=0.02, seed=seed)
    learner = Perceptron().fit(X, y)
    assert learner.status_ is Status.separated
    assert learner.score(X, y) == 1.0
    assert (y * learner.decision_function(X) > 0).all()


def test_the_usual_perceptron_stops_short_of_it_without_a_word():
    """What this library's defaults are measured against: nothing is said, and rows stay wrong."""
    for seed in range(10):
        X, y, _ = separated(n=400, d=20, margin=0.02, seed=seed)
        assert sklearn.linear_model.Perceptron().fit(X, y).score(X, y) < 1.0


@pytest.mark.parametrize("multiclass", ["kesler", "ovr"])
@pytest.mark.parametrize("rule", ["online", "batch", "minibatch"])
def test_several_classes_are_separated_by_every_rule(rule, multiclass):
    X, y = three_classes(60, spread=0.3)
    learner = Perceptron(rule, multiclass=multiclass).fit(X, y)
    assert learner.status_ is Status.separated
    assert learner.score(X, y) == 1.0


@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
def test_running_out_of_passes_is_said_once(keep):
    X = np.tile(np.asarray(xor()[0]), (2501, 1))  # too many numbers for a look at separability
    y = np.tile(xor()[1], 2501)
    with pytest.warns(NotConverged) as told:
        learner = Perceptron(max_iter=7, keep=keep, fit_intercept=False).fit(X, y)
    assert learner.status_ is Status.budget
    assert learner.n_iter_ == 7
    assert len(told) == 1
    assert str(told[0].message) == f"Perceptron: {Status.budget.value}"
    assert told[0].filename == __file__


def test_that_no_separator_exists_is_said_with_its_proof():
    X, y = xor()
    with pytest.warns(NotConverged, match="no separator exists"):
        learner = Perceptron(max_iter=7).fit(X, y)
    assert learner.status_ is Status.not_separable
    assert learner.proof_.verify(X, y)


def test_that_a_separator_exists_is_said_with_its_proof():
    X, y, _ = separated(n=60, d=3, margin=0.02, seed=1)
    with pytest.warns(NotConverged, match="although a separator exists"):
        learner = Perceptron(max_iter=1).fit(X, y)
    assert learner.status_ is Status.separable
    assert learner.proof_.verify(X, y)


def test_one_plane_against_the_rest_is_not_promised_what_only_several_together_can_do():
    """Three classes in a row: a linear machine separates them, no plane cuts out the middle one."""
    X, y = np.arange(9.0)[:, None], np.repeat([0, 1, 2], 3)
    assert Perceptron(max_iter=10**4).fit(X, y).status_ is Status.separated
    with pytest.warns(NotConverged):
        learner = Perceptron(multiclass="ovr", max_iter=100).fit(X, y)
    assert learner.status_ is Status.budget
    assert learner.proof_ is None


def test_a_good_ending_is_not_told():
    X, y, _ = separated(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Perceptron().fit(X, y).status_.good
        assert PassiveAggressive().fit(X, y).status_.good
        assert VotedPerceptron(1).fit(X, y).status_ is Status.voted


def test_corrections_that_cancel_end_a_batch_run():
    """From zero all four rows of xor are wrong, and Σ yᵢ(xᵢ, 1) = 0: no step leads anywhere."""
    X, y = xor()
    with pytest.warns(NotConverged, match="cancel out"):
        learner = Perceptron("batch").fit(X, y)
    assert learner.status_ is Status.stalled
    assert learner.n_iter_ == 1


def test_a_batch_run_ends_when_its_correction_is_short():
    X, y = overlapping(seed=2)
    learner = Perceptron("batch", step="mean", tol=0.5, trace=True).fit(X, y)
    assert learner.status_ is Status.converged
    path = [[0.0] * 3, *([*event["w"][0], *event["b"]] for event in learner.trace_.updates)]
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert lengths[-1] < 0.5
    assert (lengths[:-1] >= 0.5).all()


def test_an_online_run_ends_when_few_enough_rows_are_misplaced():
    X, y = overlapping(distance=3.0, seed=2)
    learner = Perceptron(tol=0.15).fit(X, y)
    assert learner.status_ is Status.converged
    assert 0 < learner.mistakes_per_epoch_[-1] <= 0.15 * len(X)
    assert (np.array(learner.mistakes_per_epoch_[:-1]) > 0.15 * len(X)).all()


def test_a_margin_is_asked_for_until_every_row_has_it():
    """No mistakes is not enough while a row scores less than the margin."""
    X, y, _ = separated(n=60, d=3, margin=0.3, seed=0)
    learner = Perceptron(margin=5.0).fit(X, y)
    assert learner.status_ is Status.separated
    assert (y * learner.decision_function(X) > 5.0).all()


def test_an_average_that_still_errs_is_not_called_a_separator():
    X, y, _ = separated(n=60, d=3, margin=0.02, seed=1)
    learner = Perceptron(keep="average").fit(X, y)
    assert learner.status_ is Status.averaged
    assert learner.score(X, y) < 1
    assert Perceptron().fit(X, y).score(X, y) == 1


def test_an_average_of_one_against_rest_is_looked_at_plane_by_plane():
    """Nine classes are two groups on sparse rows; each hyperplane is asked about its own class."""
    X = np.eye(9)
    y = np.arange(9)
    for rows in (X, sp.csr_array(X)):
        learner = Perceptron(keep="average", multiclass="ovr", fit_intercept=False).fit(rows, y)
        assert learner.status_ is Status.separated
        assert learner.score(rows, y) == 1


def test_passive_aggressive_learning_ends_when_its_loss_no_longer_falls():
    X, y = overlapping(seed=1)
    learner = PassiveAggressive(0.01).fit(X, y)
    assert learner.status_ is Status.converged
    assert 5 < learner.n_iter_ < 1000


def test_a_vote_is_not_called_a_separator_because_its_last_voter_is_one():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0], [5.0]]), [0, 0, 1, 1, 1]
    voted = VotedPerceptron(100).fit(X, y)
    assert voted.n_iter_ < 100
    assert voted.status_ is Status.voted
    assert voted.score(X, y) < 1
    assert VotedPerceptron(100, decide="last").fit(X, y).status_ is Status.separated


def test_rows_in_parts_are_never_done():
    X, y = overlapping(seed=1)
    for learner in (Perceptron(), PassiveAggressive(), VotedPerceptron()):
        heard = []
        learner.set_params(callback=heard.append).partial_fit(X, y)
        assert learner.status_ is Status.streaming
        assert [done.epoch for done in heard] == [0]


def test_every_status_is_a_sentence():
    for status in linsep.Status:
        assert status.value[0].isupper()
        assert status.value.endswith(".")


@pytest.mark.parametrize("learner", [Perceptron(), PassiveAggressive(tol=0), VotedPerceptron(50)],
                         ids=repr)  # fmt: skip
def test_a_callback_hears_of_every_pass_and_may_end_the_run(learner):
    X, y = overlapping(seed=3)
    heard = []

    def listen(done):
        heard.append(done)
        return done.epoch == 4

    with pytest.warns(NotConverged, match="callback asked"):
        learner.fit(X, y, callback=listen)
    assert learner.status_ is Status.stopped
    assert [done.epoch for done in heard] == [1, 2, 3, 4]
    assert [done.mistakes for done in heard] == learner.mistakes_per_epoch_
    assert all(done.loss > 0 for done in heard)


def test_callbacks_come_from_the_learner_and_from_the_fit():
    X, y, _ = separated()
    heard = []
    learner = Perceptron(callback=[lambda done: heard.append("a"), lambda done: heard.append("b")])
    learner.fit(X, y, callback=lambda done: heard.append("c"))
    assert heard == ["a", "b", "c"] * learner.n_iter_


@pytest.mark.parametrize("keep", ["last", "average", "pocket"])
def test_a_callback_may_ask_the_learner_itself(keep):
    X, y = overlapping(seed=4)
    learner, scores = Perceptron(keep=keep, max_iter=5), []
    with pytest.warns(NotConverged):
        learner.fit(X, y, callback=lambda done: scores.append(learner.score(X, y)))
    assert len(scores) == 5
    assert scores[-1] == learner.score(X, y)


def test_progress_goes_to_stderr_at_passes_1_2_4_8(capfd):
    X, y = xor()
    with pytest.warns(NotConverged):
        Perceptron(max_iter=9, verbose=True).fit(X, y)
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if "compiling" not in line]
    assert out == ""
    assert [line.split(":")[:2] for line in lines] == [
        ["Perceptron", f" pass {k}"] for k in (1, 2, 4, 8)
    ]


def run_python(program, **more):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], text=True, stdout=subprocess.PIPE, **more
    )


def test_progress_is_a_bar_on_a_terminal():
    screen, terminal = pty.openpty()
    program = """
        import warnings
        from linsep import Perceptron
        from linsep.data.toys import xor
        warnings.simplefilter("ignore")
        Perceptron(max_iter=3000).fit(*xor(), verbose=True)
        """
    child = run_python(
        program, stderr=terminal, env=os.environ | {"TERM": "xterm", "COLUMNS": "90"}
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(screen, 4096)
        except OSError:  # the terminal is gone
            break
        if not piece:
            break
        shown += piece
    os.close(screen)
    child.communicate()
    assert child.returncode == 0
    assert b"/3000" in shown
    assert b"mistakes, loss" in shown


LONG_FITS = """
    import sys, warnings
    import numpy as np, scipy.sparse as sp
    from linsep import PassiveAggressive, Perceptron, VotedPerceptron
    from linsep.data.toys import overlapping

    warnings.simplefilter("ignore")
    X, y = overlapping(60_000, d=20, seed=0)
    digits = np.arange(len(X)) % 10
    fits = [
        (Perceptron(max_iter=10**9), X, y),
        (Perceptron("batch", max_iter=10**9, eta0=1e-3), X, y),
        (Perceptron("minibatch", max_iter=10**9, keep="pocket"), X, y),
        (Perceptron(max_iter=10**9, multiclass="ovr", keep="average", n_jobs=2), X, digits),
        (Perceptron(max_iter=10**9, multiclass="ovr"), sp.csr_array(X), digits),
        (PassiveAggressive(1e-9, max_iter=10**9, tol=0), X, y),
        (VotedPerceptron(10**9, decide="average"), X, y),
    ]
    for learner, X, y in fits:
        learner.fit(X, y, callback=lambda done: done.epoch == 2 and print("fitting", flush=True))
        print(learner.status_.name, learner.predict(X[:5]).size, flush=True)
    """


def test_ctrl_c_ends_a_fit_with_the_best_model_so_far():
    ends = []
    with run_python(LONG_FITS) as child:
        for line in child.stdout:
            if line == "fitting\n":
                child.send_signal(signal.SIGINT)
            else:
                ends.append(line)
    assert child.returncode == 0
    assert ends == ["interrupted 5\n"] * 7


def test_an_interrupt_is_an_ending_like_any_other():
    X, y = overlapping(seed=0)

    def press_ctrl_c(done):
        if done.epoch == 3:
            raise KeyboardInterrupt

    with pytest.warns(NotConverged, match="Interrupted"):
        learner = Perceptron(trace=True).fit(X, y, callback=press_ctrl_c)
    assert learner.status_ is learner.trace_.status is Status.interrupted
    assert learner.n_iter_ == 3
    assert learner.score(X, y) > 0.5


@pytest.mark.parametrize(("gap", "ending"), [(0.5e-4, Status.converged), (3e-2, Status.unproved)])
def test_what_the_second_count_bears_out_has_converged(gap, ending):
    learner = LogisticRegression(tol=1e-4)
    learner.coef_ = np.zeros((1, 1))
    certificate = Certificate(1.0, 1.0 - gap, 0.0, 1.0 - gap)
    assert accept(learner, certificate, Status.unproved) is ending
