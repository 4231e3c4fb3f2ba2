"""Which layer of an opaque value is wrong: one ordered table of tests, one table of advice.

An sdkInput passes through several hands: text in JSON, base64 of bytes on platform B, and (field notes) a
JSON object inside. Each hand can add or remove one layer too many. The first test that holds names the layer.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LAYERS", "decode_strictly", "diagnose"]

LAYERS: Mapping[str, str] = {
    "not-text": "This is not text. Send the base64 text as a JSON string, not an object and not raw bytes.",
    "empty": "The value is empty. Treat that as a failure and ask the API again; never hand it to the SDK.",
    "quoted": "JSON's quotes still stand around the value. Parse the JSON and take the string itself.",
    "decoded-once-too-often": "Decoded data stands where base64 text belongs. Relay the string as it came.",
    "line-breaks": "The base64 text is wrapped into lines. Encode without line breaks.",
    "url-safe": "The url-safe alphabet (- and _) is used. Encode with the standard alphabet (+ and /).",
    "alphabet": "There are characters that base64 does not have. Look for blanks and percent escapes.",
    "padding": "The padding (=) is missing, too long or in the middle. The length is a multiple of four.",
    "pad-bits": "The last character carries bits that no encoder writes. Relay the text unchanged.",
    "encoded-twice": "The decoded bytes are base64 text again. Encode once only.",
    "not-json": "It decodes, but there is no JSON object inside. Check that this is the value the API sent.",
}

_STANDARD = re.compile(r"[A-Za-z0-9+/=]*\Z")
_URL_SAFE = re.compile(r"[A-Za-z0-9_=-]*\Z")
_PADDED = re.compile(r"[A-Za-z0-9+/]*={0,2}\Z")
_GROUP = 4  # characters of base64 that carry three bytes


def diagnose(value: object, *, expect_json: bool = False) -> str | None:
    """Name the layer that is wrong, or None when a strict base64 decoder takes the value.

    Args:
        value: what was found where the base64 text should stand; bytes are looked at as text.
        expect_json: also ask for a JSON object inside (field notes, section 2; the document does not say so).

    Returns:
        A key of `LAYERS`, or None.
    """
    text = _as_text(value)
    if text is None:
        return "not-text"
    tests = _TESTS + _FIELD_TESTS if expect_json else _TESTS
    return next((layer for layer, holds in tests if holds(text)), None)


def decode_strictly(text: str) -> bytes | None:
    """The bytes behind canonical base64 text, or None: encoding them must give the same text back (API-8)."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:  # binascii.Error is one, and so is a character outside ASCII
        return None
    return data if binascii.b2a_base64(data, newline=False).decode("ascii") == text else None


def json_object(data: str | bytes) -> dict[str, object] | None:
    """The JSON object in the data, or None; tolerant, for looking only."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _as_text(value: object) -> str | None:
    """The value as text; None when it is none (a number, binary data, half a surrogate pair)."""
    try:
        if isinstance(value, bytes):
            return value.decode("utf-8")
        return value if isinstance(value, str) and value.encode("utf-8") is not None else None
    except UnicodeError:
        return None


def _quoted(text: str) -> bool:
    bare = text.strip()
    return any(bare[:size] == bare[-size:] == quote for quote in ('"', "'", '\\"') for size in (len(quote),))


def _bad_padding(text: str) -> bool:
    return len(text) % _GROUP != 0 or not _PADDED.match(text) or text.endswith("===")


def _encoded_twice(text: str) -> bool:
    """Base64 of base64 of a JSON object: any other bytes may look like base64 by chance."""
    inner = _inner_base64(text)
    return inner is not None and json_object(inner) is not None


def _inner_base64(text: str) -> bytes | None:
    try:
        return decode_strictly((decode_strictly(text) or b"").decode("ascii")) or None
    except UnicodeError:
        return None


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("empty", lambda text: not text.strip()),
    ("quoted", _quoted),
    ("decoded-once-too-often", lambda text: json_object(text) is not None),
    ("line-breaks", lambda text: "\n" in text or "\r" in text or "\\n" in text),
    ("url-safe", lambda text: not _STANDARD.match(text) and _URL_SAFE.match(text) is not None),
    ("alphabet", lambda text: not _STANDARD.match(text)),
    ("padding", _bad_padding),
    ("pad-bits", lambda text: decode_strictly(text) is None),
    ("encoded-twice", _encoded_twice),
)
_FIELD_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("encoded-twice", lambda text: _inner_base64(text) is not None),
    ("not-json", lambda text: json_object(decode_strictly(text) or b"") is None),
)
