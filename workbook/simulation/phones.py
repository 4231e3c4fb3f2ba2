"""The phones: each with its wallet, and the facts that decide how an SDK answers.

The document names the outcomes and not what brings them about. So a fact here is either a plain reading of an
outcome's name or a choice of ours with its source beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from itertools import count
from typing import get_args

from workbook.errors import OpaqueDataError
from workbook.flows.messages import CanProvisionFailure, Event
from workbook.simulation.wallet import CANCELED, NOT_ALLOWLISTED, NOTHING, WalletA, WalletB, Watch

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
class PhoneA(WalletA):
    """A platform A phone: its wallet, and the facts around it.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (inferred).
        wallet_pay_supported: False makes create answer WalletPayNotSupported (A-CREATE-2).
        takes_sdk_input: False makes create answer InvalidSdkInput, whatever it is given (A-CREATE-3).
        allowlisted: the app is allowlisted with the wallet provider (A-ALLOW-1).
        scheme_configured: False makes canProvision miss a card that is there (A-CAN-6).
        can_provision: answer this instead of what the facts say.
        number: distinguishes its sdkOutputs from those of other phones in front of the same service.
        outputs: how many sdkOutputs its SDK has made, so that no two are alike.
    """

    wallet: str = "wallet-a"
    wallet_pay_supported: bool = True
    takes_sdk_input: bool = True
    allowlisted: bool = True
    scheme_configured: bool = True
    can_provision: Event | None = None
    number: int = 1
    outputs: int = 0
    latencies: LatenciesA = LatenciesA()


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


@dataclass(repr=False)
class PhoneB(WalletB):
    """A platform B phone: its wallet, and the facts around it.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (sdk-b text).
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
