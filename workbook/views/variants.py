"""Platform B's two variants side by side, and the project files that both need."""

from __future__ import annotations

from workbook.extension.plist import EXTENSIONS
from workbook.flows.limits import LIMITS
from workbook.flows.variants_b import B_EARLIER, B_LATER
from workbook.views.facts import Facts, facts
from workbook.views.table import Table, table


def variants(profile: str = "spec") -> Table:
    """What differs between the variants beside the tables (FLOW-3, X-PLIST-2).

    Raises:
        ParameterError: there is no such profile.
    """
    earlier, later = B_EARLIER.facts.shown(profile), B_LATER.facts.shown(profile)
    return table("Platform B's variants", ["what", "earlier", "later"], [(n, earlier[n], later[n]) for n in earlier])


def time_limits() -> Table:
    """How long the wallet waits for each call, and what a missed limit means (X-STATUS-3, X-ENTRIES-3).

    `spec` is said of what the document gives, `wallet` of what only the platform does.
    """
    rows = [
        (_short(one.call), f"{one.seconds:g} s", f"{one.rule} ({one.source})", one.missed) for one in LIMITS.values()
    ]
    return table("How long the wallet waits", ["call", "limit", "rests on", "missed means"], rows)


def _short(call: str) -> str:
    return f"{call[:28]}…" if len(call) > 30 else call  # noqa: PLR2004  # one name of the document is 64 letters long


def extensions() -> Facts:
    """The two extensions and what their project files say (X-PLIST-1, X-PLIST-2, X-PLIST-3)."""
    rows = [(f"{name}: {key}", value) for name, one in EXTENSIONS.items() for key, value in one.keys().items()]
    return facts("The dictionary NSExtension of each target", rows)
