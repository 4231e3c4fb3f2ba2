"""Platform B from the wallet: what the wallet app does with the issuer's extensions, all of it in this file.

The wallet leads and the extension answers. Each call has its time, and the end of that time is an ordinary event: so a
missed limit is a row of this table. The late answer that follows is a row, too: it is ignored.

Phone and watch go the same way; they differ in which entries they ask for. The two variants differ in how the SDK
asks for card art.

What is marked `wallet` is public knowledge of the wallet platform; what is marked `assumed` is our choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum, unique
from typing import Any

from workbook.base.values import lookup
from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row, wallet

Rows = tuple[Row, ...]


@unique
class State(StrEnum):
    """The wallet app's state. The words are those of the diagrams."""

    CLOSED = "list closed"
    ASKING = "asking for the status"
    LISTED = "app listed"
    NOT_LISTED = "app not listed"
    LISTING = "asking for pass entries"
    OFFERED = "cards offered"
    EMPTY = "no card offered"
    AUTHENTICATING = "authenticating"
    NOT_AUTHENTICATED = "not authenticated"
    GENERATING = "asking for the request"
    PROVISIONING = "delegate provisions"
    ADDING = "adding the card"
    ADDED = "added"
    NOT_ADDED = "not added"


S = State
FINAL = (S.LISTED, S.NOT_LISTED, S.OFFERED, S.EMPTY, S.NOT_AUTHENTICATED, S.ADDED, S.NOT_ADDED)
"""The states in which the wallet waits for the cardholder, or has nothing more to do."""


def _late(state: State, *events: type[m.Event], rules: str) -> Rows:
    """Rows for answers that come after the time is up: they change nothing."""
    # Rows, and not refusals: a handler that answers late has done nothing out of order, and the trace says so.
    each = (row(state, event, state, m.IgnoreLate, rules=rules, source="wallet") for event in events)
    return tuple(r for rows in each for r in rows)


STATUS: Rows = (
    *row(S.CLOSED, m.IssuerListOpened, S.ASKING, m.CallStatus, m.StartStatusBudget, rules="X-FLOW-1 X-HANDLER-1"),
    *row(FINAL, m.IssuerListOpened, S.ASKING, m.CallStatus, m.StartStatusBudget, rules="X-HANDLER-1",
         source="assumed"),
    *row(S.ASKING, m.EntriesAvailable, S.LISTED, m.StopBudget, m.ListIssuer, rules="X-STATUS-1"),
    *row(S.ASKING, m.EntriesUnavailable, S.NOT_LISTED, m.StopBudget, m.HideIssuer, rules="X-STATUS-2"),
    *row(S.ASKING, m.ExtensionNotFound, S.NOT_LISTED, m.StopBudget, wallet(m.HideIssuer),
         rules="X-PLIST-1 X-PLIST-3"),
    *row(S.ASKING, m.HandlerRaised, S.NOT_LISTED, m.StopBudget, assumed(m.HideIssuer), rules="X-STATUS-1"),
    *row(S.ASKING, m.BudgetSpent, S.NOT_LISTED, wallet(m.HideIssuer), rules="X-STATUS-3"),
    *_late(S.NOT_LISTED, m.EntriesAvailable, m.EntriesUnavailable, m.HandlerRaised, rules="X-STATUS-3"),
)  # fmt: skip
"""status(), 100 ms: is this app listed?"""

ENTRIES: Rows = (
    *row(S.LISTING, m.EntriesReturned, S.OFFERED, m.StopBudget, m.ShowEntries, rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(S.LISTING, m.NoEntries, S.EMPTY, m.StopBudget, m.ShowNoEntries, rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(S.LISTING, m.HandlerRaised, S.EMPTY, m.StopBudget, assumed(m.ShowNoEntries),
         rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(S.LISTING, m.BudgetSpent, S.EMPTY, wallet(m.ShowNoEntries), rules="X-ENTRIES-3"),
    *_late(S.EMPTY, m.EntriesReturned, m.NoEntries, m.HandlerRaised, rules="X-ENTRIES-3"),
)  # fmt: skip
"""passEntries() or remotePassEntries(), 20 s: which cards can be added?"""

ON_PHONE: Rows = (
    *row(S.LISTED, m.IssuerChosen, S.LISTING, m.CallPassEntries, m.StartPassEntriesBudget,
         rules="X-FLOW-1 X-ENTRIES-1 X-HANDLER-1"),
    *row((S.OFFERED, S.EMPTY), m.IssuerChosen, S.LISTING, m.CallPassEntries, m.StartPassEntriesBudget,
         rules="X-ENTRIES-1 X-HANDLER-1", source="assumed"),
)  # fmt: skip
ON_WATCH: Rows = (
    *row(S.LISTED, m.IssuerChosen, S.LISTING, m.CallRemotePassEntries, m.StartRemotePassEntriesBudget,
         rules="X-FLOW-1 X-ENTRIES-2 X-HANDLER-1"),
    *row((S.OFFERED, S.EMPTY), m.IssuerChosen, S.LISTING, m.CallRemotePassEntries, m.StartRemotePassEntriesBudget,
         rules="X-ENTRIES-2 X-HANDLER-1", source="assumed"),
)  # fmt: skip


def _art(event: type[m.Event]) -> Rows:
    return (
        *row(S.LISTING, event, S.LISTING, rules="X-ART-1"),
        *row(S.EMPTY, event, S.EMPTY, rules="X-ART-1 X-ENTRIES-3", source="wallet"),
    )


ART_EARLIER: Rows = _art(m.CardArtForBrandAsked)
ART_LATER: Rows = _art(m.CardArtForIdAsked)

REQUEST: Rows = (
    *row(S.OFFERED, m.EntryChosen, S.AUTHENTICATING, m.Authenticate, rules="X-FLOW-1 X-AUTH-2"),
    *row((S.CLOSED, S.LISTED, S.NOT_AUTHENTICATED, S.ADDED, S.NOT_ADDED), m.EntryChosen, S.AUTHENTICATING,
         m.Authenticate, rules="X-AUTH-2 X-HANDLER-1", source="assumed"),
    *row(S.AUTHENTICATING, m.Authorized, S.GENERATING, m.CallGenerate, m.StartGenerateBudget,
         rules="X-AUTH-1 X-AUTH-2 X-GEN-1 X-HANDLER-1"),
    *row(S.AUTHENTICATING, m.AuthenticatedByWallet, S.GENERATING, m.CallGenerate, m.StartGenerateBudget,
         rules="X-AUTH-2 X-GEN-1 X-HANDLER-1"),
    *row(S.AUTHENTICATING, m.AuthorizationCanceled, S.NOT_AUTHENTICATED, m.ShowNotAdded, rules="X-AUTH-1 X-AUTH-2"),
    *row(S.AUTHENTICATING, m.AuthorizationMissing, S.NOT_AUTHENTICATED, assumed(m.ShowNotAdded),
         rules="X-AUTH-1 X-STATUS-1"),
    *row(S.GENERATING, m.ExtensionProvisionCalled, S.PROVISIONING, rules="X-FLOW-1 X-DEL-1"),
    *row(S.PROVISIONING, m.RequestReturned, S.ADDING, m.StopBudget, m.AddPass, rules="X-FLOW-1 X-GEN-1"),
    *row(S.GENERATING, m.RequestReturned, S.NOT_ADDED, m.StopBudget, assumed(m.ShowNotAdded), rules="X-FLOW-1 X-GEN-1",
         source="assumed"),
    *row((S.GENERATING, S.PROVISIONING), m.NoRequest, S.NOT_ADDED, m.StopBudget, m.ShowNotAdded, rules="X-GEN-1"),
    *row((S.GENERATING, S.PROVISIONING), m.HandlerRaised, S.NOT_ADDED, m.StopBudget, assumed(m.ShowNotAdded),
         rules="X-GEN-1"),
    *row((S.GENERATING, S.PROVISIONING), m.BudgetSpent, S.NOT_ADDED, wallet(m.ShowNotAdded), rules="X-GEN-1",
         source="wallet"),
    *row(S.ADDING, m.PassAdded, S.ADDED, m.ShowCardAdded, rules="X-FLOW-1"),
    *row(S.ADDING, m.PassRefused, S.NOT_ADDED, assumed(m.ShowNotAdded), rules="X-FLOW-1"),
    *row(S.NOT_ADDED, m.ExtensionProvisionCalled, S.NOT_ADDED, rules="X-DEL-1", source="wallet"),
    *_late(S.NOT_ADDED, m.RequestReturned, m.NoRequest, m.HandlerRaised, rules="X-GEN-1"),
)  # fmt: skip
"""A card is chosen: authenticate, have the delegate provision, take the request, add the card.

The wallet may remember an entry, so a card can be chosen before this run asked for entries: the handler that is then
called has seen nothing of what came before. A request that no delegate provisioned is of no use (assumed).
"""

SHARED: Rows = STATUS + ENTRIES + REQUEST


# The project file of each extension, by which the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3). `<platform>` and
# `<kit>` stand for the vendor's reverse-domain prefix and the framework's name, which this workbook leaves out.

POINT, PRINCIPAL = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"


EXTENSIONS: Mapping[str, Mapping[str, str]] = {
    "extension": {
        POINT: "com.<platform>.<kit>.issuer-provisioning",
        PRINCIPAL: "$(PRODUCT_MODULE_NAME).ExtensionHandler",
    },
    "authorization UI": {
        POINT: "com.<platform>.<kit>.issuer-provisioning.authorization",
        PRINCIPAL: "$(PRODUCT_MODULE_NAME).AuthorizationProvider",
    },
}
"""The entries of NSExtension, for the issuer-provisioning extension and its authorization UI (X-PLIST-1)."""


def plist(name: str) -> dict[str, Any]:
    """The part of the project file that names this extension, as it has to be.

    Raises:
        ParameterError: there is no such extension.
    """
    return {"NSExtension": dict(lookup("extension", name, EXTENSIONS))}


def plist_problems(name: str, document: object) -> list[str]:
    """What is wrong with the project file of this extension; empty when nothing is.

    Args:
        name: one of `EXTENSIONS`.
        document: the parsed file, as `plistlib.load` returns it.

    Raises:
        ParameterError: there is no such extension.
    """
    wanted = lookup("extension", name, EXTENSIONS)
    entry = document.get("NSExtension") if isinstance(document, Mapping) else None
    if isinstance(entry, str):
        return [f"NSExtension is a dictionary; the identifier is in it, under {POINT} (X-PLIST-2)"]
    if not isinstance(entry, Mapping):
        return ["there is no dictionary NSExtension (X-PLIST-2)"]
    problems = []
    # a real project file has the vendor's prefix and the framework's name where ours has placeholders
    pattern = "[^.]+".join(map(re.escape, re.split("<platform>|<kit>", wanted[POINT])))
    if not re.fullmatch(pattern, str(entry.get(POINT))):
        problems.append(f"{POINT} is {entry.get(POINT)!r:.90}, not {wanted[POINT]!r} (X-PLIST-1)")
    if entry.get(PRINCIPAL) != wanted[PRINCIPAL]:
        problems.append(f"{PRINCIPAL} is {entry.get(PRINCIPAL)!r:.90}, not {wanted[PRINCIPAL]!r} (X-PLIST-3)")
    return problems
