"""The simulated wallet of a phone: the cards in it, and how its flow ends.

The document names the outcomes of an SDK. What brings them about is either a plain reading of an outcome's name or a
choice of ours with its source beside it.
"""

from dataclasses import dataclass, field

# How a cardholder ends the wallet's flow (sdk-a); an app tells no failure then (assumed).
CANCELED = "Canceled"
# The case names of ProvisionResult.Failure in the public reference (sdk-a); the document shows none (GAP-4). One is
# left out: CreateSdkOutputNotCalled. The flow's tables refuse a call out of order before an SDK could answer it.
PROVISION_FAILURES = (
    CANCELED, "OpcFetchError", "ProvisioningInProgress", "ApiNotConnected", "ConnectionSuspendedDuringCall",
    "DeveloperError", "Error", "InternalError", "Interrupted", "InvalidAccount", "NetworkError",
    "ReconnectionTimedOut", "ReconnectionTimedOutDuringUpdate", "RemoteException", "ResolutionRequired",
    "SignInRequired", "Timeout", "NoActiveWallet", "TokenNotFound", "InvalidTokenState", "AttestationError",
    "Unavailable", "UnknownStatusCode", "InvalidSdkInput", "AlreadyProvisioned", "Other",
)  # fmt: skip

# The wallet API's status for an app that is not allowlisted (wallet; that it arrives here is inferred).
NOT_ALLOWLISTED = 15009


@dataclass
class WalletA:
    """Platform A's wallet.

    Attributes:
        cards: the ids of the payment instruments in it; a success adds to it.
        verification_pending: a card is added but waits for an identity check; canProvision then answers
            CanBeProvisioned on purpose (sdk-a).
        provision_failure: its flow ends with this failure, one of `PROVISION_FAILURES`.
    """

    cards: set[str] = field(default_factory=set)
    verification_pending: bool = False
    provision_failure: str | None = None

    def add(self, payment_instrument_id: str) -> str | None:
        """Add the card; returns the failure in which that ends, None for none."""
        if self.provision_failure is None:
            # Adding the card once more completes a pending identity check (sdk-a).
            self.verification_pending &= payment_instrument_id not in self.cards
            self.cards.add(payment_instrument_id)
        return self.provision_failure


# The case names of the in-app errors in the public interface (sdk-b, one name neutralised).
ERRORS = (
    "invalidSDKInput", "walletNotSupported", "walletKitError", "presentationFailure", "userCancelled",
    "delegateNotSet", "unableToConstructSDKOutput",
)  # fmt: skip

# Those that `start` itself throws; the others arrive in didFinishProvisioning (inferred).
THROWN_BY_START = ("presentationFailure", "delegateNotSet")

# For `ends_with` of PhoneB: didFinishProvisioning without a pass or an error (B-FIN-1).
NOTHING = "nothing"


@dataclass
class Watch:
    """A paired watch.

    Attributes:
        cards: the ids of the payment instruments in its wallet.
    """

    cards: set[str] = field(default_factory=set)


@dataclass
class WalletB:
    """Platform B's wallet; the phone and the watch hold their own cards.

    Attributes:
        cards: the ids of the payment instruments on the phone itself.
        watch: the paired watch; None where there is none.
        adds_to: the place that the cardholder chooses in the wallet's sheet, `phone`, `watch` or `both` (wallet).
        ends_with: its flow ends with this error, one of `ERRORS`, or with `NOTHING`.
    """

    cards: set[str] = field(default_factory=set)
    watch: Watch | None = None
    adds_to: str = "phone"
    ends_with: str | None = None

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
