"""The cluster, its workers, its partitions and their deaths do not change a byte."""

import dask.array as da
import pytest
from cluster_models import content

import linsep

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
