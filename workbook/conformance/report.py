"""What a run came to, as it may be shown: the model of every report. `report_file` writes and reads it as JSON.

`conform.json`, format 1, keys in this order. Whatever else a file holds is not read.

    format      1
    about       the run: target, base_url, seed, started (UTC), seconds, exit_code, command (runs the same again),
                config, versions, profile, repeat, strict, only, interrupted, unfinished (names), trouble, stale
    counts      how many cases ended with each verdict; for readers only
    cases       each: name, says, rule (id, level, section, text, harm), group, verdict, owner (who has to act),
                platform, why, seconds, misses (expected, observed, todo, rule, noted), exchanges, left_out (exchanges
                beyond 200 of one app), reproduce (runs this case again; everything, where it judges the whole run),
                began (seconds since the first case; null where nothing was done)
    exchanges   in the order of time: side (phone, API), at and ended (seconds since the case began; null where nobody
                knows), method, path, who (whose session), request, status (null where no answer came), answer, ending
                (why there is no answer, or the fault that was played), elsewhere (it went where a redirect pointed),
                platform (whose app called; a case with several has their exchanges one after the other),
                operation (which of the two it was: GET or POST, whatever its method; empty where neither)
    request,    headers: pairs of a name and its value, null where the value is not shown; body: JSON, null for none;
    answer      length of the body in bytes

What was added to a format later (`began`, `noted`, `operation`, `platform` of an exchange) may be missing from a file.

In a body every string stands as its length and a salted digest of four bytes: equal digests of one run are equal
values. What the simulator made is named beside it. No value itself stands anywhere, and nothing of a key or a session.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from workbook.conformance.leaks import NO_SECRETS, Secrets
from workbook.conformance.verdict import Miss, Owner, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.conformance.case import Group
    from workbook.rules import Rule

    Headers = tuple[tuple[str, str | None], ...]

FORMAT = 1
PHONE, API = "phone", "API"
FAILING = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.FLAKY, Verdict.KNOWN})
"""Verdicts that say that a rule was not kept."""
UNDECIDED = frozenset({Verdict.NOT_TESTABLE, Verdict.HARNESS_ERROR})
"""Verdicts that say nothing about a back end that should have been judged."""


@dataclass(frozen=True, slots=True)
class About:
    """The run as a whole. What has no repr is never written.

    Attributes:
        target: what the back end is called; free text.
        base_url: where it is, without a secret; or its Python adapter.
        seed: of the canaries.
        started: the moment, ISO 8601 in UTC; see `moment`.
        seconds: how long the run took.
        exit_code: what the process returned.
        command: the command line that runs the same again.
        config: the configuration's file as it was named; empty where it came from Python.
        versions: of the workbook, of Python and so on, by their names.
        profile: of the API's side.
        repeat: how many times each case was run.
        strict: a warning counts as a failure.
        only: the patterns that chose cases; empty for all.
        interrupted: Ctrl-C ended it.
        unfinished: names of the cases that were chosen and did not come to an end.
        trouble: what kept cases from being judged; empty where nothing did.
        stale: what is wrong with the baseline, a sentence an entry.
        secrets: session secrets, and whatever else no report may hold; the keys are known from what was seen.
        values: opaque data of every round, whatever became of its results.
    """

    target: str
    base_url: str
    seed: int
    started: str
    seconds: float
    exit_code: int
    command: str
    config: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    repeat: int = 1
    strict: bool = False
    only: tuple[str, ...] = ()
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    trouble: str = ""
    stale: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    values: tuple[str, ...] = field(default=(), repr=False)

    @property
    def partial(self) -> bool:
        """Whether a case that is missing may have been left out rather than be gone."""
        return self.interrupted or bool(self.only or self.unfinished)

    def reproduce(self, name: str = "") -> str:
        """What runs one case again: a line of the shell, or without a file a call; everything where none is named."""
        if not self.config:
            return f"conform(config, Wish([CASES[{name!r}]]))" if name else "conform(config)"
        only = ["--only", name] * bool(name)
        return " ".join(["workbook conform", shlex.quote(self.config), *only, "--seed", str(self.seed)])


@dataclass(frozen=True, slots=True)
class Message:
    """A request or an answer as it may be shown."""

    headers: Headers = ()
    body: Any = None
    length: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, on one of the two sides; the module says what each field means."""

    side: str
    at: float
    ended: float | None
    method: str
    path: str
    who: str
    request: Message
    status: int | None
    answer: Message | None
    ending: str = ""
    elsewhere: bool = False
    platform: str = ""
    operation: str = ""


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """What one case came to; the module says what each field means."""

    name: str
    says: str
    rule: Rule
    group: Group
    verdict: Verdict
    owner: Owner
    platform: str
    why: str
    seconds: float
    misses: tuple[Miss, ...]
    exchanges: tuple[Exchange, ...]
    left_out: int
    reproduce: str
    began: float | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """One run.

    Attributes:
        about: the run as a whole.
        cases: every case that came to an end, in the order of the cases.
        secrets: what no report may hold; nothing is known of it once a record was read from a file.
    """

    about: About
    cases: tuple[CaseRecord, ...]
    secrets: Secrets = field(default=NO_SECRETS, repr=False, compare=False)

    def ended(self, *verdicts: Verdict) -> tuple[CaseRecord, ...]:
        """The cases that ended with one of these verdicts."""
        return tuple(case for case in self.cases if case.verdict in verdicts)

    @property
    def to_rerun(self) -> tuple[str, ...]:
        """Names of the cases that are worth another run: what failed, what was not decided, what did not end."""
        names = (case.name for case in self.cases if case.verdict in FAILING | {Verdict.HARNESS_ERROR})
        return (*names, *self.about.unfinished)


def moment(seconds: float) -> str:
    """A moment in seconds since 1970 as ISO 8601, in UTC and whole seconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
