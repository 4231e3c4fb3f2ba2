"""Whether a back end still does anything: one that hangs answers nothing, and a run would wait for every call of it.

Only plain calls count, those that meet an API which answers as it should. A back end that is slow and alive has one of
them succeed now and then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.script import Down, Now, Up
from workbook.conformance.seen import Broke

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbook.conformance.script import Order, Step
    from workbook.conformance.seen import Call

FEW = 4
"""Plain calls in a row without a success, fewer of which mean nothing (assumed)."""
LONG = 2.0
"""Times the bound for which no plain call succeeds, before it is looked into (assumed)."""
SLOW = 0.2
"""A failure that takes this share of the bound was waited for; a quicker one is an answer like any other (assumed)."""


@dataclass(slots=True)
class Silence:
    """How long no plain call has succeeded, as far as anybody waited.

    Attributes:
        bound: seconds within which an answer has to come.
        since: the case with which it began, by name; empty while it has not.
    """

    bound: float
    since: str = ""
    _began: float = 0.0
    _ended: float = 0.0
    _count: int = 0

    def heard(self, case: str, call: Call) -> None:
        """A plain call of this case has ended."""
        if call.succeeded:
            self.forget()
        elif call.broke is not Broke.CANCELLED and call.seconds > SLOW * self.bound:
            if not self._count:
                self.since, self._began = case, call.began
            self._count, self._ended = self._count + 1, max(self._ended, call.ended)

    @property
    def suspected(self) -> bool:
        """Whether it is time to look into it."""
        return self._count >= FEW and self._ended - self._began >= LONG * self.bound

    def forget(self) -> None:
        """It was nothing."""
        self.since, self._count, self._began, self._ended = "", 0, 0.0, 0.0


def calm(orders: Iterable[Order]) -> bool:
    """Whether the API answers as it should, with these orders."""
    return not any(order.fault for order in orders)


def calm_after(step: Step, before: bool) -> bool:  # noqa: FBT001  # what was before
    """Whether the API answers as it should after a step."""
    match step:
        case Now():
            return calm(step.orders)
        case Down():
            return False
        case Up():
            return True
        case _:
            return before
