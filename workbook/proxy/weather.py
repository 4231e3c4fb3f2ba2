"""What no request explains: limits, faults, lost connections, and the time that answers take. Counted, as shares."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

from workbook.proxy.case import fault, found, grouped, of_status, share
from workbook.proxy.finding import Kind, Setting
from workbook.proxy.outcome import FINE, WORDS, Expected, is_weather, shows
from workbook.proxy.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbook.proxy.case import Case
    from workbook.proxy.finding import Finding
    from workbook.simulation.scenario import Scenario

NOTICEABLE, FACTOR = 0.1, 1.5
"""Seconds, and how many times as long: two usual times that differ by less than one of both are taken for the same."""


def planned(cases: Sequence[Case], scenario: Scenario, done: set[int]) -> Iterator[Finding]:
    """The scenario's faults that are seen more often or less often than they are planned.

    Lines of the record that they explain, as often as they may, are added to `done`.
    """
    plan = scenario.plan()
    rules = () if plan is None else plan.planned
    expected = Expected(rules, [case.one for case in cases])
    for number, rule in enumerate(rules):
        words = shows(rule)
        meant = [case for case in cases if rule.is_meant_for(case.operation, case.instrument)]
        seen = [case for case in meant if case.word in words and case.differs and case.one.line not in done]
        done.update(case.one.line for case in seen)
        if words and meant and not expected.fits(number, len(seen)):
            yield _otherwise(scenario, number, seen, meant, expected.mean[number])


def weather(cases: Sequence[Case], done: set[int]) -> Iterator[Finding]:
    """What the scenario does not plan at all, for each operation; `done` is as in `planned`."""
    left = [case for case in cases if is_weather(case.word) and case.one.line not in done]
    for (operation, word), seen in grouped(left, lambda case: (case.operation, case.word)):
        of = sum(case.operation == operation for case in cases)
        kind, basis = of_status(word)
        yield found(
            kind,
            seen,
            of=of,
            real=WORDS.get(word, word),
            simulated=FINE,
            basis=basis,
            setting=fault(seen, of),
            note=_note(word, seen),
        )
        done.update(case.one.line for case in seen)


def latencies(cases: Sequence[Case], scenario: Scenario) -> Iterator[Finding]:
    """The usual time until an answer begins, of those that went well."""
    ours = _simulated(cases, scenario)
    for (operation,), fine in grouped((case for case in cases if case.word == FINE), lambda case: (case.operation,)):
        real = [case.one.latency for case in fine if case.one.latency is not None]
        usual, here = median(real or [0.0]), ours.get(operation, 0.0)
        if abs(usual - here) > NOTICEABLE and max(usual, here) > FACTOR * min(usual, here):
            yield found(
                Kind.CONFIGURED if here else Kind.ASSUMED,
                fine,
                of=len(fine),
                real=f"{usual:.3f} s until an answer begins (median; the slowest {max(real):.3f} s)",
                simulated=f"{here:.3f} s",
                basis="the scenario" if here else "assumed",
                setting=Setting("latencies", {operation.lower(): round(usual, 3)}),
            )


def _otherwise(scenario: Scenario, number: int, seen: list[Case], meant: list[Case], mean: float) -> Finding:
    table = {name: value for name, value in scenario.faults[number].items() if name not in ("nth", "share")}
    setting = Setting("fault", table | {"share": share(len(seen), len(meant))}, number=number + 1)
    return found(
        Kind.CONFIGURED,
        meant,
        of=len(meant),
        real=f"the fault {table['fault']!r} was seen {len(seen)} times",
        simulated=f"about {mean:.3g} times",
        basis="the scenario",
        setting=setting,
    )


def _note(word: str, seen: list[Case]) -> str:
    told = any(name.lower() == "retry-after" for case in seen for name, _value in case.one.response_headers)
    return "" if told or word != "429" else "It came without Retry-After; the simulator's has one."


def _simulated(cases: Sequence[Case], scenario: Scenario) -> dict[str, float]:
    """The simulator's medians, with the scenario's own delays in them."""
    replay = Replay(scenario, [case.one for case in cases])
    waits: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        response = replay.answer(case.one)
        if str(response.status) == FINE:
            waits[case.operation].append(response.wire.before_headers)
    return {operation: median(seconds) for operation, seconds in waits.items()}
