"""Offsets, weights of penalties and bounds on a cluster: the bytes of a fit in memory."""

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep import LinearSVC, LogisticRegression
from linsep.errors import ClusterNote, ParameterError

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


@pytest.mark.parametrize("learner", [
    LogisticRegression(bounds={0: (0, 0.3)}), LinearSVC(penalty_weights=np.linspace(0.1, 1, 31)),
], ids=str)  # fmt: skip
def test_fits_with_offsets_end_with_the_bytes_of_memory(client, table, learner):
    X, y = table
    offset = np.random.default_rng(0).normal(size=len(X))
    here = learner.fit(X, y, offset=offset).coef_.tobytes()
    far = [da.from_array(one, chunks=(20_000, *one.shape[1:])) for one in (X, y, offset)]
    with pytest.warns(ClusterNote, match="offsets, weights of penalties and bounds"):
        learner.fit(*far[:2], offset=far[2])
    assert learner.coef_.tobytes() == here
    assert linsep.gap(learner, *far[:2], offset=offset).relative <= 2 * learner.tol
    assert learner.predict(far[0][:9], offset=0).compute().shape == (9,)
    with pytest.raises(ParameterError, match="part by part"):
        learner.predict(far[0][:9], offset=offset[:9])


@pytest.mark.parametrize("texts", [False, True])
def test_frames_on_a_cluster_are_told_by_name(client, texts):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    frame = frame.assign(place=rng.choice(["n", "s"], 600)) if texts else frame
    y = pd.Series(rng.integers(0, 2, 600))
    learner = LogisticRegression(bounds={"a": "positive"}, penalty_weights={"b": 2})
    here = learner.fit(frame, y, offset="c").coef_.copy()
    far = dd.from_pandas(frame, npartitions=2)
    learner.fit(far, dd.from_pandas(y, npartitions=2), offset="c")
    assert learner.coef_.tobytes() == here.tobytes() and learner.coef_[0, 2] == 1.0
    np.testing.assert_array_equal(learner.predict(far).compute(), learner.predict(frame))
