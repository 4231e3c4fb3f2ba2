"""The line of a log that a miss names, quoted without its values: a command's output is gone once the run is over."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbook.conformance.logs import Line
    from workbook.conformance.seen import Seen

LONGEST = 160
"""Characters of a quoted line."""
HIDDEN = "…"
"""Stands for whatever may be a value."""
LONGEST_WORD = 20
"""Letters of a word that is shown; a longer one may be a value."""
_NAMED = re.compile(r"it stands in (?P<file>.+?), line (?P<number>\d+)")
"""How a miss names a line."""
_WORD = re.compile(r"[^\s\"'`=:,;&?(){}\[\]<>|/\\]+")
_PART = rf"[A-Za-z]?[a-z]{{1,{LONGEST_WORD}}}"
_PLAIN = re.compile(rf"{_PART}([-_.]{_PART})*|[A-Za-z]|[A-Z]{{1,10}}|[0-9]{{1,3}}|[!-/]+")
"""A word of a language, the name of a header, a short number: no value of any length."""


def quoted(observed: str, seen: Iterable[Seen], is_known: Callable[[str], bool]) -> str:
    """What was observed, and after it the line that it names; as it is where it names none that can be read.

    Args:
        observed: of a miss.
        seen: what the case saw; the logs are read again.
        is_known: whether a text holds a secret, or is part of one.
    """
    named = _NAMED.search(observed)
    line = _found(named["file"], int(named["number"]), seen) if named else None
    return observed if line is None else f"{observed}; the line, without its values: {without_values(line, is_known)}"


def _found(file: str, number: int, seen: Iterable[Seen]) -> str | None:
    """The text of this line; None where the log is gone."""
    for one in seen:
        with suppress(OSError):
            if text := _line(one.log, file, number):
                return text
    return None


def _line(log: Iterable[Line], file: str, number: int) -> str:
    return next((line.text for line in log if (line.file, line.number) == (file, number)), "")


def without_values(line: str, is_known: Callable[[str], bool]) -> str:
    """The words of a language in a line, and a mark in the place of everything else."""
    told = _WORD.sub(lambda word: _shown(word[0], is_known), line.strip())
    return told if len(told) <= LONGEST else f"{told[:LONGEST].rsplit(' ', 1)[0]} …"


def _shown(word: str, is_known: Callable[[str], bool]) -> str:
    return word if _PLAIN.fullmatch(word) and not is_known(word) else HIDDEN
