"""The journal: every exchange of a stand-in, once, in the order of arrival, and never more than fits.

It is bounded twice, by a number of entries and by the bytes that they hold, so that memory stays flat over a million
requests; `count` goes on counting. Threads may write, read and wait (see `waiters`) at the same time.

A journal that a state file keeps holds of each entry only what the file may hold, see `kept_entry`: so it says after a
restart what it said before.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError
from workbook.simulation import journal_export, journal_har
from workbook.simulation.journal_entry import Entry, entry
from workbook.simulation.waiters import Waiters, waited, waited_async

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.simulation.http import Request, Response
    from workbook.simulation.waiters import Found, Matching

    Ticket = tuple[int, int, float]

__all__ = ["EPOCH", "Entry", "Journal", "Match"]

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
        after: only entries with a higher number; a reset starts the numbers again.
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

    Attributes:
        era: how many resets there were.

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
        self._size = self._count = self._arrivals = self.era = 0
        self._salt, self._held = b"", False
        self._waiters = Waiters()

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

    def arrival(self) -> Ticket:
        """A ticket for a request that has just arrived: the era between two resets, its number, and the second."""
        with self._lock:
            self._arrivals += 1
            return self.era, self._arrivals, self.now()

    def record(self, ticket: Ticket, request: Request, answer: Response | Exception, keys: Iterable[str] = ()) -> None:
        """Keep one exchange; a request that arrived before the latest reset belongs to the past and is left out."""
        era, number, arrived = ticket
        whole = entry(number, (arrived, self.now()), request, answer, keys)
        one = journal_export.shown_only(whole, self._salt) if self._salt else whole
        with self._lock:
            if era == self.era:
                self._keep(one)
                if not self._held:
                    self._waiters.tell(one)

    def correct(self, request: Request, answer: Response, keys: Iterable[str] = ()) -> None:
        """Put what was answered in the end in the place of the latest entry."""
        with self._lock:
            latest = self._entries.pop()
            self._size -= latest.size
            self._count -= 1
            self.record((self.era, latest.number, latest.arrived), request, answer, keys)

    @contextmanager
    def held(self) -> Iterator[None]:
        """What is recorded in this block is seen by others when it ends, and not before."""
        with self._lock:
            before, self._held = self._count, True
            try:
                yield
            finally:
                self._held = False
                for one in self.latest(self._count - before):
                    self._waiters.tell(one)

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
            self.era += 1

    def keep_shown_only(self, salt: bytes) -> None:
        """Keep of each entry only what may be shown, see `kept_entry`; of those that are there already, too."""
        with self._lock:
            self._salt = salt
            self._entries = deque(journal_export.shown_only(one, salt) for one in self._entries)
            self._size = sum(one.size for one in self._entries)

    def go_on(self, entries: Iterable[Entry], count: int, seconds: float) -> None:
        """Be what a journal was before a restart.

        Args:
            entries: what it kept, in the order in which it was recorded.
            count: its `count`.
            seconds: its `now()` when it was last written down; time goes on from there.
        """
        with self._lock:
            self.reset()
            for one in entries:
                self._keep(one)
            self._count = count
            self._arrivals = max([count, *(one.number for one in self._entries)])
            self._began = self._stopwatch() - seconds

    def latest(self, number: int) -> list[Entry]:
        """So many of the latest entries, or as many as are kept, in the order in which they were recorded."""
        with self._lock:
            return [*islice(reversed(self._entries), max(0, number))][::-1]

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
        with self._waiting(matching) as future:
            return waited(future, timeout)

    async def wait_async(self, matching: Matching, timeout: float) -> Entry | None:  # noqa: ASYNC109  # as `wait`
        """The same for a coroutine: it can be cancelled, and holds up neither a thread nor the loop."""
        with self._waiting(matching) as future:
            return await waited_async(future, timeout)

    @contextmanager
    def _waiting(self, matching: Matching) -> Iterator[Found]:
        """A future for the first entry that is meant; looking and signing up are one step, so that none slips by."""
        with self._lock:
            future = self._waiters.sign_up(matching, self.entries())
        try:
            yield future
        finally:
            with self._lock:
                self._waiters.forget(future)

    def to_jsonl(self, matching: Matching = Match()) -> str:
        """One JSON object a line, redacted (REL-2, REL-3)."""
        return journal_export.to_jsonl(self.entries(matching))

    def to_har(self, matching: Matching = Match(), *, epoch: datetime = EPOCH) -> dict[str, Any]:
        """An HTTP archive (HAR 1.2) as plain JSON values, redacted alike; `epoch` is the moment of second 0."""
        return journal_har.to_har(self.entries(matching), epoch)
