"""Cases for which the API stalls wait together, and what they do not decide together is tried like any other case."""

import asyncio
import threading
import time

import broken_data
import broken_time
import pytest
import reference
import relays

from workbook.tools.conform.back_end import case_runner
from workbook.tools.conform.back_end.case_runner import ONE_LANE, CaseRunner, run_cases
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.findings import common_causes
from workbook.tools.conform.back_end.model import GET, Cardholder
from workbook.tools.harness.model import Root, Verdict

pytestmark = pytest.mark.slow

STALLS = tuple(name for name, case in CASES.items() if case.script.stalls)
SESSION, CARDS = next(iter(relays.RELAY_SESSIONS.items()))
ONE_CARD = (Cardholder("ann", tuple(CARDS[:1]), (("authorization", f"Bearer {SESSION}"),)),)


class Busy(reference.Relay):
    """It serves one call for a card at a time, and rightly refuses a second one meanwhile."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.busy = set()

    def call(self, method, url, ends, body=None):
        if url in self.busy:
            raise self.Refused(409, "This card is being added already.")
        self.busy.add(url)
        try:
            return super().call(method, url, ends, body)
        finally:
            self.busy.discard(url)


class TriesAgain(reference.Relay):
    """It gives each try of a GET a part of its time."""

    def call(self, method, url, ends, body=None):
        return super().call(method, url, min(ends, time.monotonic() + self.deadline / 2), body)


def results(monkeypatch, kind, names, **more):
    """What these cases came to with one card, and the limit that was seen."""
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    with relays.running("mine", names, cardholders=ONE_CARD, **more) as runner:
        return asyncio.run(run_cases([CASES[name] for name in names], runner)), runner.limit


def first_calls(found):
    return [part.seen.calls[0] for result in found for part in result.each]


@pytest.mark.rule("REL-5")
def test_with_one_card_a_correct_back_end_waits_for_all_of_them_at_once(monkeypatch):
    found, _limit = results(monkeypatch, reference.Relay, STALLS)
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(STALLS, Verdict.PASS)
    assert max(call.began for call in first_calls(found)) < min(call.ended for call in first_calls(found))


def test_each_case_shows_the_requests_that_are_its_own(monkeypatch):
    found, _limit = results(monkeypatch, reference.Relay, STALLS)
    for one in found:
        assert [request.operation for request in one.seen.arrived] == [call.operation for call in one.seen.calls]
        assert [request.sdk_output for request in one.seen.arrived] == [call.sent for call in one.seen.calls]


def test_a_back_end_that_refuses_a_second_call_for_a_busy_card_is_in_order(monkeypatch):
    names = ("relay.get.limit-headers", "relay.post.limit-headers", "relay.get.fault-stall-before-headers")
    found, _limit = results(monkeypatch, Busy, names)
    assert [one.verdict for one in found] == [Verdict.PASS] * len(names)
    assert all(one.seen.arrived for one in found)  # none passes because it was refused


@pytest.mark.rule("REL-5")
def test_a_get_that_is_tried_again_meanwhile_is_nobody_elses_failure(monkeypatch):
    names = tuple(name for name in STALLS if ".get." in name)
    found, _limit = results(monkeypatch, TriesAgain, names)
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(names, Verdict.PASS)
    assert max(call.began for call in first_calls(found)) < min(call.ended for call in first_calls(found))


@pytest.mark.rule("REL-5")
def test_what_waits_too_long_is_caught_by_the_case_made_for_it(monkeypatch):
    names = ("relay.get.limit-trickle", "relay.get.limit-headers")
    found, _limit = results(monkeypatch, broken_time.LimitForEachByte, names)
    assert [one.verdict is Verdict.PASS for one in found] == [False, True]


def test_the_limit_of_one_request_is_seen_on_the_way(monkeypatch):
    several = (Cardholder("ann", tuple(CARDS[:6]), ONE_CARD[0].session),)
    names = ("relay.list.in-time", "relay.get.limit-headers")
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": TriesAgain})
    with relays.running("mine", names, cardholders=several) as runner:
        found = asyncio.run(run_cases([CASES[name] for name in names], runner))
        assert 0.5 < runner.limit < 1.5
    assert [one.verdict for one in found] == [Verdict.PASS] * 2
    assert len(found[0].seen.came(GET)) == 6


class OneLane(reference.Relay):
    """Its calls wait for one another."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.lane = threading.Lock()

    def call(self, *words, **more):
        with self.lane:
            return super().call(*words, **more)


class OneLaneThatTriesAgain(reference.Relay):
    """Its calls wait for one another, with all their tries: an early try's end looks like the next call's arrival."""

    lane = threading.Lock()

    def get(self, card):
        with self.lane:
            return super().get(card)

    def post(self, card, sdk_output):
        with self.lane:
            return super().post(card, sdk_output)


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize("kind", [OneLane, OneLaneThatTriesAgain])
def test_one_lane_is_found_while_one_call_waits_and_the_others_are_not_waited_for(monkeypatch, kind):
    monkeypatch.setattr(CaseRunner, "is_busy", False)  # however busy this machine is
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    plain = ("relay.get.path", "relay.post.path")
    found = relays.results("mine", (*STALLS, *plain))
    waited = [result.case.name for result in found if result.why == ONE_LANE]
    assert len(waited) >= len(STALLS) - 1
    assert {result.verdict for result in found if result.case.name in waited} == {Verdict.NOT_LOOKED_AT}
    assert [result.verdict for result in found[-2:]] == [Verdict.PASS] * 2
    (finding,) = common_causes(found)
    assert (finding.root, finding.says, finding.cases, finding.fails) == (
        Root.CONCURRENCY, ONE_LANE, tuple(waited), True)  # fmt: skip


class OneLaneWithShortTries(OneLane):
    """Between two tries of its GET the lane is free for a moment, in which another call gets through."""

    patience = 1.3


@pytest.mark.rule("REL-5")
def test_a_lane_that_was_free_for_a_moment_is_one_lane(monkeypatch):
    monkeypatch.setattr(CaseRunner, "is_busy", False)  # however busy this machine is
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": OneLaneWithShortTries})
    gets_first = sorted(STALLS, key=lambda name: not name.startswith("relay.get"))
    found = relays.results("mine", gets_first, deadline=4.2, bound=10.0)
    posts = {result.why for result in found if result.case.name.startswith("relay.post")}
    assert posts == {ONE_LANE}, "none of them was worth a wait"


class NoLimit(reference.Relay):
    """It waits for the API as long as the API likes."""

    def call(self, method, url, _ends, body=None):
        return super().call(method, url, time.monotonic() + 60, body)


@pytest.mark.rule("REL-5")
def test_what_the_api_alone_holds_up_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr(CaseRunner, "is_busy", False)
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": NoLimit})
    monkeypatch.setattr(case_runner._Schedule, "by_itself", None)  # no case is run alone
    names = ("relay.get.limit-headers", "relay.post.limit-headers", "relay.get.text-symbols")
    assert [result.verdict for result in relays.results("mine", names)] == ["fail", "fail", "pass"]


def test_a_failure_with_an_empty_value_is_not_taken_for_another_cases_request(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": broken_data.EmptyFieldOnFailure})
    assert {result.verdict for result in relays.results("mine", STALLS)} == {Verdict.PASS}
