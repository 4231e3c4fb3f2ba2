"""What the answer of a handler's call means to the wallet: an event, and never a word of what the handler was given."""

from __future__ import annotations

import re
from traceback import walk_tb

from workbook.errors import WorkbookError
from workbook.extension.service import AddPaymentPassRequest, ExtensionStatus, PassEntry
from workbook.flows import messages as m

LONGEST_NAME = 40
"""As many characters of a missing attribute's name as are told: opaque data is longer."""


def status_meant(returned: object, surface: str) -> m.Event | None:
    """What status() returned, to the wallet app on this surface; None when it is no status (X-STATUS-1)."""
    if not isinstance(returned, ExtensionStatus):
        return None
    on_phone = surface == "phone"
    available = returned.pass_entries_available if on_phone else returned.remote_pass_entries_available
    return m.EntriesAvailable(returned.requires_authentication) if available else m.EntriesUnavailable()


def entries_meant(returned: object) -> m.Event | None:
    """What passEntries() or remotePassEntries() returned; None when it is no array of entries (X-ENTRIES-1)."""
    if not isinstance(returned, list | tuple) or not all(isinstance(entry, PassEntry) for entry in returned):
        return None
    return m.EntriesReturned(tuple(returned)) if returned else m.NoEntries()


def request_meant(returned: object) -> m.Event | None:
    """What the request's generation returned; None when it is neither a request nor nil (X-GEN-1)."""
    if returned is None:
        return m.NoRequest()
    return m.RequestReturned(returned) if isinstance(returned, AddPaymentPassRequest) else None


def told(error: BaseException) -> str:
    """An exception in words that can hold no opaque data: its type, and what is known to be harmless."""
    if isinstance(error, AttributeError) and _is_a_name(error.name):
        return f"AttributeError: {error.name}"
    if isinstance(error, TypeError) and ARGUMENTS.fullmatch(str(error)):
        return f"TypeError: {error}"
    return f"{type(error).__name__}: {error}" if _is_ours(error) else type(error).__name__


ARGUMENTS = re.compile(
    r"[\w.<>]{1,120}\(\) (missing \d+ required [\w-]+ arguments?: [\w', ]{1,120}"
    r"|takes [\w ]{1,60} but \d+ (was|were) given|got (an unexpected keyword|multiple values for) argument '\w{1,60}')"
)
"""What Python says of a call with the wrong arguments: names and numbers, and no value of anything."""


def _is_a_name(name: object) -> bool:
    return isinstance(name, str) and name.isidentifier() and len(name) <= LONGEST_NAME


def _is_ours(error: BaseException) -> bool:
    """Whether this package raised it; what a handler itself raises may say anything, even in one of our errors."""
    frames = [frame for frame, _line in walk_tb(error.__traceback__)]
    raised_in = str(frames[-1].f_globals.get("__name__")) if frames else ""
    return isinstance(error, WorkbookError) and raised_in.startswith("workbook.")
