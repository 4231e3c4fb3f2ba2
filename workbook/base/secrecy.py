"""How a secret is found and taken out, whichever way it is written (REL-2, REL-3).

The client, the runner, the journal, the proxy and conform all search through `Secrets`. It finds a whole secret: as it
is, with the escapes of JSON, HTML, addresses or Markdown, in base64 at any offset, and in hexadecimal. It does not find
a part of a secret, nor a secret in another encoding, for instance a reversed or an encrypted one.
"""

from __future__ import annotations

import html
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum, unique
from functools import cached_property
from threading import Lock
from typing import Final, NamedTuple, NoReturn
from urllib.parse import unquote
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


@unique
class SecretKind(StrEnum):
    """What was found, in the words of an error."""

    KEY = "the API key"
    SESSION = "a session secret"
    CANARY = "a canary"
    OPAQUE = "opaque data"


# One escape: of HTML, in percent, or with backslashes, as in JSON, Python, Markdown or a shell. What is repeated was
# escaped more than once. A run of backslashes is read as one, and from its beginning, which takes linear time.
_ESCAPE = re.compile(
    r"""
    (?<!\\)\\*+ (?: &(?:amp;)* (\#?\w{1,8};) | %(?:25)* ([0-9a-fA-F]{2}) )
    | (?<!\\)\\++ (?: u([0-9a-fA-F]{4}) | x([0-9a-fA-F]{2}) | (.?) )
    """,
    re.VERBOSE | re.DOTALL,
)


def _character(escape: re.Match[str]) -> str:
    """What an escape stands for."""
    if entity := escape[1]:
        return html.unescape(f"&{entity}")
    number = escape[2] or escape[3] or escape[4]
    return chr(int(number, 16)) if number else escape[5]


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_character, text) if "\\" in text or "&" in text or "%" in text else text


def _origins(text: str) -> list[int]:
    """For each character of the unescaped text, and for its end, where it begins in this text."""
    origins, end = list[int](), 0
    for escape in _ESCAPE.finditer(text):
        origins += [*range(end, escape.start()), *[escape.start()] * len(_character(escape))]
        end = escape.end()
    return [*origins, *range(end, len(text) + 1)]


def _spellings(secret: str) -> Iterator[str]:
    """Each form in which a secret is searched for, apart from escapes."""
    data = secret.encode("utf-8", "surrogatepass")
    yield secret
    yield data.decode("latin-1")
    if len(secret) >= SHORTEST:
        # Three bytes become four characters, so there are three alignments. The characters at both ends also carry bits
        # of the neighbours and are left out: the others are the same wherever the secret stands in the encoded data.
        for before in range(3):
            begin, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
            standard = b64encode(bytes(before) + data).decode()[begin:end]
            yield standard
            yield standard.replace("+", "-").replace("/", "_")
        yield data.hex()
        yield data.hex().upper()


class Place(NamedTuple):
    """A secret in a text, from the character `begin` to the one before `end`."""

    begin: int
    end: int
    kind: SecretKind


class _Finder:
    """Finds whole texts, of which there may be thousands, in another text.

    Args:
        wanted: the kind of each of them, in the order in which they are looked for.
    """

    def __init__(self, wanted: Mapping[str, SecretKind]) -> None:
        self._wanted = wanted
        self._head = min(map(len, wanted), default=0)
        self._by_head: dict[str, list[str]] = {}
        for text in wanted:
            self._by_head.setdefault(text[: self._head], []).append(text)

    def find(self, text: str) -> Iterator[Place]:
        """Every place of a wanted text in this one."""
        if len(self._wanted) <= 64:  # the C code of `str.find` is quicker up to here
            for wanted, kind in self._wanted.items():
                begin = text.find(wanted)
                while begin >= 0:
                    yield Place(begin, begin + len(wanted), kind)
                    begin = text.find(wanted, begin + 1)
            return
        for begin in range(len(text) - self._head + 1):
            for wanted in self._by_head.get(text[begin : begin + self._head], ()):
                if text.startswith(wanted, begin):
                    yield Place(begin, begin + len(wanted), self._wanted[wanted])


class Secrets:
    """Secrets of several kinds; finds them in a text and takes them out.

    Building one costs nothing: the spellings are made when the first text is looked at.

    Args:
        known: the secrets, each with its kind.
        shortest_key: characters; a key that is shorter is ignored.
    """

    def __init__(self, known: Iterable[tuple[SecretKind, str]] = (), *, shortest_key: int = SHORTEST) -> None:
        every, kinds = set(known), [*SecretKind]
        least = {SecretKind.KEY: max(1, shortest_key), SecretKind.OPAQUE: 16}
        self._known = [
            (kind, value)
            for kind, value in sorted(every, key=lambda secret: (kinds.index(secret[0]), secret[1]))
            if len(value) >= least.get(kind, SHORTEST) and (kind is SecretKind.KEY or not is_dull(value))
        ]
        self._values = frozenset(value for _kind, value in every)

    @classmethod
    def of_keys(cls, keys: Iterable[str], *, shortest: int = SHORTEST) -> Secrets:
        """API keys; one with fewer than `shortest` characters is ignored."""
        return cls([(SecretKind.KEY, key) for key in keys], shortest_key=shortest)

    @classmethod
    def of_environment(cls, environ: Mapping[str, str]) -> Secrets:
        """The key in WORKBOOK_API_KEY, if there is one of at least eight characters.

        Raises:
            ConfigurationError: no header can carry it: what is searched for would not be what a program sends.
        """
        Secret(environ.get(KEY_VARIABLE) or "none").check()
        return cls.of_keys(filter(None, [environ.get(KEY_VARIABLE)]))

    @classmethod
    def of_any_key(cls, key: str) -> Secrets:
        """A key as it is, and without what may stand around it; for an error about the key itself."""
        return cls.of_keys({key, key.strip(" \t\r\n\"'")}, shortest=5)

    def __repr__(self) -> str:
        return f"Secrets({'some' if self._known else 'none'})"

    def __bool__(self) -> bool:
        return bool(self._known)

    @cached_property
    def _finders(self) -> tuple[_Finder, _Finder]:
        """What finds the secrets in a text as it is, and in an unescaped one."""
        plain: dict[str, SecretKind] = {}
        for kind, secret in self._known:
            for spelling in _spellings(secret):
                plain.setdefault(spelling, kind)
        escaped = {text: kind for spelling, kind in plain.items() for text in (spelling, _unescape(spelling)) if text}
        return _Finder(plain), _Finder(escaped)

    def _places(self, text: str) -> Iterator[Place]:
        """Every secret in this text."""
        if self._known:
            plain, escaped = self._finders
            yield from plain.find(text)
            unescaped = _unescape(text)
            if unescaped != text and (places := [*escaped.find(unescaped)]):
                origins = _origins(text)
                yield from (Place(origins[place.begin], origins[place.end], place.kind) for place in places)

    def found_in(self, text: str) -> SecretKind | None:
        """The kind of a secret in this text, however it is written; None where there is none."""
        first = next(self._places(text), None)
        return first and first.kind

    def scrub(self, text: str) -> str:
        """The text with `MASK` in place of every secret."""
        pieces, end = list[str](), 0
        for begin, last, _kind in sorted(self._places(text), key=lambda place: place[:2]):
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
        kind = self.found_in(text)
        return text if kind is None else f"[{kind} was here, {len(text)} characters]"

    def check(self, texts: Mapping[str, str]) -> None:
        """Make sure that these texts, by their names, hold no secret.

        Raises:
            LeakError: names the text and the kind of secret, never the secret.
        """
        for name, text in texts.items():
            if (kind := self.found_in(text)) is not None:
                raise LeakError(
                    f"No report was written: {name} would contain {kind}. "
                    "Remove it from the configuration's names and comments; if it is not there, tell us."
                )


def is_dull(text: str) -> bool:
    """Whether a text has so few different characters that it gives nothing away, such as a line of dashes."""
    return len(set(text)) < 4


NO_SECRETS: Final = Secrets()


class Secret:
    """The client's API key: prints as a mask, cannot be pickled, and scrubs itself from text.

    Building one never raises, so that no frame of a traceback has to hold a bad key in the open: see `check`.

    Args:
        value: the key; allowed is visible ASCII, 0x21 to 0x7e.
    """

    __slots__ = ("_value", "_wrong", "scrub", "scrub_bytes")

    def __init__(self, value: object) -> None:
        self._wrong = what_is_wrong(value)
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


def what_is_wrong(key: object) -> str:
    """Why this cannot be a key, in words that do not repeat it; empty when it can."""
    if key is None or key == "":
        return MISSING
    if not isinstance(key, str):
        return f"api_key must be a string, not {type(key).__name__}."
    bad = next(((at, character) for at, character in enumerate(key, 1) if not "!" <= character <= "~"), None)
    if bad is None:
        quoted = key[0] == key[-1] and key[0] in "\"'"
        return "The API key is in quotes. Leave them out: some files of settings keep them." if quoted else ""
    if key.rstrip("\r\n") == key[: bad[0] - 1]:
        return "The API key ends in a line end. Write it into its file with printf, not with echo."
    kinds = {
        r"[\r\n]": "a line break",
        r"[ \t]": "a blank",
        r"[\x00-\x1f\x7f]": "a control character",
        r"[^\x00-\x7f]": "a character outside ASCII",
    }
    kind = next(name for pattern, name in kinds.items() if re.match(pattern, bad[1]))
    return f"The API key has {kind} at position {bad[0]}. Allowed: visible ASCII, no blanks."


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
