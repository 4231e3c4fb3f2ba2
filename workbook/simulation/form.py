"""The form of a scenario file: which tables and keys it may have, and what each may hold.

Tables of what is allowed, and one walk over them. What is wrong is told with the file, the table and the key, what is
allowed there, and the nearest name where one was misspelt. A file's own text is never trusted to be short or printable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.device import FAILURES
from workbook.simulation.phone import ERRORS, NOTHING, PLACES, PROFILES, TARGETS
from workbook.simulation.world import STATUSES, TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Table = Mapping[str, Any]
    Says = Callable[[object], bool]

HIGHEST_SEED = 2**32 - 1
LONGEST_TEXT = 1000
"""Characters; the client takes no longer payment instrument id."""
LONGEST_WAIT = 3600.0
"""Seconds; anything longer is a slip of the unit."""
WALLETS = ("wallet-a", "wallet-b")
"""What the stand-ins' wallets are called; an instrument that supports neither has an empty list."""
REQUIRED = ("id", "name")
"""The keys that every table of their kind must have."""

_QUOTE = 40  # characters of a wrong key or value that are repeated
_KEY_WORDS = ("key", "token", "secret", "password", "passwd", "authorization")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be.

    Attributes:
        says: how an error calls it.
        fits: whether a value is of this kind.
        allowed: the only texts there are; empty where any will do.
    """

    says: str
    fits: Says
    allowed: tuple[str, ...] = ()


def _is_text(value: object) -> bool:
    fits = isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and value.isprintable()
    return fits and value == str(value).strip()


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_seed(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= HIGHEST_SEED


def _is_seconds(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isfinite(value) and 0 <= value <= LONGEST_WAIT  # type: ignore[arg-type,operator]  # `number` says


def _is_four_digits(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch("[0-9]{4}", value))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


TEXT = Kind(f"text in quotes, 1 to {LONGEST_TEXT} printable characters without outer spaces", _is_text)
TEXTS = Kind("a list of texts, each once", _is_texts)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
SEED = Kind(f"a whole number from 0 to {HIGHEST_SEED}", _is_seed)
SECONDS = Kind(f"a number of seconds from 0 to {LONGEST_WAIT:.0f}", _is_seconds)
DIGITS = Kind('four digits in quotes, such as "0001"', _is_four_digits)
TABLE = Kind("a table", lambda value: isinstance(value, dict))
TABLES = Kind("a list of tables, each under a heading in double brackets", _is_tables)


def _one_of(*allowed: str) -> Kind:
    return Kind(TEXT.says, _is_text, allowed)


def _some_of(*allowed: str) -> Kind:
    return Kind(TEXTS.says, _is_texts, allowed)


INSTRUMENT: Mapping[str, Kind] = {
    "id": TEXT,
    "brand": TEXT,
    "last_four": DIGITS,
    "supported_wallets": _some_of(*WALLETS),
    "status": _one_of(*STATUSES),
    "type": _one_of(*TYPES),
    "scheme_configured": FLAG,
}
CREDENTIAL: Mapping[str, Kind] = {"name": TEXT, "role": FLAG}
LATENCIES: Mapping[str, Kind] = {"get": SECONDS, "post": SECONDS}
DEVICE: Mapping[str, Kind] = {
    "wallet": _one_of(*WALLETS),
    "wallet_pay_supported": FLAG,
    "allowlisted": FLAG,
    "scheme_configured": FLAG,
    "verification_pending": FLAG,
    "provision_failure": _one_of(*FAILURES),
    "cards": TEXTS,
}
PHONE: Mapping[str, Kind] = {
    "wallet": _one_of(*WALLETS),
    "watch": FLAG,
    "cards": TEXTS,
    "adds_to": _one_of(*PLACES),
    "ends_with": _one_of(NOTHING, *ERRORS),
    "associated": FLAG,
    "entitled": _some_of(*TARGETS),
    "app_group_shared": FLAG,
}
SCENARIO: Mapping[str, Kind] = {
    "title": TEXT,
    "profile": _one_of(*PROFILES),
    "seed": SEED,
    "latencies": TABLE,
    "device": TABLE,
    "phone": TABLE,
    "instrument": TABLES,
    "credential": TABLES,
    "fault": TABLES,
}
INSIDE: Mapping[str, Mapping[str, Kind]] = {
    "latencies": LATENCIES,
    "device": DEVICE,
    "phone": PHONE,
    "instrument": INSTRUMENT,
    "credential": CREDENTIAL,
}
"""The form of each table in a scenario. A `[[fault]]` is not here: the fault plan knows what a fault may say."""


def checked(file: str, document: Table) -> None:
    """Let a document pass that is in the form of a scenario.

    Args:
        file: how an error calls the document.
        document: what was read from it.

    Raises:
        ConfigurationError: it is not; says where, what is wrong, and what is allowed.
    """
    _table(file, document, SCENARIO)
    for name, form in INSIDE.items():
        found = document.get(name, [])
        for where, table in _numbered(name, found):
            _table(f"{file}: {where}", table, form)
    _distinct(file, document, "instrument", "id")
    _distinct(file, document, "credential", "name")


def refused(where: str, what: str) -> ConfigurationError:
    """The error for something that is wrong in a file."""
    return ConfigurationError(f"{where}: {what}")


def quoted(value: object) -> str:
    """A value as an error may repeat it: short, printable, and nothing of a list or a table but that it is one."""
    if isinstance(value, str):
        return f"{value[:_QUOTE]!r}..." if len(value) > _QUOTE else repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) or (isinstance(value, int) and value.bit_length() < _QUOTE):
        return str(value)
    return f"a value of type {type(value).__name__}"


def _numbered(name: str, found: Any) -> Iterable[tuple[str, Table]]:
    """Each table under this heading, with how an error calls it."""
    if isinstance(found, dict):
        return [(f"[{name}]", found)]
    return [(f"[[{name}]] {number}", table) for number, table in enumerate(found, 1)]


def _table(where: str, table: Table, form: Mapping[str, Kind]) -> None:
    for key, value in table.items():
        if key not in form:
            raise refused(where, _unknown(key, form))
        _value(where, key, value, form[key])
    for key in REQUIRED:
        if key in form and key not in table:
            raise refused(where, f"{key!r} is missing; give {form[key].says}.")


def _unknown(key: str, form: Mapping[str, Kind]) -> str:
    if any(word in re.sub("[^a-z]", "", key.lower()) for word in _KEY_WORDS):
        return (
            f"{quoted(key)} looks like an API key or another secret, and a scenario is a file that is passed around. "
            "Remove it: keys are made when a server starts, or come from the environment."
        )
    elsewhere = [f"[{name}]" for name, other in INSIDE.items() if key in other]
    hint = f"It belongs in {' or '.join(elsewhere)}." if elsewhere else did_you_mean(key[:_QUOTE], form)
    return f"the key {quoted(key)} is not known. {hint}"


def _value(where: str, key: str, value: object, kind: Kind) -> None:
    if not kind.fits(value):
        raise refused(where, f"{key!r} is {quoted(value)}; give {kind.says}.")
    if not kind.allowed:
        return
    for each in value if isinstance(value, list) else [value]:
        if each not in kind.allowed:
            raise refused(where, f"{key!r} cannot be {quoted(each)}. {did_you_mean(str(each)[:_QUOTE], kind.allowed)}")


def _distinct(file: str, document: Table, heading: str, key: str) -> None:
    seen: dict[str, int] = {}
    for number, table in enumerate(document.get(heading, []), 1):
        first = seen.setdefault(table[key], number)
        if first != number:
            what = f"{key!r} is {quoted(table[key])}, which [[{heading}]] {first} has already. Give each its own."
            raise refused(f"{file}: [[{heading}]] {number}", what)
