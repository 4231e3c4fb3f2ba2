import math
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import rows

from workbook.api.exchange import (
    NEVER_SENT,
    FailureKind,
    RetryBudget,
    RetryPolicy,
    delay,
    http_date,
    is_transient,
    seconds_to_wait,
)
from workbook.errors import ConfigurationError

HEAVY = settings.get_profile("api")
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.rule("REL-1")
def test_a_post_is_tried_again_only_when_it_was_never_sent():
    transient = {kind for kind in FailureKind if is_transient("POST", kind)}
    assert transient == {FailureKind.CONNECT, FailureKind.CONNECT_TIMEOUT, FailureKind.POOL_TIMEOUT}
    assert transient < NEVER_SENT
    assert not any(is_transient("POST", status) for status in range(100, 600))


def test_a_get_is_tried_again_after_what_may_pass():
    assert {kind for kind in FailureKind if not is_transient("GET", kind)} == {
        FailureKind.UNSENDABLE,
        FailureKind.OTHER,
        FailureKind.DEADLINE,
    }
    assert [s for s in range(100, 600) if is_transient("GET", s)] == [429, *range(500, 600)]


def test_jitter_is_full_and_capped():
    policy, random = RetryPolicy(base=0.1, cap=0.3), Random(1)
    for attempt, most in ((1, 0.1), (2, 0.2), (3, 0.3), (9, 0.3)):
        drawn = [delay(policy, attempt, random) for _ in range(200)]
        assert 0 <= min(drawn) < most / 10
        assert most * 0.9 < max(drawn) < most
    assert delay(policy, 1, Random(5)) == delay(policy, 1, Random(5))


def test_retry_after_is_honoured():
    assert delay(RetryPolicy(), 1, Random(1), 3.0) == 3.0
    assert delay(RetryPolicy(), 1, Random(1), 1e30) == 1e30


@rows(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 7 ", 7.0),
        ("9" * 400, 999999999999.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 12:00:30 -0000", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("-1", None),
        ("1.5", None),
        ("nan", None),
        ("٣", None),
        ("²", None),
        ("soon", None),
        ("", None),
        (None, None),
        ("Thu, 99 Jan 2026 12:00:30 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
    ],
)
def test_retry_after_is_read_or_ignored(value, seconds):
    assert seconds_to_wait(value, NOW) == seconds


def test_a_date_means_nothing_without_the_server_s_own():
    assert seconds_to_wait("Thu, 01 Jan 2026 12:00:30 GMT") is None
    assert http_date("Thu, 01 Jan 2026 12:00:00 GMT") == NOW


@settings(HEAVY)
@given(
    st.text() | st.text("0123456789 -+.:GMTJanThu,") | st.datetimes().map(lambda d: f"{d:%a, %d %b %Y %H:%M:%S} GMT")
)
@example("Thu, 01 Jan 99999999999999999999 00:00:00 GMT")
def test_any_retry_after_gives_a_bounded_pause(value):
    seconds = seconds_to_wait(value, NOW)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))
    assert delay(RetryPolicy(), 1, Random(1), seconds) >= (seconds or 0)


def test_the_budget_runs_dry_and_fills_up():
    budget = RetryBudget(most=2, refund=0.5)
    assert [budget.spend() for _ in range(3)] == [True, True, False]
    budget.earn()
    assert not budget.spend()
    for _ in range(9):
        budget.earn()
    assert repr(budget) == "RetryBudget(2.0 of 2.0)"


@rows(
    "wrong",
    [
        {"attempts": 0},
        {"attempts": 11},
        {"attempts": True},
        {"attempts": 1.0},
        {"base": -1},
        {"cap": math.inf},
        {"cap": math.nan},
        {"cap": "1"},
        {"base": True},
        {"cap": 10**400},
    ],
)
def test_policies_are_checked(wrong):
    with pytest.raises(ConfigurationError, match="Give"):
        RetryPolicy(**wrong)
