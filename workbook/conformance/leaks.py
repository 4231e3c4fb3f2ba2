"""Finds what no report may hold: keys, session secrets, canaries and opaque data, plain and in every usual encoding.

Long values are looked for in pieces, so that a part of one is found as well. What is short, or could stand in innocent
text, is not looked for: nobody could write a report about it.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum, unique
from html import escape
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote

from workbook.api.layers import decode_strictly
from workbook.errors import LeakError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

ANCHOR = 8
"""Characters by which a form is looked up; as many characters of a secret are the fewest that are looked for."""
SHORTEST_WORD = 5
"""Letters of a word that is looked for in secrets; shorter ones stand in any long value by chance."""
VARIETY = 4
"""Different characters that a piece has at least: a line of dashes gives nothing away."""
CANARY = re.compile(r"canary-[0-9a-f]{18}")
MEDIA_TYPE = re.compile(r"[a-z]+/[a-z0-9.+*-]+(;.*)?\Z", re.IGNORECASE)
"""A header that a configuration adds may say this; it is no secret."""

MARKDOWN = re.compile(
    r"""
      [\\`*|~$]                               # wherever they stand
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])      # within a word it is no emphasis
    | <(?=[A-Za-z/!?])                          # a tag, or an address
    | \](?=[(\[] | \Z)  | \[(?=\^)             # the end of a link's text, a footnote
    | &(?=\#?\w+;) | @(?=\w) | \#(?=\d | \#*\Z) # an entity, a person, an issue; the end of a heading
    | (?<![\w.]):(?=[\w+-]+:)                 # an emoji
    | :(?=//(?!(?:127\.0\.0\.1|localhost)\b))   # an address that becomes a link; one of this machine may
    """,
    re.VERBOSE,
)
"""What would be markup within a line of Markdown, GitHub's included, without a backslash before it."""

PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


@unique
class Kind(StrEnum):
    """What was found."""

    KEY = "the API key"
    SESSION = "a session secret"
    CANARY = "a canary"
    OPAQUE = "opaque data"


PIECES: Mapping[Kind, tuple[int, int]] = {
    Kind.KEY: (16, 1),
    Kind.SESSION: (16, 1),
    Kind.CANARY: (25, 1),
    Kind.OPAQUE: (16, 9),
}
"""How long a piece is, and how far the next one is from it, in characters: of opaque data 24 in a row are found."""
SHORTEST: Mapping[Kind, int] = {Kind.KEY: ANCHOR, Kind.SESSION: ANCHOR, Kind.CANARY: ANCHOR, Kind.OPAQUE: 16}


@dataclass(frozen=True, slots=True)
class Leak:
    """What was found, never the value itself: its kind, and the form in which it stood."""

    kind: Kind
    form: str


class Secrets:
    """Knows secrets by their kind, and finds them.

    Args:
        known: what is looked for in every form.
        many: what is looked for in few forms, because there may be very much of it.
    """

    def __init__(self, known: Iterable[tuple[Kind, str]] = (), many: Iterable[tuple[Kind, str]] = ()) -> None:
        known, many = set(known), set(many)
        self._whole = {value for _kind, value in known | many}
        self._forms: dict[str, dict[str, Leak]] = defaultdict(dict)
        for kind, piece in _sorted({(sort, piece) for sort, value in known for piece in _pieces(sort, value)}):
            for form, text in _forms(piece):
                self._forms[text[:ANCHOR]].setdefault(text, Leak(kind, form))
        for kind, piece in _sorted({(sort, piece) for sort, value in many for piece in _pieces(sort, value)}):
            for form in FEW_FORMS[kind]:
                for text in FORMS[form](piece):
                    self._forms[text[:ANCHOR]].setdefault(text, Leak(kind, form))

    def __repr__(self) -> str:
        return "Secrets(some)" if self._forms else "Secrets(none)"

    def found_in(self, text: str) -> Leak | None:
        """The first secret that stands in this text, plain or encoded; None where none does."""
        forms = self._forms
        for at in range(len(text) - ANCHOR + 1):
            if (here := text[at : at + ANCHOR]) in forms:
                for form, leak in forms[here].items():
                    if text.startswith(form, at):
                        return leak
        return None

    def has_part(self, word: str) -> bool:
        """Whether a word of some length stands in a secret, or a part of it as long as an anchor."""
        parts = {word[at : at + ANCHOR] for at in range(max(1, len(word) - ANCHOR + 1))}
        return len(word) >= SHORTEST_WORD and any(part in one for one in self._whole for part in parts)

    def cleaned(self, text: str) -> str:
        """The text, or what stood in it instead: a text with a secret in it is not shown in part either."""
        leak = self.found_in(text)
        return text if leak is None else f"[{leak.kind} stood here, {len(text)} characters]"

    def check(self, texts: Mapping[str, str]) -> None:
        """Nothing of a secret stands in these texts.

        Raises:
            LeakError: names the text, the kind of secret and its form, never the secret.
        """
        for name, text in texts.items():
            if (leak := self.found_in(text)) is not None:
                raise LeakError(
                    f"No report was written: {leak.kind} stands in {name} ({leak.form}). "
                    "Take it out of the configuration's names and comments; if it is not there, tell us."
                )


def canaries_in(value: str) -> set[str]:
    """The canaries in an opaque value, also where it is base64."""
    inner = decode_strictly(value) or b""
    return {*CANARY.findall(value), *CANARY.findall(inner.decode("latin-1"))}


def session_secrets(values: Iterable[str]) -> Iterator[str]:
    """The secrets in values of headers: each value, and the parts of it that may travel without the rest."""
    for value in values:
        if not MEDIA_TYPE.match(value):
            parts = re.split(r"[\s;,]+", value)
            yield from {value, *parts, *(part.partition("=")[2] for part in parts)}


def _sorted(pieces: Iterable[tuple[Kind, str]]) -> list[tuple[Kind, str]]:
    return sorted(pieces, key=lambda one: (list(Kind).index(one[0]), one[1]))


def _pieces(kind: Kind, value: str) -> Iterator[str]:
    if len(value) < SHORTEST[kind]:
        return
    length, stride = PIECES[kind]
    starts = {*range(0, max(1, len(value) - length + 1), stride), max(0, len(value) - length)}
    for piece in {value[at : at + length] for at in starts}:
        if len(set(piece)) >= VARIETY:
            yield piece


def _json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield from (once, once.replace("/", "\\/"))


def _html(text: str) -> Iterator[str]:
    yield from (escape(text), escape(text, quote=False))
    yield "".join(f"&#{ord(one)};" for one in text)
    yield "".join(f"&#x{ord(one):x};" for one in text)


def _percent(text: str) -> Iterator[str]:
    data = text.encode("utf-8", "surrogatepass")
    for told in (quote(data, safe=""), quote(data), quote(data, safe="").replace("%20", "+")):
        yield from (told, re.sub("%..", lambda found: found[0].lower(), told))
    yield "".join(f"%{octet:02X}" for octet in data)


def _base64(text: str) -> Iterator[str]:
    """The part of a text's base64 that is the same wherever it stands in the encoded data."""
    data = text.encode("utf-8", "surrogatepass")
    for before in range(3):
        start, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            yield encode(bytes(before) + data).decode()[start:end]


def _hexadecimal(text: str) -> Iterator[str]:
    told = text.encode("utf-8", "surrogatepass").hex()
    yield from (told, told.upper())


def _markdown(text: str) -> Iterator[str]:
    for marked in (MARKDOWN, PUNCTUATION):
        yield marked.sub(r"\\\g<0>", text)


FORMS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "plain": lambda text: (text,),
    "with JSON escapes": _json,
    "with HTML escapes": _html,
    "percent-encoded": _percent,
    "as base64": _base64,
    "as hexadecimal": _hexadecimal,
    "with Markdown escapes": _markdown,
    "as Python writes it": lambda text: (repr(text)[1:-1], ascii(text)[1:-1]),
}
"""Each form in which a secret is looked for, and how a piece of it is written in it."""
FEW_FORMS: Mapping[Kind, tuple[str, ...]] = {
    Kind.KEY: tuple(FORMS),
    Kind.SESSION: tuple(FORMS),
    Kind.CANARY: ("plain", "as base64"),
    Kind.OPAQUE: ("plain",),
}
"""The forms of what is looked for in few."""
OUTER: tuple[Callable[[str], str], ...] = (
    lambda text: text,
    lambda text: json.dumps(text)[1:-1],
    escape,
    lambda text: quote(text, safe=""),
    lambda text: next(_markdown(text)),
)
"""What a report, or what it shows, may put around another form."""


def _forms(piece: str) -> Iterator[tuple[str, str]]:
    """Every spelling of a piece, each once, with the name of the inner form."""
    told: dict[str, str] = {}
    spelt = [(name, text) for name, spellings in FORMS.items() for text in {*spellings(piece)}]
    for outer, (name, text) in product(OUTER, spelt):
        told.setdefault(text if text.isalnum() else outer(text), name)
    for text, name in told.items():
        yield name, text


NO_SECRETS = Secrets()
