"""Which rows are still worth a visit, and where in memory they lie.

Rows whose multiplier rests at a bound are left out until an evaluation of all margins brings them
back. Once fewer than a third are left they are copied, in random order, into memory of their own: a
walk over scattered rows takes half as long again as one over neighbours, though they are asked for
ahead.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linsep._compile import kernel
from linsep.kernels import shuffle
from linsep.parallel import Pool
from linsep.rows.rows import CSR
from linsep.train.convex.dual.design import SMALL, Design
from linsep.train.convex.dual.dual_losses import DualLoss, shrinking_margin
from linsep.train.convex.dual.kernels import (
    ALPHA,
    CAP,
    IDLE,
    MARGIN,
    SHIFT,
    SQUARE,
    Centred,
    Lane,
    Stretched,
    inner,
    measure,
)
from linsep.train.order import block_order

Array = npt.NDArray[Any]

BLOCK = 4  # neighbouring rows visited in one go
ROUNDS = 2  # times the lanes are merged in a pass
NOWHERE = 0xFFFFFFFF
WHOLE = 0xFFFFFFFFFFFFFFFF
CARRIED = ("active", "places", "cautious", "lanes", "crowded", "_measured")


@kernel
def drop_idle(points, active, places):  # type: ignore[no-untyped-def]
    """Take the rows marked idle off the list; returns how many stay."""
    count = 0
    for k in range(active.shape[0]):
        if points[active[k], IDLE] == 0.0:
            active[count] = active[k]
            places[count] = places[k]
            count += 1
    return count


@kernel
def list_active(loss, points, reach, owners, homes, active, places):  # type: ignore[no-untyped-def]
    """List the rows whose multiplier may move: those with a home in its order, then the others.

    Returns how many there are, and how many of them have a home.
    """
    count = 0
    for place in range(owners.shape[0]):
        i = owners[place]
        if shrinking_margin(loss, points[i, ALPHA], points[i, MARGIN], points[i, CAP]) <= reach:
            active[count] = i
            places[count] = place
            count += 1
    housed = count
    for i in range(points.shape[0]):
        U = points[i, CAP]
        homeless = U > 0.0 and (homes.shape[0] == 0 or homes[i] == NOWHERE)
        if homeless and shrinking_margin(loss, points[i, ALPHA], points[i, MARGIN], U) <= reach:
            active[count] = i
            places[count] = i
            count += 1
    return count, housed


@kernel
def copy_rows(rows, active, indptr, data, indices, start, stop):  # type: ignore[no-untyped-def]
    """Copy listed rows to where `indptr` says."""
    for k in range(start, stop):
        to = indptr[k]
        for e in range(rows.indptr[active[k]], rows.indptr[active[k] + 1]):
            data[to] = rows.data[e]
            indices[to] = rows.indices[e]
            to += 1


class Packed:
    """Copies of some sparse rows in consecutive memory, with room for a few more."""

    def __init__(
        self,
        rows: CSR,
        active: Array,
        n_rows: int,
        pool: Pool,
        room: tuple[int, int] | None = None,
    ) -> None:
        self._source = rows
        self._pool = pool
        if room is None:
            room = (
                int(1.25 * self._lengths(active).sum()) + 1024,
                int(1.25 * len(active)) + 1024,
            )
        self.room = room  # for entries, and for rows and one more
        self._data = np.empty(room[0], rows.data.dtype)
        self._indices = np.empty(room[0], np.uint32)
        self._indptr = np.zeros(room[1], np.int64)
        self._owners = np.empty(len(self._indptr) - 1, np.uint32)
        self._used = 0
        self.homes = np.full(n_rows, NOWHERE, np.uint32)
        self.append(active)

    @property
    def rows(self) -> CSR:
        return CSR(self._data, self._indices, self._indptr.view(np.uint64))

    @property
    def owners(self) -> Array:
        """The number each copied row has among all rows."""
        return self._owners[: self._used]

    def append(self, active: Array) -> bool:
        """Copy more rows; False when there is no room for them."""
        stop = self._used + len(active)
        ends = self._indptr[self._used] + np.cumsum(self._lengths(active))
        if stop > len(self._owners) or ends[-1] > len(self._data):
            return False
        self._indptr[self._used + 1 : stop + 1] = ends
        self._owners[self._used : stop] = active
        self.homes[active] = np.arange(self._used, stop, dtype=np.uint32)
        to = self._indptr[self._used : stop + 1]
        share(
            self._pool,
            len(active),
            copy_rows,
            lambda a, e: (self._source, active, to, self._data, self._indices, a, e),
        )
        self._used = stop
        return True

    def _lengths(self, active: Array) -> Array:
        starts = self._source.indptr.view(np.int64)
        at = active.astype(np.int64)
        return starts[at + 1] - starts[at]


def share(pool: Pool, n: int, kernel: Callable[..., Any], call: Callable[[int, int], Any]) -> None:
    """Run `kernel(*call(start, stop))` over both halves of range(n)."""
    cuts = [0, n // 2, n] if n > 1000 else [0, n]
    pool.run(kernel, [call(a, e) for a, e in pairwise(cuts)])


class Plan(NamedTuple):
    """How the rows are to be walked.

    Attributes
    ----------
    lanes : how many lanes a long list is worth
    share : the share of all rows below which one lane is enough
    pull : how hard a multiplier pulls at the intercept; zero without one
    seed : the order of visits is a function of it and the number of the pass
    """

    lanes: int
    share: float
    pull: float
    seed: int


class WorkingSet:
    """The rows to be visited, as the kernels of `linsep.train.convex.dual.kernels` want them.

    Attributes
    ----------
    active, places : number of each row among all rows, and in `rows`
    rows : where they lie: all rows, or copies of the listed ones
    lanes : how many lanes walk them
    crowded : how many features, the first ones, a lane counts twice
    spread : ⟨μ, μ⟩, as a lane counts it
    """

    def __init__(self, design: Design, points: Array, plan: Plan, pool: Pool) -> None:
        self._design = design
        self._points = points
        self._plan = plan
        self._pool = pool
        self._packed: Packed | None = None
        self._measured: tuple[int, int] | None = None  # lanes and crowded, as all rows were
        self._copies = isinstance(design.rows, CSR) and design.entries >= SMALL
        self.block = BLOCK if design.entries >= SMALL else 1
        self.cautious = False
        self.rows: CSR | Centred | Stretched = design.rows
        self.active: Array = np.flatnonzero(points[:, CAP] > 0.0).astype(np.uint32)
        self.places: Array = self.active
        self._spread_out()

    def state(self) -> dict[str, Any]:
        """What the next pass depends on, besides `points`."""
        packed = self._packed
        known = {name: getattr(self, name) for name in CARRIED}
        return {**known, "packed": None if packed is None else (packed.owners, packed.room)}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for name in CARRIED:
            setattr(self, name, state[name])
        self._packed = None
        if state["packed"] is not None:
            owners, room = state["packed"]
            rows: Any = self._design.rows
            self._packed = Packed(rows, owners, len(self._points), self._pool, room)
        self._arrange()

    @property
    def entries(self) -> int:
        """How many numbers a pass over the list reads, about."""
        return self._design.entries * len(self.active) // max(1, len(self._points))

    @property
    def rounds(self) -> int:
        """How many times the lanes are merged in a pass."""
        return ROUNDS if self.lanes > 1 else 1

    def order(self, epoch: int, passes: int = 1) -> Array:
        """The blocks of the list in the order of this pass, and of those after it."""
        n_blocks = -(-len(self.active) // self.block)
        order = np.empty(n_blocks * passes, np.uint32)
        shuffle.pass_orders(order, n_blocks, self._plan.seed & WHOLE, epoch)
        return order

    def narrow(self) -> None:
        """Leave out the rows that the last sweep marked idle."""
        left = drop_idle(self._points, self.active, self.places)
        self.active, self.places = self.active[:left], self.places[:left]
        if self._copies and self._packed is None and 0 < left <= len(self._points) // 3:
            self._pack()

    def widen(self, loss: DualLoss, reach: float) -> None:
        """List anew all rows that may move, going by margins that were just evaluated."""
        active = np.empty(len(self._points), np.uint32)
        places = np.empty(len(self._points), np.uint32)
        none = np.empty(0, np.uint32)
        packed = self._packed
        owners, homes = (packed.owners, packed.homes) if packed else (none, none)
        count, housed = list_active(loss, self._points, reach, owners, homes, active, places)
        self.active, self.places = active[:count], places[:count]
        if packed is None or count == housed:
            return
        if packed.append(self.active[housed:]):
            self.places[housed:] = packed.homes[self.active[housed:]]
            if self._measured != (self.lanes, self.crowded):
                self._measure(housed)
        elif count <= len(self._points) // 2:
            self._pack()
        else:
            self._spread_out()

    def be_cautious(self) -> None:
        """Count every feature twice from now on: slower, but the dual can only rise."""
        self.cautious = True
        self._lay_out()

    def _spread_out(self) -> None:
        """Visit the rows where they are, all of them measured."""
        self._packed = None
        listed = self.active
        self.active = self.places = np.flatnonzero(self._points[:, CAP] > 0.0).astype(np.uint32)
        self._lay_out()
        self._measured = (self.lanes, self.crowded)
        self.active, self.places = listed, listed.copy()

    def _pack(self) -> None:
        """Copy the listed rows into memory of their own."""
        order = block_order(len(self.active), self._plan.seed, -1, True)
        self.active = self.active[order]
        rows: Any = self._design.rows
        self._packed = Packed(rows, self.active, len(self._points), self._pool)
        self.places = np.arange(len(self.active), dtype=np.uint32)
        self._lay_out()

    def _lay_out(self) -> None:
        """Decide on lanes for the list as it is, and measure its rows."""
        design, listed = self._design, len(self.active)
        wide = listed > self._plan.share * len(self._points) and self.entries >= SMALL
        self.lanes = self._plan.lanes if wide else 1
        self.crowded = 0
        if self.lanes > 1:
            met = design.second_moments * (listed / (2 * ROUNDS))
            self.crowded = len(met) if self.cautious else int((met > design.square).sum())
        self._arrange()
        if self._measured != (self.lanes, self.crowded):
            self._measured = None
            self._measure(0)

    def _arrange(self) -> None:
        """Lay the rows out as the lanes want them."""
        design = self._design
        rows: Any = self._packed.rows if self._packed else design.rows
        self._centre = design.centre
        if self.lanes > 1:
            rows = Stretched(rows.data, rows.indices, rows.indptr, self.crowded)
            if len(design.centre):
                self._centre = design.centre.copy()
                self._centre[: self.crowded] *= 2.0
        self.rows = rows
        self.spread = inner(self._centre, design.centre)

    def _measure(self, first: int) -> None:
        """Set the curvature of the listed rows from `first` on."""
        points, active, places, centre = self._points, self.active, self.places, self._centre
        if self.lanes == self._plan.lanes == 1:
            known, at = self._design.lengths, active[first:]
            if len(at) == len(points):
                points[:, SQUARE], points[:, SHIFT] = known[:, 0] + self._plan.pull, known[:, 1]
                return
            points[at, SQUARE], points[at, SHIFT] = known[at, 0] + self._plan.pull, known[at, 1]
            return
        lane = Lane(0.0, 0.0, self.spread, self._plan.pull * self.lanes, 0.0, 1)
        share(
            self._pool,
            len(active) - first,
            measure,
            lambda a, e: (self.rows, points, active, places, centre, lane, first + a, first + e),
        )
