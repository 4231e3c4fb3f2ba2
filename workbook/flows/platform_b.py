"""Platform B inside the issuer's app: everything that decides what may happen next is in this file.

The flow has one beginning and one end and two ways to ask whether the card can be added. The earlier variant
asks `canAddCard`; the later one first learns whether a watch is paired and then asks `canAddCardDetails`. The
delegate's `provision` takes one value in the earlier variant and two in the later. All other rows are the same.

Phone and watch hold their own cards. So an answer of true after a success is no contradiction: the card may be on
one of the two only, and the button stays for the other.

What is marked `assumed` is our choice. The document leaves open what an app does after a failure, whether it asks once
more after a success, whether it disables the button meanwhile (platform A's rule, A-BTN-1), and when it shows which of
the two labels. The time limit of the delegate is public knowledge of the wallet platform (`wallet`).
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum, unique

from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row, wallet

Rows = tuple[Row, ...]


@unique
class State(StrEnum):
    """The app's state. The words are those of the diagrams."""

    IDLE = "idle"
    FETCHING = "fetching sdkInput"
    FETCHED = "has sdkInput"
    INITIALISING = "making the service"
    CREATED = "has the service"
    ACTIVATING = "looking for a watch"
    WATCH_KNOWN = "knows about the watch"
    CHECKING = "checking"
    READY = "button shown"
    TAPPED = "tapped"
    STARTING = "wallet sheet is up"
    POSTING = "posting sdkOutput"
    PROVISIONING = "wallet provisions"
    TOO_LATE = "delegate was too late"
    ADDED = "added"
    CONFIRMING = "asking once more"
    STILL_OFFERED = "added, yet still offered"
    IN_WALLET = "in the wallet"
    UNAVAILABLE = "unavailable"
    FAILED = "failed"


S = State
FINAL = (S.ADDED, S.STILL_OFFERED, S.IN_WALLET, S.UNAVAILABLE, S.FAILED)
OPEN_AGAIN = (S.READY, *FINAL)
BUSY = (S.TAPPED, S.STARTING, S.POSTING, S.PROVISIONING, S.TOO_LATE)
"""The states in which an attempt is under way."""

UNTIL_CHECK: Rows = (
    *row(S.IDLE, m.Opened, S.FETCHING, m.GetActivationData, rules="FLOW-3 FLOW-4 API-10"),
    *row(S.FETCHING, m.ActivationDataReceived, S.FETCHED, m.SaveSdkInput, m.HandToApp,
         rules="FLOW-3 API-10 X-CACHE-1"),
    *row(S.FETCHING, m.ActivationDataFailed, S.UNAVAILABLE, assumed(m.HideButton), rules="REL-6"),
    *row(S.FETCHED, m.ServiceCalled, S.INITIALISING, m.CreateService, rules="B-INIT-1"),
    *row(S.INITIALISING, m.ServiceReady, S.CREATED, m.HandToApp, rules="B-INIT-1"),
    *row(S.INITIALISING, m.ServiceRefused, S.UNAVAILABLE, assumed(m.HideButton), rules="B-INIT-1"),
    *row(OPEN_AGAIN, m.Opened, S.FETCHING, m.GetActivationData, rules="API-10 REL-7", source="assumed"),
)  # fmt: skip
"""The GET, the extension's copy, and the service."""

CHECK_EARLIER: Rows = (
    *row(S.CREATED, m.CanAddCardCalled, S.CHECKING, m.AskCanAddCard, rules="FLOW-3 B-CAN-1"),
    *row((S.READY, S.IN_WALLET, S.FAILED, S.STILL_OFFERED), m.CanAddCardCalled, S.CHECKING, m.AskCanAddCard,
         rules="B-CAN-1", source="assumed"),
    *row(S.ADDED, m.CanAddCardCalled, S.CONFIRMING, m.AskCanAddCard, rules="B-CAN-1", source="assumed"),
)  # fmt: skip
"""The earlier variant asks one question."""

CHECK_LATER: Rows = (
    *row(S.CREATED, m.WatchActivateCalled, S.ACTIVATING, m.ActivateWatch, rules="B-WATCH-1 B-WATCH-2"),
    *row(S.ACTIVATING, m.WatchActivated, S.WATCH_KNOWN, m.HandToApp, rules="B-WATCH-1"),
    *row(S.WATCH_KNOWN, m.CanAddCardDetailsCalled, S.CHECKING, m.AskCanAddCardDetails, rules="FLOW-3 B-CAN-2"),
    *row((S.CREATED, S.READY, S.IN_WALLET, S.FAILED, S.STILL_OFFERED), m.CanAddCardDetailsCalled, S.CHECKING,
         m.AskCanAddCardDetails, rules="B-CAN-2", source="assumed"),
    *row(S.ADDED, m.CanAddCardDetailsCalled, S.CONFIRMING, m.AskCanAddCardDetails, rules="B-CAN-2", source="assumed"),
)  # fmt: skip
"""The later variant asks about the watch first, and then about both places."""

ANSWER: Rows = (
    *row(S.CHECKING, m.CanAddCard, S.READY, m.ShowButton, rules="B-CAN-1 B-CAN-2"),
    *row(S.CHECKING, m.CannotAddCard, S.IN_WALLET, m.HideButton, assumed(m.ShowAvailable),
         rules="B-CAN-1 B-CAN-2 B-CAN-3"),
    *row(S.CONFIRMING, m.CanAddCard, S.STILL_OFFERED, m.ShowButton, rules="B-CAN-1 B-CAN-2 B-CAN-3"),
    *row(S.CONFIRMING, m.CannotAddCard, S.IN_WALLET, m.HideButton, rules="B-CAN-1 B-CAN-2 B-CAN-3"),
)  # fmt: skip
"""True shows the button, false hides it: the card is there already, on the phone or on the watch."""

FAILS = (assumed(m.EnableButton), m.TellFailure)
"""What the app shows after an attempt that added nothing."""

START: Rows = (
    *row(S.READY, m.AddTapped, S.TAPPED, assumed(m.DisableButton), m.HandToApp, rules="FLOW-3 B-START-1"),
    *row((S.FAILED, S.STILL_OFFERED), m.AddTapped, S.TAPPED, assumed(m.DisableButton), m.HandToApp,
         rules="B-START-1", source="assumed"),
    *row(S.TAPPED, m.StartCalled, S.STARTING, m.Start, rules="FLOW-3 B-START-1"),
    *row(S.STARTING, m.StartThrew, S.FAILED, *FAILS, rules="B-START-1"),
    *row(S.STARTING, m.FinishedWithError, S.FAILED, *FAILS, rules="B-FIN-1"),
    *row(S.STARTING, m.FinishedWithNeither, S.FAILED, *FAILS, rules="B-FIN-1"),
)  # fmt: skip
"""The cardholder selects add; the wallet's sheet can end before anything was asked of the app."""

DELEGATE_EARLIER: Rows = row(
    S.STARTING, m.DelegateProvisionCalled, S.POSTING, m.AskDelegate, m.StartProvisionBudget, rules="FLOW-3 B-DEL-1"
)
"""provision takes sdkOutput only."""

DELEGATE_LATER: Rows = row(
    S.STARTING, m.DelegateProvisionWithIdCalled, S.POSTING, m.AskDelegateWithId, m.StartProvisionBudget,
    rules="FLOW-3 B-DEL-2",
)  # fmt: skip
"""provision takes sdkOutput and paymentInstrumentId."""


# The time is stopped before anything is handed back: what the SDK then does takes its own time, and the wallet's
# limit is on the app's answer alone.
FINISH: Rows = (
    *row(S.POSTING, m.SdkInputReceived, S.PROVISIONING, m.StopBudget, m.ReturnSdkInput, rules="B-DEL-3 API-11"),
    *row(S.POSTING, m.NoSdkInput, S.PROVISIONING, m.StopBudget, m.ReturnNil, rules="B-DEL-3"),
    *row(S.POSTING, m.DelegateFailed, S.PROVISIONING, m.StopBudget, m.ReturnNil, rules="B-DEL-3"),
    *row(S.POSTING, m.DelegateTimeSpent, S.TOO_LATE, wallet(m.GiveUp), rules="B-DEL-3", source="wallet"),
    *row(S.TOO_LATE, m.FinishedWithError, S.FAILED, *FAILS, rules="B-FIN-1", source="wallet"),
    *row(S.PROVISIONING, m.FinishedWithPass, S.ADDED, assumed(m.ShowAdded), m.HandToApp,
         rules="FLOW-3 B-FIN-1 B-FIN-2"),
    *row(S.PROVISIONING, m.FinishedWithError, S.FAILED, *FAILS, rules="B-FIN-1"),
    *row(S.PROVISIONING, m.FinishedWithNeither, S.FAILED, *FAILS, rules="B-FIN-1"),
)  # fmt: skip
"""The delegate returns sdkInput or nil, the wallet finishes, and the app says so.

What a delegate returns after its time was spent has no row: it belongs to a call that is over, and may come while a
later attempt waits for its own answer. `GiveUp` turns it into an aside, `IgnoreLateSdkInput`.
"""

SHARED: Rows = UNTIL_CHECK + ANSWER + START + FINISH
EARLIER: Rows = SHARED + CHECK_EARLIER + DELEGATE_EARLIER
LATER: Rows = SHARED + CHECK_LATER + DELEGATE_LATER


def silent(rows: Rows) -> Rows:
    """The same rows for an app that does not tell the cardholder about a failure."""
    return tuple(r.without(m.TellFailure) for r in rows)


def available(rows: Rows) -> Rows:
    """The same rows for an app that shows the other label on completion, 'Available in Wallet' (B-FIN-2)."""
    return tuple(
        replace(r, commands=tuple(m.ShowAvailable if command is m.ShowAdded else command for command in r.commands))
        for r in rows
    )
