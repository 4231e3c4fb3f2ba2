"""What passes between the wallet app and the issuer's extension until the cards are shown (platform B).

The wallet app plays the first part: the one on the phone, or the watch's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.flows.messages.base import Actor, Aside, Command, Event


@dataclass(frozen=True, slots=True)
class IssuerListOpened(Event):
    """The cardholder looks in the wallet for apps that offer cards (FLOW-4)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "opens the list of apps"
    rules = ("FLOW-4",)


@dataclass(frozen=True, slots=True)
class IssuerChosen(Event):
    """The cardholder chooses the issuer's app in the list (X-FLOW-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "chooses the issuer's app"
    rules = ("X-FLOW-1",)


@dataclass(frozen=True, slots=True)
class EntryChosen(Event):
    """The cardholder chooses a card among the pass entries (X-FLOW-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.WALLET_APP, "chooses a card"
    rules = ("X-FLOW-1",)
    identifier: str


@dataclass(frozen=True, slots=True)
class CallStatus(Command):
    """Call status() on a new handler (X-STATUS-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "status()"
    rules = ("X-STATUS-1", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class EntriesAvailable(Event):
    """status() returned extensionStatus: there are cards to add (X-STATUS-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "extensionStatus"
    rules = ("X-STATUS-1",)
    requires_authentication: bool


@dataclass(frozen=True, slots=True)
class EntriesUnavailable(Event):
    """status() returned entriesUnavailableExtensionStatus (X-STATUS-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "entriesUnavailableExtensionStatus"
    rules = ("X-STATUS-2",)


@dataclass(frozen=True, slots=True)
class ExtensionNotFound(Event):
    """There is no extension that the wallet could call; `why` says what is wrong with it (X-PLIST-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no such extension"
    rules = ("X-PLIST-1",)
    why: str


@dataclass(frozen=True, slots=True)
class HandlerRaised(Event):
    """The handler's own code failed, or returned what it must not; `error` says how (blame: the handler)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "the handler failed"
    rules = ("X-HANDLER-1",)
    call: str
    error: str


@dataclass(frozen=True, slots=True)
class ListIssuer(Command):
    """The wallet lists the issuer's app, and remembers whether the authorization UI is to be used (X-STATUS-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "lists the issuer's app"
    rules = ("X-STATUS-1",)
    requires_authentication: bool


@dataclass(frozen=True, slots=True)
class HideIssuer(Command):
    """The wallet does not list the issuer's app; the cardholder is told nothing (X-STATUS-2, X-STATUS-3)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "does not list the issuer's app"
    rules = ("X-STATUS-2", "X-STATUS-3")


@dataclass(frozen=True, slots=True)
class IgnoreLate(Command):
    """An answer after its time: the wallet ignores it (wallet)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "too late: ignored"
    rules = ("X-STATUS-3", "X-ENTRIES-3")


@dataclass(frozen=True, slots=True)
class CallPassEntries(Command):
    """Call passEntries() on a new handler (X-ENTRIES-1, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "passEntries()"
    rules = ("X-ENTRIES-1", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class CallRemotePassEntries(Command):
    """Call remotePassEntries() on a new handler, for the watch (X-ENTRIES-2, X-HANDLER-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "remotePassEntries()"
    rules = ("X-ENTRIES-2", "X-HANDLER-1")


@dataclass(frozen=True, slots=True)
class CardArtForBrandAsked(Event):
    """The SDK asks the delegate for card art by brand, as in the earlier variant (X-ART-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "cardArt(forBrand)"
    rules = ("X-ART-1",)
    brand: str


@dataclass(frozen=True, slots=True)
class CardArtForIdAsked(Event):
    """The SDK asks the delegate for card art by payment instrument, as in the later variant (X-ART-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "cardArt(paymentInstrumentId)"
    rules = ("X-ART-1",)
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class EntriesReturned(Event):
    """The handler returned pass entries (X-ENTRIES-1, X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "pass entries"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")
    entries: Any


@dataclass(frozen=True, slots=True)
class NoEntries(Event):
    """The handler returned no pass entry (X-ENTRIES-1, X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "no pass entry"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")


@dataclass(frozen=True, slots=True)
class ShowEntries(Command):
    """The wallet shows the cards with their art (X-ART-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows the cards"
    rules = ("X-ART-1",)
    entries: Any


@dataclass(frozen=True, slots=True)
class ShowNoEntries(Command):
    """The wallet shows no card to add."""

    sender, receiver, says = Actor.WALLET_APP, Actor.CARDHOLDER, "shows no card"
    rules = ("X-ENTRIES-3",)


@dataclass(frozen=True, slots=True)
class AlreadyThere(Aside):
    """The wallet finds that an offered card is in its library already (wallet)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.WALLET_APP, "is here already"
    rules = ("X-ENTRIES-1", "X-ENTRIES-2")
    payment_instrument_id: str
