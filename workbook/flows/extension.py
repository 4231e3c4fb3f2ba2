"""Platform B from the wallet: what the wallet app does with the issuer's extensions, all of it in this file.

The wallet leads and the extension answers. Each call has its time, and the end of that time is an ordinary event: so a
missed limit is a row of this table. The late answer that follows is a row, too: it is ignored.

Phone and watch go the same way; they differ in which entries they ask for. The two variants differ in how the SDK
asks for card art.

What is marked `wallet` is public knowledge of the wallet platform; what is marked `assumed` is our choice.
"""

import re
from collections.abc import Mapping
from enum import StrEnum, unique
from typing import Any

from workbook.base.values import lookup
from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row, wallet


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


# The states in which the wallet waits for the cardholder, or has nothing more to do.
FINAL_EXTENSION = (
    State.LISTED, State.NOT_LISTED, State.OFFERED, State.EMPTY, State.NOT_AUTHENTICATED, State.ADDED, State.NOT_ADDED,
)  # fmt: skip


def _late(state: State, *events: type[m.Event], rules: str) -> tuple[Row, ...]:
    """Rows for answers that come after the time is up: they change nothing."""
    # Rows, and not refusals: a handler that answers late has done nothing out of order, and the trace says so.
    each = (row(state, event, state, m.IgnoreLate, rules=rules, source="wallet") for event in events)
    return tuple(r for rows in each for r in rows)


def _art(event: type[m.Event]) -> tuple[Row, ...]:
    return (
        *row(State.LISTING, event, State.LISTING, rules="X-ART-1"),
        *row(State.EMPTY, event, State.EMPTY, rules="X-ART-1 X-ENTRIES-3", source="wallet"),
    )


def choosing(surface: str) -> tuple[Row, ...]:
    """The cardholder chooses the app: the rows in which phone and watch differ, by the entries that they ask for."""
    asks, begins, rule = {
        "phone": (m.CallPassEntries, m.StartPassEntriesBudget, "X-ENTRIES-1"),
        "watch": (m.CallRemotePassEntries, m.StartRemotePassEntriesBudget, "X-ENTRIES-2"),
    }[surface]
    return (
        *row(State.LISTED, m.IssuerChosen, State.LISTING, asks, begins, rules=f"X-FLOW-1 {rule} X-HANDLER-1"),
        *row((State.OFFERED, State.EMPTY), m.IssuerChosen, State.LISTING, asks, begins,
             rules=f"{rule} X-HANDLER-1", source="assumed"),
    )  # fmt: skip


# The rows that phone and watch share, of both variants: `FactsB.lacks` says which events a variant does not have.
ROWS_EXTENSION: tuple[Row, ...] = (
    # status(), 100 ms: is this app listed?
    *row(State.CLOSED, m.IssuerListOpened, State.ASKING, m.CallStatus, m.StartStatusBudget,
         rules="X-FLOW-1 X-HANDLER-1"),
    *row(FINAL_EXTENSION, m.IssuerListOpened, State.ASKING, m.CallStatus, m.StartStatusBudget, rules="X-HANDLER-1",
         source="assumed"),
    *row(State.ASKING, m.EntriesAvailable, State.LISTED, m.StopBudget, m.ListIssuer, rules="X-STATUS-1"),
    *row(State.ASKING, m.EntriesUnavailable, State.NOT_LISTED, m.StopBudget, m.HideIssuer, rules="X-STATUS-2"),
    *row(State.ASKING, m.ExtensionNotFound, State.NOT_LISTED, m.StopBudget, wallet(m.HideIssuer),
         rules="X-PLIST-1 X-PLIST-3"),
    *row(State.ASKING, m.HandlerRaised, State.NOT_LISTED, m.StopBudget, assumed(m.HideIssuer), rules="X-STATUS-1"),
    *row(State.ASKING, m.BudgetSpent, State.NOT_LISTED, wallet(m.HideIssuer), rules="X-STATUS-3"),
    *_late(State.NOT_LISTED, m.EntriesAvailable, m.EntriesUnavailable, m.HandlerRaised, rules="X-STATUS-3"),
    # passEntries() or remotePassEntries(), 20 s: which cards can be added?
    *row(State.LISTING, m.EntriesReturned, State.OFFERED, m.StopBudget, m.ShowEntries, rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(State.LISTING, m.NoEntries, State.EMPTY, m.StopBudget, m.ShowNoEntries, rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(State.LISTING, m.HandlerRaised, State.EMPTY, m.StopBudget, assumed(m.ShowNoEntries),
         rules="X-ENTRIES-1 X-ENTRIES-2"),
    *row(State.LISTING, m.BudgetSpent, State.EMPTY, wallet(m.ShowNoEntries), rules="X-ENTRIES-3"),
    *_late(State.EMPTY, m.EntriesReturned, m.NoEntries, m.HandlerRaised, rules="X-ENTRIES-3"),
    # A card is chosen: authenticate, have the delegate provision, take the request, add the card. The wallet may
    # remember an entry, so a card can be chosen before this run asked for entries: the handler that is then called has
    # seen nothing of what came before. A request that no delegate provisioned is of no use (assumed).
    *row(State.OFFERED, m.EntryChosen, State.AUTHENTICATING, m.Authenticate, rules="X-FLOW-1 X-AUTH-2"),
    *row((State.CLOSED, State.LISTED, State.NOT_AUTHENTICATED, State.ADDED, State.NOT_ADDED), m.EntryChosen,
         State.AUTHENTICATING, m.Authenticate, rules="X-AUTH-2 X-HANDLER-1", source="assumed"),
    *row(State.AUTHENTICATING, m.Authorized, State.GENERATING, m.CallGenerate, m.StartGenerateBudget,
         rules="X-AUTH-1 X-AUTH-2 X-GEN-1 X-HANDLER-1"),
    *row(State.AUTHENTICATING, m.AuthenticatedByWallet, State.GENERATING, m.CallGenerate, m.StartGenerateBudget,
         rules="X-AUTH-2 X-GEN-1 X-HANDLER-1"),
    *row(State.AUTHENTICATING, m.AuthorizationCanceled, State.NOT_AUTHENTICATED, m.ShowNotAdded,
         rules="X-AUTH-1 X-AUTH-2"),
    *row(State.AUTHENTICATING, m.AuthorizationMissing, State.NOT_AUTHENTICATED, assumed(m.ShowNotAdded),
         rules="X-AUTH-1 X-STATUS-1"),
    *row(State.GENERATING, m.ExtensionProvisionCalled, State.PROVISIONING, rules="X-FLOW-1 X-DEL-1"),
    *row(State.PROVISIONING, m.RequestReturned, State.ADDING, m.StopBudget, m.AddPass, rules="X-FLOW-1 X-GEN-1"),
    *row(State.GENERATING, m.RequestReturned, State.NOT_ADDED, m.StopBudget, assumed(m.ShowNotAdded),
         rules="X-FLOW-1 X-GEN-1", source="assumed"),
    *row((State.GENERATING, State.PROVISIONING), m.NoRequest, State.NOT_ADDED, m.StopBudget, m.ShowNotAdded,
         rules="X-GEN-1"),
    *row((State.GENERATING, State.PROVISIONING), m.HandlerRaised, State.NOT_ADDED, m.StopBudget,
         assumed(m.ShowNotAdded), rules="X-GEN-1"),
    *row((State.GENERATING, State.PROVISIONING), m.BudgetSpent, State.NOT_ADDED, wallet(m.ShowNotAdded),
         rules="X-GEN-1", source="wallet"),
    *row(State.ADDING, m.PassAdded, State.ADDED, m.ShowCardAdded, rules="X-FLOW-1"),
    *row(State.ADDING, m.PassRefused, State.NOT_ADDED, assumed(m.ShowNotAdded), rules="X-FLOW-1"),
    *row(State.NOT_ADDED, m.ExtensionProvisionCalled, State.NOT_ADDED, rules="X-DEL-1", source="wallet"),
    *_late(State.NOT_ADDED, m.RequestReturned, m.NoRequest, m.HandlerRaised, rules="X-GEN-1"),
    # The SDK asks for card art, in the earlier variant by brand and in the later one by id.
    *_art(m.CardArtForBrandAsked),
    *_art(m.CardArtForIdAsked),
)  # fmt: skip


# The project file of each extension, by which the wallet finds it (X-PLIST-1, X-PLIST-2, X-PLIST-3). `<platform>` and
# `<kit>` stand for the vendor's reverse-domain prefix and the framework's name, which this workbook leaves out.

POINT, PRINCIPAL = "NSExtensionPointIdentifier", "NSExtensionPrincipalClass"


# The entries of NSExtension, for the issuer-provisioning extension and its authorization UI (X-PLIST-1).
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
