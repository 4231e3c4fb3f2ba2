"""The screen of the phone at one moment: as data, in words, and how each message of a trace changes it.

`SCREEN_CHANGES` says which messages change the screen and how; all others leave it alone. The document says what the
app's own screen must show (A-BTN-1, B-FIN-2). The wallet's sheet, list and authorization screen are assumed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import Any

from workbook.flows import messages as m
from workbook.play.loop import NO_BUTTON_YET
from workbook.simulation.wallet import CANCELED
from workbook.views.table import clean

Change = Callable[["Screen", Any], "Screen"]


@unique
class InFront(StrEnum):
    """Which app is in front."""

    HOME = "home screen"
    APP = "the issuer's app"
    WALLET = "the wallet app"


@unique
class Sheet(StrEnum):
    """The message of the wallet's sheet over the issuer's app; NONE without a sheet."""

    NONE = ""
    UP = "the wallet asks the cardholder"
    ADDING = "the wallet adds the card"
    ADDED = "the wallet has added the card"
    FAILED = "the wallet could not add the card"


@unique
class Page(StrEnum):
    """The page of the wallet app, in a flow that begins there."""

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


@dataclass(frozen=True, slots=True)
class Screen:
    """All that the cardholder sees.

    Attributes:
        place: the app in front.
        card: the payment instrument whose page is open, or that was chosen.
        button: the add button: absent, shown, disabled or hidden (A-BTN-1, A-CAN-2).
        label: the words beside it, such as "Added to Wallet" (B-FIN-2).
        waits: the app or the wallet waits for an answer.
        sheet: the wallet's sheet, over the app.
        page: the wallet app's page.
        entries: the identifiers of the cards that the wallet app offers.
        on_phone: the cards in the phone's wallet.
        on_watch: the cards in the watch's wallet; None where no watch is paired.
        surface: `phone` or `watch`: where the wallet app runs.
    """

    place: InFront = InFront.HOME
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
    """The screen after this message, which led the flow to this state."""
    change = SCREEN_CHANGES.get(type(message))
    changed = screen if change is None else change(screen, message)
    # Platform A's app says so where an attempt failed, but not of the cardholder's own choice (assumed: the document
    # has no words for a failure; sdk-a has the reason).
    ended = state == "failed" and isinstance(message, m.ProvisionFailure | m.SdkOutputFailed | m.OpcFailed)
    return replace(changed, label="Not added") if ended and getattr(message, "reason", "") != CANCELED else changed


def _to(**changes: Any) -> Change:
    return lambda screen, _message: replace(screen, **changes)


def _opened(screen: Screen, message: m.Opened) -> Screen:
    card = message.payment_instrument_id
    return replace(screen, place=InFront.APP, card=card, button="absent", label="", waits=True, sheet=Sheet.NONE)


def _show_entries(screen: Screen, message: m.ShowEntries) -> Screen:
    offered = tuple(str(getattr(entry, "identifier", entry)) for entry in message.entries)
    return replace(screen, page=Page.CARDS, entries=offered, waits=False)


def _failed(screen: Screen, _message: m.Message) -> Screen:
    """The sheet shows the failure if it is up; otherwise only the app can."""
    return replace(screen, waits=False, sheet=Sheet.FAILED if screen.sheet else Sheet.NONE)


def _into(screen: Screen, where: str, **changes: Any) -> Screen:
    """The chosen card is in the wallet of the phone, of the watch, or of both: nothing waits any more."""
    phone, watch = screen.on_phone, screen.on_watch
    if where in ("phone", "both"):
        phone |= {screen.card}
    if watch is not None and where in ("watch", "both"):
        watch |= {screen.card}
    return replace(screen, on_phone=phone, on_watch=watch, waits=False, **changes)


# The screen of a moment is a fold of these functions over the trace up to it. No function looks anywhere else, so a
# player can show any moment without undoing another, and a replay of the same trace is the same film.

# The messages that change the screen. All others happen behind it.
SCREEN_CHANGES: Mapping[type[m.Message], Change] = {
    m.Opened: _opened,
    m.ActivationDataFailed: _to(label=NO_BUTTON_YET),  # the page offers *Try again*: it has no button to tap (assumed)
    m.ShowButton: _to(button="shown", waits=False),
    m.HideButton: _to(button="hidden", waits=False),
    m.EnableButton: _to(button="shown", waits=False, sheet=Sheet.NONE),
    m.DisableButton: _to(button="disabled", waits=True, label=""),
    m.AlreadyExistsInWallet: _to(label="In the wallet"),  # platform A's app says so, too (assumed)
    m.ShowAdded: _to(label="Added to Wallet"),
    m.ShowAvailable: _to(label="Available in Wallet"),
    m.AddTapped: _to(label=""),
    m.TellFailure: _to(label="Not added"),
    m.WalletAsked: _to(sheet=Sheet.ADDING),
    m.ProvisionSuccess: lambda screen, _message: _into(screen, "phone", sheet=Sheet.ADDED, label=""),
    m.ProvisionFailure: _failed,
    m.CanProvisionCalled: _to(sheet=Sheet.NONE, waits=True),  # the app asks again; by then the sheet is gone
    m.StartCalled: _to(sheet=Sheet.UP),
    **dict.fromkeys((m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled), _to(sheet=Sheet.ADDING)),
    m.StartThrew: _to(sheet=Sheet.NONE, waits=False),
    m.WalletKitAsked: _to(sheet=Sheet.ADDING),
    m.GiveUp: _failed,
    m.FinishedWithPass: lambda screen, message: _into(screen, message.where, sheet=Sheet.ADDED),
    m.FinishedWithError: _failed,
    m.FinishedCancelled: _to(waits=False, sheet=Sheet.NONE),
    m.FinishedWithNeither: _failed,
    m.CanAddCardCalled: _to(sheet=Sheet.NONE, waits=True),
    m.CanAddCardDetailsCalled: _to(sheet=Sheet.NONE, waits=True),
    m.IssuerListOpened: _to(place=InFront.WALLET, page=Page.LOOKING, waits=True, card="", entries=()),
    m.ListIssuer: _to(page=Page.APPS, waits=False),
    m.HideIssuer: _to(page=Page.NO_APPS, waits=False),
    m.IssuerChosen: _to(page=Page.FETCHING, waits=True),
    m.ShowEntries: _show_entries,
    m.ShowNoEntries: _to(page=Page.NO_CARDS, waits=False, entries=()),
    m.EntryChosen: lambda screen, message: replace(screen, card=message.identifier, page=Page.AUTHORIZING, waits=False),
    m.CallGenerate: _to(page=Page.ADDING, waits=True),
    m.ShowCardAdded: lambda screen, _message: _into(screen, screen.surface, page=Page.ADDED),
    m.ShowNotAdded: _to(page=Page.NOT_ADDED, waits=False),
}


# The screen in words, for readers who do not see the picture, and for a console.

BANK = "Example Bank"


def digits(instrument: str) -> str:
    """The last four characters of an id, shown as the card's number (assumed: a real number is not the id's)."""
    return "".join(c for c in instrument if c.isascii() and c.isalnum())[-4:]


def describe(screen: Screen) -> str:
    """One or two sentences: the app in front, and the cards on the watch beside it."""
    front, card = "", name_card(screen.card)
    match screen.place:
        case InFront.HOME:
            front = f"The home screen, with the issuer's app, {BANK}, and the wallet."
        case InFront.APP if screen.sheet:
            message = f"{screen.sheet} whether to add the card" if screen.sheet is Sheet.UP else str(screen.sheet)
            front = f"The wallet's sheet: {message.removesuffix('the card')}{card}."
        case InFront.APP:
            button = "no add button" if screen.button == "absent" else f"add button {screen.button}"
            waits = ", waiting for an answer" if screen.waits else ""
            label = f"; it says “{clean(screen.label)}”" if screen.label else ""
            label += " and offers to try again" if screen.label == NO_BUTTON_YET else ""
            front = f"The app shows {card}; {button}{waits}{label}."
        case InFront.WALLET:
            front = f"{_wallet(screen)}."
    if screen.on_watch is None:
        return front
    return f"{front} The watch holds {', '.join(map(name_card, sorted(screen.on_watch))) or 'no card'}."


def name_card(card: str) -> str:
    """A card by its last characters."""
    return f"the card ending in {digits(card)}" if digits(card) else "the card"


def _wallet(screen: Screen) -> str:
    """The wallet app, or the watch's app on the phone, and its page."""
    app = "The wallet app" if screen.surface != "watch" else "The watch's wallet, on the phone,"
    match screen.page:
        case Page.NONE:
            return f"{app} is open"
        case Page.APPS:
            return f"{app} {screen.page}: {BANK}"
        case Page.CARDS:
            return f"{app} {screen.page}: {', '.join(map(name_card, screen.entries)) or 'none'}"
        case Page.AUTHORIZING:
            return f"The extension asks the cardholder to confirm or cancel, for {name_card(screen.card)}"
        case Page.ADDING | Page.ADDED | Page.NOT_ADDED:
            return f"{app} {screen.page.replace('the card', name_card(screen.card))}"
        case _:
            return f"{app} {screen.page}"
