"""What was nearly right about a request that matches nothing, in words that say how to put it right.

A path is compared with the only one there is, segment by segment: the two fixed words in it are found, even misspelt,
and what stands before, between and after them is judged by a table. Nothing of the request is repeated but a segment
that is nearly one of those words, which therefore is no secret and no card data; never an id, and never a query.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from workbook.simulation.http import AFTER_ID, BEFORE_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT, VERSION, NOUN = BEFORE_ID.strip("/").split("/")
LAST = AFTER_ID.strip("/")
METHODS = ("GET", "POST")

NEARLY = 0.65
"""How alike two words are, from 0 to 1, before one is taken for the other (our choice: `networkTokens`, which is
another resource of the real API (openapi), falls below)."""
LONGEST_WORD = 40
"""Characters above which a segment is nobody's misspelling, and is not even compared."""
MOST_SEGMENTS = 30
"""Segments above which a path is like nothing here."""

_PLAIN = re.compile(r"[A-Za-z0-9_.-]+\Z")


class Parts(NamedTuple):
    """A path taken apart around the two fixed words; a word that is not there is an empty string."""

    before: tuple[str, ...]
    noun: str
    between: tuple[str, ...]
    last: str
    after: tuple[str, ...]


def nearly(method: str, target: str) -> str:
    """What was nearly right, as sentences, or an empty string where nothing was.

    At most 120 characters of the request stand in it, and none of its query or its id.

    Args:
        method: as it was sent.
        target: the raw request target.
    """
    path = _path(target)
    segments = tuple(path.removeprefix("/").split("/")) if len(path) <= MOST_SEGMENTS * 256 else ()
    parts = _parts(segments) if len(segments) <= MOST_SEGMENTS else None
    if parts is None:
        return ""
    notes = [note for rule in _PATH_RULES for note in rule(parts)]
    return " ".join(notes) if notes else _method(method)


def _path(target: str) -> str:
    """The path alone, also of a whole address; a fragment is sent by nobody who means to."""
    path = re.split(r"[?#]", target, maxsplit=1)[0]
    return re.sub(r"\A[A-Za-z][A-Za-z0-9+.-]*://[^/]*", "", path)


def _method(method: str) -> str:
    """What was nearly right about the method of a request whose path is right."""
    if method in METHODS:
        return ""
    upper = method.strip().upper()
    if upper in METHODS:
        return f"Methods are written in capital letters. Did you mean {upper}?"
    return "This path knows GET, which reads activation data, and POST, which exchanges an sdkOutput."


def _parts(segments: tuple[str, ...]) -> Parts | None:
    """The path taken apart, or None where neither word is in it, not even nearly."""
    noun, last = _find(segments, NOUN), _find(segments, LAST, backwards=True)
    if noun is None:
        return None if last is None else _without_noun(segments, last)
    end = last if last is not None and last > noun else len(segments)
    return Parts(
        segments[:noun],
        segments[noun],
        segments[noun + 1 : end],
        "".join(segments[end : end + 1]),
        segments[end + 1 :],
    )


def _without_noun(segments: tuple[str, ...], last: int) -> Parts:
    """Where the noun is like nothing, it stood two before the last word, or right after a prefix that is right."""
    start = 2 if segments[:2] == (ROOT, VERSION) else max(last - 2, 0)
    return Parts(segments[:start], "", segments[max(last - 1, start) : last], segments[last], segments[last + 1 :])


def _find(segments: tuple[str, ...], word: str, *, backwards: bool = False) -> int | None:
    places = range(len(segments))
    return next((at for at in (reversed(places) if backwards else places) if _alike(segments[at], word)), None)


def _alike(segment: str, word: str) -> bool:
    if len(segment) > LONGEST_WORD:
        return False
    return SequenceMatcher(None, segment.lower(), word.lower(), autojunk=False).ratio() >= NEARLY


def _prefix(parts: Parts) -> Iterator[str]:
    found = tuple(one for one in parts.before if one)
    if found == (ROOT, VERSION):
        return
    if (
        found
        and found[-1].lower() != VERSION
        and found[:-1] in ((), (ROOT,))
        and re.fullmatch(r"[vV]?\d{1,3}", found[-1])
    ):
        yield f"The version segment is {VERSION} (API-14): did you mean /{ROOT}/{VERSION}/...?"
    elif [one.lower() for one in found] == [ROOT, VERSION]:
        yield f"The path is case-sensitive, did you mean /{ROOT}/{VERSION}/...?"
    elif found[-2:] == (ROOT, VERSION):
        yield f"Something stands before /{ROOT}/{VERSION}, which comes first."
    else:
        yield f"The path starts with /{ROOT}/{VERSION}."


def _noun(parts: Parts) -> Iterator[str]:
    yield from _word(parts.noun, NOUN, "The segment {} is missing.")


def _last(parts: Parts) -> Iterator[str]:
    yield from _word(parts.last, LAST, "The path ends with {}, right after the id.")


def _word(found: str, word: str, missing: str) -> Iterator[str]:
    """What is wrong with one of the fixed words; a segment that is nearly it is the only thing repeated."""
    if found == word:
        return
    if not found:
        yield missing.format(f"/{word}")
    elif found.lower() == word.lower():
        yield f"/{found}: the path is case-sensitive, did you mean /{word}?"
    else:
        yield f"/{found}: did you mean /{word}?" if _PLAIN.match(found) else f"Did you mean /{word}?"


def _id(parts: Parts) -> Iterator[str]:
    """What is wrong with what stands where the id belongs (API-3)."""
    filled = [one for one in parts.between if one]
    if not filled:
        yield f"The id of the payment instrument is missing between /{NOUN}/ and /{LAST}."
    elif len(filled) > 1 and parts.last:
        yield "An id is one segment: a slash inside it is sent as %2F."


def _slashes(parts: Parts) -> Iterator[str]:
    if parts.after and not any(parts.after):
        yield "There is no slash at the end."
    elif any(parts.after):
        yield f"Nothing comes after /{LAST}."
    inner = parts.between if any(parts.between) else ()
    if "" in (parts.before + inner if parts.last else parts.before):
        yield "A slash is doubled."


_PATH_RULES: tuple[Callable[[Parts], Iterator[str]], ...] = (_prefix, _noun, _id, _last, _slashes)
"""Each looks at one part, in the order in which a person reads the path."""
