"""What a secret looks like: every spelling of a key, where it is searched for, and how it is taken out (REL-2, REL-3).

`SECRET_ENCODINGS` is the only list of spellings. The client, the runner, the journal, the proxy and conform all search
through `Secrets`, so a new encoding is added in one row. Only conform's search for opaque data in a back end's logs
reads the logs' encodings by itself (`tools/conform/back_end/cases/privacy.py`), because it looks for pieces of values
that are in no list.

A secret is found by its grams: short substrings of each spelling. Every run that is long enough to matter contains one
that is looked up in the set of all grams; a hit is then extended in both directions. So a part of a long secret is
found as well, and a thousand secrets cost hardly more than a single one.

Limit: an encoding that is not in the list is not recognised, for instance a reversed or an encrypted key.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import cache, cached_property
from itertools import filterfalse
from threading import Lock
from typing import Any, Final, NamedTuple, NoReturn
from urllib.parse import quote, unquote
from weakref import WeakValueDictionary

from workbook.errors import ConfigurationError, LeakError

KEY_VARIABLE: Final = "WORKBOOK_API_KEY"
# Replaces a key wherever one was found.
MASK: Final = "[key]"
MISSING: Final = "No API key is given. Set WORKBOOK_API_KEY or pass api_key."

# Characters of the shortest secret that is searched for in every encoding: a shorter one occurs in innocent text.
SHORTEST: Final = 8

# Headers whose values are never kept: the document's key, and the other published ways to authenticate (openapi).
SECRET_HEADERS: Final = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"})
# Parameters of a query whose values are never kept: `clientKey` is a published way to send the key (openapi).
SECRET_PARAMETERS: Final = frozenset({"clientkey", "x-api-key", "api_key", "apikey", "access_token"})

# What would be markup within a line of Markdown, GitHub's included, without a backslash before it.
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


@unique
class SecretKind(StrEnum):
    """What was found, in the words of an error."""

    KEY = "the API key"
    SESSION = "a session secret"
    CANARY = "a canary"
    OPAQUE = "opaque data"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Numbers(dict[int, str]):
    """For `str.translate`: each character as its number in this shape, such as `&#{};`, but for those that are kept."""

    def __init__(self, shape: str, kept: str) -> None:
        self._shape, self._kept = shape, kept

    def __missing__(self, number: int) -> str:
        character = chr(number)
        self[number] = character if character in self._kept else self._shape.format(number)
        return self[number]


@cache
def _numbers(shape: str, kept: str = "") -> _Numbers:
    return _Numbers(shape, kept)


def _json(text: str) -> Iterator[str]:
    for ascii_only in (True, False):
        once = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield from (once, once.replace("/", "\\/"))
    kept = "".join(sorted({*map(chr, range(32, 127))} - {*"\"&'+<>`"}))  # Go and .NET escape what is markup in HTML
    for shape in ("\\u{:04x}", "\\u{:04X}"):
        yield from (text.translate(_numbers(shape)), text.translate(_numbers(shape, kept)))


def _html(text: str) -> Iterator[str]:
    yield from (html.escape(text), html.escape(text, quote=False))
    yield from (text.translate(_numbers(shape)) for shape in ("&#{};", "&#x{:x};", "&#x{:X};"))


def _percent(text: str) -> Iterator[str]:
    data = _bytes(text)
    for spelling in (quote(data, safe=""), quote(data), quote(data, safe="!'()*"), quote(data).replace("%20", "+")):
        yield from (spelling, re.sub("%..", lambda match: match[0].lower(), spelling))
    yield from (data.decode("latin-1").translate(_numbers(shape)) for shape in ("%{:02X}", "%{:02x}"))


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


def _markdown(text: str) -> Iterator[str]:
    yield re.sub(MARKDOWN, r"\\\g<0>", text)
    yield re.sub(r"[!-/:-@\[-`{-~]", r"\\\g<0>", text)  # every mark of ASCII, as some writers do


# Every encoding in which a secret is searched for, with the usual spellings of a whole text: the one place to add
# another.
SECRET_ENCODINGS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "plain": lambda text: (text,),
    "with JSON escapes": _json,
    "with HTML escapes": _html,
    "percent-encoded": _percent,
    "as base64": _base64,
    "as hexadecimal": lambda text: (_bytes(text).hex(), _bytes(text).hex().upper()),
    "with Markdown escapes": _markdown,
    "as Python writes it": lambda text: (repr(text)[1:-1], ascii(text)[1:-1]),
    "as UTF-8 read as Latin-1": lambda text: () if text.isascii() else (_bytes(text).decode("latin-1"),),
}


class Escapes(NamedTuple):
    """How to read the escapes of an encoding whose encoder chooses which characters it escapes."""

    marker: str  # is in each escape
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], str]


def _character(match: re.Match[str]) -> str:
    """The character with the number in group 1, in hexadecimal; or the one in group 2, which stands for itself."""
    return chr(int(match[1], 16)) if match[1] else match[2]


_ESCAPES = (
    Escapes("\\", re.compile(r"\\(?:u([0-9a-fA-F]{4})|([^u]))"), _character),  # JSON's; Python's and Markdown's, too
    Escapes("&", re.compile(r"&#?\w{1,8};"), lambda match: html.unescape(match[0])),
    Escapes("%", re.compile(r"%([0-9a-fA-F]{2})"), _character),
    # the same where that text was written as JSON, by `repr` or as HTML once more
    Escapes("\\\\", re.compile(r"\\\\(?:u([0-9a-fA-F]{4})|\\(.))"), _character),
    Escapes("&amp;", re.compile(r"&amp;(#?\w{1,8};)"), lambda match: html.unescape(f"&{match[1]}")),
)


class _Search(NamedTuple):
    """How secrets of one kind are searched for."""

    part: int  # characters in a row of a longer secret that count as the secret
    shortest: int  # characters; a shorter secret is not searched for
    few: tuple[str, ...]  # encodings searched where there may be very many secrets of this kind


_SEARCHES: Mapping[SecretKind, _Search] = {
    SecretKind.SESSION: _Search(16, SHORTEST, tuple(SECRET_ENCODINGS)),
    SecretKind.CANARY: _Search(25, SHORTEST, ("plain", "as base64")),
    SecretKind.OPAQUE: _Search(16, 16, ("plain",)),
}


@dataclass(frozen=True, slots=True)
class Leak:
    """What was found, never the value itself.

    Attributes:
        kind: what it is.
        form: how it was written, a name in `SECRET_ENCODINGS`.
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
        known: secrets searched in every encoding.
        many: secrets searched in few encodings, to bound the cost.
        shortest_key: characters; a key that is shorter is ignored.
        part_of_key: how many characters in a row of a longer key count as the key.
    """

    def __init__(
        self,
        known: Iterable[tuple[SecretKind, str]] = (),
        many: Iterable[tuple[SecretKind, str]] = (),
        *,
        shortest_key: int = SHORTEST,
        part_of_key: int = 12,
    ) -> None:
        every, kinds = tuple(SECRET_ENCODINGS), [*SecretKind]
        self._how = {**_SEARCHES, SecretKind.KEY: _Search(part_of_key, shortest_key, every)}
        searched = [
            (kind, value, every if is_known else self._how[kind].few)
            for is_known, secrets in ((True, set(known)), (False, set(many)))
            for kind, value in sorted(secrets, key=lambda secret: (kinds.index(secret[0]), secret[1]))
        ]
        self._values = frozenset(value for _kind, value, _encodings in searched)
        of_short = ("plain", "with JSON escapes", "with HTML escapes", "as Python writes it")
        self._searched = [
            (kind, value, encodings if len(value) >= SHORTEST else of_short)
            for kind, value, encodings in searched
            if len(value) >= max(1, self._how[kind].shortest) and (kind is SecretKind.KEY or not _is_dull(value))
        ]
        self._met: dict[str, list[tuple[_Spelling, int]]] = {}

    @classmethod
    def of_keys(cls, keys: Iterable[str], *, shortest: int = SHORTEST, part: int = 12) -> Secrets:
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
            part = self._how[leak.kind].part
            least = len(text) if len(value) <= part else -(-part * len(text) // len(value))
            spellings.setdefault(text, _Spelling(text, value, least, leak))

        for kind, value, encodings in self._searched:
            for form in encodings:
                # A megabyte in some sixty spellings would take a minute. Single escapes are read before the search, so
                # only base64 or hexadecimal of what lies beyond the 4096 characters is missed.
                part = value if form == "plain" else value[:4096]
                for text in filter(None, SECRET_ENCODINGS[form](part)):
                    add(text, part, Leak(kind, form))
        for spelling in [*spellings.values()]:  # what JSON and Python's repr make of each
            if "\\" in spelling.text or '"' in spelling.text or "'" in spelling.text:
                for escaped in (json.dumps(spelling.text), repr(spelling.text)):
                    add(escaped[1:-1], spelling.value, spelling.leak)
        return list(spellings.values())

    # A run of `least` characters of a spelling has to be found wherever it begins in a text. It is if every
    # `least - size + 1`th gram is looked for at every position of the text, or every gram at every `least - size + 1`th
    # position: the run then holds a whole gram that is looked for, at a position that is looked at. The first way makes
    # few grams, for many secrets; the second is quick, for the few of most searches.

    @cached_property
    def _steps(self) -> tuple[int, int]:
        """Characters of a gram, and those from one position of a text that is looked at to the next."""
        # characters of the shortest run that matters
        least = min((spelling.least for spelling in self._spellings), default=SHORTEST)
        characters, size = sum(len(spelling.text) for spelling in self._spellings), min(SHORTEST, least)
        return size, least - size + 1 if characters <= 100_000 else 1

    def _offsets(self, spelling: _Spelling) -> list[int]:
        """Where the grams of a spelling that are looked for begin; the last one always is."""
        size, stride = self._steps
        last = len(spelling.text) - size
        return [*range(0, last, spelling.least - size + 1 if stride == 1 else 1), last]

    @cached_property
    def _grams(self) -> set[str]:
        """Every gram. Where it comes from is found out only when a text has it: see `_places`."""
        size, _stride = self._steps
        return {spelling.text[at : at + size] for spelling in self._spellings for at in self._offsets(spelling)}

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
                for at in self._offsets(spelling)
                if spelling.text.startswith(gram, at)
            ]
        return self._met[gram]

    def found_in(self, text: str) -> Leak | None:
        """The first secret in this text, in any encoding; None where there is none."""
        if not self._searched:
            return None
        readings = (text, *(_lines_read(text, escapes) for escapes in _ESCAPES if escapes.marker in text))
        return next((span.leak for reading in readings for span in self._spans(reading)), None)

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
        long_enough = len(word) >= 5  # a shorter word occurs in any long value by chance
        return long_enough and any(part in value for value in self._values for part in parts)

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
        grams, (size, stride), past = self._grams, self._steps, 0
        positions = range(0, len(text) - size + 1, stride)
        for at in [at for at in positions if text[at : at + size] in grams]:
            if at >= past:
                places = self._places(text[at : at + size])
                spans = [span for place in places if (span := _extended(text, at, *place))]
                if spans:
                    longest = max(spans, key=lambda span: span.end - span.begin)
                    yield longest
                    past = max(at, longest.end - size) + 1


def _is_dull(part: str) -> bool:
    """Whether a part has so few different characters that it gives nothing away, such as a line of dashes."""
    return len(set(part)) < 4


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
    if _is_dull(plain) and len(plain) < len(value):
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


def _what_is_wrong(key: object) -> str:
    """Why this cannot be a key, in words that do not repeat it; empty when it can."""
    if key is None or key == "":
        return MISSING
    if not isinstance(key, str):
        return f"api_key must be a string, not {type(key).__name__}."
    bad = next(((at, character) for at, character in enumerate(key, 1) if not "!" <= character <= "~"), None)
    if bad is None:
        return ""
    kinds = {
        r"[\r\n]": "a line break",
        r"[ \t]": "a blank",
        r"[\x00-\x1f\x7f]": "a control character",
        r"[^\x00-\x7f]": "a character outside ASCII",
    }
    kind = next(name for pattern, name in kinds.items() if re.match(pattern, bad[1]))
    return f"api_key has {kind} at position {bad[0]}. Allowed: visible ASCII, no blanks."


_lock = Lock()
# The search for each key that some `Secret` holds, by key; it is forgotten with the last of them.
_live: WeakValueDictionary[str, Secrets] = WeakValueDictionary()


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
                with suppress(ValueError):  # not base64, or not UTF-8
                    user_and_password = b64decode(word, validate=True).decode().split(":")
                    yield from filter(str.isprintable, user_and_password)
    for pair in target.partition("?")[2].split("&") if "?" in target else ():
        name, _mark, value = pair.partition("=")
        if unquote(name).lower() in SECRET_PARAMETERS:
            yield from (value, unquote(value))


class FromEnvironment(str):
    """A header's value that an environment variable holds: a secret, whatever it looks like."""

    __slots__ = ()


def suspect_header(name: str, value: str) -> str:
    """Why a header with this value may be a secret; empty where it looks harmless."""
    if re.search("auth|cookie|token|secret|passw|session|credential|signature|key", name, re.IGNORECASE):
        return "its name says that it holds a secret"
    mixed = r"(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{16,}"  # letters and digits
    return "it looks like a secret" if re.search(rf"(?i:bearer|basic|token)\s|{mixed}", value) else ""


def secret_values(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The values that are secrets: those from the environment, and those that look like one.

    Every other value is public: anybody can read it in the configuration. If a report had to hide a public value, such
    as `platform` or `127.0.0.1`, no report could be written.
    """
    return (value for name, value in headers if isinstance(value, FromEnvironment) or suspect_header(name, value))


def is_weak(value: str) -> bool:
    """Whether a value is a plain word or an address: any report contains such text without giving a secret away."""
    word, address, media_type = "[A-Za-z]{0,15}", r"[0-9]{1,3}(\.[0-9]{1,3})+(:[0-9]+)?", "[a-z]+/[a-z0-9.+*-]+(;.*)?"
    return re.match(rf"({word}|{address}|{media_type})\Z", value, re.IGNORECASE) is not None


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
    return set(re.findall("canary-[0-9a-f]{18}", f"{value}\n{inner}"))
