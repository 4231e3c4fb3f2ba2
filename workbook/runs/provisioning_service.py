"""Platform B's SDK to call by hand: `ProvisioningService` and `WatchAvailability`, shaped as in the document.

What throws on the platform raises an `SdkError` here; everything else is a returned value.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from workbook.base.values import flag, of_type
from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.platform_b import BUSY, State
from workbook.flows.variants import B_LATER, VariantB, variant_b
from workbook.runs.in_app import ByHand
from workbook.runs.platform_b import AppB, PlatformBRun, check_delegate
from workbook.simulation.phones import NUMBERS, PhoneB
from workbook.simulation.sdks import SdkB


class ProvisioningDelegate(Protocol):
    """What the app implements (B-DEL-1, B-DEL-2, B-FIN-1); each may be async, as `provision` is on the platform."""

    def provision(self, sdk_output: bytes, payment_instrument_id: str = "", /) -> Any:
        """The sdkInput of the back end's POST as bytes, or None; the earlier variant gives sdk_output only."""
        ...

    def did_finish_provisioning(self, pass_: str | None, error: str | None) -> Any:
        """The attempt is over: `pass_` says where the card was added, `error` is an `SdkError`; both may be None."""
        ...


@dataclass(frozen=True, slots=True)
class AddCardDetails:
    """The later variant's answer (B-CAN-2).

    Attributes:
        can_add_card: whether to show the button.
        can_add_to_phone: whether it can be added on the phone (sdk-b); None in the `spec` profile, because the
            document does not show it.
        can_add_to_watch: the same for the watch.
    """

    can_add_card: bool
    can_add_to_phone: bool | None = None
    can_add_to_watch: bool | None = None

    def __repr__(self) -> str:
        if self.can_add_to_phone is None:
            return f"AddCardDetails(can_add_card={self.can_add_card})"
        places = f"can_add_to_phone={self.can_add_to_phone}, can_add_to_watch={self.can_add_to_watch}"
        return f"AddCardDetails(can_add_card={self.can_add_card}, {places})"


class ProvisioningService(ByHand):
    """One card's service on one phone (B-INIT-1); it carries out one call at a time.

    Args:
        sdk_input: the GET's sdkInput, as bytes (API-8).
        variant: the SDK's variant, by name: `earlier` or `later`.
        phone: the phone that the SDK runs on; by default a new one.

    Raises:
        SdkError: `invalidSDKInput` or `walletNotSupported` (sdk-b); that the initialiser itself throws is inferred.
        ParameterError: there is no such variant, or `phone` has another type.
    """

    calls: ClassVar = {
        m.ServiceCalled: "ProvisioningService(...)",
        m.CanAddCardCalled: "can_add_card()",
        m.CanAddCardDetailsCalled: "can_add_card_details(is_watch_activated=...)",
        m.StartCalled: "start(...)",
    }
    busy = BUSY

    def __init__(self, sdk_input: bytes, *, variant: VariantB | str = B_LATER, phone: PhoneB | None = None) -> None:
        flow = variant if isinstance(variant, VariantB) else variant_b(variant)
        phone = PhoneB(number=next(NUMBERS)) if phone is None else phone
        run = PlatformBRun(flow, phone=phone, app=AppB(MappingProxyType({})))
        run.state = State.FETCHED
        super().__init__(run, f"the {flow.name} variant")
        outcome = self._call(m.ServiceCalled(sdk_input))
        if isinstance(outcome, m.ServiceRefused):
            raise SdkError(outcome.case, outcome.why)

    def can_add_card(self) -> bool:
        """Earlier variant: whether to show the button (B-CAN-1); an async operation on the platform.

        Raises:
            OutOfOrderError: the variant has no such call, or an attempt is under way.
        """
        return isinstance(self._call(m.CanAddCardCalled()), m.CanAddCard)

    def can_add_card_details(self, *, is_watch_activated: bool) -> AddCardDetails:
        """Later variant: whether the card can be added, on the phone or on the watch (B-CAN-2); not async.

        Raises:
            OutOfOrderError: the variant has no such call, or an attempt is under way.
            ParameterError: `is_watch_activated` is neither True nor False.
        """
        flag("is_watch_activated", is_watch_activated)
        outcome = self._call(m.CanAddCardDetailsCalled(is_watch_activated))
        if isinstance(outcome, m.CanAddCard):
            return AddCardDetails(True, outcome.can_add_to_phone, outcome.can_add_to_watch)  # noqa: FBT003  # a record
        shown = False if self._run.phone.profile == "field" else None
        return AddCardDetails(False, shown, shown)  # noqa: FBT003  # a record

    def start(self, *, delegate: ProvisioningDelegate, presenting_view_controller: object) -> None:
        """Start provisioning after the cardholder selected add; not async: the delegate gets the outcome (B-START-1).

        Raises:
            SdkError: `delegateNotSet`, or `presentationFailure` without a view controller or an entitlement (sdk-b).
            OutOfOrderError: the app has not asked whether the card can be added, or it cannot be.
            ParameterError: the SDK cannot call the delegate.
        """
        self._check(m.StartCalled())
        if delegate is None:
            raise SdkError("delegateNotSet", "there is no delegate")
        if presenting_view_controller is None:
            raise SdkError("presentationFailure", "there is no view controller to present the wallet's sheet")
        check_delegate(delegate, self._run.variant)
        outcome = self._call(m.StartCalled(), delegate=delegate)
        if isinstance(outcome, m.StartThrew):
            raise SdkError(outcome.case, outcome.why)


class WatchAvailability:
    """Whether a watch is paired. Create only one for the whole app (B-WATCH-2).

    A second one takes over the phone's watch session, and the first gets no more answers (sdk-b).

    Args:
        phone: the phone that the service runs on.
        variant: the SDK's variant, by name; the earlier one has no such class.

    Raises:
        ParameterError: `phone` has another type, or the variant is the earlier one or unknown.
    """

    def __init__(self, phone: PhoneB, *, variant: VariantB | str = B_LATER) -> None:
        if not (variant if isinstance(variant, VariantB) else variant_b(variant)).later:
            raise ParameterError("The earlier variant has no WatchAvailability: it asks canAddCard() alone (B-CAN-1).")
        of_type("phone", phone, PhoneB, "the PhoneB(...) that the service runs on")
        self._sdk = SdkB(phone, later=True)
        self._instance = self._sdk.watch_made()

    def __repr__(self) -> str:
        return f"WatchAvailability(instance {self._instance})"

    def activate(self) -> bool:
        """True when a watch is paired, as far as this instance can tell (B-WATCH-1); async on the platform."""
        return self._sdk.watch_answers(self._instance)
