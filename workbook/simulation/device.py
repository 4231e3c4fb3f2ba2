"""The phone: its wallet, what is in it, and the facts that decide how an SDK answers.

The document names the outcomes and not what brings them about, so a fact here is either a plain
reading of an outcome's name or a choice with its source beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from workbook.flows.messages import Event

FAILURES = (
    "Canceled", "OpcFetchError", "ProvisioningInProgress", "ApiNotConnected", "ConnectionSuspendedDuringCall",
    "DeveloperError", "Error", "InternalError", "Interrupted", "InvalidAccount", "NetworkError",
    "ReconnectionTimedOut", "ReconnectionTimedOutDuringUpdate", "RemoteException", "ResolutionRequired",
    "SignInRequired", "Timeout", "NoActiveWallet", "TokenNotFound", "InvalidTokenState", "AttestationError",
    "Unavailable", "UnknownStatusCode", "InvalidSdkInput", "AlreadyProvisioned", "Other",
)  # fmt: skip
"""The case names of ProvisionResult.Failure in the public reference (sdk-a); the document shows none (GAP-4)."""

NOT_ALLOWLISTED = 15009
"""The wallet API's status for an app that is not allowlisted (wallet; that it arrives here is inferred)."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long each part takes in virtual time, in seconds (all assumed)."""

    get: float = 0.25
    post: float = 0.30
    create: float = 0.02
    can_provision: float = 0.15
    create_sdk_output: float = 0.12
    wallet: float = 2.40


@dataclass
class Device:
    """A platform A phone.

    Attributes:
        wallet: the name that an instrument's `supportedWallets` must hold (inferred).
        wallet_pay_supported: False makes create answer WalletPayNotSupported (A-CREATE-2).
        allowlisted: the app is allowlisted with the wallet provider (A-ALLOW-1).
        scheme_configured: False makes canProvision miss a card that is there (A-CAN-6).
        verification_pending: a card is added but waits for an identity check; canProvision then answers
            CanBeProvisioned on purpose (sdk-a).
        can_provision: answer this instead of what the facts say.
        provision_failure: end the wallet's flow with this failure, one of `FAILURES`.
        cards: the ids of the payment instruments in the wallet; a success adds to it.
        outputs: how many sdkOutputs its SDK has made, so that no two are alike.
    """

    wallet: str = "wallet-a"
    wallet_pay_supported: bool = True
    allowlisted: bool = True
    scheme_configured: bool = True
    verification_pending: bool = False
    can_provision: Event | None = None
    provision_failure: str | None = None
    cards: set[str] = field(default_factory=set)
    outputs: int = 0
    latencies: Latencies = field(default_factory=Latencies)

    def __post_init__(self) -> None:
        known = (None, *FAILURES)
        if self.provision_failure not in known:
            hint = did_you_mean(str(self.provision_failure), FAILURES)
            raise ParameterError(f"{self.provision_failure!r} is not a case of ProvisionResult.Failure. {hint}")
