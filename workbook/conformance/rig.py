"""The rig: carries out one case's script between a phone and the API's side, and returns what both saw."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import quote

from workbook.conformance.adapter import OverPython
from workbook.conformance.case import Need
from workbook.conformance.logs import Logs, Stretch
from workbook.conformance.origin import Origin, listens
from workbook.conformance.phone import Asked, Phone
from workbook.conformance.script import POST, Ask, Down, Now, Recover, Rest, Together, Up, asks_of
from workbook.conformance.seen import Seen
from workbook.conformance.target import RECOVERY, Cardholder
from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.seal import Content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from workbook.conformance.case import Case
    from workbook.conformance.line import Line
    from workbook.conformance.script import Order, Script, Step
    from workbook.conformance.seen import Arrived, Call
    from workbook.conformance.target import Surface, Target
    from workbook.conformance.upstream import Upstream

BEGINNING = 2000
"""So many characters of each opaque value are kept until the run is over."""
MOST = 4000
"""Values of the whole run, the last of them, that are looked for in the log: more than a round has."""
SETTLE = 0.05
"""Seconds after the last answer in which a request that nobody waits for may still reach the API."""
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
    _outputs: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        self.logs = self.logs or Logs(self.target.logs)

    async def run(self, case: Case, cards: Sequence[str], platform: str, round_: int = 1) -> Seen:
        """Carry out a case with these cards, and see."""
        if case.script.whole:
            rest = self.logs.rest()
            return self._seen((), (), rest, tuple(self.values)[-MOST:], rest.missing())
        canary = self.canary(case, platform, round_)
        before, beside = len(self.upstream.arrived()), len(self.elsewhere.arrived())
        told = self.logs.mark() if Need.LOGS in case.needs else None
        self._order(case.script.orders, cards, canary)
        try:
            async with self._phone(self.target.surfaces[platform]) as phone:
                calls = [call async for call in self._calls(phone, case.script, cards, canary)]
            await asyncio.sleep(SETTLE)
            await self._recovered(case, calls)
        finally:
            self.line.up()
            self._order((), cards, canary)
        astray = (replace(one, elsewhere=True) for one in self.elsewhere.arrived(beside))
        arrived = (*self._mine(before, cards, alone=case.script.alone), *astray)
        log = Stretch() if told is None else self.logs.since(told)
        seen = self._seen(tuple(sorted(calls, key=lambda call: call.number)), arrived, log)
        self.values.update(dict.fromkeys((card, value[:BEGINNING]) for card, value in seen.opaque()))
        return seen

    def _seen(
        self,
        calls: tuple[Call, ...],
        arrived: tuple[Arrived, ...],
        log: Stretch,
        values: tuple[tuple[str, str], ...] = (),
        missing: tuple[str, ...] = (),
    ) -> Seen:
        host = self.line.base_url.partition("//")[2]
        target = self.target
        return Seen(calls, arrived, log, self.upstream.key, host, target.bound, target.recovery, values, missing)

    async def _recovered(self, case: Case, calls: Sequence[Call]) -> None:
        """Time for a back end that was given some, where a fault came last: the next case is another matter."""
        if case.script.faulty and self.target.recovery > RECOVERY and not calls[-1].succeeded:
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

    def _mine(self, before: int, cards: Sequence[str], *, alone: bool) -> Iterator[Arrived]:
        """What reached the API for this case's cards; everything, where nothing else was running."""
        for one in self.upstream.arrived(before):
            if alone or one.instrument in cards:
                yield one

    async def _calls(self, phone: Phone, script: Script, cards: Sequence[str], canary: str) -> AsyncIterator[Call]:
        number = 0
        for step in script.steps:
            asks = asks_of(step)
            made = [self._asked(number + place, ask, cards, canary) for place, ask in enumerate(asks, 1)]
            number += len(made)
            for call in await asyncio.gather(*map(phone.call, made)):
                yield call
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
