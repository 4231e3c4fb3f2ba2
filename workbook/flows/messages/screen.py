"""What the cardholder does, and what the app's screen shows, on either platform.

The add button belongs to both platforms, and each rests it on rules of its own: those of the row that asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbook.flows.messages.base import Actor, Command, Event


@dataclass(frozen=True, slots=True)
class Opened(Event):
    """The cardholder opened the card's page in the issuer's app (FLOW-4)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.APP, "opens the card"
    rules = ("FLOW-4",)
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class AddTapped(Event):
    """The cardholder tapped the add button (A-BTN-1)."""

    sender, receiver, says = Actor.CARDHOLDER, Actor.APP, "taps Add"
    rules = ("A-BTN-1",)


@dataclass(frozen=True, slots=True)
class ShowButton(Command):
    """Show the add button, enabled (A-CAN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows Add"


@dataclass(frozen=True, slots=True)
class HideButton(Command):
    """Hide the add button (A-CAN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "hides Add"


@dataclass(frozen=True, slots=True)
class DisableButton(Command):
    """Disable the add button from the moment provisioning begins (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "disables Add"


@dataclass(frozen=True, slots=True)
class EnableButton(Command):
    """Enable the add button again once the flow has completed or was terminated (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "enables Add"


@dataclass(frozen=True, slots=True)
class ReportToContact(Command):
    """Report the card to the operator's implementation contact (A-CAN-6)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "was added, is still offered: report it"
    rules = ("A-CAN-6",)


@dataclass(frozen=True, slots=True)
class ShowAdded(Command):
    """The app's screen says 'Added to Wallet' (B-FIN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows “Added to Wallet”"
    rules = ("B-FIN-2",)


@dataclass(frozen=True, slots=True)
class ShowAvailable(Command):
    """The app's screen says 'Available in Wallet' (B-FIN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "shows “Available in Wallet”"
    rules = ("B-FIN-2",)


@dataclass(frozen=True, slots=True)
class TellFailure(Command):
    """The app tells the cardholder that the card was not added (practice; the document is silent)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "says: not added"
    rules = ("B-FIN-1", "REL-6")
