"""Collections as people have them: frames, odd partitions, bad cells, lazy predictions."""

import itertools
import os

import dask
import dask.array as da
import numpy as np
import pytest
from cluster_models import content

import linsep
from linsep.errors import ClusterError, DataError


def frame_of(n=5_000):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    return frame, (frame.a + frame.b > 0).map({True: "up", False: "down"})


@pytest.mark.skipif(not os.environ.get("LINSEP_CLUSTER"), reason="long: make cluster-tests")
def test_a_data_frame_keeps_its_names_and_predicts_lazily(client):
    import dask.dataframe as dd

    frame, y = frame_of()
    dX, dy = dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3)
    eager = linsep.LogisticRegression().fit(frame, np.asarray(y))
    learner = linsep.LogisticRegression().fit(dX, dy)
    assert content(learner) == content(eager)
    assert learner.feature_names_in_.tolist() == ["a", "b", "c"]
    later = learner.predict(dX)
    assert hasattr(later, "__dask_graph__")
    assert (later.compute() == eager.predict(frame)).all()
    assert np.array_equal(learner.predict_proba(dX).compute(), eager.predict_proba(frame))


def test_arrays_are_predicted_and_transformed_lazily(client):
    frame, y = frame_of()
    X = frame.to_numpy()
    learner = linsep.LinearDiscriminantAnalysis().fit(X, np.asarray(y))
    dX = da.from_array(X, chunks=(700, 2))
    for name in ("predict", "decision_function", "predict_proba", "transform", "rank"):
        later = getattr(learner, name)(dX)
        assert hasattr(later, "__dask_graph__")
        assert np.array_equal(later.compute(), getattr(learner, name)(X)), name


def test_empty_and_one_class_partitions_and_rare_labels_are_fine(client):
    frame, y = frame_of(1_000)
    X, y = frame.to_numpy(), np.asarray(y)
    order = np.argsort(y)
    X, y = X[order], y[order]
    y[-1] = "rare"
    cuts = [0, 0, 400, 990, 1_000]
    pairs = list(itertools.pairwise(cuts))
    dX = [dask.delayed(X[i:j]) for i, j in pairs]
    dy = [dask.delayed(y[i:j]) for i, j in pairs]
    learner = linsep.LinearDiscriminantAnalysis().fit(dX, dy)
    assert learner.classes_.tolist() == ["down", "rare", "up"]
    assert content(learner) == content(linsep.LinearDiscriminantAnalysis().fit(X, y))


def test_unknown_chunk_sizes_are_counted(client):
    frame, y = frame_of(2_000)
    X, y = frame.to_numpy(), np.asarray(y)
    dX = da.from_array(X, chunks=(600, 3))
    some = dX[dX[:, 2] > 0]
    kept = X[:, 2] > 0
    learner = linsep.LinearDiscriminantAnalysis().fit(some, y[kept])
    assert content(learner) == content(linsep.LinearDiscriminantAnalysis().fit(X[kept], y[kept]))


def test_numbers_to_predict_and_weights_come_from_dask_too(client):
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((3_000, 4)), rng.random(3_000)
    y = X @ np.arange(4.0) + rng.standard_normal(3_000)
    dX, dy, dw = (da.from_array(one, chunks=1_000) for one in (X, y, w))
    learner = linsep.LinearRegression().fit(dX, dy, dw)
    assert content(learner) == content(linsep.LinearRegression().fit(X, y, w))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda parts: parts[1][:, :2], "partition 1 of X has 2 features and others have 3"),
        (lambda parts: parts[1].astype(np.float32), "partition 1 of X holds float32"),
        (lambda parts: np.where(parts[1] > 1, np.nan, parts[1]), "partition 1 of X cannot be used"),
    ],
)
def test_partitions_that_differ_are_named_before_training(client, spoil, sentence):
    frame, y = frame_of(900)
    parts = [frame.to_numpy()[k : k + 300] for k in range(0, 900, 300)]
    parts[1] = spoil(parts)
    with pytest.raises(DataError, match=sentence):
        linsep.LinearDiscriminantAnalysis().fit([dask.delayed(one) for one in parts], np.asarray(y))


def test_another_number_of_labels_is_refused(client):
    frame, y = frame_of(900)
    dX = da.from_array(frame.to_numpy(), chunks=(300, 3))
    with pytest.raises(DataError, match="X has 900 rows but y has 899 labels"):
        linsep.LinearDiscriminantAnalysis().fit(dX, da.from_array(np.asarray(y)[1:], chunks=300))


def test_a_cluster_that_has_no_worker_is_not_waited_for_for_ever(monkeypatch):
    from distributed import Client, LocalCluster

    from linsep.data.cluster import waiting

    monkeypatch.setattr(waiting, "LOOK", 0.1)
    monkeypatch.setattr(waiting, "ALONE", 0.3)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0", silence_logs=50) as none,
        Client(none) as client,
        pytest.raises(ClusterError, match="had no worker for 0 seconds"),
    ):
        waiting.settled(client, [client.submit(sum, [1, 2])])
