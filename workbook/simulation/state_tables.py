"""What a state file is made of: its tables, their versions, and the statements that write into them.

A world has one row in `world` (what it is) and one in `journal` (its number, which is its public name, the salt of its
digests, and the second at which it was reset). What it remembers since its beginning is its past: a reset empties that.
"""

from __future__ import annotations

OURS = 0x50575331
"""PWS1, in the file's header: tells a state file from every other SQLite database."""
VERSION = 2
PAST = ("output", "memory", "plan", "entry")
"""The tables of what a world remembers."""
WHOLE = (*PAST, "journal", "world")
"""All tables; in each, a world's rows are those with its key."""

_SINCE_2 = (
    "CREATE TABLE plan (key TEXT PRIMARY KEY, counts TEXT NOT NULL)",
    # AUTOINCREMENT gives no number twice.
    "CREATE TABLE journal (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, salt TEXT, seconds REAL)",
    "CREATE TABLE entry (key TEXT, place INT, body TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (key, place))",
)
TABLES = (
    "CREATE TABLE world (key TEXT PRIMARY KEY, said TEXT NOT NULL)",
    "CREATE TABLE memory (key TEXT, instrument TEXT, activations INT, opcs INT, PRIMARY KEY (key, instrument))",
    "CREATE TABLE output (key TEXT, instrument TEXT, number INT, digest TEXT, PRIMARY KEY (key, instrument, number))",
    *_SINCE_2,
    f"PRAGMA application_id={OURS}",
    f"PRAGMA user_version={VERSION}",
)
"""Make an empty file a state file."""

FROM = {
    1: (
        *_SINCE_2,
        # In this order the worlds get the names that version 1 gave them.
        "INSERT INTO journal (key, salt, seconds) SELECT key, hex(randomblob(16)), 0.0 FROM world ORDER BY rowid",
        f"PRAGMA user_version={VERSION}",
    )
}
"""Make a file of an older version one of this version; nothing in it is lost."""

SAY = "INSERT INTO world VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET said = excluded.said"  # it keeps its place
NAME = "INSERT INTO journal VALUES (?, ?, ?, ?)"
RESET_AT = "UPDATE journal SET seconds = ? WHERE key = ?"
REMEMBER = "INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?)"
USED = "INSERT OR REPLACE INTO output VALUES (?, ?, ?, ?)"
TOO_OLD = "DELETE FROM output WHERE key = ? AND instrument = ? AND number <= ?"
COUNTED = "INSERT OR REPLACE INTO plan VALUES (?, ?)"
EXCHANGED = "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?)"
DROPPED = "DELETE FROM entry WHERE key = ? AND place <= ?"

Change = tuple[str, tuple[str | int | float, ...]]
"""A statement and its values."""


def forgetting(key: str, tables: tuple[str, ...]) -> list[Change]:
    """What takes a world out of these tables."""
    return [(f"DELETE FROM {table} WHERE key = ?", (key,)) for table in tables]  # noqa: S608  # names of ours
