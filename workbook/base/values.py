"""Checks of values that people and files give: each returns the value or raises one sentence that says what is allowed.

Check where a value enters (a notebook, the command line, a file) and trust it from there on. This module imports
nothing but `workbook.errors`, so that every part of the package may use it.
"""

import re
from collections.abc import Iterable, Mapping
from math import inf, isfinite
from numbers import Integral, Real
from types import UnionType
from typing import TypeVar

from workbook.errors import ConfigurationError, ParameterError

Value = TypeVar("Value")

HIGHEST_PORT = 65535


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The closing sentence of an error about a name: the nearest known name, or all of them."""
    names = sorted(known, key=lambda name: re.sub("[0-9]+", lambda digits: digits[0].zfill(9), name))  # 2 before 10
    by_lower = {name.lower(): name for name in names}
    close = nearest(word[:60].strip().lower(), by_lower)
    return f"Did you mean {by_lower[close]!r}?" if close else f"Known: {', '.join(names)}."


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """The known word that is most like this one, at least so much of it (0 to 1); empty where none is."""
    from difflib import get_close_matches  # loaded when a word is not known

    return next(iter(get_close_matches(word, known, 1, alike)), "")


def quoted(value: object) -> str:
    """A value as an error may repeat it: at most 60 characters of a text, and of an object only its type."""
    if isinstance(value, str) and len(value) > 60:
        return f"{value[:60]!r}... ({len(value)} characters)"
    if isinstance(value, int) and value.bit_length() > 128:  # Python refuses to write the longest ones
        return f"a whole number of {value.bit_length()} bits"
    if value is None or isinstance(value, str | int | float):
        return repr(value)
    return f"a value of type {type(value).__name__}"


def is_number(value: object, least: float = -inf, most: float = inf) -> bool:
    """Whether this is a finite number from `least` to `most`; a bool is none."""
    if isinstance(value, bool) or not isinstance(value, (float, int, Real)):  # the abstract class last: it is slow
        return False
    try:
        return isfinite(value) and least <= float(value) <= most
    except OverflowError:  # a whole number beyond every float
        return False


def is_whole(value: object, least: float = -inf, most: float = inf) -> bool:
    """Whether this is a whole number from `least` to `most`; a bool is none."""
    return isinstance(value, (int, Integral)) and not isinstance(value, bool) and least <= int(value) <= most


def is_text(value: object, longest: int = 1000) -> bool:
    """Whether this is text of 1 to `longest` printable characters, without blanks around it."""
    return isinstance(value, str) and 0 < len(value) <= longest and value.isprintable() and value == value.strip()


def number(name: str, value: object, *, least: float = 0.0, most: float = inf, unit: str = "") -> float:
    """A finite number from `least` to `most`; `unit` is for the sentence.

    Raises:
        ParameterError: it is something else.
    """
    if is_number(value, least, most):
        return float(value)  # type: ignore[arg-type]  # `is_number` made sure
    limits = f"of {least:g} or more" + ("" if most == inf else f" and at most {most:g}")
    raise ParameterError(f"{name} is {quoted(value)}. Give a finite number {limits}{unit and f', in {unit}'}.")


def whole(name: str, value: object, *, least: int, most: int) -> int:
    """A whole number from `least` to `most`.

    Raises:
        ParameterError: it is something else.
    """
    if is_whole(value, least, most):
        return int(value)  # type: ignore[call-overload,no-any-return]  # `is_whole` made sure
    raise ParameterError(f"{name} is {quoted(value)}. Give a whole number from {least:,} to {most:,}.")


def check_port(port: int) -> int:
    """A port to listen on: 0, which takes any free one, to 65535.

    Raises:
        ConfigurationError: there is no such port.
    """
    if 0 <= port <= HIGHEST_PORT:
        return port
    raise ConfigurationError(
        f"There is no port {quoted(port)}. Choose one up to {HIGHEST_PORT}, or 0 for any free one."
    )


def flag(name: str, value: object) -> bool:
    """True or False, and nothing that is merely truthy.

    Raises:
        ParameterError: it is something else.
    """
    if isinstance(value, bool):
        return value
    raise ParameterError(f"{name} is {quoted(value)}. Give True or False.")


def of_type(name: str, value: object, kind: type | UnionType, allowed: str) -> None:
    """Make sure that a setting has its type; `allowed` says in words what it may be.

    Raises:
        ParameterError: it has another.
    """
    if not isinstance(value, kind):
        raise ParameterError(f"{name} is {quoted(value)}; allowed: {allowed}.")


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """One of these words.

    Raises:
        ParameterError: it is something else; names the nearest word, or all of them.
    """
    words = [str(word) for word in allowed]
    if isinstance(value, str) and value in words:
        return value
    raise ParameterError(f"{name} is {quoted(value)}. {did_you_mean(value if isinstance(value, str) else '', words)}")


def lookup(what: str, name: object, table: Mapping[str, Value]) -> Value:
    """What a table holds under this name; `what` says what the names are, such as "fault".

    Raises:
        ParameterError: it holds nothing; names the nearest key, or all of them.
    """
    if isinstance(name, str) and name in table:
        return table[name]
    raise ParameterError(f"No {what} {quoted(name)}. {did_you_mean(name if isinstance(name, str) else '', table)}")
