"""Platform A's SDK by hand: `CardProvisioning`, shaped and named as the document has it, in snake case.

It holds no rules of order of its own. Each call becomes the event that the bench would step, and the
same table allows or refuses it: one truth, two handles. A result is the outcome's event, to be queried
with `match`; only a call that the document does not allow raises (A-ASYNC-1).

The app's button is not here, so nothing guards against calling twice: that is the lesson of A-BTN-2.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from workbook.api.opaque import SdkInput
from workbook.benches.app_a import App, CardAddress
from workbook.benches.bench_a import Bench
from workbook.errors import ConfigurationError, OpaqueDataError, OutOfOrderError, ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.variants import A_FROM_0_4_0, Variant
from workbook.parameters import quoted
from workbook.simulation.device import Device
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from workbook.benches.loop import Port
    from workbook.flows.messages import Command, Event
    from workbook.trace import Trace

    CreateResult = m.CreateSuccess | m.WalletPayNotSupported | m.InvalidSdkInput
    CanProvisionResult = (
        m.CanBeProvisioned | m.AlreadyExistsInWallet | m.CanProvisionError | m.UnknownFailure | m.ApiError
    )
    CreateSdkOutputResult = m.SdkOutputCreated | m.SdkOutputFailed
    ProvisionResult = m.ProvisionSuccess | m.ProvisionFailure

__all__ = ["CardAddress", "CardProvisioning", "OpcProvider", "check_fetch_opc"]


CALLS: dict[type[Event], str] = {
    m.CreateCalled: "CardProvisioning.create(...)",
    m.CanProvisionCalled: "can_provision()",
    m.CreateSdkOutputCalled: "create_sdk_output()",
    m.ProvisionCalled: "provision(sdk_input=...)",
    m.ProvisionWithProviderCalled: "provision(opc_provider=...)",
}


class OpcProvider(Protocol):
    """What the app implements from 0.4.0 (A-OPC-1)."""

    def fetch_opc(self, payment_instrument_id: str, sdk_output: str) -> str | Awaitable[str]:
        """The OPC data: the sdkInput of the back end's POST. Plain or a coroutine function."""
        ...


class HandBench(Bench):
    """A bench whose app and back end do nothing by themselves: a person makes each call."""

    def _connect(self) -> dict[type[Command], Port]:
        idle = dict.fromkeys((m.GetActivationData, m.PostSdkOutput), _nothing)
        return super()._connect() | idle


def _nothing(_command: Command) -> None:
    """Carry out nothing: the person at the keyboard does it."""


class CardProvisioning:
    """One card's provisioning client; made by `create`, never directly.

    Attributes:
        trace: every call and outcome so far.
    """

    def __init__(self, bench: HandBench) -> None:
        self._bench = bench

    def __repr__(self) -> str:
        return f"CardProvisioning({self._bench.variant.name!r}, {self._bench.state.value})"

    @property
    def trace(self) -> Trace:
        """Every call and outcome so far."""
        return self._bench.trace

    @staticmethod
    def create(
        sdk_input: SdkInput | str,
        activity_provider: Callable[[], object] | None = None,
        *,
        variant: Variant = A_FROM_0_4_0,
        device: Device | None = None,
        seed: int = 7,
    ) -> CreateResult:
        """Make a client from the GET's sdkInput (A-CREATE-1).

        Args:
            sdk_input: as the API sent it.
            activity_provider: returns the UI activity; needed, and any callable does here.
            variant: which SDK plays.
            device: the phone it runs on.
            seed: the simulated service's seed.

        Returns:
            CreateSuccess with `card_provisioning`, WalletPayNotSupported or InvalidSdkInput.

        Raises:
            ConfigurationError: `activity_provider` is missing or cannot be called, or `variant` or `device`
                is not of its kind.
        """
        _check_settings(activity_provider, variant, device)
        idle = App(calls=MappingProxyType({}))
        bench = HandBench(replace(variant, by_hand=True), device=device, app=idle, seed=seed)
        bench.state = State.FETCHED
        outcome = CardProvisioning(bench)._call(m.CreateCalled(_opaque(sdk_input)))  # noqa: SLF001  # its own class
        if isinstance(outcome, m.CreateSuccess):
            return replace(outcome, card_provisioning=CardProvisioning(bench))
        return cast("CreateResult", outcome)

    def can_provision(self) -> CanProvisionResult:
        """Whether the card can be added: show the button on CanBeProvisioned, hide it otherwise (A-CAN-1, A-CAN-2).

        Raises:
            OutOfOrderError: an attempt is under way.
        """
        return cast("CanProvisionResult", self._call(m.CanProvisionCalled()))

    def create_sdk_output(self) -> CreateSdkOutputResult:
        """Make an sdkOutput for the back end's POST; deprecated from 0.4.0 (A-OUT-1).

        Raises:
            OutOfOrderError: canProvision has not said CanBeProvisioned.
        """
        return cast("CreateSdkOutputResult", self._call(m.CreateSdkOutputCalled()))

    def provision(
        self,
        *,
        card_display_name: str,
        card_address: CardAddress,
        opc_provider: OpcProvider | None = None,
        sdk_input: SdkInput | str | None = None,
    ) -> ProvisionResult:
        """Add the card: with `opc_provider` from 0.4.0 (A-PROV-2), with `sdk_input` before (A-PROV-4).

        Raises:
            ConfigurationError: both forms at once, or neither; or the provider has no fetch_opc of two arguments.
            OutOfOrderError: the document does not allow it here; before 0.4.0, create_sdk_output comes first.
        """
        if (opc_provider is None) == (sdk_input is None):
            raise ConfigurationError("provision takes either opc_provider (from 0.4.0) or sdk_input (before 0.4.0).")
        if opc_provider is not None:
            return self._provision_with(opc_provider, card_display_name, card_address)
        opc = _opaque(sdk_input)
        if m.OpcReceived in self._bench.allowed:
            self._bench.feed(m.OpcReceived(opc))
        return cast("ProvisionResult", self._call(m.ProvisionCalled(opc, card_display_name, card_address)))

    def _provision_with(self, provider: OpcProvider, name: str, address: CardAddress) -> ProvisionResult:
        check_fetch_opc(getattr(provider, "fetch_opc", None), "opc_provider")
        self._bench.app = replace(self._bench.app, fetch_opc=provider.fetch_opc)
        return cast("ProvisionResult", self._call(m.ProvisionWithProviderCalled(name, address)))

    def _call(self, call: Event) -> Event:
        """The outcome of one call; a call that the table refuses raises, and changes nothing."""
        bench = self._bench
        if type(call) not in self._possible():
            raise OutOfOrderError(self._refusal(call))
        if type(call) not in bench.allowed:
            bench.feed(m.AddTapped())
        bench.feed(call)
        return cast("Event", bench.trace.select(kind=Kind.EVENT)[-1].message)

    def _possible(self) -> set[type[Event]]:
        """The calls that the table allows now; one that provisions stands for the cardholder's tap as well."""
        allowed = self._bench.allowed
        on_tap = self._bench.variant.machine.allowed(State.TAPPED) if m.AddTapped in allowed else ()
        return {*allowed, *on_tap}

    def _refusal(self, call: Event) -> str:
        allowed = self._possible()
        possible = ", ".join(text for event, text in CALLS.items() if event in allowed)
        return f"{CALLS[type(call)]} cannot be called while '{self._bench.state}'. Possible now: {possible}."


def check_fetch_opc(function: object, whose: str) -> None:
    """Make sure that the SDK can call this fetchOpc; a compiler would (A-OPC-1).

    Raises:
        ConfigurationError: it is no function of two arguments; the message begins with `whose`.
    """
    if not callable(function):
        raise ConfigurationError(f"{whose} needs a method fetch_opc(payment_instrument_id, sdk_output).")
    try:
        inspect.signature(function).bind("payment_instrument_id", "sdk_output")
    except TypeError as error:
        raise ConfigurationError(
            f"{whose} needs a method fetch_opc(payment_instrument_id, sdk_output), both given by position. "
            f"This one cannot be called so: {error}."
        ) from None
    except ValueError:  # a function in C may not tell its parameters; then the call will
        return


def _check_settings(activity_provider: object, variant: object, device: object) -> None:
    if not callable(activity_provider):
        raise ConfigurationError("activity_provider must be a function that returns the UI activity.")
    if not isinstance(variant, Variant):
        raise ParameterError(
            f"variant is {quoted(variant)}; allowed: a Variant, such as desk.variant, A_BEFORE_0_4_0 or A_FROM_0_4_0 "
            "from workbook.flows.variants."
        )
    if not isinstance(device, Device | None):
        raise ParameterError(f"device is {quoted(device)}; allowed: a Device(...) from workbook.simulation.device.")


def _opaque(text: SdkInput | str | None) -> Any:
    """The text as opaque data, so that no trace and no repr shows it; what cannot be that stays as it is."""
    try:
        return text if isinstance(text, SdkInput) else SdkInput.from_json(text)
    except OpaqueDataError:
        return text
