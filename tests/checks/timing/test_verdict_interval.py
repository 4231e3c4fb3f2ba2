from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.checks.timing.verdict import interval

SERIES = st.integers(1, 5000).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count)))


@pytest.mark.parametrize(
    ("over", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0000),
        (1000, 10**6, 0.000940, 0.001064),
    ],
)
def test_it_gives_the_published_values(over, count, low, high):
    assert interval(over, count) == pytest.approx((low, high), abs=0.00005)


@given(SERIES)
def test_the_ends_contain_the_share_and_are_those_of_the_opposite_turned_round(series):
    over, count = series
    low, high = interval(over, count)
    assert 0 <= low <= over / count <= high <= 1
    assert interval(count - over, count) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(SERIES)
def test_one_more_over_moves_both_ends_up(series):
    over, count = series
    fewer, more = interval(over, count + 1), interval(over + 1, count + 1)
    assert fewer[0] <= more[0]
    assert fewer[1] <= more[1]


@given(SERIES)
def test_each_end_is_as_far_from_the_share_as_confidence_reaches(series):
    """The ends solve (p - share)^2 = z^2 p (1 - p) / count, by which Wilson defined them."""
    over, count = series
    for end in interval(over, count):
        assert isclose((end - over / count) ** 2, 1.959964**2 * end * (1 - end) / count, rel_tol=1e-5, abs_tol=1e-9)
