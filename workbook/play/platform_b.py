"""Platform B in the app, connected to the loop: one run with SDK, phone and perhaps a watch, and the SDK by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Protocol

from workbook.api.opaque import SdkInput
from workbook.base.values import flag, lookup, nearest, of_type, quoted
from workbook.errors import OpaqueDataError, ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.platform_b import BUSY_B, State
from workbook.flows.variants import B_LATER, VariantB, variant_b
from workbook.play.back_end import TRY_LATER, BackEnd, simulated_back_end
from workbook.play.loop import ByHand, InApp
from workbook.play.own_code import call_watched, check_callable, own_failures
from workbook.simulation.phones import A_PHONE_B, NEVER_OPENED, NUMBERS, WALLETS, PhoneB
from workbook.simulation.sdks import Reply, SdkB
from workbook.simulation.world import INSTRUMENT_IDS, World

Calls = Mapping[StrEnum, type[Event]]


# What the app's own code calls, as a table: the state that the flow is in, and the call that the app then makes. The
# other choices of an `AppB` are those in which apps go wrong.

# The app asks one question (B-CAN-1).
EARLIER_CALLS: Calls = {
    State.FETCHED: m.ServiceCalled,
    State.CREATED: m.CanAddCardCalled,
    State.TAPPED: m.StartCalled,
    State.ADDED: m.CanAddCardCalled,
}

# The app asks about the watch first, then about both places (B-WATCH-1, B-CAN-2).
LATER_CALLS: Calls = {
    State.FETCHED: m.ServiceCalled,
    State.CREATED: m.WatchActivateCalled,
    State.WATCH_KNOWN: m.CanAddCardDetailsCalled,
    State.TAPPED: m.StartCalled,
    State.ADDED: m.CanAddCardDetailsCalled,
}


@dataclass(frozen=True, slots=True)
class AppB:
    """The issuer's app on platform B.

    Attributes:
        calls: the call that the app makes in each state; None makes the calls of the variant that is played.
        delegate: the integrator's own delegate with `provision(...)` and `did_finish_provisioning(pass_, error)`, plain
            or coroutine functions; None relays through the back end (B-DEL-3).
        decodes: the app hands over the bytes; False hands over the base64 text, the classic mistake (API-8).
        keeps_watch_availability: the app makes one WatchAvailability; False makes one for each page (B-WATCH-2).
    """

    calls: Calls | None = None
    delegate: Any = None
    decodes: bool = True
    keeps_watch_availability: bool = True

    def calls_in(self, variant: VariantB) -> Calls:
        """The call that this app makes in each state of this variant."""
        usual = LATER_CALLS if variant.later else EARLIER_CALLS
        return usual if self.calls is None else self.calls

    def hand_over(self, sdk_input: Any) -> bytes | str | None:
        """What the app makes of its back end's answer: bytes, or nil where there is no base64 text to decode."""
        if not isinstance(sdk_input, SdkInput):
            return None  # a careless back end passed on an answer without one
        try:
            return sdk_input.data if self.decodes else sdk_input.text
        except OpaqueDataError:
            return None


def check_delegate(delegate: object, variant: VariantB) -> None:
    """Make sure that this variant's SDK can call the delegate, as a compiler would (B-DEL-1, B-DEL-2, B-FIN-1).

    Raises:
        ParameterError: it lacks one of its two methods, or one cannot be called as the SDK will.
    """
    parameters = ("sdk_output", "payment_instrument_id") if variant.later else ("sdk_output",)
    for name, arguments in (("provision", parameters), ("did_finish_provisioning", ("pass_", "error"))):
        method = None if isinstance(delegate, type) else getattr(delegate, name, None)
        near = "" if method else nearest(name, dir(delegate), 0.8)
        owner = f"{near}() is never called. A delegate" if near and not isinstance(delegate, type) else "A delegate"
        check_callable(method, owner, name, arguments)


def _read_answer(returned: Any) -> Event:
    """The outcome of the integrator's own provision: bytes, or nil; an exception ends as nil, too (assumed)."""
    return m.DelegateFailed("provision returned nil") if returned is None else m.SdkInputReceived(returned)


class PlatformBRun(InApp):
    """One run of one variant of platform B on one phone.

    Attributes:
        state: the state of the flow.
        button: what the cardholder sees of the add button: absent, shown, disabled or hidden.
        label: what else the app's screen says, such as 'Added to Wallet'.
        trace: every step so far.
    """

    variant: VariantB
    phone: PhoneB

    def __init__(
        self,
        variant: VariantB = B_LATER,
        payment_instrument_id: str = INSTRUMENT_IDS[0],
        *,
        phone: PhoneB | None = None,
        app: AppB | None = None,
        back_end: BackEnd | None = None,
    ) -> None:
        self.variant = variant
        self.phone = phone or PhoneB()
        self.app = app or AppB()
        self.sdk = SdkB(self.phone, later=variant.later)
        self.sdk.seen = self.soon
        self._sdk_input: Any = None
        self._is_watch_activated = False
        self._watch_instance = 0
        self._answer = 0
        super().__init__(payment_instrument_id, back_end or simulated_back_end(World(seed=self.phone.seed)))

    def _happen(self, event: Event) -> None:
        # Checked before the step, done after it: the delegate learns only of an end that the table accepts, and only
        # when button and state have changed. A second end of the same attempt is refused and reaches no delegate.
        ends = isinstance(event, m.FinishedWithPass | m.FinishedWithError | m.FinishedWithNeither)
        awaited = ends and type(event) in self.allowed
        super()._happen(event)
        if awaited:
            self._finish_delegate(event)

    def _save(self, command: m.SaveSdkInput) -> None:
        """The app keeps the bytes for its extension, if they are bytes at all (X-CACHE-1)."""
        why = "the back end handed over nothing."
        try:
            if isinstance(command.sdk_input, SdkInput):
                return self.phone.storage.save(self.payment_instrument_id, command.sdk_input.data)
        except OpaqueDataError as error:
            why = str(error)
        return self.soon(m.Noted(f"Nothing was saved for the extension: {why}"))

    def _hand_to_app(self, event: Event) -> Reply | None:
        """The app's next call, each field from what the app has learned so far."""
        match event:
            case m.ActivationDataReceived():
                self._sdk_input = self.app.hand_over(event.sdk_input)
            case m.ServiceReady() if self.app.keeps_watch_availability:  # one instance, whichever page made it
                self._watch_instance = self._watch_instance or self.phone.watch_sessions or 1
            case m.ServiceReady():
                self._watch_instance = self.phone.watch_sessions + 1
            case m.WatchActivated():
                self._is_watch_activated = event.is_watch_activated
            case _:
                pass
        known = {
            "sdk_input": self._sdk_input,
            "instance": self._watch_instance,
            "is_watch_activated": self._is_watch_activated,
        }
        call: Any = self.app.calls_in(self.variant).get(self.state)
        return None if call is None else (0.0, call(**{name: known[name] for name in call.__match_args__}))

    def _ask_delegate(self, command: m.AskDelegate | m.AskDelegateWithId) -> None:
        """In the earlier variant the app knows the card (B-DEL-1), in the later one the SDK names it (B-DEL-2)."""
        instrument, named = self.payment_instrument_id, tuple[str, ...]()
        if isinstance(command, m.AskDelegateWithId):
            instrument, named = command.payment_instrument_id, (command.payment_instrument_id,)
        if self.app.delegate is None:
            reply = self._relay(instrument, command.sdk_output, self._read_sdk_input, m.NoSdkInput(TRY_LATER))
        else:
            provision, arguments = self.app.delegate.provision, (command.sdk_output.data, *named)
            reply = self._own("provision", provision, arguments, _read_answer, m.DelegateFailed)
        self._answer = self._agenda.after(*reply)

    def _read_sdk_input(self, sdk_input: Any) -> Event:
        """What the app's own delegate makes of the answer: nil when it cannot be decoded (B-DEL-3)."""
        handed = self.app.hand_over(sdk_input)
        what = "no base64 text" if sdk_input else "empty"
        return m.DelegateFailed(f"the answer is {what}") if handed is None else m.SdkInputReceived(handed)

    def _give_up(self, command: m.GiveUp) -> Reply:
        """The delegate's answer, when it comes, is ignored, even if another attempt waits for one by then (wallet)."""
        self._agenda.replace(self._answer, m.IgnoreLateSdkInput())
        return self.sdk.answer(command)

    def _finish_delegate(self, event: Event) -> None:
        """Call didFinishProvisioning(with pass, error) of the integrator's own delegate (B-FIN-1)."""
        if self.app.delegate is None:
            return
        added = event.where if isinstance(event, m.FinishedWithPass) else None
        error = SdkError(event.case, event.why) if isinstance(event, m.FinishedWithError) else None
        try:
            call_watched("didFinishProvisioning", self.soon, self.app.delegate.did_finish_provisioning, added, error)
        except own_failures() as problem:
            self.soon(m.Noted(f"The delegate's didFinishProvisioning raised {type(problem).__name__}."))

    ports: ClassVar = {
        **InApp.ports,
        **dict.fromkeys(SdkB.answers, lambda self, command: self.sdk.answer(command)),
        m.SaveSdkInput: _save,
        m.AskDelegate: _ask_delegate,
        m.AskDelegateWithId: _ask_delegate,
        m.GiveUp: _give_up,
        m.HandToApp: _hand_to_app,
    }


# Apps and phones by name.

# The issuer's apps by name. The last shows the document's other label (B-FIN-2); each between makes one mistake.
APPS_B: Mapping[str, Mapping[str, Any]] = {
    "good": {},
    "hands over base64 text": {"decodes": False},
    "a WatchAvailability for each page": {"keeps_watch_availability": False},
    "never looks for a watch": {
        "calls": {
            State.FETCHED: m.ServiceCalled,
            State.CREATED: m.CanAddCardDetailsCalled,
            State.WATCH_KNOWN: m.CanAddCardDetailsCalled,
            State.TAPPED: m.StartCalled,
            State.ADDED: m.CanAddCardDetailsCalled,
        }
    },
    "keeps a failure to itself": {"tells": False},
    "says “Available in Wallet” on completion": {"says_available": True},
}


def app_named(name: str, variant: VariantB, delegate: object = None) -> tuple[VariantB, AppB]:
    """The app of this name with this delegate, and the variant as that app shows it.

    Raises:
        ParameterError: there is no such app, it needs the other variant, or the SDK cannot call the delegate.
    """
    mistake = lookup("app", name, APPS_B)
    if not variant.later and any(setting in mistake for setting in ("calls", "keeps_watch_availability")):
        raise ParameterError(f"The earlier variant knows no watch: {quoted(name)} needs variant='later'.")
    if delegate is not None:
        check_delegate(delegate, variant)
    on_screen = {setting: value for setting, value in mistake.items() if setting in ("tells", "says_available")}
    in_code = {setting: value for setting, value in mistake.items() if setting not in on_screen}
    return replace(variant, **on_screen), AppB(delegate=delegate, **in_code)


def opened_phone(name: str = "app was opened", cards: Sequence[str] = INSTRUMENT_IDS) -> PhoneB:
    """One of `WALLETS`, on which the cardholder has opened the app, so that it saved each card's sdkInput (X-CACHE-1).

    Raises:
        ParameterError: no phone has this name.
    """
    phone = lookup("phone", name, WALLETS)(cards[0] if cards else INSTRUMENT_IDS[0])
    if name != NEVER_OPENED:
        for card in cards:
            PlatformBRun(payment_instrument_id=card, phone=phone).open()
    return phone


# Platform B's SDK to call by hand, shaped as in the document. What throws on the platform raises an `SdkError` here;
# everything else is a returned value.


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

    Example:
        >>> service = wb.ProvisioningService(wb.session().activation_data().data)
        >>> service.can_add_card_details(is_watch_activated=False)
        AddCardDetails(can_add_card=True)
    """

    calls: ClassVar = {
        m.ServiceCalled: "ProvisioningService(...)",
        m.CanAddCardCalled: "can_add_card()",
        m.CanAddCardDetailsCalled: "can_add_card_details(is_watch_activated=...)",
        m.StartCalled: "start(...)",
    }
    busy = BUSY_B

    def __init__(self, sdk_input: bytes, *, variant: VariantB | str = B_LATER, phone: PhoneB | None = None) -> None:
        of_type("phone", phone, PhoneB | None, A_PHONE_B)
        flow = variant if isinstance(variant, VariantB) else variant_b(variant)
        phone = PhoneB(number=next(NUMBERS)) if phone is None else phone
        run = PlatformBRun(flow, phone=phone, app=AppB({}))
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
        place = False if self._run.phone.profile == "field" else None
        return AddCardDetails(False, place, place)  # noqa: FBT003  # a record

    def start(self, *, delegate: ProvisioningDelegate, presenting_view_controller: object) -> None:
        """Start provisioning after the cardholder selected add; not async: the delegate gets the outcome (B-START-1).

        Raises:
            SdkError: `delegateNotSet`, or `presentationFailure` without a view controller or an entitlement (the names:
                sdk-b; that start raises them: inferred).
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

    Example:
        >>> wb.WatchAvailability(wb.session().platform_b.play("with a watch").phone).activate()
        True
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
