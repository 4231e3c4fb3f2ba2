from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.checks.timing.verdict import chance_of_at_least, interval

SERIES = st.integers(1, 5000).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count)))


@pytest.mark.parametrize(
    ("over", "count", "low", "high"),
    [
        (81, 263, 0.2527, 0.3676),  # Newcombe 1998, table I, method 5
        (15, 148, 0.0578, 0.1617),
        (0, 20, 0.0000, 0.1684),
        (1, 29, 0.0009, 0.1776),
        (10, 100, 0.0490, 0.1762),
    ],
)
def test_it_gives_the_published_values(over, count, low, high):
    assert interval(over, count) == pytest.approx((low, high), abs=0.00005)


@pytest.mark.parametrize("count", [1, 2, 50, 3688, 10**6])
def test_none_and_all_have_a_closed_form(count):
    bound = 1 - 0.025 ** (1 / count)
    assert interval(0, count) == pytest.approx((0.0, bound), rel=1e-9)
    assert interval(count, count) == pytest.approx((1 - bound, 1.0), rel=1e-9)


@given(SERIES)
def test_the_ends_are_in_order_and_contain_the_share(series):
    over, count = series
    low, high = interval(over, count)
    assert 0 <= low <= over / count <= high <= 1


@given(SERIES)
def test_it_is_symmetric(series):
    over, count = series
    low, high = interval(over, count)
    assert interval(count - over, count) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(SERIES)
def test_one_more_over_moves_both_ends_up(series):
    over, count = series
    fewer, more = interval(over, count + 1), interval(over + 1, count + 1)
    assert fewer[0] <= more[0]
    assert fewer[1] <= more[1]


@given(SERIES)
def test_more_confidence_is_wider(series):
    narrow, wide = interval(*series, confidence=0.9), interval(*series, confidence=0.99)
    assert wide[0] <= narrow[0] <= narrow[1] <= wide[1]


@given(SERIES)
def test_each_end_is_where_the_tail_is_one_in_forty(series):
    over, count = series
    low, high = interval(over, count)
    assert over == 0 or isclose(chance_of_at_least(over, count, low), 0.025, rel_tol=1e-6)
    assert over == count or isclose(1 - chance_of_at_least(over + 1, count, high), 0.025, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("over", "share", "chance"), [(0, 0.3, 1), (1, 1.0, 1), (1, 0.0, 0), (1, 0.5, 0.75), (2, 0.5, 0.25)]
)
def test_the_tail_of_two(over, share, chance):
    assert chance_of_at_least(over, 2, share) == pytest.approx(chance)


def test_a_million_calls_are_no_matter():
    low, high = interval(1000, 10**6)
    assert (low, high) == pytest.approx((0.000939, 0.001064), abs=1e-6)
