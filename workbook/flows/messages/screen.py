"""What the cardholder does, and what the app's screen shows."""

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
    rules = ("A-CAN-1",)


@dataclass(frozen=True, slots=True)
class HideButton(Command):
    """Hide the add button (A-CAN-2)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "hides Add"
    rules = ("A-CAN-2",)


@dataclass(frozen=True, slots=True)
class DisableButton(Command):
    """Disable the add button from the moment provisioning begins (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "disables Add"
    rules = ("A-BTN-1",)


@dataclass(frozen=True, slots=True)
class EnableButton(Command):
    """Enable the add button again once the flow has completed or was terminated (A-BTN-1)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "enables Add"
    rules = ("A-BTN-1",)


@dataclass(frozen=True, slots=True)
class ReportToContact(Command):
    """Report the card to the operator's implementation contact (A-CAN-6)."""

    sender, receiver, says = Actor.APP, Actor.CARDHOLDER, "was added, is still offered: report it"
    rules = ("A-CAN-6",)
