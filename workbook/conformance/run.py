"""Runs cases: side by side where they disturb nobody, each with cards of its own, and else one after the other."""

from __future__ import annotations

import asyncio
import traceback
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbook.conformance.case import Need
from workbook.conformance.script import GET, POST, asks_of
from workbook.conformance.seen import Broke
from workbook.conformance.target import RECOVERY
from workbook.conformance.together import together
from workbook.conformance.verdict import Miss, Verdict, missed
from workbook.errors import WorkbookError
from workbook.rules import rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.conformance.case import Case
    from workbook.conformance.rig import Rig
    from workbook.conformance.seen import Seen
    from workbook.conformance.target import Target

    Told = Callable[["Result"], None]


@dataclass(frozen=True, slots=True)
class Result:
    """What one case came to.

    Attributes:
        case: which.
        verdict: how it ended.
        misses: every way in which it was not what the rule asks for.
        why: what else is to be said, such as what is missing.
        platform: whose app called; empty where none did.
        seen: both sides; None where nothing was done.
        seconds: how long it took.
        parts: what it came to with each platform's app, where that was more than one; else empty.
    """

    case: Case
    verdict: Verdict
    misses: tuple[Miss, ...] = ()
    why: str = ""
    platform: str = ""
    seen: Seen | None = None
    seconds: float = 0.0
    parts: tuple[Result, ...] = ()

    @property
    def each(self) -> tuple[Result, ...]:
        """One result for each platform whose app called."""
        return self.parts or (self,)


async def run(cases: Iterable[Case], rig: Rig, told: Told = lambda _result: None, round_: int = 1) -> list[Result]:
    """Run these cases; the results come in the order of the cases.

    A case in which it does not matter whose app calls is carried out with the app of each platform to which the back
    end looks different, and has to hold with all of them. Cases that look at the whole run come last.

    Args:
        cases: which.
        rig: between which they run.
        told: called with each result as it comes.
        round_: the how manieth time; each has canaries of its own.
    """
    wanted = list(cases)
    results: dict[str, Result] = {}

    def keep(result: Result) -> None:
        results[result.case.name] = result
        told(result)

    ready = []
    for case in wanted:
        if (left_out := without(case, rig.target)) is not None:
            keep(left_out)
        else:
            ready.append(case)
    cards = _Cards(rig.target.cardholders[0].cards)
    beside = [case for case in ready if not _alone(case, rig.target)]
    await asyncio.gather(*(_one(case, rig, cards, keep, round_) for case in beside))
    for case in sorted((case for case in ready if _alone(case, rig.target)), key=lambda case: case.script.whole):
        await _one(case, rig, cards, keep, round_)
    return [results[case.name] for case in wanted]


def _alone(case: Case, target: Target) -> bool:
    """Whether nothing else may run meanwhile; a circuit breaker that opens for one case is open for all."""
    script = case.script
    return script.alone or script.whole or (script.faulty and target.recovery > RECOVERY)


def platforms(case: Case, target: Target) -> tuple[str, ...]:
    """The platforms whose app makes a case's calls: one of each kind that the back end can tell apart by them."""
    if case.script.whole:
        return ("",)
    if case.platform is not None:
        return (case.platform,)
    kinds: dict[object, str] = {}
    for platform, surface in target.surfaces.items():
        used = tuple(getattr(surface, SIDES[one]) for one in sorted(case.script.operations) if one in SIDES)
        kinds.setdefault((used, surface.decoded, surface.headers), platform)
    return tuple(kinds.values())


SIDES = {GET: "get", POST: "post"}
"""Which part of a surface an operation belongs to."""


def without(case: Case, target: Target) -> Result | None:
    """The result of a case that cannot or shall not run here; None where it can."""
    if case.group in target.without:
        return Result(case, Verdict.DISABLED, why=f"The configuration leaves out the group {case.group}.")
    for need in sorted(case.needs):
        if not _has(target, need):
            verdict = Verdict.NOT_APPLICABLE if need in OPTIONAL else Verdict.NOT_TESTABLE
            return Result(case, verdict, why=f"It needs {need}, which the configuration does not name.")
    if len(target.cardholders[0].cards) < case.script.cards:
        return Result(case, Verdict.NOT_TESTABLE, why=f"It needs {case.script.cards} cards of the first cardholder.")
    return None


OPTIONAL = frozenset({Need.PLATFORM_A, Need.PLATFORM_B, Need.STATUS, Need.HTTP})
"""What a back end may rightly not have."""


def _has(target: Target, need: Need) -> bool:
    return {
        Need.PLATFORM_A: need.value in target.surfaces,
        Need.PLATFORM_B: need.value in target.surfaces,
        Need.SESSIONS: any(one.session for one in target.cardholders),
        Need.TWO_CARDHOLDERS: len(target.cardholders) > 1,
        Need.SEVERAL_CARDS: len(target.cardholders[0].cards) > 1,
        Need.LOGS: bool(target.logs),
        Need.STATUS: target.answers_status,
        Need.HTTP: target.over_http,
    }[need]


class _Cards:
    """The cards of the first cardholder, lent to one case at a time."""

    def __init__(self, cards: Iterable[str]) -> None:
        self._free = list(cards)
        self._changed = asyncio.Condition()

    async def lend(self, count: int) -> tuple[str, ...]:
        """So many cards that nobody has; waits for them."""
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._free) >= count)
            lent, self._free = self._free[:count], self._free[count:]
        return tuple(lent)

    async def give_back(self, cards: Iterable[str]) -> None:
        """They are free again."""
        async with self._changed:
            self._free.extend(cards)
            self._changed.notify_all()


async def _one(case: Case, rig: Rig, cards: _Cards, keep: Told, round_: int) -> None:
    """With each platform's app: side by side, unless nothing else may run meanwhile."""
    apps = platforms(case, rig.target)
    if _alone(case, rig.target):
        parts = [await _lent(case, rig, cards, app, round_) for app in apps]
    else:
        parts = await asyncio.gather(*(_lent(case, rig, cards, app, round_) for app in apps))
    keep(together(parts))


async def _lent(case: Case, rig: Rig, cards: _Cards, platform: str, round_: int) -> Result:
    lent = await cards.lend(case.script.cards)
    try:
        return await _judged(case, rig, lent, platform, round_)
    finally:
        await cards.give_back(lent)


async def _judged(case: Case, rig: Rig, cards: tuple[str, ...], platform: str, round_: int) -> Result:
    await rig.settled()
    if rig.gone and not case.script.whole:
        return Result(case, Verdict.NOT_TESTABLE, why=rig.gone, platform=platform)
    began = monotonic()
    try:
        seen = await rig.run(case, cards, platform, round_)
        if await _is_gone(case, rig, seen):
            return Result(case, Verdict.NOT_TESTABLE, (), rig.gone, platform, seen, monotonic() - began)
        misses = tuple(case.judge(seen))
    except Exception as error:  # noqa: BLE001  # a fault of ours is no verdict about a back end
        why = reason(error)
        return Result(case, Verdict.HARNESS_ERROR, why=why, platform=platform, seconds=monotonic() - began)
    return Result(case, gravest(case, misses), misses, "", platform, seen, monotonic() - began)


async def _is_gone(case: Case, rig: Rig, seen: Seen) -> bool:
    """Whether no call of a case met anybody, or some were not made; what went away meanwhile is judged."""
    refused = [call.broke is Broke.REFUSED for call in seen.calls]
    if any(refused) and not rig.gone and not await rig.is_there():
        rig.gone = f"Nobody listens at {rig.target.base_url} any more, since about {case.name}."
    asked = sum(len(asks_of(step)) for step in case.script.steps)
    return bool(rig.gone) and not case.script.whole and (len(refused) < asked or all(refused))


def reason(error: BaseException) -> str:
    """What went wrong in the workbook, and where; an error's own text may hold a value, and is told only if ours."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" in {Path(last[0].filename).name}, line {last[0].lineno}" if last else ""
    said = f": {error}" if isinstance(error, WorkbookError) else ""
    return f"{type(error).__name__}{where}{said}"


def gravest(case: Case, misses: Iterable[Miss]) -> Verdict:
    """The verdict that the gravest of these misses brings; a pass where there is none."""
    found = set(_verdicts(case, misses))
    return next((one for one in (Verdict.FAIL, Verdict.WARN, Verdict.NOTE) if one in found), Verdict.PASS)


def _verdicts(case: Case, misses: Iterable[Miss]) -> Iterator[Verdict]:
    for miss in misses:
        yield Verdict.NOTE if miss.noted else missed(rule(miss.rule or case.rule))
