"""A body as it may be shown, in words: its shape, and in the place of each value which one it is and how long."""

from __future__ import annotations

import json
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Piece = tuple[str, bool]

MADE = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}
"""What the simulator calls what it made."""


class Values:
    """Gives equal values of one case the same letter."""

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}

    def text(self, body: Any) -> str:
        """A body as JSON, with words in the place of its values."""
        return "".join(text for text, _value in self.pieces(body))

    def pieces(self, body: Any) -> Iterator[Piece]:
        """The same in pieces, and of each whether it stands for a value."""
        match body:
            case dict() if _is_value(body):
                yield self._named(body), True
            case dict():
                fields = ([(f"{_json(name)}: ", False), *self.pieces(one)] for name, one in body.items())
                yield from _within("{", fields, "}")
            case list():
                yield from _within("[", map(self.pieces, body), "]")
            case _:
                yield _json(body), False

    def _named(self, value: dict[str, Any]) -> str:
        made = f": simulated {MADE.get(str(value.get('kind')), 'data')}" if value.get("simulated") else ""
        number = f" #{value['serial']}" if made and "serial" in value else ""
        return f"⟨{self._letter(value.get('digest'))}{made}{number}, {value['length']} characters⟩"

    def _letter(self, digest: object) -> str:
        """Which value it is; one that the simulator made and somebody spoilt has no digest."""
        if not isinstance(digest, str):
            return "spoilt"
        round_, place = divmod(len(self._seen), len(ascii_uppercase))
        return "value " + self._seen.setdefault(digest, f"{ascii_uppercase[place]}{round_ or ''}")


def _within(before: str, parts: Iterable[Iterable[Piece]], after: str) -> Iterator[Piece]:
    yield before, False
    for number, part in enumerate(parts):
        if number:
            yield ", ", False
        yield from part
    yield after, False


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_value(body: dict[str, Any]) -> bool:
    return isinstance(body.get("length"), int) and ("digest" in body or body.get("simulated") is True)
