"""What the simulated service knows: its payment instruments, its credentials and a seed.

The document knows an instrument's `id` and a credential's role and nothing more (GAP-5). An instrument's status and
type are published (openapi); every other field is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation.phone import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

ROLE = "Bank Issuing PaymentInstrument Network Token Activation Data"
"""The role that an API credential must hold (API-15)."""

SIMULATED_KEY = "SIMULATED-API-KEY"
"""The in-process service's key. It opens nothing else; a real server makes a fresh one at each start."""

INSTRUMENT_IDS = tuple(f"PISIMULATED{number:014d}" for number in (1, 2, 3))

STATUSES = ("active", "inactive", "suspended", "closed")
"""The states of a payment instrument (openapi)."""

TYPES = ("card", "bankAccount")
"""The types of a payment instrument (openapi)."""

METHODS = ("GET", "POST")


@dataclass(frozen=True, slots=True)
class Instrument:
    """A payment instrument.

    Attributes:
        id: the `{id}` of both calls.
        brand: the card's scheme, as the activation data names it (assumed).
        last_four: of the card's number (assumed).
        supported_wallets: the wallets that its card may go into (sdk-a, sdk-b sample data).
        status: one of `STATUSES` (openapi); only an active one is answered (assumed).
        type: one of `TYPES` (openapi); only a card is answered (assumed).
        scheme_configured: False where the scheme does not know the app: the API answers all the same, and the wallet
            goes wrong (field notes, 19, 21 and 30).

    Raises:
        ParameterError: there is no such status or type.
    """

    id: str
    brand: str = "example"
    last_four: str = "0001"
    supported_wallets: tuple[str, ...] = ("wallet-a", "wallet-b")
    status: str = "active"
    type: str = "card"
    scheme_configured: bool = True

    def __post_init__(self) -> None:
        _one_of("An instrument's status", self.status, STATUSES)
        _one_of("An instrument's type", self.type, TYPES)

    @property
    def active(self) -> bool:
        """Whether the API answers for it: an active card (assumed)."""
        return not self.why_unusable

    @property
    def why_unusable(self) -> str:
        """Why the API refuses it, as a sentence for `detail`; empty where it does not (assumed)."""
        if self.type != "card":
            return f"The payment instrument is of type '{self.type}'. Only one of type 'card' can be added to a wallet."
        if self.status != "active":
            return f"The payment instrument is {self.status}. Only an active one can be added to a wallet."
        return ""


@dataclass(frozen=True, slots=True)
class Credential:
    """An API credential: the roles it holds. Its key is the mapping's key, and stands nowhere else."""

    roles: frozenset[str] = frozenset({ROLE})


def _cards() -> Mapping[str, Instrument]:
    cards = (Instrument(one, last_four=one[-4:]) for one in INSTRUMENT_IDS)
    return MappingProxyType({card.id: card for card in cards})


def _credentials() -> Mapping[str, Credential]:
    return MappingProxyType({SIMULATED_KEY: Credential()})


@dataclass(frozen=True)
class World:
    """Everything that the service may look up; it never changes during a run.

    Attributes:
        credentials: API key to credential; kept out of the repr.
        seed: what the seals and every other choice derive from.
        name: what it is called where a person chooses or reads about it, such as the scenario's name.
        profile: one of `PROFILES`.
        latencies: seconds until the first byte of an answer, by method; a method that is not in it is answered at
            once (assumed).

    Raises:
        ParameterError: there is no such profile, or a latency is for no method or no number of seconds.
    """

    instruments: Mapping[str, Instrument] = field(default_factory=_cards)
    credentials: Mapping[str, Credential] = field(default_factory=_credentials, repr=False)
    seed: int = 7
    name: str = "default"
    profile: str = "spec"
    latencies: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        _one_of("A world's profile", self.profile, PROFILES)
        for method, seconds in self.latencies.items():
            _one_of("A latency's method", method, METHODS)
            _seconds(seconds)


def _seconds(value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value) or value < 0:
        raise ParameterError(f"A latency is a number of seconds, 0 or more, not {value!r:.40}.")


def _one_of(what: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ParameterError(f"{what} cannot be {value!r:.40}. {did_you_mean(str(value), allowed)}")
