"""The model of a test: a case, how it ended, what it missed, which cases are run, and which failures are known.

Every tool that judges somebody's work stands on it: `workbook conform` for a back end, `workbook conform app` and
`workbook preflight`. What a case sees, and which groups there are, is the tool's own.

`back_end.config` reads a baseline: known failures, each with a comment and perhaps a last day:

    [[known]]
    case = "relay.list.*"       # a name, a group or a glob
    comment = "One worker until the new host is there; ticket 123."
    expires = 2030-12-31        # its last day

A stale entry fails the run, so that the file stays true. An entry is stale when every case that fits it passes now,
when its last day is over, or when no case fits it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from enum import StrEnum, unique
from fnmatch import fnmatchcase
from operator import attrgetter
from typing import Any, Generic, Protocol, Self, TypeVar

import tomli_w

from workbook.api.redaction import Redaction
from workbook.base.rules import Owner, Rule, rule
from workbook.base.secrecy import SecretKind
from workbook.base.values import did_you_mean
from workbook.checks.diagnosis import see
from workbook.errors import DefinitionError, ParameterError
from workbook.tools.harness.program import LogLine

SeenT = TypeVar("SeenT")


@dataclass(frozen=True, slots=True)
class Case(Generic[SeenT]):
    """One case. A tool derives its own kind from it, with what it has to do and what it needs.

    Attributes:
        name: such as `relay.post.sdk-input-byte-exact`. A name is never reused for another case.
        says: what the case requires, as a sentence.
        rule: the id of the rule that the case tests.
        group: what the case is about; one of the tool's groups.
        judge: yields each way in which what was seen breaks the rule.
        owner: who must fix a failure.

    Raises:
        DefinitionError: the name has another form.
        ParameterError: the rule does not exist.
    """

    name: str
    says: str
    rule: str
    group: str
    judge: Callable[[SeenT], Iterable[Miss]] = field(repr=False)
    owner: Owner = Owner.YOU

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*){2}", self.name):
            raise DefinitionError(f"A case is named like relay.post.sdk-input-byte-exact, not {self.name!r:.60}.")
        rule(self.rule)

    @property
    def rests_on(self) -> Rule:
        """The rule itself."""
        return rule(self.rule)

    @property
    def runs_by_itself(self) -> bool:
        """Whether the case can be run again without the others; False where it judges the whole run."""
        return True


@unique
class Verdict(StrEnum):
    """How a case ended, the gravest first: of several parts of a case the gravest verdict counts.

    Attributes:
        mark: its symbol; reports show it beside the word.
        owner: who acts on it.
        meaning: the verdict in a sentence.
    """

    HARNESS_ERROR = "harness error", "!", Owner.WORKBOOK, "The workbook failed; that says nothing of the back end."
    FAIL = "fail", "✗", Owner.YOU, "A rule that must be kept was not, or harm would follow."
    WARN = "warn", "▲", Owner.YOU, "A rule that should be kept was broken; harm need not follow."
    KNOWN = "known", "◆", Owner.YOU, "It fails or was not judged, and the baseline says so."
    NOT_LOOKED_AT = "not looked at", "◌", Owner.YOU, "Nothing read or played shows whether it holds; --strict fails."
    NOT_TESTABLE = "not testable", "○", Owner.YOU, "What it needs is not there, so it was not judged; --strict fails."
    NOTE = "note", "•", Owner.NOBODY, "Something was observed that no rule judges."
    PASS = "pass", "✓", Owner.NOBODY, "The back end did what the rule asks for."
    NOT_APPLICABLE = "not applicable", "-", Owner.NOBODY, "The case is about what the back end does not have."

    mark: str
    owner: Owner
    meaning: str

    def __new__(cls, word: str, mark: str, owner: Owner, meaning: str) -> Self:
        """A verdict that knows what a report says of it."""
        verdict = str.__new__(cls, word)
        verdict._value_, verdict.mark, verdict.owner, verdict.meaning = word, mark, owner, meaning
        return verdict

    @property
    def gravity(self) -> int:
        """Its place among all, from 0 for the gravest."""
        return list(Verdict).index(self)


@unique
class Root(StrEnum):
    """Where a failure comes from, in the order in which reports say what to do: an earlier root explains later ones."""

    LIMIT = "limit"  # the back end limits how often it is called
    PLAIN_CALL = "plain call"  # a call with nothing wrong anywhere fails
    NO_ANSWER = "no answer"  # the back end no longer answers
    WRONG_CARD = "wrong card"  # a value reached another card
    OLD_ANSWER = "old answer"  # an answer was used again
    CONCURRENCY = "concurrency"  # calls at the same time disturb one another
    KEY = "key"  # the key is where it must not be
    CASE = "case"  # what the case is about does not hold
    FOLLOWS = "follows"  # it follows from another failure, and is likely to go away with it


@dataclass(frozen=True, slots=True)
class RunFinding:
    """What the run as a whole shows, beyond its single cases.

    Attributes:
        root: where it comes from.
        says: what is wrong, in a sentence or two.
        todo: what to do about it.
        cases: names of the cases that could not be judged because of it.
        again: what shows it again, as `--only` has it; empty for the first of these cases.
    """

    root: Root
    says: str
    todo: str
    cases: tuple[str, ...] = ()
    again: str = ""

    @property
    def fails(self) -> bool:
        """Whether the back end fails because of it. Limiting calls is no fault."""
        return self.root is not Root.LIMIT


@dataclass(frozen=True, slots=True)
class Miss:
    """One way in which what was seen differs from what the rule asks for.

    Attributes:
        expected: in words.
        observed: in words; never opaque data, never a key.
        todo: what to do about it.
        rule: the id of the broken rule; empty for the case's own rule.
        noted: an observation that no rule judges, so it fails nothing.
        harms: somebody is harmed, so it fails although its rule only warns.
        root: where it comes from.
        file: the file that shows it, and `line` the line, from 1; empty and 0 where no file does.
    """

    expected: str
    observed: str
    todo: str
    rule: str = ""
    noted: bool = False
    harms: bool = False
    root: Root = Root.CASE
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """The file and the line; empty where no file shows it."""
        return f"{self.file}:{self.line}" if self.file else ""

    @property
    def see(self) -> str:
        """The command that prints its row of the catalogue of symptoms; empty where it has none."""
        return see(self.rule, f"{self.expected}: {self.observed}")

    @property
    def text(self) -> str:
        """All of it in a line, for another program's page."""
        more = f" More: {self.see}" if self.see else ""
        return f"{self.rule}: expected {self.expected}, observed {self.observed}. {self.todo}{more}"

    def verdict(self, of_case: str = "") -> Verdict:
        """The verdict that follows from it; `of_case` is the case's own rule.

        A broken "must" fails, and a broken "should" warns. A broken practice rule fails where the breach harms
        somebody, and warns otherwise. What the document does not show is only noted and never fails.
        """
        if self.noted or self.harms:
            return Verdict.NOTE if self.noted else Verdict.FAIL
        broken = rule(self.rule or of_case)
        practice = Verdict.FAIL if broken.harm else Verdict.WARN
        return {"must": Verdict.FAIL, "should": Verdict.WARN, "practice": practice}.get(broken.level, Verdict.NOTE)


def gravest(misses: Iterable[Miss], of_case: str) -> Verdict:
    """The verdict of the gravest of these misses of a case with this rule; a pass where there is none."""
    return min((miss.verdict(of_case) for miss in misses), key=attrgetter("gravity"), default=Verdict.PASS)


# What a report shows of what a case saw.


@dataclass(frozen=True, slots=True)
class ReportedMessage:
    """A request or an answer, redacted. Of its headers, a value that is not shown is None.

    Attributes:
        headers: pairs of a name and its value.
        body: JSON; None for none.
        length: of the body in bytes.
    """

    headers: tuple[tuple[str, str | None], ...] = ()
    body: Any = None
    length: int = 0


@dataclass(frozen=True, slots=True)
class ReportedExchange:
    """One request and its answer, on one of the two sides.

    Attributes:
        side: `phone` or `API`.
        at: seconds since the case began.
        ended: the same of its end; None if unknown.
        method: of the request.
        path: of the request, with its query.
        who: whose session it has.
        request: what was asked.
        status: None without an answer.
        answer: None without one.
        ending: why there is no answer, or which fault the mock API played.
        elsewhere: it went where a redirect pointed.
        platform: whose app called.
    """

    side: str
    at: float
    ended: float | None
    method: str
    path: str
    who: str
    request: ReportedMessage
    status: int | None
    answer: ReportedMessage | None
    ending: str = ""
    elsewhere: bool = False
    platform: str = ""


class Evidence(Protocol):
    """What a case saw, as far as a report is concerned."""

    @property
    def log(self) -> Iterable[LogLine]:
        """The lines of a log."""
        ...

    @property
    def began(self) -> float | None:
        """When the first call began, on the run's clock; None where none was made."""
        ...

    def secrets(self) -> Iterator[tuple[SecretKind, str]]:
        """The keys and the opaque data in it: no report may contain one."""
        ...

    def exchanges(self, platform: str, redaction: Redaction) -> list[ReportedExchange]:
        """The exchanges with the app of this platform, redacted, in the order of time."""
        ...


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case ended.

    Attributes:
        case: which.
        verdict: how it ended.
        misses: every way in which the rule was broken.
        why: what else a reader has to know, such as what is missing.
        platform: whose app made the calls; empty where none did.
        seen: what a report shows; None where there is nothing to show.
        seconds: how long it took.
        parts: one result for each platform's app, where there is more than one; else empty.
    """

    case: Case[Any]
    verdict: Verdict
    misses: tuple[Miss, ...] = ()
    why: str = ""
    platform: str = ""
    seen: Evidence | None = None
    seconds: float = 0.0
    parts: tuple[Self, ...] = ()

    @property
    def each(self) -> tuple[Self, ...]:
        """One result for each platform whose app made the calls."""
        return self.parts or (self,)

    @property
    def began(self) -> float | None:
        """When the first call began, on the run's clock; None where none was made."""
        began = (part.seen.began for part in self.each if part.seen is not None)
        return min((moment for moment in began if moment is not None), default=None)


# Which cases to run, and which failures are known already.

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


def known_failures(comments: Mapping[str, str] | None) -> tuple[Known, ...]:
    """The known failures of a notebook: the name of each case with a comment."""
    return tuple(Known(name, text) for name, text in (comments or {}).items())


def apply_baseline(
    known: Sequence[Known], results: Iterable[ResultT], cases: Mapping[str, Case[Any]], today: date
) -> tuple[tuple[ResultT, ...], tuple[str, ...]]:
    """Mark the known failures among the results, and name each stale entry in a sentence.

    Args:
        known: the failures.
        results: of this run; an entry whose case was not run is left alone.
        cases: all cases by name.
        today: an entry counts until the end of its last day.
    """
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
        if fitting and result.verdict in COVERED:
            why = f"{result.why} Known: {fitting[0].comment}".strip()
            results[at] = replace(result, verdict=Verdict.KNOWN, why=why)
    return tuple(results), tuple(stale)


# Verdicts that a baseline covers.
COVERED = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE})


def new_baseline(old: Iterable[Known], failures: Mapping[str, str], cases: Mapping[str, Case[Any]]) -> str:
    """A baseline's text: the entries that still cover a failure, and one for each failure that none covers.

    Args:
        old: the baseline so far.
        failures: what was expected and observed, by the name of each case that failed, known or not.
        cases: all cases by name.
    """
    failed = [cases[name] for name in failures]
    kept = [entry for entry in old if any(fits(entry.case, case) for case in failed)]
    fresh = [
        Known(case.name, f"{failures[case.name]} TODO: say why this stays, and until when.")
        for case in failed
        if not any(fits(entry.case, case) for entry in kept)
    ]
    entries = ({key: value for key, value in asdict(entry).items() if value is not None} for entry in (*kept, *fresh))
    return tomli_w.dumps({"known": list(entries)})


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseOptions(Generic[CaseT]):
    """What a run has to judge; each tool adds to it what its run needs besides.

    Attributes:
        cases: which cases; a tool's default is all.
        baseline: the known failures.
        only: the patterns that chose the cases, for the report.
        strict: a warning, and a case not looked at, count as a failure.
        command: repeats the run, for the report: a command line, or a Python call where no file says all.
    """

    cases: Sequence[CaseT]
    baseline: Sequence[Known] = ()
    only: tuple[str, ...] = ()
    strict: bool = False
    command: str = ""
