"""When each case runs: in parallel, once more alone where it failed, or alone because it disturbs others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from operator import attrgetter
from typing import TypeAlias, TypeVar

from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.case_runner import CONFIRMED, OWN_LIMIT, SLOW, TRIES, CaseRunner, first_request
from workbook.tools.conform.back_end.judging import OWN_CARD, SIDE_BY_SIDE, UNASKED
from workbook.tools.conform.back_end.model import GET, BackEndCase, BackEndGroup, BackEndResult, Need, Seen, Target
from workbook.tools.harness.model import Miss, Root, Verdict, gravest

OnResult: TypeAlias = Callable[[BackEndResult], None]
Cards: TypeAlias = tuple[str, ...]
T = TypeVar("T", bound=Hashable)

# What a back end may rightly not have.
OPTIONAL = frozenset({Need.PLATFORM_A, Need.PLATFORM_B, Need.JSON_BODY, Need.PROXY, Need.CONTRACT})
# Why a case was not run.
NO_PLAIN_CALL = "The plain call that this case makes does not work."
NO_CONTRACT = (
    "The answers to the app were not looked at. If they keep the contract of lesson 01, write [app] contract = "
    '"lesson", and otherwise "own".'
)
ONE_LANE = "While one call waited for the API, the back end answered no other."


async def run_cases(
    cases: Iterable[BackEndCase],
    runner: CaseRunner,
    on_result: OnResult = lambda _result: None,
    broken_calls: Collection[tuple[str, str]] = (),
) -> list[BackEndResult]:
    """Run these cases; the results come in the order of the cases.

    1. Cases in which the API stalls run together, one for each card, so that their common wait is paid once.
    2. Cases that disturb no other run in parallel, as many at once as there are cards.
    3. A case that failed in parallel runs once more, alone.
    4. The others run alone: what takes long comes last, because the run's time may be up before.

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
    ready = [case for case in cases if not schedule.leave_out(case)]
    alone = [case for case in ready if schedule.disturbs_others(case)]
    shared = [case for case in ready if not schedule.disturbs_others(case)]
    async with runner.watching():
        left = await schedule.run_stalled([case for case in shared if case.script.stalls])
        await schedule.run_parallel([*left, *(case for case in shared if not case.script.stalls)])
        await schedule.confirm_failures()
        long = (BackEndGroup.FAULTS, BackEndGroup.BUDGET, BackEndGroup.CONCURRENCY)
        for case in sorted(alone, key=lambda case: (case.script.judges_run, case.group in long)):
            schedule.keep(await schedule.run_alone(case))
    return [schedule.results[case.name] for case in cases]


class Schedule:
    """Runs cases, in parallel or alone.

    Attributes:
        results: of the cases that are decided, by name.
    """

    def __init__(self, runner: CaseRunner, on_result: OnResult, broken_calls: Collection[tuple[str, str]]) -> None:
        self._runner = runner
        self._target = runner.target
        self._on_result = on_result
        self._broken_calls = broken_calls
        self._pool = CardPool(runner.target)
        self._used_cards = dict[tuple[str, str], Cards]()
        self._failed_in_parallel = list[BackEndResult]()
        self._fails_alone = dict[frozenset[str], bool]()  # by the advice of the first failure
        self.results = dict[str, BackEndResult]()

    def keep(self, result: BackEndResult) -> None:
        """Keep how a case ended, and report it."""
        self.results[result.case.name] = result
        self._on_result(result)

    def leave_out(self, case: BackEndCase) -> bool:
        """Whether the case cannot run; its result then says why."""
        result = without(case, self._target)
        if result is None and not self._apps(case):
            result = BackEndResult(case, Verdict.NOT_TESTABLE, why=NO_PLAIN_CALL)
        if result is not None:
            self.keep(result)
        return result is not None

    def disturbs_others(self, case: BackEndCase) -> bool:
        """Whether no other case may run meanwhile.

        A circuit breaker that opens for one case is open for all. Where a case compares times, other calls disturb it.
        """
        script = case.script
        return script.alone or script.judges_run or script.slow or (script.faulty and self._target.recovers_late)

    async def run_stalled(self, cases: Sequence[BackEndCase]) -> Sequence[BackEndCase]:
        """Run the cases in which the API stalls, one for each card. Returns those that any others may accompany.

        Where the back end has fewer lanes than there are cards, calls wait for a lane as well as for the API. Their
        cases then run again, as many at once as there are lanes; a single lane is a finding of its own.
        """
        first = cases[: self._pool.size]
        left = cases[self._pool.size :]
        results = await asyncio.gather(*map(self._run, first))
        queued = [result for result in results if any(waited_for_a_lane(part.seen) for part in result.each)]
        if self._runner.is_busy:
            queued = []
        decided = [result for result in results if result not in queued]
        for result in decided:
            self._keep_unless_failed(result)
        if not queued:
            return left
        lanes = sum(first_request(part.seen) is not None for result in decided for part in result.each)
        waiting = [*(result.case for result in queued), *left]
        if lanes <= 1:
            for case in waiting:
                self.keep(BackEndResult(case, Verdict.NOT_LOOKED_AT, why=ONE_LANE))
            return ()
        for start in range(0, len(waiting), lanes):
            await self.run_parallel(waiting[start : start + lanes])
        return ()

    async def run_parallel(self, cases: Iterable[BackEndCase]) -> None:
        """Run cases in parallel. The card pool bounds how many run at once."""

        async def run(case: BackEndCase) -> None:
            self._keep_unless_failed(await self._run(case))

        await asyncio.gather(*map(run, cases))

    def _keep_unless_failed(self, result: BackEndResult) -> None:
        if result.verdict in CONFIRMED:
            self._failed_in_parallel.append(result)
        else:
            self.keep(result)

    async def confirm_failures(self) -> None:
        """Run what failed in parallel once more, alone, and keep that result.

        A back end that mixes up calls fails everywhere at once, so a failure in parallel proves nothing about its case.
        """
        was_busy = self._runner.is_busy
        for failure in self._failed_in_parallel:
            self.keep(await self._confirm(failure, was_busy=was_busy))

    async def _confirm(self, failure: BackEndResult, *, was_busy: bool) -> BackEndResult:
        """The result of a case that failed in parallel; of cases with the same advice, one is run again."""
        runner = self._runner
        bound = self._target.bound
        advice = frozenset(miss.todo for miss in failure.misses)
        fails_alone = self._fails_alone.get(advice)
        if fails_alone or runner.gone or runner.is_over or _is_held_by_the_api(failure, bound):
            return failure
        if fails_alone is False and failure.seconds > SLOW * bound:  # to wait again costs more than it shows
            return fails_only_with_others(failure, bound)
        again = await self.run_alone(failure.case)
        self._fails_alone[advice] = again.verdict in CONFIRMED
        if self._fails_alone[advice] or again.verdict is Verdict.NOT_TESTABLE:
            return again
        # a busy machine makes calls late, but it sends no value to another card
        if was_busy and not _is_misdelivered(failure):
            return again
        return fails_only_with_others(failure, bound)

    async def run_alone(self, case: BackEndCase) -> BackEndResult:
        """Run a case while nothing else runs; again where this machine was too busy for its times to say anything."""
        runner = self._runner
        if case.script.slow and runner.limit == float("inf"):
            await self._run(OWN_LIMIT)
        for _try in range(TRIES):
            runner.lag = 0.0
            result = combine([await self._run_with_app(case, app) for app in self._apps(case)])
            slow_calls = [call for call in result.calls if call.seconds > SLOW * self._target.bound]
            timed = case.script.slow or any(not call.succeeded for call in slow_calls)
            if not (timed and runner.is_busy and result.verdict in CONFIRMED):
                return result
        why = f"This machine was too busy in each of {TRIES} tries: the workbook itself was {runner.lag:.1f} s late."
        return replace(result, verdict=Verdict.NOT_TESTABLE, misses=(), why=why)

    def _apps(self, case: BackEndCase) -> list[str]:
        """The platforms whose app can make the case's calls."""
        broken = {app for app, operation in self._broken_calls if operation in case.script.operations}
        return [app for app in platforms(case, self._target) if app not in broken or case.group is BackEndGroup.FORM]

    async def _run(self, case: BackEndCase) -> BackEndResult:
        """Run a case, with all its apps in parallel."""
        return combine(await asyncio.gather(*(self._run_with_app(case, app) for app in self._apps(case))))

    async def _run_with_app(self, case: BackEndCase, app: str) -> BackEndResult:
        """Run a case with one app. A confirmation uses the same cards again, because a back end may remember them."""
        shape = next((need for need in case.needs if need in model.SHAPES), None)
        ids = self._target.cardholders[0].cards
        of_shape = [card for card in ids if shape and model.shape_of(self._target.instrument(card)) is shape]
        wanted = self._used_cards.get((case.name, app), of_shape[:1])
        async with self._pool.lend(case.script.cards, of_first=self.disturbs_others(case), wanted=wanted) as cards:
            self._used_cards[case.name, app] = cards
            return await self._runner.judge(case, cards, app)


class CardPool:
    """The cards. Each is lent to one case at a time, so a request for a card belongs to the case that has it.

    A case that names no cardholder gets any one of them, with that cardholder's cards.

    Attributes:
        size: how many cards any case may get.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.size = sum(len(model.ordinary(holder.cards, target.instrument, 3)) for holder in target.cardholders)
        self._lent = set[str]()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def lend(self, count: int, *, of_first: bool = False, wanted: Sequence[str] = ()) -> AsyncIterator[Cards]:
        """`count` cards of one cardholder for the block, or the wanted ones; waits until they are free."""
        holders = self._target.cardholders[: 1 if of_first else None]
        at_the_api = self._target.instrument
        # three cards of the commonest shape are enough for cases that use one or two (assumed: fewer make a slow run)
        enough = max(count, 3)
        cards_of = (
            [tuple(wanted)] if wanted else [model.ordinary(holder.cards, at_the_api, enough) for holder in holders]
        )

        def free() -> list[tuple[str, ...]]:
            each = [tuple(card for card in cards if card not in self._lent) for cards in cards_of]
            return [cards for cards in each if len(cards) >= (len(wanted) or count)]

        async with self._changed:
            await self._changed.wait_for(free)
            cards = free()[0][: len(wanted) or count]
            self._lent.update(cards)
        try:
            yield cards
        finally:
            async with self._changed:
                self._lent.difference_update(cards)
                self._changed.notify_all()


# Why a case failed in parallel.


def waited_for_a_lane(seen: Seen | None) -> bool:
    """Whether the request of a case's first call arrived late, or not at all: the call waited for other calls."""
    if seen is None or not seen.calls:
        return False
    request = first_request(seen)
    call = seen.calls[0]
    # with a free lane a request arrives within a second (assumed)
    return (request.at if request else call.ended) - call.began > 1.0


def fails_only_with_others(result: BackEndResult, bound: float) -> BackEndResult:
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
    late = not _is_misdelivered(result) and _is_late(result, 0.9 * bound)  # as `room_for_the_phone` has it
    if _is_misdelivered(result):
        todo = OWN_CARD
    elif late:
        todo = SIDE_BY_SIDE
    elif unasked:
        todo = UNASKED
        observed = f"beside other calls: {judging.describe_ending(unasked[0])}, and the API was not asked"
    else:
        apart = "nothing of one may reach another by a variable, a connection or a buffer"
        todo = f"Keep calls apart: {apart}. {judging.AFRESH}"
    expected = "the same as alone, where the case passes"
    rule_id = "REL-5" if late else "REL-4"
    miss = Miss(expected, observed, todo, rule_id, root=Root.CONCURRENCY, harms=late)  # too late: an attempt is lost
    return replace(result, verdict=gravest([miss], result.case.rule), misses=(miss,))


def _is_misdelivered(result: BackEndResult) -> bool:
    """Whether a value went to another card, which no busy machine explains."""
    return any(miss.root is Root.WRONG_CARD for miss in result.misses)


def _is_held_by_the_api(result: BackEndResult, bound: float) -> bool:
    """Whether the API alone made a case's calls late: each late call's request came at once, and met a fault.

    No other call has a part in such a failure, so the case need not wait once more, alone.
    """
    for seen in (part.seen for part in result.each if part.seen):
        for call in seen.calls:
            # a request that comes within a tenth of the limit has not waited for other calls (assumed)
            prompt = [request for request in seen.during(call) if request.at - call.began < 0.1 * bound]
            if call.seconds > SLOW * bound and not any(request.response.fault for request in prompt):
                return False
    return _is_late(result, 0.9 * bound)


def _is_late(result: BackEndResult, bound: float) -> bool:
    """Whether a call of the case had no answer in time."""
    return any(call.broke is model.Broke.LATE or call.seconds > bound for call in result.calls)


# Which cases can run here, and with whose app.


def without(case: BackEndCase, target: Target) -> BackEndResult | None:
    """The result of a case that cannot run here, or that the configuration leaves out; None where it can run."""
    if case.group in target.without:
        return BackEndResult(case, Verdict.DISABLED, why=f"The configuration leaves out the group {case.group}.")
    cards = target.cardholders[0].cards
    has = {
        Need.PLATFORM_A: Need.PLATFORM_A.value in target.surfaces,
        Need.PLATFORM_B: Need.PLATFORM_B.value in target.surfaces,
        Need.SESSIONS: any(holder.session or holder.sessions for holder in target.cardholders),
        Need.TWO_CARDHOLDERS: len(target.cardholders) > 1,
        Need.SEVERAL_CARDS: len(cards) > 1,
        Need.LOGS: bool(target.logs),
        Need.JSON_BODY: all(surface.post.sdk_output != model.RAW for surface in target.surfaces.values()),
        Need.API_TLS: target.api_tls,
        Need.PROXY: target.proxied,
        Need.CONTRACT: target.contract == "lesson",
        **{shape: shape in map(model.shape_of, map(target.instrument, cards)) for shape in model.SHAPES},
    }
    if Need.CONTRACT in case.needs and target.contract is None:
        return BackEndResult(case, Verdict.NOT_LOOKED_AT, why=NO_CONTRACT)
    for need in sorted(case.needs, key=lambda need: (need not in OPTIONAL, need)):
        if not has[need]:
            verdict = Verdict.NOT_APPLICABLE if need in OPTIONAL else Verdict.NOT_TESTABLE
            return BackEndResult(case, verdict, why=f"Skipped: the configuration names no {need}.")
    if len(model.ordinary(cards, target.instrument, case.script.cards)) < case.script.cards:
        return BackEndResult(
            case,
            Verdict.NOT_TESTABLE,
            why=f"Skipped: the case needs {case.script.cards} cards of the first cardholder ([[cardholder]] cards).",
        )
    return None


def platforms(case: BackEndCase, target: Target) -> tuple[str, ...]:
    """The platforms whose app makes a case's calls: one for each kind of app that the back end can tell apart."""
    if case.script.judges_run:
        return ("",)
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
