"""The model of a test: a case, how it ended, what it missed, and what a report shows of what it saw.

Every tool that judges somebody's work stands on it: `workbook conform` for a back end, `workbook conform app` and
`workbook preflight`. What a case sees, and which groups there are, is the tool's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum, unique
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from workbook.api.redaction import Redaction
from workbook.base.rules import Owner, Rule, rule
from workbook.base.secrecy import SecretKind
from workbook.checks.diagnosis import see
from workbook.errors import DefinitionError
from workbook.tools.harness.logs import LogLine

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
    """How a case ended, the gravest first: of several parts of a case the gravest verdict counts."""

    HARNESS_ERROR = "harness error"
    FAIL = "fail"
    WARN = "warn"
    KNOWN = "known"
    NOT_LOOKED_AT = "not looked at"
    NOT_TESTABLE = "not testable"
    NOTE = "note"
    PASS = "pass"  # noqa: S105  # no password
    NOT_APPLICABLE = "not applicable"
    DISABLED = "disabled"

    @property
    def mark(self) -> str:
        """Its symbol; reports show it beside the word."""
        return VERDICTS[self].mark

    @property
    def owner(self) -> Owner:
        """Who acts on it."""
        return VERDICTS[self].owner

    @property
    def meaning(self) -> str:
        """The verdict in a sentence."""
        return VERDICTS[self].meaning

    @property
    def gravity(self) -> int:
        """Its place among all, from 0 for the gravest."""
        return list(Verdict).index(self)


class _Facts(NamedTuple):
    mark: str
    owner: Owner
    meaning: str


VERDICTS = {
    Verdict.HARNESS_ERROR: _Facts(
        "!", Owner.WORKBOOK, "The workbook itself failed; this says nothing about the back end."
    ),
    Verdict.FAIL: _Facts("✗", Owner.YOU, "A rule that must be kept was not, or harm would follow."),
    Verdict.WARN: _Facts("▲", Owner.YOU, "A rule that should be kept was broken; harm need not follow."),
    Verdict.KNOWN: _Facts("◆", Owner.YOU, "It fails, and the baseline says so."),
    Verdict.NOT_LOOKED_AT: _Facts(
        "◌", Owner.YOU, "Nothing that was read or played shows whether it holds; --strict fails."
    ),
    Verdict.NOT_TESTABLE: _Facts("○", Owner.YOU, "What the case needs is not there, so it was not judged."),
    Verdict.NOTE: _Facts("•", Owner.NOBODY, "Something was observed that no rule judges."),
    Verdict.PASS: _Facts("✓", Owner.NOBODY, "The back end did what the rule asks for."),
    Verdict.NOT_APPLICABLE: _Facts("-", Owner.NOBODY, "The case is about something that the back end does not have."),
    Verdict.DISABLED: _Facts("-", Owner.NOBODY, "The configuration leaves the case out."),
}


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
    """

    root: Root
    says: str
    todo: str
    cases: tuple[str, ...] = ()

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
        operation: GET or POST of the API, whatever the method; empty for another request.
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
    operation: str = ""


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
