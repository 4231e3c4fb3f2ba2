"""Cases in which the API stalls run together, and a back end with few lanes is seen as such."""

import asyncio
import threading
import time

import pytest
import reference
import relays

from workbook.tools.conform.back_end import schedule
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.findings import common_causes
from workbook.tools.conform.back_end.model import GET
from workbook.tools.conform.back_end.schedule import ONE_LANE, run_cases
from workbook.tools.harness.model import Root, Verdict

pytestmark = pytest.mark.slow

STALLS = tuple(name for name, case in CASES.items() if case.script.stalls)


class TriesAgain(reference.Relay):
    """It gives each try of a GET a part of its time."""

    def call(self, method, url, ends, body=None):
        return super().call(method, url, min(ends, time.monotonic() + self.deadline / 2), body)


@pytest.mark.rule("REL-5")
def test_their_common_wait_is_paid_once(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": TriesAgain})
    names = (*STALLS, "relay.list.in-time")
    with relays.running("mine", names) as runner:
        found = asyncio.run(run_cases([CASES[name] for name in names], runner))
        assert 0.5 < runner.limit < 1.5, "the limit of one request is seen on the way"
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(names, Verdict.PASS)
    calls = [part.seen.calls[0] for result in found[:-1] for part in result.each]
    assert max(call.began for call in calls) < min(call.ended for call in calls)
    assert len(found[-1].seen.came(GET)) == 6


class Lanes(reference.Relay):
    """Only so many of its calls ask the API at once, and the others wait."""

    count = 1

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.lanes = threading.Semaphore(self.count)

    def call(self, *words, **more):
        with self.lanes:
            return super().call(*words, **more)


class ShortTries(Lanes):
    """Between two tries of its GET the lane is free for a moment, in which another call gets through."""

    patience = 1.3


class WholeTries(reference.Relay):
    """Its calls wait for one another, with all their tries."""

    lane = threading.Lock()

    def get(self, card):
        with self.lane:
            return super().get(card)

    def post(self, card, sdk_output):
        with self.lane:
            return super().post(card, sdk_output)


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize("kind", [Lanes, ShortTries, WholeTries])
def test_one_lane_is_a_finding_and_the_cases_that_wait_for_it_are_not_judged(monkeypatch, kind):
    monkeypatch.setattr(CaseRunner, "is_busy", False)  # however busy this machine is
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    found = relays.results("mine", (*STALLS, "relay.get.path", "relay.post.path"))
    waited = [result for result in found if result.why == ONE_LANE]
    assert len(waited) >= len(STALLS) - 3
    assert {result.verdict for result in waited} == {Verdict.NOT_LOOKED_AT}
    assert [result.verdict for result in found[-2:]] == [Verdict.PASS] * 2
    (finding,) = common_causes(found)
    assert (finding.root, finding.says, finding.fails) == (Root.CONCURRENCY, ONE_LANE, True)


@pytest.mark.rule("REL-5")
def test_a_few_lanes_are_in_order(monkeypatch):
    monkeypatch.setattr(CaseRunner, "is_busy", False)
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": type("Four", (Lanes,), {"count": 4})})
    found = relays.results("mine", STALLS)
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(STALLS, Verdict.PASS)


class NoLimit(reference.Relay):
    """It waits for the API as long as the API likes."""

    def call(self, method, url, _ends, body=None):
        return super().call(method, url, time.monotonic() + 60, body)


@pytest.mark.rule("REL-5")
def test_what_the_api_alone_holds_up_is_not_waited_for_again(monkeypatch):
    monkeypatch.setattr(CaseRunner, "is_busy", False)
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": NoLimit})
    monkeypatch.setattr(schedule.Schedule, "run_alone", None)
    names = ("relay.get.limit-headers", "relay.post.limit-headers", "relay.get.text-symbols")
    assert [result.verdict for result in relays.results("mine", names)] == ["fail", "fail", "pass"]
