"""Scenes of platform B: one call that sets a stage, in the app or from the wallet, and shows all that is to be seen.

The names are the lesson's vocabulary, so each stands in a table here and a misspelt one is explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from workbook.benches.app_b import NO_WATCH_CALLS, AppB, check_delegate
from workbook.benches.bench_b import BenchB
from workbook.benches.loop import together
from workbook.errors import ParameterError, did_you_mean
from workbook.extension.host import ExtensionHost
from workbook.extension.mistakes import AUTHORIZATIONS, HANDLERS, SHOWS_ON
from workbook.flows.variants_b import SURFACES, VARIANTS_B
from workbook.parameters import quoted
from workbook.scenes.staged import Staged, before
from workbook.simulation.phone import NOTHING, TARGETS, Phone, Waits, Watch
from workbook.simulation.world import INSTRUMENT_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbook.extension.handler import ExtensionHandler
    from workbook.flows.machine import Machine
    from workbook.flows.variants_b import VariantB
    from workbook.trace import Trace
    from workbook.views.screen import Screen

Value = TypeVar("Value")
FIRST = INSTRUMENT_IDS[0]

PHONES: Mapping[str, Callable[[], Phone]] = {
    "ready": Phone,
    "with a watch": lambda: Phone(watch=Watch()),
    "cardholder adds to both": lambda: Phone(watch=Watch(), adds_to="both"),
    "card on the phone, not on the watch": lambda: Phone(watch=Watch(), cards={FIRST}),
    "card on both": lambda: Phone(watch=Watch({FIRST}), cards={FIRST}),
    "card already in the wallet": lambda: Phone(cards={FIRST}),
    "another wallet": lambda: Phone(wallet="wallet-c"),
    "cardholder cancels": lambda: Phone(ends_with="userCancelled"),
    "wallet fails": lambda: Phone(ends_with="walletKitError"),
    "neither pass nor error": lambda: Phone(ends_with=NOTHING),
    "no entitlement": lambda: Phone(entitled=TARGETS[1:]),
    "app not associated at the scheme": lambda: Phone(associated=False),
    "back end takes 25 s": lambda: Phone(waits=Waits(post=25.0)),
}
"""The phones that an in-app scene may be set on."""

APPS: Mapping[str, dict[str, Any]] = {
    "good": {},
    "hands over base64 text": {"decodes": False},
    "a WatchAvailability for each page": {"keeps_watch_availability": False},
    "never looks for a watch": {"calls": NO_WATCH_CALLS},
    "keeps a failure to itself": {},
}
"""The issuer's apps; all but the first make one mistake."""

WALLETS: Mapping[str, Callable[[], Phone]] = {
    "app was opened": Phone,
    "app was never opened": Phone,
    "with a watch": lambda: Phone(watch=Watch()),
    "first card is there already": lambda: Phone(watch=Watch({FIRST}), cards={FIRST}),
    "app and extension share no storage": lambda: Phone(app_group_shared=False),
    "extension lacks the entitlement": lambda: Phone(entitled=("app", "authorization UI")),
    "authorization UI lacks the entitlement": lambda: Phone(entitled=("app", "extension")),
    "slow network": lambda: Phone(waits=Waits(get=7.0)),
    "back end takes 25 s": lambda: Phone(waits=Waits(post=25.0)),
}
"""The phones that a scene in the wallet may be set on."""


@dataclass(frozen=True, slots=True, repr=False)
class InAppScene(Staged):
    """What came of a run in the app.

    Attributes:
        trace: every step.
        state: where the app stands at the end.
        button: what the cardholder sees of the add button at the end.
        label: what else the screen says.
        phone: the phone at the end, with its watch.
        machine: the table that was stepped.
        first: what was to be seen before.
    """

    trace: Trace
    state: str
    button: str
    label: str
    phone: Phone
    machine: Machine
    first: Screen

    @property
    def summary(self) -> dict[str, str]:
        """The end of it, in a few lines."""
        screen = {"screen says": self.label} if self.label else {}
        return {"ended": self.state, "add button": self.button, **screen, **places(self.phone), "took": self.took}


@dataclass(frozen=True, slots=True, repr=False)
class WalletScene(Staged):
    """What came of a run in the wallet.

    Attributes:
        trace: every step.
        state: where the wallet app stands at the end.
        offered: the identifiers of the pass entries that it shows.
        phone: the phone at the end, with its watch.
        machine: the table that was stepped.
        first: what was to be seen before.
    """

    trace: Trace
    state: str
    offered: tuple[str, ...]
    phone: Phone
    machine: Machine
    first: Screen

    @property
    def summary(self) -> dict[str, str]:
        """The end of it, in a few lines."""
        offered = str(len(self.offered)) if self.offered else "none"
        return {"ended": self.state, "cards offered": offered, **places(self.phone), "took": self.took}


def places(phone: Phone) -> dict[str, str]:
    """Where the first card is at the end."""
    watch = phone.watch
    on_watch = "no watch is paired" if watch is None else _yes(FIRST in watch.cards)
    return {"card on the phone": _yes(FIRST in phone.cards), "card on the watch": on_watch}


def add_in_app(
    phone: str = "ready", variant: str = "later", app: str = "good", *, delegate: object = None, pages: int = 1
) -> InAppScene:
    """The cardholder opens the card's page in the issuer's app and taps Add, if there is a button to tap.

    Args:
        phone: one of `PHONES`.
        variant: `earlier` or `later`.
        app: one of `APPS`.
        delegate: your own delegate, an object with `provision(...)`; by default one that relays.
        pages: how often the page was opened before the tap, 1 to 9.

    Raises:
        ParameterError: nothing has this name, or an argument is not of its kind.
    """
    flow = replace(_named(variant, VARIANTS_B, "variant"), tells=app != "keeps a failure to itself")
    issuer = AppB(delegate=_delegate(delegate, flow))
    issuer = replace(issuer, **_mistake(app, flow))
    bench = BenchB(flow, phone=_named(phone, PHONES, "phone")(), app=issuer)
    first = before(bench.phone)
    for _page in range(_pages(pages)):
        bench.open()
    if bench.button == "shown":
        bench.tap()
    end = str(bench.state), bench.button, bench.label, bench.phone
    return InAppScene(bench.trace, *end, bench.machine, first)


def add_from_wallet(
    handler: str | type[ExtensionHandler] = "reference",
    phone: str | None = None,
    *,
    surface: str | None = None,
    variant: str = "later",
    authorization: str = "lets the cardholder in",
    cards: Sequence[str] = INSTRUMENT_IDS,
) -> WalletScene:
    """The cardholder looks for the app in the wallet, chooses it and its first card, as far as the wallet offers it.

    Args:
        handler: one of `HANDLERS`, or your own class.
        phone: one of `WALLETS`; None takes the one on which the handler's mistake shows.
        surface: `phone` or `watch`; None likewise.
        variant: `earlier` or `later`.
        authorization: one of `AUTHORIZATIONS`.
        cards: the ids of the cardholder's payment instruments.

    Raises:
        ParameterError: nothing has this name, or the handler is no class.
    """
    stage = {"phone": "app was opened", "surface": "phone"} | dict(SHOWS_ON.get(str(handler), {}))
    host = ExtensionHost(
        _handler(handler),
        _named(variant, VARIANTS_B, "variant"),
        surface=stage["surface"] if surface is None else surface,
        phone=opened_phone(stage["phone"] if phone is None else phone, cards),
        authorization=_named(authorization, AUTHORIZATIONS, "authorization"),
        cards=cards,
    )
    first = before(host.phone, host.surface)
    host.walk()
    return _wallet_scene(host, first)


def side_by_side(handler: str | type[ExtensionHandler] = "reference", *, variant: str = "later") -> list[WalletScene]:
    """The wallet app on the phone and the one on the watch walk at the same time, through one phone.

    Args:
        handler: one of `HANDLERS`, or your own class.
        variant: `earlier` or `later`.

    Returns:
        What came of it on the phone, and on the watch.

    Raises:
        ParameterError: nothing has this name, or the handler is no class.
    """
    phone = opened_phone("with a watch")
    flow, kind = _named(variant, VARIANTS_B, "variant"), _handler(handler)
    hosts = [ExtensionHost(kind, flow, surface=surface, phone=phone) for surface in SURFACES]
    first = {host: before(phone, host.surface) for host in hosts}
    while acts := [(host, act) for host in hosts if (act := host.next_act()) is not None]:
        for host, act in acts:
            host.soon(act)
        together(*hosts)
    return [_wallet_scene(host, first[host]) for host in hosts]


def opened_phone(name: str = "app was opened", cards: Sequence[str] = INSTRUMENT_IDS) -> Phone:
    """One of `WALLETS`, on which the main app was opened, so that it has saved each card's sdkInput (X-CACHE-1).

    Raises:
        ParameterError: no phone has this name.
    """
    phone = _named(name, WALLETS, "phone")()
    if name != "app was never opened":
        for card in cards:
            BenchB(payment_instrument_id=card, phone=phone).open()
    return phone


def _handler(handler: object) -> Any:
    return handler if isinstance(handler, type) else _named(handler, HANDLERS, "handler")


def _wallet_scene(host: ExtensionHost, first: Screen) -> WalletScene:
    offered = tuple(entry.identifier for entry in host.entries)
    return WalletScene(host.trace, str(host.state), offered, host.phone, host.machine, first)


def _yes(truth: bool) -> str:  # noqa: FBT001  # a truth is what it words
    return "yes" if truth else "no"


def _mistake(app: object, flow: VariantB) -> dict[str, Any]:
    mistake = _named(app, APPS, "app")
    if not flow.later and any(name in mistake for name in ("calls", "keeps_watch_availability")):
        raise ParameterError(f"The earlier variant knows no watch: {quoted(app)} needs variant='later'.")
    return mistake


def _delegate(delegate: object, flow: VariantB) -> object:
    if delegate is not None:
        check_delegate(delegate, flow)
    return delegate


def _pages(pages: object) -> int:
    if type(pages) is not int or not 1 <= pages <= 9:  # noqa: PLR2004  # what the docstring says
        raise ParameterError(f"pages is {quoted(pages)}; allowed: 1 to 9.")
    return pages


def _named(name: object, table: Mapping[str, Value], what: str) -> Value:
    if not isinstance(name, str) or name not in table:
        raise ParameterError(f"No {what} {quoted(name)}. {did_you_mean(str(name), table)}")
    return table[name]
