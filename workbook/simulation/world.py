"""What the simulated service knows: its payment instruments, its credentials and a seed.

None of it is shown by the document, which knows an instrument's `id` and a credential's role and
nothing more (GAP-5): every other field is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROLE = "Bank Issuing PaymentInstrument Network Token Activation Data"
"""The role that an API credential must hold (API-15)."""

SIMULATED_KEY = "SIMULATED-API-KEY"
"""The in-process service's key. It opens nothing else; a real server makes a fresh one at each start."""

INSTRUMENT_IDS = tuple(f"PISIMULATED{number:014d}" for number in (1, 2, 3))


@dataclass(frozen=True, slots=True)
class Instrument:
    """A payment instrument, which here is always a card (every field but the id is assumed)."""

    id: str
    brand: str = "example"
    last_four: str = "0001"
    supported_wallets: tuple[str, ...] = ("wallet-a", "wallet-b")
    active: bool = True


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
    """

    instruments: Mapping[str, Instrument] = field(default_factory=_cards)
    credentials: Mapping[str, Credential] = field(default_factory=_credentials, repr=False)
    seed: int = 7
