"""A scenario's file: found, read, and let pass where it is TOML in the form of a scenario."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.form import checked, quoted, refused
from workbook.simulation.world import INSTRUMENT_IDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

LARGEST = 1_048_576
"""Bytes of a scenario file that are read; it is written by hand."""
ADVICE = "The form is shown in the scenarios that come with the workbook, such as default.toml."


def read(path: Path, names: Iterable[str]) -> bytes:
    """The bytes of a file, and at most one more than it may have; `names` are what may have been meant instead.

    Only regular files are read: a pipe would wait for ever.

    Raises:
        ConfigurationError: there is no such file, or it cannot be read.
    """
    try:
        if path.is_dir():
            raise refused(str(path), "it is a directory. Give a TOML file inside it.")
        if path.is_file():
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
    except (OSError, UnicodeError) as error:  # a name too long, a file not ours, a name that no disk can have
        raise ConfigurationError(f"Cannot read the scenario {str(path)!r:.200}: {_reason(error)}.") from None
    hint = did_you_mean(str(path)[:200], names)
    raise ConfigurationError(f"No scenario {str(path)!r:.200}, and no file of that name. {hint} Or give a file's path.")


def document(text: bytes, file: str) -> dict[str, Any]:
    """What the bytes of a scenario file say, in the form of a scenario.

    Raises:
        ConfigurationError: they are too many, not UTF-8, not TOML, or not in that form.
    """
    said = _toml(text, file)
    checked(file, said)
    _known_ids(file, said)
    return said


def _toml(text: bytes, file: str) -> dict[str, Any]:
    if len(text) > LARGEST:
        raise refused(file, f"it is larger than {LARGEST} bytes, which no scenario is.")
    try:
        return tomllib.loads(text.decode("utf-8-sig"))  # some editors put a byte order mark in front
    except UnicodeDecodeError as error:
        raise refused(file, f"it is not UTF-8, see byte {error.start}. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise refused(file, f"it is not TOML: {what}. {ADVICE}") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _known_ids(file: str, said: Mapping[str, Any]) -> None:
    """What is said of an instrument somewhere else is said of one of the same scenario."""
    listed = said.get("instrument")
    known = INSTRUMENT_IDS if listed is None else tuple(table["id"] for table in listed)
    for where, key, one in _mentioned(said):
        if one not in known:
            hint = did_you_mean(one[:40], known) if known else "It has none."
            raise refused(f"{file}: {where}", f"{key!r} has {quoted(one)}, which is no instrument of it. {hint}")


def _mentioned(said: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Every place that names an instrument: the table, the key, the id."""
    for name in ("device", "phone"):
        for card in said.get(name, {}).get("cards", []):
            yield f"[{name}]", "cards", card
    for number, table in enumerate(said.get("fault", []), 1):
        if isinstance(one := table.get("payment_instrument_id"), str):
            yield f"[[fault]] {number}", "payment_instrument_id", one
