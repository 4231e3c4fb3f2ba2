"""Which cases are run: by name, by group, by a glob, or those of a report that did not pass."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbook.conformance.case import Case

MAGIC = "*?["
QUOTE = 80
"""Characters of a pattern that are repeated."""


def chosen(cases: Mapping[str, Case], patterns: Sequence[str] = ()) -> tuple[Case, ...]:
    """The cases that a pattern means, in their own order; all where there is none.

    Args:
        cases: all there are, by name.
        patterns: names, groups and globs.

    Raises:
        ParameterError: a pattern means no case.
    """
    if not patterns:
        return tuple(cases.values())
    wanted = {name for pattern in patterns for name in _meant(cases, pattern)}
    return tuple(case for name, case in cases.items() if name in wanted)


def again(cases: Mapping[str, Case], names: Iterable[str]) -> tuple[Case, ...]:
    """The cases that a report names; one that is no more is left out, and none at all is an empty run."""
    wanted = set(names)
    return tuple(case for name, case in cases.items() if name in wanted)


def _meant(cases: Mapping[str, Case], pattern: str) -> list[str]:
    found = [name for name, case in cases.items() if _fits(case, pattern)]
    if found:
        return found
    if pattern.endswith(".toml"):
        raise ParameterError(f"{pattern[:QUOTE]!r} is no pattern. The configuration's file comes before --only.")
    if any(one in pattern for one in MAGIC):
        raise ParameterError(f"No case is like {pattern[:QUOTE]!r}. Groups: {', '.join(Group)}; see --list.")
    close = did_you_mean(pattern[:QUOTE], [*cases, *(group.value for group in Group)])
    hint = close if close.startswith("Did") else f"Groups: {', '.join(Group)}; names: see --list."
    raise ParameterError(f"No case and no group {pattern[:QUOTE]!r}. {hint}")


def _fits(case: Case, pattern: str) -> bool:
    return pattern in (case.name, case.group) or fnmatchcase(case.name, pattern)
