"""What the simulated service knows: its payment instruments, its credentials and a seed.

The document knows an instrument's `id` and a credential's role; an instrument's states (GAP-5) and other fields are not
shown. Its status and type are published (openapi), its wallets are in the SDKs' samples (sdk-a, sdk-b); every other
field is assumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

# The role that an API credential must hold (API-15).
ROLE = "Bank Issuing PaymentInstrument Network Token Activation Data"

# The in-process service's key. It opens nothing else; a real server makes a fresh one at each start.
SIMULATED_KEY = "SIMULATED-API-KEY"

INSTRUMENT_IDS = tuple(f"PISIMULATED{number:014d}" for number in (1, 2, 3))

Profile = Literal["spec", "field"]
# The states of a payment instrument (openapi).
Status = Literal["active", "inactive", "suspended", "closed"]

# The types of a payment instrument (openapi).
Type = Literal["card", "bankAccount"]

# What the stand-ins' wallets are called.
Wallet = Literal["wallet-a", "wallet-b"]


@dataclass(frozen=True, slots=True)
class Instrument:
    """A payment instrument.

    Attributes:
        id: the `{id}` of both calls.
        brand: the card's scheme, as the activation data names it (assumed).
        last_four: of the card's number (assumed).
        supported_wallets: the wallets that its card may go into (sdk-a, sdk-b sample data).
        status: a `Status` (openapi); only an active one is answered (assumed).
        type: a `Type` (openapi); only a card is answered (assumed).
    """

    id: str
    brand: str = "example"
    last_four: str = "0001"
    supported_wallets: tuple[str, ...] = ("wallet-a", "wallet-b")
    status: str = "active"
    type: str = "card"

    @property
    def active(self) -> bool:
        """Whether the API answers for it: an active card (assumed)."""
        return not self.why_unusable

    @property
    def why_unusable(self) -> str:
        """Why the API refuses it, as a sentence for `detail`; empty where it does not (assumed)."""
        if self.type != "card":
            return f"The payment instrument is of type '{self.type}' (openapi). Only a card is answered for (assumed)."
        if self.status != "active":
            return f"The payment instrument is {self.status} (openapi). Only an active one is answered for (assumed)."
        return ""


@dataclass(frozen=True, slots=True)
class Credential:
    """An API credential: the roles it holds. A mapping holds it under its API key."""

    roles: frozenset[str] = frozenset({ROLE})


SIMULATED_CARDS: Mapping[str, Instrument] = MappingProxyType(
    {id_: Instrument(id_, last_four=id_[-4:]) for id_ in INSTRUMENT_IDS}
)


@dataclass(frozen=True)
class World:
    """Everything that the service may look up; it never changes during a run.

    Attributes:
        credentials: API key to credential; kept out of the repr.
        seed: what the seals and every other choice derive from.
        name: what it is called where a person chooses or reads about it, such as the scenario's name.
        profile: spec or field.
        latencies: seconds until the first byte of an answer, by method; a method that is not in it is answered at
            once (assumed).
    """

    instruments: Mapping[str, Instrument] = field(default_factory=lambda: SIMULATED_CARDS)
    credentials: Mapping[str, Credential] = field(
        default_factory=lambda: MappingProxyType({SIMULATED_KEY: Credential()}), repr=False
    )
    seed: int = 7
    name: str = "default"
    profile: str = "spec"
    latencies: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
