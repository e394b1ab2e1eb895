"""Each stage of the prover by itself, and the verifier's last word on it."""

from dataclasses import replace

import numpy as np
import pytest

from linsep.data import toys
from linsep.proofs.separability.certificate import Separability
from linsep.proofs.separability.prover import Prover
from linsep.proofs.verify.separability import check_codes


def prover(X, codes, **settings):
    start = Separability(None, None, np.unique(codes), X.shape)
    return Prover(X, codes, start, **settings)


def test_equal_rows_of_two_of_many_classes_are_a_witness():
    X, codes = np.array([[1.0], [2.0], [1.0], [5.0]]), np.array([0, 1, 2, 1])
    run = prover(X, codes)
    answer = run._impossible(run._twins(0, 2))
    assert answer.separable is False and sorted(answer.rows.tolist()) == [0, 2]
    assert check_codes(answer, X, codes, 3) == ""


def test_a_pair_of_classes_rules_out_all_of_them():
    X, codes = np.array([[0.0], [2.0], [1.0], [9.0]]), np.array([0, 0, 1, 2])
    run = prover(X, codes)
    answer = run._impossible(run._pairs())
    assert answer.separable is False and set(answer.rows.tolist()) == {0, 1, 2}
    assert prover(X, np.array([0, 0, 1, 1]) + np.array([0, 0, 0, 1]))._pairs() is not None
    apart = np.array([[0.0], [1.0], [5.0], [9.0]]), np.array([0, 0, 1, 2])
    assert prover(*apart)._pairs() is None


@pytest.mark.parametrize("separable", [True, False])
def test_whole_numbers_alone_settle_small_problems(separable):
    X, y = toys.xor() if not separable else (np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1]))
    codes = (np.asarray(y) > 0).astype(int)
    answer = prover(X, codes)._whole()
    assert answer.separable is separable and check_codes(answer, X, codes, 2) == ""


def test_what_the_verifier_does_not_accept_is_not_claimed():
    X, codes = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    run = prover(X, codes)
    proved = run.run()
    assert proved.separable is True
    assert run._approved(replace(proved, margin=9.0)).separable is None


def test_no_time_leaves_a_bound_on_every_margin():
    X, y = toys.overlapping(n=60)
    codes = (np.asarray(y) > 0).astype(int)
    answer = prover(X, codes, late=lambda: True)._undecided()
    means = [X[codes == k].mean(axis=0) for k in (0, 1)]
    assert answer.separable is None
    assert answer.margin_upper == pytest.approx(np.linalg.norm(means[0] - means[1]) / 2)
