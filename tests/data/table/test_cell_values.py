"""Cells as people write them are the numbers they mean, or none at all."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.data.table.cells import amount, days, days_of, number, order_of, parser, truth, words_of


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_float_is_read_to_its_last_digit(value):
    assert number(repr(value)) == value
    assert number(repr(value).replace(".", ","), ",") == value


@given(st.integers(-(10**12), 10**12))
def test_amounts_are_read_with_separators_currencies_and_brackets(value):
    assert amount(f"{value:,}") == value
    assert amount(f"{value:,}".replace(",", "."), ",") == value
    assert amount(f"({abs(value):,})") == -abs(value)
    assert amount(f"${abs(value):,}.50") == abs(value) + 0.5


@given(st.dates(date(1970, 1, 1), date(2069, 12, 31)))
def test_dates_are_days_since_1970_in_each_order(day):
    n = (day - date(1970, 1, 1)).days
    assert days(day.isoformat()) == days_of(day) == n
    assert days(day.strftime("%d.%m.%Y"), "dmy") == n
    assert days(day.strftime("%m/%d/%y"), "mdy") == n
    assert order_of([day.isoformat()]) == "ymd"


@given(st.datetimes(datetime(1970, 1, 1), datetime(2069, 1, 1), timezones=st.just(UTC)))
def test_moments_are_shares_of_days(moment):
    passed = (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)
    assert days(moment.isoformat()) == pytest.approx(passed, abs=1e-9)


def test_what_is_no_such_cell_is_none():
    assert [number(text) for text in ("", "1e", "1_000", "x")] == [None] * 4
    assert [truth(text) for text in ("TRUE", "false", "perhaps")] == [1.0, 0.0, None]
    assert parser("truth")("True") == 1.0 and parser("number")("2.5") == 2.5


def test_words_are_in_lower_case_without_signs():
    assert words_of("Too dear, TOO slow!") == ["too", "dear", "too", "slow"]
