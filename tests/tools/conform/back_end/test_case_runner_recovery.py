"""What a back end may take until it works again, and what it may not repeat meanwhile."""

import time

import pytest
import reference
import relays
from seen_values import OUTPUT, POST, SECOND, call, request, seen

from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import Rest
from workbook.tools.harness.model import Verdict

OPEN = 0.4
"""Seconds for which the breaker is open."""
SOME = (
    "relay.get.fault-500",
    "relay.post.fault-502",
    "relay.get.fault-close",
    "relay.get.limit-headers",
    "relay.get.unknown-fields",
    "relay.post.text-unicode",
    "relay.attempt.one-of-each",
)


class ForAllCards(reference.Relay):
    """After one failure it asks the API nothing for a while, whatever the card."""

    closed, pause = 0.0, OPEN

    def call(self, method, url, ends, body=None):
        if time.monotonic() < self.closed:
            raise reference.Refused(*reference.NOT_NOW)
        try:
            status, body = super().call(method, url, ends, body)
        except reference.Refused:
            self.closed = time.monotonic() + self.pause
            raise
        if status >= 500:
            self.closed = time.monotonic() + self.pause
        return status, body


@pytest.fixture
def breaker(monkeypatch):
    monkeypatch.setattr(relays, "kinds", lambda: {"breaker": ForAllCards})
    return "breaker"


@pytest.mark.slow
def test_a_breaker_has_the_time_that_the_configuration_gives_it(breaker):
    found = relays.results(breaker, SOME, recovery=2 * OPEN)
    assert {one.case.name: one.verdict for one in found} == dict.fromkeys(SOME, Verdict.PASS)


@pytest.mark.slow
def test_without_it_the_miss_says_where_it_is_given(breaker, monkeypatch):
    monkeypatch.setattr(ForAllCards, "pause", 10.0)  # still open when a busy machine asks again
    (found,) = relays.results(breaker, SOME[:1])
    (miss,) = found.misses
    assert (found.verdict, miss.expected) == (Verdict.FAIL, "a success 0.05 s after the API works again")
    assert "as [timeouts] recovery." in miss.todo


def test_every_case_that_asks_whether_it_works_again_waits_so_long_before():
    asking = [case for case in CASES.values() if ".fault-" in case.name or ".odd-" in case.name or "away" in case.name]
    waiting = [case for case in asking if any(step == Rest() for step in case.script.steps)]
    assert asking == waiting
    assert all(case.script.faulty for case in asking)
    assert not CASES["relay.get.unknown-fields"].script.faulty


@pytest.mark.rule("REL-1", "GAP-2")
@pytest.mark.parametrize("ending", ["429-in-seconds", "429-at-a-date", "429-with-garbage", "429-in-seconds-after"])
def test_a_post_is_not_repeated_after_a_429_either(ending):
    case = CASES[f"relay.post.fault-{ending}"]
    calls = [call(POST, None, status=503, sent=OUTPUT), call(POST, SECOND, number=2, sent=OUTPUT)]
    once, twice = ([request(POST, SECOND)] * count for count in (2, 3))
    (miss,) = case.judge(seen(calls, twice))
    assert list(case.judge(seen(calls, once))) == []
    assert miss.rule == "REL-1"
    assert "the document shows no 429" in miss.todo
    assert "The document shows no 429" in case.says
    for other in ("relay.post.fault-500", "relay.get.fault-429-in-seconds"):
        assert "no 429" not in CASES[other].says
