"""What to do about a limit that is missed or nearly missed: one sentence for each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENTRIES = (
    "Fetch the cards' sdkInputs at the same time instead of one by one, shorten the timeout of each GET, and repeat "
    "fewer of them; a list that lacks a card is better than none."
)
ADVICE: Mapping[str, str] = {
    "status": (
        "Read the sdkInput that the app put into secure storage (X-CACHE-1), make no network call in status(), and "
        "leave all other work to passEntries()."
    ),
    "pass_entries": _ENTRIES,
    "remote_pass_entries": _ENTRIES,
    "generate_add_payment_pass_request_for_pass_entry_with_identifier": (
        "Post sdkOutput once, with a deadline well below the limit, over a connection that is open already, and give "
        "the back end a deadline that is shorter still; a POST is not sent again (REL-1)."
    ),
    "provision": (
        "Post sdkOutput once, with a deadline well below the limit, and return nil while there is time: an answer "
        "that comes too late is ignored (B-DEL-3)."
    ),
}
"""By call."""


def advice(call: str) -> str:
    """What to do when this call takes too long."""
    return ADVICE.get(call, "Do less in this call, or do it earlier.")
