"""Which row an online rule looked at when, also those that it left alone."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.train.order import row_order
from linsep.views.scene.run import Run

Array = npt.NDArray[Any]

MOST = 200_000  # looks at a row that a page is told of
ROWS = 4096  # in one block, whose order is one permutation


def visits_of(run: Run) -> tuple[Array, Array] | None:
    """Rows in the order of their visits, and how many visits were done at each frame.

    None where steps are not of one row each, or where the recorded corrections do not come in
    this order (rows of a sample, one pass for each class).
    """
    parameters, n, passes = run.trace.parameters, len(run.rows.X), len(run.trace.passes)
    online = run.trace.learner == "PassiveAggressive" or (
        run.trace.learner == "Perceptron" and parameters.get("rule", "online") == "online"
    )
    seed, shuffle = parameters.get("random_state", 0), parameters.get("shuffle", True)
    if not online or not run.rows.whole or run.every > 1 or not isinstance(seed, int):
        return None
    if not 0 < n <= ROWS or not 0 < n * passes <= MOST:
        return None
    order = np.concatenate([row_order(n, seed, k, 0, shuffle) for k in range(1, passes + 1)])
    done = [0]
    for t, event in enumerate(run.events, 1):
        if run.shows_model(t):
            done.append(n * passes)
            continue
        if event["row"] is None or not 1 <= event["epoch"] <= passes:
            return None
        start = n * (event["epoch"] - 1)
        place = np.flatnonzero(order[start : start + n] == event["row"])
        if len(place) != 1 or start + place[0] + 1 <= done[-1]:
            return None
        done.append(int(start + place[0]) + 1)
    return order.astype(np.uint16), np.array(done, np.uint32)
