"""Which cases to run, and which failures are known already.

Cases are chosen by name, by group, by a glob, or as those of a report that did not pass. `config_file` reads the
baseline, the known failures, each with a comment and, if wanted, a last day:

    [[known]]
    case = "relay.get.side-by-side"
    comment = "One worker until the new host is there; ticket 123."
    expires = 2030-12-31        # its last day

A stale entry fails the run, so that the file stays true: the case passes now, the last day is over, or there is no such
case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase

from workbook.conformance.model import Case, CaseResult, Group, Verdict
from workbook.errors import ParameterError
from workbook.values import did_you_mean

MAGIC = "*?["
QUOTE = 80
"""Characters of a pattern that an error repeats."""


def chosen(cases: Mapping[str, Case], patterns: Sequence[str] = ()) -> tuple[Case, ...]:
    """The cases that fit a pattern, in their own order; all cases where there is no pattern.

    Args:
        cases: all cases, by name.
        patterns: names, groups and globs.

    Raises:
        ParameterError: a pattern fits no case.
    """
    if not patterns:
        return tuple(cases.values())
    names = set[str]()
    for pattern in patterns:
        fitting = {
            name
            for name, case in cases.items()
            if pattern in (case.name, case.group) or fnmatchcase(case.name, pattern)
        }
        if not fitting:
            raise ParameterError(_no_case(cases, pattern[:QUOTE]))
        names |= fitting
    return again(cases, names)


def again(cases: Mapping[str, Case], names: Iterable[str]) -> tuple[Case, ...]:
    """The cases with these names, in their own order. Names of cases that no longer exist are left out."""
    wanted = set(names)
    return tuple(case for name, case in cases.items() if name in wanted)


def _no_case(cases: Mapping[str, Case], pattern: str) -> str:
    """Why a pattern fits no case, and what to do."""
    groups = ", ".join(Group)
    if pattern.endswith(".toml"):
        return f"{pattern!r} is no pattern. The configuration's file comes before --only."
    if any(character in pattern for character in MAGIC):
        return f"No case is like {pattern!r}. Groups: {groups}; see --list."
    close = did_you_mean(pattern, [*cases, *(group.value for group in Group)])
    hint = close if close.startswith("Did") else f"Groups: {groups}; names: see --list."
    return f"No case and no group {pattern!r}. {hint}"


COVERED = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.FLAKY})
"""Verdicts that an entry turns into `known`."""
PASSED = frozenset({Verdict.PASS, Verdict.NOTE})
"""Verdicts that make an entry stale."""


@dataclass(frozen=True, slots=True)
class Known:
    """One known failure.

    Attributes:
        case: the case's name.
        comment: why it fails and what is done about it.
        expires: the last day on which the entry counts; None for no such day.
    """

    case: str
    comment: str
    expires: date | None = None


def apply_baseline(
    known: Iterable[Known], results: Iterable[CaseResult], cases: Mapping[str, Case], today: date
) -> tuple[tuple[CaseResult, ...], tuple[str, ...]]:
    """Mark the known failures among the results, and name each stale entry in a sentence.

    Args:
        known: the baseline's entries.
        results: of this run; an entry whose case was not run is left alone.
        cases: all cases by name.
        today: an entry counts until the end of its last day.
    """
    entries, results = {entry.case: entry for entry in known}, list(results)
    verdicts = {result.case.name: result.verdict for result in results}
    expired = {name for name, entry in entries.items() if entry.expires is not None and entry.expires < today}
    stale = []
    for name, entry in entries.items():
        if name not in cases:
            close = did_you_mean(name[:80], cases)
            hint = close if close.startswith("Did") else "See --list."
            stale.append(f"{name[:80]}: there is no such case. {hint}")
        elif verdicts.get(name) in PASSED:
            stale.append(f"{name}: it passes now. Take it out of the baseline.")
        elif name in expired:
            stale.append(f"{name}: its last day was {entry.expires}. Mend it, or give it another day and say why.")
    for at, result in enumerate(results):
        name = result.case.name
        if name in entries and name not in expired and result.verdict in COVERED:
            why = f"{result.why} Known: {entries[name].comment}".strip()
            results[at] = replace(result, verdict=Verdict.KNOWN, why=why)
    return tuple(results), tuple(stale)
