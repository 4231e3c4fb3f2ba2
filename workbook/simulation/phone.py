"""Platform B's phone: its wallet, the watch that may be paired with it, and the facts that decide how an SDK answers.

Phone and watch hold their own cards. What the document names is the outcomes; what brings them about is either a
plain reading of an outcome's name or a choice with its source beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation.storage import SecureStorage

ERRORS = (
    "invalidSDKInput", "walletNotSupported", "walletKitError", "presentationFailure", "userCancelled",
    "delegateNotSet", "unableToConstructSDKOutput",
)  # fmt: skip
"""The case names of the in-app errors in the public interface (sdk-b, one name neutralised)."""

THROWN_BY_START = ("presentationFailure", "delegateNotSet")
"""Those that `start` itself throws; the others arrive in didFinishProvisioning (inferred)."""

NOTHING = "nothing"
"""For `Phone.ends_with`: didFinishProvisioning with neither a pass nor an error (B-FIN-1)."""

PROFILES = ("spec", "field")
"""Only what the document says, or what is publicly known as well."""

PLACES = ("phone", "watch", "both")
"""Where the cardholder may add a card in the wallet's sheet (wallet)."""

TARGETS = ("app", "extension", "authorization UI")
"""The three targets that need the provisioning entitlement (sdk-b)."""


@dataclass(frozen=True, slots=True)
class Waits:
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


@dataclass
class Phone:
    """A platform B phone.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (sdk-b text).
        watch: the paired watch; None where there is none.
        cards: the ids of the payment instruments in the phone's own wallet.
        adds_to: where the cardholder wants the card in the wallet's sheet, one of `PLACES` (wallet).
        ends_with: end the wallet's flow with this error, one of `ERRORS`, or with `NOTHING`.
        associated: the app is among the card's associated applications at the scheme; False hides the card from
            the app, so that canAddCard stays true (field notes, 30).
        entitled: the targets that hold the provisioning entitlement (sdk-b).
        app_group_shared: app and extension share their storage (sdk-b).
        storage: the secure storage that the main app writes and the extension reads (X-CACHE-1).
        watch_sessions: how many WatchAvailability instances were made (B-WATCH-2).
        number: tells its sdkOutputs from those of other phones in front of the same service.
        outputs: how many sdkOutputs its SDK has made, so that no two are alike.
        seed: of the simulated service whose data its SDK can open.
        profile: `spec` answers canAddCardDetails with canAddCard alone; `field` adds the two places (sdk-b, GAP-4).

    Raises:
        ParameterError: `adds_to`, `ends_with`, `entitled` or `profile` names what does not exist, or another fact
            is not of its kind.
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
    waits: Waits = field(default_factory=Waits)
    seed: int = 7
    profile: str = "spec"

    def __post_init__(self) -> None:
        _known("adds_to", self.adds_to, PLACES)
        _known("ends_with", self.ends_with, (None, NOTHING, *ERRORS))
        _known("profile", self.profile, PROFILES)
        for name, kind in KINDS.items():
            _of_kind(name, getattr(self, name), kind)
        for target in self.entitled:
            _known("entitled", target, TARGETS)

    def missing(self, payment_instrument_id: str) -> tuple[bool, bool]:
        """Whether the phone, and whether the paired watch, lacks this card."""
        watch = self.watch
        return payment_instrument_id not in self.cards, watch is not None and payment_instrument_id not in watch.cards

    def add(self, payment_instrument_id: str, wanted: str) -> str:
        """Put the card where the cardholder wants it, and say where that was, one of `PLACES`.

        The wallet's sheet offers the places that lack the card. Where none of those is wanted, the card goes to the
        one that is left; a phone and a watch that both have it leave the phone, which takes it once more (assumed).
        """
        phone, watch = self.missing(payment_instrument_id)
        on_watch = watch and (wanted != "phone" or not phone)
        on_phone = not on_watch or (phone and wanted != "watch")
        if on_phone:
            self.cards.add(payment_instrument_id)
        if on_watch and self.watch is not None:
            self.watch.cards.add(payment_instrument_id)
        return "both" if on_phone and on_watch else "watch" if on_watch else "phone"


KINDS: dict[str, tuple[type, ...]] = {
    "watch": (Watch, type(None)),
    "cards": (set,),
    "entitled": (tuple,),
    "storage": (SecureStorage,),
    "waits": (Waits,),
}
"""What a phone's facts are made of, where a wrong kind would be noticed far from here only."""


def _of_kind(name: str, value: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        allowed = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise ParameterError(f"A phone's {name} is {value!r:.40}; give a {allowed}.")


def _known(name: str, value: str | None, allowed: tuple[str | None, ...]) -> None:
    if value not in allowed:
        names = [each for each in allowed if each is not None]
        raise ParameterError(f"{name} cannot be {value!r:.40}. {did_you_mean(str(value), names)}")
