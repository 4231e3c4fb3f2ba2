"""What a secret looks like: every spelling of a key, where it is searched for, and how it is taken out (REL-2, REL-3).

`ENCODINGS` is the only list of spellings. The client, the runner, the journal, the proxy and conform all search through
`Secrets`, so a new encoding is added in one row. Only conform's search for opaque data in a back end's logs reads the
logs' encodings by itself (`conformance/cases/secrecy.py`), because it looks for pieces of values that no list holds.

A secret is found by its grams: short substrings, taken from each spelling at such a distance that every run which is
long enough to matter contains one. Each position of a text is looked up once in a dictionary of all grams; a hit is
then extended in both directions. So a part of a long secret is found as well, and a thousand secrets cost no more than
one.

Limit: an encoding that is not in the list is not recognised, for instance a reversed or an encrypted key.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cached_property
from itertools import filterfalse
from threading import Lock
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import quote, unquote
from weakref import WeakValueDictionary

from workbook.errors import ConfigurationError, LeakError

KEY_VARIABLE: Final = "WORKBOOK_API_KEY"
MASK: Final = "[key]"
"""Replaces a key wherever one was found."""
MISSING: Final = "No API key is given. Set WORKBOOK_API_KEY or pass api_key."

SHORTEST: Final = 8
"""Characters of the shortest secret that is searched for in every encoding: a shorter one occurs in innocent text."""
SHORTEST_WORD: Final = 5
"""Letters of a word that is compared with secrets; a shorter one occurs in any long value by chance."""
VARIETY: Final = 4
"""The fewest different characters of a part that counts: a line of dashes gives nothing away."""

SECRET_HEADERS: Final = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers whose values are never kept: the document's key, and the other published ways to authenticate (openapi)."""
SECRET_PARAMETERS: Final = frozenset({"clientkey", "x-api-key", "api_key", "apikey", "access_token"})
"""Parameters of a query whose values are never kept: `clientKey` is a published way to send the key (openapi)."""

MARKDOWN: Final = re.compile(
    r"""
      [\\`*|~$]                               # anywhere
    | (?<![A-Za-z0-9])_ | _(?![A-Za-z0-9])      # within a word it is no emphasis
    | <(?=[A-Za-z/!?])                          # a tag, or an address
    | \](?=[(\[] | \Z)  | \[(?=\^)             # the end of a link's text, a footnote
    | &(?=\#?\w+;) | @(?=\w) | \#(?=\d | \#*\Z) # an entity, a person, an issue; the end of a heading
    | (?<![\w.]):(?=[\w+-]+:)                 # an emoji
    | :(?=//(?!(?:127\.0\.0\.1|localhost)\b))   # an address that becomes a link; not one of this machine
    """,
    re.VERBOSE,
)
"""What would be markup within a line of Markdown, GitHub's included, without a backslash before it."""
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
_HTML_SENSITIVE = re.compile(r"[\"&'+<>`]|[^ -~]")
_NEEDLE = 12  # characters; a longer one takes longer to search for
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]+")
_CANARY = re.compile(r"canary-[0-9a-f]{18}")
_SECRET_NAME = re.compile("auth|cookie|token|secret|passw|session|credential|signature|key", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"(?i:bearer|basic|token)\s|(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{16,}")
_WEAK = re.compile(r"([A-Za-z]{0,15}|[0-9]{1,3}(\.[0-9]{1,3})+(:[0-9]+)?|[a-z]+/[a-z0-9.+*-]+(;.*)?)\Z", re.IGNORECASE)


@unique
class SecretKind(StrEnum):
    """What was found, in the words of an error."""

    KEY = "the API key"
    SESSION = "a session secret"
    CANARY = "a canary"
    OPAQUE = "opaque data"


_RANK = {kind: rank for rank, kind in enumerate(SecretKind)}
_PART: Mapping[SecretKind, int] = {
    SecretKind.KEY: 12,
    SecretKind.SESSION: 16,
    SecretKind.CANARY: 25,
    SecretKind.OPAQUE: 16,
}
"""How many characters in a row of a long secret count as the secret."""
_SHORTEST: Mapping[SecretKind, int] = dict.fromkeys(SecretKind, SHORTEST) | {SecretKind.OPAQUE: 16}


class Escapes(NamedTuple):
    """How to read the escapes of an encoding whose encoder chooses which characters it escapes."""

    marker: str  # is in each escape
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], str]


class Encoding(NamedTuple):
    """One way to write a secret: the usual spellings of a whole text, and how to read single escapes."""

    spell: Callable[[str], Iterable[str]]
    escapes: Escapes | None = None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Numeric(dict[int, str]):
    """A table for `str.translate` that writes each character as its number, in one shape."""

    def __init__(self, shape: str) -> None:
        super().__init__()
        self._shape = shape

    def __missing__(self, number: int) -> str:
        self[number] = self._shape.format(number)
        return self[number]


_AS_JSON = (_Numeric("\\u{:04x}"), _Numeric("\\u{:04X}"))
_AS_ENTITIES = (_Numeric("&#{};"), _Numeric("&#x{:x};"), _Numeric("&#x{:X};"))
_AS_PERCENTS = (_Numeric("%{:02X}"), _Numeric("%{:02x}"))


def _json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield from (once, once.replace("/", "\\/"))
    for numbers in _AS_JSON:
        sensitive = {number: numbers[number] for number in map(ord, _HTML_SENSITIVE.findall(text))}
        yield from (text.translate(sensitive), text.translate(numbers))  # Go and .NET escape what is markup in HTML


def _html(text: str) -> Iterator[str]:
    yield from (html.escape(text), html.escape(text, quote=False))
    yield from (text.translate(numbers) for numbers in _AS_ENTITIES)


def _percent(text: str) -> Iterator[str]:
    data = _bytes(text)
    for spelling in (quote(data, safe=""), quote(data), quote(data, safe="!'()*"), quote(data).replace("%20", "+")):
        yield from (spelling, re.sub("%..", lambda match: match[0].lower(), spelling))
    yield from (data.decode("latin-1").translate(numbers) for numbers in _AS_PERCENTS)


def _base64(text: str) -> Iterator[str]:
    """The characters of a text's base64 that are the same wherever the text is in the encoded data.

    Three bytes become four characters, so there are three alignments; the characters at both ends also carry bits of
    the neighbours and are left out.
    """
    data = _bytes(text)
    for before in range(3):
        start, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        standard = b64encode(bytes(before) + data).decode()[start:end]
        yield from (standard, standard.replace("+", "-").replace("/", "_"))


# JSON's escapes; Python's and Markdown's backslashes, too.
_BACKSLASHES = Escapes(
    "\\",
    re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))"),
    lambda match: chr(int(match[1], 16)) if match[1] else match[2],
)
# The same where that text was written as JSON or by `repr` once more.
_DOUBLED = Escapes(
    "\\\\",
    re.compile(r"\\\\(?:u([0-9a-fA-F]{4})|\\(.))"),
    lambda match: chr(int(match[1], 16)) if match[1] else match[2],
)
_ENTITIES = Escapes("&", re.compile(r"&#?\w{1,8};"), lambda match: html.unescape(match[0]))
_DOUBLED_ENTITIES = Escapes("&amp;", re.compile(r"&amp;(#?\w{1,8};)"), lambda match: html.unescape(f"&{match[1]}"))
_PERCENTS = Escapes("%", re.compile(r"%([0-9a-fA-F]{2})"), lambda match: chr(int(match[1], 16)))

ENCODINGS: Mapping[str, Encoding] = {
    "plain": Encoding(lambda text: (text,)),
    "with JSON escapes": Encoding(_json, _BACKSLASHES),
    "with HTML escapes": Encoding(_html, _ENTITIES),
    "percent-encoded": Encoding(_percent, _PERCENTS),
    "as base64": Encoding(_base64),
    "as hexadecimal": Encoding(lambda text: (_bytes(text).hex(), _bytes(text).hex().upper())),
    "with Markdown escapes": Encoding(lambda text: [mark.sub(r"\\\g<0>", text) for mark in (MARKDOWN, _PUNCTUATION)]),
    "as Python writes it": Encoding(lambda text: (repr(text)[1:-1], ascii(text)[1:-1])),
    "as UTF-8 read as Latin-1": Encoding(lambda text: () if text.isascii() else (_bytes(text).decode("latin-1"),)),
}
"""Every encoding in which a secret is searched for: the one place to add another."""
_ESCAPES = (*(encoding.escapes for encoding in ENCODINGS.values() if encoding.escapes), _DOUBLED, _DOUBLED_ENTITIES)
_OF_SHORT = ("plain", "with JSON escapes", "with HTML escapes", "as Python writes it")
"""The encodings in which a secret that is shorter than `SHORTEST` is searched for."""
_FEW: Mapping[SecretKind, tuple[str, ...]] = {
    SecretKind.KEY: tuple(ENCODINGS),
    SecretKind.SESSION: tuple(ENCODINGS),
    SecretKind.CANARY: ("plain", "as base64"),
    SecretKind.OPAQUE: ("plain",),
}
"""The encodings in which a secret is searched for where there may be very many of its kind."""


LONGEST_ENCODED = 4096
"""Characters of a secret that are searched for in other encodings than plain.

There are some sixty spellings, and a megabyte of opaque data in each would take a minute. Single escapes are read
before the search, so only base64 or hexadecimal of what lies beyond this length is missed.
"""


@dataclass(frozen=True, slots=True)
class Leak:
    """What was found, never the value itself.

    Attributes:
        kind: what it is.
        form: how it was written, a name in `ENCODINGS`.
    """

    kind: SecretKind
    form: str


class _Spelling(NamedTuple):
    """One secret in one encoding."""

    text: str
    value: str
    least: int  # characters of `text` in a row that count as the secret
    leak: Leak


class _Span(NamedTuple):
    begin: int
    end: int
    leak: Leak


class Secrets:
    """Secrets of several kinds; finds them in a text and takes them out.

    Building one costs nothing: the spellings are made when the first text is looked at.

    Args:
        known: what is searched for in every encoding.
        many: what is searched for in few encodings, because there may be very much of it.
        shortest_key: characters; a key that is shorter is ignored.
        part_of_key: how many characters in a row of a longer key count as the key.
    """

    def __init__(
        self,
        known: Iterable[tuple[SecretKind, str]] = (),
        many: Iterable[tuple[SecretKind, str]] = (),
        *,
        shortest_key: int = SHORTEST,
        part_of_key: int = _PART[SecretKind.KEY],
    ) -> None:
        self._part = {**_PART, SecretKind.KEY: part_of_key}
        least = {**_SHORTEST, SecretKind.KEY: shortest_key}
        searched = [
            (kind, value, tuple(ENCODINGS) if is_known else _FEW[kind])
            for is_known, secrets in ((True, set(known)), (False, set(many)))
            for kind, value in sorted(secrets, key=lambda secret: (_RANK[secret[0]], secret[1]))
        ]
        self._met: dict[str, list[tuple[_Spelling, int]]] = {}
        self._values = frozenset(value for _kind, value, _encodings in searched)
        self._searched = [
            (kind, value, encodings if len(value) >= SHORTEST else _OF_SHORT)
            for kind, value, encodings in searched
            if len(value) >= max(1, least[kind]) and (len(set(value)) >= VARIETY or kind is SecretKind.KEY)
        ]

    @classmethod
    def of_keys(cls, keys: Iterable[str], *, shortest: int = SHORTEST, part: int = _PART[SecretKind.KEY]) -> Secrets:
        """API keys, in every encoding; `shortest` and `part` in characters."""
        return cls([(SecretKind.KEY, key) for key in keys], shortest_key=shortest, part_of_key=part)

    @classmethod
    def of_environment(cls, environ: Mapping[str, str]) -> Secrets:
        """The key in WORKBOOK_API_KEY, if there is one of at least eight characters."""
        return cls.of_keys(filter(None, [environ.get(KEY_VARIABLE)]))

    def __repr__(self) -> str:
        return f"Secrets({'some' if self._searched else 'none'})"

    def __bool__(self) -> bool:
        return bool(self._searched)

    @cached_property
    def _spellings(self) -> list[_Spelling]:
        """Each spelling once, under the first name that it has."""
        spellings: dict[str, _Spelling] = {}

        def add(text: str, value: str, leak: Leak) -> None:
            part = self._part[leak.kind]
            least = len(text) if len(value) <= part else -(-part * len(text) // len(value))
            spellings.setdefault(text, _Spelling(text, value, least, leak))

        for kind, value, encodings in self._searched:
            for form in encodings:
                part = value if form == "plain" else value[:LONGEST_ENCODED]
                for text in filter(None, ENCODINGS[form].spell(part)):
                    add(text, part, Leak(kind, form))
        for spelling in [*spellings.values()]:  # what JSON and Python's repr make of each
            if "\\" in spelling.text or '"' in spelling.text or "'" in spelling.text:
                for escaped in (json.dumps(spelling.text), repr(spelling.text)):
                    add(escaped[1:-1], spelling.value, spelling.leak)
        return list(spellings.values())

    @cached_property
    def _size(self) -> int:
        """Characters of a gram."""
        return min((SHORTEST, *(spelling.least for spelling in self._spellings)))

    @cached_property
    def _grams(self) -> set[str]:
        """Every gram. Where it comes from is found out only when a text has it: see `_places`."""
        # Every run of `least` characters holds a whole gram, wherever it begins, if one begins at every
        # `least - size + 1` characters: the next gram then begins at most `least - size` characters into the run.
        grams, size = set[str](), self._size
        for spelling in self._spellings:
            text, last = spelling.text, len(spelling.text) - size
            grams.update([text[at : at + size] for at in range(0, last + 1, spelling.least - size + 1)])
            grams.add(text[last:])
        return grams

    @cached_property
    def _runs(self) -> re.Pattern[str]:
        """What may hold a gram: a run of the characters that grams are made of. Markup and prose are mostly others."""
        alphabet = "".join(sorted(set().union(*self._grams)))
        return re.compile(f"[{re.escape(alphabet)}]{{{self._size},}}")

    def _places(self, gram: str) -> list[tuple[_Spelling, int]]:
        """The spellings that contain a gram, and where in them it begins.

        Hardly any text has a gram, and there may be a million of them: an index of places would cost more than a search
        for the few that are met.
        """
        if gram not in self._met:
            self._met[gram] = [
                (spelling, at)
                for spelling in self._spellings
                if gram in spelling.text
                for step in [spelling.least - self._size + 1]
                for at in {*range(0, len(spelling.text) - self._size + 1, step), len(spelling.text) - self._size}
                if spelling.text.startswith(gram, at)
            ]
        return self._met[gram]

    @cached_property
    def _needles(self) -> tuple[str, ...]:
        """A few short texts: every whole spelling, and every long part of a key, contains one.

        Most spellings leave unreserved characters alone, so the longest run of those serves for many. Searching for
        these with `in` is the fastest way to see that a text holds no whole secret.
        """
        runs = (max(_UNRESERVED.findall(value) or [""], key=len) for _kind, value, _encodings in self._searched)
        # The last characters: the simulator's keys begin like its instruments' ids, which every text has.
        needles = dict.fromkeys(run[-_NEEDLE:] for run in runs if len(run) >= SHORTEST)
        for spelling in self._spellings:
            if not any(needle in spelling.text for needle in needles):
                needles[spelling.text[-_NEEDLE:]] = None
            if spelling.leak == Leak(SecretKind.KEY, "plain"):
                step = spelling.least - self._size + 1
                parts = (spelling.text[at : at + self._size] for at in range(0, len(spelling.text), step))
                # not its words: the simulator's keys begin like its instruments' ids, which every text has
                needles |= dict.fromkeys(part for part in parts if len(part) == self._size and not part.isalpha())
        return tuple(needles)

    def found_in(self, text: str) -> Leak | None:
        """The first secret in this text, in any encoding; None where there is none."""
        if not self._searched:
            return None
        readings = (text, *(_lines_read(text, escapes) for escapes in _ESCAPES if escapes.marker in text))
        return next((span.leak for reading in readings for span in self._spans(reading)), None)

    def may_be_in(self, text: str) -> bool:
        """False if the text surely holds no secret or long part of a key: a quick test before the real search."""
        if not self._searched:
            return False
        for needle in self._needles:  # any() takes longer than the search
            if needle in text:
                return True
        return any(
            needle in reading
            for escapes in _ESCAPES
            if escapes.marker in text
            for reading in [_lines_read(text, escapes)]
            for needle in self._needles
        )

    def scrub(self, text: str) -> str:
        """The text with `MASK` in place of every secret and of every long part of one."""
        if not self._searched:
            return text
        spans = [(span.begin, span.end) for span in self._spans(text)]
        for escapes in _ESCAPES:
            if escapes.marker in text and (found := [*self._spans(_read(text, escapes))]):
                starts = _starts(text, escapes)
                spans += ((starts[span.begin], starts[span.end]) for span in found)
        pieces, end = list[str](), 0
        for begin, last in sorted(spans):
            if begin >= end:
                pieces += (text[end:begin], MASK)
            end = max(end, last)
        return "".join([*pieces, text[end:]])

    def scrub_bytes(self, data: bytes) -> bytes:
        """The same for bytes; the very same object where no secret is in them."""
        text = data.decode("latin-1")
        scrubbed = self.scrub(text)
        return data if scrubbed == text else scrubbed.encode("latin-1")

    def has_part(self, word: str) -> bool:
        """Whether a secret holds this word, or any eight characters in a row of it."""
        parts = {word[at : at + SHORTEST] for at in range(max(1, len(word) - SHORTEST + 1))}
        return len(word) >= SHORTEST_WORD and any(part in value for value in self._values for part in parts)

    def cleaned(self, text: str) -> str:
        """The text, or what kind of secret was in it: a text with a secret in it is not shown in part either."""
        leak = self.found_in(text)
        return text if leak is None else f"[{leak.kind} was here, {len(text)} characters]"

    def check(self, texts: Mapping[str, str]) -> None:
        """Make sure that these texts, by their names, hold no secret.

        Raises:
            LeakError: names the text, the kind of secret and its encoding, never the secret.
        """
        for name, text in texts.items():
            if (leak := self.found_in(text)) is not None:
                raise LeakError(
                    f"No report was written: {name} would contain {leak.kind} ({leak.form}). "
                    "Remove it from the configuration's names and comments; if it is not there, tell us."
                )

    def _spans(self, text: str) -> Iterator[_Span]:
        """Every secret in exactly this text, from left to right; spans of several spellings may overlap."""
        grams, size, past = self._grams, self._size, 0
        runs = (range(run.start(), run.end() - size + 1) for run in self._runs.finditer(text))
        for at in [at for run in runs for at in run if text[at : at + size] in grams]:
            if at >= past:
                spans = [
                    span
                    for spelling, offset in self._places(text[at : at + size])
                    if (span := _extended(text, at, spelling, offset))
                ]
                if spans:
                    longest = max(spans, key=lambda span: span.end - span.begin)
                    yield longest
                    past = max(at, longest.end - size) + 1


def _extended(text: str, at: int, spelling: _Spelling, offset: int) -> _Span | None:
    """The longest run around this gram that the text and the spelling share; None where it is too short to matter."""
    whole, begin, first = spelling.text, at, offset
    while begin > 0 and first > 0 and text[begin - 1] == whole[first - 1]:
        begin, first = begin - 1, first - 1
    end, last, most = at, offset, at + min(len(text) - at, len(whole) - offset)
    while end < most and text[end] == whole[last]:
        end, last = end + 1, last + 1
    if end - begin < spelling.least:
        return None
    value, scale = spelling.value, len(spelling.value) / len(whole)
    plain = value[int(first * scale) : int(last * scale) + 1]
    if len(set(plain)) < VARIETY and len(plain) < len(value):
        return None
    return _Span(begin, end, spelling.leak)


def _read(text: str, escapes: Escapes) -> str:
    """The text with these escapes replaced by what they stand for."""
    return escapes.pattern.sub(escapes.read, text)


def _lines_read(text: str, escapes: Escapes) -> str:
    """The same for the lines that have an escape; the others need no second look."""
    return _read("\n".join([line for line in text.splitlines() if escapes.marker in line]), escapes)


def _starts(text: str, escapes: Escapes) -> list[int]:
    """For each character of `_read`, and for its end, the position in the original text where it begins."""
    starts, end = list[int](), 0
    for match in escapes.pattern.finditer(text):
        starts += range(end, match.start())
        starts += [match.start()] * len(escapes.read(match))
        end = match.end()
    return [*starts, *range(end, len(text) + 1)]


NO_SECRETS: Final = Secrets()


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A JSON value with every text in it changed, names of objects included."""
    match value:
        case dict():
            return {change(name): each_text(inner, change) for name, inner in value.items()}
        case list():
            return [each_text(inner, change) for inner in value]
        case str():
            return change(value)
        case _:
            return value


class Secret:
    """The client's API key: prints as a mask, cannot be pickled, and scrubs itself from text.

    Building one never raises, so that no frame of a traceback has to hold a bad key in the open: see `check`.

    Args:
        value: the key; allowed is visible ASCII, 0x21 to 0x7e.
    """

    __slots__ = ("_value", "_wrong", "scrub", "scrub_bytes")

    def __init__(self, value: object) -> None:
        self._wrong = _what_is_wrong(value)
        self._value = value if isinstance(value, str) and not self._wrong else ""
        with _lock:
            # A lesson makes hundreds of clients with one key: they share one search.
            search = _live.setdefault(self._value, Secrets.of_keys(filter(None, [self._value]), shortest=1))
        self.scrub, self.scrub_bytes = search.scrub, search.scrub_bytes

    def check(self) -> None:
        """Make sure that this is a key which a header can carry.

        Raises:
            ConfigurationError: names the kind of character and its position, never the key.
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

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __reduce__(self) -> NoReturn:
        message = "an API key is not pickled: read it again from the environment where it is needed"
        raise TypeError(message)


_KINDS_OF_CHARACTERS = (
    (re.compile(r"[\r\n]"), "a line break"),
    (re.compile(r"[ \t]"), "a blank"),
    (re.compile(r"[\x00-\x1f\x7f]"), "a control character"),
    (re.compile(r"[^\x00-\x7f]"), "a character outside ASCII"),
)


def _what_is_wrong(key: object) -> str:
    """Why this cannot be a key, in words that do not repeat it; empty when it can."""
    if key is None or key == "":
        return MISSING
    if not isinstance(key, str):
        return f"api_key must be a string, not {type(key).__name__}."
    bad = next(((at, character) for at, character in enumerate(key, 1) if not "!" <= character <= "~"), None)
    if bad is None:
        return ""
    kind = next(name for pattern, name in _KINDS_OF_CHARACTERS if pattern.match(bad[1]))
    return f"api_key has {kind} at position {bad[0]}. Allowed: visible ASCII, no blanks."


_lock = Lock()
_live: WeakValueDictionary[str, Secrets] = WeakValueDictionary()
"""The search for each key that some `Secret` holds, by key; it is forgotten with the last of them."""


def without_live_keys(text: str) -> str:
    """The text without the key of any client that is in use in this process."""
    with _lock:
        live = list(_live.values())
    for search in live:
        text = search.scrub(text)
    return text


# Where secrets come from.


def secrets_in_request(headers: Iterable[tuple[str, str]], target: str = "") -> Iterator[str]:
    """Every secret that a request sends in one of the published ways (openapi).

    That is the value of a secret header, the same without `Bearer` or another scheme before it, the two parts of basic
    authentication, and the value of a secret query parameter, as it is and percent-decoded.
    """
    for name, value in headers:
        if name.lower() in SECRET_HEADERS:
            whole = value.strip(" \t")  # what HTTP strips; a key may end in any other blank
            word = whole.rpartition(" ")[2]
            yield from (whole, word)
            if whole[:6].lower() == "basic ":
                yield from _basic(word)
    for pair in target.partition("?")[2].split("&") if "?" in target else ():
        name, _mark, value = pair.partition("=")
        if unquote(name).lower() in SECRET_PARAMETERS:
            yield from (value, unquote(value))


def _basic(word: str) -> list[str]:
    """User and password of HTTP basic authentication; nothing where the word is not that."""
    try:
        return [part for part in b64decode(word, validate=True).decode().split(":") if part.isprintable()]
    except ValueError:  # not base64, or not UTF-8
        return []


class FromEnvironment(str):
    """A header's value that an environment variable holds: a secret, whatever it looks like."""

    __slots__ = ()


def suspect_header(name: str, value: str) -> str:
    """Why a header with this value may be a secret; empty where it looks harmless."""
    if _SECRET_NAME.search(name):
        return "its name says that it holds a secret"
    return "it looks like a secret" if _SECRET_VALUE.search(value) else ""


def secret_values(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The values that are secrets: those from the environment, and those that look like one.

    Every other value is public: anybody can read it in the configuration. If a report had to hide a public value, such
    as `platform` or `127.0.0.1`, no report could be written.
    """
    return (value for name, value in headers if isinstance(value, FromEnvironment) or suspect_header(name, value))


def is_weak(value: str) -> bool:
    """Whether a value is a plain word or an address: any report contains such text without giving a secret away."""
    return _WEAK.match(value) is not None


def session_secrets(values: Iterable[str]) -> Iterator[str]:
    """The secrets in values of headers: each value, and the parts of it that may travel without the rest."""
    for value in filterfalse(is_weak, values):
        parts = re.split(r"[\s;,]+", value)
        every = {value, *parts, *(part.partition("=")[2] for part in parts)}
        yield from (part for part in every if not is_weak(part))


def canaries_in(value: str) -> set[str]:
    """The canaries in an opaque value, also where it is base64."""
    try:
        inner = b64decode(value, validate=True).decode("latin-1")
    except ValueError:
        inner = ""
    return {*_CANARY.findall(value), *_CANARY.findall(inner)}
