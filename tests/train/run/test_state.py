"""States as plain values and back: numbers, arrays, parts of parts, and lists of them."""

import json
from typing import NamedTuple

import numpy as np

from linsep.train.run.state import Stateful, freeze, record, thaw


@record
class Pair(NamedTuple):
    one: int
    other: object


class Part(Stateful):
    state_names = ("w", "seen")

    def __init__(self, w, seen):
        self.w, self.seen = w, seen


def there_and_back(value, present=None):
    arrays = []
    frozen = json.loads(json.dumps(freeze(value, arrays)))
    return thaw(frozen, present, arrays)


def test_plain_values_come_back_with_their_types():
    for value in (None, True, 3, 0.1, "text", [1, [2.5]], (1, (2, "x")), Pair(1, (2,))):
        back = there_and_back(value)
        assert back == value
        assert type(back) is type(value)
    assert there_and_back(np.float64(0.5)) == 0.5


def test_arrays_come_back_to_the_last_bit():
    array = np.array([np.nan, -0.0, 1e-310])
    assert there_and_back({"a": array}["a"]).tobytes() == array.tobytes()


def test_parts_are_restored_in_place():
    new = Part(np.zeros(2), 0)
    parts = [new, Part(np.zeros(1), 0)]
    old = [Part(np.array([1.0, 2.0]), 5), Part(np.array([3.0]), 6)]
    back = there_and_back(old, parts)
    assert back[0] is new
    assert (new.w.tolist(), new.seen) == ([1.0, 2.0], 5)
    assert [part.seen for part in back] == [5, 6]
