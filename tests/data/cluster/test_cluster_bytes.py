"""The cluster, its workers, its partitions and their deaths do not change a byte."""

import os
import warnings

import dask.array as da
import numpy as np
import pytest
from cluster_models import content

import linsep
from linsep.errors import ClusterNote

BATCH = {
    "lda": linsep.LinearDiscriminantAnalysis(),
    "fisher": linsep.FisherDiscriminant(),
    "logistic": linsep.LogisticRegression(),
    "hinge": linsep.LinearSVC(),
    "squared hinge": linsep.LinearSVC(loss="squared_hinge"),
}


@pytest.fixture(scope="module")
def in_memory(table):
    X, y = table
    made = {}

    def fitted(name):
        if name not in made:
            made[name] = content(learner_of(name).fit(X, y))
        return made[name]

    return fitted


def learner_of(name):
    return BATCH[name].__class__(**BATCH[name].get_params())


def as_dask(X, y, chunk):
    return da.from_array(X, chunks=(chunk, 10)), da.from_array(y, chunks=chunk + 11)


@pytest.mark.parametrize("name", BATCH)
@pytest.mark.parametrize("chunk", [70_000, 9_999])
def test_partitions_do_not_change_a_byte(client, table, in_memory, name, chunk):
    learner = learner_of(name).fit(*as_dask(*table, chunk))
    assert content(learner) == in_memory(name)


@pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts a cluster of its own: make cluster-tests"
)
def test_one_two_and_three_workers_give_the_same_bytes(table, in_memory):
    from distributed import Client, LocalCluster

    with LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        for workers in (3, 1):
            cluster.scale(workers)
            with Client(cluster) as client:
                client.wait_for_workers(workers)
                for name in BATCH:
                    learner = learner_of(name).fit(*as_dask(*table, 20_000))
                    assert content(learner) == in_memory(name), (name, workers)


@pytest.mark.skipif(
    not os.environ.get("LINSEP_CLUSTER"), reason="starts a cluster of its own: make cluster-tests"
)
def test_threads_of_one_worker_share_a_task_and_give_the_same_bytes(table, in_memory):
    from distributed import Client, LocalCluster

    from linsep.data.cluster.collections import rows_of

    with (
        LocalCluster(
            n_workers=1, threads_per_worker=3, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        rounds = rows_of(client, as_dask(*table, 20_000)[0]).rounds
        assert (len(rounds.partitions), rounds.threads) == (1, 3)
        for name in BATCH:
            learner = learner_of(name).fit(*as_dask(*table, 20_000))
            assert content(learner) == in_memory(name), name


@pytest.mark.skipif(not os.environ.get("LINSEP_CLUSTER"), reason="long: make cluster-tests")
def test_more_classes_and_numbers_to_predict_give_the_same_bytes(client, table):
    X, _ = table
    codes = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
    dX = da.from_array(X, chunks=(20_000, 31))
    for learner in (linsep.LinearDiscriminantAnalysis(), linsep.LinearSVC(tol=1e-3)):
        there = content(learner.fit(dX, da.from_array(codes, chunks=9_000)))
        assert there == content(learner.fit(X, codes))
    target = (X @ np.arange(31.0)).astype(np.float64)
    there = linsep.LinearRegression().fit(dX, da.from_array(target, chunks=9_000))
    assert content(there) == content(linsep.LinearRegression().fit(X, target))


def classes_of(X, K):
    """K classes by the largest of K noisy scores."""
    rng = np.random.default_rng(K)
    return (X[:, :K] + 2 * rng.gumbel(size=(len(X), K))).argmax(axis=1)


@pytest.mark.parametrize("K", [3, 30], ids=["newton", "l-bfgs"])
def test_several_classes_are_fitted_on_sums_with_the_same_bytes(client, table, K):
    X, _ = table
    codes = classes_of(X, K)
    learner = linsep.LogisticRegression(tol=1e-2)
    here = content(learner.fit(X, codes)), learner.gap_
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClusterNote)
        learner.fit(da.from_array(X, chunks=(20_000, 31)), codes)
    assert (content(learner), learner.gap_) == here


def test_a_path_has_the_bytes_of_the_one_in_memory(client, table):
    X, y = table
    here, there = (
        linsep.path(linsep.LogisticRegression(), rows, y, Cs=[1e-3, 1.0], cv=2)
        for rows in (X, da.from_array(X, chunks=(20_000, 31)))
    )
    assert np.array_equal(here.scores, there.scores) and np.array_equal(here.gaps, there.gaps)
    assert content(here.model) == content(there.model)


def test_folds_that_share_no_work_leave_rows_out_by_weights_of_zero(client, table):
    X, y = table
    here, there = (
        linsep.path(linsep.LinearSVC(loss="squared_hinge"), rows, y, Cs=[1e-3, 1.0], cv=2)
        for rows in (X, da.from_array(X, chunks=(20_000, 31)))
    )
    assert there.scores == pytest.approx(here.scores, abs=1e-3)
    assert there.gaps.max() <= 1e-3
    if here.C == there.C:
        assert content(here.model) == content(there.model)


def test_a_solver_that_needs_all_rows_says_so_and_gives_the_same_bytes(client, table):
    X, y = table
    learner = linsep.LogisticRegression(l1_ratio=0.5, tol=1e-2)
    here = content(learner.fit(X, y))
    with pytest.warns(ClusterNote, match="needs all rows in one place"):
        learner.fit(da.from_array(X, chunks=(20_000, 31)), y)
    assert content(learner) == here
