"""A failure is confirmed alone, every value is followed to its card, and the back end's own limits are seen as such."""

import asyncio
import threading
import time
from dataclasses import replace

import pytest
import reference
import relays
from seen_values import attempt, call, dropped, request, seen

from workbook.tools.conform.back_end import case_runner
from workbook.tools.conform.back_end.case_runner import OWN_429, CaseRunner, answers_429_itself
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.findings import common_causes
from workbook.tools.conform.back_end.judging import ASK, ASK_AGAIN, HAND_ON, OWN_CARD, UNASKED, WORK, CardWatch
from workbook.tools.conform.back_end.model import BackEndResult, Broke
from workbook.tools.conform.back_end.schedule import Schedule, fails_only_with_others, run_cases
from workbook.tools.harness.model import Miss, Root, Verdict

FEW = ("relay.get.text-symbols", "relay.post.text-symbols", "relay.get.text-unicode")


class Mixes(reference.Relay):
    """It keeps the card of the call in itself, where the next call changes it."""

    def check(self, session, card):
        super().check(session, card)
        self.card = card
        time.sleep(0.02)

    def url(self, _card):
        return super().url(self.card)


class Alters(reference.Relay):
    """It changes what it hands on, whether or not another call is under way."""

    def sdk_input(self, answered):
        return super().sdk_input(answered) + "="


class OneAtATime(reference.Relay):
    """Its calls wait for one another, and each takes a while."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.lock = threading.Lock()

    def call(self, *words, **more):
        with self.lock:
            time.sleep(0.5)
            return super().call(*words, **more)


class Limits(reference.Relay):
    """It answers 429 itself once it has been called a few times."""

    calls = 0

    def check(self, session, card):
        super().check(session, card)
        self.calls += 1
        if self.calls > 4:
            raise self.Refused(429, "Too many calls.")


def of(monkeypatch, kind, cases, **more):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    return relays.results("mine", cases, **more)


@pytest.mark.slow
@pytest.mark.rule("REL-4")
def test_what_passes_alone_is_a_finding_of_its_own_and_what_fails_alone_is_not(monkeypatch):
    mixed = [one for one in of(monkeypatch, Mixes, FEW) if one.verdict is Verdict.FAIL]
    assert {miss.root for one in mixed for miss in one.misses} == {Root.CONCURRENCY}
    assert {miss.todo for one in mixed for miss in one.misses} == {OWN_CARD}
    altered = of(monkeypatch, Alters, FEW[:2])
    assert [one.verdict for one in altered] == [Verdict.FAIL] * 2
    assert {miss.root for one in altered for miss in one.misses} == {Root.CASE}


@pytest.mark.rule("REL-5")
def test_calls_that_wait_for_one_another_are_late_beside_others_and_that_is_no_fault_of_their_case(monkeypatch):
    late, given_up, quick = (
        dropped(Broke.LATE, took=2.5),
        replace(call(value=None, status=504), ended=1.6),
        replace(call(value=None, status=504), ended=0.2),
    )
    for ended, root, wanted in (
        (late, Root.CASE, Verdict.PASS),
        (late, Root.WRONG_CARD, Verdict.FAIL),
        (given_up, Root.CASE, Verdict.PASS),
        (given_up, Root.WRONG_CARD, Verdict.FAIL),
        (quick, Root.CASE, Verdict.FAIL),
    ):
        miss = Miss("an answer", "none", WORK, root=root)
        failed = BackEndResult(CASES["relay.get.path"], Verdict.FAIL, (miss,), seen=seen([ended], []))

        async def alone(_case, failed=failed):
            return replace(failed, verdict=Verdict.PASS, misses=())

        monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
        with relays.running("mine", ["relay.get.path"]) as runner:
            schedule = Schedule(runner)
            runner.limit = 1.5
            monkeypatch.setattr(schedule, "run_alone", alone)
            assert asyncio.run(schedule._confirm(failed)).verdict is wanted


@pytest.mark.parametrize(("others", "root"), [((), Root.CONCURRENCY), ((Verdict.FAIL,), Root.CASE)])
def test_what_passes_alone_is_explained_by_another_case_that_fails_alone(monkeypatch, others, root):
    """A chunk that ends inside a character does so now and then."""
    miss = Miss("the sdkInput", "another text", HAND_ON, root=Root.CASE)
    paths = CASES["relay.get.path"], CASES["relay.post.path"]
    failed = [BackEndResult(case, Verdict.FAIL, (miss,), seen=seen([call()], [])) for case in paths]
    alone = iter([Verdict.PASS, *(others or [Verdict.PASS])])

    async def run_alone(_case):
        verdict = next(alone)
        return replace(failed[0], verdict=verdict, misses=(miss,) if verdict is Verdict.FAIL else ())

    monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
    with relays.running("mine", ["relay.get.path"]) as runner:
        schedule = Schedule(runner)
        monkeypatch.setattr(schedule, "run_alone", run_alone)
        schedule._failed_in_parallel = failed
        asyncio.run(schedule.confirm_failures())
    assert {miss.root for result in schedule.results.values() for miss in result.misses} == {root}


@pytest.mark.slow
def test_a_limit_of_its_own_is_no_failure_and_a_pace_keeps_it(monkeypatch):
    cases = FEW + tuple(f"relay.get.fault-{status}" for status in (500, 404))
    results = of(monkeypatch, Limits, cases)
    assert {one.verdict for one in results} <= {Verdict.PASS, Verdict.NOT_LOOKED_AT}
    assert [finding.root for finding in common_causes(results)] == [Root.LIMIT]
    assert OWN_429 in {one.why for one in results}


def test_a_429_is_its_own_where_the_api_answered_other_calls_as_it_should():
    refused = call(value=None, status=429)
    assert answers_429_itself(refused, seen([refused, call(number=2)], [request()]))
    assert not answers_429_itself(refused, seen([refused], [request(value=None)]))


def test_calls_that_belong_together_wait_for_all_their_pauses(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
    waited, now = [], [100.0]

    async def sleep(seconds):
        waited.extend([round(seconds, 3)] if seconds else [])  # closing a loop sleeps for nothing
        now[0] += seconds

    async def calls():
        for count in (1, 1, 3, 0, 1):
            await runner.paced(count)

    with relays.running("mine", pace=0.5) as runner:
        monkeypatch.setattr(case_runner.asyncio, "sleep", sleep)
        monkeypatch.setattr(case_runner, "monotonic", lambda: now[0])
        asyncio.run(calls())
        runner.target = replace(runner.target, pace=0.0)
        asyncio.run(calls())
    assert waited == [0.5, 0.5, 1.5, 0.5]


@pytest.mark.slow
def test_the_limit_of_the_back_end_is_observed_and_a_slow_api_keeps_below_it(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": reference.Relay})
    with relays.running("mine", ["relay.list.in-time"], deadline=1.2, bound=9.0) as runner:
        (result,) = asyncio.run(run_cases([CASES["relay.list.in-time"]], runner))
    assert runner.limit < float("inf")
    assert result.verdict is Verdict.PASS
    assert all(one.succeeded for one in result.calls)  # not a failure in time, as the API was quick enough


@pytest.mark.rule("REL-7")
def test_an_old_answer_counts_also_where_the_case_passes_alone_because_it_has_expired():
    case, old = (
        CASES["relay.get.path"],
        Miss("an answer of the API", "an old one", ASK_AGAIN, "REL-7", root=Root.OLD_ANSWER),
    )
    kept = BackEndResult(case, Verdict.WARN, (old, Miss("a GET at the API", "none", ASK, root=Root.FOLLOWS)))
    assert fails_only_with_others(kept) is kept
    mixed = fails_only_with_others(replace(kept, misses=kept.misses[1:]))
    assert [(miss.root, miss.rule) for miss in mixed.misses] == [(Root.CONCURRENCY, "REL-4")]
    assert mixed.misses[0].todo.startswith("Keep calls apart")
    lost = replace(attempt().calls[1], broke=Broke.LOST, status=None)
    closed = fails_only_with_others(replace(kept, misses=kept.misses[1:], seen=seen([lost], [])))
    assert closed.misses[0].todo.startswith("Announce the end of a connection")
    first = fails_only_with_others(replace(kept, misses=kept.misses[1:], seen=seen([replace(lost, number=1)], [])))
    assert first.misses[0].todo.startswith("Keep calls apart")
    assert mixed.verdict is Verdict.FAIL
    unasked = seen([call(value=None, status=502)], [])
    kept = fails_only_with_others(replace(kept, misses=kept.misses[1:], seen=unasked))
    assert [(miss.root, miss.todo) for miss in kept.misses] == [(Root.CONCURRENCY, UNASKED)]


def test_general_advice_is_listed_under_advice_that_is_nearer():
    runner, case = CaseRunner.__new__(CaseRunner), CASES["relay.get.path"]
    runner._cards, runner.plain_works = CardWatch(()), True
    misses = tuple(Miss("this", "that", todo) for todo in (WORK, ASK_AGAIN))
    assert {miss.todo for miss in runner._explain(case, misses, seen([call()], []))} == {ASK_AGAIN}


@pytest.mark.parametrize(
    ("advice", "gives_way"),
    [
        ((WORK,), True),
        ((ASK,), True),
        ((WORK, ASK, HAND_ON), True),
        ((HAND_ON,), False),
        ((ASK_AGAIN,), False),
    ],
)
def test_general_advice_gives_way_to_what_the_case_says_where_the_plain_call_works(advice, gives_way):
    runner, case = CaseRunner.__new__(CaseRunner), CASES["relay.get.path"]
    runner._cards, value = CardWatch(()), seen([call()], [])
    misses = tuple(Miss("this", "that", todo) for todo in advice)
    for runner.plain_works in (True, False):
        explained = runner._explain(case, misses, value)
        changed = gives_way and runner.plain_works
        assert (explained == misses) is not changed
        assert all((miss.root is Root.FOLLOWS and case.says in miss.todo) is changed for miss in explained)


# What a slow back end still sends for an earlier case is no other case's.

LEFT_BEHIND = ("relay.post.unknown-fields", "relay.attempt.one-of-each")
WAITS = 0.5
"""Seconds until the first POST is sent once more, in the middle of the second case's."""


class Straggles(reference.Relay):
    """The POST of the first case reaches the API once more while the second case is under way."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.came, self.again = 0, threading.Event()

    def post(self, card, sdk_output):
        self.came += 1
        if self.came == 1:
            threading.Timer(WAITS, self.once_more, (card, sdk_output)).start()
        else:
            self.again.wait(10)
        return super().post(card, sdk_output)

    def once_more(self, card, sdk_output):
        super().post(card, sdk_output)
        self.again.set()


class SendsTwice(reference.Relay):
    """It sends each POST twice."""

    def post(self, card, sdk_output):
        super().post(card, sdk_output)
        return super().post(card, sdk_output)


@pytest.mark.slow
@pytest.mark.rule("REL-1")
@pytest.mark.parametrize(("kind", "verdict"), [(Straggles, Verdict.PASS), (SendsTwice, Verdict.FAIL)])
def test_only_what_a_case_sent_itself_is_counted(monkeypatch, kind, verdict):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    one_surface = {"surfaces": {"platform A": relays.surface()}}
    *_before, last = relays.results("mine", LEFT_BEHIND, **one_surface)
    assert last.verdict is verdict
    assert ("REL-1" in {miss.rule for miss in last.misses}) is (verdict is Verdict.FAIL)
