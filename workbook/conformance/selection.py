"""Which cases to run: by name, by group, by a glob, or those of a report that did not pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from workbook.conformance.model import Case, Group
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
