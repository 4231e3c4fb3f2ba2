"""What a single value of a `back-end.toml` may be, each with the words that an error says it in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, TypeGuard

from jsonpointer import JsonPointer, JsonPointerException

from workbook.api.address import encode_id
from workbook.conformance.origin import ALLOWED, wrong
from workbook.conformance.target import BOUND as WALLET_WAITS
from workbook.conformance.target import BY_STATUS, IN_BODY, RAW
from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation import form
from workbook.simulation.form import quoted
from workbook.simulation.listening import HIGHEST_PORT
from workbook.simulation.phone import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
LETTERS = ("A", "B")
LONGEST = 1000
"""Characters of a path, a prefix or a command."""

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}\Z")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")
_ADAPTER = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*\Z", re.ASCII)
_OURS = {"host", "content-length", "transfer-encoding", "connection"}
_SECRET_NAME = re.compile("auth|cookie|token|secret|passw|session|credential|signature|key", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(?i:bearer|basic|token)\s|(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{16,}")


@dataclass(frozen=True, slots=True)
class Word:
    """What a value must be.

    Attributes:
        says: how an error calls it.
        fits: whether a value is one.
        allowed: the only ones there are; empty where any will do.
        hidden: a value is never repeated.
        why: says more of a wrong value that is a text.
    """

    says: str
    fits: Callable[[object], bool]
    allowed: tuple[str, ...] = ()
    hidden: bool = False
    why: Callable[[str], str] | None = None

    def refusal(self, value: object) -> str:
        """What is wrong with a value, and what to give instead."""
        if self.why is not None and isinstance(value, str) and (said := self.why(value)):
            return said
        if self.allowed and isinstance(value, str):
            return f"it cannot be {quoted(value)}. {did_you_mean(value[:40], self.allowed)}"
        return f"give {self.says}." if self.hidden else f"it is {quoted(value)}; give {self.says}."


def one_of(*allowed: str) -> Word:
    """One of these texts."""
    return Word(f"one of {', '.join(allowed)}", lambda value: value in allowed, allowed)


def secret_in_header(name: str, value: object) -> str:
    """Why a header with this value may be a secret; empty where it looks like none."""
    if isinstance(value, str) and _SECRET_NAME.search(name):
        return "its name says that it holds a secret"
    return "it looks like a secret" if isinstance(value, str) and _SECRET_VALUE.search(value) else ""


def header_value(value: str) -> bool:
    """Whether a header can carry this text: printable, of ASCII, and not blank."""
    return 0 < len(value) <= LONGEST and value.isascii() and value.isprintable() and value == value.strip()


def wrong_path(path: str) -> str:
    """Why this is no path template; empty where it is one."""
    if not path.startswith("/") or path.startswith("//"):
        return "a path begins with one slash, and the host stands in base_url."
    if re.search(r"[^!-~]|[\\#]", path) or len(path) > LONGEST:
        return "a path is printable ASCII without blanks, # and \\, such as /cards/{id}/activation-data."
    if odd := [one for one in re.findall(r"\{[^{}]*\}|[{}]", path) if one != "{id}"]:
        return f"{quoted(odd[0])} stands for nothing. {did_you_mean(odd[0][:40], ['{id}'])}"
    dots = any(part.lower().replace("%2e", ".") in (".", "..") for part in re.split("[/?]", path))
    return "a path has no dot segments." if dots else ""


def _is_text(value: object) -> TypeGuard[str]:
    return form.TEXT.fits(value)


def _is_path(value: object) -> bool:
    return isinstance(value, str) and not wrong_path(value)


def _is_pointer(value: object) -> bool:
    try:
        return isinstance(value, str) and len(JsonPointer(value).parts) > 0
    except JsonPointerException:
        return False


def _is_number(value: object, lowest: float, highest: float) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isfinite(value) and lowest <= value <= highest  # type: ignore[arg-type,operator]  # `number` says


def _is_port(value: object) -> bool:
    return isinstance(value, int) and _is_number(value, 0, HIGHEST_PORT)


def _are_cards(value: object) -> bool:
    return isinstance(value, list) and bool(value) and form.TEXTS.fits(value) and all(map(_is_id, value))


def _is_id(value: str) -> bool:
    try:
        return bool(encode_id(value))
    except ConfigurationError:
        return False


def _are_platforms(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(one in LETTERS for one in value)


def _is_header(value: object) -> bool:
    return isinstance(value, str) and bool(_TOKEN.match(value)) and value.lower() not in _OURS


def _matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and bool(pattern.match(value))


def _why_no_url(value: str) -> str:
    return f"it {wrong(value)}. {ALLOWED}" if wrong(value) else ""


_SHORTEST_WAIT, _LONGEST_WAIT = 0.1, 3600.0
TEXT = Word(form.TEXT.says, _is_text)
TEXTS = Word(form.TEXTS.says, form.TEXTS.fits)
FLAG = Word(form.FLAG.says, form.FLAG.fits)
SEED = Word(form.SEED.says, form.SEED.fits)
SECONDS = Word(
    f"seconds from {_SHORTEST_WAIT} to {_LONGEST_WAIT:g}", lambda value: _is_number(value, _SHORTEST_WAIT, 3600.0)
)
BOUND = Word(
    f"seconds from {_SHORTEST_WAIT} to {WALLET_WAITS:g}, for which the wallet waits",
    lambda value: _is_number(value, _SHORTEST_WAIT, WALLET_WAITS),
)
_LONGEST_RECOVERY = 120.0
RECOVERY = Word(f"seconds from 0 to {_LONGEST_RECOVERY:g}", lambda value: _is_number(value, 0, _LONGEST_RECOVERY))
PORT = Word(f"a port from 0 to {HIGHEST_PORT}; 0 takes any free one", _is_port)
PROFILE = one_of(*PROFILES)
FAILURES = one_of(BY_STATUS, IN_BODY)
METHOD = one_of(*METHODS)
PLATFORMS = Word('a list of "A", "B" or both', _are_platforms, hidden=True)
CARDS = Word("a list of payment instrument ids, each once", _are_cards, hidden=True)
URL = Word(
    "an address in quotes", lambda value: isinstance(value, str) and not wrong(value), hidden=True, why=_why_no_url
)
PATH = Word("a path in quotes, such as /cards/{id}/activation-data", _is_path, why=wrong_path)
POINTER = Word('a JSON pointer such as "/cardId"', _is_pointer)
PLACE = Word(f'a JSON pointer such as "/sdkInput", or "{RAW}"', lambda value: value == RAW or _is_pointer(value))
ADAPTER = Word('a module and an object in it, such as "my_back_end:adapter"', _matches(_ADAPTER))
VARIABLE = Word('the name of an environment variable, such as "API_URL"', _matches(_VARIABLE), hidden=True)
PREFIX = Word('what stands before the value, at most 20 characters, such as "Bearer "',
              lambda value: isinstance(value, str) and value.isprintable() and value.isascii() and len(value) <= 20,  # noqa: PLR2004
              hidden=True)  # fmt: skip
HEADER = Word("name of a header that may be set", _is_header)
OPEN_HEADER = Word('printable text, or { env = "NAME" }',
                   lambda value: isinstance(value, str) and header_value(value), hidden=True)  # fmt: skip
COMMAND = Word("a command line in quotes", lambda value: isinstance(value, str) and bool(value.strip()), hidden=True)
