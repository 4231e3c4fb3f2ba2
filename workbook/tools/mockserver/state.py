"""`--state FILE`: worlds and what they remember, kept over a restart and over a crash.

An answer is given only after everything it changed is on the disk, so nothing that was acknowledged is lost, whenever
the process ends. One process has the file at a time.

**The file holds the API keys as they are**, because a restarted server has to know them again. It is therefore readable
by its owner alone (mode 0600), and so is what SQLite keeps beside it (FILE-wal, FILE-journal).

It keeps everything that a world is and remembers: its instruments, what was issued and exchanged, how far its fault
plan has come, its journal, and its public name. Of a request and its answer it keeps what an export shows, see
`journal.PersistentEntry`. It does not keep the journal of requests whose key opens no world ("nobody").
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, TypeAdapter

from workbook.base.values import is_number
from workbook.errors import ConfigurationError
from workbook.simulation import service
from workbook.simulation.scenario import plan
from workbook.simulation.service import Memory, Service
from workbook.simulation.world import World
from workbook.tools.mockserver.journal import LATEST, Entry, Journal, PersistentEntry, read_entry

# The `[[fault]]` tables of a scenario.
Faults = tuple[dict[str, Any], ...]
# What the file has of one world: places and values by part.
Parts: TypeAlias = dict[str, list[tuple[int, str]]]
# A statement and its values.
RowChange = tuple[str, tuple[str | int, ...]]


@dataclass(frozen=True, slots=True)
class Saved:
    """How much of a world is on the disk; equal values mean that nothing happened in between.

    Attributes:
        memory: activations and opcs issued, by instrument; each grows with a change.
        counts: those of its fault plan.
        resets: how many resets its journal had.
        count: how many exchanges its journal counted.
    """

    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    resets: int = 0
    count: int = 0


@dataclass(slots=True)
class OpenWorld:
    """One key's world, and everything that answers and remembers for it.

    Attributes:
        number: of its public name; 0 for nobody's.
        world: its instruments, credential, seed, profile and latencies.
        own: the `[[fault]]` tables that it was opened with.
        faults: those that are played now.
        service: answers, and remembers.
        journal: what was asked and answered.
        salt: of its journal's digests; empty without a state file.
        saved: how much of it is on the disk.
    """

    number: int
    world: World
    own: Faults
    faults: Faults
    service: Service
    journal: Journal
    salt: bytes = field(default=b"", repr=False)
    saved: Saved = field(default_factory=Saved)

    @classmethod
    def fresh(cls, number: int, world: World, faults: Faults, journal: Journal, salt: bytes = b"") -> OpenWorld:
        """A world at its beginning.

        Raises:
            ConfigurationError: a fault is invalid.
        """
        answering = Service(world, plan(faults, world.seed, where=world.name))
        return cls(number, world, faults, faults, answering, journal, salt)

    @property
    def name(self) -> str:
        """Its public name; "nobody" is the world of all requests whose key opens none."""
        return f"w{self.number}" if self.number else "nobody"

    @property
    def counts(self) -> tuple[int, ...]:
        """How many requests each rule of its fault plan has counted."""
        return () if self.service.plan is None else self.service.plan.counts


# The file is one table of texts. A row is a part of a world, or one item of a part that has many:
#
#     part              place            value
#     world             0                JSON: key, salt, instruments, faults, ... (`_world_values`)
#     clock             0                the second at which its journal was reset
#     plan              0                JSON: the counts of its fault plan
#     memory ID         0                JSON: activations and opcs issued of this instrument
#     output ID         number, from 1   digest of an exchanged sdkOutput
#     entry             number, from 1   an entry of its journal: what stands for the body, a line end, JSON
#
# Every change of a world is one transaction. Crash safety is SQLite's: a write-ahead log with synchronous=FULL.

# PWS2, in the file's header: tells a state file from every other SQLite database.
OURS = 0x50575332


def put(number: int, part: str, value: str, place: int = 0) -> RowChange:
    """Write one row."""
    return "INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?)", (number, part, place, value)


def forget(number: int, part: str | None = None, up_to: int | None = None) -> RowChange:
    """Remove the rows of a world: all, those of a part, or those of a part up to a place."""
    if part is None:
        return "DELETE FROM state WHERE world = ?", (number,)
    if up_to is None:
        return "DELETE FROM state WHERE world = ? AND part = ?", (number, part)
    return "DELETE FROM state WHERE world = ? AND part = ? AND place <= ?", (number, part, up_to)


class StateFile:
    """An open state file; close it.

    Args:
        path: where there is no file, one is made for its owner alone.

    Raises:
        ConfigurationError: it cannot be had, is something else, is damaged, or another process has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            _touch(path)
            # Every transaction is begun by hand; the threads of a server share the connection and take turns. Another
            # process has half a second to release the file.
            self._database = sqlite3.connect(path, timeout=0.5, isolation_level=None, check_same_thread=False)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise ConfigurationError(f"Cannot open the state file {path}: {reason}.") from None
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        try:
            self._begin()
        except BaseException:
            self._database.close()
            raise

    def _begin(self) -> None:
        """Take the file, and refuse what is no state file before anything of it is changed."""
        try:
            self._database.execute("PRAGMA locking_mode=EXCLUSIVE")
            ours = self._value("PRAGMA application_id")
            if not ours and not self._value("SELECT count(*) FROM sqlite_master"):
                columns = "world INT, part TEXT, place INT, value TEXT, PRIMARY KEY (world, part, place)"
                made = f"CREATE TABLE state ({columns}) WITHOUT ROWID", f"PRAGMA application_id={OURS}"
                self.write((statement, ()) for statement in made)
            elif ours != OURS:
                raise ConfigurationError(f"{self.path} is the database of something else. Give another file.")
            elif self._value("PRAGMA quick_check") != "ok":
                raise self.damaged("SQLite's own check fails")
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute("BEGIN EXCLUSIVE")  # a second process is refused at once, not at its first write
            self._database.execute("COMMIT")
            self.path.chmod(0o600)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        except OSError as error:
            raise ConfigurationError(f"Cannot make {self.path} private: {error.strerror or error}.") from None

    def _value(self, statement: str) -> Any:
        return self._database.execute(statement).fetchone()[0]

    def read(self) -> dict[int, Parts]:
        """What the file has of each world, by the number of its name.

        Raises:
            ConfigurationError: the file is damaged.
        """
        worlds: dict[int, Parts] = {}
        try:
            for number, part, place, value in self._database.execute("SELECT * FROM state ORDER BY 1, 2, 3"):
                # SQLite lets any value stand in a column.
                if [*map(type, (number, part, place, value))] != [int, str, int, str]:
                    raise self.damaged("a row of it has values of other types")
                worlds.setdefault(number, {}).setdefault(part, []).append((place, value))
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        return worlds

    def write(self, changes: Iterable[RowChange]) -> None:
        """All of these changes or none; when it returns they are on the disk.

        Raises:
            ConfigurationError: they cannot be written.
        """
        try:
            self._database.execute("BEGIN IMMEDIATE")
            for statement, values in changes:
                self._database.execute(statement, values)
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):  # where not even BEGIN went well
                self._database.execute("ROLLBACK")
            raise self._unusable(error) from None

    def close(self) -> None:
        """Release the file for another process."""
        with suppress(sqlite3.Error):  # everything that was acknowledged is on the disk already
            self._database.close()

    def damaged(self, what: str) -> ConfigurationError:
        """The error for a file whose content is not as it was written."""
        advice = "Nothing in it was changed. Move it away to start afresh, or give another file."
        return ConfigurationError(f"The state file {self.path} is damaged: {what}. {advice}")

    def _unusable(self, error: sqlite3.Error) -> ConfigurationError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # without its extension
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return ConfigurationError(f"Another process has the state file {self.path}. Stop it, or give another file.")
        if code == sqlite3.SQLITE_NOTADB:
            return ConfigurationError(f"{self.path} is no state file. Give another file, or one that is not there yet.")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR):
            return self.damaged(str(error))
        advice = {
            sqlite3.SQLITE_READONLY: "It cannot be written to. Look at its folder and its disk, or give another file.",
            sqlite3.SQLITE_FULL: "Its disk is full. Make room, or give a file on another disk.",
            sqlite3.SQLITE_IOERR: "Its disk reports an error. Check the disk, or give a file on another one.",
            sqlite3.SQLITE_CANTOPEN: "Check that you may open it and write in its folder, or give another file.",
        }.get(code, "Give another file.")
        return ConfigurationError(f"The state file {self.path} cannot be used: {error}. {advice}")


def _touch(path: Path) -> None:
    """Make the file before SQLite does, which would let everybody read it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return
    if not path.is_file():
        raise ValueError("it is not a regular file")
    # Opening and closing it to find out would drop the locks of another connection in this process.
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError("you may not read and write it. Allow it (chmod u+rw), or give another file")


# From a world to rows, and back. The way back trusts nothing: a value in another form raises one of these.

MALFORMED = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_WORLD = TypeAdapter(World)
_Issued = Annotated[int, Field(strict=True, ge=0, le=10**12)]  # no service issues more in any lifetime
_ISSUED = TypeAdapter(tuple[_Issued, _Issued])


def beginning(key: str, opened: OpenWorld) -> list[RowChange]:
    """The rows of a world at its beginning, instead of all that the file has under its number."""
    return [forget(opened.number), world_row(key, opened, opened.faults), _clock(opened)]


def world_row(key: str, opened: OpenWorld, faults: Faults) -> RowChange:
    """The row of a world without its past, which plays these faults."""
    values = {"key": key, "salt": opened.salt.hex(), **world_values(opened.world), "faults": faults, "own": opened.own}
    return put(opened.number, "world", json.dumps(values))


def _clock(opened: OpenWorld) -> RowChange:
    return put(opened.number, "clock", json.dumps(opened.journal.now()))


def _issued(opened: OpenWorld) -> dict[str, tuple[int, int]]:
    """The activations and opcs issued, by instrument."""
    return {instrument: (issued.activations, issued.opcs) for instrument, issued in opened.service.memory.items()}


def unsaved(opened: OpenWorld, latest: Entry) -> tuple[list[RowChange], Saved]:
    """A world's changes that are not on the disk yet, with the entry `latest`, and what is saved after them.

    It is a difference, not a log: where a write failed, the next one contains everything that is still missing.
    """
    number, journal, saved = opened.number, opened.journal, opened.saved
    changes: list[RowChange] = []
    memory = _issued(opened)
    for instrument, (activations, opcs) in memory.items():
        before = saved.memory.get(instrument, (0, 0))
        if before != (activations, opcs):
            changes.append(put(number, f"memory {instrument}", json.dumps([activations, opcs])))
            # Every POST that was counted added one digest at the end, and the oldest are forgotten.
            digests = [*islice(reversed(opened.service.memory[instrument].used), opcs - before[1])]
            changes += [put(number, f"output {instrument}", one.hex(), opcs - at) for at, one in enumerate(digests)]
            if opcs > service.MOST_OUTPUTS:
                changes.append(forget(number, f"output {instrument}", opcs - service.MOST_OUTPUTS))
    if opened.counts != saved.counts:
        changes.append(put(number, "plan", json.dumps(opened.counts)))
    count = saved.count
    if journal.resets != saved.resets:
        changes += [forget(number, "entry"), _clock(opened)]
        count = 0
    elif journal.dropped:
        changes.append(forget(number, "entry", journal.dropped))
    new = [*journal.latest(journal.count - count), latest]
    for place, entry in enumerate(new, journal.count + 2 - len(new)):
        if not isinstance(entry, PersistentEntry):
            raise TypeError("Only a redacted entry is written to the disk.")
        changes.append(put(number, "entry", f"{entry.body.decode('ascii')}\n{entry.text}", place))
    return changes, Saved(memory, opened.counts, journal.resets, journal.count + 1)


def restored(number: int, parts: Parts, journal: Journal) -> tuple[str, OpenWorld]:
    """The key and the world that these rows were written from; its journal goes on in `journal`, which is empty.

    Raises:
        one of `MALFORMED`, ConfigurationError: the rows have another form.
    """
    ((_place, text),) = parts["world"]
    values = json.loads(text)
    key, salt = values["key"], bytes.fromhex(values["salt"])
    opened = OpenWorld.fresh(number, world_of(values, key), _tables(values["faults"]), journal, salt)
    opened.own = _tables(values["own"])
    plan(opened.own, opened.world.seed, where=opened.world.name)  # what a reset plays is checked here, not then
    for part, rows in parts.items():
        kind, _blank, instrument = part.partition(" ")
        if kind == "memory":
            memory = opened.service.memory[instrument] = Memory()
            memory.activations, memory.opcs = _ISSUED.validate_json(rows[0][1])
            digests = parts.get(f"output {instrument}", [])
            memory.used.update({bytes.fromhex(digest): None for _place, digest in digests})
        elif kind == "output" and f"memory {instrument}" not in parts:
            raise ValueError("an sdkOutput of no instrument")
    if opened.service.plan is not None and "plan" in parts:
        opened.service.plan.resume(json.loads(parts["plan"][0][1]))
    entries = [read_entry(*reversed(value.split("\n"))) for _place, value in parts.get("entry", ())]
    count = parts["entry"][-1][0] if entries else 0
    seconds = max([json.loads(parts["clock"][0][1]), *(entry.answered for entry in entries)])
    named = isinstance(key, str) and number >= 1
    if not named or not salt or count < len(entries) or not is_number(seconds, -LATEST, LATEST):
        raise ValueError("no key, no name, no salt, no count, or no time")
    journal.persist(salt)
    journal.resume(entries, count, seconds)
    opened.saved = Saved(_issued(opened), opened.counts, journal.resets, count)
    return key, opened


def world_values(world: World) -> dict[str, Any]:
    """A world as plain values, without its key."""
    return {
        "name": world.name,
        "profile": world.profile,
        "seed": world.seed,
        "latencies": dict(world.latencies),
        "instruments": {instrument.id: asdict(instrument) for instrument in world.instruments.values()},
        "roles": [sorted(credential.roles) for credential in world.credentials.values()],
    }


def world_of(values: Mapping[str, Any], key: str) -> World:
    """The world that `world_values` described, opened by this key.

    Raises:
        one of `MALFORMED`, ParameterError: the values have another form.
    """
    (roles,) = values["roles"]
    return _WORLD.validate_json(json.dumps({**values, "credentials": {key: {"roles": roles}}}), strict=True)


def _tables(values: Any) -> Faults:
    return tuple(dict(table) for table in values)
