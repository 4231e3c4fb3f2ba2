"""What of an exchange may be shown: the shape of a body, known headers, a path without anything long (REL-2, REL-3).

The same list of what may be shown as the journal's, with the key and what the simulator made left out as well: a canary
is in it, and a report with a canary in it could not be told from one that leaks.
"""

from __future__ import annotations

import secrets
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from workbook.simulation.journal_export import LONGEST_VALUE, SHOWN_HEADERS, shown_body, shown_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbook.conformance.leaks import Secrets
    from workbook.conformance.report import Headers

KEY_HEADER = "x-api-key"
SHOWN = SHOWN_HEADERS - {KEY_HEADER} | {"cache-control"}
"""Headers whose values are shown; no secret belongs into any of them."""
LONGEST_NAME = 40
_SALT = secrets.token_bytes(16)  # per process, as everywhere: a digest tells equal from unequal within one run only


class Redaction:
    """Shows exchanges without what these secrets are.

    Args:
        known: what must not be shown wherever it stands, also in a name or a path.
    """

    def __init__(self, known: Secrets) -> None:
        self._clean: Callable[[str], str] = known.cleaned
        self.knows: Callable[[str], bool] = known.has_part

    def text(self, text: str) -> str:
        """A text of ours, unless a secret came into it."""
        return self._clean(text)

    def path(self, target: str, card: str = "") -> str:
        """A request's target: its path without long segments, its query by names and lengths, and the card's id."""
        path, mark, query = target.partition("?")
        told = "&".join(_parameter(one, card) for one in query.split("&"))
        return self._clean(shown_target(path) + mark + told)

    def headers(self, headers: Iterable[tuple[str, str]], key: str) -> Headers:
        """The names, and the values of those that may be shown; of the key only whether it is the right one."""
        return tuple((self.short(name, LONGEST_NAME), self._value(name.lower(), value, key)) for name, value in headers)

    def body(self, body: bytes, fields: frozenset[str] = frozenset()) -> Any:
        """A body as JSON: its shape and its names, and no string but what `fields` name."""
        return self._cleaned(_digested(shown_body(body, fields)))

    def short(self, text: str, longest: int) -> str:
        """The text, or its length: a text that was cut could hold a part that nobody finds."""
        return self._clean(text) if len(text) <= longest else f"[{len(text)} characters]"

    def _value(self, name: str, value: str, key: str) -> str | None:
        if name == KEY_HEADER:
            return "[key]" if value == key else f"[another value, {len(value)} characters]"
        return self.short(value, LONGEST_VALUE) if name in SHOWN else None

    def _cleaned(self, value: Any) -> Any:
        match value:
            case dict():
                return {self._clean(name): self._cleaned(one) for name, one in value.items()}
            case list():
                return [self._cleaned(one) for one in value]
            case str():
                return self._clean(value)
            case _:
                return value


def _parameter(parameter: str, card: str) -> str:
    """Of a query; the id of a card may be shown there as in a path."""
    shown = shown_target(f"?{parameter}")[1:]
    _name, mark, value = parameter.partition("=")
    is_card = bool(card) and unquote_plus(value) == card and shown_target(value) == value
    return f"{shown.partition('=')[0]}{mark}{value}" if is_card else shown


def _digested(value: Any) -> Any:
    """The shown body with a digest in the place of what the simulator made."""
    match value:
        case {"simulated": True, "text": str(text), **rest}:
            digest = blake2b(text.encode("utf-8", "surrogatepass"), key=_SALT, digest_size=4).hexdigest()
            return {"simulated": True, **rest, "digest": digest}
        case dict():
            return {name: _digested(one) for name, one in value.items()}
        case list():
            return [_digested(one) for one in value]
        case _:
            return value
