"""A finding: what a trace shows, the rule it breaks, whose job it is, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from workbook.base.rules import Owner
from workbook.flows.trace import Record, Trace
from workbook.reading.diagnosis import see

Check = Callable[[Trace], Iterator["Finding"]]


class Severity(StrEnum):
    """How serious it is: wrong, doubtful, or only worth knowing."""

    FAIL = "fail"
    WARN = "warn"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a trace shows.

    Attributes:
        rule: the id of the rule it rests on.
        owner: whose job it is.
        text: what happened.
        todo: what to do about it.
        at: when, in seconds since the run began.
    """

    rule: str
    level: Severity
    owner: Owner
    text: str
    todo: str
    at: float

    @property
    def see(self) -> str:
        """The command that prints its row of the catalogue; empty where it has none."""
        return see(self.rule, self.text)

    def __str__(self) -> str:
        more = f" ({self.see})" if self.see else ""
        return f"{self.level.upper()} {self.rule} (owner: {self.owner}) {self.text} {self.todo}{more}"


@dataclass(frozen=True, slots=True)
class Symptom:
    """A message that is a finding wherever it occurs; `text` may name the message's own fields."""

    rule: str
    level: Severity
    owner: Owner
    text: str
    todo: str

    def finding(self, record: Record) -> Finding:
        """The finding for one record."""
        return Finding(self.rule, self.level, self.owner, self.text.format(r=record.message), self.todo, record.at)
