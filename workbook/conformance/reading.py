"""Reads plain JSON into dataclasses, and names the place of whatever is not as it should be.

A reader takes a value and where it stands, and returns the value that a dataclass wants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import Enum

    Reader = Callable[[Any, str], Any]

KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
LARGEST = 1e15
"""No number of a report comes near it, and every number up to it can be printed and rounded."""
DEEPEST = 12
"""How deep a body may be; what is shown of one is less deep."""


class NotSoError(Exception):
    """What stands in a document is not what should stand there."""


def text(value: Any, where: str) -> str:
    """Any text."""
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    return value


def flag(value: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise _wrong(where, "true or false", value)
    return value


def number(value: Any, where: str) -> float:
    """A number of a usual size."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise _wrong(where, "a number of a usual size", value)
    return value


def whole(value: Any, where: str) -> int:
    """A number without a fraction."""
    if not isinstance(number(value, where), int):
        raise _wrong(where, "a whole number", value)
    return int(value)


def shallow(value: Any, where: str, depth: int = 0) -> Any:
    """Anything that is not too deep."""
    if depth > DEEPEST:
        raise NotSoError(f"{where} is nested too deep.")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        shallow(one, where, depth + 1)
    return value


def words(value: Any, where: str) -> dict[str, str]:
    """An object with nothing but texts in it."""
    return {name: text(one, f"{where}.{name[:40]}") for name, one in mapping(value, where).items()}


def mapping(value: Any, where: str) -> dict[str, Any]:
    """Any object."""
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    return value


def optional(reader: Reader) -> Reader:
    """The same or null."""
    return lambda value, where: None if value is None else reader(value, where)


def each(reader: Reader) -> Reader:
    """A list of the same."""

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        return tuple(reader(one, f"{where}[{place}]") for place, one in enumerate(value))

    return read


def choice(kind: type[Enum]) -> Reader:
    """One of the values of an enumeration."""

    def read(value: Any, where: str) -> Enum:
        allowed = [one.value for one in kind]
        if value not in allowed:
            raise NotSoError(f"{where} is {str(value)[:40]!r}; it has to be one of: {', '.join(allowed)}.")
        return kind(value)

    return read


def made(kind: Callable[..., Any], readers: Mapping[str, Reader], later: Mapping[str, Reader] | None = None) -> Reader:
    """An object with these fields, each of which has to be there; others are not read.

    Args:
        kind: what is made of them.
        readers: of the fields.
        later: of fields that an older document does not have; they are then as `kind` has them by itself.
    """
    added = later or {}

    def read(value: Any, where: str) -> Any:
        document = mapping(value, where)
        if missing := [name for name in readers if name not in document]:
            raise NotSoError(f"{where} has no {missing[0]!r}.")
        known = {**readers, **{name: reader for name, reader in added.items() if name in document}}
        return kind(**{name: reader(document[name], f"{where}.{name}") for name, reader in known.items()})

    return read


def _wrong(where: str, wanted: str, value: Any) -> NotSoError:
    return NotSoError(f"{where} is {KINDS.get(type(value), 'a number')}; it has to be {wanted}.")
