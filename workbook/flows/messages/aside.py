"""What is seen on the way and recorded, and never stepped by a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from workbook.flows.messages.base import Actor, Aside


@dataclass(frozen=True, slots=True)
class ApiRequested(Aside):
    """The back end sent a request to the HTTP API (API-1, API-2)."""

    sender, receiver, says = Actor.BACK_END, Actor.API, "HTTP request"
    rules: ClassVar[tuple[str, ...]] = ("API-4", "API-13")
    method: str
    payment_instrument_id: str
    sdk_output: Any = None


@dataclass(frozen=True, slots=True)
class ApiAnswered(Aside):
    """The HTTP API answered.

    `told` is what an error answer says in its own words; `basis` says what the answer rests on (a rule or
    a source tag).
    """

    sender, receiver, says = Actor.API, Actor.BACK_END, "HTTP answer"
    rules = ("API-9",)
    status: int
    sdk_input: Any = None
    told: str = ""
    basis: str = ""


@dataclass(frozen=True, slots=True)
class WalletAsked(Aside):
    """The SDK handed the card to the wallet, whose own flow runs now (A-PROV-3)."""

    sender, receiver, says = Actor.SDK, Actor.WALLET, "add the card"
    rules = ("A-PROV-3",)


@dataclass(frozen=True, slots=True)
class VerificationPending(Aside):
    """The wallet holds the card, which waits for an identity check: canProvision's answer is on purpose (sdk-a)."""

    sender, receiver, says = Actor.WALLET, Actor.SDK, "the card waits for an identity check"
    rules = ("A-CAN-6",)


@dataclass(frozen=True, slots=True)
class ApiFailed(Aside):
    """The call ended without an answer that could be used; `error` is the client's error class."""

    sender, receiver, says = Actor.API, Actor.BACK_END, "no usable answer"
    rules: ClassVar[tuple[str, ...]] = ("API-9",)
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class Noted(Aside):
    """A remark that a reader of the trace needs, such as where the real world ends."""

    kind = "note"
    sender, receiver, says = Actor.APP, Actor.APP, "note"
    text: str
