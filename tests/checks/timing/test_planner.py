"""The planner against an event by event simulation on the virtual clock, and against what can be written down."""

import subprocess
import sys
from dataclasses import replace
from math import comb, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.checks.timing.planner import LogNormal, Plan, Resampled, add_up, chance_lacking
from workbook.checks.timing.verdict import TARGET, LimitVerdict, interval, judge_durations
from workbook.errors import ParameterError
from workbook.play.loop import EventClock

GETS = st.sampled_from(["one by one", "concurrent"])
QUICK = LogNormal(median=0.6, p99=4.0)


def totals(latencies, plan):
    """Each call's total and how many cards it lacks, with latencies shaped (calls, cards, attempts)."""
    return add_up(plan, len(latencies), lambda card, attempt, where: latencies[where, card, attempt])


def walked(latencies, plan):
    """One call, event by event: when it is over, and how many cards it lacks."""
    clock, waiting, lacking = EventClock(), list(range(plan.cards)), 0
    clock.after(plan.overhead, None)

    def attempt(card, number):
        took = latencies[card][number]
        late = plan.timeout is not None and took > plan.timeout
        clock.after(plan.timeout if late else took, (card, number, late))

    for event in clock:
        if event is not None:
            card, number, late = event
            if late and number < plan.retries:
                attempt(card, number + 1)
                continue
            lacking += late
            if plan.gets == "concurrent":
                continue
        for card in waiting[:1] if plan.gets == "one by one" else waiting:
            attempt(card, 0)
        del waiting[: 1 if plan.gets == "one by one" else None]
    return clock.now, lacking


@st.composite
def calls(draw):
    cards, retries = draw(st.integers(1, 5)), draw(st.integers(0, 3))
    plan = Plan(
        QUICK,
        cards=cards,
        gets=draw(GETS),
        timeout=draw(st.none() | st.floats(0.01, 10)),
        retries=retries,
        overhead=draw(st.floats(0, 5)),
    )
    seconds = st.floats(0, 30) if plan.timeout is None else st.floats(0, 30) | st.just(plan.timeout)
    count = draw(st.integers(1, 4))
    found = draw(st.lists(seconds, min_size=count * cards * (retries + 1), max_size=count * cards * (retries + 1)))
    return np.array(found).reshape(count, cards, retries + 1), plan


@pytest.mark.slow
@pytest.mark.rule("X-ENTRIES-3")
@given(calls())
def test_it_agrees_with_an_event_by_event_simulation_to_the_last_bit(drawn):
    latencies, plan = drawn
    total, lacking = totals(latencies, plan)
    assert [(float(t), int(n)) for t, n in zip(total, lacking, strict=True)] == [walked(one, plan) for one in latencies]


def test_by_hand():
    latencies = np.array([[[1.0, 9.0], [5.0, 1.0]], [[3.0, 9.0], [2.0, 9.0]], [[3.0, 0.5], [9.0, 9.0]]])
    one_by_one = Plan(QUICK, cards=2, timeout=2.0, retries=1, overhead=0.5)
    assert [part.tolist() for part in totals(latencies, one_by_one)] == [[4.5, 6.5, 7.0], [0, 1, 1]]
    concurrent = replace(one_by_one, gets="concurrent")
    assert [part.tolist() for part in totals(latencies, concurrent)] == [[3.5, 4.5, 4.5], [0, 1, 1]]


@given(calls())
def test_a_longer_timeout_without_retries_and_one_more_card_never_make_it_quicker(drawn):
    latencies, plan = drawn
    once = replace(plan, retries=0, timeout=1.0)
    assert (totals(latencies[:, :, :1], once)[0] <= totals(latencies[:, :, :1], replace(once, timeout=2.0))[0]).all()
    fewer = replace(plan, cards=plan.cards - 1) if plan.cards > 1 else plan
    assert (totals(latencies[:, : fewer.cards], fewer)[0] <= totals(latencies, plan)[0]).all()


CLOSED = [
    Plan(QUICK, cards=1, limit=3.0),
    Plan(QUICK, cards=1, limit=3.0, timeout=5.0, overhead=0.5),
    Plan(QUICK, cards=1, limit=3.0, timeout=1.0, retries=3),
    Plan(QUICK, cards=8, gets="concurrent", limit=5.0),
    Plan(QUICK, cards=8, gets="concurrent", limit=5.0, timeout=2.0, retries=4, overhead=0.25),
    Plan(QUICK, cards=8, gets="concurrent", limit=5.0, timeout=4.0, retries=1),
    Plan(Resampled([0.5, 1.0, 1.5, 4.0]), cards=3, gets="concurrent", limit=4.0, timeout=1.0, retries=3),
    Plan(Resampled([0.5, 3.9]), cards=1, limit=4.0, overhead=0.1),
]


@rows("plan", CLOSED)
def test_a_closed_form_agrees_with_the_simulation(plan):
    found = plan.simulate(200_000)
    low, high = found.judgement.low, found.judgement.high
    assert low <= plan.exact() <= high
    assert found.missed == found.judgement.share
    assert "by its closed form, the chance to miss is " in found.text


@pytest.mark.parametrize("plan", [one for one in CLOSED if one.timeout], ids=lambda plan: plan.words)
def test_the_chance_that_a_card_is_missing_agrees_too(plan):
    low, high = interval((found := plan.simulate(200_000)).lacking, found.calls)
    assert low <= chance_lacking(plan) <= high
    assert low <= found.card_missing <= high


@pytest.mark.parametrize("retries", [0, 2])
def test_one_by_one_is_certain_when_even_the_worst_case_fits(retries):
    plan = Plan(QUICK, cards=10, timeout=20 / 11 / (retries + 1), retries=retries, overhead=1.0)
    assert plan.exact() == 0.0
    assert plan.simulate(20_000).missed == 0.0


def test_ten_times_two_seconds_is_exactly_the_limit():
    plan = Plan(Resampled([9.0]), timeout=2.0)
    assert (plan.exact(), plan.simulate(10).missed, plan.simulate(10).card_missing) == (0.0, 0.0, 1.0)


def test_nothing_helps_when_the_limit_is_over_before_the_first_get():
    assert Plan(QUICK, overhead=20.1).exact() == 1.0


def test_several_cards_one_by_one_have_no_closed_form():
    assert Plan(QUICK).exact() is None
    assert "closed form" not in repr(Plan(QUICK).simulate(100))


def test_two_points_one_by_one_are_binomial():
    plan = Plan(Resampled([0.5] * 9 + [4.0]), cards=10, limit=16.0)
    late = sum(comb(10, k) * 0.1**k * 0.9 ** (10 - k) for k in range(11) if 0.5 * (10 - k) + 4 * k > 16)
    judged = plan.simulate(400_000).judgement
    assert judged.low <= late <= judged.high


def test_the_same_seed_gives_the_same_estimate_and_another_one_another():
    plan = Plan(QUICK, timeout=1.5, retries=1)
    first, again, other = plan.simulate(32_777), plan.simulate(32_777), plan.simulate(32_777, seed=8)
    assert (first, repr(first)) == (again, repr(again))
    assert first.judgement.bins != other.judgement.bins


def test_an_estimates_judgement_is_the_one_of_its_totals():
    plan = Plan(Resampled([0.5, 2.5]), cards=9, limit=20.0)
    found = plan.simulate(5000, target=0.01)
    total = totals(np.moveaxis(plan.latency.draw(np.random.default_rng(7), (9, 5000)), 0, 1)[:, :, None], plan)[0]
    assert replace(found.judgement, todo=None) == judge_durations(
        total.tolist(), "pass_entries", label=plan.words, target=0.01
    )
    assert (found.calls, found.plan, found.seed) == (5000, plan, 7)


def test_an_estimate_says_all_of_it_in_words():
    text = Plan(Resampled([1.0, 30.0]), cards=2, gets="concurrent", timeout=5.0).simulate(1000).text
    assert text.startswith("PASS  pass_entries, 2 cards concurrent, each given up after 5 s: none of 1,000 over 20 s; ")
    assert "at least one card missing: 74 % of calls (72 % to 77 %; by its closed form 75 %)" in text
    assert text.endswith("by its closed form, the chance to miss is 0 %")
    assert "no card is ever missing: no GET is given up" in Plan(QUICK).simulate(100).text


def test_a_plan_for_another_call_is_judged_as_that_call():
    found = Plan(QUICK, call="remote_pass_entries", limit=1.0).simulate(100).judgement
    assert (found.limit.call, found.limit.seconds, found.verdict) == ("remote_pass_entries", 1.0, LimitVerdict.FAIL)


def test_a_plan_in_words():
    assert Plan(QUICK, cards=1).words == "1 card one by one, without a timeout"
    assert Plan(QUICK, gets="concurrent", timeout=2, retries=1, overhead=0.2).words == (
        "10 cards concurrent, each given up after 2 s, then made again up to 1 time, 200 ms beforehand"
    )


def test_plans_can_be_keys():
    assert len({Plan(QUICK), Plan(QUICK), Plan(QUICK, cards=3)}) == 2
    assert repr(QUICK) == "LogNormal(median=0.6, p99=4.0)"


def test_a_plan_of_measured_durations_draws_them():
    assert Plan.measured([2.5, 0.5], cards=9) == Plan(Resampled([0.5, 2.5]), cards=9)
    with pytest.raises(ParameterError, match="-1"):
        Plan.measured([1, -1])


@rows(
    ("given", "told"),
    [
        ({"cards": 0}, "cards is 0. Give a whole number from 1 to 100."),
        ({"cards": 101}, "cards is 101."),
        ({"cards": True}, "cards is True."),
        ({"cards": 2.0}, "cards is 2.0."),
        ({"gets": "concurent"}, "gets is 'concurent'. Did you mean 'concurrent'?"),
        ({"gets": True}, "gets is True. Known: concurrent, one by one."),
        ({"timeout": 0}, "timeout is 0. Give a finite number above 0."),
        ({"timeout": -1}, "timeout is -1."),
        ({"timeout": nan}, "timeout is nan."),
        ({"timeout": True}, "timeout is True."),
        ({"retries": -1}, "retries is -1. Give a whole number from 0 to 10."),
        ({"retries": 11}, "retries is 11."),
        ({"overhead": -0.1}, "overhead is -0.1. Give a finite number of 0 or more."),
        ({"limit": 0}, "limit is 0."),
        ({"call": "pass_entry"}, "No limit for the call 'pass_entry'. Did you mean 'pass_entries'?"),
        (
            {"latency": 0.6},
            "latency is 0.6. Give LogNormal(median=…, p99=…), in seconds; for measured durations use Plan.measured",
        ),
    ],
)
def test_nonsense_is_refused(given, told):
    with pytest.raises(ParameterError) as caught:
        Plan(**{"latency": QUICK} | given)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"calls": 0}, "calls is 0. Give a whole number from 1 to 10,000,000."),
        ({"calls": 10**7 + 1}, "calls is 10000001."),
        ({"seed": -1}, "seed is -1."),
        ({"seed": "7"}, "seed is '7'."),
        ({"target": 2}, "target is 2."),
    ],
)
def test_nonsense_to_simulate_is_refused(given, told):
    with pytest.raises(ParameterError) as caught:
        Plan(QUICK).simulate(**given)
    assert str(caught.value).startswith(told)


def test_a_log_normal_has_the_median_and_the_percentile_that_it_was_given():
    assert QUICK.cdf(0.6) == pytest.approx(0.5)
    assert QUICK.cdf(4.0) == pytest.approx(0.99)
    assert (QUICK.cdf(0), QUICK.cdf(-1)) == (0.0, 0.0)
    drawn = np.sort(QUICK.draw(np.random.default_rng(1), 100_000))
    assert drawn[50_000] == pytest.approx(0.6, rel=0.02)
    assert drawn[99_000] == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize(
    ("median", "p99", "told"),
    [
        (0, 1, "median is 0. Give a finite number above 0."),
        (1, nan, "p99 is nan."),
        (True, 2, "median is True."),
        (2.0, 1.0, "p99 is 1 s and median 2 s. Give a p99 above the median; for a latency that never varies use Pl"),
        (1, 1, "p99 is 1 s and median 1 s."),
    ],
)  # fmt: skip
def test_a_log_normal_of_nonsense_is_refused(median, p99, told):
    with pytest.raises(ParameterError) as caught:
        LogNormal(median, p99)
    assert str(caught.value).startswith(told)


@given(st.lists(st.floats(0, 100), min_size=1), st.floats(0, 100))
def test_resampling_knows_only_what_was_recorded(durations, seconds):
    found = Resampled(durations)
    assert set(found.draw(np.random.default_rng(1), (4, 5)).ravel()) <= set(durations)
    assert found.cdf(seconds) == sum(one <= seconds for one in durations) / len(durations)
    assert hash(found) == hash(Resampled(sorted(durations)))


def test_resampling_says_what_it_holds():
    assert repr(Resampled([0.5, 0.1])) == "Resampled(2 durations from 100 ms to 500 ms)"
    with pytest.raises(ParameterError, match="Duration 2 is -1"):
        Resampled([1, -1])


@pytest.mark.slow
def test_simulating_a_million_calls_stays_small():
    program = (
        "from workbook.checks.timing.planner import Plan\n"
        "from workbook.checks.timing.planner import LogNormal\n"
        "Plan(LogNormal(1, 3), timeout=2, retries=2).simulate()\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) // 1024)"  # getrusage would count what the parent held when it forked
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 500


# What to change in a plan.

ANY_PLAN = st.builds(
    Plan,
    st.tuples(st.floats(0.01, 15.0), st.floats(1.05, 60.0)).map(lambda pair: LogNormal(pair[0], pair[0] * pair[1])),
    cards=st.integers(1, 30),
    gets=st.sampled_from(["one by one", "concurrent"]),
    timeout=st.one_of(st.none(), st.integers(1, 40).map(lambda half: half / 2)),
    retries=st.integers(0, 5),
    overhead=st.sampled_from([0.0, 0.0, 1.0, 19.95, 21.0]),
)


@pytest.mark.rule("X-ENTRIES-3", "REL-5")
@given(ANY_PLAN)
def test_no_advice_is_followed_already_and_following_one_never_makes_more_calls_late(plan):
    share = plan.chance(calls=2_000)
    advised = plan.advice(share)
    assert bool(advised) <= (share > TARGET)
    draws = plan.latency.draw(np.random.default_rng(3), (400, plan.cards, plan.retries + 1))
    late = np.count_nonzero(totals(draws, plan)[0] > plan.limit)
    for advice in advised:
        better = advice.plan
        assert better != plan
        assert np.count_nonzero(totals(draws[:, :, : better.retries + 1], better)[0] > better.limit) <= late
        if (exact := plan.exact()) is not None and better.exact() is not None:
            assert better.exact() <= exact + 1e-12
        assert advice.text not in [again.text for again in better.advice(1.0)]
    said = " ".join(advice.text for advice in advised)
    assert not ("at the same time" in said and plan.gets == "concurrent")
    assert not ("Make a GET" in said and not plan.retries)
    assert "None" not in said


@pytest.mark.rule("X-ENTRIES-3")
def test_the_advice_that_was_wrong_in_three_ways():
    told = Plan(LogNormal(0.8, 60.0), cards=10, gets="concurrent").simulate(20_000)
    assert "Give each GET up after 9 s" in told.text
    assert "at the same time" not in told.text
    assert "given up not again" not in told.text
    assert "Nothing to do" not in told.text


@pytest.mark.rule("X-ENTRIES-3")
def test_a_timeout_is_not_advised_where_it_hides_more_cards_than_the_limit_does():
    one_by_one = Plan(LogNormal(0.8, 9.0), cards=10)
    assert [advice.text for advice in one_by_one.advice()] == [
        "Fetch the cards' sdkInputs at the same time instead of one by one."
    ]
    at_once = replace(one_by_one, gets="concurrent")
    assert [advice.text for advice in at_once.advice()] == ["Give each GET up after 9 s; a list may then lack a card."]


def test_where_nothing_helps_it_says_so():
    slow = Plan(LogNormal(15.0, 60.0), cards=10, gets="concurrent")
    assert slow.advice() == ()
    faster = "No other choice in this plan helps: make each GET faster, or fetch for fewer cards."
    assert faster in slow.simulate(2_000).text.replace("\n      ", " ")
    fine = Plan(LogNormal(0.1, 0.2), cards=3)
    assert (fine.advice(), fine.simulate(2_000).judgement.todo) == (
        (),
        "Nothing to do: at most one call in a thousand takes so long.",
    )
