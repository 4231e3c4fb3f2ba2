"""What the board remembers, in one SQLite file: the newest progress of each seat, what was solved when, its own tokens.

What `keep` has returned for is on the disk: it survives the end of the process and of the machine. One board at a time
writes the file; a second one is refused.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock

from workbook.errors import ConfigurationError
from workbook.notebook.exercises.progress import Progress


class History:
    """An open file; it is made where there is none, for its owner only.

    Raises:
        ConfigurationError: it cannot be used: another board has it, it is no history, or it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        with self._told():
            # a link could lead into a file of somebody else's
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
            self._file = sqlite3.connect(path, timeout=0.2, check_same_thread=False)
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            ours = 0x57424452  # in the file's head: no file of another program is written, or deleted at the end
            if path.stat().st_size and self._file.execute("PRAGMA application_id").fetchone() != (ours,):
                raise sqlite3.DatabaseError("it is the database of another program")
            self._file.executescript(f"""
                PRAGMA application_id = {ours}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                CREATE TABLE IF NOT EXISTS seats (seat PRIMARY KEY, progress NOT NULL);
                CREATE TABLE IF NOT EXISTS solved (seat, exercise, at NOT NULL, PRIMARY KEY (seat, exercise));
                CREATE TABLE IF NOT EXISTS tokens (name PRIMARY KEY, value NOT NULL);
            """)
            rows = self._file.execute("SELECT progress FROM seats").fetchall()
        self.seats = {each.seat: each for (content,) in rows for each in [Progress.of(content)]}

    def keep(self, new: Progress) -> bool:
        """Keep a seat's progress; returns False where a newer one of that seat is kept, which then stays.

        Raises:
            ConfigurationError: it cannot be written.
        """
        solved = [(new.seat, name, work.passed.isoformat()) for name, work in new.exercises.items() if work.passed]
        with self._lock:
            known = self.seats.get(new.seat)
            if known and known.last and (new.last is None or new.last < known.last):
                return False
            if known != new:
                with self._told(), self._file:
                    self._file.execute("REPLACE INTO seats VALUES (?, ?)", (new.seat, new.text()))
                    self._file.executemany("INSERT OR IGNORE INTO solved VALUES (?, ?, ?)", solved)
                self.seats = {**self.seats, new.seat: new}  # another thread may be going through the old one
        return True

    def passed(self) -> list[datetime]:
        """When each exercise was first solved at each seat."""
        with self._lock, self._told():
            return [datetime.fromisoformat(at) for (at,) in self._file.execute("SELECT at FROM solved")]

    def token(self, name: str) -> str:
        """A token: made once, and the same after a restart."""
        with self._lock, self._told(), self._file:
            self._file.execute("INSERT OR IGNORE INTO tokens VALUES (?, ?)", (name, token_urlsafe(24)))
            return str(self._file.execute("SELECT value FROM tokens WHERE name = ?", (name,)).fetchone()[0])

    def close(self) -> None:
        """Give the file back."""
        with self._lock, suppress(sqlite3.Error):
            self._file.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the file in our words."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            locked = "another board uses it; end that one first"
            why = locked if "locked" in str(error) else getattr(error, "strerror", None) or str(error)
            raise ConfigurationError(
                f"The history {str(self._path)!r} cannot be used: {why}. To name another file: --history FILE"
            ) from None
