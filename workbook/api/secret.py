"""The API key, wrapped: it is shown nowhere and scrubbed from whatever a peer sends back (REL-2)."""

from __future__ import annotations

import json
import logging
import re
from threading import Lock
from typing import NoReturn
from weakref import WeakSet

from workbook.errors import ConfigurationError

__all__ = ["MASK", "MISSING", "Secret", "check_key", "guard_logs"]

MASK = "[key]"
MISSING = "No API key is given. Set WORKBOOK_API_KEY or pass api_key."

# httpcore logs the peer's headers at DEBUG, and a peer can echo ours: these two loggers print them.
_CHATTY = ("httpcore.http11", "httpcore.connection")
_UNICODE_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_KINDS = (
    (re.compile(r"[\r\n]"), "a line break"),
    (re.compile(r"[ \t]"), "a blank"),
    (re.compile(r"[\x00-\x1f\x7f]"), "a control character"),
    (re.compile(r"[^\x00-\x7f]"), "a character outside ASCII"),
)


class Secret:
    """An API key that prints as a mask, cannot be pickled, and knows how to scrub itself from text.

    Building one never raises, so that no frame of a traceback has to hold a bad key in the open: see `check`.

    Args:
        value: the key; `check_key` says what is allowed.
    """

    __slots__ = ("__weakref__", "_forms", "_value", "_wrong")

    def __init__(self, value: object) -> None:
        self._wrong = _what_is_wrong(value)
        self._value = value if isinstance(value, str) and not self._wrong else ""
        self._forms = _escaped_forms(self._value) if self._value else ()
        with _lock:
            _live.add(self)

    def check(self) -> None:
        """Make sure that this is a key which a header can carry.

        Raises:
            ConfigurationError: says what kind of character stands where, never the key.
        """
        if self._wrong:
            raise ConfigurationError(self._wrong)

    @property
    def missing(self) -> bool:
        """Whether no key was given at all."""
        return self._wrong == MISSING

    def reveal(self) -> str:
        """The key itself, for the one place that puts it into a header."""
        return self._value

    def scrub(self, text: str) -> str:
        """The text with every spelling of the key replaced by `MASK`."""
        for form in self._forms:
            text = text.replace(form, MASK)
        return MASK if self._value and self._value in _unescape(text) else text

    def scrub_bytes(self, data: bytes) -> bytes:
        """The same for bytes; they stay as they came when the key is not in them."""
        text = data.decode("latin-1")
        scrubbed = self.scrub(text)
        return data if scrubbed == text else scrubbed.encode("latin-1")

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __reduce__(self) -> NoReturn:
        message = "an API key is not pickled: read it again from the environment where it is needed"
        raise TypeError(message)


class _KeyFilter(logging.Filter):
    """Scrubs every live key from a record before a handler sees it."""

    def filter(self, record: logging.LogRecord) -> bool:
        with _lock:
            live = list(_live)
        text = record.getMessage()
        for secret in live:
            text = secret.scrub(text)
        record.msg, record.args = text, None
        return True


_lock = Lock()
_live: WeakSet[Secret] = WeakSet()
_filter = _KeyFilter()


def guard_logs() -> None:
    """Let no key through the engine's own debug log (REL-2); calling it again changes nothing."""
    for name in _CHATTY:
        logging.getLogger(name).addFilter(_filter)


def check_key(key: object) -> str:
    """The key as it is, when a header can carry it: visible ASCII, 0x21 to 0x7e.

    Raises:
        ConfigurationError: says what kind of character stands where, never the key.
    """
    secret = Secret(key)
    del key  # a traceback shows a frame's variables
    secret.check()
    return secret.reveal()


def _what_is_wrong(key: object) -> str:
    """Why this cannot be a key, in words that do not repeat it; empty when it can."""
    if key is None or key == "":
        return MISSING
    if not isinstance(key, str):
        return f"api_key must be a string, not {type(key).__name__}."
    bad = next((place for place in enumerate(key, 1) if not "!" <= place[1] <= "~"), None)
    if bad is None:
        return ""
    kind = next(name for pattern, name in _KINDS if pattern.match(bad[1]))
    return f"api_key has {kind} at position {bad[0]}. Allowed: visible ASCII, no blanks."


def _escaped_forms(key: str) -> tuple[str, ...]:
    """The key, and how repr and JSON would write it, once and twice; the longest first."""
    forms, last = {key, key.replace("/", "\\/")}, {key}
    for _ in range(2):
        last = {escape(form)[1:-1] for form in last for escape in (repr, json.dumps)}
        forms |= last | {form.replace("/", "\\/") for form in last}
        forms |= {form.replace("'", "\\'") for form in last}
    return tuple(sorted(forms, key=lambda form: (-len(form), form)))


def _unescape(text: str) -> str:
    """The text with JSON's numeric escapes resolved, to find a key that hides in them."""
    return _UNICODE_ESCAPE.sub(lambda match: chr(int(match[1], 16)), text) if "\\u" in text else text
