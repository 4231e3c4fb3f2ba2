"""The calls of an extension's handler in a trace: what was called, what it did, what came of it, how long it took.

Timing and checks both read a run call by call; here it is cut into calls, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbook.flows import messages as m
from workbook.trace import Kind, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.flows.messages import Command, Message
    from workbook.trace import Trace

CALLS: dict[type[Command], str] = {
    m.CallStatus: "status",
    m.CallPassEntries: "pass_entries",
    m.CallRemotePassEntries: "remote_pass_entries",
    m.CallGenerate: "generate_add_payment_pass_request_for_pass_entry_with_identifier",
}
"""Each call by the command that makes it."""

ANSWERS = (
    m.EntriesAvailable,
    m.EntriesUnavailable,
    m.ExtensionNotFound,
    m.EntriesReturned,
    m.NoEntries,
    m.RequestReturned,
    m.NoRequest,
    m.HandlerRaised,
)
"""What ends a call."""


class HandlerCall(NamedTuple):
    """One call.

    Attributes:
        name: which, one of `CALLS`.
        made: the record of the call.
        inside: what happened until its answer.
        answer: the record of its answer, in time or not; None when none came.
    """

    name: str
    made: Record
    inside: tuple[Record, ...]
    answer: Record | None

    @property
    def seconds(self) -> float | None:
        """How long it took; None when no answer came."""
        return None if self.answer is None else self.answer.at - self.made.at

    @property
    def late(self) -> bool:
        """Whether its time was spent before it answered."""
        return any(isinstance(record.message, m.BudgetSpent) for record in self.inside)

    @property
    def ended(self) -> float:
        """When its answer came, in seconds since the run began; when it was made, if none did."""
        return self.made.at if self.answer is None else self.answer.at

    def answered(self, *messages: type[Message]) -> bool:
        """Whether its answer is of this kind, in time or not."""
        return self.answer is not None and isinstance(self.answer.message, messages)

    def did(self, *messages: type[Message]) -> list[Record]:
        """What it did of this kind."""
        return [record for record in self.inside if isinstance(record.message, messages)]


def handler_calls(trace: Trace) -> Iterator[HandlerCall]:
    """Each call of a handler, in the order in which they were made."""
    made: Record | None = None
    inside: list[Record] = []
    for record in trace:
        if record.kind is Kind.COMMAND and type(record.message) in CALLS:
            yield from _call(made, inside)
            made, inside = record, []
        elif isinstance(record.message, ANSWERS):
            yield from _call(made, inside, record)
            made = None
        else:
            inside.append(record)
    yield from _call(made, inside)


def _call(made: Record | None, inside: list[Record], answer: Record | None = None) -> Iterator[HandlerCall]:
    """The call that was made, if any; one that was still unanswered when the next was made has no answer."""
    if made is not None:
        name = next(CALLS[kind] for kind in CALLS if isinstance(made.message, kind))
        yield HandlerCall(name, made, tuple(inside), answer)
