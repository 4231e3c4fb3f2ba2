"""The shape of a body: field names and JSON types, and no value but those that are known to be harmless.

That is what two APIs can be compared by without keeping what they said (REL-3).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbook.api.body import BodyReader
from workbook.api.layers import diagnose
from workbook.simulation.journal_export import shown_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHOWN = frozenset({"type", "title", "status", "errorCode"})
"""Fields of an answer whose values are kept: a problem's, without its sentences, which may repeat what was asked."""
LONGEST_SHOWN = 100
"""Characters of such a value; a longer one may be anything."""
LARGEST_UNPACKED = 8 * 1_048_576
"""Bytes of a packed body that are looked at."""
MOST, DEEPEST, LONGEST_NAME = 100, 6, 40
ITEM = "[]"
NOT_JSON, EMPTY, TWICE = "not JSON", "empty", "fields twice"
_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "number"),
    (float, "number"),
    (list, "array"),
    (dict, "object"),
)


class _Pairs(dict[str, Any]):
    """An object that remembers whether a name stood in it twice."""

    twice = False


def unpacked(body: bytes, encoding: str) -> bytes:
    """The body without its gzip; as it is where it has none, or is not what its header says."""
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        return body
    reader = BodyReader(LARGEST_UNPACKED, encoding)
    reader.feed(body)
    plain = reader.finish()
    return plain if isinstance(plain, bytes) else body


def shape(body: bytes) -> dict[str, str]:
    """Path to type, such as `{"": "object", "sdkInput": "string"}`; the whole body has the path "".

    Types are JSON's, and `empty string`, `empty`, `not JSON` and `fields twice` (for an object in which a name stands
    twice). A name that is no short word is told by its length.
    """
    if not body:
        return {"": EMPTY}
    try:
        document = json.loads(body.decode(), object_pairs_hook=_pairs, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {"": NOT_JSON}
    found: dict[str, str] = {}
    for path, kind in _walk(document, "", 0):
        found.setdefault(path, kind)
        if len(found) >= MOST:
            break
    return found


def layer(body: bytes, field: str) -> str | None:
    """What is wrong with the opaque text in this field, one of `opaque.LAYERS`; None where nothing is, or no text."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    value = document.get(field) if isinstance(document, dict) else None
    return diagnose(value) if isinstance(value, str) and value else None


def shown(body: bytes) -> Any:
    """A body as the record holds it: as the journal exports one, with fewer values in the open."""
    told = shown_body(body, SHOWN)
    if not isinstance(told, dict):
        return told
    return {name: _shortened(name, value) for name, value in told.items()}


def _shortened(name: str, value: Any) -> Any:
    long = name in SHOWN and isinstance(value, str) and (len(value) > LONGEST_SHOWN or not value.isprintable())
    return f"[{len(value)} characters]" if long else value


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    yield path, _type(value)
    if depth >= DEEPEST:
        return
    for name, inner in _inside(value):
        yield from _walk(inner, f"{path}.{name}" if path and name != ITEM else path + name, depth + 1)


def _inside(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, list):
        return ((ITEM, one) for one in value[:MOST])
    if isinstance(value, dict):
        return ((_name(name), one) for name, one in [*value.items()][:MOST])
    return ()


def _name(name: str) -> str:
    plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum() and not name[0].isdigit()
    return name if plain and len(name) <= LONGEST_NAME else f"[{len(name)} characters]"


def _type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "string" if value else "empty string"
    if isinstance(value, _Pairs) and value.twice:
        return TWICE
    return next(name for kind, name in _TYPES if isinstance(value, kind))


def _pairs(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = _Pairs(pairs)
    found.twice = len(found) != len(pairs)
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)
