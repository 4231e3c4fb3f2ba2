"""What passes between the wallet app and the issuer's two extensions once a card is chosen (platform B).

`why` is the simulator's explanation; the real wallet says less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.flows.messages.base import Actor, Command, Event


@dataclass(frozen=True, slots=True)
class Authenticate(Command):
    """Authenticate the cardholder, by the authorization UI extension where status() said so (X-AUTH-2)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "asks to authenticate"
    rules = ("X-AUTH-1", "X-AUTH-2")
    identifier: str


@dataclass(frozen=True, slots=True)
class Authorized(Event):
    """The cardholder is authenticated (X-AUTH-1, X-AUTH-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(authorized)"
    rules = ("X-AUTH-1", "X-AUTH-2")
    identifier: str


@dataclass(frozen=True, slots=True)
class AuthenticatedByWallet(Event):
    """The wallet authenticated the cardholder by itself, where status() requires no authorization UI (assumed)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "the cardholder is authenticated"
    rules = ("X-AUTH-2",)
    identifier: str


@dataclass(frozen=True, slots=True)
class AuthorizationCanceled(Event):
    """Authentication did not succeed (X-AUTH-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(canceled)"
    rules = ("X-AUTH-1",)


@dataclass(frozen=True, slots=True)
class AuthorizationMissing(Event):
    """Nothing came of the authorization UI; `why` says what is missing (X-AUTH-1, X-STATUS-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no authentication"
    rules = ("X-AUTH-1", "X-STATUS-1")
    why: str


@dataclass(frozen=True, slots=True)
class CallGenerate(Command):
    """Call generateAddPaymentPassRequestForPassEntryWithIdentifier on a new handler (X-GEN-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "generateAddPaymentPassRequest…(identifier, …)"
    rules = ("X-GEN-1", "X-HANDLER-1")
    identifier: str


@dataclass(frozen=True, slots=True)
class ExtensionProvisionCalled(Event):
    """The SDK calls the delegate's provision (X-DEL-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "provision(paymentInstrumentId, sdkOutput)"
    rules = ("X-DEL-1", "X-FLOW-1")
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class RequestReturned(Event):
    """The handler returned an add-payment-pass request (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "add-payment-pass request"
    rules = ("X-GEN-1",)
    request: Any


@dataclass(frozen=True, slots=True)
class NoRequest(Event):
    """The handler returned nil (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "nil"
    rules = ("X-GEN-1",)


@dataclass(frozen=True, slots=True)
class AddPass(Command):
    """The wallet app has the wallet add the card of this request (X-FLOW-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "add the card"
    rules = ("X-FLOW-1",)
    request: Any


@dataclass(frozen=True, slots=True)
class PassAdded(Event):
    """The card is in the wallet (X-FLOW-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "added"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class PassRefused(Event):
    """The wallet cannot use the request; `why` is the simulator's explanation."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "refused"
    rules = ("X-FLOW-1",)
    why: str


@dataclass(frozen=True, slots=True)
class ShowCardAdded(Command):
    """The wallet shows the card."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows the added card"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class ShowNotAdded(Command):
    """The wallet says that the card was not added."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "says: not added"
    rules = ("X-FLOW-1",)
