"""One fault of the API, played on one platform in front of one back end, and what came of it.

Everything but the fault goes well: one card, one tap, a phone that is ready. Every result is read from the trace and
from the simulated service; there is no table of expected results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workbook.base.values import lookup
from workbook.checks.api import Advice, advice_for
from workbook.flows import messages as m
from workbook.flows.extension import State as WalletState
from workbook.flows.trace import Kind
from workbook.lessons.run import AnyLoop, Run, run_of
from workbook.play.back_end import BACK_ENDS, BackEnd, Network, WatchedBackEnd
from workbook.play.platform_a import PlatformARun
from workbook.play.platform_b import PlatformBRun, opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.faults import BODIES, ON_THE_WIRE, STATUSES, Fault, FaultPlan, Planned
from workbook.simulation.service import Service
from workbook.simulation.world import World
from workbook.views.film import film
from workbook.views.screen import Screen
from workbook.views.table import Stack, Table, table

# Where the cardholder adds the card: each builds a run in front of a given back end.
WAYS_TO_ADD: Mapping[str, Callable[[str, BackEnd], AnyLoop]] = MappingProxyType({
    "platform A": lambda card, back_end: PlatformARun(payment_instrument_id=card, back_end=back_end),
    "platform B, in the app": lambda card, back_end: PlatformBRun(payment_instrument_id=card, back_end=back_end),
    "platform B, from the wallet": lambda card, back_end: WalletApp(
        phone=opened_phone(cards=[card]), cards=[card], back_end=back_end
    ),
})  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class FaultRun(Run):
    """What a fault left behind.

    Attributes:
        planned: the fault, and the requests that it was planned for.
        platform: one of `WAYS_TO_ADD`.
        back_end: one of `BACK_ENDS`.
        network: the network between the back end and the API; it counts requests and answers.
    """

    planned: Planned
    platform: str
    back_end: str
    network: Network

    @property
    def method(self) -> str:
        """The operation that was faulted, GET or POST."""
        return str(self.planned.operation)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about this failure."""
        return advice_for(self.trace, self.method)

    @property
    def summary(self) -> dict[str, str]:
        """The story in a few lines, from the API to the cardholder."""
        fault = self.planned.fault
        return {
            "fault": f"{fault.name}: {fault.sentence} ({fault.source})",
            "played": self._played(),
            "the API": self._carried_out(),
            "the back end got": self._got(),
            "the app got": self._handed_on(),
            "the cardholder sees": self._seen(),
            "the card": self._where(),
            "ended": f"for the cardholder after {self.ended:.2f} s of virtual time",
        }

    def _played(self) -> str:
        which = "every" if self.planned.nth is None else f"the {ordinal(self.planned.nth)}"
        if not self.network.played:
            nothing = f"{which} {self.method} was answered as usual" if self.network.asked[self.method] else "never"
            return f"{nothing}: nothing was changed"
        moment = "before the API did anything" if self.planned.moment == "before" else "after the API had done its part"
        if self.planned.fault.harmless:
            moment = "the answer is whole"
        return f"on {which} {self.method}; {moment}"

    def _carried_out(self) -> str:
        asked, done = self.network.asked[self.method], self.network.carried_out(self.method)
        if not asked:
            return f"was never asked for a {self.method}"
        outcome = f"carried the {self.method} out {how_often(done)}" if done else f"did not carry the {self.method} out"
        return f"was asked {how_often(asked)}; {outcome}"

    def _got(self) -> str:
        ends = [ended for _record, ended in self.trace.seen(m.ApiCallEnded) if ended.method == self.method]
        if not ends:
            return f"made no {self.method}"
        ended = next((end for end in ends if end.ending != "sdkInput" or end.attempts > 1), ends[0])
        attempts = "1 attempt" if ended.attempts == 1 else f"{ended.attempts} attempts"
        return f"{ended.ending} after {attempts} and {ended.took:.2f} s"

    def _handed_on(self) -> str:
        """The last thing that the app's own code got from its back end."""
        kinds = [kind for kind in HANDED_ON if kind is not m.NoRequest or not self.trace.select(m.DelegateReturned)]
        got = [record.message for record in self.trace.select(*kinds) if record.kind is not Kind.REFUSED]
        return HANDED_ON[type(got[-1])](got[-1]) if got else "nothing"

    def _seen(self) -> str:
        in_wallet: dict[str, str] = {
            WalletState.NOT_LISTED: "the wallet does not list the app",
            WalletState.EMPTY: "the wallet offers no card",
            WalletState.NOT_AUTHENTICATED: "the wallet says that the card was not added",
            WalletState.NOT_ADDED: "the wallet says that the card was not added",
            WalletState.ADDED: "the wallet says that the card was added",
        }
        if self.offered is not None:
            return in_wallet.get(self.state, self.state)
        button = {
            "absent": "no add button yet",
            "shown": "the add button",
            "disabled": "the add button, greyed out",
            "hidden": "no add button",
        }[self.button]
        label = film(self.trace, self.machine).frames[-1].screen.label  # as the phone's picture has it
        return f"“{label}”, and {button}" if label else button

    def _where(self) -> str:
        if others := self.phone.cards - {self.card}:
            return f"another card is in the wallet: {', '.join(sorted(others))}"
        return "in the wallet" if self.added else "not in the wallet"


def _got_value(message: Any) -> str:
    return "sdkInput" if message.sdk_input else "an answer without sdkInput, as if it were a success"


def _got_reason(message: Any) -> str:
    return f"no sdkInput: “{message.reason}”"


# The messages that tell what the app's own code, or its extension, got from the back end.
HANDED_ON: Mapping[type[m.Message], Callable[[Any], str]] = {
    m.ActivationDataReceived: _got_value,
    m.ActivationDataFailed: _got_reason,
    m.OpcReceived: _got_value,
    m.OpcFailed: _got_reason,
    m.ProviderFailed: _got_reason,
    m.SdkInputReceived: _got_value,
    m.NoSdkInput: lambda message: f"nil: “{message.reason}”",
    m.DelegateFailed: lambda message: f"nil: “{message.reason}”",
    m.IgnoreLateSdkInput: lambda _message: "nothing in time; what came later was ignored",
    m.NoEntries: lambda _message: "no activation data, so it offers no entries",
    m.NoRequest: lambda _message: "nil",
    m.DelegateReturned: lambda message: "nil" if message.sdk_input is None else _got_value(message),
    m.RequestReturned: lambda _message: "sdkInput",
}


def ordinal(number: int) -> str:
    """A place in an order, in words."""
    return {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}.get(number, f"{number}th")


def how_often(number: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def fault_run(planned: Planned, platform: str, back_end: str, world: World) -> FaultRun:
    """The run with this fault on the platform, in front of the back end; everything else goes well.

    Args:
        planned: the fault, the card that is added, and which of the card's requests the fault meets.
        platform: one of `WAYS_TO_ADD`.
        back_end: one of `BACK_ENDS`.
        world: what the simulated API knows.

    Raises:
        ParameterError: there is no such platform or back end.
    """
    build, kind = lookup("platform", platform, WAYS_TO_ADD), lookup("back end", back_end, BACK_ENDS)
    card = str(planned.payment_instrument_id)
    network = Network(Service(world, plan=FaultPlan([planned])))
    loop = build(card, WatchedBackEnd(kind.make(network), network))
    loop.walk()
    run = run_of(loop, Screen(), card=card)
    common = {name: getattr(run, name) for name in Run.__slots__}
    return FaultRun(**common, planned=planned, platform=platform, back_end=back_end, network=network)


def fault_table() -> Stack:
    """Every fault: its name, its settings with their defaults, its source, and what it does."""
    groups = {"Another status": STATUSES, "On the wire: late, cut, lost": ON_THE_WIRE, "In the body": BODIES}
    head = ("fault", "can be set", "source", "what it does")
    return Stack(tuple(table(group, head, map(_row, faults)) for group, faults in groups.items()))


def _row(fault: Fault) -> tuple[str, ...]:
    # A default is shown where it is a number: a text would be too long for a column.
    settings = ", ".join(
        f"{name} = {setting.default:,}" if isinstance(setting.default, int | float) else name
        for name, setting in fault.settings.items()
    )
    return fault.name, settings or "-", fault.source, fault.sentence


def back_end_table() -> Table:
    """Every back end that can be compared, with the rules that it breaks."""
    rows = [(name, back_end.breaks or "none", back_end.sentence) for name, back_end in BACK_ENDS.items()]
    return table("The back ends", ("back end", "breaks", "what it does"), rows)
