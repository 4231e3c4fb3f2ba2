"""How a script is carried out between phone and API: each call, what reached the API meanwhile, and what was judged.

One case for each kind of step, in front of the back end that is in order and of some that are not. The slow tests
beside this play whole runs.
"""

import asyncio
import re
from collections import Counter
from dataclasses import replace

import broken_isolation
import pytest
import reference
import relays

from workbook.tools.conform.back_end import model
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.schedule import run_cases, without
from workbook.tools.conform.notebook import RELAY_SESSIONS
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.program import PRINTED, Logs

ROWS = {
    "values": ("Relay", "post.text-unicode post.bytes-alphabet get.sdk-input-number get.compressed get.chunked-answer"),
    "requests": ("Relay", "post.chunked-body post.expecting post.charset attempt.header-case attempt.no-encoding"),
    "cards": ("Relay", "list.kept-connection post.two-cardholders get.id-cannot-change-path"),
    "failures": ("Relay", "get.api-away answer.labelled get.fault-redirect post.given-up"),
    "whole run": ("Relay", "get.path attempt.closed-connections log.no-key-ever answer.no-key-ever"),
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
    yield re.sub("[0-9]+ lines", "lines", f"{result.case.name}: {result.verdict} {result.why}".rstrip())
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
        ({"gone": "It went away."}, Verdict.NOT_LOOKED_AT, "It went away."),
        ({}, Verdict.PASS, ""),
    ],
)
def test_a_case_that_cannot_be_carried_out_says_why(changed, verdict, why):
    with relays.running("Relay", ["relay.get.path"]) as runner:
        for name, value in changed.items():
            setattr(runner, name, value)
        (result,) = asyncio.run(run_cases([CASES["relay.get.path"]], runner))
    assert (result.verdict, result.why.startswith(why)) == (verdict, True)


FOREIGN = ["relay.get.other-cardholder", "relay.post.other-cardholder"]


class OneSessionEach(reference.Relay):
    """The session names its card."""

    def check(self, session, card):
        if session != f"session-of-{card}":
            raise reference.Refused(*reference.NOT_YOURS)


def holders(session=(), sessions=()):
    """Two cardholders as the cases' relays know them; each with a session that is made of its name or its cards."""
    return tuple(
        model.Cardholder(
            name[:14],
            tuple(cards[:7]),
            tuple((key, value.format(name=name, id="{id}")) for key, value in session),
            {card: tuple((key, value.format(name=name)) for key, value in sessions) for card in cards[:7] if sessions},
        )
        for name, cards in RELAY_SESSIONS.items()
    )


@pytest.mark.rule("REL-4")
@pytest.mark.parametrize(
    ("kind", "cardholders", "verdict"),
    [
        (broken_isolation.NoOwners, holders(sessions=[("authorization", "Bearer {name}")]), Verdict.FAIL),
        (reference.Relay, holders(sessions=[("authorization", "Bearer {name}")]), Verdict.PASS),
        (OneSessionEach, holders([("authorization", "Bearer session-of-{id}")]), Verdict.PASS),
        (broken_isolation.AnySession, holders([("authorization", "Bearer {name}x{id}")]), Verdict.FAIL),
        (broken_isolation.NoOwners, holders([("authorization", "Bearer of-all")]), Verdict.NOT_TESTABLE),
    ],
)
def test_who_tries_anothers_card_presents_the_session_of_an_own_one(monkeypatch, kind, cardholders, verdict):
    monkeypatch.setattr(relays, "kinds", lambda: {"tried": kind})
    results = relays.results("tried", FOREIGN, cardholders=cardholders)
    assert {result.verdict for result in results} == {verdict}
    assert verdict is not Verdict.NOT_TESTABLE or "differs from the first one's" in results[0].why


@pytest.mark.rule("REL-4")
@pytest.mark.parametrize("ids", [("PI10", "PI1"), ("7", "70")])
def test_a_part_of_an_id_is_no_card_of_the_file(ids):
    holder = model.Cardholder("ann", ids)
    target = model.Target("http://127.0.0.1:1", {"platform A": model.SURFACE}, (holder,))
    with relays.mock_api([]) as api:
        runner = CaseRunner(target, api)
        (cut, _post) = (ask for ask in CASES["relay.attempt.part-of-id"].script.calls)
        assert all(runner._call(1, cut, (card,), "canary").card not in ids for card in ids)


@pytest.mark.rule("REL-2", "REL-3")
def test_a_log_without_a_line_was_not_looked_at(tmp_path):
    names = ["relay.get.path", "relay.log.no-key-ever"]
    with relays.running("Relay", names) as runner:
        results = judge(runner, names)
    assert results[1].verdict is Verdict.PASS  # what it logs has lines
    assert re.fullmatch("Read: [1-9][0-9]* lines of relay.log.", results[1].why)
    with relays.running("Relay", names) as runner:
        (tmp_path / PRINTED).touch()  # a command that prints nothing, and no log is named
        listen_to(runner, tmp_path)
        results = judge(runner, names)
    assert results[1].verdict is Verdict.NOT_LOOKED_AT
    assert "name the file (logs, at the top of the configuration)" in results[1].why


def listen_to(runner, folder):
    """What a command that runs in this folder prints is the only log."""
    runner.target = replace(runner.target, logs=(folder / PRINTED,), folder=folder)
    runner.logs = Logs(runner.target.logs, folder)


class PrintsAndKeeps(reference.Relay):
    """It prints that it was called, if it has something to print to, and keeps the rest in a file of its own."""

    printed = kept = None

    def check(self, session, card):
        super().check(session, card)
        for path in filter(None, (self.printed, self.kept)):
            with path.open("a") as file:
                file.write("a call\n")


@pytest.mark.rule("REL-2", "REL-3")
@pytest.mark.parametrize("prints", [True, False])
def test_a_file_that_grew_and_is_not_named_is_told_by_its_name(monkeypatch, tmp_path, prints):
    monkeypatch.setattr(relays, "kinds", lambda: {"tried": PrintsAndKeeps})
    (tmp_path / "logs").mkdir()
    monkeypatch.setattr(PrintsAndKeeps, "kept", tmp_path / "logs" / "own.txt")
    monkeypatch.setattr(PrintsAndKeeps, "printed", tmp_path / PRINTED if prints else None)
    names = ["relay.get.path", "relay.log.no-opaque-data-ever"]
    for file in (PRINTED, "as-it-was.log"):
        (tmp_path / file).touch()
    with relays.running("tried", names) as runner:
        listen_to(runner, tmp_path)
        _path, ever = judge(runner, names)
    assert "as-it-was" not in ever.why + str(ever.misses)
    if prints:
        assert ever.verdict is Verdict.NOTE
        assert re.search("[1-9] lines that the command printed; no file was named.", ever.why)
        assert [miss.observed for miss in ever.misses] == ["own.txt"]
    else:
        assert ever.verdict is Verdict.NOT_LOOKED_AT
        assert ever.why.endswith("These files grew meanwhile: own.txt.")


@pytest.mark.rule("REL-13")
@pytest.mark.parametrize(
    ("contract", "wanted"), [(None, Verdict.NOT_LOOKED_AT), ("own", Verdict.NOT_APPLICABLE), ("lesson", None)]
)
def test_the_contract_towards_the_app_is_judged_where_it_is_that_of_lesson_01(contract, wanted):
    with relays.running("Relay", []) as runner:
        left_out = without(CASES["relay.answer.as-lesson-01"], replace(runner.target, contract=contract))
    assert (left_out and left_out.verdict) is wanted
    assert wanted is not Verdict.NOT_LOOKED_AT or '[app] contract = "lesson"' in left_out.why


def judge(runner, names):
    return asyncio.run(run_cases([CASES[name] for name in names], runner))
