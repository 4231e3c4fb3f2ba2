from fractions import Fraction
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.checks.timing.verdict import (
    EDGES,
    Judgement,
    LimitVerdict,
    Spread,
    advice,
    count_by_step,
    find_limit,
    judge_durations,
    percent,
    rank,
    span,
    times,
)
from workbook.errors import ParameterError
from workbook.flows.messages import LIMITS, Limit

SECONDS = st.lists(st.floats(0, 1000), min_size=1, max_size=200)


@pytest.mark.rule("X-STATUS-3")
def test_exactly_100_ms_is_in_time_and_a_little_more_is_not():
    assert judge_durations([0.1], "status").over == 0
    assert judge_durations([0.1000001], "status").verdict is LimitVerdict.FAIL


@pytest.mark.rule("X-ENTRIES-3")
@pytest.mark.parametrize("call", ["pass_entries", "remote_pass_entries"])
def test_exactly_20_s_is_in_time_and_a_little_more_is_not(call):
    assert judge_durations([20.0], call).over == 0
    assert judge_durations([20.000001], call).verdict is LimitVerdict.FAIL


@rows(
    ("durations", "target", "verdict"),
    [
        ([0.0799], 0.001, "warn"),
        ([0.0799, 0.01], 0.001, "pass"),
        ([0.08], 0.001, "warn"),
        ([0.1], 0.001, "warn"),
        ([0.2], 0.001, "fail"),
        ([0.01] * 999 + [0.2], 0.001, "warn"),
        ([0.01] * 998 + [0.2], 0.001, "fail"),
        ([0.01] * 9 + [0.2], 0.1, "warn"),
        ([0.2], 1, "warn"),
        ([0.01] * 100_000 + [0.2], 0, "fail"),
    ],
)
def test_the_verdict(durations, target, verdict):
    assert judge_durations(durations, "status", target=target).verdict == verdict


@given(SECONDS, st.sampled_from(sorted(LIMITS)))
def test_a_judgement_agrees_with_its_durations(durations, call):
    found = judge_durations(durations, call)
    late = [one for one in durations if one > found.limit.seconds]
    assert (found.count, found.over) == (len(durations), len(late))
    assert found.low <= found.share <= found.high
    assert found.spread.p50 <= found.spread.p99 <= found.spread.worst == max(durations)
    assert sum(one.count for one in found.bins) == found.count
    assert sum(one.over for one in found.bins) == found.over
    assert judge_durations(sorted(durations), call) == found
    assert max(map(len, found.text.splitlines())) <= 110


@given(SECONDS)
def test_a_slower_call_never_gets_a_better_verdict(durations):
    order = [LimitVerdict.PASS, LimitVerdict.WARN, LimitVerdict.FAIL]
    slower = judge_durations([one * 2 for one in durations], "pass_entries")
    assert order.index(judge_durations(durations, "pass_entries").verdict) <= order.index(slower.verdict)


def test_none_over_says_what_cannot_be_excluded():
    found = judge_durations([0.01] * 50, "status")
    assert (
        found.finding
        == "none of 50 over 100 ms; up to 7.1 % cannot be excluded (0.1 % takes 3,838 calls with none over)"
    )
    enough = judge_durations([0.01] * 3838, "status")
    assert enough.finding.endswith("up to 0.1 % cannot be excluded")
    assert enough.high <= 0.001 < judge_durations([0.01] * 3837, "status").high
    assert judge_durations([0.01], "status", target=0).finding.endswith("up to 79 % cannot be excluded")


def test_some_over_says_between_which_shares_the_truth_lies():
    found = judge_durations([0.01] * 197 + [0.2] * 3, "status", label="build 0042, cold")
    assert found.text.splitlines() == [
        "FAIL  status, build 0042, cold: 3 of 200 over 100 ms: 1.5 % (0.51 % to 4.3 % with 95 % confidence)",
        "      median 10 ms, 99th percentile 200 ms, worst 200 ms; X-STATUS-3 (spec)",
        "      missed means: the app is not listed in the wallet (wallet)",
        "      Read the sdkInput that the app put into secure storage (X-CACHE-1), make no network call in status(),",
        "      and leave all other work to passEntries().",
    ]
    assert repr(found) == found.text
    assert (found.share_text, found.used_text, found.limit_text) == ("1.5 %", "200 %", "100 ms")


def test_a_simulated_duration_has_no_interval():
    found = judge_durations([0.081], "status", exact=True)
    assert (found.low, found.high) == (None, None)
    assert found.text.splitlines()[:3] == [
        "WARN  status: none of 1 over 100 ms (simulated: the same every time)",
        "      took 81 ms; X-STATUS-3 (spec)",
        "      little room: the worst used 81 % of the limit",
    ]


def test_a_pass_needs_no_advice_and_a_limit_that_only_the_platform_gives_says_so():
    found = judge_durations([0.5, 0.6], "provision")
    assert found.advice == ""
    assert found.text.endswith("median 500 ms, worst 600 ms; B-DEL-3 (wallet)")


def test_some_over_within_the_target_is_a_warning_without_the_word_room():
    assert "little room" not in judge_durations([1.0] * 9999 + [25.0], "provision").text


def test_each_limited_call_has_its_advice_and_any_other_a_general_one():
    assert len({advice(call) for call in (*LIMITS, "another")}) == len(LIMITS)  # both lists of entries have one
    assert "X-CACHE-1" in advice("status")
    assert advice("something") == "Do less in this call, or do it earlier."


def test_one_figure_is_the_worst_of_few_and_the_99th_percentile_of_many():
    assert judge_durations([0.01, 0.05], "status").measured == 0.05
    assert judge_durations([0.01] * 99 + [0.05], "status").measured == 0.01


def test_a_percentile_is_a_duration_that_occurred():
    assert [rank(50, count) for count in (1, 2, 3, 4)] == [0, 0, 1, 1]
    assert [rank(99, count) for count in (1, 100, 101, 700)] == [0, 98, 99, 692]
    assert Spread.of([1.0, 2.0, 9.0]) == Spread(2.0, 9.0, 9.0)


def test_a_limit_of_ones_own_will_do():
    own = Limit("status", 0.05, "X-STATUS-3", "spec", "the app is not listed")
    assert judge_durations([0.06], own).over == 1
    assert find_limit(own) is own
    assert isinstance(judge_durations([0.06], own), Judgement)
    assert judge_durations([0.06], own).used == pytest.approx(1.2)


@rows(
    ("durations", "told"),
    [
        ([], "There are no durations to judge. Give at least one, in seconds."),
        ([0.1, -1], "Duration 2 is -1. Give a finite number of 0 or more, in seconds."),
        ([0.1, nan], "Duration 2 is nan."),
        ([inf], "Duration 1 is inf."),
        ([True], "Duration 1 is True."),
        (["0.1"], "Duration 1 is '0.1'."),
        ([None], "Duration 1 is None."),
        ([10**400], "Duration 1 is a whole number of 1329 bits."),
        ([10**5000], "Duration 1 is a whole number of "),
        ("0.1", "The durations are '0.1'. Give a list of seconds, such as [0.031, 0.044]."),
        (0.1, "The durations are 0.1."),
        ([["x" * 99]], "Duration 1 is a value of type list"),
    ],
)
def test_what_is_no_duration_is_refused_with_its_position(durations, told):
    with pytest.raises(ParameterError) as caught:
        judge_durations(durations, "status")
    assert str(caught.value).startswith(told)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("durations", [[np.float32(0.5)], [np.int64(1)], [Fraction(1, 2)], (one for one in [1])])
def test_any_real_number_is_a_duration(durations):
    assert judge_durations(durations, "pass_entries").count == 1


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("statsu", "Did you mean 'status'?"),
        (0.1, "The limit is 0.1. Give a call's name"),
        (SimpleNamespace(), "The limit is"),
    ],
)
def test_what_is_no_limit_is_refused(limit, told):
    with pytest.raises(ParameterError, match=told):
        judge_durations([0.1], limit)


@pytest.mark.parametrize("target", [-0.1, 1.1, nan, True, "0.1", None])
def test_a_target_is_a_share(target):
    with pytest.raises(ParameterError, match=r"target is .* Give a finite number of 0 or more and at most 1"):
        judge_durations([0.1], "status", target=target)


@rows(("seconds", "told"), [
        (0.0, "0 µs"), (1e-7, "0.1 µs"), (0.0000123, "12.3 µs"), (0.0009999, "1 ms"), (0.001, "1 ms"),
        (0.0123, "12.3 ms"),
        (0.12345, "123 ms"), (0.9994, "999 ms"), (0.99951, "1 s"), (1.0, "1 s"), (20.0, "20 s"), (12345.0, "12,300 s"),
    ])  # fmt: skip
def test_a_duration_in_words(seconds, told):
    assert span(seconds) == told


@rows(("share", "told"), [
        (0, "0 %"), (1, "100 %"), (0.071122, "7.1 %"), (0.5, "50 %"), (0.63, "63 %"), (0.9, "90 %"), (0.998, "99.8 %"),
        (0.9999984, "99.99984 %"), (1 - 1e-12, "over 99.9999999 %"), (3.7e-6, "0.00037 %"),
        (1e-12, "under 0.0000001 %"),
        (1.2, "120 %"), (12.0, "1,200 %"),
    ])  # fmt: skip
def test_a_share_in_words(share, told):
    assert percent(share) == told


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_share_between_none_and_all_never_reads_as_either(share):
    assert percent(share) not in {"0 %", "100 %"}


def test_things_in_words():
    assert [times(1, "call"), times(1000, "call")] == ["1 call", "1,000 calls"]


def test_both_limits_stand_on_a_step_and_a_step_holds_its_upper_end():
    assert {0.1, 20.0} < set(EDGES)
    assert [(one.low, one.high, one.over) for one in count_by_step([0.1, 0.1001], 0.1)] == [
        (0.08, 0.1, 0),
        (0.1, 0.125, 1),
    ]


def test_what_is_off_the_scale_counts_in_its_first_and_last_step():
    assert [(one.low, one.high, one.count) for one in count_by_step([0.0, 1e-5, 1e9], 20.0)] == [
        (1e-5, 1.25e-5, 2),
        (800.0, 1000.0, 1),
    ]
