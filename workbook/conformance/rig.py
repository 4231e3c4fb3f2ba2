"""The rig: carries out one case's script between a phone and the API's side, and returns what both saw."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from workbook.conformance.phone import Asked, Phone
from workbook.conformance.script import POST, Ask, Calm, Down, Rest, Together, Up
from workbook.conformance.seen import Seen
from workbook.conformance.target import Cardholder
from workbook.simulation.seal import Content

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from workbook.conformance.case import Case
    from workbook.conformance.line import Line
    from workbook.conformance.script import Script, Step
    from workbook.conformance.seen import Arrived, Call
    from workbook.conformance.target import Target
    from workbook.conformance.upstream import Upstream

SETTLE = 0.05
"""Seconds after the last answer in which a request that nobody waits for may still reach the API."""
STRANGER = Cardholder("nobody", (), ())
FORGED = "forged"


@dataclass
class Rig:
    """Both sides of the back end.

    Attributes:
        target: the back end.
        upstream: the API's side.
        line: where that listens.
        elsewhere: what reached the other origin, to which no request may go.
        seed: of the canaries.
    """

    target: Target
    upstream: Upstream
    line: Line
    elsewhere: Upstream
    seed: int = 7
    _outputs: int = field(default=0, repr=False)

    async def run(self, case: Case, cards: Sequence[str], platform: str, round_: int = 1) -> Seen:
        """Carry out a case with these cards, and see."""
        canary = self.canary(case, platform, round_)
        before, beside = len(self.upstream.arrived()), len(self.elsewhere.arrived())
        told = _ends(self.target.logs)
        for number, card in enumerate(cards):
            mine = [order for order in case.script.orders if order.card == number]
            self.upstream.order(card, mine, f"{canary}-{number}")
        try:
            async with Phone(self.target, self.target.surfaces[platform]) as phone:
                calls = [call async for call in self._calls(phone, case.script, cards, canary)]
            await asyncio.sleep(SETTLE)
        finally:
            self.line.up()
            self._calm(cards)
        arrived = (*self._mine(before, cards, alone=case.script.alone), *self.elsewhere.arrived(beside))
        return Seen(
            tuple(sorted(calls, key=lambda call: call.number)),
            arrived,
            _since(self.target.logs, told),
            self.upstream.key,
            self.line.base_url.partition("//")[2],
            self.target.bound,
        )

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
            asks = _asks(step)
            made = [self._asked(number + place, ask, cards, canary) for place, ask in enumerate(asks, 1)]
            number += len(made)
            for call in await asyncio.gather(*map(phone.call, made)):
                yield call
            await self._beside(step, cards)

    async def _beside(self, step: Step, cards: Sequence[str]) -> None:
        """What is no call: time passes, the API goes and comes, or it answers as it should again."""
        match step:
            case Rest():
                await asyncio.sleep(step.seconds)
            case Down():
                await asyncio.to_thread(self.line.down)
            case Up():
                await asyncio.to_thread(self.line.up)
            case Calm():
                self._calm(cards)
            case Ask() | Together():
                pass

    def _calm(self, cards: Sequence[str]) -> None:
        for card in cards:
            self.upstream.order(card, (), "")

    def _asked(self, number: int, ask: Ask, cards: Sequence[str], canary: str) -> Asked:
        card = cards[ask.card]
        sent = None if ask.operation != POST else self._output(ask, card, f"{canary}-{number}")
        return Asked(number, ask.operation, self._cardholder(ask.cardholder), card, sent, ask.cancel)

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
        return Cardholder("somebody forged", first.cards, tuple((name, FORGED) for name, _value in first.session))


def _asks(step: Step) -> tuple[Ask, ...]:
    return step.steps if isinstance(step, Together) else (step,) if isinstance(step, Ask) else ()


def _ends(logs: Sequence[Path]) -> dict[Path, int]:
    return {path: path.stat().st_size if path.exists() else 0 for path in logs}


def _since(logs: Sequence[Path], ends: dict[Path, int]) -> str:
    """What was written since; a file that was rotated is read from its beginning."""
    return "\n".join(_tail(path, ends[path]) for path in logs if path.exists())


def _tail(path: Path, end: int) -> str:
    with path.open("rb") as file:
        file.seek(end if path.stat().st_size >= end else 0)
        return file.read().decode("utf-8", "replace")
