"""Which cases to run, and which failures are known already.

Cases are chosen by name, group or glob. `back_end.config` reads the baseline:
known failures, each with a comment and perhaps a last day:

    [[known]]
    case = "relay.list.*"       # a name, a group or a glob
    comment = "One worker until the new host is there; ticket 123."
    expires = 2030-12-31        # its last day

    cases = ["relay.get.path", ...]   # every case that was taken in; a case that is not here only warns

A stale entry fails the run, so that the file stays true. An entry is stale when every case that fits it passes now,
when its last day is over, or when no case fits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

import tomli_w

from workbook.base.values import did_you_mean
from workbook.errors import ParameterError
from workbook.tools.harness.model import Case, CaseResult, Verdict

CaseT = TypeVar("CaseT", bound=Case[Any])
ResultT = TypeVar("ResultT", bound=CaseResult)


def choose_cases(cases: Mapping[str, CaseT], patterns: Sequence[str] = ()) -> tuple[CaseT, ...]:
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
        fitting = {case.name for case in cases.values() if fits(pattern, case)}
        if not fitting:
            raise ParameterError(_no_case(cases, pattern))
        names |= fitting
    return tuple(case for name, case in cases.items() if name in names)


def fits(pattern: str, case: Case[Any]) -> bool:
    """Whether a name, a group or a glob means this case."""
    return pattern in (case.name, case.group) or fnmatchcase(case.name, pattern)


def _no_case(cases: Mapping[str, CaseT], pattern: str) -> str:
    """Why a pattern fits no case, and what to do; a long pattern is cut."""
    pattern = pattern[:80]
    known = list(dict.fromkeys(str(case.group) for case in cases.values()))
    groups = ", ".join(known)
    if pattern.endswith(".toml"):
        return f"{pattern!r} is no pattern. The configuration's file comes before --only."
    if any(character in pattern for character in "*?["):
        return f"No case matches {pattern!r}. Groups: {groups}; see --list."
    close = did_you_mean(pattern, [*cases, *known])
    hint = close if close.startswith("Did") else f"Groups: {groups}; names: see --list."
    return f"No case and no group {pattern!r}. {hint}"


@dataclass(frozen=True, slots=True)
class Known:
    """One known failure.

    Attributes:
        case: the case's name, a group, or a glob; of several entries that fit, the first counts.
        comment: why it fails and what is done about it.
        expires: the last day on which the entry counts; None for no such day.
    """

    case: str
    comment: str
    expires: date | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a project has taken in: its known failures, and the cases that there were then.

    Attributes:
        known: the failures.
        cases: names of the cases. One that came later only warns, so that an upgrade fails no pipeline. Empty for all.
        kept: a hand-kept file, where a stale entry fails the run; False for an old report used as baseline.
    """

    known: tuple[Known, ...] = ()
    cases: frozenset[str] = frozenset()
    kept: bool = True

    @classmethod
    def of(cls, comments: Mapping[str, str] | None, cases: Iterable[str] = (), *, kept: bool = True) -> Baseline:
        """The known failures of a notebook or a report: the name of each case with a comment."""
        return cls(tuple(Known(name, text) for name, text in (comments or {}).items()), frozenset(cases), kept)


NEW_CASE = "New case, not in the baseline: it only warns until --write-baseline takes it in."


def is_new(why: str) -> bool:
    """Whether a case that ended with this reason is new to the baseline, so that it fails no run."""
    return why.endswith(NEW_CASE)


def apply_baseline(
    baseline: Baseline, results: Iterable[ResultT], cases: Mapping[str, Case[Any]], today: date
) -> tuple[tuple[ResultT, ...], tuple[str, ...]]:
    """Mark the known failures and the new cases among the results, and name each stale entry in a sentence.

    Args:
        baseline: what was taken in.
        results: of this run; an entry whose case was not run is left alone.
        cases: all cases by name.
        today: an entry counts until the end of its last day.
    """
    known = baseline.known
    results = list(results)
    expired = [entry for entry in known if entry.expires is not None and entry.expires < today]
    stale = []
    for entry in known:
        verdicts = {result.verdict for result in results if fits(entry.case, result.case)}
        if not any(fits(entry.case, case) for case in cases.values()):
            hint = _no_case(cases, entry.case).partition(". ")[2]
            stale.append(f"{entry.case:.80}: there is no such case. {hint}")
        elif verdicts and verdicts <= {Verdict.PASS, Verdict.NOTE}:
            stale.append(f"{entry.case}: it passes now. Take it out of the baseline.")
        elif entry in expired:
            day = f"its last day was {entry.expires}"
            stale.append(f"{entry.case}: {day}. Fix it, or give it another day and say why.")
    for at, result in enumerate(results):
        fitting = [entry for entry in known if entry not in expired and fits(entry.case, result.case)]
        if result.verdict not in COVERED:
            continue
        if fitting:
            why = f"{result.why} Known: {fitting[0].comment}".strip()
            results[at] = replace(result, verdict=Verdict.KNOWN, why=why)
        elif baseline.cases and result.case.name not in baseline.cases:
            verdict = Verdict.NOT_LOOKED_AT if result.verdict is Verdict.NOT_LOOKED_AT else Verdict.WARN
            results[at] = replace(result, verdict=verdict, why=f"{result.why} {NEW_CASE}".strip())
    return tuple(results), tuple(stale) if baseline.kept else ()


# Verdicts that a baseline covers.
COVERED = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.NOT_LOOKED_AT})


def new_baseline(old: Baseline, failures: Mapping[str, str], run: Iterable[str], cases: Mapping[str, Case[Any]]) -> str:
    """A baseline's text: the entries that still cover a failure, and one for each failure that none covers.

    Args:
        old: the baseline so far.
        failures: what was expected and observed, by the name of each case that failed, known or not.
        run: names of the cases that were run, and are taken in with this.
        cases: all cases by name.
    """
    failed = [cases[name] for name in failures]
    kept = [entry for entry in old.known if any(fits(entry.case, case) for case in failed)]
    fresh = [
        Known(case.name, f"{failures[case.name]} TODO: say why this stays, and until when.")
        for case in failed
        if not any(fits(entry.case, case) for entry in kept)
    ]
    entries = ({key: value for key, value in asdict(entry).items() if value is not None} for entry in (*kept, *fresh))
    names = {*(old.cases or cases), *run} & cases.keys()
    return tomli_w.dumps({"known": list(entries), "cases": sorted(names)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(Generic[CaseT]):
    """What a run has to judge; each tool adds to it what its run needs besides.

    Attributes:
        cases: which cases; a tool's default is all.
        baseline: the known failures, and the cases that are not new.
        only: the patterns that chose the cases, for the report.
        strict: a warning, and a case not looked at, count as a failure.
        command: repeats the run, for the report: a command line, or a Python call where no file says all.
    """

    cases: Sequence[CaseT]
    baseline: Baseline = Baseline()
    only: tuple[str, ...] = ()
    strict: bool = False
    command: str = ""
