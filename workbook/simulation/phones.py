"""The phones: each with its wallet, the cards in it, and the facts that decide how an SDK answers.

The document names the outcomes and not what brings them about. So a fact here is either a plain reading of an
outcome's name or a choice of ours with its source beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import count
from typing import get_args

from workbook.errors import OpaqueDataError
from workbook.flows.messages import CanProvisionFailure, Event

# How a cardholder ends the wallet's flow (sdk-a); an app tells no failure then (assumed).
CANCELED = "Canceled"
# The case names of ProvisionResult.Failure in the public reference (sdk-a); the document shows none (GAP-4).
PROVISION_FAILURES = (
    CANCELED, "OpcFetchError", "ProvisioningInProgress", "ApiNotConnected", "ConnectionSuspendedDuringCall",
    "DeveloperError", "Error", "InternalError", "Interrupted", "InvalidAccount", "NetworkError",
    "ReconnectionTimedOut", "ReconnectionTimedOutDuringUpdate", "RemoteException", "ResolutionRequired",
    "SignInRequired", "Timeout", "NoActiveWallet", "TokenNotFound", "InvalidTokenState", "AttestationError",
    "Unavailable", "UnknownStatusCode", "InvalidSdkInput", "AlreadyProvisioned", "Other",
)  # fmt: skip

# The wallet API's status for an app that is not allowlisted (wallet; that it arrives here is inferred).
NOT_ALLOWLISTED = 15009

# An example of each failure of canProvision by the document's name; what it carries is ours.
CAN_PROVISION_FAILURES: Mapping[str, Event] = {
    event.says.rpartition(".")[2]: event(
        **{each.name: {"throwable": "IOException", "status_code": NOT_ALLOWLISTED}[each.name] for each in fields(event)}
    )
    for event in get_args(CanProvisionFailure)
}


@dataclass(frozen=True, slots=True)
class LatenciesA:
    """How long each part takes in virtual time, in seconds (all assumed)."""

    get: float = 0.25
    post: float = 0.30
    create: float = 0.02
    can_provision: float = 0.15
    create_sdk_output: float = 0.12
    wallet: float = 2.40


# What an error asks for where it refuses a phone.
A_PHONE_A, A_PHONE_B = (f"a Phone{letter}(...) from workbook.simulation.phones" for letter in "AB")

# Numbers for the phones of SDKs that are called by hand. So two clients made of one sdkInput, as when a page is opened
# again, make different sdkOutputs, as real ones would.
NUMBERS = count(1)


@dataclass
class PhoneA:
    """A platform A phone.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (inferred).
        wallet_pay_supported: False makes create answer WalletPayNotSupported (A-CREATE-2).
        takes_sdk_input: False makes create answer InvalidSdkInput, whatever it is given (A-CREATE-3).
        allowlisted: the app is allowlisted with the wallet provider (A-ALLOW-1).
        scheme_configured: False makes canProvision miss a card that is there (A-CAN-6).
        verification_pending: a card is added but waits for an identity check; canProvision then answers
            CanBeProvisioned on purpose (sdk-a).
        can_provision: answer this instead of what the facts say.
        provision_failure: end the wallet's flow with this failure, one of `PROVISION_FAILURES`.
        cards: the ids of the payment instruments in the wallet; a success adds to it.
        number: distinguishes its sdkOutputs from those of other phones in front of the same service.
        outputs: how many sdkOutputs its SDK has made, so that no two are alike.
    """

    wallet: str = "wallet-a"
    wallet_pay_supported: bool = True
    takes_sdk_input: bool = True
    allowlisted: bool = True
    scheme_configured: bool = True
    verification_pending: bool = False
    can_provision: Event | None = None
    provision_failure: str | None = None
    cards: set[str] = field(default_factory=set)
    number: int = 1
    outputs: int = 0
    latencies: LatenciesA = LatenciesA()


# Platform B's phone: its wallet, the watch that may be paired with it, and the facts that decide how an SDK answers.
#
# Phone and watch hold their own cards. What the document names is the outcomes; what brings them about is either a
# plain reading of an outcome's name or a choice with its source beside it.

# The secure storage that the main app and its extension share: what the app saved, the extension reads (X-CACHE-1).


class SecureStorage:
    """One sdkInput for each payment instrument, as bytes; nothing of it is ever printed."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"SecureStorage({len(self._values)} sdkInputs)"

    def save(self, payment_instrument_id: str, sdk_input: bytes) -> None:
        """Keep the sdkInput of this instrument; an older one is replaced.

        Raises:
            OpaqueDataError: it is not bytes.
        """
        if not isinstance(sdk_input, bytes):
            message = f"The storage keeps sdkInput's bytes (API-8), not {type(sdk_input).__name__}."
            raise OpaqueDataError(message, layer="not-text")
        self._values[payment_instrument_id] = sdk_input

    def values(self) -> dict[str, bytes]:
        """Every saved sdkInput by its instrument, in the order in which they were saved first."""
        return dict(self._values)

    def forget(self) -> None:
        """Empty the storage, as on a phone where the app was never opened."""
        self._values.clear()


# The case names of the in-app errors in the public interface (sdk-b, one name neutralised).
ERRORS = (
    "invalidSDKInput", "walletNotSupported", "walletKitError", "presentationFailure", "userCancelled",
    "delegateNotSet", "unableToConstructSDKOutput",
)  # fmt: skip

# Those that `start` itself throws; the others arrive in didFinishProvisioning (inferred).
THROWN_BY_START = ("presentationFailure", "delegateNotSet")

# For `ends_with` of PhoneB: didFinishProvisioning without a pass or an error (B-FIN-1).
NOTHING = "nothing"

# The three targets that need the provisioning entitlement (sdk-b).
TARGETS = ("app", "extension", "authorization UI")


@dataclass(frozen=True, slots=True)
class LatenciesB:
    """How long each part takes in virtual time, in seconds (all assumed)."""

    get: float = 0.25
    post: float = 0.30
    service: float = 0.004
    can_add_card: float = 0.03
    watch: float = 0.20
    sheet: float = 1.20
    wallet: float = 1.60
    storage: float = 0.003
    handler: float = 0.006
    card_art: float = 0.010
    authorization: float = 2.00


@dataclass
class Watch:
    """A paired watch.

    Attributes:
        cards: the ids of the payment instruments in its wallet.
    """

    cards: set[str] = field(default_factory=set)


@dataclass(repr=False)
class PhoneB:
    """A platform B phone.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (sdk-b text).
        watch: the paired watch; None where there is none.
        cards: the ids of the payment instruments in the phone's own wallet.
        adds_to: the place that the cardholder chooses in the wallet's sheet, `phone`, `watch` or `both` (wallet).
        ends_with: end the wallet's flow with this error, one of `ERRORS`, or with `NOTHING`.
        associated: the app is among the card's associated applications at the scheme; False hides the card from
            the app, so that canAddCard stays true (symptoms, row 30).
        entitled: the targets that hold the provisioning entitlement (sdk-b).
        app_group_shared: app and extension share their storage (sdk-b).
        storage: the secure storage that the main app writes and the extension reads (X-CACHE-1).
        watch_sessions: how many WatchAvailability instances were made (B-WATCH-2).
        number: distinguishes its sdkOutputs from those of other phones in front of the same service.
        outputs: how many sdkOutputs its SDK has made, so that no two are alike.
        seed: of the simulated service whose data its SDK can open.
        profile: `spec` answers canAddCardDetails with canAddCard alone; `field` adds the two places (sdk-b, GAP-4).
    """

    wallet: str = "wallet-b"
    watch: Watch | None = None
    cards: set[str] = field(default_factory=set)
    adds_to: str = "phone"
    ends_with: str | None = None
    associated: bool = True
    entitled: tuple[str, ...] = TARGETS
    app_group_shared: bool = True
    storage: SecureStorage = field(default_factory=SecureStorage)
    watch_sessions: int = 0
    number: int = 1
    outputs: int = 0
    latencies: LatenciesB = LatenciesB()
    seed: int = 7
    profile: str = "spec"

    def __repr__(self) -> str:
        cards = f"{len(self.cards)} cards" + (f", {len(self.watch.cards)} on the watch" if self.watch else "")
        return f"PhoneB({cards})"

    def missing(self, payment_instrument_id: str) -> tuple[bool, bool]:
        """Whether the phone, and whether the paired watch, lacks this card."""
        watch = self.watch
        return payment_instrument_id not in self.cards, watch is not None and payment_instrument_id not in watch.cards

    def add(self, payment_instrument_id: str, wanted: str) -> str:
        """Put the card where the cardholder wants it, and say where that was: `phone`, `watch` or `both`.

        The wallet's sheet offers the places that lack the card. Where the wanted place is not offered, the card goes to
        the one that is; where none is offered, it goes to the phone once more (assumed).
        """
        phone, watch = self.missing(payment_instrument_id)
        on_watch = watch and (wanted != "phone" or not phone)
        on_phone = not on_watch or (phone and wanted != "watch")
        if on_phone:
            self.cards.add(payment_instrument_id)
        if on_watch and self.watch is not None:
            self.watch.cards.add(payment_instrument_id)
        return "both" if on_phone and on_watch else "watch" if on_watch else "phone"


# Phones by name, as plays, panels and the phone of `workbook phone` take them.


def _answering(outcome: Event) -> Callable[[str], PhoneA]:
    return lambda _card: PhoneA(can_provision=outcome)


# Platform A's phones by name; each is made for the card that the cardholder adds.
PHONES_A: Mapping[str, Callable[[str], PhoneA]] = {
    "ready": lambda _card: PhoneA(),
    "card already in the wallet": lambda card: PhoneA(cards={card}),
    "wallet payment not supported": lambda _card: PhoneA(wallet_pay_supported=False),
    "app not allowlisted": lambda _card: PhoneA(allowlisted=False),
    **{f"canProvision ends in {name}": _answering(outcome) for name, outcome in CAN_PROVISION_FAILURES.items()},
    "card not configured at the scheme": lambda _card: PhoneA(scheme_configured=False),
    "identity check pending": lambda _card: PhoneA(verification_pending=True),
    "cardholder cancels": lambda _card: PhoneA(provision_failure=CANCELED),
    "wallet times out": lambda _card: PhoneA(provision_failure="Timeout"),
    "no wallet yet": lambda _card: PhoneA(provision_failure="NoActiveWallet"),
    "not certified": lambda _card: PhoneA(provision_failure="AttestationError"),
    "another attempt is open": lambda _card: PhoneA(provision_failure="ProvisioningInProgress"),
}

# Platform B's phones by name; each is made for the card that the cardholder adds.
PHONES_B: Mapping[str, Callable[[str], PhoneB]] = {
    "ready": lambda _card: PhoneB(),
    "with a watch": lambda _card: PhoneB(watch=Watch()),
    "cardholder adds to both": lambda _card: PhoneB(watch=Watch(), adds_to="both"),
    "card on the phone, not on the watch": lambda card: PhoneB(watch=Watch(), cards={card}),
    "card on both": lambda card: PhoneB(watch=Watch({card}), cards={card}),
    "card already in the wallet": lambda card: PhoneB(cards={card}),
    "another wallet": lambda _card: PhoneB(wallet="wallet-c"),
    "cardholder cancels": lambda _card: PhoneB(ends_with="userCancelled"),
    "wallet fails": lambda _card: PhoneB(ends_with="walletKitError"),
    "neither pass nor error": lambda _card: PhoneB(ends_with=NOTHING),
    "no entitlement": lambda _card: PhoneB(entitled=TARGETS[1:]),
    "app not associated at the scheme": lambda _card: PhoneB(associated=False),
    "back end takes 25 s": lambda _card: PhoneB(latencies=LatenciesB(post=25.0)),
}

NEVER_OPENED = "app was never opened"
# The phones on which the flow starts in the wallet app, by name; each is made for the first of the cards.
WALLETS: Mapping[str, Callable[[str], PhoneB]] = {
    "app was opened": lambda _card: PhoneB(),
    NEVER_OPENED: lambda _card: PhoneB(),
    "with a watch": lambda _card: PhoneB(watch=Watch()),
    "first card is there already": lambda card: PhoneB(watch=Watch({card}), cards={card}),
    "app and extension share no storage": lambda _card: PhoneB(app_group_shared=False),
    "extension lacks the entitlement": lambda _card: PhoneB(entitled=("app", "authorization UI")),
    "authorization UI lacks the entitlement": lambda _card: PhoneB(entitled=("app", "extension")),
    "slow network": lambda _card: PhoneB(latencies=LatenciesB(get=16.0)),
    "back end takes 25 s": lambda _card: PhoneB(latencies=LatenciesB(post=25.0)),
}
