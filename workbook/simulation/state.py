"""`--state FILE`: worlds and what they remember, kept over a restart and over a crash.

An answer is given only after what it changed is on the disk, so nothing that was acknowledged is lost, whenever the
process ends. One process has the file at a time.

**The file holds the API keys as they are**, because a restarted server has to know them again. It is therefore readable
by its owner alone (mode 0600), and so is what SQLite keeps beside it (FILE-wal, FILE-journal).

Kept is all that a world is and remembers: its instruments, what was issued and exchanged, how far its fault plan has
come, its journal, and the name that it goes by. Of a request and its answer that is kept which an export shows, see
`kept_entry`; an entry that the journal drops leaves the file, whose pages are used again.

What is not kept: the journal of those whose key opens no world ("nobody"), for whose answers the disk is left alone.
"""

from __future__ import annotations

import secrets
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from workbook.errors import ConfigurationError
from workbook.simulation import problems as p
from workbook.simulation import state_tables as t
from workbook.simulation.http import PROBLEM_HEADERS, Response
from workbook.simulation.journals import Journals
from workbook.simulation.plain import UNREADABLE
from workbook.simulation.state_changes import Marks, changes, marks, said
from workbook.simulation.state_file import StateFile
from workbook.simulation.state_restored import put
from workbook.simulation.worlds import Worlds

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from workbook.simulation.http import Request
    from workbook.simulation.journal import Journal
    from workbook.simulation.scenario import Scenario
    from workbook.simulation.state_file import Saved
    from workbook.simulation.state_tables import Change
    from workbook.simulation.world import World
    from workbook.simulation.worlds import Place

SALT = 16
"""Bytes of it."""
NOT_KEPT = "What this request changed cannot be written to the state file. Look at the disk that it is on."


class Kept:
    """Worlds whose every change is on the disk before it is answered.

    Use it as the `Worlds` that it holds; `close` it, or use it in a `with` block. Threads take turns.

    Args:
        worlds: the worlds that the file has are added to it, and replace those with the same key; the others that it
            has already are stored.
        path: the state file; made where there is none.
        journals: those around these worlds; each holds what may be shown and nothing else from now on. None: these
            worlds have none.

    Raises:
        ConfigurationError: the file cannot be had, is something else, is damaged, or another process has it.
    """

    def __init__(self, worlds: Worlds, path: str | Path, journals: Journals | None = None) -> None:
        self.worlds = worlds
        self._journals = Journals() if journals is None else journals
        self._lock = RLock()
        self._saved: dict[str, Marks] = {}
        self._file = StateFile(Path(path).absolute())
        try:
            self._restore()
        except BaseException:
            self._file.close()
            raise

    def __repr__(self) -> str:
        return f"Kept({self.worlds!r}, {str(self._file.path)!r})"

    def __len__(self) -> int:
        return len(self.worlds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that opens a world. For whoever hands them out only."""
        return self.worlds.keys

    def close(self) -> None:
        """Let another process have the file; a request after that is answered with 500 where it changes something."""
        with self._lock:
            self._file.close()

    def respond(self, request: Request) -> Response:
        """The worlds' answer, after what it changed is on the disk.

        Where the disk refuses, the answer is a 500 (openapi; that it is given here is assumed) although the service has
        done its part: what it did waits for the next request of that world.
        """
        with self._lock:
            key = self.worlds.opener(request)
            if key is None:
                return self.worlds.respond(request)
            with self._quiet(key):
                response = self.worlds.respond(request)
                try:
                    self._file_away(key)
                except ConfigurationError:
                    response = Response(p.INTERNAL.status, PROBLEM_HEADERS, p.INTERNAL.body(NOT_KEPT), p.INTERNAL.basis)
                    self._correct(key, request, response)
                return response

    def place(self, key: str) -> Place:
        """As `Worlds.place`."""
        return self.worlds.place(key)

    def add(
        self, what: Scenario | World, key: str | None = None, *, credential: str | None = None, seed: int | None = None
    ) -> str:
        """As `Worlds.add`, and kept.

        Raises:
            ConfigurationError: as there; or the file cannot be written, and nothing was added.
        """
        with self._lock:
            added = self.worlds.add(what, key, credential=credential, seed=seed)
            try:
                self._store(added)
            except BaseException:
                self.worlds.remove(added)
                self._journals.forget(added)
                raise
            return added

    def add_each(self, scenario: Scenario) -> dict[str, str]:
        """As `Worlds.add_each`, and kept."""
        return {name: self.add(scenario, credential=name) for name in scenario.credentials}

    def open(self, key: str, what: Scenario | World, *, credential: str | None = None, seed: int | None = None) -> None:
        """As `Worlds.open`, and kept."""
        with self._lock:
            self.worlds.place(key)
            rehearsal = Worlds()
            rehearsal.add(what, key, credential=credential, seed=seed)
            self._file.write([*self._emptying(key), said(key, rehearsal.place(key))])
            self.worlds.open(key, what, credential=credential, seed=seed)
            self._saved[key] = self._marks(key)

    def fault(self, key: str, faults: tuple[dict[str, Any], ...]) -> None:
        """As `Worlds.fault`, and kept; the new plan counts from its beginning."""
        with self._lock:
            place, rehearsal = self.worlds.place(key), Worlds()
            rehearsal.put(key, place.world, place.own, {})
            rehearsal.fault(key, faults)
            self._file.write([*t.forgetting(key, ("plan",)), said(key, rehearsal.place(key))])
            self.worlds.fault(key, faults)
            self._saved[key] = replace(self._saved[key], counts=self._marks(key).counts)

    def remove(self, key: str) -> None:
        """As `Worlds.remove`, and kept; its journal goes too."""
        with self._lock:
            self.worlds.place(key)
            self._file.write(t.forgetting(key, t.WHOLE))
            self.worlds.remove(key)
            self._journals.forget(key)
            del self._saved[key]

    def reset(self, key: str) -> None:
        """As `Worlds.reset`, and kept."""
        with self._lock:
            place = self.worlds.place(key)
            self._file.write([*self._emptying(key), said(key, replace(place, faults=place.own))])
            self.worlds.reset(key)
            self._saved[key] = self._marks(key)

    def _restore(self) -> None:
        before = self.worlds.keys
        kept = self._file.read()
        self._journals.skip(self._file.names_given)
        for one in kept:
            self._put(one)
        for key in before:
            if key not in self._saved:
                self._store(key)

    def _put(self, one: Saved) -> None:
        try:
            put(one, self.worlds, self._journals)
        except UNREADABLE:
            raise self._file.damaged("a world in it cannot be read") from None
        self._saved[one.key] = self._marks(one.key)

    def _store(self, key: str) -> None:
        """Write a world that the file does not have."""
        salt, number, journal = secrets.token_bytes(SALT), self._journals.number(key), self._journal(key)
        if journal is not None:
            journal.keep_shown_only(salt)
        self._file_away(key, said(key, self.worlds.place(key)), (t.NAME, (number, key, salt.hex(), 0.0)))

    def _file_away(self, key: str, *first: Change) -> None:
        """Write what has changed in one world, all at once; where nothing has, the disk is left alone."""
        place, now = self.worlds.place(key), self._marks(key)
        listed = [*first, *changes(key, place, self._journal(key), now, self._saved.get(key, Marks()))]
        if listed:
            self._file.write(listed)
            self._saved[key] = now

    def _emptying(self, key: str) -> list[Change]:
        """What takes a world's past out of the file; its journal's time goes on."""
        journal = self._journal(key)
        return [*t.forgetting(key, t.PAST), *([] if journal is None else [(t.RESET_AT, (journal.now(), key))])]

    def _marks(self, key: str) -> Marks:
        return marks(self.worlds.place(key), self._journal(key))

    def _journal(self, key: str) -> Journal | None:
        return self._journals.get(self._journals.name(key))

    def _quiet(self, key: str) -> AbstractContextManager[None]:
        """Nobody hears of an exchange before it is on the disk."""
        journal = self._journal(key)
        return nullcontext() if journal is None else journal.held()

    def _correct(self, key: str, request: Request, response: Response) -> None:
        """The journal says what was answered in the end; it is written with the next request of that world."""
        if (journal := self._journal(key)) is not None:
            journal.correct(request, response, self.keys)
