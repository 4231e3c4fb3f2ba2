"""When each case runs: in parallel, once more alone where it failed, or alone because it disturbs others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias, TypeVar

from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.case_runner import CONFIRMED, OWN_LIMIT, PLAIN_ATTEMPT, CaseRunner
from workbook.tools.conform.back_end.judging import OWN_CARD, UNASKED
from workbook.tools.conform.back_end.model import (
    GET,
    POST,
    BackEndCase,
    BackEndGroup,
    BackEndResult,
    Broke,
    Need,
    Target,
)
from workbook.tools.conform.back_end.tempo import measure
from workbook.tools.harness.model import Miss, Root, Verdict, gravest

OnResult: TypeAlias = Callable[[BackEndResult], None]
Cards: TypeAlias = tuple[str, ...]
# Cases with the same script.
Play: TypeAlias = list[BackEndCase]
T = TypeVar("T", bound=Hashable)

# What a back end may rightly not have.
OPTIONAL = {Need.PLATFORM_A, Need.PLATFORM_B, Need.JSON_BODY, Need.CONTRACT}
# Verdicts with misses.
MISSED = CONFIRMED | {Verdict.NOTE}
# Why a case was not run.
NO_PLAIN_CALL = "The plain call that this case makes does not work."
NO_CONTRACT = (
    "The answers to the app were not looked at. If they keep the contract of lesson 01, write [app] contract = "
    '"lesson", and otherwise "own".'
)
CLOSES = (
    "Announce the end of a connection: say connection: close with its last answer. Your back end closes connections "
    "that the app may use again, and whose next call is lost then."
)
ONE_LANE = "It carries one call at a time, so one stalled GET and one stalled POST stand for the others."


async def run_cases(
    cases: Iterable[BackEndCase],
    runner: CaseRunner,
    on_result: OnResult = lambda _result: None,
    broken_calls: Collection[tuple[str, str]] = (),
) -> list[BackEndResult]:
    """Run these cases; the results come in the order of the cases.

    1. The tempo of the back end is measured, unless it was.
    2. Cases that disturb no other run in parallel, as many at once as there are cards, and with no more calls than the
       back end carries. Those in which the API stalls begin, so that their common wait is paid once.
    3. A case that failed in parallel runs once more, alone.
    4. The others run alone.

    Cases with the same script share its calls.

    A case that does not say which platform's app calls is carried out with each app that the back end can tell apart,
    and has to hold with all of them.

    Args:
        cases: which.
        runner: carries them out.
        on_result: called with each result as it comes.
        broken_calls: platform and operation of each plain call that does not work. Of the cases that make such a call
            only the group `form` runs: it says what is wrong with it.
    """
    cases = list(cases)
    schedule = Schedule(runner, on_result, broken_calls)
    plays = schedule.plays([case for case in cases if not schedule.leave_out(case)])
    alone = [play for play in plays if schedule.disturbs_others(play[0])]
    shared = [play for play in plays if not schedule.disturbs_others(play[0])]
    if is_paced(cases):
        schedule.pool.tempo = await measured(runner)
    shared = schedule.leave_out_stalls(sorted(shared, key=lambda play: not play[0].script.stalls))
    await asyncio.gather(*map(schedule.run_shared, shared))
    await schedule.confirm_failures()
    long = (BackEndGroup.FAULTS, BackEndGroup.BUDGET, BackEndGroup.CONCURRENCY)
    for play in sorted(alone, key=lambda play: (play[0].script.judges_run, play[0].group in long)):
        schedule.judge(play, await schedule.run_alone(play[0]), schedule.keep)
    return [schedule.results[case.name] for case in cases]


def is_paced(cases: Iterable[BackEndCase]) -> bool:
    """Whether it matters for these cases how many calls the back end carries: a single one is alone anyway."""
    cases = [case for case in cases if case.runs_by_itself]
    return len(cases) > 1 or any(case.script.meets for case in cases)


async def measured(runner: CaseRunner) -> model.Tempo:
    """How the back end works, which is measured once."""
    if runner.tempo is None:
        apps = {surface: app for app, surface in runner.target.surfaces.items()}.values()
        for app in () if runner.before else apps:
            await runner.run(PLAIN_ATTEMPT, runner.target.cardholders[0].cards[:1], app)
        runner.tempo = await measure(runner)
    return runner.tempo


def seconds_of(cases: Iterable[BackEndCase], runner: CaseRunner) -> float:
    """About how many seconds these cases take, whose tempo was measured: a number to read, and not to judge by."""
    schedule = Schedule(runner)
    plays = schedule.plays(case for case in cases if without(case, runner.target) is None)
    steps = Counter[bool]()
    for case in (play[0] for play in plays):
        steps[schedule.disturbs_others(case)] += sum(bool(model.calls_of(step)) for step in case.script.steps)
    tempo = runner.tempo or model.Tempo({}, {})
    # stalls and rests take half a minute where all the stalled cases are chosen (assumed)
    waits = sum(play[0].script.stalls for play in plays) * 2.5
    return waits + (steps[False] / min(tempo.carried, schedule.pool.size) + steps[True]) * (tempo.own + 0.05)


class Schedule:
    """Runs cases, in parallel or alone.

    Attributes:
        pool: the cards, and how many calls may be under way.
        results: of the cases that are decided, by name.
    """

    def __init__(
        self,
        runner: CaseRunner,
        on_result: OnResult = lambda _result: None,
        broken_calls: Collection[tuple[str, str]] = (),
    ) -> None:
        self._runner = runner
        self._target = runner.target
        self._on_result = on_result
        self._broken_calls = broken_calls
        self.pool = CardPool(runner.target)
        self._used_cards = dict[tuple[str, str], Cards]()
        self._failed_in_parallel = list[BackEndResult]()
        self._fails_alone = dict[frozenset[str], bool]()  # by the advice of the first failure
        self.results = dict[str, BackEndResult]()

    def keep(self, result: BackEndResult) -> None:
        """Keep how a case ended, and report it. What it missed when the back end was gone says nothing about it."""
        if self._runner.lost(result) and result.verdict in MISSED:
            result = replace(result, verdict=Verdict.NOT_LOOKED_AT, misses=(), why=self._runner.gone)
        self.results[result.case.name] = result
        self._on_result(result)

    def leave_out(self, case: BackEndCase) -> bool:
        """Whether the case cannot run; its result then says why."""
        result = without(case, self._target)
        if result is None and not self._apps(case):
            result = BackEndResult(case, Verdict.NOT_LOOKED_AT, why=NO_PLAIN_CALL)
        if result is not None:
            self.keep(result)
        return result is not None

    def disturbs_others(self, case: BackEndCase) -> bool:
        """Whether no other case may run meanwhile.

        A circuit breaker that opens for one case is open for all. Where a case compares times, other calls disturb it.
        """
        script = case.script
        return script.alone or script.judges_run or script.slow or (script.faulty and self._target.recovers_late)

    def plays(self, cases: Iterable[BackEndCase]) -> list[Play]:
        """The cases, those with the same script together: its calls are made once."""
        plays = list[Play]()
        for case in cases:
            same = (play for play in plays if play[0].script == case.script and play[0].platform == case.platform)
            play = next(same, None)
            if play is None or case.script.judges_run:
                plays.append([case])
            else:
                play.append(case)
        return plays

    def leave_out_stalls(self, plays: Iterable[Play]) -> list[Play]:
        """The plays that are to run. Where one call waits for another, so do stalled ones: one GET and one POST do."""
        plays = list(plays)
        if not self.pool.tempo.one_lane:
            return plays
        stalled = sorted(
            (play for play in plays if play[0].script.stalls), key=lambda play: play[0].group is not BackEndGroup.BUDGET
        )
        chosen = [next((play for play in stalled if operation in play[0].script.operations), None)
                  for operation in (GET, POST)]  # fmt: skip
        left = [play for play in stalled if play not in chosen]
        for case in (case for play in left for case in play):
            self.keep(BackEndResult(case, Verdict.NOT_LOOKED_AT, why=ONE_LANE))
        return [play for play in plays if play not in left]

    async def run_shared(self, play: Play) -> None:
        """Run a script while others run. The card pool bounds how many do."""
        self.judge(play, await self._run(play[0]), self._keep_unless_failed)

    def judge(self, play: Play, played: BackEndResult, keep: OnResult) -> None:
        """Judge each case by the calls of the play, and keep what comes of it."""
        keep(played)
        for case in play[1:]:
            apps = self._apps(case)
            parts = [part for part in played.each if part.platform in apps or not part.platform]
            keep(combine([self._runner.judge_again(case, part) for part in parts]))

    def _keep_unless_failed(self, result: BackEndResult) -> None:
        if result.verdict in MISSED and not result.case.script.meets:
            self._failed_in_parallel.append(result)
        else:
            self.keep(result)

    async def confirm_failures(self) -> None:
        """Run what failed in parallel once more, alone, and keep that result.

        A back end that mixes up calls fails everywhere at once, so a failure in parallel proves nothing about its case.
        A defect that shows now and then may not show alone: what fails alone in another case explains it, too.
        """
        for failure, again in [(failure, await self._confirm(failure)) for failure in self._failed_in_parallel]:
            apart = any(miss.root is Root.CONCURRENCY for miss in again.misses)
            self.keep(failure if apart and self._fails_alone[_advice(failure)] else again)

    async def _confirm(self, failure: BackEndResult) -> BackEndResult:
        """The result of a case that failed in parallel; of cases with the same advice, one is run again."""
        runner = self._runner
        advice = _advice(failure)
        stalled = failure.case.script.stalls and any(call.broke is Broke.LATE for call in failure.calls)
        # times count from the request, so other calls have no part in what the API alone held up
        late = _may_be_late(failure, runner.limit)
        if self._fails_alone.get(advice) or runner.gone or stalled or (failure.verdict is Verdict.NOTE and not late):
            return failure
        again = await self.run_alone(failure.case)
        self._fails_alone[advice] = again.verdict in CONFIRMED
        # other calls make a call late, but they send no value to another card
        if self._fails_alone[advice] or again.verdict is Verdict.NOT_LOOKED_AT or late:
            return again
        return fails_only_with_others(failure)

    async def run_alone(self, case: BackEndCase) -> BackEndResult:
        """Run a case while nothing else runs."""
        if case.script.slow and self._runner.limit == float("inf"):
            await self._run(OWN_LIMIT)
        return combine([await self._run_with_app(case, app) for app in self._apps(case)])

    def _apps(self, case: BackEndCase) -> list[str]:
        """The platforms whose app can make the case's calls."""
        broken = {app for app, operation in self._broken_calls if operation in case.script.operations}
        return [app for app in platforms(case, self._target) if app not in broken or case.group is BackEndGroup.FORM]

    async def _run(self, case: BackEndCase) -> BackEndResult:
        """Run a case, with all its apps in parallel."""
        return combine(await asyncio.gather(*(self._run_with_app(case, app) for app in self._apps(case))))

    async def _run_with_app(self, case: BackEndCase, app: str) -> BackEndResult:
        """Run a case with one app. A confirmation uses the same cards again, because a back end may remember them."""
        wanted = self._used_cards.get((case.name, app), ())
        calls = case.script.at_once
        of_first = self.disturbs_others(case)
        async with self.pool.lend(case.script.cards, calls=calls, of_first=of_first, wanted=wanted) as cards:
            self._used_cards[case.name, app] = cards
            return await self._runner.judge(case, cards, app)


class CardPool:
    """The cards. Each is lent to one case at a time, so a request for a card belongs to the case that has it.

    A case that names no cardholder gets any one of them, with that cardholder's cards. With the cards goes the right to
    make so many calls at once; together they are no more than the back end carries.

    Attributes:
        size: how many cards any case may get.
        tempo: how the back end works.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.size = sum(len(holder.cards) for holder in target.cardholders) - bool(target.spare)
        self.tempo = model.Tempo({}, {})
        self._lent = set[str]()
        self._calls = Counter[str]()  # under way, by the name of the cardholder
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def lend(
        self, count: int, *, calls: int = 1, of_first: bool = False, wanted: Sequence[str] = ()
    ) -> AsyncIterator[Cards]:
        """`count` cards of one cardholder for the block, or the wanted ones; waits until they are free.

        A case with more calls at once than the back end carries gets cards when no other call is under way.
        """
        holders = self._target.cardholders[: 1 if of_first else None]
        of_one = 1 if self.tempo.queues_cardholder else self.tempo.carried

        def free() -> list[tuple[str, Cards]]:
            found = list[tuple[str, Cards]]()
            for holder in holders:
                cards = tuple(wanted) or holder.cards
                left = tuple(card for card in cards if card not in {*self._lent, self._target.spare})
                own, all_calls = self._calls[holder.name], self._calls.total()
                carried = (not own or own + calls <= of_one) and (
                    not all_calls or all_calls + calls <= self.tempo.carried
                )
                if carried and len(left) >= (len(wanted) or count) and set(wanted) <= set(holder.cards):
                    found.append((holder.name, left))
            return found

        async with self._changed:
            await self._changed.wait_for(free)
            holder, cards = free()[0]
            cards = cards[: len(wanted) or count]
            self._lent.update(cards)
            self._calls[holder] += calls
        try:
            yield cards
        finally:
            async with self._changed:
                self._lent.difference_update(cards)
                self._calls[holder] -= calls
                self._changed.notify_all()


# Why a case failed in parallel.


def _advice(result: BackEndResult) -> frozenset[str]:
    return frozenset(miss.todo for miss in result.misses)


def fails_only_with_others(result: BackEndResult) -> BackEndResult:
    """The result of a case that failed while other calls were made, and passes by itself.

    A reused answer proves the failure: alone the case may pass because the kept answer has expired.
    """
    if any(miss.root is Root.OLD_ANSWER for miss in result.misses):
        return result
    observed = f"beside other calls: {result.misses[0].observed}"
    seen = [part.seen for part in result.each if part.seen]
    unasked = [
        call for case in seen for call in case.calls if call.tamper is None and judging.fails_unasked(call, case)
    ]
    if any(miss.root is Root.WRONG_CARD for miss in result.misses):
        todo = OWN_CARD
    elif unasked:
        todo = UNASKED
        observed = f"beside other calls: {judging.describe_ending(unasked[0])}, and the API was not asked"
    elif {(call.broke, call.number > 1) for case in seen for call in case.calls if call.broke} == {(Broke.LOST, True)}:
        todo = CLOSES
    else:
        apart = "nothing of one may reach another by a variable, a connection or a buffer"
        todo = f"Keep calls apart: {apart}. {judging.AFRESH}"
    miss = Miss("the same as alone, where the case passes", observed, todo, "REL-4", root=Root.CONCURRENCY)
    return replace(result, verdict=gravest([miss], result.case.rule), misses=(miss,))


def _may_be_late(result: BackEndResult, limit: float) -> bool:
    """Whether a call of the case may have failed for the time it took, and no value is at another card.

    A back end that gives up a request after `limit` seconds answers with a failure then. On a busy machine that happens
    to a plain call, too; half of the limit is left for what this machine adds to it.
    """
    misdelivered = any(miss.root is Root.WRONG_CARD for miss in result.misses)
    return not misdelivered and any(
        call.broke is Broke.LATE or (not call.succeeded and call.seconds > limit / 2) for call in result.calls
    )


# Which cases can run here, and with whose app.


def without(case: BackEndCase, target: Target) -> BackEndResult | None:
    """The result of a case that cannot run here; None where it can."""
    cards = target.cardholders[0].cards
    has = {
        Need.PLATFORM_A: Need.PLATFORM_A.value in target.surfaces,
        Need.PLATFORM_B: Need.PLATFORM_B.value in target.surfaces,
        Need.SESSIONS: any(holder.session or holder.sessions for holder in target.cardholders),
        Need.TWO_CARDHOLDERS: len(target.cardholders) > 1,
        Need.OTHER_SESSION: len({(), *(holder.session_for(cards[0]) for holder in target.cardholders[:2])}) > 2,
        Need.SEVERAL_CARDS: len(cards) > 1,
        Need.LOGS: bool(target.logs),
        Need.JSON_BODY: all(surface.post.sdk_output != model.RAW for surface in target.surfaces.values()),
        Need.API_TLS: target.api_tls,
        Need.CONTRACT: target.contract == "lesson",
    }
    if Need.CONTRACT in case.needs and target.contract is None:
        return BackEndResult(case, Verdict.NOT_LOOKED_AT, why=NO_CONTRACT)
    for need in sorted(case.needs, key=lambda need: (need not in OPTIONAL, need)):
        if not has[need]:
            verdict = Verdict.NOT_APPLICABLE if need in OPTIONAL else Verdict.NOT_TESTABLE
            return BackEndResult(case, verdict, why=f"Skipped: the configuration names no {need}.")
    if len(cards) < case.script.cards:
        return BackEndResult(
            case,
            Verdict.NOT_TESTABLE,
            why=f"Skipped: the case needs {case.script.cards} cards of the first cardholder ([[cardholder]] cards).",
        )
    return None


def platforms(case: BackEndCase, target: Target) -> tuple[str, ...]:
    """The platforms whose app makes a case's calls: one for each kind of app that the back end can tell apart."""
    if case.script.judges_run or case.script.meets:
        return ("" if case.script.judges_run else next(iter(target.surfaces)),)
    if case.platform is not None:
        return (case.platform,)
    operations = case.script.operations
    kinds: dict[object, str] = {}
    for platform, surface in target.surfaces.items():
        used = (surface.get if GET in operations else None, surface.post if model.POST in operations else None)
        kinds.setdefault((used, surface.decoded, surface.headers), platform)
    return tuple(kinds.values())


# The result of a case with each platform's app, put together: the rule is kept only if every app keeps it.


def combine(parts: Sequence[BackEndResult]) -> BackEndResult:
    """One result, made of one or more. Each miss says with whose app it happened."""
    if len(parts) == 1:
        return parts[0]
    misses = _by_platform((miss, part.platform) for part in parts for miss in part.misses)
    whys = _by_platform((part.why, part.platform) for part in parts if part.why)
    return replace(
        parts[0],
        verdict=min((part.verdict for part in parts), key=attrgetter("gravity")),
        misses=tuple(replace(miss, observed=f"with the app of {apps}: {miss.observed}") for miss, apps in misses),
        why=" ".join(f"The app of {apps}: {why}" if apps else why for why, apps in whys),
        platform=platform_names(part.platform for part in parts),
        seconds=sum(part.seconds for part in parts),
        parts=tuple(parts),
    )


def _by_platform(pairs: Iterable[tuple[T, str]]) -> list[tuple[T, str]]:
    """Each item once, with the platforms that it was found on."""
    platforms: dict[T, list[str]] = {}
    for item, platform in pairs:
        platforms.setdefault(item, []).append(platform)
    return [(item, platform_names(names)) for item, names in platforms.items()]


def platform_names(platforms: Iterable[str]) -> str:
    """Their names in a sentence, each once."""
    return " and ".join(dict.fromkeys(filter(None, platforms)))
