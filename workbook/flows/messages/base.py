"""What every message is: one sentence between two actors, either a fact or a request."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Actor(StrEnum):
    """Who speaks and who listens, in the order of a sequence diagram's columns."""

    CARDHOLDER = "Cardholder"
    WALLET_APP = "Wallet app"
    APP = "App"
    EXTENSION = "Extension"
    STORAGE = "Storage"
    SDK = "SDK"
    WALLET = "Wallet"
    BACK_END = "Back end"
    API = "API"


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence between two actors. `says` is the label of its arrow, in the document's spelling."""

    sender: ClassVar[Actor]
    receiver: ClassVar[Actor]
    says: ClassVar[str]
    rules: ClassVar[tuple[str, ...]] = ()
    arrow: ClassVar[bool] = True
    """False for a request that only repeats the call just drawn, so that no arrow stands twice."""


@dataclass(frozen=True, slots=True)
class Event(Message):
    """A fact. The opposite of a `Command`: it can be refused, but never undone."""


@dataclass(frozen=True, slots=True)
class Command(Message):
    """A request. The opposite of an `Event`: whoever carries it out answers with events."""


@dataclass(frozen=True, slots=True)
class Aside(Event):
    """What is seen on the way and recorded, and never stepped by a table; `kind` is the record's."""

    kind: ClassVar[str] = "exchange"
