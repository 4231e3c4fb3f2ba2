"""The journal of one simulated world: every exchange once, in the order of arrival, and never more than fits.

It is bounded twice, by a number of entries and by the bytes that they hold, so that memory stays flat over a million
requests; `count` goes on counting. Threads may write, read and wait at the same time.

The journal of a world in a state file keeps only the redacted form of each entry (see `journal_entry.PersistentEntry`),
in memory too, so that it says the same before and after a restart.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from threading import RLock
from time import monotonic
from typing import Any

from workbook.errors import ParameterError
from workbook.simulation import journal_export
from workbook.simulation.http import Request, Response
from workbook.simulation.journal_entry import Entry, entry

Matching = Callable[[Entry], bool]

ENTRIES = 10_000
"""How many of the latest entries a journal keeps."""
BYTES = 64 * 1_048_576
"""How many bytes its entries may hold together, roughly; the latest entry is kept whatever its size."""
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""The date that a HAR gives for second 0. It is made up: a journal measures durations and reads no wall clock, so that
an export is the same on every run. Give the time at which the journal was made to get real dates."""


@dataclass(frozen=True, slots=True)
class Match:
    """Selects entries; None means any value. Call it with an entry.

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

    def __call__(self, candidate: Entry) -> bool:
        """Whether the entry is selected."""
        return (
            candidate.number > self.after
            and self.method in (None, candidate.method)
            and self.instrument in (None, candidate.instrument)
            and self.status in (None, candidate.status)
        )


ANY = Match()


class Journal:
    """What a simulated world was asked and what it answered.

    Args:
        limit: how many entries it keeps, 1 or more.
        byte_limit: how many bytes they may hold together.
        stopwatch: seconds on any clock that never goes back; the journal's own second 0 is when it is made.

    Attributes:
        resets: how many resets there were.

    Raises:
        ParameterError: the limit leaves no room for an entry.
    """

    def __init__(
        self, limit: int = ENTRIES, *, byte_limit: int = BYTES, stopwatch: Callable[[], float] = monotonic
    ) -> None:
        if limit < 1:
            raise ParameterError(f"A journal keeps 1 entry or more, not {limit}.")
        self._limit, self._byte_limit, self._stopwatch = limit, byte_limit, stopwatch
        self._began = stopwatch()
        self._lock = RLock()
        self._entries: deque[Entry] = deque()
        self._size = self._count = self.resets = 0
        self._salt = b""
        self._waiters: dict[Future[Entry | None], Matching] = {}

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

    def record(self, arrived: float, request: Request, answer: Response | Exception, keys: Iterable[str] = ()) -> None:
        """Keep one exchange; see `entry` for the arguments."""
        with self._lock:
            self.append(self.entry(arrived, request, answer, keys))

    def entry(self, arrived: float, request: Request, answer: Response | Exception, keys: Iterable[str] = ()) -> Entry:
        """The next entry, which `append` keeps.

        Args:
            arrived: `now()` when the request arrived.
            request: as it arrived.
            answer: what was answered, or the error that was raised instead.
            keys: the API keys that may not stand anywhere in it; those in the request's own headers are known.
        """
        whole = entry(self._count + 1, (arrived, self.now()), request, answer, keys)
        return journal_export.persistent_entry(whole, self._salt) if self._salt else whole

    def append(self, latest: Entry) -> None:
        """Keep an entry, drop the oldest where there is no room, and wake up those that wait for such an entry."""
        with self._lock:
            self._keep(latest)
            for future, matching in [*self._waiters.items()]:
                _offer(future, matching, latest)

    def _keep(self, latest: Entry) -> None:
        self._entries.append(latest)
        self._count += 1
        self._size += latest.size
        while len(self._entries) > self._limit or (self._size > self._byte_limit and len(self._entries) > 1):
            self._size -= self._entries.popleft().size

    def reset(self) -> None:
        """Forget every entry and count from 1 again; those that wait go on waiting."""
        with self._lock:
            self._entries.clear()
            self._size = self._count = 0
            self.resets += 1

    def persist(self, salt: bytes) -> None:
        """Keep only the redacted form of each entry from now on; call it while the journal is empty."""
        self._salt = salt

    def resume(self, entries: Iterable[Entry], count: int, seconds: float) -> None:
        """Go on where a journal was before a restart.

        Args:
            entries: what it kept, in the order in which it was recorded.
            count: its `count`.
            seconds: its `now()` when it was last written to the file; time goes on from there.
        """
        with self._lock:
            for kept in entries:
                self._keep(kept)
            self._count = count
            self._began = self._stopwatch() - seconds

    def latest(self, number: int) -> list[Entry]:
        """At most so many of the latest entries, in the order in which they were recorded."""
        with self._lock:
            return [*islice(reversed(self._entries), max(0, number))][::-1]

    def entries(self, matching: Matching = ANY) -> tuple[Entry, ...]:
        """The kept entries that match, in the order of arrival."""
        with self._lock:
            return tuple(filter(matching, [*self._entries]))

    def wait(self, matching: Matching, timeout: float) -> Entry | None:
        """Block until an entry matches: the first there is, or the first to come.

        Args:
            matching: a `Match`, or any predicate of an entry.
            timeout: seconds; 0 only looks.

        Returns:
            The entry, or None when the time was up.
        """
        with self._waiting(matching) as future, suppress(TimeoutError):
            return future.result(timeout)
        return None

    async def wait_async(self, matching: Matching, timeout: float) -> Entry | None:  # as `wait`  # noqa: ASYNC109
        """The same for a coroutine: it can be cancelled, and blocks neither a thread nor the event loop."""
        with self._waiting(matching) as future, suppress(TimeoutError):
            # With a timeout of 0, asyncio would give up before it passes on a result that is there already.
            return future.result() if future.done() else await asyncio.wait_for(asyncio.wrap_future(future), timeout)
        return None

    @contextmanager
    def _waiting(self, matching: Matching) -> Iterator[Future[Entry | None]]:
        """A future for the first entry that matches; looking back and waiting begin in one step."""
        future: Future[Entry | None] = Future()
        with self._lock:
            self._waiters[future] = matching
            for kept in self._entries:
                _offer(future, matching, kept)
        try:
            yield future
        finally:
            with self._lock:
                del self._waiters[future]

    def to_jsonl(self, matching: Matching = ANY) -> str:
        """One JSON object a line, redacted (REL-2, REL-3)."""
        return journal_export.to_jsonl(self.entries(matching))

    def to_har(self, matching: Matching = ANY, *, epoch: datetime = EPOCH) -> dict[str, Any]:
        """An HTTP archive (HAR 1.2) as plain JSON values, redacted alike; `epoch` is the date of second 0."""
        return journal_export.to_har(self.entries(matching), epoch)


def _offer(future: Future[Entry | None], matching: Matching, candidate: Entry) -> None:
    """Fulfil the future with an entry that matches; it may be fulfilled or cancelled already."""
    with suppress(InvalidStateError):
        if not future.done():
            try:
                if matching(candidate):
                    future.set_result(candidate)
            except Exception as error:  # the predicate's defect is its caller's, not the server's  # noqa: BLE001
                future.set_exception(error)
