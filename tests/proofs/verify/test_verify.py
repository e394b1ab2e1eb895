"""The verifier accepts proofs, refuses whatever was tampered with, and stands alone."""

import ast
import inspect
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from linsep.errors import DataError
from linsep.proofs.separability.certificate import Separability
from linsep.proofs.separability.linear_separability import separability
from linsep.proofs.verify import mistakes as verify_mistakes
from linsep.proofs.verify import scores as verify_scores
from linsep.proofs.verify import separability as verify
from linsep.proofs.verify.separability import check


def clouds(n=40, d=3, gap=0.3, seed=0, flipped=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] > 0).astype(int)
    X[:, 0] += np.where(y == 1, gap, -gap)
    y[:flipped] ^= 1
    return X, y


SEPARABLE = clouds()
OVERLAPPING = clouds(flipped=8)
TOUCHING = (np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [-1.0, 0.0]]), np.array([1, 0, 1, 0]))
THREE = (np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 0.0]]), np.array([0, 1, 2, 0]))


@pytest.mark.parametrize("data", [SEPARABLE, OVERLAPPING, TOUCHING, THREE])
def test_proofs_are_accepted_in_any_layout_and_after_a_round_trip_through_text(data):
    X, y = data
    found = separability(X, y)
    assert found.separable is not None
    again = Separability.from_json(found.to_json())
    for certificate in (found, again):
        assert check(certificate, X, y) == ""
        assert certificate.verify(sp.csr_matrix(X), y.tolist())
    assert again.to_json() == found.to_json()


def test_proofs_about_float32_hold_for_the_same_numbers_in_float64():
    X, y = clouds(seed=3)
    X = X.astype(np.float32)
    assert separability(X, y).verify(X.astype(np.float64), y)


def test_a_multiplier_that_is_altered_is_refused():
    X, y = OVERLAPPING
    found = separability(X, y)
    for k in range(len(found.rows)):
        other = list(found.multipliers)
        other[k] += Fraction(1, 10**30)
        other[k - 1] -= Fraction(1, 10**30)
        assert not replace(found, multipliers=tuple(other)).verify(X, y)


def test_multipliers_that_are_negative_or_not_of_sum_one_are_refused():
    X, y = OVERLAPPING
    found = separability(X, y)
    doubled = replace(found, multipliers=tuple(2 * a for a in found.multipliers))
    assert "add up to 2" in check(doubled, X, y)
    negative = replace(found, multipliers=tuple(-a for a in found.multipliers))
    assert "negative" in check(negative, X, y)


def test_a_row_that_is_altered_left_out_or_listed_twice_is_refused():
    X, y = OVERLAPPING
    found = separability(X, y)
    for k in range(len(found.rows)):
        other = found.rows.copy()
        other[k] = next(i for i in range(len(X)) if i not in found.rows)
        assert not replace(found, rows=other).verify(X, y)
    twice = found.rows.copy()
    twice[0] = twice[1]
    assert "twice" in check(replace(found, rows=twice), X, y)
    beyond = found.rows.copy()
    beyond[0] = len(X)
    assert "outside" in check(replace(found, rows=beyond), X, y)
    short = replace(found, rows=found.rows[1:])
    assert "one multiplier for each" in check(short, X, y)


def test_a_weight_or_a_bias_that_is_altered_is_refused():
    X, y = SEPARABLE
    found = separability(X, y)
    for j in range(X.shape[1]):
        other = found.weights.copy()
        other[j] += 1e-6 * np.abs(found.weights).max()
        assert not replace(found, weights=other).verify(X, y)
    assert not replace(found, bias=found.bias * 1.001).verify(X, y)
    assert "not on its side" in check(replace(found, weights=-found.weights), X, y)


def test_margins_that_claim_too_much_are_refused():
    X, y = SEPARABLE
    found = separability(X, y)
    assert "margin" in check(replace(found, margin=found.margin * 1.0000001), X, y)
    lower = np.nextafter(found.margin_upper, 0)
    assert "margin_upper" in check(replace(found, margin_upper=float(lower)), X, y)


def test_the_margin_is_the_exact_one_rounded_down_to_the_next_float():
    X, y = SEPARABLE
    found = separability(X, y)
    w = [Fraction(a) for a in found.weights.tolist()]
    leads = [
        (1 if label else -1)
        * (sum(a * Fraction(x) for a, x in zip(w, row, strict=True)) + Fraction(found.bias))
        for row, label in zip(X.tolist(), y, strict=True)
    ]
    square = min(leads) ** 2 / sum(a * a for a in w)
    assert Fraction(found.margin) ** 2 <= square
    assert Fraction(float(np.nextafter(found.margin, 1))) ** 2 > square


def test_a_plane_with_rows_on_the_wrong_side_is_no_quasi_separator():
    X, y = TOUCHING
    found = separability(X, y)
    assert found.quasi_separable
    assert "wrong side" in check(replace(found, weights=-found.weights), X, y)
    flat = replace(found, weights=np.zeros(2), bias=0.0, plane=None)
    assert "every row is on the plane" in check(flat, X, y)


def test_rows_that_do_not_span_do_not_exclude_a_plane_through_points():
    X, y = TOUCHING
    found = separability(X, y)
    pretended = replace(found, quasi_separable=False)
    assert check(pretended, X, y) != ""
    full = separability(*OVERLAPPING)
    assert full.quasi_separable is False
    cut = replace(full, span=full.span._replace(normals=((1, 0, 0, 0),)))
    assert "orthogonal" in check(cut, *OVERLAPPING)
    none = full.span._replace(normals=())
    short = full.span._replace(normals=((1, 0, 0),))
    assert "does not have 4 entries" in check(replace(full, span=short), *OVERLAPPING)
    assert "does not show" in check(replace(full, span=None), *OVERLAPPING)
    one = none._replace(rows=np.r_[none.rows, 0], multipliers=(*none.multipliers, Fraction(0)))
    assert "a multiplier is zero" in check(replace(full, span=one), *OVERLAPPING)
    fewer = none._replace(rows=none.rows[:0], multipliers=())
    assert check(replace(full, span=fewer), *OVERLAPPING) != ""


def test_a_flat_direction_is_a_normal_and_only_where_every_row_is_flat():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]), np.array([0, 1, 0, 1])
    found = separability(X, y)
    assert found.quasi_separable is False and len(found.span.normals) == 1
    assert check(found, X, y) == ""
    bare = found.span._replace(normals=())
    assert "the rows span 2 dimensions, with 0 normals, of 3" in check(
        replace(found, span=bare), X, y
    )
    X[3, 1] = 1.0  # no longer flat
    assert check(replace(found, fingerprint=""), X, y) != ""


def test_a_bias_in_the_weights_or_beside_them_is_not_of_a_plane_through_the_origin():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    found = separability(X, y, fit_intercept=False)
    assert check(found, X, y) == ""
    assert "planes through the origin" in check(replace(found, bias=0.5), X, y)
    sides = (tuple(map(Fraction, (1, "1/2"))),)
    assert "planes through the origin" in check(replace(found, plane=sides, bias=0.0), X, y)


def test_a_rival_that_is_altered_is_refused():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 2])
    found = separability(X, y)
    assert found.separable is False
    assert "no other class" in check(replace(found, rivals=np.array([0, 0])), X, y)
    assert not replace(found, rivals=np.array([2, 2])).verify(X, y)
    assert "rivals" in check(replace(found, rivals=None), X, y)


def test_other_data_other_labels_and_undecided_certificates_are_refused():
    X, y = SEPARABLE
    found = separability(X, y)
    assert "shape" in check(found, X[1:], y[1:])
    assert "classes" in check(found, X, y + 5)
    assert not found.verify(X, 1 - y)
    assert not found.verify(-X, y)
    assert "undecided" in check(replace(found, separable=None), X, y)
    assert "no weights" in check(replace(found, weights=None), X, y)
    assert "not finite" in check(replace(found, bias=np.inf), X, y)
    assert "do not fit" in check(replace(found, weights=found.weights[1:]), X, y)


@pytest.mark.parametrize("data", [SEPARABLE, OVERLAPPING])
def test_a_file_in_which_any_one_thing_was_changed_is_refused(data):
    text = separability(*data).to_json()
    document = json.loads(text)
    for name, value in document.items():
        other = dict(document)
        other[name] = "0/1" if value is None else None
        with pytest.raises(DataError):
            Separability.from_json(json.dumps(other))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"format": "linsep separability certificate"}', "{"]
)
def test_what_is_no_certificate_is_refused_with_a_named_error(text):
    with pytest.raises(DataError):
        Separability.from_json(text)


def test_numbers_with_thousands_of_digits_survive_the_file():
    found = separability(*OVERLAPPING)
    huge = Fraction(3**9000, 2**20000)
    kept = replace(found, multipliers=(huge, 1 - huge))
    assert Separability.from_json(kept.to_json()).multipliers == (huge, 1 - huge)


@pytest.mark.parametrize("module", [verify, verify_scores, verify_mistakes])
def test_the_verifier_imports_no_code_of_the_search(module):
    allowed = {"linsep.data.check.arrays", "linsep.data.blocks.blocks", "linsep.data.check.labels"}
    allowed |= {"linsep.proofs.verify.separability", "linsep.proofs.verify.scores"}
    names = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    assert {name for name in names if name.startswith("linsep")} <= allowed


def test_counts_that_are_just_enough_are_and_one_more_is_too_many():
    X, y = OVERLAPPING
    found = separability(X, y)
    data = verify_scores.Data(X, y, 2, True)
    args = found.rows, found.rivals, found.multipliers
    assert verify.annihilates(data, *args, len(found.rows)) == ""
    assert "are enough" in verify.annihilates(data, *args, len(found.rows) - 1)
    more = np.r_[found.rows, [i for i in range(len(X)) if i not in found.rows][:6]]
    padded = replace(found, rows=more, multipliers=(*found.multipliers, *[Fraction(0)] * 6))
    assert f"lists {len(more)} rows; 5 are enough" in check(padded, X, y)


def test_rows_that_are_none_or_negative_are_refused():
    X, y = OVERLAPPING
    found = separability(X, y)
    for rows, multipliers in (
        (None, found.multipliers),
        (found.rows, None),
        (found.rows[:0], ()),
        (found.rows[1:], found.multipliers),
    ):
        changed = replace(found, rows=rows, multipliers=multipliers)
        assert "lists no rows, or not one multiplier" in check(changed, X, y)
    low = found.rows.copy()
    low[0] = -1
    assert "outside 0..39" in check(replace(found, rows=low), X, y)


def test_multipliers_that_balance_no_class_or_annihilate_no_row_are_told_apart():
    X, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    found = separability(X, y)
    assert check(found, X, y) == ""
    off = replace(found, rows=np.array([0, 2]), multipliers=(Fraction(1, 2),) * 2)
    assert check(off, X, y) == (
        "the multipliers do not annihilate the rows: column 0 adds up to 1/2"
    )
    lone = replace(found, rows=np.array([0]), multipliers=(Fraction(1),))
    assert check(lone, X, y) == "the multipliers of the classes do not balance"
    through = replace(lone, fit_intercept=False, quasi_separable=None)
    assert check(through, X, y) == ""


def test_bounds_of_the_margin_are_lengths_and_neither_too_short_nor_too_long():
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    found = separability(X, y)
    assert found.margin == 1.0 and check(found, X, y) == ""
    for upper, said in (
        (-1.0, "no length is"), (np.nan, "no length is"), (0.999, "give more"), (0.0, "give more"),
        (1.0 + 4e-12, ""), (1.001, "give less"), (np.inf, ""),
    ):  # fmt: skip
        told = check(replace(found, margin_upper=upper), X, y)
        assert (said in told) and bool(told) == bool(said)
    for margin, said in (
        (-0.5, "no distance is"), (np.inf, "no distance is"), (np.nan, "no distance is"),
        (1.001, "is less than"), (0.999, "is not"), (1.0 - 1e-12, ""), (0.0, ""),
    ):  # fmt: skip
        told = check(replace(found, margin=margin), X, y)
        assert (said in told) and bool(told) == bool(said)
    lone = replace(found, bound_rows=np.array([0]), bound_multipliers=(Fraction(1),))
    assert check(lone, X, y) == "margin_upper: the multipliers of the classes do not balance"
    none = replace(found, bound_rows=None)
    assert check(none, X, y).startswith("margin_upper: the certificate lists no rows")


def test_the_margin_of_three_classes_is_that_of_pairs_over_the_root_of_two():
    X, y = np.array([[-3.0], [0.0], [3.0]]), np.array([0, 1, 2])
    found = separability(X, y)
    W, b = np.array([[-3.0], [0.0], [3.0]]), np.array([0.0, 4.0, 0.0])
    # leads: 9 - 4 = 5, 4 - 0 = 4; the square of all weights is 18: margin 4/6
    own = replace(found, weights=W, bias=b, plane=None, margin_upper=np.inf)
    assert check(replace(own, margin=2 / 3), X, y) == ""
    assert "is less than" in check(replace(own, margin=0.667), X, y)
    assert "is not" in check(replace(own, margin=0.666), X, y)
    half = Fraction(1, 2)
    bound = {"bound_rows": np.array([0, 1]), "bound_rivals": np.array([1, 0]),
             "bound_multipliers": (half, half)}  # fmt: skip
    assert check(replace(own, margin=2 / 3, margin_upper=1.5, **bound), X, y) == ""
    shorter = replace(own, margin=2 / 3, margin_upper=1.4999, **bound)
    assert "give more" in check(shorter, X, y)
    for rivals in (np.array([0, 0]), np.array([1, 3]), np.array([1, -1])):
        wrong = replace(own, margin=2 / 3, margin_upper=1.5, **bound | {"bound_rivals": rivals})
        assert "a rival that is no other class" in check(wrong, X, y)
    one = replace(own, margin=2 / 3, margin_upper=1.5, **bound | {"bound_rivals": np.array([1])})
    assert "one rival for each row" in check(one, X, y)


def test_a_lead_of_nothing_is_no_separation_and_a_row_on_the_plane_is_none_on_the_wrong_side():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    found = separability(X, y)
    on = replace(found, weights=np.array([1.0]), bias=0.0, plane=None, margin=0.0)
    assert check(replace(on, margin_upper=np.inf), X, y) == "row 0 is not on its side of the plane"
    touching = np.array([[0.0], [0.0], [1.0]])
    leans = separability(touching, y)
    assert leans.quasi_separable and check(leans, touching, y) == ""
    back = replace(leans, weights=np.array([1.0]), bias=-1e-9, plane=None)
    assert "row 1 is on the wrong side" in check(back, touching, y)


def test_ranks_are_those_of_fractions():
    for A, rank in (
        ([[1, 2], [2, 4]], 1), ([[1, 2], [2, 5]], 2), ([[0, 0], [0, 0]], 0), ([[0, 1], [0, 2]], 1),
        ([[0, 3, 1], [2, 0, 0], [2, 3, 1]], 2), ([[1, 0], [0, 1], [1, 1]], 2), ([[5]], 1),
        ([[2**31 - 1, 0], [0, 1]], 1), ([[10**30, 1], [0, 1]], 2),
    ):  # fmt: skip
        assert verify._rank(np.array(A, dtype=object)) == rank
    assert verify._rank(np.zeros((0, 3), dtype=object)) == 0


def test_long_fractions_are_told_by_their_size():
    assert verify._short(Fraction(-1, 3)) == "-1/3"
    assert verify._short(Fraction(2**98)) == str(2**98)
    assert verify._short(Fraction(2**99)) == "about 2^99"
    assert verify._short(Fraction(2**200)) == "about 2^200"
    assert verify._short(Fraction(-1, 2**200)) == "about -2^-200"
