"""What both SDK stand-ins are: a command in, the document's outcome and its seconds out, by a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.flows.messages import Command, Event

    Reply = tuple[float, Event]


class StandIn:
    """An SDK's stand-in.

    Attributes:
        seen: called with what passes on the way, which no table steps.
        attempt: the number of its latest sdkOutput, counted for the whole phone.
    """

    def __init__(self, answers: Mapping[type[Command], Callable[[Any], Reply]]) -> None:
        self.seen: Callable[[Event], None] = lambda _event: None
        self.attempt = 0
        self._answers = dict(answers)

    @property
    def commands(self) -> tuple[type[Command], ...]:
        """The commands that this stand-in carries out."""
        return tuple(self._answers)

    def answer(self, command: Command) -> Reply:
        """The outcome and how many seconds it takes."""
        return self._answers[type(command)](command)
