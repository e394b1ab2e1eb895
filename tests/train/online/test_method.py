"""Rules, schedules and the method of a pass, by their formulas."""

from linsep.train.online.method import SCHEDULES, Method
from linsep.train.online.rules import passive_aggressive, rosenblatt


def test_schedules_are_what_they_are_called():
    assert [SCHEDULES["constant"](2.0, t) for t in (1, 4)] == [2.0, 2.0]
    assert [SCHEDULES["1/t"](2.0, t) for t in (1, 4)] == [2.0, 0.5]
    assert [SCHEDULES["1/sqrt(t)"](2.0, t) for t in (1, 4)] == [2.0, 1.0]


def test_a_rule_has_the_step_size_of_its_pass_and_of_the_first_in_parts():
    method = Method("row", rosenblatt(2.0, 0.5), schedule=SCHEDULES["1/t"])
    assert method.rule_of(4) == rosenblatt(0.5, 0.5)
    assert method.rule_of(0) == rosenblatt(2.0, 0.5)
    assert method._replace(schedule=None).rule_of(4) == rosenblatt(2.0, 0.5)
    other = passive_aggressive("PA-I", 3.0)
    assert method._replace(rule=other).rule_of(4) == other
