"""Platform A's SDK by hand: `CardProvisioning`, shaped and named as the document has it, in snake case.

The class holds no rules of order. Each call becomes the event that a run would step, and the same table allows or
refuses it. A result is the outcome's event, to be queried with `match`; only a call that the document does not allow
raises (A-ASYNC-1).

There is no app here and so no button: nothing guards against calling twice. That is the lesson of A-BTN-2.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Protocol, cast

from workbook.api.opaque import SdkInput
from workbook.errors import ConfigurationError, OpaqueDataError, OutOfOrderError, ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.platform_a import State
from workbook.flows.variants import A_FROM_0_4_0, VariantA, variant_a
from workbook.runs.platform_a import AppA, CardAddress, PlatformARun
from workbook.simulation.phones import PhoneA
from workbook.trace import Kind, Trace
from workbook.values import quoted

CreateResult = m.CreateSuccess | m.WalletPayNotSupported | m.InvalidSdkInput
CanProvisionResult = m.CanBeProvisioned | m.AlreadyExistsInWallet | m.CanProvisionError | m.UnknownFailure | m.ApiError
CreateSdkOutputResult = m.SdkOutputCreated | m.SdkOutputFailed
ProvisionResult = m.ProvisionSuccess | m.ProvisionFailure

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


class CardProvisioning:
    """One card's provisioning client; made by `create`, never directly."""

    def __init__(self, run: PlatformARun) -> None:
        self._run = run

    def __repr__(self) -> str:
        possible = self._possible()
        calls = [text for event, text in CALLS.items() if event in possible]
        return (
            f"CardProvisioning({self._run.variant.name!r}, {self._run.state.value})\n"
            f"Next: {', '.join([*calls, '.trace'])}."
        )

    @property
    def trace(self) -> Trace:
        """Every call and outcome so far."""
        return self._run.trace

    @staticmethod
    def create(
        sdk_input: SdkInput | str,
        activity_provider: Callable[[], object] | None = None,
        *,
        variant: VariantA | str = A_FROM_0_4_0,
        phone: PhoneA | None = None,
        seed: int = 7,
    ) -> CreateResult:
        """Make a client from the GET's sdkInput (A-CREATE-1).

        Args:
            sdk_input: the text that the API sent, unchanged (API-7).
            activity_provider: returns the UI activity; it is required, and any callable will do here.
            variant: the SDK's variant, by name: `before-0.4.0` or `from-0.4.0`.
            phone: the phone that the SDK runs on; by default a new one.
            seed: the simulated service's seed.

        Returns:
            CreateSuccess with `card_provisioning`, WalletPayNotSupported or InvalidSdkInput.

        Raises:
            ConfigurationError: `activity_provider` is missing or cannot be called.
            ParameterError: there is no such variant, or `phone` has another type.
        """
        if not callable(activity_provider):
            raise ConfigurationError("activity_provider must be a function that returns the UI activity.")
        flow = variant if isinstance(variant, VariantA) else variant_a(variant)
        if not isinstance(phone, PhoneA | None):
            raise ParameterError(f"phone is {quoted(phone)}; allowed: a PhoneA(...) from workbook.simulation.phones.")
        idle = AppA(calls=MappingProxyType({}))
        run = PlatformARun(replace(flow, by_hand=True), phone=phone, app=idle, seed=seed)
        run.state = State.FETCHED
        client = CardProvisioning(run)
        outcome = client._call(m.CreateCalled(_opaque(sdk_input)))
        if isinstance(outcome, m.CreateSuccess):
            return replace(outcome, card_provisioning=client)
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
            OutOfOrderError: canProvision has not returned CanBeProvisioned.
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

        Args:
            card_display_name: the text that the wallet shows under the card.
            card_address: the cardholder's address; `CardAddress()` is empty (A-PROV-5).
            opc_provider: an object with `fetch_opc(payment_instrument_id, sdk_output)`.
            sdk_input: the OPC data, which is the sdkInput of the POST.

        Raises:
            ConfigurationError: both forms at once, or neither; or the provider has no fetch_opc of two arguments.
            ParameterError: the name is no text, or the address no CardAddress.
            OutOfOrderError: the document does not allow the call here; before 0.4.0, create_sdk_output comes first.
        """
        if (opc_provider is None) == (sdk_input is None):
            raise ConfigurationError("provision takes either opc_provider (from 0.4.0) or sdk_input (before 0.4.0).")
        if not isinstance(card_display_name, str):
            raise ParameterError(f"card_display_name is {quoted(card_display_name)}; give text, such as 'My card'.")
        if not isinstance(card_address, CardAddress):
            raise ParameterError(f"card_address is {quoted(card_address)}; give a CardAddress, such as CardAddress().")
        call: Event
        if opc_provider is not None:
            check_fetch_opc(getattr(opc_provider, "fetch_opc", None), "opc_provider")
            self._run.app = replace(self._run.app, fetch_opc=opc_provider.fetch_opc)
            call = m.ProvisionWithProviderCalled(card_display_name, card_address)
        else:
            opc = _opaque(sdk_input)
            if m.OpcReceived in self._run.allowed:
                self._run.feed(m.OpcReceived(opc))
            call = m.ProvisionCalled(opc, card_display_name, card_address)
        return cast("ProvisionResult", self._call(call))

    def _possible(self) -> set[type[Event]]:
        """The calls that the table allows now; one that provisions counts as the cardholder's tap, too."""
        allowed = self._run.allowed
        return {*allowed, *(self._run.machine.allowed(State.TAPPED) if m.AddTapped in allowed else ())}

    def _call(self, call: Event) -> Event:
        """The outcome of one call; a call that the table refuses raises, and changes nothing."""
        run, possible = self._run, self._possible()
        if type(call) not in possible:
            names = ", ".join(text for event, text in CALLS.items() if event in possible)
            raise OutOfOrderError(
                f"{CALLS[type(call)]} cannot be called while '{run.state}' in SDK {run.variant.name}. "
                f"Possible now: {names}."
            )
        if type(call) not in run.allowed:
            run.feed(m.AddTapped())
        run.feed(call)
        return cast("Event", run.trace.select(kind=Kind.EVENT)[-1].message)


def check_fetch_opc(function: object, owner: str) -> None:
    """Make sure that the SDK can call this fetchOpc, as a compiler would (A-OPC-1).

    Raises:
        ConfigurationError: it is no function of two arguments; the message begins with `owner`.
    """
    if not callable(function):
        raise ConfigurationError(f"{owner} needs a method fetch_opc(payment_instrument_id, sdk_output).")
    try:
        inspect.signature(function).bind("payment_instrument_id", "sdk_output")
    except TypeError as error:
        raise ConfigurationError(
            f"{owner} needs a method fetch_opc(payment_instrument_id, sdk_output), both given by position. "
            f"This one cannot be called so: {error}."
        ) from None
    except ValueError:  # a function in C may not have a signature; then the call itself will fail
        return


def _opaque(text: SdkInput | str | None) -> Any:
    """The text as opaque data, so that no trace and no repr shows it; a value that cannot be that stays as it is."""
    try:
        return text if isinstance(text, SdkInput) else SdkInput.from_json(text)
    except OpaqueDataError:
        return text
