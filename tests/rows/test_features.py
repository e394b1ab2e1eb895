"""Features made from features: what they are, what they are called, and what they let a line do."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from linsep import (
    HOG,
    LogisticRegression,
    PairProducts,
    Perceptron,
    Radial,
    separability,
)
from linsep.data.toys import rings, xor
from linsep.errors import DataError, LinsepError, OverflowedError, ParameterError
from linsep.rows.features import pairs as pairs_module

rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (30, 6)).astype(float)


@parametrize_with_checks([PairProducts(), Radial(squared=True, include_input=True)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_xor_is_impossible_before_the_product_and_has_a_margin_after():
    rows, y = xor()
    before = separability(rows, y)
    assert before.separable is False
    assert before.verify(rows, y)
    lifted = PairProducts().fit_transform(rows)
    assert lifted.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    after = separability(lifted, y)
    assert after.separable is True
    assert after.verify(lifted, y)
    widest = 1 / np.sqrt(24)  # of 2u + 2v − 4uv − 1, which is −1 or 1 on the four rows
    assert after.margin <= widest * (1 + 1e-12)
    assert after.margin > widest * (1 - 1e-6)
    assert after.margin_upper >= widest * (1 - 1e-12)


def test_all_pairs_are_the_products_of_scikit_learns_interactions():
    ours = PairProducts().fit_transform(X)
    theirs = PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(X)
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_stay_sparse_and_agree_with_dense_ones(dtype):
    rows = (X * (np.abs(X) > 1)).astype(dtype)
    lift = PairProducts(9).fit(rows)
    dense, sparse = lift.transform(rows), lift.transform(sp.csr_matrix(rows))
    assert sp.issparse(sparse)
    assert sparse.dtype == dense.dtype == dtype
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == np.count_nonzero(dense)


def test_random_pairs_are_different_ordered_and_the_same_for_the_same_seed():
    one, two = (PairProducts(10, random_state=3).fit(X).pairs_ for _ in range(2))
    assert one.tolist() == two.tolist()
    assert len({tuple(pair) for pair in one.tolist()}) == 10
    assert (one[:, 0] < one[:, 1]).all()
    other = PairProducts(10, random_state=4).fit(X).pairs_
    assert one.tolist() != other.tolist()


def test_all_pairs_can_be_drawn_and_fewer_are_the_first_of_more():
    every = PairProducts(15).fit(X).pairs_.tolist()
    assert {tuple(p) for p in every} == set(itertools.combinations(range(6), 2))
    assert PairProducts(4).fit(X).pairs_.tolist() == every[:4]


def test_fewer_are_the_first_of_more_where_pairs_are_too_many_to_list(monkeypatch):
    monkeypatch.setattr(pairs_module, "LISTED", 0)
    rows = np.zeros((1, 200))
    more = PairProducts(15_000).fit(rows).pairs_.tolist()
    assert len({tuple(pair) for pair in more}) == 15_000
    assert PairProducts(100).fit(rows).pairs_.tolist() == more[:100]


def test_a_block_of_rows_gives_that_block_of_the_products():
    lift = PairProducts(7).fit(X)
    parts = [lift.transform(X[i : i + 8]) for i in range(0, 30, 8)]
    np.testing.assert_array_equal(np.concatenate(parts), lift.transform(X))


def test_given_pairs_may_hold_squares_and_the_input_can_be_left_out():
    made = PairProducts([(2, 2), (5, 0)], include_input=False).fit_transform(X)
    np.testing.assert_array_equal(made, np.column_stack([X[:, 2] ** 2, X[:, 0] * X[:, 5]]))


def test_names_come_out_of_data_frames_and_into_them():
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    lift = PairProducts().set_output(transform="pandas").fit(frame)
    assert lift.transform(frame).columns.tolist() == ["a", "b", "c", "a b", "a c", "b c"]
    radial = Radial(include_input=True).fit(frame)
    assert radial.get_feature_names_out().tolist() == ["a", "b", "c", "radial0"]
    assert Radial().fit(X).get_feature_names_out().tolist() == ["radial0"]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (16, "6 columns have 15 pairs, so give a number from 0 to 15"),
        (-1, "pairs is -1"),
        ([(0, 6)], "pairs names column 6, but X has columns 0 to 5"),
        ("some", "pairs is 'some'"),
        ([(0, 1, 2)], "give 'all', a number"),
        (2.5, "pairs is 2.5"),
        ([(0,), (1, 2)], "give 'all'"),
    ],
)
def test_pairs_that_cannot_be_made_are_named(pairs, message):
    with pytest.raises(ParameterError, match=message):
        PairProducts(pairs).fit(X)


def test_one_column_alone_has_nothing_to_offer():
    with pytest.raises(DataError, match="no pairs"):
        PairProducts(include_input=False).fit(X[:, :1])


@pytest.mark.parametrize("kind", [PairProducts, Radial, HOG])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_transformers_refuse_what_learners_refuse_in_the_same_words(kind, layout):
    good = np.ones((3, 64))
    bad = good.copy()
    bad[2, 1] = np.nan
    with pytest.raises(DataError, match="X contains NaN: row 2, column 1"):
        kind().fit(layout(bad))
    fitted = kind().fit(layout(good))
    with pytest.raises(DataError, match="X contains NaN: row 2, column 1"):
        fitted.transform(layout(bad))
    with pytest.raises(DataError, match=r"9 features, but .* is expecting 64 features"):
        fitted.transform(good[:, :9])


def test_products_and_distances_beyond_the_largest_float_are_refused():
    huge = np.array([[1e200, 1e200], [1.0, 2.0]])
    for kind in (PairProducts(), Radial()):
        with pytest.raises(OverflowedError, match=r"1e\+200"):
            kind.fit_transform(huge)


def test_a_disc_in_a_ring_is_separated_by_its_radius_alone():
    rows, y = rings(300, noise=0.05)
    assert separability(rows, y).separable is False
    radius = Radial([0.0, 0.0]).fit_transform(rows)
    assert separability(radius, y).separable is True
    assert Perceptron().fit(radius, y).score(radius, y) == 1.0


@pytest.mark.parametrize("angle", [0.3, 2.0])
def test_the_radius_does_not_change_when_the_plane_is_turned(angle):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    rows, _ = rings(50)
    radial = Radial([0.0, 0.0]).fit(rows)
    np.testing.assert_allclose(radial.transform(rows @ turn.T), radial.transform(rows), rtol=1e-14)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("include_input", [False, True])
def test_distances_of_sparse_and_dense_rows_agree(squared, include_input):
    points = rng.normal(size=(4, 6))
    radial = Radial(points, squared=squared, include_input=include_input).fit(X)
    dense = radial.transform(X)
    sparse = radial.transform(sp.csr_array(X))
    assert sp.issparse(sparse) == include_input
    sparse = sparse.toarray() if sp.issparse(sparse) else sparse
    np.testing.assert_allclose(sparse, dense, rtol=1e-12)
    exact = np.linalg.norm(X[:, None] - points[None], axis=2)
    np.testing.assert_allclose(dense[:, -4:], exact**2 if squared else exact, rtol=1e-12)


def test_points_of_another_dimension_are_refused():
    with pytest.raises(DataError, match="centres have 2 coordinates, but X has 6 columns"):
        Radial([[0.0, 1.0]]).fit(X)
    for wrong in ("median", [[np.nan] * 6], [], [["a"] * 6]):
        with pytest.raises(ParameterError, match="give 'mean' or finite points"):
            Radial(wrong).fit(X)


def stripes(angle, size=16):
    """An image whose brightness grows along a direction."""
    down, across = np.mgrid[:size, :size]
    return (np.cos(angle) * across + np.sin(angle) * down).ravel()


@pytest.mark.parametrize("bin_number", range(9))
def test_a_slope_votes_for_its_own_direction_in_every_cell(bin_number):
    angle = np.deg2rad(20 * bin_number + 10)
    hog = HOG().fit([stripes(angle)])
    made = hog.transform([stripes(angle)]).reshape(2, 2, 9)
    assert (made.argmax(axis=2) == bin_number).all()
    assert hog.cells_ == (2, 2)
    names = hog.get_feature_names_out().tolist()
    assert len(names) == 36
    assert names[9 + bin_number] == f"hog_0_1_{20 * bin_number}"


def test_orientations_do_not_change_with_brightness_or_contrast():
    image = rng.random((1, 256))
    hog = HOG().fit(image)
    np.testing.assert_allclose(hog.transform(3 * image + 5), hog.transform(image), atol=1e-4)


def test_images_of_the_wrong_shape_say_what_was_expected():
    with pytest.raises(DataError, match=r"50 columns.*rows of 49 or 64 were expected"):
        HOG().fit(np.ones((2, 50)))
    with pytest.raises(DataError, match=r"shape=\(8, 16\) expects images of 8 by 16 = 128 pixels"):
        HOG((8, 16)).fit(np.ones((2, 64)))
    with pytest.raises(DataError, match="images of 6 by 6 pixels have 0 by 0 cells of 8 by 8"):
        HOG().fit(np.ones((2, 36)))
    for wrong in (8, (0, 8), ("a", "b"), (8.5, 8)):
        with pytest.raises(ParameterError, match="give two whole numbers"):
            HOG(cell=wrong).fit(np.ones((2, 64)))
    with pytest.raises(ParameterError, match="orientations is 0"):
        HOG(orientations=0).fit(np.ones((2, 64)))


def test_hog_keeps_the_contract_where_it_can_be_asked():
    images = rng.random((5, 12 * 20)).astype(np.float32)
    hog = HOG((12, 20), cell=(4, 5), orientations=6, block=(2, 2))
    assert clone(hog).get_params() == hog.get_params()
    made = hog.fit_transform(images)
    assert made.dtype == np.float32
    assert made.shape == (5, 2 * 3 * 4 * 6)
    assert len(set(hog.get_feature_names_out())) == made.shape[1]
    np.testing.assert_array_equal(hog.transform(sp.csr_array(images)), made)
    assert hog.set_output(transform="pandas").transform(images).shape == made.shape


def test_hog_without_scikit_image_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skimage.feature", None)
    with pytest.raises(LinsepError, match=r"pip install 'linsep\[images\]'"):
        HOG().fit(np.ones((1, 64)))


def test_a_grid_search_looks_for_the_number_of_pairs_and_the_size_of_cells():
    rows, y = load_digits(return_X_y=True)
    rows, y = rows[:300] / 16, y[:300] == 8
    search = GridSearchCV(
        make_pipeline(PairProducts(), LogisticRegression(tol=1e-2)),
        {"pairproducts__pairs": [0, 50]},
        cv=2,
    ).fit(rows, y)
    assert search.best_score_ > 0.85
    cells = make_pipeline(HOG(cell=(4, 4)), LogisticRegression(tol=1e-2)).fit(rows, y)
    assert cells.score(rows, y) > 0.9


def test_polynomials_are_scikit_learns_and_bend_the_line():
    rows, y = rings(200, noise=0.05)
    bent = make_pipeline(PolynomialFeatures(2), Perceptron()).fit(rows, y)
    assert bent.score(rows, y) == 1.0
