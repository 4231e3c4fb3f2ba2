"""How a back end works, measured before it is judged: its own time, and how many calls it carries at once.

What a stopwatch shows depends on the machine, so the calls meet at the API (a rendezvous): several start, and the API
holds each request. Requests that are held at the same time were carried at the same time, on any machine. That a back
end carries one call at a time is a verdict, so it is proven: a second call asks the API only after the first has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic
from typing import Any

from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.model import GET, POST, Arrived, PhoneCall, Tempo
from workbook.tools.conform.back_end.phone import Phone

# As many calls meet as the widest case but the crowds makes at once.
MEETING = 6


async def measure(runner: CaseRunner) -> Tempo:
    """Measure the back end with calls that succeed, after a plain attempt."""
    tempo = Tempo(runner.before, runner.after)
    works = [(app, operation) for operation in (POST, GET) for app in runner.target.surfaces]
    if not (works := [each for each in works if each in runner.before]):
        return tempo
    meetings = _Meetings(runner, *works[0])
    holders = [holder.cards for holder in runner.target.cardholders]
    mixed = [card for row in range(max(map(len, holders))) for cards in holders for card in cards[row : row + 1]]
    calls = (mixed * MEETING)[: max(MEETING, min(len(mixed), 2 * MEETING))]
    burst = await meetings.meet(calls)
    tempo = replace(tempo, met=burst.met, carried=burst.carried, cardholders=len(holders), **burst.shown)
    if not burst.waited:
        return tempo
    if burst.met <= 1 and (pair := await meetings.queue(mixed[:2])).proven:
        return replace(tempo, one_lane=True, **pair.shown)
    ramp = await meetings.meet(calls, one_by_one=True)
    met, carried = max(burst.met, ramp.met), max(burst.carried, ramp.carried)
    tempo = replace(tempo, met=met, carried=carried, **ramp.shown)
    own = next((cards for cards in holders if len(cards) > 1), ())
    if own and tempo.carried <= len(holders) > 1 and (pair := await meetings.queue(own[:2])).proven:
        return replace(tempo, queues_cardholder=True, **pair.shown)
    return tempo


@dataclass(frozen=True, slots=True)
class _Meeting:
    """What came of calls that were to meet.

    Attributes:
        met: requests that the API held at the same time.
        waited: a call had neither asked the API nor ended by then.
        proven: it asked after the call before it had ended or been given up.
        calls: all.
        arrived: their requests.
    """

    met: int
    waited: bool = False
    proven: bool = False
    calls: tuple[PhoneCall, ...] = ()
    arrived: tuple[Arrived, ...] = ()

    @property
    def shown(self) -> dict[str, Any]:
        """Both sides, as fields of a `Tempo`."""
        return {"calls": self.calls, "arrived": self.arrived}

    @property
    def carried(self) -> float:
        """The calls that are carried at once; infinite where none waited, or was refused for a limit."""
        limited = any(call.status == 429 for call in self.calls)
        return max(1, self.met) if self.waited or limited else inf


class _Meetings:
    """Makes calls meet at the API.

    Args:
        runner: makes the calls.
        app: the platform whose app calls.
        operation: a POST where one works, because its sdkOutput tells it from others, and nobody repeats it.
    """

    def __init__(self, runner: CaseRunner, app: str, operation: str) -> None:
        self._runner = runner
        self._app = app
        self._operation = operation
        # a call that takes longer may be late, or wait: what follows from it is the pace of the run, and no verdict
        self._patience = max(0.5, 2 * runner.before[app, operation])

    async def meet(self, cards: Sequence[str], *, one_by_one: bool = False) -> _Meeting:
        """Calls for these cards, all at once or each when the one before it is held."""
        return await self._hold(cards, self._patience, one_by_one=one_by_one)

    async def queue(self, cards: Sequence[str]) -> _Meeting:
        """Calls for two cards: the first is held until the back end gives it up. Does the second ask meanwhile?"""
        if len(cards) < 2:  # two calls for one card may rightly wait for each other
            return _Meeting(1, waited=True)
        return await self._hold(cards, inf, one_by_one=True)

    async def _hold(self, cards: Sequence[str], patience: float, *, one_by_one: bool) -> _Meeting:
        runner = self._runner
        if self._operation == GET:
            cards = tuple(dict.fromkeys(cards))
        since = len(runner.upstream.arrived())
        calls, tasks = list[PhoneCall](), list[asyncio.Task[PhoneCall]]()
        async with Phone(runner.target, runner.target.surfaces[self._app], runner.when_asked) as phone:
            with runner.gate.shut():
                for number, card in enumerate(cards, 1):
                    calls.append(runner.plain_call(number, self._operation, card))
                    await runner.paced(1)
                    tasks.append(asyncio.create_task(phone.call(calls[-1])))
                    if one_by_one and await self._wait(since, tasks, patience if number > 1 else inf):
                        break
                if not one_by_one:
                    await self._wait(since, tasks, patience)
                held = self._held(since)
                open_or_asked = (
                    not task.done() or runner.when_asked(call) is not None
                    for call, task in zip(calls, tasks, strict=False)
                )
                met, waited = len(held), len(held) < sum(open_or_asked)
                last_waited = min(monotonic(), runner.gate.left) - calls[-1].began
            await asyncio.gather(*tasks)
        arrived = runner.upstream.arrived(since)
        asked_later = met == 1 and one_by_one and len({_identity(request) for request in arrived}) > 1
        # a back end that gives a request up sooner than it makes one has no two at once, however many it carries
        proven = waited and asked_later and last_waited > 2 * runner.before[self._app, self._operation]
        return _Meeting(met, waited, proven, tuple(calls), arrived)

    async def _wait(self, since: int, tasks: Sequence[asyncio.Task[PhoneCall]], patience: float) -> bool:
        """Wait until each call is held or has ended; True where one is late, or where one that was held is given up."""
        began = monotonic()
        bound = began + self._runner.target.bound
        while len(self._held(since)) < sum(not task.done() for task in tasks):
            last = max([began, *(request.at for request in self._runner.upstream.arrived(since))])
            if self._runner.gate.left < inf or monotonic() > min(bound, last + patience):
                return True
            await asyncio.sleep(0.01)
        return self._runner.gate.left < inf

    def _held(self, since: int) -> set[tuple[str, bytes]]:
        """The calls that the API holds together: one that is repeated counts once, and none after one was given up."""
        left = self._runner.gate.left
        return {_identity(request) for request in self._runner.upstream.arrived(since) if request.at < left}


def _identity(request: Arrived) -> tuple[str, bytes]:
    return request.request.target, request.request.body
