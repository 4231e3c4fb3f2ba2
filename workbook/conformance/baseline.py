"""A baseline: the failures that are known, each with a comment and, if you like, a last day.

    [[known]]
    case = "relay.get.side-by-side"
    comment = "One worker until the new host is there; ticket 123."
    expires = 2030-12-31        # its last day

An entry that is no longer right is stale, and a stale entry fails: the case passes now, the day is over, or there is no
such case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from workbook.conformance.config_read import BadConfigurationError, document
from workbook.conformance.form import shown
from workbook.conformance.verdict import Verdict
from workbook.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from workbook.conformance.case import Case
    from workbook.conformance.run import Result

KEYS = ("case", "comment", "expires")
COVERED = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.FLAKY})
"""Verdicts that a baseline can make known."""
WELL = frozenset({Verdict.PASS, Verdict.NOTE})
"""Verdicts that make an entry stale."""


@dataclass(frozen=True, slots=True)
class Known:
    """One known failure.

    Attributes:
        case: its name.
        comment: why it is known and what is done about it.
        expires: the last day on which it counts; None for no such day.
    """

    case: str
    comment: str
    expires: date | None = None


def load(path: Path) -> tuple[Known, ...]:
    """The entries of a baseline file.

    Raises:
        BadConfigurationError: it is not in order; holds every mistake, each with its label.
    """
    said = document(path)
    mistakes = list(_mistakes(said))
    if mistakes:
        raise BadConfigurationError(path.name, mistakes)
    return tuple(Known(**table) for table in said.get("known", ()))


def applied(
    known: Iterable[Known], results: Iterable[Result], cases: Mapping[str, Case], today: date
) -> tuple[tuple[Result, ...], tuple[str, ...]]:
    """The results with what is known called so, and a sentence for each stale entry.

    Args:
        known: the baseline's entries.
        results: of this run; an entry whose case was not run is left alone.
        cases: all there are.
        today: an entry counts up to the end of its last day.
    """
    entries, ended = {one.case: one for one in known}, list(results)
    verdicts = {result.case.name: result.verdict for result in ended}
    stale = tuple(why for one in entries.values() if (why := _stale(one, verdicts, cases, today)))
    marked = tuple(_marked(result, entries.get(result.case.name), today) for result in ended)
    return marked, stale


def _marked(result: Result, entry: Known | None, today: date) -> Result:
    if entry is None or _is_over(entry, today) or result.verdict not in COVERED:
        return result
    why = f"{result.why} Known: {entry.comment}".strip()
    return replace(result, verdict=Verdict.KNOWN, why=why)


def _stale(entry: Known, verdicts: Mapping[str, Verdict], cases: Mapping[str, Case], today: date) -> str:
    if entry.case not in cases:
        close = did_you_mean(entry.case[:80], cases)
        return f"{entry.case[:80]}: there is no such case. {close if close.startswith('Did') else 'See --list.'}"
    if verdicts.get(entry.case) in WELL:
        return f"{entry.case}: it passes now. Take it out of the baseline."
    if _is_over(entry, today):
        return f"{entry.case}: its last day was {entry.expires}. Mend it, or give it another day and say why."
    return ""


def _is_over(entry: Known, today: date) -> bool:
    return entry.expires is not None and entry.expires < today


def _mistakes(said: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(said.keys() - {"known"}):
        yield f"{shown(key)}: there is no such key. Entries stand under [[known]]."
    tables = said.get("known", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        yield "known: give tables, each under [[known]]."
        return
    seen: set[object] = set()
    for place, table in enumerate(tables, 1):
        yield from (f"[[known]] {place} {what}" for what in _wrong(table))
        if isinstance(name := table.get("case"), str) and name in seen:
            yield f"[[known]] {place} case: it stands there twice. Keep one."
        seen.add(str(table.get("case")))


def _wrong(table: Mapping[str, Any]) -> Iterator[str]:
    for key in sorted(table.keys() - set(KEYS)):
        yield f"{shown(key)}: there is no such key. {did_you_mean(key[:40], KEYS)}"
    for key in ("case", "comment"):
        if not isinstance(table.get(key), str) or not table[key].strip():
            yield f"{key}: it is missing or empty. Give a text; a comment says why, and what is done about it."
    expires = table.get("expires")
    if expires is not None and (not isinstance(expires, date) or isinstance(expires, datetime)):
        yield "expires: give a day without quotes, such as 2030-12-31."
