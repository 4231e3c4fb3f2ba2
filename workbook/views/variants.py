"""Platform B's two variants side by side, and the project files that both need."""

from __future__ import annotations

from workbook.extension.plist import EXTENSIONS
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


def extensions() -> Facts:
    """The two extensions and what their project files say (X-PLIST-1, X-PLIST-2, X-PLIST-3)."""
    rows = [(f"{name}: {key}", value) for name, one in EXTENSIONS.items() for key, value in one.keys().items()]
    return facts("The dictionary NSExtension of each target", rows)
