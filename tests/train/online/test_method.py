"""Rules, schedules and the method of a pass, by their formulas."""

import numpy as np
import pytest

from linsep.train.online.method import SCHEDULES, Method
from linsep.train.online.rules import PassiveAggressive1, PassiveAggressive2, rosenblatt


def test_schedules_are_what_they_are_called():
    assert [SCHEDULES["constant"](2.0, t) for t in (1, 4)] == [2.0, 2.0]
    assert [SCHEDULES["1/t"](2.0, t) for t in (1, 4)] == [2.0, 0.5]
    assert [SCHEDULES["1/sqrt(t)"](2.0, t) for t in (1, 4)] == [2.0, 1.0]


def test_a_rule_has_the_step_size_of_its_pass_and_of_the_first_in_parts():
    method = Method("row", rosenblatt(2.0, 0.5), schedule=SCHEDULES["1/t"])
    assert method.rule_of(4) == rosenblatt(0.5, 0.5)
    assert method.rule_of(0) == rosenblatt(2.0, 0.5)
    assert method._replace(schedule=None).rule_of(4) == rosenblatt(2.0, 0.5)
    assert method._replace(rule=PassiveAggressive1(3.0)).rule_of(4) == PassiveAggressive1(3.0)


def test_a_row_on_the_margin_is_wrong_for_the_perceptron_and_right_for_passive_aggressive():
    assert rosenblatt(1.0, 1.0).wrong(1.0, 1.0)
    assert not PassiveAggressive1(1.0).wrong(1.0, 1.0)
    assert rosenblatt(1.0, 1.0).wrong(np.nan, 1.0)
    assert PassiveAggressive2(1.0).wrong(np.nan, 1.0)


@pytest.mark.parametrize("z", [-2.0, 0.0, 0.75])
def test_a_passive_aggressive_step_clears_margin_one_and_no_more(z):
    assert z + 4.0 * PassiveAggressive1(100.0).size(z, 4.0) == 1.0
    assert PassiveAggressive1(0.01).size(z, 4.0) == 0.01
    # the minimum of τ²(‖x‖² + 1/(2C))/2 − τ(1 − z), Crammer et al. (2006)
    assert PassiveAggressive2(0.25).size(z, 2.0) == (1.0 - z) / 4.0


def test_the_perceptron_shares_a_step_among_all_rivals_met_on_the_way():
    s, a = np.array([0.0, 0.0, 5.0]), np.zeros(3)
    assert rosenblatt(1.0, 0.0).spread(s, 0, 2.0, 1.0, a) == 2
    # against class 1 the own score rises by η‖x‖² = 2, which is not enough against class 2
    assert a.tolist() == [2.0, -1.0, -1.0]
    s, a = np.array([0.0, 0.0, 1.0]), np.zeros(3)
    assert rosenblatt(1.0, 0.0).spread(s, 0, 2.0, 1.0, a) == 1
    assert a.tolist() == [1.0, -1.0, 0.0]


def test_passive_aggressive_steps_away_from_the_strongest_rival_alone():
    s, a = np.array([0.0, 0.5, 0.25]), np.zeros(3)
    assert PassiveAggressive1(9.0).spread(s, 0, 2.0, 1.0, a) == 1
    assert a.tolist() == [0.375, -0.375, 0.0]  # (1 − 0 + 0.5)/(2·2)
