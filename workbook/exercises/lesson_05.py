"""The judges of lesson 05: handlers are played as the wallet calls them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from workbook.exercises.model import Judge, Reason, Seen, first_finding
from workbook.flows import messages as m
from workbook.sessions import session
from workbook.values import quoted


def status_without_network(handler: Any) -> Reason | Seen:
    """The app is listed after it was opened once, and says that it has no entries where it never was."""
    if reason := no_class(handler):
        return reason
    wallet = session().wallet
    opened = wallet.play(handler)
    never = wallet.play(handler, "app was never opened")
    if reason := first_finding(opened) or first_finding(never):
        return reason
    available = [record.message for record in opened.trace if isinstance(record.message, m.EntriesAvailable)]
    if not available:
        text = "the app was opened, its data is in the storage, and status() still says that there are no entries."
        return Reason("X-STATUS-1", text, opened)
    if not available[0].requires_authentication:
        text = "status() said requiresAuthentication: false, though this app has an authorization UI of its own."
        return Reason("X-STATUS-1", text, opened)
    return Seen(opened)


def no_class(handler: object) -> Reason | None:
    """What to say of an answer that is no handler class."""
    if isinstance(handler, type):
        return None
    given = "a function" if callable(handler) else f"{quoted(handler)}"
    return Reason("X-HANDLER-1", f"you handed in {given}; hand in the class itself, MyHandler without parentheses.")


JUDGES: Final[Mapping[str, Judge]] = {
    "05.2": status_without_network,
}
"""Each exercise's judge."""
