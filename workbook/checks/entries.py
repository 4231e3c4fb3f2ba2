"""What a trace shows of the pass entries that an extension's handler offers, and of their card art."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from workbook.checks.finding import Finding, Level, Owner
from workbook.extension.calls import handler_calls
from workbook.flows import messages as m

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.trace import Trace

RULES = {"pass_entries": "X-ENTRIES-1", "remote_pass_entries": "X-ENTRIES-2"}
"""The rule that each call is."""

OPERATIONS: dict[str, tuple[type[m.Event], type[m.Event]]] = {
    "pass_entries": (m.SdkPassEntriesCalled, m.SdkRemotePassEntriesCalled),
    "remote_pass_entries": (m.SdkRemotePassEntriesCalled, m.SdkPassEntriesCalled),
}
"""Which operation of the SDK belongs to which call, and which does not."""


def mixed_up_entries(trace: Trace) -> Iterator[Finding]:
    """PassEntries where remotePassEntries belongs, the other way round, or entries of the handler's own."""
    for call in handler_calls(trace):
        mine, others = OPERATIONS.get(call.name, (m.Event, m.StorageRead))
        if call.name in OPERATIONS and call.did(others):
            yield _mixed(call.name, "asks the SDK for the other device's entries", call.ended)
        elif call.answered(m.EntriesReturned) and not call.did(mine):
            yield _mixed(call.name, "returns entries of its own", call.ended)


def _mixed(call: str, what: str, at: float) -> Finding:
    todo = "Return the SDK's operation of the same name: passEntries for the phone, remotePassEntries for the watch."
    return Finding(RULES[call], Level.FAIL, Owner.YOU, f"{call}() {what}.", todo, at)


def offered_again(trace: Trace) -> Iterator[Finding]:
    """Pass entries for cards that are in this wallet already (wallet)."""
    rule = "X-ENTRIES-1"
    for record in trace.select(m.CallPassEntries, m.CallRemotePassEntries, m.AlreadyThere):
        if not isinstance(record.message, m.AlreadyThere):
            rule = record.message.rules[0]
        else:
            text = "A pass entry is offered for a card that is there already (wallet)."
            todo = "Leave out the cards that the library holds, on the phone and on the watch each for itself."
            yield Finding(rule, Level.FAIL, Owner.YOU, text, todo, record.at)


def unstable_identifiers(trace: Trace) -> Iterator[Finding]:
    """Identifiers that are not unique, not the SDK's, or not the same from one call to the next (wallet)."""
    known: dict[str, str] = {}
    for record, returned in trace.seen(m.EntriesReturned):
        if len({entry.identifier for entry in returned.entries}) < len(returned.entries):
            yield _unstable("Two pass entries have the same identifier (wallet).", record.at)
        if any(entry.identifier != entry.payment_instrument_id for entry in returned.entries):
            yield _unstable("A pass entry has another identifier than the SDK gave it.", record.at)
        for entry in returned.entries:
            if known.setdefault(entry.payment_instrument_id, entry.identifier) != entry.identifier:
                yield _unstable("A card's pass entry has another identifier than last time (wallet).", record.at)


def _unstable(text: str, at: float) -> Finding:
    todo = "Leave the SDK's identifiers as they are; the wallet asks for the request by them, later and elsewhere."
    return Finding("X-GEN-1", Level.FAIL, Owner.YOU, text, todo, at)


def one_get_for_several(trace: Trace) -> Iterator[Finding]:
    """One instrument's sdkInput given for several cards (API-12)."""
    for record, made in trace.seen(m.ServiceMade):
        if doubled := [card for card, times in Counter(made.cards).items() if times > 1]:
            text = f"The same payment instrument's sdkInput was given more than once: {', '.join(doubled)}."
            todo = "Make one GET for each payment instrument; each has its own sdkInput."
            yield Finding("API-12", Level.FAIL, Owner.YOU, text, todo, record.at)


def poor_card_art(trace: Trace) -> Iterator[Finding]:
    """Card art that does not show the card, or that the wallet may refuse (X-ART-1)."""
    for record, art in trace.seen(m.CardArtReturned):
        if art.problems:
            todo = "Return the picture of exactly the card that was asked for, as the wallet wants it."
            yield Finding("X-ART-1", Level.FAIL, Owner.YOU, f"The card art is wrong: {art.problems}.", todo, record.at)


CHECKS: tuple[Check, ...] = (
    mixed_up_entries,
    offered_again,
    unstable_identifiers,
    one_get_for_several,
    poor_card_art,
)
