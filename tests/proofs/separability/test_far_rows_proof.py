"""The least lead over all blocks, and a proof from few rows, on rows that can be sliced."""

from fractions import Fraction

import numpy as np
import pytest

from linsep.proofs.separability import far_rows


def rows(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, 3)) * 64) / 64
    u = np.array([1.0, -2.0, 0.5])
    X = X[np.abs(X @ u) >= 0.25]
    return X, (X @ u > 0).astype(np.intp), u


def test_the_least_lead_is_exact_and_names_the_rows_that_have_it():
    X, codes, u = rows()
    leads = np.where(codes == 1, 1, -1) * (X @ u)  # eighths of 64ths: no rounding
    seen = far_rows.all_leads(X, codes, u[None], np.zeros(1), count=5)
    assert seen.least == Fraction(float(leads.min()))
    assert list(seen.leads) == list(np.sort(leads)[:5])
    assert list(leads[seen.rows]) == list(seen.leads)


def test_of_several_classes_a_lead_is_over_the_next_best():
    X, _, _ = rows()
    W = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [-1.0, 0.5, 0.0]])
    scores = X @ W.T
    codes = scores.argmax(axis=1)
    ordered = np.sort(scores, axis=1)
    seen = far_rows.all_leads(X, codes, W, np.zeros(3), count=1)
    assert seen.least == Fraction(float((ordered[:, -1] - ordered[:, -2]).min()))


@pytest.mark.parametrize("wrong", [False, True])
def test_few_rows_prove_what_holds_for_all(wrong):
    X, codes, _ = rows()
    last = len(X) - 3
    if wrong:  # far from the few rows that the proof begins with
        codes[last] = 1 - codes[last]
        X[last] *= 4
    proof = far_rows.prove_far(X, np.array([0, 1]), codes, True, lambda: False, None)
    assert proof.separable is (not wrong)
    assert proof.verify(X, codes)
    if wrong:
        assert last in proof.rows
