"""The journal: every exchange of a stand-in, once, in the order of arrival, and never more than fits.

It is bounded twice, by a number of entries and by the bytes that they hold, so that memory stays flat over a million
requests; `count` goes on counting. Threads may write, read and wait at the same time.

A waiter is a future that the next fitting entry fulfils. One mechanism serves both kinds of caller: a thread blocks on
the future, a coroutine awaits it. So nobody polls, and a server's loop is never held up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError
from workbook.simulation import journal_export
from workbook.simulation.journal_entry import Entry, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbook.simulation.http import Request, Response
    from workbook.simulation.transport import Responder

    Matching = Callable[[Entry], bool]

__all__ = ["EPOCH", "Entry", "Journal", "Journaled", "Match"]

ENTRIES = 10_000
"""How many of the latest entries a journal keeps."""

BYTES = 64 * 1_048_576
"""How many bytes its entries may hold together, roughly; the latest entry is kept whatever its size."""

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""The moment that a HAR says for second 0. It is made up: a journal measures durations and reads no wall clock, so
that an export is the same on every run. Who wants true moments hands over the one at which the journal was made."""


@dataclass(frozen=True, slots=True)
class Match:
    """Which entries are meant; None means any. Call it with an entry.

    Attributes:
        method: as it was sent, such as GET; a request for another path counts as well.
        instrument: a payment instrument id, percent-decoded.
        status: the answer's.
        after: only entries with a higher number.
    """

    method: str | None = None
    instrument: str | None = None
    status: int | None = None
    after: int = 0

    def __call__(self, one: Entry) -> bool:
        """Whether the entry is meant."""
        wanted = ((self.method, one.method), (self.instrument, one.instrument), (self.status, one.status))
        return one.number > self.after and all(want in (None, found) for want, found in wanted)


class Journal:
    """What a stand-in was asked and what it answered.

    Args:
        limit: how many entries it keeps, 1 or more.
        byte_limit: how many bytes they may hold together.
        stopwatch: seconds on any clock that never goes back; the journal's own second 0 is when it is made.

    Raises:
        ParameterError: the limit leaves no room for an entry.
    """

    def __init__(
        self,
        limit: int = ENTRIES,
        *,
        byte_limit: int = BYTES,
        stopwatch: Callable[[], float] = monotonic,
    ) -> None:
        if limit < 1:
            raise ParameterError(f"A journal keeps 1 entry or more, not {limit}.")
        self._limit, self._byte_limit, self._stopwatch = limit, byte_limit, stopwatch
        self._began = stopwatch()
        self._lock = RLock()
        self._entries: deque[Entry] = deque()
        self._size = self._count = self._arrivals = self._era = 0
        self._waiters: dict[int, Callable[[Entry], None]] = {}

    def __repr__(self) -> str:
        return f"Journal({len(self)} of {self.count} entries)"

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def count(self) -> int:
        """How many exchanges there were since the start or the latest reset, kept or not."""
        return self._count

    @property
    def dropped(self) -> int:
        """How many of them are no longer kept."""
        with self._lock:
            return self._count - len(self._entries)

    def now(self) -> float:
        """Seconds since the journal was made."""
        return self._stopwatch() - self._began

    def arrival(self) -> tuple[int, int, float]:
        """A ticket for a request that has just arrived: the era between two resets, its number, and the second."""
        with self._lock:
            self._arrivals += 1
            return self._era, self._arrivals, self.now()

    def record(
        self,
        ticket: tuple[int, int, float],
        request: Request,
        answer: Response | Exception,
        keys: Iterable[str] = (),
    ) -> None:
        """Keep one exchange; a request that arrived before the latest reset belongs to the past and is left out."""
        era, number, arrived = ticket
        one = entry(number, (arrived, self.now()), request, answer, keys)
        with self._lock:
            if era == self._era:
                self._keep(one)
                waiters = list(self._waiters.values())
                for tell in waiters:
                    tell(one)

    def _keep(self, one: Entry) -> None:
        self._entries.append(one)
        self._count += 1
        self._size += one.size
        while len(self._entries) > self._limit or (self._size > self._byte_limit and len(self._entries) > 1):
            self._size -= self._entries.popleft().size

    def reset(self) -> None:
        """Forget every entry and count from 1 again; whoever waits goes on waiting."""
        with self._lock:
            self._entries.clear()
            self._size = self._count = self._arrivals = 0
            self._era += 1

    def entries(self, matching: Matching = Match()) -> tuple[Entry, ...]:
        """What is kept and meant, in the order of arrival (answers may have come in another)."""
        with self._lock:
            kept = tuple(self._entries)
        return tuple(sorted(filter(matching, kept), key=lambda one: one.number))

    def wait(self, matching: Matching, timeout: float) -> Entry | None:
        """Block until an entry is kept that is meant: the first there is, or the first to come.

        Args:
            matching: a `Match`, or any question to an entry.
            timeout: seconds; 0 only looks.

        Returns:
            The entry, or None when the time was up.
        """
        future = self._waiter(matching)
        try:
            return future.result(timeout)
        except TimeoutError:
            return None
        finally:
            self._forget(future)

    async def wait_async(self, matching: Matching, timeout: float) -> Entry | None:  # noqa: ASYNC109  # as `wait`
        """The same for a coroutine: it can be cancelled, and holds up neither a thread nor the loop."""
        future = self._waiter(matching)
        try:
            # A timeout of 0 gives asyncio no turn in which to pass on what is there already.
            return future.result() if future.done() else await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        except TimeoutError:
            return None
        finally:
            self._forget(future)

    def _waiter(self, matching: Matching) -> Future[Entry | None]:
        """A future for the first entry that is meant; looking and signing up are one step, so that none slips by."""
        future: Future[Entry | None] = Future()
        with self._lock:
            self._waiters[id(future)] = lambda one: _tell(future, matching, one)
            for one in self.entries():
                _tell(future, matching, one)
        return future

    def _forget(self, future: Future[Entry | None]) -> None:
        with self._lock:
            self._waiters.pop(id(future), None)

    def to_jsonl(self, matching: Matching = Match()) -> str:
        """One JSON object a line, redacted (REL-2, REL-3)."""
        return journal_export.to_jsonl(self.entries(matching))

    def to_har(self, matching: Matching = Match(), *, epoch: datetime = EPOCH) -> dict[str, Any]:
        """An HTTP archive (HAR 1.2) as plain JSON values, redacted alike; `epoch` is the moment of second 0."""
        return journal_export.to_har(self.entries(matching), epoch)


def _tell(future: Future[Entry | None], matching: Matching, one: Entry) -> None:
    """A question that raises an error is its asker's trouble, never the service's."""
    with suppress(InvalidStateError):  # answered or given up meanwhile
        if future.done():
            return
        try:
            if matching(one):
                future.set_result(one)
        except Exception as error:  # noqa: BLE001  # handed to whoever asked
            future.set_exception(error)


class Journaled:
    """A responder that keeps each of its exchanges in a journal, exactly once, whatever becomes of it.

    Args:
        responder: who answers.
        journal: where it is kept.
        keys: the API keys that may stand anywhere in an exchange; the one in the request's header is known anyway.
    """

    def __init__(self, responder: Responder, journal: Journal, keys: Iterable[str] = ()) -> None:
        self.journal = journal
        self._responder = responder
        self._keys = tuple(keys)

    def respond(self, request: Request) -> Response:
        """The responder's own answer, unchanged; an error of its own is kept too, and raised on."""
        ticket = self.journal.arrival()
        try:
            response = self._responder.respond(request)
        except Exception as error:
            self.journal.record(ticket, request, error, self._keys)
            raise
        self.journal.record(ticket, request, response, self._keys)
        return response
