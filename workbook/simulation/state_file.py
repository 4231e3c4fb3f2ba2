"""The file behind `--state`: an SQLite database of texts, written all or nothing and on the disk before it returns.

What crash safety rests on is SQLite's: a write-ahead log with synchronous=FULL. Here stands only what SQLite leaves
open: whose file it is, who may read it, that one process has it at a time, and what an error means for a person.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.errors import ConfigurationError
from workbook.simulation.state_tables import FROM, OURS, TABLES, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from workbook.simulation.state_tables import Change

MODE = 0o600
PATIENCE = 0.5
"""Seconds to wait for another process to let the file go."""
KEPT = "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"
WORLDS = (
    "SELECT world.key, said, number, salt, seconds, counts"
    " FROM world LEFT JOIN journal USING (key) LEFT JOIN plan USING (key) ORDER BY world.rowid"
)
ADVICE = {
    sqlite3.SQLITE_READONLY: "It cannot be written to. Look at its folder and its disk, or give another file.",
    sqlite3.SQLITE_FULL: "Its disk is full. Make room, or give a file on another disk.",
    sqlite3.SQLITE_IOERR: "Its disk refuses. Look at it, or give a file on another disk.",
    sqlite3.SQLITE_CANTOPEN: "Look whether you may open it, and write in its folder; or give another file.",
}
"""What to do where SQLite says this."""


class Saved(NamedTuple):
    """What the file has of one world; nothing of it is trusted yet but the types of the first two.

    Attributes:
        key: opens it.
        said: what it is, as JSON.
        number: of its name.
        salt: of the digests of bodies in its journal, as hexadecimal digits.
        seconds: when its journal was reset.
        counts: its fault plan's, as JSON; None where it never had any.
        memory: each instrument's plain memory.
        entries: place, body and JSON of each entry of its journal, in the order of the places.
    """

    key: str
    said: str
    number: Any
    salt: Any
    seconds: Any
    counts: Any
    memory: dict[str, dict[str, Any]]
    entries: list[tuple[Any, Any, Any]]


class StateFile:
    """An open state file; close it.

    Args:
        path: made, for its owner alone, where there is none.

    Raises:
        ConfigurationError: it cannot be had, is something else, is damaged, or another process has it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            _touch(path)
            self._database = _connected(path)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"Cannot have the state file {path}: {_reason(error)}.") from None
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        try:
            self._begin()
        except BaseException:
            self._database.close()
            raise

    def _begin(self) -> None:
        try:
            self._database.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._claim()
            for statement in KEPT:
                self._database.execute(statement)
            self._database.execute("BEGIN EXCLUSIVE")  # a second process is told so at once, not at its first write
            self._database.execute("COMMIT")
            self.path.chmod(MODE)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        except OSError as error:
            raise ConfigurationError(f"Cannot keep {self.path} from others: {_reason(error)}.") from None

    def _claim(self) -> None:
        """Make the tables in an empty file; refuse what is no state file before anything of it is changed."""
        if not self._one("SELECT count(*) FROM sqlite_master") and not self._one("PRAGMA application_id"):
            self._make(TABLES)
            return
        if self._one("PRAGMA application_id") != OURS:
            raise ConfigurationError(f"{self.path} is the database of something else. Give another file.")
        version = self._one("PRAGMA user_version")
        if version != VERSION and version not in FROM:
            advice = f"This one reads versions 1 to {VERSION}. Take that workbook, or give another file."
            raise ConfigurationError(f"{self.path} was written by another workbook (version {version}). {advice}")
        if self._one("PRAGMA quick_check") != "ok":
            raise self.damaged("SQLite's own check fails")
        self._make(FROM.get(version, ()))

    def _make(self, statements: Iterable[str]) -> None:
        if listed := [*statements]:
            self.write((statement, ()) for statement in listed)

    def _one(self, statement: str) -> Any:
        row: tuple[Any] = self._database.execute(statement).fetchone()
        return row[0]

    @property
    def names_given(self) -> int:
        """The highest number that a world was ever named with."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'journal'"))

    def read(self) -> list[Saved]:
        """Each world in the order in which it was added.

        Raises:
            ConfigurationError: the file is damaged.
        """
        try:
            worlds = self._database.execute(WORLDS).fetchall()
            if not all(isinstance(value, str) for key, said, *_rest in worlds for value in (key, said)):
                raise self.damaged("a key or a world in it is no text")  # SQLite lets any value stand in a column
            return [Saved._make((*row, self._memory(row[0]), self._entries(row[0]))) for row in worlds]
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _entries(self, key: str) -> list[tuple[Any, Any, Any]]:
        return self._database.execute(
            "SELECT place, body, told FROM entry WHERE key = ? ORDER BY place", (key,)
        ).fetchall()

    def _memory(self, key: str) -> dict[str, dict[str, Any]]:
        counts = self._database.execute("SELECT instrument, activations, opcs FROM memory WHERE key = ?", (key,))
        plain = {
            instrument: {"activations": activations, "opcs": opcs, "outputs": []}
            for instrument, activations, opcs in counts.fetchall()
        }
        used = self._database.execute("SELECT instrument, digest FROM output WHERE key = ? ORDER BY number", (key,))
        for instrument, digest in used.fetchall():
            if instrument not in plain:
                raise self.damaged("an sdkOutput in it belongs to no instrument")
            plain[instrument]["outputs"].append(digest)
        return plain

    def write(self, changes: Iterable[Change]) -> None:
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
        """Let another process have the file."""
        with suppress(sqlite3.Error):  # whatever was acknowledged is on the disk already
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
        advice = ADVICE.get(code, "Give another file.")
        return ConfigurationError(f"The state file {self.path} cannot be used: {error}. {advice}")


def _touch(path: Path) -> None:
    """Make the file before SQLite does, which would let everybody read it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
        return
    if not path.is_file():
        raise ValueError("it is not a regular file")
    # To look by opening it would drop the locks of another connection in this process, when it is closed again.
    if not os.access(path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError("you may not read and write it. Allow it (chmod u+rw), or give another file")


def _connected(path: Path) -> sqlite3.Connection:
    """Every transaction is begun by hand; the threads of a server share the connection and take turns."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
