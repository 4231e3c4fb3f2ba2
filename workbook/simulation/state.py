"""`--state FILE`: worlds and what they remember, kept over a restart and over a crash.

An answer is given only after what it changed is on the disk, so nothing that was acknowledged is lost, whenever the
process ends. One process has the file at a time.

**The file holds the API keys as they are**, because a restarted server has to know them again. It is therefore readable
by its owner alone (mode 0600), and so is what SQLite keeps beside it (FILE-wal, FILE-journal).

What is not kept: how far a fault plan has come, and the journal.
"""

from __future__ import annotations

import json
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from workbook.errors import ConfigurationError
from workbook.simulation import problems as p
from workbook.simulation.http import PROBLEM_HEADERS, Response
from workbook.simulation.plain import UNREADABLE, dump, dump_world, restored, restored_world
from workbook.simulation.service import MOST_OUTPUTS
from workbook.simulation.state_file import PARTS, StateFile, forgetting
from workbook.simulation.worlds import Worlds

if TYPE_CHECKING:
    from types import TracebackType

    from workbook.simulation.http import Request
    from workbook.simulation.scenario import Scenario
    from workbook.simulation.service import Memory
    from workbook.simulation.state_file import Change
    from workbook.simulation.world import World
    from workbook.simulation.worlds import Place

__all__ = ["Kept", "dump", "restored"]

SAY = "INSERT INTO world VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET said = excluded.said"  # it keeps its place
REMEMBER = "INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?)"
USED = "INSERT OR REPLACE INTO output VALUES (?, ?, ?, ?)"
TOO_OLD = "DELETE FROM output WHERE key = ? AND instrument = ? AND number <= ?"
NOT_KEPT = "What this request changed cannot be written to the state file. Look at the disk that it is on."
NOTHING = (0, 0)


class Kept:
    """Worlds whose every change is on the disk before it is answered.

    Use it as the `Worlds` that it holds; `close` it, or use it in a `with` block. Threads take turns.

    Args:
        worlds: the worlds that the file has are added to it, and replace those with the same key; the others that it
            has already are stored.
        path: the state file; made where there is none.

    Raises:
        ConfigurationError: the file cannot be had, is something else, is damaged, or another process has it.
    """

    def __init__(self, worlds: Worlds, path: str | Path) -> None:
        self.worlds = worlds
        self._lock = RLock()
        self._saved: dict[tuple[str, str], tuple[int, int]] = {}
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
            response = self.worlds.respond(request)
            key = request.header("x-api-key")
            try:
                if key is not None and key in self.worlds:
                    self._file_away(key)
            except ConfigurationError:
                return Response(p.INTERNAL.status, PROBLEM_HEADERS, p.INTERNAL.body(NOT_KEPT), p.INTERNAL.basis)
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
            self._file.write([*forgetting(key, PARTS[:-1]), _said(key, rehearsal.place(key))])
            self.worlds.open(key, what, credential=credential, seed=seed)
            self._forget(key)

    def fault(self, key: str, faults: tuple[dict[str, Any], ...]) -> None:
        """As `Worlds.fault`, and kept."""
        with self._lock:
            rehearsal = Worlds()
            rehearsal.add(self.worlds.place(key).world, key)
            rehearsal.fault(key, faults)
            self._file.write([_said(key, rehearsal.place(key))])
            self.worlds.fault(key, faults)

    def remove(self, key: str) -> None:
        """As `Worlds.remove`, and kept."""
        with self._lock:
            self.worlds.place(key)
            self._file.forget(key)
            self.worlds.remove(key)
            self._forget(key)

    def reset(self, key: str) -> None:
        """As `Worlds.reset`, and kept."""
        with self._lock:
            self.worlds.place(key)
            self._file.forget(key, parts=PARTS[:-1])
            self.worlds.reset(key)
            self._forget(key)

    def _restore(self) -> None:
        before = self.worlds.keys
        kept = self._file.read()
        for key, said, remembered in kept:
            self._put(key, said, remembered)
        for key in before:
            if key not in {key for key, _said, _remembered in kept}:
                self._store(key)

    def _put(self, key: str, said: str, remembered: dict[str, dict[str, Any]]) -> None:
        try:
            world, faults = restored_world(json.loads(said), key)
            memory = {instrument: restored(plain) for instrument, plain in remembered.items()}
            self.worlds.put(key, world, faults, memory)
        except UNREADABLE:
            raise self._file.damaged("a world in it cannot be read") from None
        self._saved.update({(key, instrument): _mark(one) for instrument, one in memory.items()})

    def _store(self, key: str) -> None:
        self._file_away(key, _said(key, self.worlds.place(key)))

    def _file_away(self, key: str, *first: Change) -> None:
        """Write what has changed in one world; where nothing has, the disk is left alone."""
        memory = self.worlds.place(key).memory
        marks = {(key, instrument): _mark(one) for instrument, one in memory.items()}
        new = {at: mark for at, mark in marks.items() if self._saved.get(at, NOTHING) != mark}
        changes = [*first]
        for at in new:
            changes += _changes(at, memory[at[1]], self._saved.get(at, NOTHING))
        if changes:
            self._file.write(changes)
            self._saved.update(new)

    def _forget(self, key: str) -> None:
        self._saved = {at: mark for at, mark in self._saved.items() if at[0] != key}


def _said(key: str, place: Place) -> Change:
    """What to write of a world: all of it but its memory."""
    return SAY, (key, json.dumps(dump_world(place.world, place.faults)))


def _mark(memory: Memory) -> tuple[int, int]:
    """What grows with every change of a memory."""
    return memory.activations, memory.opcs


def _changes(at: tuple[str, str], memory: Memory, saved: tuple[int, int]) -> list[Change]:
    """What to write of one instrument's memory: its counts, the digests that came since, and which are too old."""
    plain = dump(memory, since=saved[1])
    changes: list[Change] = [(REMEMBER, (*at, plain["activations"], plain["opcs"]))]
    first = memory.opcs - len(plain["outputs"]) + 1
    changes += [(USED, (*at, number, digest)) for number, digest in enumerate(plain["outputs"], first)]
    if memory.opcs > MOST_OUTPUTS:
        changes.append((TOO_OLD, (*at, memory.opcs - MOST_OUTPUTS)))
    return changes
