"""Where a fault's card is added: each platform with a phone that is ready, played in front of a given back end."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.benches.bench_a import Bench
from workbook.benches.bench_b import BenchB
from workbook.extension.host import ExtensionHost
from workbook.flows.extension import State as WalletState
from workbook.scenes.platform_b import opened_phone
from workbook.simulation.world import INSTRUMENT_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from workbook.benches.back_end import BackEnd
    from workbook.flows.machine import Machine
    from workbook.trace import Trace

FIRST = INSTRUMENT_IDS[0]
"""The card that is added."""


@dataclass(frozen=True, slots=True)
class Played:
    """What a platform made of it.

    Attributes:
        trace: every step.
        state: where the app, or the wallet, stands at the end.
        screen: what the cardholder sees at the end, in words.
        cards: the ids of the payment instruments in the phone's wallet.
        machine: the table that was stepped.
    """

    trace: Trace
    state: str
    screen: str
    cards: frozenset[str]
    machine: Machine


def _platform_a(back_end: BackEnd) -> Played:
    bench = Bench(back_end=back_end)
    return _in_app(bench, bench.device.cards)


def _platform_b(back_end: BackEnd) -> Played:
    bench = BenchB(back_end=back_end)
    return _in_app(bench, bench.phone.cards)


def _from_the_wallet(back_end: BackEnd) -> Played:
    host = ExtensionHost(phone=opened_phone(cards=[FIRST]), cards=[FIRST], back_end=back_end)
    host.walk()
    state = WalletState(str(host.state))
    screen, cards = IN_WALLET.get(state, str(state)), frozenset(host.phone.cards)
    return Played(host.trace, str(state), screen, cards, host.machine)


def _in_app(bench: Bench | BenchB, cards: Iterable[str]) -> Played:
    bench.walk()
    words = f"“{bench.label}”, and {BUTTONS[bench.button]}" if bench.label else BUTTONS[bench.button]
    return Played(bench.trace, str(bench.state), words, frozenset(cards), bench.machine)


BUTTONS = {
    "absent": "no add button yet",
    "shown": "the add button",
    "disabled": "the add button, greyed out",
    "hidden": "no add button",
}
"""What the cardholder sees of the button."""

IN_WALLET = {
    WalletState.NOT_LISTED: "the wallet does not list the app",
    WalletState.EMPTY: "the wallet offers no card",
    WalletState.NOT_AUTHENTICATED: "the wallet says that the card was not added",
    WalletState.NOT_ADDED: "the wallet says that the card was not added",
    WalletState.ADDED: "the wallet says that the card was added",
}
"""What the wallet shows at the end."""

PLATFORMS: Mapping[str, Callable[[BackEnd], Played]] = MappingProxyType({
    "platform A": _platform_a,
    "platform B, in the app": _platform_b,
    "platform B, from the wallet": _from_the_wallet,
})  # fmt: skip
"""Where the cardholder adds the card."""
