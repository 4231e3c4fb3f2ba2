"""Platform B's two variants side by side, the wallet's time limits, and the extensions' project files."""

from __future__ import annotations

from workbook.flows.messages import LIMITS
from workbook.flows.variants import B_EARLIER, B_LATER, VARIANTS_A
from workbook.runs.extension.plist import EXTENSIONS
from workbook.views.table import Table, cut, facts, table


def variants(profile: str = "spec") -> Table:
    """The differences between the variants other than their state tables (FLOW-3, X-PLIST-2).

    Raises:
        ParameterError: there is no such profile.
    """
    earlier, later = B_EARLIER.facts.shown(profile), B_LATER.facts.shown(profile)
    return table("Platform B's variants", ["what", "earlier", "later"], [(n, earlier[n], later[n]) for n in earlier])


def time_limits() -> Table:
    """How long the wallet waits for each call, and what a missed limit means (X-STATUS-3, X-ENTRIES-3).

    A limit of the source `spec` is in the document, one of the source `wallet` is the platform's alone.
    """
    rows = [
        (cut(limit.call, 29), f"{limit.seconds:g} s", f"{limit.rule} ({limit.source})", limit.missed)
        for limit in LIMITS.values()
    ]  # one name of the document is 64 letters long
    return table("How long the wallet waits", ["call", "limit", "rests on", "missed means"], rows)


def extensions() -> Table:
    """The keys in the project files of the two extensions (X-PLIST-1, X-PLIST-2, X-PLIST-3)."""
    rows = [(f"{name}: {key}", value) for name, extension in EXTENSIONS.items() for key, value in extension.items()]
    return facts("The dictionary NSExtension of each target", rows)


def variants_of_platform_a() -> Table:
    """The differences between platform A's variants other than their state tables (A-DEP-1, A-CAN-5)."""
    facts_of = {name: variant.facts for name, variant in VARIANTS_A.items()}
    later = sorted({outcome for one in facts_of.values() for outcome in one.lacks}, key=lambda outcome: outcome.says)
    rows = [
        (name, one.push_provisioning_library, *("no" if outcome in one.lacks else "yes" for outcome in later))
        for name, one in facts_of.items()
    ]
    head = ["flow", "wallet provider's library", *(f"canProvision can answer {outcome.__name__}" for outcome in later)]
    return table("Platform A's variants", head, rows)
