"""What a state file holds of a world and of a service's memory, as plain values, and the way back.

The way back trusts nothing: a text that is not as it was written raises one of `UNREADABLE`.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.simulation.service import Memory
from workbook.simulation.world import Credential, Instrument, World

if TYPE_CHECKING:
    from collections.abc import Iterable

    Plain = dict[str, Any]
    Faults = tuple[dict[str, Any], ...]

UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def dump(memory: Memory, since: int = 0) -> Plain:
    """What a service remembers of one instrument.

    Args:
        memory: its memory; every POST that it counts added one digest at the end.
        since: leave out the digests of so many POSTs from the first on, and those that it has forgotten by itself.
    """
    digests = reversed(memory._outputs)  # noqa: SLF001  # a restart needs what nobody else may see
    latest = list(islice(digests, max(0, memory.opcs - since)))
    return {
        "activations": memory.activations,
        "opcs": memory.opcs,
        "outputs": [one.hex() for one in reversed(latest)],
    }


def restored(plain: Plain) -> Memory:
    """The memory that `dump` made plain, with all its digests.

    Raises:
        LookupError, TypeError, ValueError: it did not.
    """
    memory = Memory()
    memory.activations, memory.opcs = _count(plain["activations"]), _count(plain["opcs"])
    memory._outputs.update({bytes.fromhex(_text(one)): None for one in plain["outputs"]})  # noqa: SLF001  # as in `dump`
    return memory


def dump_world(world: World, faults: Faults, own: Faults) -> Plain:
    """A world, the `[[fault]]` tables that are played, and its own; the key is not in it."""
    return {
        "name": world.name,
        "profile": world.profile,
        "seed": world.seed,
        "latencies": dict(world.latencies),
        "instruments": [asdict(each) for each in world.instruments.values()],
        "roles": [sorted(each.roles) for each in world.credentials.values()],
        "faults": list(faults),
        "own": list(own),
    }


def restored_world(plain: Plain, key: str) -> tuple[World, Faults, Faults]:
    """The world and the tables that `dump_world` made plain, opened by this key.

    Raises:
        LookupError, TypeError, ValueError: it did not.
    """
    cards = [_instrument(each) for each in plain["instruments"]]
    (roles,) = plain["roles"]
    world = World(
        instruments=MappingProxyType({card.id: card for card in cards}),
        credentials=MappingProxyType({key: Credential(frozenset(_texts(roles)))}),
        seed=_count(plain["seed"]),
        name=_text(plain["name"]),
        profile=plain["profile"],
        latencies=MappingProxyType(dict(plain["latencies"])),
    )
    faults, own = plain["faults"], plain.get("own", plain["faults"])  # an older file knows only those that are played
    return world, _tables(faults), _tables(own)


def _tables(listed: Any) -> Faults:
    return tuple(dict(table) for table in listed)


def _instrument(plain: Plain) -> Instrument:
    for name in ("id", "brand", "last_four"):
        _text(plain[name])
    return Instrument(**{**plain, "supported_wallets": _texts(plain["supported_wallets"])})


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)
