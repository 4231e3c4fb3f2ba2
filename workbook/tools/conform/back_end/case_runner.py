"""Runs cases: at the same time where they do not disturb each other, each with its own cards; else one by one."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias, TypeVar, assert_never
from urllib.parse import quote

from workbook.api.net import Origin
from workbook.errors import WorkbookError
from workbook.simulation.faults import FAULTS, FaultKind
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Headers, header_values
from workbook.simulation.seal import Content
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.judging import ASK, HAND_ON, OWN_CARD, SIDE_BY_SIDE, UNASKED, WORK, CardWatch
from workbook.tools.conform.back_end.model import GET, BackEndCase, BackEndGroup, BackEndResult, Need, Seen, Target
from workbook.tools.conform.back_end.phone import Phone, listens
from workbook.tools.harness.logs import Logs, LogSpan
from workbook.tools.harness.model import Miss, Root, Verdict, gravest
from workbook.tools.harness.report import JUDGED, UNSEEN

OnResult: TypeAlias = Callable[[BackEndResult], None]
Cards: TypeAlias = tuple[str, ...]
T = TypeVar("T", bound=Hashable)

# What a back end may rightly not have.
OPTIONAL = frozenset({Need.PLATFORM_A, Need.PLATFORM_B, Need.JSON_BODY, Need.PROXY, Need.CONTRACT})


async def run_cases(
    cases: Iterable[BackEndCase],
    runner: CaseRunner,
    on_result: OnResult = lambda _result: None,
    repetition: int = 1,
    broken_calls: Collection[tuple[str, str]] = (),
) -> list[BackEndResult]:
    """Run these cases; the results come in the order of the cases.

    1. Cases in which the API stalls run together, one for each card, so that their common wait is paid once. Without
       a card for each, the rest runs with the cases below.
    2. Cases that disturb no other run in parallel, as many at once as there are cards.
    3. A case that failed in parallel runs once more, alone; see `_Schedule.confirm`.
    4. The others run alone, those that judge the whole run last.

    A case that does not say which platform's app calls is carried out with each app that the back end can tell apart,
    and has to hold with all of them.

    Args:
        cases: which.
        runner: carries them out.
        on_result: called with each result as it comes.
        repetition: which repetition, from 1; each has its own canaries.
        broken_calls: platform and operation of each plain call that does not work. Of the cases that make such a call
            only the group `form` runs: it says what is wrong with it.
    """
    cases = list(cases)
    schedule = _Schedule(runner, on_result, repetition, broken_calls)
    ready = [case for case in cases if not schedule.left_out(case)]
    shared = [case for case in ready if not schedule.runs_alone(case)]
    # what takes long comes last, because the run's time may be up before
    long = (BackEndGroup.FAULTS, BackEndGroup.BUDGET, BackEndGroup.CONCURRENCY)
    alone = [case for case in ready if schedule.runs_alone(case)]
    alone.sort(key=lambda case: (case.script.judges_run, case.group in long))
    async with runner.watching():
        failures, rest = await schedule.run_stalled([case for case in shared if case.script.stalls])
        failures += await schedule.run_parallel([*rest, *(case for case in shared if not case.script.stalls)])
        await schedule.confirm(failures)
        for case in alone:
            schedule.keep(await schedule.run_alone(case))
    return [schedule.results[case.name] for case in cases]


# Verdicts that must come again when a case is alone.
CONFIRMED = frozenset({Verdict.FAIL, Verdict.WARN})
# How often a case is run alone, or the back end is probed, on a busy machine (assumed).
TRIES = 3
# Why a case is not testable where the back end limits how often it is called.
OWN_429 = "The back end answered 429 itself, without asking the API."
NO_PLAIN_CALL = "The plain call that this case makes does not work."
NO_CONTRACT = (
    'The answers to the app were not looked at: say [app] contract = "lesson" where they are those of lesson 01, and '
    '"own" where they are others.'
)
SILENT = (
    "No line was written while the calls were made. Where your back end writes a log of its own, name the file (logs, "
    "at the top of the configuration)."
)
NEVER_PROXIED = (
    "The HTTP library of these requests never takes a proxy to an address on loopback, where the mock API listens, so "
    "nothing shows whether it would elsewhere. Look whether your client is built without a proxy of the environment."
)
# Why the cases in which the API stalls were not run: each would wait by itself.
ONE_LANE = "While one call waited for the API, the back end answered no other."


class _Schedule:
    """Runs the cases of one round, in parallel or alone, and keeps their results."""

    def __init__(
        self, runner: CaseRunner, on_result: OnResult, repetition: int, broken_calls: Collection[tuple[str, str]]
    ) -> None:
        self._runner, self._on_result, self._repetition = runner, on_result, repetition
        self._broken_calls, self._cards = broken_calls, _CardPool(runner.target)
        self.results = dict[str, BackEndResult]()
        self._used = dict[tuple[str, str], Cards]()

    def keep(self, result: BackEndResult) -> None:
        """Keep how a case ended, and report it."""
        self.results[result.case.name] = result
        self._on_result(result)

    def left_out(self, case: BackEndCase) -> bool:
        """Whether the case cannot run; its result then says why."""
        result = without(case, self._runner.target)
        if result is None and not self._apps(case):
            result = BackEndResult(case, Verdict.NOT_TESTABLE, why=NO_PLAIN_CALL)
        if result is not None:
            self.keep(result)
        return result is not None

    def runs_alone(self, case: BackEndCase) -> bool:
        """Whether no other case may run meanwhile.

        A circuit breaker that opens for one case is open for all. Where a case compares times, other calls disturb it.
        """
        script = case.script
        return script.alone or script.judges_run or script.slow or (script.faulty and self._runner.target.recovers_late)

    async def run_alone(self, case: BackEndCase) -> BackEndResult:
        """Run a case while nothing else runs; again where this machine was too busy for its times to say anything."""
        runner = self._runner
        if case.script.slow and runner.limit == float("inf"):
            await self._run(OWN_LIMIT)
        for _try in range(TRIES):
            runner.lag = 0.0
            result = combine([await self._run_with_app(case, app) for app in self._apps(case)])
            timed = case.script.slow or any(
                call.seconds > SLOW * runner.target.bound and not call.succeeded for call in result.calls
            )
            if not (timed and runner.is_busy and result.verdict in CONFIRMED):
                return result
        why = f"This machine was too busy in each of {TRIES} tries: the workbook itself was {runner.lag:.1f} s late."
        return replace(result, verdict=Verdict.NOT_TESTABLE, misses=(), why=why)

    async def run_parallel(self, cases: Iterable[BackEndCase]) -> list[BackEndResult]:
        """Run cases in parallel, and keep what passes. Returns the failures, which are to be confirmed.

        The card pool bounds how many run at once.
        """

        async def run(case: BackEndCase) -> BackEndResult:
            result = await self._run(case)
            self._keep_unless_failed(result)
            return result

        results = await asyncio.gather(*map(run, cases))
        return [result for result in results if result.verdict in CONFIRMED]

    def _keep_unless_failed(self, result: BackEndResult) -> None:
        if result.verdict not in CONFIRMED:
            self.keep(result)

    async def run_stalled(self, cases: Sequence[BackEndCase]) -> tuple[list[BackEndResult], Sequence[BackEndCase]]:
        """Run the cases in which the API stalls, one for each card.

        Where the back end has fewer lanes than there are cards, calls wait for a lane as well as for the API. Their
        cases then run again, as many at once as there are lanes; a single lane is a finding of its own.

        Returns:
            The failures, which are to be confirmed; and the cases that have not run, which any others may accompany.
        """
        first, rest = cases[: self._cards.size], cases[self._cards.size :]
        results = await asyncio.gather(*map(self._run, first))
        queued = [result for result in results if any(waited_for_a_lane(part.seen) for part in result.each)]
        if self._runner.is_busy:
            queued = []
        decided = [result for result in results if result not in queued]
        for result in decided:
            self._keep_unless_failed(result)
        failures = [result for result in decided if result.verdict in CONFIRMED]
        if not queued:
            return failures, rest
        lanes = max(1, sum(first_request(part.seen) is not None for result in decided for part in result.each))
        waiting = [*(result.case for result in queued), *rest]
        for start in range(0, len(waiting), lanes):
            if lanes > 1:
                failures += await self.run_parallel(waiting[start : start + lanes])
            else:
                self.keep(BackEndResult(waiting[start], Verdict.NOT_LOOKED_AT, why=ONE_LANE))
        return failures, ()

    async def confirm(self, failures: Iterable[BackEndResult]) -> None:
        """Run failed cases once more, alone, one for each advice, and keep that result.

        A back end that mixes up calls fails everywhere at once, so a failure in parallel proves nothing about its case.
        """
        runner, bound, began = self._runner, self._runner.target.bound, monotonic()
        was_busy, fails_alone = runner.is_busy, dict[frozenset[str], bool]()
        for first in failures:
            advice = frozenset(miss.todo for miss in first.misses)
            slow = first.seconds > SLOW * bound  # to wait again costs more than it shows
            if fails_alone.get(advice) or runner.gone or runner.is_over or _is_held_by_the_api(first, bound):
                self.keep(first)
            elif slow and advice in fails_alone:
                self.keep(fails_only_with_others(first, bound))
            else:
                second = await self.run_alone(first.case)
                fails_alone[advice] = second.verdict in CONFIRMED
                counts = fails_alone[advice] or second.verdict is Verdict.NOT_TESTABLE
                # a busy machine makes calls late, but it sends no value to another card
                excused = was_busy and not _is_misdelivered(first)
                self.keep(second if counts or excused else fails_only_with_others(first, bound))
        runner.repeated += monotonic() - began

    def _apps(self, case: BackEndCase) -> list[str]:
        broken = {app for app, operation in self._broken_calls if operation in case.script.operations}
        return [
            app for app in platforms(case, self._runner.target) if app not in broken or case.group is BackEndGroup.FORM
        ]

    async def _run(self, case: BackEndCase) -> BackEndResult:
        """Run a case, with all its apps in parallel."""
        return combine(await asyncio.gather(*(self._run_with_app(case, app) for app in self._apps(case))))

    async def _run_with_app(self, case: BackEndCase, app: str) -> BackEndResult:
        """Run a case with one app. A confirmation uses the same cards again, because a back end may remember them."""
        target = self._runner.target
        shape = next((need for need in case.needs if need in model.SHAPES), None)
        cards_of = target.cardholders[0].cards
        of_shape = [card for card in cards_of if shape and model.shape_of(target.instrument(card)) is shape][:1]
        wanted = self._used.get((case.name, app), of_shape)
        async with self._cards.lend(case.script.cards, of_first=self.runs_alone(case), wanted=wanted) as cards:
            self._used[case.name, app] = cards
            return await self._runner.judge(case, cards, app, self._repetition)


def first_request(seen: Seen | None) -> model.Arrived | None:
    """The request that a case's first call led to; None where none arrived during the call."""
    return next(iter(seen.during(seen.calls[0])), None) if seen and seen.calls else None


def waited_for_a_lane(seen: Seen | None) -> bool:
    """Whether the request of a case's first call arrived late, or not at all: the call waited for other calls."""
    if seen is None or not seen.calls:
        return False
    request, call = first_request(seen), seen.calls[0]
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
    if _is_misdelivered(result):
        rule_id, todo = "REL-4", OWN_CARD
    elif _is_late(result, 0.9 * bound):  # as `room_for_the_phone` has it
        rule_id, todo = "REL-5", SIDE_BY_SIDE
    elif unasked:
        rule_id, todo = "REL-4", UNASKED
        observed = f"beside other calls: {judging.outcome(unasked[0])}, and the API was not asked"
    else:
        apart = "nothing of one may reach another by a variable, a connection or a buffer"
        rule_id, todo = "REL-4", f"Keep calls apart: {apart}. {judging.AFRESH}"
    expected, harms = "the same as alone, where the case passes", todo == SIDE_BY_SIDE  # too late: an attempt lost
    miss = Miss(expected, observed, todo, rule_id, root=Root.CONCURRENCY, harms=harms)
    return replace(result, verdict=gravest([miss], result.case.rule), misses=(miss,))


def _is_misdelivered(result: BackEndResult) -> bool:
    """Whether a value went to another card, which no busy machine explains."""
    return any(miss.root is Root.WRONG_CARD for miss in result.misses)


def _is_held_by_the_api(result: BackEndResult, bound: float) -> bool:
    """Whether the API alone made a case's calls late: each late call's request came at once, and met a fault.

    No other call has a part in such a failure, so the case need not wait once more, alone.
    """

    def met_a_fault(call: model.PhoneCall, seen: Seen) -> bool:
        # a request that comes within a tenth of the limit has not waited for other calls (assumed)
        prompt = (request for request in seen.during(call) if request.at - call.began < 0.1 * bound)
        return any(request.response.fault for request in prompt)

    late = [(call, part.seen) for part in result.each if isinstance(part.seen, Seen)
            for call in part.seen.calls if call.seconds > SLOW * bound]  # fmt: skip
    return _is_late(result, 0.9 * bound) and all(met_a_fault(call, seen) for call, seen in late)


def _is_late(result: BackEndResult, bound: float) -> bool:
    """Whether a call of the case had no answer in time."""
    return any(call.broke is model.Broke.LATE or call.seconds > bound for call in result.calls)


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


class _CardPool:
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
        holders, at_the_api = self._target.cardholders[: 1 if of_first else None], self._target.instrument
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


def reason(error: BaseException) -> str:
    """What went wrong in the workbook, and where. The text of an error may hold a value, so only our own is shown."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" in {Path(last[0].filename).name}, line {last[0].lineno}" if last else ""
    text = f": {error}" if isinstance(error, WorkbookError) else ""
    return f"{type(error).__name__}{where}{text}"


# Several rounds of the same cases, put together: a case that does not end the same each time is flaky.


@dataclass
class Rounds:
    """The results of each case so far."""

    _worst: dict[str, BackEndResult] = field(default_factory=dict)
    _counts: dict[str, Counter[Verdict]] = field(default_factory=dict)

    def keep(self, result: BackEndResult) -> None:
        """Count one more result of a case."""
        name = result.case.name
        self._counts.setdefault(name, Counter())[result.verdict] += 1
        # a round in which the case was judged says more than one in which it could not be
        both = (self._worst.get(name, result), result)
        self._worst[name] = min(both, key=lambda result: (result.verdict in UNSEEN, result.verdict.gravity))

    def ended(self, name: str) -> BackEndResult | None:
        """The result of a case over all its rounds; None where it has not ended."""
        worst, counts = self._worst.get(name), self._counts.get(name, Counter())
        if worst is None or worst.verdict not in JUDGED or len(counts.keys() & JUDGED) == 1:
            return worst
        listed = ", ".join(f"{verdict} in {counts[verdict]}" for verdict in Verdict if counts[verdict])
        return replace(worst, verdict=Verdict.FLAKY, why=f"Of {counts.total()} rounds: {listed}.")


# Whether a back end still answers: where it hangs, a run would wait for every one of its calls.
#
# Only plain calls count, those that meet an API which answers as it should. A back end that is slow but alive lets one
# of them succeed now and then.

# A failure this slow, as a share of the time limit, counts as no answer (assumed).
SLOW = 0.2


@dataclass(slots=True)
class FailureStreak:
    """For how long no plain call has succeeded.

    Attributes:
        bound: seconds within which the back end has to answer.
        failed: each call since the last success that was not answered, with the name of its case.
    """

    bound: float
    failed: list[tuple[str, model.PhoneCall]] = field(default_factory=list)

    def count(self, case: str, call: model.PhoneCall) -> None:
        """Count a plain call of this case."""
        if call.succeeded:
            self.failed.clear()
        elif call.broke is not model.Broke.CANCELLED and call.seconds > SLOW * self.bound:
            self.failed.append((case, call))

    @property
    def suspected(self) -> bool:
        """Whether it is time to probe the back end."""
        # four failed plain calls in a row, over twice the time that a call may take (assumed)
        if len(self.failed) < 4:
            return False
        return max(call.ended for _case, call in self.failed) - self.failed[0][1].began >= 2 * self.bound


# Carries out one case's script between the phone and the API, and returns what both saw.

# This case only observes, and judges nothing.
OWN_LIMIT = model.back_end_case(
    BackEndGroup.BUDGET, "own.limit", "How long the back end waits for the API.", "REL-5", judging.all_of(),
    model.CaseScript((model.AppCall(GET),), (model.Order(GET, fault="stall before headers", share=3.0),)),
)  # fmt: skip
# Seconds after the last answer in which a late request may still reach the API.
SETTLE = 0.05
# No index: stands for the first one's session, one character changed.
FORGED = -2


class CaseRunner:
    """Runs single cases between the phone and the API, and keeps the state of the back end.

    Args:
        target: the back end.
        api: the API that the back end asks.
        seed: of the canaries.

    Attributes:
        target: the back end.
        upstream: the API's side: what arrived there, and what it answers.
        gone: since when the back end no longer answers, in words; empty while it does.
        plain_works: whether an attempt with nothing wrong anywhere succeeds, with every app.
        limit: seconds after which the back end gives up one request to the API; infinite until it was observed.
        lag: seconds by which the workbook itself came late, while it was watched; set it to 0 before you measure.
        logs: the back end's log files, from their state when the runner is created.
        repeated: seconds in which cases that had failed were repeated.
        until: the moment on the monotonic clock after which no call is made.
        values: opaque data of all cases so far: pairs of a payment instrument and the beginning of a value.
        streak: for how long the back end has not answered.
    """

    def __init__(self, target: Target, api: MockApi, seed: int = 7) -> None:
        self.target, self.upstream, self.gone = target, api.upstream, ""
        self.plain_works, self.limit = False, float("inf")
        self.logs, self.streak = Logs(target.logs), FailureStreak(target.bound)
        self.values: dict[tuple[str, str], None] = {}
        self._api, self._seed, self._host = api, seed, api.url.partition("//")[2]
        self._watch = judging.SecretWatch(api.key, self._host, target)
        self._cards = CardWatch(target.instrument(card) for holder in target.cardholders for card in holder.cards)
        setting = (api.key, self._host, target.bound, target.recovery, target.failures)
        extension = Need.PLATFORM_B.value in target.surfaces
        self._nothing_seen = Seen((), (), (), *setting, extension=extension, app_wait=target.app_wait)
        self._logged = False
        self._sent, self._scanned = set[int](), 0
        self._tries = Counter[tuple[str, str]]()
        self._probing, self._pacing, self._next_call = asyncio.Lock(), asyncio.Lock(), 0.0
        self.lag, self.repeated, self.until = 0.0, 0.0, float("inf")

    async def judge(self, case: BackEndCase, cards: tuple[str, ...], platform: str, repetition: int) -> BackEndResult:
        """Carry out a case with one platform's app, and judge what was seen.

        A case is not testable where the back end went away before all calls were made, or was gone for every call, or
        refused a call because of its own limit.
        """
        await self.settled()
        result = BackEndResult(case, Verdict.NOT_TESTABLE, platform=platform)
        if not case.script.judges_run and (stopped := self._stopped):
            return replace(result, **stopped)
        began = monotonic()
        try:
            seen = await self.run(case, cards, platform, repetition)
            result = replace(result, seen=seen, seconds=monotonic() - began)
            refused = [call.broke is model.Broke.REFUSED for call in seen.calls]
            if any(refused) and not self.gone and not await self.is_there():
                self.gone = f"No program listens at {self.target.base_url} any more, since about {case.name}."
            incomplete = len(refused) < len(case.script.calls) or all(refused)
            if incomplete and not case.script.judges_run and (stopped := self._stopped):
                return replace(result, **stopped)
            if any(answers_429_itself(call, seen) for call in seen.calls):
                return replace(result, why=OWN_429)
            misses = tuple(case.judge(seen))
            if not misses and (unseen := self._why_unseen(case, seen)):
                return replace(result, **unseen)
            if gravest(misses, case.rule) in CONFIRMED and not case.script.judges_run:
                misses = self._explain(case, misses, seen)
        except Exception as error:  # noqa: BLE001 - an error of ours is no verdict about a back end
            return replace(result, verdict=Verdict.HARNESS_ERROR, why=reason(error), seconds=monotonic() - began)
        return replace(result, verdict=gravest(misses, case.rule), misses=misses)

    def _why_unseen(self, case: BackEndCase, seen: Seen) -> dict[str, Any]:
        """Verdict and reason of a case that missed nothing where there was nothing to see; empty where there was."""
        if Need.LOGS in case.needs and all(path.name == model.PRINTED for path in self.target.logs):
            silent = not self._logged if case.script.judges_run else next(iter(seen.log), None) is None
            return {"verdict": Verdict.NOT_LOOKED_AT, "why": SILENT} if silent else {}
        requests = self.upstream.arrived() if Need.PROXY in case.needs else ()
        if any(never_proxies_loopback(arrived.request.headers) for arrived in requests):
            return {"verdict": Verdict.NOT_TESTABLE, "why": NEVER_PROXIED}
        return {}

    def _explain(self, case: BackEndCase, misses: tuple[Miss, ...], seen: Seen) -> tuple[Miss, ...]:
        """The misses, each with its root.

        A mixed-up value explains the case's other misses. Otherwise, if plain calls work, blame what this case does
        differently.
        """
        shown = self._cards.of(seen.calls)
        if shown and all(call.tamper is not None for call in seen.calls):  # the case's own advice is nearer
            return tuple(replace(miss, root=shown[0].root) for miss in misses)
        if shown:
            return (*shown, *(replace(miss, root=Root.FOLLOWS) for miss in misses))
        advice = {miss.todo for miss in misses} - {HAND_ON}  # nothing is handed on where a call fails
        if self.plain_works and advice and advice <= {WORK, ASK}:  # it would fit any case
            todo = f"The plain call works, and this one has to work as well: {case.says}"
            if refuses_content(case, seen):
                own = "" if any(order.fault for order in case.script.orders) else f"{todo} "  # what is special about it
                todo = (
                    f"{own}Hand on the sdkInput of each 200 as it is: it is opaque, so your back end has nothing to "
                    "look for in it and nothing to refuse (API-7, API-8)."
                )
            if any(judging.refuses_length(call, seen) for call in seen.calls):
                todo = (
                    "Your back end refused the app's body for its length, by a 413 or by closing the connection "
                    "unread: raise the largest body that its server or its framework takes. The document gives no "
                    "limit (GAP-3)."
                )
            return tuple(replace(miss, todo=todo, root=Root.FOLLOWS) for miss in misses)
        nearer = next((miss.todo for miss in misses if miss.todo not in {WORK, ASK, HAND_ON}), "")
        if self.plain_works and nearer:  # what follows from it is listed with it
            return tuple(replace(miss, todo=nearer) if miss.todo in {WORK, ASK} else miss for miss in misses)
        return misses

    async def run(self, case: BackEndCase, cards: Sequence[str], platform: str, repetition: int = 1) -> Seen:
        """Carry out a case with these cards, and return what both sides saw."""
        if case.script.judges_run:
            return self._whole_run(case)
        canary = self._canary(case, platform, repetition)
        # All cases share one API, so its requests are counted from here on, and `_own` picks those of this case.
        before, before_elsewhere = len(self.upstream.arrived()), len(self._api.elsewhere.arrived())
        connections = self._api.listener.connections
        log_began = self.logs.positions()
        self._order(case.script.orders, cards, canary)
        try:
            async with Phone(self.target, self.target.surfaces[platform]) as phone:
                calls = [call async for call in self._calls(phone, case, cards, canary)]
            await asyncio.sleep(SETTLE)  # a request that the back end still sends belongs to this case
            # the next case is to find the back end recovered
            if self.target.recovers_late and case.script.faulty and calls and not calls[-1].succeeded:
                await asyncio.sleep(self.target.recovery)
        finally:
            self._api.present(model.Identity.OWN)
            self._order((), cards, canary)
        own = tuple(self._own(before, cards, calls, alone=case.script.alone))
        log = self.logs.since(log_began) if Need.LOGS in case.needs else LogSpan()
        self._logged = self._logged or self.logs.positions() != log_began
        left_open = len(self._api.listener.connections - connections)
        seen = self._scan(case, calls, own, self._api.elsewhere.arrived(before_elsewhere), log)
        if OWN_LIMIT.script.orders[0] in case.script.orders:
            self._learn_limit(seen)
        await self._probe(cards[0])
        return replace(seen, left_open=left_open)

    def _learn_limit(self, seen: Seen) -> None:
        """Measure after how many seconds the back end gave up a stalled request, or made another one."""
        if request := first_request(seen):
            again = (later.at for later in seen.during(seen.calls[0]) if later.at > request.at)
            self.limit = min(self.limit, min([seen.calls[0].ended, *again]) - request.at)

    def _canary(self, case: BackEndCase, platform: str, repetition: int) -> str:
        """A text that is in no other data; a case that is carried out again has values that were never used."""
        self._tries[case.name, platform] += 1
        text = f"{self._seed} {case.name} {platform} {repetition} {self._tries[case.name, platform]}"
        return f"canary-{blake2b(text.encode(), digest_size=9).hexdigest()}"

    def _scan(
        self,
        case: BackEndCase,
        calls: Sequence[model.PhoneCall],
        own: Sequence[model.Arrived],
        elsewhere: Sequence[model.Arrived],
        log: LogSpan,
    ) -> Seen:
        """What a case saw, after a scan for secrets and for values that are where they must not be."""
        new = self.upstream.arrived(self._scanned)
        self._scanned += len(new)
        self._cards.scan(case.name, calls, (*new, *elsewhere))
        arrived = (*own, *(replace(request, elsewhere=True) for request in elsewhere))
        given = (request for call in calls for request in self._cards.given_for(call))
        self._watch.scan_answers(case.name, calls, (*arrived, *given))
        seen = replace(
            self._nothing_seen,
            calls=tuple(sorted(calls, key=lambda call: call.number)),
            arrived=arrived,
            log=log,
            limit=self.limit,
        )
        # the beginning of each value is kept until the run is over
        self.values.update(dict.fromkeys((card, value[:2000]) for card, value in seen.opaque()))
        return seen

    def _whole_run(self, case: BackEndCase) -> Seen:
        """What a case about the whole run sees; the isolation case also gets the first misdelivered value."""
        log, requests = self.logs.rest(), (*self.upstream.arrived(), *self._api.elsewhere.arrived())
        # the log is searched for the run's last 4000 values; one round has fewer
        exposures, values = self._watch.exposures(requests), tuple(self.values)[-4000:]
        misdelivered = tuple(self._cards.misdelivered)
        proxied = self._api.proxy.count
        run = model.WholeRun(
            self._watch.answers, len(requests), exposures, values, log.missing(), proxied, misdelivered
        )
        first = misdelivered[:1] if case.group is BackEndGroup.ISOLATION else ()
        calls, arrived = tuple(value.call for value in first), tuple(value.request for value in first)
        return replace(self._nothing_seen, calls=calls, arrived=arrived, log=log, run=run)

    def forget(self) -> None:
        """Forget the requests so far: many rounds would fill the memory with them."""
        self.upstream.forget()
        self._cards.forget()
        self._scanned = 0

    async def settled(self) -> None:
        """Wait while the back end is probed: nothing else may keep it busy then."""
        async with self._probing:
            pass

    async def _answers(self, surface: model.Surface, card: str) -> bool:
        """Whether a plain GET succeeds."""
        ann = self.target.cardholders[0]
        probe = model.PhoneCall(1, GET, ann.name, self.target.instrument(card), card=card)
        probe.session = ann.session_for(card)
        async with Phone(self.target, surface) as phone:
            return (await phone.call(probe)).succeeded

    async def _probe(self, card: str) -> None:
        """Where no plain call has succeeded for a while, ask again with each app, and believe the answer."""
        # Cases that ended meanwhile wait here, and those that follow wait in `settled`.
        async with self._probing:
            if self.gone or self.is_over or not self.streak.suspected:
                return
            # two plain calls to each platform's surface before a back end counts as gone for good (assumed)
            surfaces = (*dict.fromkeys(self.target.surfaces.values()),) * 2
            before, works = self.lag, False
            for _try in range(TRIES):
                self.lag = 0.0
                works = any(await asyncio.gather(*(self._answers(surface, card) for surface in surfaces)))
                if works or not self.is_busy:
                    break
            self.lag = max(before, self.lag)
            if not works:
                case, first = self.streak.failed[0]
                requests = self.upstream.arrived()
                failures = sum(bool(request.response.fault) and request.at < first.began for request in requests)
                after = f"After {failures} failing API answers, the" if failures else "The"
                self.gone = f"{after} back end has not answered any plain call since about {case}."
            self.streak.failed.clear()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """See during the block how late the workbook itself comes, because its machine has too much to do."""

        async def watch() -> None:
            while True:
                began = monotonic()
                await asyncio.sleep(SETTLE)
                self.lag = max(self.lag, monotonic() - began - SETTLE)

        task = asyncio.create_task(watch())
        try:
            yield
        finally:
            task.cancel()

    @property
    def _stopped(self) -> dict[str, Any]:
        """Verdict and reason of a case that cannot be carried out any more; empty while one can."""
        if self.gone:
            return {"verdict": Verdict.NOT_TESTABLE, "why": self.gone}
        time_up = "The run's time was up before this case: the back end kept too many calls waiting."
        return {"verdict": Verdict.NOT_LOOKED_AT, "why": time_up} if self.is_over else {}

    @property
    def is_over(self) -> bool:
        """Whether the time of the run is up."""
        return monotonic() > self.until

    @property
    def is_busy(self) -> bool:
        """Whether this machine has had so much to do that a late call says nothing about the back end."""
        # a tenth of the back end's limit, or of the wallet's (assumed)
        return self.lag > 0.1 * min(self.target.bound, self.limit)

    async def is_there(self) -> bool:
        """Whether a program listens at the back end's address."""
        return await listens(Origin.of(self.target.base_url))

    def _own(
        self, before: int, cards: Sequence[str], calls: Sequence[model.PhoneCall], *, alone: bool
    ) -> Iterator[model.Arrived]:
        """The requests at the API that belong to this case: for its cards, or all where nothing else was running.

        A slow back end may still be busy with an earlier case. What came before this case's first call belongs to that
        one, as does an sdkOutput that the phone sent in another case.
        """
        instruments = {self.target.instrument(card) for card in cards}
        began, sent = min((call.began for call in calls), default=0.0), {call.sent for call in calls}
        # A hash is enough to recognise an sdkOutput: the values are large, and a run has thousands of them.
        for request in self.upstream.arrived(before):
            own = (alone or request.instrument in instruments) and request.at >= began
            if own and (hash(request.sdk_output) not in self._sent or request.sdk_output in sent):
                yield request

    async def _calls(
        self, phone: Phone, case: BackEndCase, cards: Sequence[str], canary: str
    ) -> AsyncIterator[model.PhoneCall]:
        """Go through the steps of a script, and yield each call once it has ended."""
        number, plain = 0, not any(order.fault for order in case.script.orders)
        for step in case.script.steps:
            await self.settled()
            if self.gone or self.is_over:
                return
            calls = []
            for ask in model.calls_of(step):
                number += 1
                calls.append(self._call(number, ask, cards, canary))
                self._cards.sends(case.name, calls[-1])
            await self._paced(len(calls))
            for call in await asyncio.gather(*map(phone.call, calls)):
                if plain:
                    self.streak.count(case.name, call)
                yield call
            if isinstance(step, model.SetOrders):
                plain = not any(order.fault for order in step.orders)
            elif isinstance(step, model.Present):
                plain = step.identity is model.Identity.OWN
            await self._between(step, cards, canary)

    async def _paced(self, calls: int) -> None:
        """Wait until this number of calls may be made. Calls of one step start together, after all their pauses."""
        if self.target.pace and calls:
            async with self._pacing:
                self._next_call = max(self._next_call, monotonic()) + calls * self.target.pace
                await asyncio.sleep(self._next_call - monotonic())

    async def _between(self, step: model.ScriptStep, cards: Sequence[str], canary: str) -> None:
        """A step that is no call: time passes, or the API goes away, comes back or changes its answers."""
        match step:
            case model.Rest():
                await asyncio.sleep(self.target.recovery if step.seconds is None else step.seconds)
            case model.Present():
                await asyncio.to_thread(self._api.present, step.identity)
            case model.SetOrders():
                self._order(step.orders, cards, canary)
            case model.AppCall() | model.Together():
                pass
            case _:
                assert_never(step)

    def _order(self, orders: Sequence[model.Order], cards: Sequence[str], canary: str) -> None:
        """Set what the API answers for these cards from now on. A redirect points to the other origin."""
        for number, card in enumerate(cards):
            own = [order.within(self.target.bound, self.limit) for order in orders if order.card == number]
            instrument = self.target.instrument(card)
            location = f"{self._api.other.base_url}{BEFORE_ID}{quote(instrument, safe='')}{AFTER_ID}"
            for place, order in enumerate(own):
                if order.fault and "location" in FAULTS[order.fault].settings:
                    own[place] = replace(order, settings={"location": location, **order.settings})
            self.upstream.order(instrument, own, f"{canary}-{number}")

    def _call(self, number: int, ask: model.AppCall, cards: Sequence[str], canary: str) -> model.PhoneCall:
        """The call that the phone is to make. The first cardholder is the one who has the case's cards."""
        holders = self.target.cardholders
        first = next((holder for holder in holders if cards[0] in holder.cards), holders[0])
        others = {-1: model.Cardholder("nobody", (), ()), FORGED: replace(first, name="somebody forged"), 0: first}
        cardholder = others.get(ask.cardholder) or holders[ask.cardholder]
        card = (
            model.ordinary(cardholder.cards, self.target.instrument, 1 + ask.card)[ask.card]
            if ask.own
            else cards[ask.card]
        )
        session = cardholder.session_for(card)
        if ask.cardholder == FORGED:
            session = tuple((name, _forged(value)) for name, value in session)
        instrument = self.target.instrument(card)
        sent = None
        if ask.operation == model.POST and ask.output is not None:
            sent = ask.output(f"{canary}-{number}")
        elif ask.operation == model.POST:
            serial = next(self.upstream.serials)
            sent = self.upstream.seal.close(Content.OUTPUT, instrument, serial, canary=f"{canary}-{number}")
        # a shorter sdkOutput may occur in two cases
        if len(sent or "") > 16:
            self._sent.add(hash(sent))
        call = model.PhoneCall(number, ask.operation, cardholder.name, instrument, sent, card=card, tamper=ask.tamper)
        if ask.instrument is not None:
            call.instrument = call.card = ask.instrument(card)
        call.other = next((holder.cards[0] for holder in holders if card not in holder.cards), "")
        call.session, call.cancel, call.manner = session, ask.cancel, ask.manner
        return call


def refuses_content(case: BackEndCase, seen: Seen) -> bool:
    """Whether a call failed that the API had answered, in a case in which only the value is special."""
    special = any(
        order.value is not None or (order.fault and FAULTS[order.fault].kind is FaultKind.OPAQUE)
        for order in case.script.orders
    )
    failed = (call for call in seen.calls if not call.succeeded)
    return special and any(request.given for call in failed for request in seen.during(call))


def answers_429_itself(call: model.PhoneCall, seen: Seen) -> bool:
    """Whether the back end refused a call for a limit of its own: no request of the case came meanwhile."""
    return call.status == 429 and not seen.during(call)


def never_proxies_loopback(headers: Headers) -> bool:
    """Whether a request comes from the HTTP library of Go or Ruby: both take no proxy to an address on loopback."""
    agent = "".join(header_values(headers, "user-agent"))
    # Go asks for gzip alone, whatever its user agent is called; OkHttp does so too, and reads no environment
    is_go = header_values(headers, "accept-encoding") == ["gzip"] and not agent.startswith("okhttp")
    return is_go or agent.startswith(("Go-http-client", "Ruby"))


def _forged(value: str) -> str:
    """A session that differs in one character of its last word, but not in the very last character."""
    at = len(value) - min(5, len(value.rsplit(maxsplit=1)[-1]) if value.split() else 0)
    return f"{value[:at]}{'y' if value[at : at + 1] == 'x' else 'x'}{value[at + 1 :]}"
