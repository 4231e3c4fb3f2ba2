"""Which parts of an exchange may leave the process: in exports, proxy records and conform's reports (REL-2, REL-3).

The rule is a list of what may be shown, not of what may not: nobody can know in which field a broken back end puts
card data. A string in a body becomes a length and a digest, as everywhere in this package; data with the simulator's
mark may be shown whole. The digests are salted, so they can be compared within one run only.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from workbook.api.opaque import MARK, SdkOutput, decode_strictly, json_object
from workbook.base.secrecy import MASK
from workbook.errors import OpaqueDataError

# Headers whose values may be shown. A key in one is replaced by `[key]`.
SHOWN_HEADERS = frozenset(
    """accept accept-encoding accept-language allow connection content-encoding content-length content-type date
    expect host idempotency-key retry-after server te traceparent transfer-encoding user-agent
    x-api-key x-correlation-id x-request-id""".split()  # a person reads and compares this list  # noqa: SIM905
)


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


@dataclass(frozen=True, slots=True)
class Redaction:
    """Shows the parts of an exchange without secrets.

    Attributes:
        shown: names of the headers whose values are shown, in small letters.
        fields: names of the fields of an answer's outermost object whose values are shown; by default those of the
            simulator's problem details (openapi).
        longest: characters of such a field's value; all of them printable.
        simulated: whether text that the simulator made is shown; otherwise its digest is shown.
        text: the last filter of every text that is shown; it takes out what is known to be secret.
    """

    shown: frozenset[str] = SHOWN_HEADERS
    fields: frozenset[str] = frozenset({"type", "title", "status", "detail", "errorCode", "instance", "requestId"})
    longest: int = 300
    simulated: bool = True
    text: Callable[[str], str] = str

    def target(self, target: str, card: str = "") -> str:
        """The path without long segments, and the query by its names and lengths (API-5 shows no query).

        The card's id is shown in the query as it is in the path.
        """
        path, mark, query = target.partition("?")
        parameters = []
        for parameter in query.split("&"):
            name, equals, value = parameter.partition("=")
            if not equals:
                parameters.append(length_of(name) if name else "")
                continue
            is_shown = value == MASK or (card and unquote_plus(value) == card and short(value) == value)
            parameters.append(f"{_name(name)}={value if is_shown else length_of(value)}")
        return self.text("/".join(map(short, path.split("/"))) + mark + "&".join(parameters))

    def headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str | None], ...]:
        """The names, and the values of those that are listed; None for any other value."""
        pairs = []
        for name, value in headers:
            listed = name.lower() in self.shown or value == MASK  # of a secret header only the mask is kept
            line = value if len(value) <= 300 else length_of(value)  # a cut secret would not be recognised
            pairs.append((self.text(_name(name)), self.text(line) if listed else None))
        return tuple(pairs)

    def request_body(self, body: bytes) -> Any:
        """A body as a JSON value: its shape and its field names, and no string."""
        return self._body(body, frozenset())

    def answer_body(self, body: bytes) -> Any:
        """The same, and the values of the `fields`."""
        return self._body(body, self.fields)

    def method(self, method: str) -> str:
        """A method; the length of one that is too long."""
        return self.text(short(method))

    def _body(self, body: bytes, fields: frozenset[str]) -> Any:
        if not body:
            return None
        try:
            document = json.loads(body, parse_constant=refuse_constant)
        except (ValueError, RecursionError):  # bytes that are no UTF-8 raise a ValueError too
            return each_text(self._string(body.decode("latin-1")), self.text)
        return each_text(self._value(document, fields), self.text)

    def _value(self, value: Any, fields: frozenset[str], name: str = "", depth: int = 0) -> Any:
        """A JSON value as it may be shown; `fields` are those of the outermost object only."""
        if isinstance(value, dict | list):
            most = 100  # items
            if depth == 8:
                return "[nested deeper]"
            rest = [f"[{len(value) - most} more]"] if len(value) > most else []
            if isinstance(value, list):
                return [self._value(inner, frozenset(), depth=depth + 1) for inner in value[:most]] + rest
            here = fields if depth == 0 else frozenset[str]()
            pairs = [(_name(inner), self._value(value[inner], here, inner, depth + 1)) for inner in [*value][:most]]
            return dict(pairs) | dict.fromkeys(rest, True)
        if value is None or isinstance(value, bool):
            return value
        if not isinstance(value, str):
            small = isinstance(value, int) and abs(value) <= 999  # an HTTP status; a longer one may be a card's
            return value if small and name in fields else "[a number]"
        text = value if len(value) <= self.longest and value.isprintable() else length_of(value)
        return text if name in fields else self._string(value)

    def _string(self, text: str) -> Any:
        """A length and a digest, or what the simulator wrote; only the length of what cannot be opaque data at all."""
        try:
            data = SdkOutput(text)
        except OpaqueDataError:
            return length_of(text)
        whole = data.is_simulated and (json_object(decode_strictly(text) or b"") or {}).get("simulated") == MARK
        if not whole:
            return data.summary()
        return data.summary() | ({"text": text} if self.simulated else {"digest": data.digest})


def short(text: str) -> str:
    """A word of a path, or its length where it is too long or not printable ASCII.

    An id is shorter than 64 characters, and opaque data in the wrong place is not.
    """
    return text if re.match(r"[\x20-\x7e]{0,64}\Z", text) else length_of(text)


def length_of(text: str) -> str:
    """The words that a report shows in place of a hidden text."""
    return f"[{len(text)} characters]"


def refuse_constant(constant: str) -> None:
    """For `json.loads`: NaN and Infinity are not JSON, so an export cannot hold them."""
    raise ValueError(constant)


def _name(name: str) -> str:
    return name if re.match(r"[A-Za-z][A-Za-z0-9_.-]{0,39}\Z", name) else length_of(name)
