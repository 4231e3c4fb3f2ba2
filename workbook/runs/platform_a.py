"""One run of platform A: the issuer's app, its SDK and a phone, connected to the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from workbook.api.opaque import SdkInput
from workbook.base.values import of_type
from workbook.errors import OpaqueDataError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.platform_a import State
from workbook.flows.variants import A_FROM_0_4_0, VariantA
from workbook.runs.back_end import TRY_LATER, BackEnd, simulated_back_end
from workbook.runs.in_app import InApp
from workbook.runs.own_code import completed, own_failures, watched
from workbook.simulation.phones import A_PHONE_A, PhoneA
from workbook.simulation.sdks import Reply, SdkA
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World

Calls = Mapping[StrEnum, type[Event]]


# What the app's own code calls, as a table: the state that the flow is in, and the call that the app then makes. Leave
# a call out of the table, or put another in, and you have a mistaken app.

_UNTIL_TAP: dict[StrEnum, type[Event]] = {
    State.FETCHED: m.CreateCalled,
    State.CREATED: m.CanProvisionCalled,
    State.ADDED: m.CanProvisionCalled,
}

PROVIDER_CALLS: Calls = MappingProxyType(_UNTIL_TAP | {State.TAPPED: m.ProvisionWithProviderCalled})
"""From 0.4.0: one call on tap (A-PROV-2)."""

TWO_STEP_CALLS: Calls = MappingProxyType(
    _UNTIL_TAP | {State.TAPPED: m.CreateSdkOutputCalled, State.OPC_READY: m.ProvisionCalled}
)
"""Before 0.4.0: createSdkOutput on tap, provision once the POST has answered (A-PROV-1)."""


@dataclass(frozen=True, slots=True)
class CardAddress:
    """The cardholder's address. The document shows no fields; these seven are public (sdk-a).

    With no arguments it is empty (A-PROV-5), and the wallet asks the cardholder. Its repr names which
    fields are filled and never their values.
    """

    address_line_1: str = ""
    address_line_2: str = ""
    locality: str = ""
    administrative_area: str = ""
    country_code: str = ""
    postal_code: str = ""
    phone_number: str = ""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            of_type(name, getattr(self, name), str, "text")

    def __repr__(self) -> str:
        return f"CardAddress({self.summary()})"

    def summary(self) -> str:
        """Which fields are filled, for a trace."""
        filled = [name for name in self.__slots__ if getattr(self, name)]
        return ", ".join(filled) or "empty"


@dataclass(frozen=True, slots=True)
class AppA:
    """The issuer's app on platform A.

    Attributes:
        calls: the call that the app makes in each state; None makes the calls of the variant that is played.
        card_display_name: the text that the wallet shows under the card.
        card_address: the cardholder's address.
        fetch_opc: the integrator's own OpcProvider.fetchOpc, plain or a coroutine function (A-OPC-1); None asks the
            back end.
    """

    calls: Calls | None = None
    card_display_name: str = "Example card"
    card_address: CardAddress = CardAddress()
    fetch_opc: Callable[[str, str], Any] | None = None

    def calls_in(self, variant: VariantA) -> Calls:
        """The call that this app makes in each state of this variant."""
        own = TWO_STEP_CALLS if variant.two_step else PROVIDER_CALLS
        return own if self.calls is None else self.calls


class PlatformARun(InApp):
    """One run of one variant of platform A on one phone.

    Attributes:
        state: the state of the flow.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        trace: every step so far.

    Raises:
        ParameterError: `variant`, `phone` or `app` has another type.
    """

    variant: VariantA
    phone: PhoneA

    def __init__(
        self,
        variant: VariantA = A_FROM_0_4_0,
        payment_instrument_id: str = INSTRUMENT_IDS[0],
        *,
        phone: PhoneA | None = None,
        app: AppA | None = None,
        back_end: BackEnd | None = None,
        seed: int = 7,
    ) -> None:
        of_type("variant", variant, VariantA, "a VariantA, such as A_FROM_0_4_0")
        of_type("phone", phone, PhoneA | None, A_PHONE_A)
        of_type("app", app, AppA | None, "an AppA(...) from workbook.runs.platform_a")
        self.variant = variant
        self.phone = phone or PhoneA()
        self.app = app or AppA()
        self.sdk = SdkA(self.phone, Seal(seed), variant.facts)
        self.sdk.seen = self.soon
        relay = back_end or simulated_back_end(World(seed=seed))
        super().__init__(payment_instrument_id, relay, self.phone.latencies)

    def _hand_to_app(self, event: Event) -> Reply | None:
        """The app's next call, each field from the event that it was handed or from its own settings."""
        # The app handles OPC data when it arrives, even if the table follows another attempt by then.
        state = State.OPC_READY if isinstance(event, m.OpcReceived) else self.state
        call: Any = self.app.calls_in(self.variant).get(state)
        if call is None:
            return None
        return 0.0, call(**{name: getattr(event, name, getattr(self.app, name, None)) for name in call.__match_args__})

    def _post(self, command: m.PostSdkOutput | m.FetchOpc) -> Reply:
        failed = m.OpcFailed(TRY_LATER)
        return self._relay(command.payment_instrument_id, command.sdk_output, m.OpcReceived, failed)

    def _fetch_opc(self, command: m.FetchOpc) -> Reply:
        """The app's OpcProvider: the integrator's own, or the plain relay."""
        if self.app.fetch_opc is None:
            return self._post(command)
        return self._own(partial(self._fetched, self.app.fetch_opc, command))

    def _fetched(self, fetch_opc: Callable[[str, str], Any], command: m.FetchOpc) -> Event:
        """The outcome of the integrator's own fetchOpc; the SDK catches whatever it raises (sdk-a)."""
        try:
            with watched("fetchOpc", self.soon):
                opc = completed(fetch_opc, command.payment_instrument_id, command.sdk_output.text)
        except own_failures() as error:
            return m.ProviderFailed(f"fetchOpc raised {type(error).__name__}")
        try:
            return m.OpcReceived(opc if isinstance(opc, SdkInput) else SdkInput(opc))
        except OpaqueDataError as error:
            return m.ProviderFailed(f"fetchOpc returned no OPC data ({error.layer})")

    ports: ClassVar = {
        **InApp.ports,
        **dict.fromkeys(SdkA.answers, lambda self, command: self.sdk.answer(command)),
        m.PostSdkOutput: lambda self, command: None if self.variant.by_hand else self._post(command),  # a person posts
        m.FetchOpc: _fetch_opc,
        m.HandToApp: _hand_to_app,
    }
