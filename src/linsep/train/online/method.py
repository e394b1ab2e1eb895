"""How a pass corrects: after how many rows, by which rule, with which step size."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from linsep.errors import ParameterError
from linsep.train.online.rules import Rosenblatt, Rule

Schedule = Callable[[float, int], float]

SCHEDULES: dict[str, Schedule] = {
    "constant": lambda eta0, t: eta0,
    "1/t": lambda eta0, t: eta0 / t,
    "1/sqrt(t)": lambda eta0, t: eta0 / math.sqrt(t),
}
"""Step sizes as functions of the first one and the number of the pass."""


def _own(of: Callable[[int], float], eta0: float, t: int) -> float:
    """eta0 times a function of the number of the pass, which the caller gave."""
    factor = float(of(t))
    if not 0.0 < factor < math.inf:
        raise ParameterError(f"schedule({t}) is {factor!r}; a step must be a number above 0.")
    return eta0 * factor


def schedule_of(given: Any) -> Schedule | None:
    """The step sizes of a name, or of a function of the pass; None where others see to them."""
    if callable(given):
        return partial(_own, given)
    return SCHEDULES.get(given)


class Method(NamedTuple):
    """What a solver does in each pass.

    Attributes
    ----------
    after : 'row', 'minibatch' or 'pass': after what weights are corrected
    rule : the correction rule; its step size, if it has one, is that of the first pass
    seed, shuffle : the order of rows
    schedule : η in pass t, given the first; None for the exact minimum along the line, if larger
    batch_size : rows of a minibatch
    margin : of the perceptron criterion that a line search minimises
    growing_bias : whether the constant feature is as long as the longest row so far
    mean : whether many rows move the weights by their mean instead of their sum

    Examples
    --------
    >>> Method("row", Rosenblatt(6.0, 0.0, 0.0), schedule=SCHEDULES["1/t"]).rule_of(3).eta
    2.0
    """

    after: str
    rule: Rule
    seed: int = 0
    shuffle: bool | str = False
    schedule: Schedule | None = SCHEDULES["constant"]
    batch_size: int = 1
    mean: bool = False
    margin: float = 0.0
    growing_bias: bool = False

    def rule_of(self, epoch: int) -> Rule:
        """The rule with the step size of a pass; rows that come in parts are of the first."""
        if self.schedule is None or not isinstance(self.rule, Rosenblatt):
            return self.rule
        return self.rule._replace(eta=self.schedule(self.rule.eta, max(epoch, 1)))
