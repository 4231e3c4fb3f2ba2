"""How a script is carried out between phone and API: each call, what reached the API meanwhile, and what was judged.

One case for each kind of step, in front of the back end that is in order and of some that are not. The slow tests
beside this play whole runs.
"""

import asyncio
import re
from collections import Counter

import pytest
import relays

from workbook.tools.conform.back_end.case_runner import run_cases
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.harness.model import Verdict

ROWS = {
    "values": ("Relay", "post.text-unicode post.bytes-alphabet get.sdk-input-number get.compressed get.chunked-answer"),
    "requests": ("Relay", "post.chunked-body post.expecting post.charset attempt.header-case attempt.no-encoding"),
    "cards": ("Relay", "list.kept-connection post.two-cardholders attempt.id-escaped get.id-cannot-change-path"),
    "failures": ("Relay", "get.api-away answer.labelled post.nothing-left-behind get.fault-redirect post.given-up"),
    "whole run": ("Relay", "get.path attempt.closed-connections log.no-key-ever answer.no-key-ever proxy.not-used"),
    "another app": ("NoSessionOnB", "get.no-session post.no-session"),
    "a stall": ("Relay", "get.fault-stall-before-headers post.fault-stall-before-headers get.limit-headers"),
}


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_what_a_case_does_and_sees(golden, row):
    name, cases = ROWS[row]
    deadline = 0.5 if row == "a stall" else 8.0
    results = relays.results(name, [f"relay.{case}" for case in cases.split()], deadline=deadline, bound=16.0)
    golden(f"runs/{row.replace(' ', '_')}", "\n".join(line for result in results for line in told(result)))


def told(result):
    """What a case came to, and what both sides saw; a card is its number, and no time is told."""
    yield f"{result.case.name}: {result.verdict} {result.why}".rstrip()
    for part in result.each:
        for miss in part.misses:
            observed = re.sub(r", after [0-9.]+ s|, line [0-9]+|, and in [0-9]+ more.*", "", miss.observed)
            yield f"  {observed} | {miss.todo} | {miss.rule} {miss.root.name}"
        if part.seen:
            cards = {
                card: f"card {at}" for at, card in enumerate(dict.fromkeys(one.instrument for one in part.seen.calls))
            }
            yield from (f"  {part.platform}: {call_in_words(one, part.seen, cards)}" for one in part.seen.calls)
            came = Counter(arrived_in_words(one, cards) for one in part.seen.arrived)
            yield from (f"  {count} {one}" for one, count in sorted(came.items()))


def call_in_words(call, seen, cards):
    asked = "asks the API" if seen.during(call) else "asks nothing"
    given = {one.given for one in seen.arrived if one.instrument == call.instrument}
    value = "no value" if not call.value else "its value" if call.value in given else "another value"
    told = f"{call.operation} {cards[call.instrument]} of {call.cardholder} {call.manner.name.lower()}"
    return f"{told}, {asked}, {call.status or call.broke.name} with {value}"


def arrived_in_words(one, cards):
    answer = f"{one.response.status} {one.response.fault or ''}".strip()
    return f"{one.operation or 'other'} of {cards.get(one.instrument)}{' elsewhere' * one.elsewhere}: {answer}"


@pytest.mark.parametrize(
    ("changed", "verdict", "why"),
    [
        ({"gone": "It went away."}, Verdict.NOT_TESTABLE, "It went away."),
        ({"until": 0.0}, Verdict.NOT_LOOKED_AT, "The run's time was up before this case: "),
        ({}, Verdict.PASS, ""),
    ],
)
def test_a_case_that_cannot_be_carried_out_says_why(changed, verdict, why):
    with relays.running("Relay", ["relay.get.path"]) as runner:
        for name, value in changed.items():
            setattr(runner, name, value)
        (result,) = asyncio.run(run_cases([CASES["relay.get.path"]], runner))
    assert (result.verdict, result.why.startswith(why)) == (verdict, True)
