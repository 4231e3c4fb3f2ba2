"""Platform A, connected to the loop: one run of the issuer's app with its SDK and a phone, and the SDK by hand."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, ClassVar, Protocol, cast

from workbook.api.opaque import SdkInput
from workbook.base.values import of_type
from workbook.errors import ConfigurationError, OpaqueDataError, ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import CanProvisionResult, Event
from workbook.flows.platform_a import BUSY_A, State
from workbook.flows.variants import A_FROM_0_4_0, VariantA, variant_a
from workbook.play.back_end import TRY_LATER, BackEnd, simulated_back_end
from workbook.play.loop import ByHand, InApp
from workbook.play.own_code import BACK_END_WAIT, check_callable, within
from workbook.simulation.phones import A_PHONE_A, NUMBERS, PhoneA
from workbook.simulation.sdks import Reply, SdkA
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World

Calls = Mapping[StrEnum, type[Event]]


# What the app's own code calls, as a table: the state that the flow is in, and the call that the app then makes. Leave
# a call out of the table, or put another in, and you have a mistaken app.

# From 0.4.0: one call on tap (A-PROV-2).
PROVIDER_CALLS: Calls = {
    State.FETCHED: m.CreateCalled,
    State.CREATED: m.CanProvisionCalled,
    State.TAPPED: m.ProvisionWithProviderCalled,
    State.ADDED: m.CanProvisionCalled,
}

# Before 0.4.0: createSdkOutput on tap, provision once the POST has answered (A-PROV-1).
TWO_STEP_CALLS: Calls = {
    State.FETCHED: m.CreateCalled,
    State.CREATED: m.CanProvisionCalled,
    State.TAPPED: m.CreateSdkOutputCalled,
    State.OPC_READY: m.ProvisionCalled,
    State.ADDED: m.CanProvisionCalled,
}


@dataclass(frozen=True, slots=True)
class CardAddress:
    """The cardholder's address. The document shows no fields; these seven are public (sdk-a).

    With no arguments it is empty (A-PROV-5), and the wallet asks the cardholder. Its repr names which
    fields are filled and never their values.

    Example:
        >>> wb.CardAddress(locality="Springfield")
        CardAddress(locality)
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
        usual = TWO_STEP_CALLS if variant.two_step else PROVIDER_CALLS
        return usual if self.calls is None else self.calls


def _read_opc(opc: Any) -> Event:
    """What the SDK makes of fetchOpc's answer."""
    try:
        return m.OpcReceived(opc if isinstance(opc, SdkInput) else SdkInput(opc))
    except OpaqueDataError as error:
        return m.ProviderFailed(f"fetchOpc returned no OPC data ({error.layer})")


class PlatformARun(InApp):
    """One run of one variant of platform A on one phone.

    Attributes:
        state: the state of the flow.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        trace: every step so far.
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
        self.variant = variant
        self.phone = phone or PhoneA()
        self.app = app or AppA()
        self.sdk = SdkA(self.phone, Seal(seed), variant.facts)
        self.sdk.seen = self.soon
        super().__init__(payment_instrument_id, back_end or simulated_back_end(World(seed=seed)))

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
        arguments = command.payment_instrument_id, command.sdk_output.text
        return self._own(
            "fetchOpc", self.app.fetch_opc, arguments, _read_opc, m.ProviderFailed
        )  # it catches all (sdk-a)

    ports: ClassVar = {
        **InApp.ports,
        **dict.fromkeys(SdkA.answers, lambda self, command: self.sdk.answer(command)),
        m.PostSdkOutput: lambda self, command: None if self.variant.by_hand else self._post(command),  # a person posts
        m.FetchOpc: _fetch_opc,
        m.HandToApp: _hand_to_app,
    }


# Platform A's SDK to call by hand, shaped and named as in the document, in snake case. Each call returns its outcome as
# an event, to be queried with `match`; only a wrong argument or a call that the document does not allow raises an error
# (A-ASYNC-1). There is no app here and so no button: nothing guards against calling twice, the lesson of A-BTN-2.

CardProvisioningCreateResult = m.CreateSuccess | m.WalletPayNotSupported | m.InvalidSdkInput
CreateSdkOutputResult = m.SdkOutputCreated | m.SdkOutputFailed
ProvisionResult = m.ProvisionSuccess | m.ProvisionFailure

# What the SDK gives to fetchOpc (A-OPC-1).
FETCH_OPC = ("payment_instrument_id", "sdk_output")


class OpcProvider(Protocol):
    """What the app implements from 0.4.0 (A-OPC-1)."""

    def fetch_opc(self, payment_instrument_id: str, sdk_output: str) -> str | Awaitable[str]:
        """Return the OPC data: the sdkInput of the back end's POST. This may be a coroutine function."""
        ...


class CardProvisioning(ByHand):
    """One card's provisioning client; made by `create`, never directly. It carries out one call at a time.

    Raises:
        ParameterError: it was called directly.

    Example:
        >>> made = wb.CardProvisioning.create(wb.session().activation_data().text, lambda: "the activity")
        >>> made.card_provisioning.can_provision()
        CanBeProvisioned()
    """

    calls: ClassVar = {
        m.CreateCalled: "CardProvisioning.create(...)",
        m.CanProvisionCalled: "can_provision()",
        m.CreateSdkOutputCalled: "create_sdk_output()",
        m.ProvisionCalled: "provision(sdk_input=...)",
        m.ProvisionWithProviderCalled: "provision(opc_provider=...)",
    }
    busy, brings = BUSY_A, (m.AddTapped, m.OpcReceived)

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
        of_type("phone", phone, PhoneA | None, A_PHONE_A)
        flow = variant if isinstance(variant, VariantA) else variant_a(variant)
        idle = AppA(calls={})
        its_own = PhoneA(number=next(NUMBERS)) if phone is None else phone
        run = PlatformARun(replace(flow, by_hand=True), phone=its_own, app=idle, seed=seed)
        run.sdk.activity_provider = partial(within, BACK_END_WAIT, activity_provider)
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
