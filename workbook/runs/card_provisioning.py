"""Platform A's SDK to call by hand: `CardProvisioning`, shaped and named as in the document, in snake case.

Each call returns its outcome as an event, to be queried with `match`; only a wrong argument or a call that the document
does not allow raises an error (A-ASYNC-1).

There is no app here and so no button: nothing guards against calling twice. That is the lesson of A-BTN-2.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, cast

from workbook.api.opaque import SdkInput
from workbook.base.values import of_type
from workbook.errors import ConfigurationError, OpaqueDataError, ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import CanProvisionResult
from workbook.flows.platform_a import BUSY, State
from workbook.flows.variants import A_FROM_0_4_0, VariantA, variant_a
from workbook.runs.in_app import ByHand
from workbook.runs.own_code import check_callable
from workbook.runs.platform_a import AppA, CardAddress, PlatformARun
from workbook.simulation.phones import A_PHONE_A, NUMBERS, PhoneA

CardProvisioningCreateResult = m.CreateSuccess | m.WalletPayNotSupported | m.InvalidSdkInput
CreateSdkOutputResult = m.SdkOutputCreated | m.SdkOutputFailed
ProvisionResult = m.ProvisionSuccess | m.ProvisionFailure

FETCH_OPC = ("payment_instrument_id", "sdk_output")
"""What the SDK gives to fetchOpc (A-OPC-1)."""


class OpcProvider(Protocol):
    """What the app implements from 0.4.0 (A-OPC-1)."""

    def fetch_opc(self, payment_instrument_id: str, sdk_output: str) -> str | Awaitable[str]:
        """Return the OPC data: the sdkInput of the back end's POST. This may be a coroutine function."""
        ...


class CardProvisioning(ByHand):
    """One card's provisioning client; made by `create`, never directly. It carries out one call at a time.

    Raises:
        ParameterError: it was called directly.
    """

    calls: ClassVar = {
        m.CreateCalled: "CardProvisioning.create(...)",
        m.CanProvisionCalled: "can_provision()",
        m.CreateSdkOutputCalled: "create_sdk_output()",
        m.ProvisionCalled: "provision(sdk_input=...)",
        m.ProvisionWithProviderCalled: "provision(opc_provider=...)",
    }
    busy, brings = BUSY, (m.AddTapped, m.OpcReceived)

    def __init__(self, run: PlatformARun) -> None:
        if not isinstance(run, PlatformARun):
            raise ParameterError("A CardProvisioning is made by CardProvisioning.create(sdk_input, activity_provider).")
        super().__init__(run, f"SDK {run.variant.name}")

    @staticmethod
    def create(
        sdk_input: SdkInput | str,
        activity_provider: Callable[[], object] | None = None,
        *,
        variant: VariantA | str = A_FROM_0_4_0,
        phone: PhoneA | None = None,
        seed: int = 7,
    ) -> CardProvisioningCreateResult:
        """Make a client from the GET's sdkInput (A-CREATE-1).

        Args:
            sdk_input: the text that the API sent, unchanged (API-7).
            activity_provider: returns the UI activity that the wallet is shown above; it is required.
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
        of_type("phone", phone, PhoneA | None, A_PHONE_A)
        idle = AppA(calls=MappingProxyType({}))
        its_own = PhoneA(number=next(NUMBERS)) if phone is None else phone
        run = PlatformARun(replace(flow, by_hand=True), phone=its_own, app=idle, seed=seed)
        run.sdk.activity_provider = activity_provider
        run.state = State.FETCHED
        client = CardProvisioning(run)
        outcome = client._call(m.CreateCalled(opaque(sdk_input)))
        if isinstance(outcome, m.CreateSuccess):
            return replace(outcome, card_provisioning=client)
        return cast("CardProvisioningCreateResult", outcome)

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
            ConfigurationError: both forms are given, or neither.
            ParameterError: the name is no text, the address no CardAddress, or the provider has no fetch_opc of two
                arguments.
            OutOfOrderError: the document does not allow the call here; before 0.4.0, create_sdk_output comes first.
        """
        if (opc_provider is None) == (sdk_input is None):
            raise ConfigurationError("provision takes either opc_provider (from 0.4.0) or sdk_input (before 0.4.0).")
        of_type("card_display_name", card_display_name, str, "text, such as 'My card'")
        of_type("card_address", card_address, CardAddress, "a CardAddress, such as CardAddress()")
        if opc_provider is not None:
            check_callable(getattr(opc_provider, "fetch_opc", None), "opc_provider", "fetch_opc", FETCH_OPC)
            with_provider = m.ProvisionWithProviderCalled(card_display_name, card_address)
            return cast("ProvisionResult", self._call(with_provider, fetch_opc=opc_provider.fetch_opc))
        opc = opaque(sdk_input)
        call = m.ProvisionCalled(opc, card_display_name, card_address)
        return cast("ProvisionResult", self._call(call, first=m.OpcReceived(opc)))


def opaque(text: Any) -> Any:
    """The text as opaque data, so that no trace and no repr shows it; any other value stays as it is."""
    try:
        return text if isinstance(text, SdkInput) else SdkInput(text)
    except OpaqueDataError:
        return text
