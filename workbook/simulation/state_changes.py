"""What a state file lacks of a world: the difference between what it is and what was written of it.

Marks are small and are compared at every exchange; what they point to is made plain only where they differ.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbook.simulation import service
from workbook.simulation import state_tables as t
from workbook.simulation.kept_entry import KeptEntry
from workbook.simulation.plain import dump, dump_world

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.journal import Journal
    from workbook.simulation.service import Memory
    from workbook.simulation.state_tables import Change
    from workbook.simulation.worlds import Place

NOTHING = (0, 0)


@dataclass(frozen=True, slots=True)
class Marks:
    """How far a world has come; equal marks mean that nothing happened in between.

    Attributes:
        memory: activations and opcs issued, by instrument; each grows with a change.
        counts: its fault plan's.
        era: how many resets its journal had.
        count: its journal's.
        dropped: its journal's.
    """

    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    era: int = -1
    count: int = 0
    dropped: int = 0


def marks(place: Place, journal: Journal | None) -> Marks:
    """How far this world has come."""
    memory = {instrument: (one.activations, one.opcs) for instrument, one in place.memory.items()}
    counts = () if place.service.plan is None else place.service.plan.counts
    if journal is None:
        return Marks(memory, counts)
    return Marks(memory, counts, journal.era, journal.count, journal.dropped)


def said(key: str, place: Place) -> Change:
    """What to write of a world itself: all of it but its past."""
    return t.SAY, (key, json.dumps(dump_world(place.world, place.faults, place.own)))


def changes(key: str, place: Place, journal: Journal | None, now: Marks, saved: Marks) -> list[Change]:
    """What to write of a world's past, where it has come from `saved` to `now`."""
    listed: list[Change] = []
    for instrument, mark in now.memory.items():
        if mark != saved.memory.get(instrument, NOTHING):
            listed += _memory((key, instrument), place.memory[instrument], saved.memory.get(instrument, NOTHING))
    if now.counts != saved.counts:
        listed.append((t.COUNTED, (key, json.dumps(now.counts))))
    return listed if journal is None else listed + _journal(key, journal, now, saved)


def _memory(at: tuple[str, str], memory: Memory, saved: tuple[int, int]) -> list[Change]:
    """One instrument's counts, the digests that came since, and which are too old."""
    plain = dump(memory, since=saved[1])
    listed: list[Change] = [(t.REMEMBER, (*at, plain["activations"], plain["opcs"]))]
    first = memory.opcs - len(plain["outputs"]) + 1
    listed += [(t.USED, (*at, number, digest)) for number, digest in enumerate(plain["outputs"], first)]
    if memory.opcs > service.MOST_OUTPUTS:
        listed.append((t.TOO_OLD, (*at, memory.opcs - service.MOST_OUTPUTS)))
    return listed


def _journal(key: str, journal: Journal, now: Marks, saved: Marks) -> list[Change]:
    """The entries that came since, and which are no longer kept; after a reset all of them are new."""
    listed: list[Change] = []
    if now.era != saved.era:
        listed += [*t.forgetting(key, ("entry",)), (t.RESET_AT, (journal.now(), key))]
        saved = Marks()
    if now.dropped > saved.dropped:
        listed.append((t.DROPPED, (key, now.dropped)))
    new = journal.latest(now.count - saved.count)
    places = enumerate(new, now.count - len(new) + 1)
    return listed + [(t.EXCHANGED, (key, place, *_plain(one))) for place, one in places]


def _plain(one: object) -> tuple[str, str]:
    if not isinstance(one, KeptEntry):
        raise TypeError("Only what may be shown is written down.")
    return one.body.decode("ascii"), one.told
