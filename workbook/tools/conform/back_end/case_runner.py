"""Carries out one case between the phone and the API, and judges what both saw."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from pathlib import Path
from time import monotonic
from typing import assert_never
from urllib.parse import quote

from workbook.errors import WorkbookError
from workbook.simulation.faults import FAULTS
from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.seal import Content
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.judging import ASK, HAND_ON, WORK, CardWatch
from workbook.tools.conform.back_end.model import (
    GET,
    POST,
    BackEndCase,
    BackEndGroup,
    BackEndResult,
    Need,
    Seen,
    Target,
)
from workbook.tools.conform.back_end.phone import Phone
from workbook.tools.harness.model import Miss, Root, Verdict, gravest
from workbook.tools.harness.origin import Origin
from workbook.tools.harness.program import PRINTED, Logs, LogSpan, listens

# Verdicts that must come again when a case is alone.
CONFIRMED = frozenset({Verdict.FAIL, Verdict.WARN})
# Why a case is not testable where the back end limits how often it is called.
OWN_429 = "The back end answered 429 itself, without asking the API."
TOO_LONG = (
    "Your back end refused the app's body for its length, by a 413 or by closing the connection unread: raise the "
    "largest body that its server or its framework takes. The document gives no limit (GAP-3)."
)
SILENT = (
    "No line was written while the calls were made. Where your back end writes a log of its own, name the file (logs, "
    "at the top of the configuration)."
)
# Whether a back end still answers: where it hangs, a run would wait for every one of its calls.
#
# Only plain calls count, those that have to succeed. A back end that is slow but alive lets one of them succeed now and
# then.


@dataclass(slots=True)
class FailureStreak:
    """The plain calls since the last success that failed.

    Attributes:
        failed: each with the name of its case.
    """

    failed: list[tuple[str, model.PhoneCall]] = field(default_factory=list)

    def count(self, case: str, call: model.PhoneCall, *, worked: bool) -> None:
        """Count a plain call of this case; a failure that was answered counts where such calls worked before."""
        if call.succeeded:
            self.failed.clear()
        elif call.broke is not model.Broke.CANCELLED and (call.status is None or (worked and call.status != 429)):
            self.failed.append((case, call))

    @property
    def suspected(self) -> bool:
        """Whether it is time to probe the back end: three plain calls in a row failed so."""
        return len(self.failed) >= 3

    @property
    def since(self) -> float:
        """When the first of them began."""
        return min((call.began for _case, call in self.failed), default=inf)


# Carries out one case's script between the phone and the API, and returns what both saw.

# This case only observes, and judges nothing.
OWN_LIMIT = model.back_end_case(
    BackEndGroup.BUDGET,
    "own.limit",
    "How long the back end waits for the API.",
    "REL-5",
    judging.all_of(),
    model.CaseScript((model.AppCall(GET),), (model.Order(GET, fault="stall before headers", share=3.0),)),
)
# One attempt with nothing wrong anywhere; it also only observes.
PLAIN_ATTEMPT = model.back_end_case(
    BackEndGroup.FORM,
    "plain.attempt",
    "One attempt, with nothing wrong anywhere.",
    "API-10",
    judging.all_of(),
    model.ATTEMPT,
)
UNMET = "No two calls met at the API, so nothing shows whether they run side by side."
# Instead of a cardholder's index: no session, and the first one's session with one character changed.
NOBODY, FORGED = -1, -2


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
        before: seconds from a plain call to its request at the API, at most, by platform and operation.
        after: seconds from the API's answer to the back end's, at most, in the same way.
        tempo: how the back end works; None until it was measured.
        gate: holds requests at the API.
        logs: the back end's log files, from their state when the runner is created.
        values: opaque data of all cases so far: pairs of a payment instrument and the beginning of a value.
        streak: for how long the back end has not answered.
    """

    def __init__(self, target: Target, api: MockApi, seed: int = 7) -> None:
        self.target = target
        self.upstream = api.upstream
        self.gone = ""
        self.plain_works = False
        self.limit = inf
        self.before = dict[tuple[str, str], float]()
        self.after = dict[tuple[str, str], float]()
        self.tempo: model.Tempo | None = None
        self.gate = api.listener.gate
        self.logs = Logs(target.logs, target.folder)
        self.values = dict[tuple[str, str], None]()
        self.streak = FailureStreak()
        self._gone_since = inf
        self._api = api
        self._seed = seed
        host = api.url.partition("//")[2]
        self._secrets = judging.SecretWatch(api.key, host)
        self._cards = CardWatch(target.instrument(card) for holder in target.cardholders for card in holder.cards)
        self._nothing_seen = Seen(
            calls=(),
            arrived=(),
            key=api.key,
            host=host,
            bound=target.bound,
            recovery=target.recovery,
            failures=target.failures,
            extension=Need.PLATFORM_B.value in target.surfaces,
            app_wait=target.app_wait,
        )
        self._logged = False
        self._sent = set[int]()  # hashes of the sdkOutputs: the values are large, and a run has thousands of them
        self._scanned = 0
        self._tries = Counter[tuple[str, str]]()
        self._probing = asyncio.Lock()
        self._pacing = asyncio.Lock()
        self._next_call = 0.0
        self._under_way = 0

    async def judge(self, case: BackEndCase, cards: tuple[str, ...], platform: str) -> BackEndResult:
        """Carry out a case with one platform's app, and judge what was seen.

        A case is not looked at where the back end went away before all calls were made, or was gone for every call, or
        refused a call because of its own limit.
        """
        await self.settled()
        result = BackEndResult(case, Verdict.NOT_LOOKED_AT, platform=platform)
        if stopped := self._stopped(result):
            return stopped
        began = monotonic()
        try:
            seen = await self.run(case, cards, platform)
            result = replace(result, seen=seen, seconds=monotonic() - began)
            refused = [call.broke is model.Broke.REFUSED for call in seen.calls]
            if any(refused) and not self.gone and not await listens(Origin.of(self.target.base_url)):
                self.gone = f"No program listens at {self.target.base_url} any more, since about {case.name}."
            incomplete = len(refused) < len(case.script.calls) or all(refused)
            if incomplete and not case.script.meets and (stopped := self._stopped(result)):
                return stopped
            return self.judge_again(case, result)
        except Exception as error:  # noqa: BLE001 - an error of ours is no verdict about a back end
            return replace(result, verdict=Verdict.HARNESS_ERROR, why=reason(error), seconds=monotonic() - began)

    def judge_again(self, case: BackEndCase, played: BackEndResult) -> BackEndResult:
        """The result of a case whose script was played, for this case or for another one with the same script."""
        seen = played.seen
        result = replace(played, case=case, verdict=Verdict.NOT_LOOKED_AT, misses=(), why="")
        if seen is None:
            return replace(played, case=case)
        if case.script.meets and not (seen.tempo and (seen.tempo.finding or seen.tempo.met > 1)):
            return replace(result, why=UNMET)
        if any(answers_429_itself(call, seen) for call in seen.calls):
            return replace(result, why=OWN_429)
        misses = tuple(case.judge(seen))
        if all(miss.noted for miss in misses):
            if unseen := self._unseen(result):
                return unseen
            if Need.LOGS in case.needs and isinstance(seen.log, LogSpan):
                result = replace(result, why=f"Read: {seen.log.extent}")
        if gravest(misses, case.rule) in CONFIRMED and not case.script.judges_run:
            misses = self._explain(case, misses, seen)
        return replace(result, verdict=gravest(misses, case.rule), misses=misses)

    def lost(self, result: BackEndResult) -> bool:
        """Whether a case failed when the back end was gone already: that says nothing about the case.

        A fault of the case itself may be what it did not recover from.
        """
        began = result.began
        its_own = result.case.script.faulty and began is not None and began < self._gone_since
        return bool(self.gone) and not its_own and any(call.ended > self._gone_since for call in result.calls)

    def _stopped(self, result: BackEndResult) -> BackEndResult | None:
        """The result of a case whose calls can no longer be made; None while they can."""
        if result.case.script.judges_run:
            return None
        return replace(result, why=self.gone) if self.gone else None

    def _unseen(self, result: BackEndResult) -> BackEndResult | None:
        """The result of a case that missed nothing because there was nothing to see; None where there was."""
        needs_lines = Need.LOGS in result.case.needs and all(path.name == PRINTED for path in self.target.logs)
        if self._logged or not needs_lines:
            return None
        names = ", ".join(self.logs.unnamed())
        why = f"{SILENT} These files grew meanwhile: {names}." if names else SILENT
        return replace(result, verdict=Verdict.NOT_LOOKED_AT, why=why)

    def _explain(self, case: BackEndCase, misses: tuple[Miss, ...], seen: Seen) -> tuple[Miss, ...]:
        """The misses, each with its root.

        A mixed-up value explains the case's other misses. Otherwise, if plain calls work, blame what this case does
        differently.
        """
        mixed_up = self._cards.of(seen.calls)
        if mixed_up and all(call.tamper is not None for call in seen.calls):  # the case's own advice is nearer
            return tuple(replace(miss, root=mixed_up[0].root) for miss in misses)
        if mixed_up:
            return (*mixed_up, *(replace(miss, root=Root.FOLLOWS) for miss in misses))
        if not self.plain_works:
            return misses
        special = [miss.todo for miss in misses if miss.todo not in {WORK, ASK, HAND_ON}]
        if special:  # what follows from it is listed with it
            return tuple(replace(miss, todo=special[0]) if miss.todo in {WORK, ASK} else miss for miss in misses)
        if all(miss.todo == HAND_ON for miss in misses):
            return misses
        too_long = any(judging.refuses_length(call, seen) for call in seen.calls)
        todo = TOO_LONG if too_long else f"The plain call works, and this one has to work as well: {case.says}"
        return tuple(replace(miss, todo=todo, root=Root.FOLLOWS) for miss in misses)

    async def run(self, case: BackEndCase, cards: Sequence[str], platform: str) -> Seen:
        """Carry out a case with these cards, and return what both sides saw."""
        if case.script.judges_run:
            return self._whole_run(case)
        if case.script.meets and self.tempo is not None:
            return replace(self._nothing_seen, calls=self.tempo.calls, arrived=self.tempo.arrived, tempo=self.tempo)
        canary = self._canary(case, platform)
        # All cases share one API, so its requests are counted from here on, and `_own` picks those of this case.
        before = len(self.upstream.arrived())
        before_elsewhere = len(self._api.elsewhere.arrived())
        connections = self._api.listener.connections
        log_began = self.logs.positions()
        self._order(case.script.orders, cards, canary)
        try:
            async with Phone(self.target, self.target.surfaces[platform], self.when_asked) as phone:
                calls = [call async for call in self._calls(phone, case, cards, canary)]
            await asyncio.sleep(0.05)  # seconds: a request that the back end still sends belongs to this case
            # the next case is to find the back end recovered
            if self.target.recovers_late and case.script.faulty and calls and not calls[-1].succeeded:
                await asyncio.sleep(self.target.recovery)
        finally:
            self._api.present(model.Identity.OWN)
            self._order((), cards, canary)
        requests = self._own(before, cards, calls, alone=case.script.alone)
        own = set(map(self.target.instrument, cards))
        elsewhere = (each for each in self._api.elsewhere.arrived(before_elsewhere) if each.instrument in own)
        seen = replace(
            self._nothing_seen,
            calls=tuple(sorted(calls, key=lambda call: call.number)),
            arrived=(*requests, *(replace(request, elsewhere=True) for request in elsewhere)),
            limit=self.limit,
            before={operation: self.before.get((platform, operation), 0.0) for operation in (GET, POST)},
            left_open=len(self._api.listener.connections - connections),
        )
        self._logged = self._logged or self.logs.positions() != log_began
        self._scan(case.name, seen)
        if OWN_LIMIT.script.orders[0] in case.script.orders:
            self._learn_limit(seen)
        if case is PLAIN_ATTEMPT:
            self._learn_own_time(platform, seen)
        await self._probe(cards[0])
        return seen

    def _learn_limit(self, seen: Seen) -> None:
        """Measure after how many seconds the back end gave up a stalled request, or made another one."""
        if request := first_request(seen):
            again = (later.at for later in seen.during(seen.calls[0]) if later.at > request.at)
            self.limit = min(self.limit, min([seen.calls[0].ended, *again]) - request.at)

    def _learn_own_time(self, platform: str, seen: Seen) -> None:
        """Measure how long the back end takes besides the API."""
        for call in seen.calls:
            requests = seen.during(call)
            if call.succeeded and requests:
                each = platform, call.operation
                self.before[each] = max(self.before.get(each, 0.0), requests[0].at - call.began)
                self.after[each] = max(self.after.get(each, 0.0), call.ended - requests[-1].at)

    def when_asked(self, call: model.PhoneCall) -> float | None:
        """When the back end asked the API for a call; None while it has not."""
        return self.upstream.when_asked(call.operation, call.instrument, call.sent, call.began)

    def plain_call(self, number: int, operation: str, card: str) -> model.PhoneCall:
        """A call that has to succeed, on a connection of its own: a kept one may hold a worker of the back end."""
        return self._call(number, model.AppCall(operation, manner=model.Manner.CLOSING), (card,), f"meeting-{card}")

    def _canary(self, case: BackEndCase, platform: str) -> str:
        """A text that is in no other data; a case that is carried out again has values that were never used."""
        self._tries[case.name, platform] += 1
        text = f"{self._seed} {case.name} {platform} {self._tries[case.name, platform]}"
        return f"canary-{blake2b(text.encode(), digest_size=9).hexdigest()}"

    def _scan(self, case: str, seen: Seen) -> None:
        """Look for secrets, and for values that are where they must not be, in what the case of this name saw."""
        new = self.upstream.arrived(self._scanned)
        self._scanned += len(new)
        self._cards.scan(case, seen.calls, (*new, *(request for request in seen.arrived if request.elsewhere)))
        given = (request for call in seen.calls for request in self._cards.given_for(call))
        self._secrets.scan_answers(case, seen.calls, (*seen.arrived, *given))
        # the beginning of each value is kept until the run is over
        self.values.update(dict.fromkeys((card, value[:2000]) for card, value in seen.opaque()))

    def _whole_run(self, case: BackEndCase) -> Seen:
        """What a case about the whole run sees; the isolation case also gets the first misdelivered value."""
        misdelivered = tuple(self._cards.misdelivered)
        log = self.logs.rest()
        run = model.WholeRun(
            answers=self._secrets.answers,
            requests=len(self.upstream.arrived()),
            exposures=tuple(self._secrets.exposures),
            values=tuple(self.values)[-4000:],  # a run has fewer; the log is searched for each
            missing_logs=log.missing(),
            unnamed_logs=self.logs.unnamed(),
            misdelivered=misdelivered,
        )
        shown = misdelivered[:1] if case.group is BackEndGroup.ISOLATION else ()
        calls = tuple(value.call for value in shown)
        arrived = tuple(value.request for value in shown)
        return replace(self._nothing_seen, calls=calls, arrived=arrived, log=log, run=run)

    async def settled(self) -> None:
        """Wait while the back end is probed: nothing else may keep it busy then."""
        async with self._probing:
            pass

    async def _answers(self, surface: model.Surface, card: str) -> bool:
        """Whether a plain GET succeeds."""
        owner = self._cardholder(model.AppCall(GET), (card,))
        probe = model.PhoneCall(1, GET, owner.name, self.target.instrument(card), card=card)
        probe.session = owner.session_for(card)
        async with Phone(self.target, surface) as phone:
            return (await phone.call(probe)).succeeded

    async def _recovers(self, card: str) -> bool:
        """Whether a plain GET succeeds within the time that a circuit breaker may need to let a call through again.

        The time counts from when no other call was under way, because each may hold a worker of the back end.
        """
        surfaces = dict.fromkeys(self.target.surfaces.values())
        until = inf
        while True:
            if not self._under_way:
                until = min(until, monotonic() + self.target.bound)
            looks = await asyncio.gather(*(self._answers(surface, card) for surface in surfaces))
            if any(looks) or not self.streak.failed:  # a call of another case may have succeeded meanwhile
                return True
            if monotonic() >= until:
                return False
            await asyncio.sleep(0.5)

    async def _probe(self, card: str) -> None:
        """Where no plain call has succeeded for a while, ask again with each app, and believe the answer.

        A card that met no fault is asked for: what a fault left behind for one card says nothing about the others.
        """
        # Cases that ended meanwhile wait here, and those that follow wait in `settled`.
        async with self._probing:
            if self.gone or not self.streak.suspected:
                return
            if not await self._recovers(self.target.spare or card):
                case, first = self.streak.failed[0]
                self._gone_since = self.streak.since
                requests = self.upstream.arrived()
                failures = sum(bool(request.response.fault) and request.at < first.ended for request in requests)
                after = f"After {failures} failing API answers, no" if failures else "No"
                self.gone = f"{after} plain call to the back end has succeeded since about {case}."
            self.streak.failed.clear()

    def _own(
        self, before: int, cards: Sequence[str], calls: Sequence[model.PhoneCall], *, alone: bool
    ) -> Iterator[model.Arrived]:
        """The requests at the API that belong to this case: for its cards, or all where nothing else was running.

        A slow back end may still be busy with an earlier case. What came before this case's first call belongs to that
        one, as does an sdkOutput that the phone sent in another case.
        """
        instruments = {self.target.instrument(card) for card in cards}
        began = min((call.began for call in calls), default=0.0)
        sent = {call.sent for call in calls}
        for request in self.upstream.arrived(before):
            own = (alone or request.instrument in instruments) and request.at >= began
            if own and (hash(request.sdk_output) not in self._sent or request.sdk_output in sent):
                yield request

    async def _calls(
        self, phone: Phone, case: BackEndCase, cards: Sequence[str], canary: str
    ) -> AsyncIterator[model.PhoneCall]:
        """Go through the steps of a script, and yield each call once it has ended."""
        number = 0
        plain = not any(order.fault for order in case.script.orders)
        for step in case.script.steps:
            await self.settled()
            if self.gone:
                return
            calls = []
            for ask in model.calls_of(step):
                number += 1
                calls.append(self._call(number, ask, cards, canary))
                self._cards.sends(case.name, calls[-1])
            await self.paced(len(calls))
            self._under_way += len(calls)
            try:
                ended = await asyncio.gather(*map(phone.call, calls))
            finally:
                self._under_way -= len(calls)
            for ask, call in zip(model.calls_of(step), ended, strict=True):
                if plain and ask.has_to_succeed and self.tempo is not None:  # before, nothing is said about a run
                    worked = any(operation == call.operation for _platform, operation in self.before)
                    self.streak.count(case.name, call, worked=worked)
                yield call
            if isinstance(step, model.SetOrders):
                plain = not any(order.fault for order in step.orders)
            elif isinstance(step, model.Present):
                plain = step.identity is model.Identity.OWN
            await self._between(step, cards, canary)

    async def paced(self, calls: int) -> None:
        """Wait until this number of calls may be made. Calls of one step start together, after all their pauses."""
        if self.target.pace and calls:
            async with self._pacing:
                self._next_call = max(self._next_call, monotonic()) + calls * self.target.pace
                await asyncio.sleep(self._next_call - monotonic())

    async def _between(self, step: model.ScriptStep, cards: Sequence[str], canary: str) -> None:
        """A step that is no call: time passes, or the API goes away, comes back or changes its answers."""
        match step:
            case model.Rest():
                own = max(self.before.values(), default=0.0)
                await asyncio.sleep(self.target.recovery if step.seconds is None else step.seconds + own)
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
            of_card = [order.within(self.target.bound, self.limit) for order in orders if order.card == number]
            instrument = self.target.instrument(card)
            location = f"{self._api.other.base_url}{BEFORE_ID}{quote(instrument, safe='')}{AFTER_ID}"
            for place, order in enumerate(of_card):
                if order.fault and "location" in FAULTS[order.fault].settings:
                    of_card[place] = replace(order, settings={"location": location, **order.settings})
            self.upstream.order(instrument, of_card, f"{canary}-{number}")

    def _call(self, number: int, ask: model.AppCall, cards: Sequence[str], canary: str) -> model.PhoneCall:
        """The call that the phone is to make. The first cardholder is the one who has the case's cards."""
        cardholder = self._cardholder(ask, cards)
        holders = self.target.cardholders
        card = cards[ask.card]
        if ask.own:
            card = cardholder.cards[ask.card]
        session = cardholder.session_for(card)
        if ask.cardholder == FORGED:
            session = tuple((name, _forged(value)) for name, value in session)
        other_id = "" if ask.instrument is None else ask.instrument(card)
        while any(other_id in holder.cards for holder in holders):  # one that is made up is no other card
            other_id += "0"
        return model.PhoneCall(
            number,
            ask.operation,
            cardholder.name,
            other_id or self.target.instrument(card),
            self._sdk_output(ask, self.target.instrument(card), f"{canary}-{number}"),
            session=session,
            cancel=ask.cancel,
            manner=ask.manner,
            card=other_id or card,
            other=next((holder.cards[0] for holder in holders if card not in holder.cards), ""),
            tamper=ask.tamper,
        )

    def _cardholder(self, ask: model.AppCall, cards: Sequence[str]) -> model.Cardholder:
        """Whose session a call presents. The first cardholder is the one who has the case's cards."""
        holders = self.target.cardholders
        owner = next((holder for holder in holders if cards[0] in holder.cards), holders[0])
        if ask.cardholder == NOBODY:
            return model.Cardholder("nobody", (), ())
        if ask.cardholder == FORGED:
            return replace(owner, name="somebody forged")
        return holders[ask.cardholder] if ask.cardholder else owner

    def _sdk_output(self, ask: model.AppCall, instrument: str, canary: str) -> str | None:
        """The sdkOutput that a call hands over; None for a GET."""
        if ask.operation == GET:
            return None
        if ask.output is not None:
            sent = ask.output(canary)
        else:
            sent = self.upstream.seal.close(Content.OUTPUT, instrument, next(self.upstream.serials), canary=canary)
        if len(sent) > 16:  # a shorter sdkOutput may occur in two cases
            self._sent.add(hash(sent))
        return sent


def answers_429_itself(call: model.PhoneCall, seen: Seen) -> bool:
    """Whether the back end refused a call for a limit of its own: what the API answered meanwhile was a success."""
    return call.status == 429 and all(request.given for request in seen.during(call))


def _forged(value: str) -> str:
    """A session that differs in one character of its last word, but not in the very last character."""
    place = len(value) - min(5, len(value.rsplit(maxsplit=1)[-1]) if value.split() else 0)
    return f"{value[:place]}{'y' if value[place : place + 1] == 'x' else 'x'}{value[place + 1 :]}"


def first_request(seen: Seen | None) -> model.Arrived | None:
    """The request that a case's first call led to; None where none arrived during the call."""
    return next(iter(seen.during(seen.calls[0])), None) if seen and seen.calls else None


def reason(error: BaseException) -> str:
    """What went wrong in the workbook, and where. The text of an error may hold a value, so only our own is shown."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" in {Path(last[0].filename).name}, line {last[0].lineno}" if last else ""
    text = f": {error}" if isinstance(error, WorkbookError) else ""
    return f"{type(error).__name__}{where}{text}"
