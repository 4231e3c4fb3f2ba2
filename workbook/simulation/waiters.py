"""Whoever waits for an entry of a journal: each is a future that the next fitting entry fulfils.

One mechanism serves both kinds of caller: a thread blocks on the future, a coroutine awaits it. So nobody polls, and a
server's loop is never held up.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbook.simulation.journal_entry import Entry

    Matching = Callable[[Entry], bool]
    Found = Future[Entry | None]


class Waiters:
    """Those who wait. It has no lock: whoever calls it holds the journal's."""

    def __init__(self) -> None:
        self._tell: dict[int, Callable[[Entry], None]] = {}

    def __len__(self) -> int:
        return len(self._tell)

    def sign_up(self, matching: Matching, kept: Iterable[Entry]) -> Found:
        """A future for the first of these entries that is meant, or for the first to come."""
        future: Found = Future()
        self._tell[id(future)] = lambda one: _tell(future, matching, one)
        for one in kept:
            _tell(future, matching, one)
        return future

    def forget(self, future: Found) -> None:
        """Nobody waits for it any more."""
        self._tell.pop(id(future), None)

    def tell(self, one: Entry) -> None:
        """There is a new entry."""
        for tell in list(self._tell.values()):
            tell(one)


def waited(future: Found, timeout: float) -> Entry | None:
    """The entry; None when the time (seconds) was up. Blocks the thread."""
    try:
        return future.result(timeout)
    except TimeoutError:
        return None


async def waited_async(future: Found, timeout: float) -> Entry | None:  # noqa: ASYNC109  # as `waited`
    """The same for a coroutine, which can be cancelled."""
    try:
        # A timeout of 0 gives asyncio no turn in which to pass on what is there already.
        return future.result() if future.done() else await asyncio.wait_for(asyncio.wrap_future(future), timeout)
    except TimeoutError:
        return None


def _tell(future: Found, matching: Matching, one: Entry) -> None:
    """Fulfil the future if this is what it waits for; it may be done or given up already."""
    try:
        if future.done() or not matching(one):
            return
        with suppress(InvalidStateError):
            future.set_result(one)
    except Exception as error:  # noqa: BLE001  # a question that fails is its asker's trouble, not the stand-in's
        with suppress(InvalidStateError):
            future.set_exception(error)
