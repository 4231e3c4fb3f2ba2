"""Time as data: a budget that begins, ends in time, or is spent.

A limit is an ordinary event, so that missing it is an edge of the table. A command's `call` and `seconds` are its
own: the loop puts `BudgetSpent` on the clock, and `StopBudget` takes it off again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbook.flows.messages.base import Actor, Command, Event


@dataclass(frozen=True, slots=True)
class BudgetSpent(Event):
    """The time of `call` is over and no answer has come (X-STATUS-3, X-ENTRIES-3)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "time is up"
    rules: ClassVar[tuple[str, ...]] = ("X-STATUS-3", "X-ENTRIES-3")
    call: str


@dataclass(frozen=True, slots=True)
class DelegateTimeSpent(BudgetSpent):
    """The time of the in-app delegate's provision is over and no answer has come (wallet)."""

    sender, receiver, says = Actor.WALLET, Actor.WALLET, "time is up"
    rules = ("B-DEL-3",)


@dataclass(frozen=True, slots=True)
class StartBudget(Command):
    """The time of one call begins; `seconds` is how much it has, and `spent` what happens when it is over."""

    arrow = False
    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "the time begins"
    spent: ClassVar[type[BudgetSpent]] = BudgetSpent
    call: str
    seconds: float


@dataclass(frozen=True, slots=True)
class StartStatusBudget(StartBudget):
    """status() has 100 ms (X-STATUS-3)."""

    rules = ("X-STATUS-3",)
    call: str = "status"
    seconds: float = 0.100


@dataclass(frozen=True, slots=True)
class StartPassEntriesBudget(StartBudget):
    """passEntries() has 20 s (X-ENTRIES-3)."""

    rules = ("X-ENTRIES-3",)
    call: str = "pass_entries"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartRemotePassEntriesBudget(StartBudget):
    """remotePassEntries() has 20 s (X-ENTRIES-3)."""

    rules = ("X-ENTRIES-3",)
    call: str = "remote_pass_entries"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartGenerateBudget(StartBudget):
    """The add-payment-pass request has 20 s (wallet; the document gives no limit)."""

    rules = ("X-GEN-1",)
    call: str = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StartProvisionBudget(StartBudget):
    """The in-app delegate's provision has 20 s (wallet; the document gives no limit)."""

    sender, receiver, says = Actor.WALLET, Actor.WALLET, "the time begins"
    spent = DelegateTimeSpent
    rules = ("B-DEL-3",)
    call: str = "provision"
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class StopBudget(Command):
    """The call has answered in time."""

    arrow = False
    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "in time"


BUDGETS = (
    StartStatusBudget,
    StartPassEntriesBudget,
    StartRemotePassEntriesBudget,
    StartGenerateBudget,
    StartProvisionBudget,
)
"""Every budget that a table may start."""
