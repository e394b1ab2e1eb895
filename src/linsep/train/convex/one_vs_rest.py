"""Support vector machines of each class against all others, several at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Event, Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from linsep.parallel import Pool, threads
from linsep.status import Status
from linsep.train.convex.choose import BinarySVM
from linsep.train.convex.drive import Candidate, Goal, Savepoint
from linsep.train.convex.solution import Solution

Array = npt.NDArray[Any]


def one_vs_rest(
    X: Any,
    codes: Array,
    n_classes: int,
    fit: Callable[[BinarySVM, int, Goal], Solution],
    goal: Goal,
    saved: Sequence[Savepoint] = (),
    **settings: Any,
) -> list[Solution]:
    """Fit each class against all others, several classes at a time.

    Parameters
    ----------
    fit : what to do with the machine of a class; its goal tells the listener of all classes begun
        so far together, from one thread at a time
    goal : of all classes together
    saved : a savepoint for each class, or none
    settings : those of `BinarySVM`, from `weights` on

    Returns
    -------
    list of Solution
        One for each class. After an interrupt the classes not yet begun have made one pass.
    """
    halt, stopped, turn = Event(), Event(), Lock()
    seen: dict[int, Candidate] = {}
    n_jobs = settings.pop("n_jobs", None)

    def tell(k: int, candidate: Candidate) -> bool:
        with turn:
            if goal.listener is not None and not halt.is_set():
                seen[k] = candidate
                numbers = zip(*(one[:-1] for one in seen.values()), strict=True)
                totals: list[Any] = [sum(column) for column in numbers]
                if goal.listener(Candidate(*totals)) is True:
                    stopped.set()
                    halt.set()
        return halt.is_set()

    def one(k: int) -> Solution:
        signs = np.where(codes == k, np.int8(1), np.int8(-1))
        machine = BinarySVM(X, signs, n_jobs=1, shared={"halt": halt}, **settings)
        at = saved[k] if saved else None
        own = goal._replace(listener=partial(tell, k), halt=halt, savepoint=at)
        solution = fit(machine, k, own)
        if halt.is_set() and solution.status in (Status.stopped, Status.interrupted):
            ending = Status.stopped if stopped.is_set() else Status.interrupted
            return replace(solution, status=ending)
        return solution

    with Pool(1), ThreadPoolExecutor(min(threads(n_jobs), n_classes)) as executor:
        waiting = [executor.submit(one, k) for k in range(n_classes)]
        try:
            return [solution.result() for solution in waiting]
        except BaseException as problem:
            halt.set()
            if not isinstance(problem, KeyboardInterrupt):
                raise
            return [solution.result() for solution in waiting]
