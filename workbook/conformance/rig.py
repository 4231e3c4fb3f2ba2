"""The rig: carries out one case's script between a phone and the API's side, and returns what both saw."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbook.conformance.adapter import OverPython
from workbook.conformance.case import Need
from workbook.conformance.logs import Logs, Stretch
from workbook.conformance.origin import Origin, listens
from workbook.conformance.phone import Asked, Phone
from workbook.conformance.script import GET, POST, Ask, Down, Now, Recover, Rest, Together, Up, asks_of
from workbook.conformance.seen import Seen
from workbook.conformance.silence import Silence, calm, calm_after
from workbook.conformance.target import RECOVERY, Cardholder
from workbook.conformance.watch import Watch
from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.seal import Content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from workbook.conformance.case import Case
    from workbook.conformance.line import Line
    from workbook.conformance.script import Order, Step
    from workbook.conformance.seen import Arrived, Call
    from workbook.conformance.target import Surface, Target
    from workbook.conformance.upstream import Upstream

BEGINNING = 2000
"""So many characters of each opaque value are kept until the run is over."""
MOST = 4000
"""Values of the whole run, the last of them, that are looked for in the log: more than a round has."""
PROBES = 2
"""Plain calls to each platform's surface before a back end is taken to hang for good (assumed)."""
SETTLE = 0.05
"""Seconds after the last answer in which a request that nobody waits for may still reach the API."""
SHORT = 16
"""Characters of an sdkOutput that might be the same in two cases."""
STRANGER = Cardholder("nobody", (), ())


@dataclass
class Rig:
    """Both sides of the back end.

    Attributes:
        target: the back end.
        upstream: the API's side.
        line: where that listens.
        elsewhere: what reached the other origin, to which no request may go.
        seed: of the canaries.
        elsewhere_url: where the other origin listens; empty where it does not.
        gone: since when the back end is there no more, in words; empty while it is.
        logs: the back end's log files; where they stand when the rig is made is where they begin.
        values: opaque data of all cases and rounds so far: payment instrument and beginning.
        watch: what is looked for in every answer.
        silence: how long the back end has done nothing.
    """

    target: Target
    upstream: Upstream
    line: Line
    elsewhere: Upstream
    seed: int = 7
    elsewhere_url: str = ""
    gone: str = ""
    logs: Logs = field(default=None, repr=False)  # type: ignore[assignment]  # made below
    values: dict[tuple[str, str], None] = field(default_factory=dict, repr=False)
    watch: Watch = field(init=False, repr=False)
    silence: Silence = field(init=False, repr=False)
    _outputs: int = field(default=0, repr=False)
    _sent: set[int] = field(default_factory=set, repr=False)
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def __post_init__(self) -> None:
        self.logs = self.logs or Logs(self.target.logs)
        self.watch = Watch(self.upstream.key, self._host, self.target)
        self.silence = Silence(self.target.bound)

    async def run(self, case: Case, cards: Sequence[str], platform: str, round_: int = 1) -> Seen:
        """Carry out a case with these cards, and see."""
        if case.script.whole:
            return self._whole()
        canary = self.canary(case, platform, round_)
        before, beside = len(self.upstream.arrived()), len(self.elsewhere.arrived())
        told = self.logs.mark() if Need.LOGS in case.needs else None
        self._order(case.script.orders, cards, canary)
        try:
            async with self._phone(self.target.surfaces[platform]) as phone:
                calls = [call async for call in self._calls(phone, case, cards, canary)]
            await asyncio.sleep(SETTLE)
            await self._recovered(case, calls)
        finally:
            self.line.up()
            self._order((), cards, canary)
        astray = (replace(one, elsewhere=True) for one in self.elsewhere.arrived(beside))
        arrived = (*self._mine(before, cards, calls, alone=case.script.alone), *astray)
        self.watch.answers(case.name, calls, arrived)
        log = Stretch() if told is None else self.logs.since(told)
        seen = self._seen(tuple(sorted(calls, key=lambda call: call.number)), arrived, log)
        self.values.update(dict.fromkeys((card, value[:BEGINNING]) for card, value in seen.opaque()))
        await self._still_there(cards)
        return seen

    @property
    def _host(self) -> str:
        return self.line.base_url.partition("//")[2]

    def _whole(self) -> Seen:
        """What a case sees that looks at the whole run."""
        rest, came = self.logs.rest(), (*self.upstream.arrived(), *self.elsewhere.arrived())
        whole = {"values": tuple(self.values)[-MOST:], "missing": rest.missing(), "watched": self.watch.seen(came)}
        return self._seen((), (), rest, **whole)

    def _seen(self, calls: tuple[Call, ...], arrived: tuple[Arrived, ...], log: Stretch, **more: Any) -> Seen:
        target = self.target
        known = (self.upstream.key, self._host, target.bound, target.recovery)
        return Seen(calls, arrived, log, *known, **more, failures=target.failures)

    async def settled(self) -> None:
        """Wait while it is being found out whether the back end is alive: nothing else may keep it busy then."""
        async with self._looking:
            pass

    async def _still_there(self, cards: Sequence[str]) -> None:
        """Where no plain call has succeeded for a while: ask once more, and believe the answer."""
        async with self._looking:
            if self.gone or not self.silence.suspected:
                return
            if not await self._answers(cards[0]):
                self.gone = f"The back end has answered no plain call any more since about {self.silence.since}."
            self.silence.forget()

    async def _answers(self, card: str) -> bool:
        """Whether a plain GET succeeds, with the app of any platform."""
        asked = Asked(1, GET, self.target.cardholders[0], card, None)
        for surface in (*dict.fromkeys(self.target.surfaces.values()),) * PROBES:
            async with self._phone(surface) as phone:
                if (await phone.call(asked)).succeeded:
                    return True
        return False

    async def _recovered(self, case: Case, calls: Sequence[Call]) -> None:
        """Time for a back end that was given some, where a fault came last: the next case is another matter."""
        if case.script.faulty and self.target.recovery > RECOVERY and calls and not calls[-1].succeeded:
            await asyncio.sleep(self.target.recovery)

    async def is_there(self) -> bool:
        """Whether somebody listens at the back end's address; an adapter is always there."""
        return self.target.adapter is not None or await listens(Origin.of(self.target.base_url))

    def _phone(self, surface: Surface) -> Phone:
        adapter = self.target.adapter
        carrier = None if adapter is None else OverPython(adapter, decoded=surface.decoded)
        return Phone(self.target, surface, carrier)

    def _pointed(self, order: Order, card: str) -> Order:
        """A redirect leads to the other origin, where a request shows."""
        if order.fault != "redirect" or "location" in order.settings or not self.elsewhere_url:
            return order
        location = f"{self.elsewhere_url}{BEFORE_ID}{quote(card, safe='')}{AFTER_ID}"
        return replace(order, settings={**order.settings, "location": location})

    def canary(self, case: Case, platform: str, round_: int) -> str:
        """Text that stands in no other case's data."""
        told = f"{self.seed} {case.name} {platform} {round_}"
        return f"canary-{blake2b(told.encode(), digest_size=9).hexdigest()}"

    def _mine(self, before: int, cards: Sequence[str], calls: Sequence[Call], *, alone: bool) -> Iterator[Arrived]:
        """What reached the API for this case's cards; everything, where nothing else was running.

        A slow back end may still be busy with an earlier case: what came before this one's first call is not its own,
        nor is an sdkOutput that another case's phone sent.
        """
        began, sent = min((call.began for call in calls), default=0.0), {call.sent for call in calls}
        for one in self.upstream.arrived(before):
            mine = (alone or one.instrument in cards) and one.at >= began
            if mine and (hash(one.sdk_output) not in self._sent or one.sdk_output in sent):
                yield one

    async def _calls(self, phone: Phone, case: Case, cards: Sequence[str], canary: str) -> AsyncIterator[Call]:
        number, plain = 0, calm(case.script.orders)
        for step in case.script.steps:
            await self.settled()
            if self.gone:
                return
            asks = asks_of(step)
            made = [self._asked(number + place, ask, cards, canary) for place, ask in enumerate(asks, 1)]
            number += len(made)
            for call in await asyncio.gather(*map(phone.call, made)):
                if plain:
                    self.silence.heard(case.name, call)
                yield call
            plain = calm_after(step, plain)
            await self._beside(step, cards, canary)

    async def _beside(self, step: Step, cards: Sequence[str], canary: str) -> None:
        """What is no call: time passes, the API goes and comes, or it answers otherwise from here on."""
        match step:
            case Rest():
                await asyncio.sleep(step.seconds)
            case Recover():
                await asyncio.sleep(self.target.recovery)
            case Down():
                await asyncio.to_thread(self.line.down)
            case Up():
                await asyncio.to_thread(self.line.up)
            case Now():
                self._order(step.orders, cards, canary)
            case Ask() | Together():
                pass

    def _order(self, orders: Sequence[Order], cards: Sequence[str], canary: str) -> None:
        """What the API answers to these cards from now on."""
        for number, card in enumerate(cards):
            mine = [self._pointed(one.within(self.target.bound), card) for one in orders if one.card == number]
            self.upstream.order(card, mine, f"{canary}-{number}")

    def _asked(self, number: int, ask: Ask, cards: Sequence[str], canary: str) -> Asked:
        cardholder = self._cardholder(ask.cardholder)
        card = cardholder.cards[ask.card] if ask.own else cards[ask.card]
        sent = None if ask.operation != POST else self._output(ask, card, f"{canary}-{number}")
        if len(sent or "") > SHORT:
            self._sent.add(hash(sent))
        asked_for = card if ask.instrument is None else ask.instrument(card)
        return Asked(number, ask.operation, cardholder, asked_for, sent, ask.cancel, ask.manner)

    def _output(self, ask: Ask, card: str, canary: str) -> str:
        if ask.output is not None:
            return ask.output(canary)
        self._outputs += 1
        return self.upstream.seal.close(Content.OUTPUT, card, self._outputs, canary=canary)

    def _cardholder(self, which: int) -> Cardholder:
        if which >= 0:
            return self.target.cardholders[which]
        if which == -1:
            return STRANGER
        first = self.target.cardholders[0]
        return Cardholder(
            "somebody forged", first.cards, tuple((name, _forged(value)) for name, value in first.session)
        )


def _forged(value: str) -> str:
    """Another session, as alike as can be: one character of its last word is changed, and not the very last."""
    at = len(value) - min(5, len(value.rsplit(maxsplit=1)[-1]) if value.split() else 0)
    return f"{value[:at]}{'y' if value[at : at + 1] == 'x' else 'x'}{value[at + 1 :]}"
