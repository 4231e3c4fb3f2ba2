"""What the cardholder sees of a phone at one moment, and how each record of a trace changes it.

A fold, and its table: a message that stands here changes the screen, every other leaves it alone. Where the app's own
screen is concerned the document says what must be seen (A-BTN-1, B-FIN-2); the wallet's sheet, its list and its
authorization screen are the wallet's own, and how they look here is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Any

from workbook.flows import messages as m

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Change = Callable[["Screen", Any], "Screen"]


@unique
class Place(StrEnum):
    """What is in front."""

    HOME = "home screen"
    APP = "the issuer's app"
    WALLET = "the wallet app"


@unique
class Sheet(StrEnum):
    """The wallet's sheet over the issuer's app, and what it says."""

    NONE = ""
    UP = "the wallet asks the cardholder"
    ADDING = "the wallet adds the card"
    ADDED = "the wallet has added the card"
    FAILED = "the wallet could not add the card"


@unique
class Page(StrEnum):
    """Where the wallet app stands when the flow starts there."""

    NONE = ""
    LOOKING = "looks for apps with cards"
    APPS = "lists the apps with cards"
    NO_APPS = "lists no app"
    FETCHING = "asks the app for its cards"
    CARDS = "shows the cards to add"
    NO_CARDS = "shows no card to add"
    AUTHORIZING = "lets the app authenticate the cardholder"
    ADDING = "adds the card"
    ADDED = "shows the card"
    NOT_ADDED = "says that the card was not added"


FAILED = "failed"
"""The state in which an attempt in an app has failed."""
NOT_ADDED = "Not added"
CANCELED = "Canceled"
"""The reason for which the cardholder's own choice ended it (sdk-a)."""
ENDS = (m.ProvisionFailure, m.SdkOutputFailed, m.OpcFailed)
"""What may end an attempt on platform A. The document has no word of what its app then says, so that is assumed."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What is to be seen.

    Attributes:
        place: what is in front.
        card: the payment instrument whose page is open, or that was chosen.
        button: the add button: absent, shown, disabled or hidden (A-BTN-1, A-CAN-2).
        label: what the app's screen says beside it, such as "Added to Wallet" (B-FIN-2).
        waits: the app or the wallet is waiting for an answer.
        sheet: the wallet's sheet, over the app.
        page: the wallet app's page.
        entries: the identifiers of the cards that the wallet app offers.
        on_phone: the cards that the phone's wallet holds.
        on_watch: the cards that the watch's wallet holds; None where no watch is paired.
        surface: `phone` or `watch`: where the wallet app runs.
    """

    place: Place = Place.HOME
    card: str = ""
    button: str = "absent"
    label: str = ""
    waits: bool = False
    sheet: Sheet = Sheet.NONE
    page: Page = Page.NONE
    entries: tuple[str, ...] = ()
    on_phone: frozenset[str] = frozenset()
    on_watch: frozenset[str] | None = None
    surface: str = "phone"


def after(screen: Screen, message: m.Message, state: str = "") -> Screen:
    """The screen once this has happened, and the flow has come to this state."""
    change = CHANGES.get(type(message))
    changed = screen if change is None else change(screen, message)
    return replace(changed, label=NOT_ADDED) if state == FAILED and _tells(message) else changed


def _tells(message: m.Message) -> bool:
    """Whether the app says that the card was not added; whoever cancelled knows it (assumed)."""
    return isinstance(message, ENDS) and getattr(message, "reason", "") != CANCELED


def _to(**changes: Any) -> Change:
    return lambda screen, _message: replace(screen, **changes)


def _opened(screen: Screen, message: m.Opened) -> Screen:
    card = message.payment_instrument_id
    return replace(screen, place=Place.APP, card=card, button="absent", label="", waits=True, sheet=Sheet.NONE)


def _button(button: str, *, waits: bool = False) -> Change:
    return lambda screen, _message: replace(screen, button=button, waits=waits)


def _disabled(screen: Screen, _message: m.Message) -> Screen:
    return replace(screen, button="disabled", waits=True, label="")


def _failed(screen: Screen, _message: m.Message) -> Screen:
    """A sheet that was never up cannot fail; the app alone then says what happened."""
    return replace(screen, waits=False, sheet=Sheet.FAILED if screen.sheet else Sheet.NONE)


def _into(screen: Screen, where: str) -> Screen:
    """The chosen card is in the wallet of the phone, of the watch, or of both."""
    mine = {screen.card}
    phone = screen.on_phone | mine if where in ("phone", "both") else screen.on_phone
    watch = screen.on_watch
    if watch is not None and where in ("watch", "both"):
        watch |= mine
    return replace(screen, on_phone=phone, on_watch=watch)


def _succeeded(screen: Screen, _message: m.ProvisionSuccess) -> Screen:
    return replace(_into(screen, "phone"), sheet=Sheet.ADDED, waits=False, label="")


def _finished(screen: Screen, message: m.FinishedWithPass) -> Screen:
    return replace(_into(screen, message.where), sheet=Sheet.ADDED, waits=False)


def _closes_sheet(screen: Screen, _message: m.Message) -> Screen:
    """The app asks again whether the card can be added: by then the sheet is gone."""
    return replace(screen, sheet=Sheet.NONE, waits=True)


def _entries(screen: Screen, message: m.ShowEntries) -> Screen:
    offered = tuple(str(getattr(entry, "identifier", entry)) for entry in message.entries)
    return replace(screen, page=Page.CARDS, entries=offered, waits=False)


def _chosen(screen: Screen, message: m.EntryChosen) -> Screen:
    return replace(screen, card=message.identifier, page=Page.AUTHORIZING, waits=False)


def _card_added(screen: Screen, _message: m.ShowCardAdded) -> Screen:
    return replace(_into(screen, screen.surface), page=Page.ADDED, waits=False)


CHANGES: Mapping[type[m.Message], Change] = {
    m.Opened: _opened,
    m.ShowButton: _button("shown"),
    m.HideButton: _button("hidden"),
    m.EnableButton: _to(button="shown", waits=False, sheet=Sheet.NONE),
    m.DisableButton: _disabled,
    m.ShowAdded: _to(label="Added to Wallet"),
    m.ShowAvailable: _to(label="Available in Wallet"),
    m.AddTapped: _to(label=""),
    m.TellFailure: _to(label=NOT_ADDED),
    m.WalletAsked: _to(sheet=Sheet.ADDING),
    m.ProvisionSuccess: _succeeded,
    m.ProvisionFailure: _failed,
    m.CanProvisionCalled: _closes_sheet,
    m.StartCalled: _to(sheet=Sheet.UP),
    m.StartThrew: _to(sheet=Sheet.NONE, waits=False),
    m.WalletKitAsked: _to(sheet=Sheet.ADDING),
    m.GiveUp: _failed,
    m.FinishedWithPass: _finished,
    m.FinishedWithError: _failed,
    m.FinishedWithNeither: _failed,
    m.CanAddCardCalled: _closes_sheet,
    m.CanAddCardDetailsCalled: _closes_sheet,
    m.IssuerListOpened: _to(place=Place.WALLET, page=Page.LOOKING, waits=True, card="", entries=()),
    m.ListIssuer: _to(page=Page.APPS, waits=False),
    m.HideIssuer: _to(page=Page.NO_APPS, waits=False),
    m.IssuerChosen: _to(page=Page.FETCHING, waits=True),
    m.ShowEntries: _entries,
    m.ShowNoEntries: _to(page=Page.NO_CARDS, waits=False, entries=()),
    m.EntryChosen: _chosen,
    m.CallGenerate: _to(page=Page.ADDING, waits=True),
    m.ShowCardAdded: _card_added,
    m.ShowNotAdded: _to(page=Page.NOT_ADDED, waits=False),
}
"""What changes the screen. Everything else happens behind it."""
