"""Channel features: sums over cells of colours, gradients and orientations."""

import numpy as np
import pytest

from linsep import Channels
from linsep.errors import DataError, ParameterError


def test_sums_of_cells_are_sums_of_the_channels():
    rng = np.random.default_rng(0)
    X = rng.random((3, 12 * 8 * 3))
    made = Channels((12, 8), colours=3, cell=(4, 4), orientations=5).fit(X)
    channels = made.channels(X)
    assert channels.shape == (3, 9, 12, 8)
    sums = channels.reshape(3, 9, 3, 4, 2, 4).sum(axis=(3, 5))
    np.testing.assert_allclose(made.transform(X), sums.reshape(3, -1), rtol=1e-9)
    assert len(made.get_feature_names_out()) == made.transform(X).shape[1]


def test_the_orientations_share_out_the_magnitude_of_the_strongest_colour():
    X = np.random.default_rng(1).random((2, 64 * 2))
    made = Channels(colours=2, orientations=6).fit(X)
    channels = made.channels(X)
    np.testing.assert_allclose(channels[:, 3:].sum(axis=1), channels[:, 2], rtol=1e-12)
    images = X.reshape(2, 8, 8, 2)
    down = 0.5 * (images[:, 2:, 1:-1] - images[:, :-2, 1:-1])
    across = 0.5 * (images[:, 1:-1, 2:] - images[:, 1:-1, :-2])
    inside = channels[:, 2, 1:-1, 1:-1]
    np.testing.assert_allclose(inside, np.hypot(down, across).max(axis=3), rtol=1e-12)


@pytest.mark.parametrize(("turn", "name"), [(0, "edge0"), (1, "edge90")])
def test_a_slope_votes_for_its_own_direction(turn, name):
    image = np.tile(np.arange(8.0), (8, 1))
    image = image.T if turn else image
    made = Channels(orientations=2).fit([image.ravel()])
    found = dict(zip(made.channels_, made.channels([image.ravel()])[0], strict=True))
    other = "edge90" if name == "edge0" else "edge0"
    assert found[name][1:-1, 1:-1].min() == 1.0
    assert found[other][1:-1, 1:-1].max() == 0.0


def test_images_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="no pixels of 3 colours"):
        Channels(colours=3).fit(np.zeros((1, 64)))
    with pytest.raises(DataError, match="hold no cell"):
        Channels((4, 4)).fit(np.zeros((1, 16)))
    with pytest.raises(DataError, match="no square number"):
        Channels().fit(np.zeros((1, 65)))
    with pytest.raises(ParameterError, match="orientations is 0"):
        Channels(orientations=0).fit(np.zeros((1, 64)))


def test_single_precision_stays_single():
    made = Channels((2, 2), cell=(1, 1)).fit(np.eye(4))
    assert made.n_features_in_ == 4
    assert made.transform(np.eye(4, dtype=np.float32)).dtype == np.float32
    assert made.transform(np.eye(4)).dtype == np.float64
