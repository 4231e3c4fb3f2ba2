"""Platform B's SDK by hand: `ProvisioningService` and `WatchAvailability`, shaped as the document has them.

They hold no rules of order of their own. Each call becomes the event that the bench would step, and the same table
allows or refuses it. What throws on the platform raises an `SdkError` here; everything else is a returned value.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from workbook.benches.app_b import AppB, check_delegate
from workbook.benches.bench_b import BenchB
from workbook.errors import OutOfOrderError, ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.platform_b import State
from workbook.flows.variants_b import B_LATER
from workbook.parameters import quoted
from workbook.simulation.phone import Phone
from workbook.simulation.sdk_b import SdkB
from workbook.trace import Kind

if TYPE_CHECKING:
    from workbook.flows.messages import Event
    from workbook.flows.variants_b import VariantB
    from workbook.trace import Trace

__all__ = ["AddCardDetails", "ProvisioningDelegate", "ProvisioningService", "WatchAvailability"]

CALLS: dict[type[Event], str] = {
    m.CanAddCardCalled: "can_add_card()",
    m.CanAddCardDetailsCalled: "can_add_card_details(is_watch_activated=...)",
    m.AddTapped: "start(...)",
}


class ProvisioningDelegate(Protocol):
    """What the app implements (B-DEL-1, B-DEL-2, B-FIN-1); each may be a coroutine function."""

    def provision(self, sdk_output: bytes, payment_instrument_id: str = "", /) -> Any:
        """The sdkInput of the back end's POST as bytes, or None; the earlier variant gives sdk_output only."""
        ...

    def did_finish_provisioning(self, pass_: str | None, error: str | None) -> Any:
        """The end of it: `pass_` says where the card was added, `error` is an `SdkError`; both may be None."""
        ...


class AddCardDetails:
    """The later variant's answer (B-CAN-2).

    Attributes:
        can_add_card: show the button.
        can_add_to_phone: and where; None in the `spec` profile, where the document does not show it (sdk-b).
        can_add_to_watch: the same for the watch.
    """

    def __init__(self, found: m.CanAddCard | m.CannotAddCard, profile: str = "spec") -> None:
        nowhere = False if profile == "field" else None
        self.can_add_card = isinstance(found, m.CanAddCard)
        self.can_add_to_phone: bool | None = getattr(found, "can_add_to_phone", nowhere)
        self.can_add_to_watch: bool | None = getattr(found, "can_add_to_watch", nowhere)

    def __repr__(self) -> str:
        if self.can_add_to_phone is None:
            return f"AddCardDetails(can_add_card={self.can_add_card})"
        places = f"can_add_to_phone={self.can_add_to_phone}, can_add_to_watch={self.can_add_to_watch}"
        return f"AddCardDetails(can_add_card={self.can_add_card}, {places})"


class ProvisioningService:
    """One card's service on one phone (B-INIT-1).

    Args:
        sdk_input: the GET's sdkInput, as bytes (API-8).
        variant: whose SDK plays.
        phone: where it runs; by default a new one.

    Raises:
        SdkError: `invalidSDKInput` or `walletNotSupported` (sdk-b); that the initialiser itself throws is inferred.
        ParameterError: `variant` or `phone` is none.
    """

    def __init__(self, sdk_input: bytes, *, variant: VariantB = B_LATER, phone: Phone | None = None) -> None:
        self._bench = BenchB(variant, phone=phone, app=AppB(MappingProxyType({})))
        self._bench.state = State.FETCHED
        made = self._outcome(m.ServiceCalled(sdk_input))
        if isinstance(made, m.ServiceRefused):
            raise SdkError(made.case, made.why)

    def __repr__(self) -> str:
        return f"ProvisioningService({self._bench.variant.name!r}, {self._bench.state.value})"

    @property
    def trace(self) -> Trace:
        """Every call and outcome so far."""
        return self._bench.trace

    def can_add_card(self) -> bool:
        """Earlier variant: whether to show the button (B-CAN-1).

        Raises:
            OutOfOrderError: the variant has no such call, or an attempt is under way.
        """
        return isinstance(self._call(m.CanAddCardCalled()), m.CanAddCard)

    def can_add_card_details(self, *, is_watch_activated: bool) -> AddCardDetails:
        """Later variant: whether the card can be added, on the phone or on the watch (B-CAN-2).

        Raises:
            OutOfOrderError: the variant has no such call, or an attempt is under way.
        """
        found: Any = self._call(m.CanAddCardDetailsCalled(is_watch_activated))
        return AddCardDetails(found, self._bench.phone.profile)

    def start(self, *, delegate: ProvisioningDelegate, presenting_view_controller: object) -> None:
        """The cardholder selected add: everything else the delegate hears (B-START-1).

        Raises:
            SdkError: `delegateNotSet`, or `presentationFailure` without a view controller or an entitlement (sdk-b).
            OutOfOrderError: nobody has asked whether the card can be added, or it cannot.
            ParameterError: the SDK cannot call the delegate.
        """
        self._check_allowed(m.AddTapped())
        if delegate is None:
            raise SdkError("delegateNotSet", "there is no delegate")
        if presenting_view_controller is None:
            raise SdkError("presentationFailure", "there is no view controller to present the wallet's sheet")
        check_delegate(delegate, self._bench.variant)
        self._bench.app = AppB(MappingProxyType({}), delegate=delegate)
        self._bench.feed(m.AddTapped())
        outcome = self._outcome(m.StartCalled())
        if isinstance(outcome, m.StartThrew):
            raise SdkError(outcome.case, outcome.why)

    def _call(self, call: Event) -> Event:
        self._check_allowed(call)
        return self._outcome(call)

    def _check_allowed(self, call: Event) -> None:
        if type(call) not in self._bench.allowed:
            raise OutOfOrderError(self._refusal(call))

    def _outcome(self, call: Event) -> Event:
        self._bench.feed(call)
        event: Any = self._bench.trace.select(kind=Kind.EVENT)[-1].message
        return event  # type: ignore[no-any-return]  # every event's record holds an event

    def _refusal(self, call: Event) -> str:
        variant, allowed = self._bench.variant.name, self._bench.allowed
        possible = ", ".join(text for event, text in CALLS.items() if event in allowed)
        return (
            f"{CALLS[type(call)]} cannot be called while '{self._bench.state}' in the {variant} variant. "
            f"Possible now: {possible or 'nothing, until this attempt is over'}."
        )


class WatchAvailability:
    """Whether a watch is paired. Create only one for the whole app (B-WATCH-2).

    A second one takes the phone's watch session over, and the first hears nothing any more (sdk-b).

    Raises:
        ParameterError: `phone` is none.
    """

    def __init__(self, phone: Phone) -> None:
        if not isinstance(phone, Phone):
            raise ParameterError(f"phone is {quoted(phone)}; allowed: the Phone(...) that the service runs on.")
        self._sdk = SdkB(phone, later=True)
        self._instance = self._sdk.watch_made()

    def __repr__(self) -> str:
        return f"WatchAvailability(instance {self._instance})"

    def activate(self) -> bool:
        """True when a watch is paired, as far as this instance can hear (B-WATCH-1)."""
        return self._sdk.watch_answers(self._instance)
