"""The bench of platform A: the issuer's app, its SDK and a phone, connected to the loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput
from workbook.benches.app_a import App
from workbook.benches.callback import completed
from workbook.benches.in_app import InApp, simulated_back_end
from workbook.errors import OpaqueDataError, ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.variants import A_FROM_0_4_0, Variant
from workbook.simulation.device import Device
from workbook.simulation.sdk_a import SdkA
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.benches.back_end import BackEnd
    from workbook.benches.loop import Port, Reply
    from workbook.flows.messages import Command, Event

__all__ = ["Bench", "simulated_back_end"]

HANDED: Mapping[type[Event], State] = {m.OpcReceived: State.OPC_READY}
"""Where the app stands with what it is handed, even if the table follows another attempt."""


class Bench(InApp):
    """One run of one variant of platform A on one device.

    Attributes:
        state: where the app stands.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        trace: every step so far.

    Raises:
        ParameterError: the variant is none, or the seed is no whole number.
    """

    def __init__(
        self,
        variant: Variant = A_FROM_0_4_0,
        payment_instrument_id: str = INSTRUMENT_IDS[0],
        *,
        device: Device | None = None,
        app: App | None = None,
        back_end: BackEnd | None = None,
        seed: int = 7,
    ) -> None:
        if not isinstance(variant, Variant):
            raise ParameterError(f"A bench takes a Variant, such as A_FROM_0_4_0, not {variant!r:.40}.")
        self.variant = variant
        self.device = device or Device()
        self.app = app or App.of(variant)
        self.sdk = SdkA(self.device, Seal(seed), api_error=variant.facts.api_error)
        self.sdk.seen = self._seen_now
        relay = back_end or simulated_back_end(World(seed=seed))
        super().__init__(variant.machine, variant.title, payment_instrument_id, relay, self.device.latencies)

    def __repr__(self) -> str:
        return f"Bench({self.variant.name!r}, {self.state.value}, button {self.button}, {len(self.trace)} records)"

    def _connect(self) -> dict[type[Command], Port]:
        sdk: dict[type[Command], Port] = dict.fromkeys(self.sdk.commands, self.sdk.answer)
        relays: dict[type[Command], Port] = {
            m.PostSdkOutput: self._post,
            m.FetchOpc: self._fetch_opc,
            m.HandToApp: self._hand_to_app,
        }
        return super()._connect() | sdk | relays

    def _hand_to_app(self, event: Event) -> Reply | None:
        call = self.app.next_call(HANDED.get(type(event), self.state), event)
        return None if call is None else (0.0, call)

    def _post(self, command: m.PostSdkOutput | m.FetchOpc) -> Reply:
        instrument, output = command.payment_instrument_id, command.sdk_output
        return self._relay(lambda: self.back_end.post(instrument, output), m.OpcReceived, m.OpcFailed)

    def _fetch_opc(self, command: m.FetchOpc) -> Reply:
        """The app's OpcProvider: the integrator's own, or the plain relay."""
        if self.app.fetch_opc is None:
            return self._post(command)
        self._waits = self.device.latencies.post
        return self._waits, fetched(self.app.fetch_opc, command)


def fetched(fetch_opc: Callable[[str, str], Any], command: m.FetchOpc) -> Event:
    """What the integrator's own fetchOpc came to; the SDK catches whatever it raises (sdk-a)."""
    try:
        opc = completed(fetch_opc, command.payment_instrument_id, command.sdk_output.text)
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
        return m.OpcFailed(f"fetchOpc raised {type(error).__name__}")
    try:
        return m.OpcReceived(opc if isinstance(opc, SdkInput) else SdkInput(opc))
    except OpaqueDataError as error:
        return m.OpcFailed(f"fetchOpc returned no OPC data ({error.layer})")
