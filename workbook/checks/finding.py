"""A finding: what a trace shows, the rule it breaks, whose job it is, and what to do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from workbook.base.rules import Owner
from workbook.checks.diagnosis import see
from workbook.flows.messages import Message
from workbook.flows.trace import Kind, Trace

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


def by_cause(why: str, usual: str) -> tuple[str, str]:
    """A cause without the advice that it brings along, and that advice; the usual one where it brings none."""
    cause, stop, advice = why.partition(". ")
    return cause, f"{advice.rstrip('.')}." if stop else usual


@dataclass(frozen=True, slots=True)
class Symptom:
    """A check in one row: a message that is a finding wherever it occurs.

    Attributes:
        message: its class, or several; not the classes below them.
        rule: the id of the rule; empty for the first one of the message's own.
        text: may name the message as `r`, its cause as `why`, its label as `says`, and the receiver's state as
            `before`.
        todo: what to do where the cause does not say it.
        when: whether this message of the class is one; None: each is.
        refused: whether it is one where it was refused; else it is one everywhere but there.
    """

    message: type[Message] | tuple[type[Message], ...]
    rule: str
    level: Severity
    owner: Owner
    text: str
    todo: str
    when: Callable[[Any], bool] | None = None
    refused: bool = False

    def __call__(self, trace: Trace) -> Iterator[Finding]:
        """The finding for each record of such a message."""
        for record in trace.select(*self.messages):
            message, refused = record.message, record.kind is Kind.REFUSED
            if type(message) in self.messages and refused is self.refused and (self.when is None or self.when(message)):
                why, todo = by_cause(str(message.value("why") or ""), self.todo)
                text = self.text.format(r=message, why=why, says=message.says, before=record.before)
                yield Finding(self.rule or message.rules[0], self.level, self.owner, text, todo, record.at)

    @property
    def messages(self) -> tuple[type[Message], ...]:
        """The classes of its messages."""
        return self.message if isinstance(self.message, tuple) else (self.message,)

    @property
    def always(self) -> bool:
        """Whether each message of the class is a finding, wherever it was not refused."""
        return self.when is None and not self.refused
