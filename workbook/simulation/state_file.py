"""The file behind `--state`: an SQLite database of texts, written all or nothing and on the disk before it returns.

What crash safety rests on is SQLite's: a write-ahead log with synchronous=FULL. Here stands only what SQLite leaves
open: whose file it is, who may read it, that one process has it at a time, and what an error means for a person.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    Change = tuple[str, tuple[str | int, ...]]

OURS = 0x50575331
"""PWS1, in the file's header: tells a state file from every other SQLite database."""
VERSION = 1
MODE = 0o600
PATIENCE = 0.5
"""Seconds to wait for another process to let the file go."""
KEPT = "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"
PARTS = ("output", "memory", "world")
TABLES = (
    "CREATE TABLE world (key TEXT PRIMARY KEY, said TEXT NOT NULL)",
    "CREATE TABLE memory (key TEXT, instrument TEXT, activations INT, opcs INT, PRIMARY KEY (key, instrument))",
    "CREATE TABLE output (key TEXT, instrument TEXT, number INT, digest TEXT, PRIMARY KEY (key, instrument, number))",
    f"PRAGMA application_id={OURS}",
    f"PRAGMA user_version={VERSION}",
)


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
            self.write((statement, ()) for statement in TABLES)
            return
        if self._one("PRAGMA application_id") != OURS:
            raise ConfigurationError(f"{self.path} is the database of something else. Give another file.")
        if self._one("PRAGMA user_version") != VERSION:
            raise ConfigurationError(f"{self.path} was written by another version of the workbook. Give another file.")
        if self._one("PRAGMA quick_check") != "ok":
            raise self.damaged("SQLite's own check fails")

    def _one(self, statement: str) -> object:
        row: tuple[object] = self._database.execute(statement).fetchone()
        return row[0]

    def read(self) -> list[tuple[str, str, dict[str, dict[str, Any]]]]:
        """Each world in the order in which it was added: its key, what is said of it, each instrument's plain memory.

        Raises:
            ConfigurationError: the file is damaged.
        """
        try:
            worlds = self._database.execute("SELECT key, said FROM world ORDER BY rowid").fetchall()
            if not all(isinstance(value, str) for row in worlds for value in row):
                raise self.damaged("a key or a world in it is no text")  # SQLite lets any value stand in a column
            return [(key, said, self._memory(key)) for key, said in worlds]
        except sqlite3.Error as error:
            raise self._unusable(error) from None

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

    def forget(self, key: str, *, parts: tuple[str, ...] = PARTS) -> None:
        """Take a world out, or only these parts of it.

        Raises:
            ConfigurationError: it cannot be written.
        """
        self.write(forgetting(key, parts))

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
        return ConfigurationError(f"The state file {self.path} cannot be used: {error}.")


def forgetting(key: str, parts: tuple[str, ...] = PARTS) -> list[Change]:
    """What takes a world, or only these parts of it, out of the file."""
    return [(f"DELETE FROM {part} WHERE key = ?", (key,)) for part in parts]  # noqa: S608  # names of ours


def _touch(path: Path) -> None:
    """Make the file before SQLite does, which would let everybody read it."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, MODE))
        return
    if not path.is_file():
        raise ValueError("it is not a regular file")


def _connected(path: Path) -> sqlite3.Connection:
    """Every transaction is begun by hand; the threads of a server share the connection and take turns."""
    return sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
