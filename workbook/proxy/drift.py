"""`workbook drift`: where a real API and the simulator part, from a record and a scenario.

Each question is answered on its own: what the document says of any answer (`_document`), how often there is weather
(`weather`), how each exchange ends and what equal statuses differ in (`answers`), how long it takes (`weather`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError
from workbook.proxy.answers import details, endings
from workbook.proxy.case import Case, found
from workbook.proxy.finding import Kind
from workbook.proxy.outcome import FINE, is_weather, outcome
from workbook.proxy.replay import Replay
from workbook.proxy.weather import latencies, planned, weather

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbook.proxy.finding import Finding
    from workbook.proxy.record_file import Record, Recorded
    from workbook.simulation.scenario import Scenario

ENOUGH = 3
"""From so many exchanges on, an operation that was never found is taken for one that is not there."""
_RULES = {"GET": "API-1", "POST": "API-2"}


@dataclass(frozen=True, slots=True)
class Drift:
    """What was found.

    Attributes:
        scenario: as it was given, with the instruments that the record adds.
        findings: the heaviest kind first.
        compared: how many exchanges.
        notes: what a reader should know.
    """

    scenario: Scenario
    findings: tuple[Finding, ...]
    compared: int
    notes: tuple[str, ...]


def drift(record: Record, scenario: Scenario) -> Drift:
    """Compare a record with what the simulator would have answered.

    Raises:
        ConfigurationError: the record has nothing to compare.
    """
    compared = [one for one in record.exchanges if one.operation and one.instrument and one.sent]
    if not compared:
        raise ConfigurationError("The record holds no exchange of the two operations that reached the API.")
    replay = Replay(replace(scenario, faults=()), compared)
    findings = sorted(_findings(compared, scenario, replay), key=lambda finding: finding.order)
    wide = replace(replay.scenario, faults=scenario.faults)
    return Drift(wide, tuple(findings), len(compared), (*record.notes, *_notes(scenario, replay, compared)))


def _findings(compared: Sequence[Recorded], scenario: Scenario, replay: Replay) -> Iterator[Finding]:
    cases = [_case(replay, one) for one in compared]
    done: set[int] = set()
    yield from _document(cases, done)
    yield from planned(cases, scenario, done)
    yield from weather(cases, done)
    rest = [case for case in cases if case.one.line not in done]
    yield from endings(cases, done, replay)
    yield from details(rest)
    yield from latencies(cases, scenario)


def _case(replay: Replay, one: Recorded) -> Case:
    word = outcome(one)
    return Case(one, word, None if is_weather(word) else replay.answer(one))


def _notes(scenario: Scenario, replay: Replay, compared: Sequence[Recorded]) -> Iterator[str]:
    """What was taken from the record, where the scenario says nothing of it."""
    more = len(replay.scenario.instruments) - len(scenario.instruments)
    if more:
        yield f"The record has instruments that the scenario has not ({more}): they are taken for active cards."
    callers = {(one.run, one.credential): replay.credential(one) for one in compared if one.credential}
    unknown = sum(name is None for name in callers.values())
    if unknown:
        yield f"Keys that got nothing but 401 ({unknown}) are taken for keys that open nothing."


def _document(cases: Sequence[Case], done: set[int]) -> Iterator[Finding]:
    """What the document says of both operations, whatever the simulator does; `done` is as in `weather`."""
    for operation, rule in _RULES.items():
        said = [case for case in cases if case.operation == operation and not is_weather(case.word)]
        if len(said) >= ENOUGH and all(case.word in ("404", "405") for case in said):
            words = f"{said[0].word} throughout: the operation is not there"
            note = "Look at the proxy's --to first."
            done.update(case.one.line for case in said)
            yield found(Kind.DOCUMENT, said, of=len(said), real=words, simulated="it is", basis=rule, note=note)
    yield from _shared(cases)


def _shared(cases: Sequence[Case]) -> Iterator[Finding]:
    """Each instrument has an sdkInput of its own (API-12)."""
    seen: dict[tuple[int, str], list[Case]] = defaultdict(list)
    for case in cases:
        body = case.one.response_body
        said = body.get("sdkInput") if isinstance(body, dict) else None
        if case.word == FINE and isinstance(said, dict) and isinstance(said.get("digest"), str):
            seen[case.one.run, said["digest"]].append(case)
    for alike in seen.values():
        ids = {case.instrument for case in alike}
        if len(ids) > 1:
            words = f"the same sdkInput for {len(ids)} payment instruments"
            yield found(Kind.DOCUMENT, alike, of=len(cases), real=words, simulated="one for each", basis="API-12")
