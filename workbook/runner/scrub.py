"""Keeps the API key out of everything that is written or printed."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from html import escape
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEY_VARIABLE: Final = "WORKBOOK_API_KEY"
SHORTEST_KEY: Final = 8
PLACEHOLDER: Final = "[key]"


class Scrubber:
    """Finds one key in a text, plain or encoded, and takes it out.

    A key of fewer than 8 characters is not looked for: it would be found in innocent text.
    """

    def __init__(self, key: str | None) -> None:
        self._forms = _forms(key) if key is not None and len(key) >= SHORTEST_KEY else ()

    def __repr__(self) -> str:
        return f"Scrubber({'a key' if self._forms else 'no key'})"

    @classmethod
    def of_environment(cls, environ: Mapping[str, str]) -> Scrubber:
        """The scrubber for the key that the environment holds, if any."""
        return cls(environ.get(KEY_VARIABLE))

    def found_in(self, text: str) -> bool:
        """Whether the key stands in this text, plain or encoded."""
        return any(form in text for form in self._forms)

    def clean(self, text: str) -> str:
        """The text with `[key]` in place of the key."""
        for form in self._forms:
            text = text.replace(form, PLACEHOLDER)
        return text


def _forms(key: str) -> tuple[str, ...]:
    return tuple(sorted(set(_spellings(key)) | set(_base64(key.encode())), key=lambda form: (-len(form), form)))


def _spellings(key: str) -> Iterator[str]:
    plain = {key, key.strip(), escape(key), quote(key, safe=""), repr(key)[1:-1], key.encode().hex()}
    for form in plain:
        once = {_json(form, ascii_only=ascii_only) for ascii_only in (True, False)}
        yield from {form} | once | {_json(again, ascii_only=True) for again in once}


def _json(text: str, *, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _base64(key: bytes) -> Iterator[str]:
    """The part of the key's base64 that is the same wherever the key stands in the encoded data."""
    for before in range(3):
        end = (before + len(key)) * 8 // 6
        start = -(-before * 8 // 6)
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(before) + key).decode()[start:end]
