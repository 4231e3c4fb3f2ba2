"""A world as it was before a restart, from what a state file has of it; the file is not trusted."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

from workbook.simulation.kept_entry import kept_entry
from workbook.simulation.plain import restored, restored_world

if TYPE_CHECKING:
    from workbook.simulation.journal import Journal
    from workbook.simulation.journals import Journals
    from workbook.simulation.state_file import Saved
    from workbook.simulation.worlds import Worlds


def put(one: Saved, worlds: Worlds, journals: Journals) -> None:
    """Open a world as it was, under its name, with all that it remembers.

    Raises:
        one of `plain.UNREADABLE`: what was saved is not as it was written.
    """
    journals.call(one.key, one.number)
    world, faults, own = restored_world(json.loads(one.said), one.key)
    memory = {instrument: restored(plain) for instrument, plain in one.memory.items()}
    worlds.put(one.key, world, faults, memory, own)
    plan = worlds.place(one.key).service.plan
    if plan is not None and one.counts is not None:
        plan.go_on(json.loads(one.counts))
    journal = journals.get(journals.name(one.key))
    if journal is not None:
        _go_on(journal, one)


def _go_on(journal: Journal, one: Saved) -> None:
    """Be what the journal was; an entry's place is the count at which it was recorded."""
    journal.keep_shown_only(bytes.fromhex(one.salt))
    entries = [kept_entry(told, body.encode("ascii")) for _place, body, told in one.entries]
    count = one.entries[-1][0] if one.entries else 0
    seconds = max([one.seconds, *(each.answered for each in entries)])
    if type(count) is not int or count < len(entries) or not isfinite(seconds):
        raise ValueError("not a count or not a time")
    journal.go_on(entries, count, seconds)
