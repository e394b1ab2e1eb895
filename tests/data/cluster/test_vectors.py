"""Long vectors go along with tasks once, and are then found on the workers."""

import numpy as np
import pytest

from linsep.data.cluster import shipping
from linsep.data.cluster.shipping import LONG, Parcel, Vectors, unpacked


class Recording:
    """A client that notes what is submitted."""

    def __init__(self):
        self.submitted = []

    def submit(self, function, vector, **options):
        self.submitted.append(vector)
        return ("future", len(self.submitted))


def test_a_vector_is_carried_at_first_and_kept_by_workers_when_it_comes_again():
    client = Recording()
    sent, u = Vectors(client), np.arange(LONG // 8, dtype=float)
    assert sent.sent(u, 2) is u
    assert sent.sent(u.copy(), 2) == sent.sent(u, 2) == ("future", 1)
    assert len(client.submitted) == 1
    u[0] = 1.0  # another content in the same place
    assert sent.sent(u, 2) is u


def test_a_vector_too_long_for_every_task_is_given_to_one_worker():
    client = Recording()
    u = np.zeros(shipping.TOGETHER // 8 // 4)
    assert Vectors(client).sent(u, 4) is u
    assert Vectors(client).sent(u, 5) == ("future", 1)
    assert Vectors(client).sent(b"short", 1 << 40) == b"short"


def test_few_vectors_are_kept():
    client = Recording()
    sent = Vectors(client)
    for k in range(shipping.KEPT + 1):
        for _ in range(2):
            sent.sent(np.full(LONG, float(k)), 1)
    assert len(client.submitted) == shipping.KEPT + 1
    assert isinstance(sent.sent(np.full(LONG, 4.0), 1), tuple)
    sent.sent(np.zeros(LONG), 1)  # the first is forgotten
    assert len(client.submitted) == shipping.KEPT + 1


def test_a_packed_function_names_its_long_vectors_and_gets_copies_of_them():
    X, u, v = np.zeros((3, 2)), np.arange(LONG, dtype=float), np.ones(3)

    class Sum:
        def __init__(self):
            self.u, self.again, self.v = u, u, v

    parcel = Parcel(Sum(), X)
    assert len(parcel.vectors) == 1 and parcel.vectors[0] is u
    assert len(parcel.content) < LONG
    there = unpacked(parcel.content, X, [], parcel.vectors)
    assert np.array_equal(there.u, u) and there.u is there.again and there.u is not u
    there.u[0] = 7.0
    assert u[0] == 0.0
    with pytest.raises(IndexError):
        unpacked(parcel.content, X, [], [])
