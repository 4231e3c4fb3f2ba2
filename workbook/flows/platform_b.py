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

from dataclasses import replace
from enum import StrEnum, unique

from workbook.flows import messages as m
from workbook.flows.machine import Row, assumed, row, wallet


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


# The states in which the flow rests.
FINAL_B = (State.ADDED, State.STILL_OFFERED, State.IN_WALLET, State.UNAVAILABLE, State.FAILED)
# The states in which an attempt is under way.
BUSY_B = (State.TAPPED, State.STARTING, State.POSTING, State.PROVISIONING, State.TOO_LATE)
# What the app shows after an attempt that added nothing.
FAILS = (assumed(m.EnableButton), m.TellFailure)

# The rows of both variants: `FactsB.lacks` says which events a variant does not have.
ROWS_B: tuple[Row, ...] = (
    # The GET, the extension's copy, and the service.
    *row(State.IDLE, m.Opened, State.FETCHING, m.GetActivationData, rules="FLOW-3 FLOW-4 API-10"),
    *row(State.FETCHING, m.ActivationDataReceived, State.FETCHED, m.SaveSdkInput, m.HandToApp,
         rules="FLOW-3 API-10 X-CACHE-1"),
    *row(State.FETCHING, m.ActivationDataFailed, State.UNAVAILABLE, assumed(m.HideButton), rules="REL-6"),
    *row(State.FETCHED, m.ServiceCalled, State.INITIALISING, m.CreateService, rules="B-INIT-1"),
    *row(State.INITIALISING, m.ServiceReady, State.CREATED, m.HandToApp, rules="B-INIT-1"),
    *row(State.INITIALISING, m.ServiceRefused, State.UNAVAILABLE, assumed(m.HideButton), rules="B-INIT-1"),
    *row((State.READY, *FINAL_B), m.Opened, State.FETCHING, m.GetActivationData,
         rules="API-10 REL-7", source="assumed"),
    # True shows the button, false hides it: the card is there already, on the phone or on the watch.
    *row(State.CHECKING, m.CanAddCard, State.READY, m.ShowButton, rules="B-CAN-1 B-CAN-2"),
    *row(State.CHECKING, m.CannotAddCard, State.IN_WALLET, m.HideButton, assumed(m.ShowAvailable),
         rules="B-CAN-1 B-CAN-2 B-CAN-3"),
    *row(State.CONFIRMING, m.CanAddCard, State.STILL_OFFERED, m.ShowButton, rules="B-CAN-1 B-CAN-2 B-CAN-3"),
    *row(State.CONFIRMING, m.CannotAddCard, State.IN_WALLET, m.HideButton, rules="B-CAN-1 B-CAN-2 B-CAN-3"),
    # The cardholder selects add; the wallet's sheet can end before anything was asked of the app.
    *row(State.READY, m.AddTapped, State.TAPPED, assumed(m.DisableButton), m.HandToApp, rules="FLOW-3 B-START-1"),
    *row((State.FAILED, State.STILL_OFFERED), m.AddTapped, State.TAPPED, assumed(m.DisableButton), m.HandToApp,
         rules="B-START-1", source="assumed"),
    *row(State.TAPPED, m.StartCalled, State.STARTING, m.Start, rules="FLOW-3 B-START-1"),
    *row(State.STARTING, m.StartThrew, State.FAILED, *FAILS, rules="B-START-1"),
    *row(State.STARTING, m.FinishedWithError, State.FAILED, *FAILS, rules="B-FIN-1"),
    *row(State.STARTING, m.FinishedCancelled, State.FAILED, assumed(m.EnableButton), rules="B-FIN-1"),  # it is known
    *row(State.STARTING, m.FinishedWithNeither, State.FAILED, *FAILS, rules="B-FIN-1"),
    # The delegate returns sdkInput or nil, the wallet finishes, and the app says so. The time is stopped first: what
    # the SDK does afterwards takes its own time, and the wallet's limit is on the app's answer alone. What a delegate
    # returns after its time was spent has no row: it belongs to a call that is over, and may come while a later attempt
    # waits for its own answer. `GiveUp` turns it into an aside, `IgnoreLateSdkInput`.
    *row(State.POSTING, m.SdkInputReceived, State.PROVISIONING, m.StopBudget, m.ReturnSdkInput, rules="B-DEL-3 API-11"),
    *row(State.POSTING, m.NoSdkInput, State.PROVISIONING, m.StopBudget, m.ReturnNil, rules="B-DEL-3"),
    *row(State.POSTING, m.DelegateFailed, State.PROVISIONING, m.StopBudget, m.ReturnNil, rules="B-DEL-3"),
    *row(State.POSTING, m.DelegateTimeSpent, State.TOO_LATE, wallet(m.GiveUp), rules="B-DEL-3", source="wallet"),
    *row(State.TOO_LATE, m.FinishedWithError, State.FAILED, *FAILS, rules="B-FIN-1", source="wallet"),
    *row(State.PROVISIONING, m.FinishedWithPass, State.ADDED, assumed(m.ShowAdded), m.HandToApp,
         rules="FLOW-3 B-FIN-1 B-FIN-2"),
    *row(State.PROVISIONING, m.FinishedWithError, State.FAILED, *FAILS, rules="B-FIN-1"),
    *row(State.PROVISIONING, m.FinishedWithNeither, State.FAILED, *FAILS, rules="B-FIN-1"),
    # The earlier variant asks one question.
    *row(State.CREATED, m.CanAddCardCalled, State.CHECKING, m.AskCanAddCard, rules="FLOW-3 B-CAN-1"),
    *row((State.READY, State.IN_WALLET, State.FAILED, State.STILL_OFFERED), m.CanAddCardCalled,
         State.CHECKING, m.AskCanAddCard, rules="B-CAN-1", source="assumed"),
    *row(State.ADDED, m.CanAddCardCalled, State.CONFIRMING, m.AskCanAddCard, rules="B-CAN-1", source="assumed"),
    # The later variant asks about the watch first, and then about both places.
    *row(State.CREATED, m.WatchActivateCalled, State.ACTIVATING, m.ActivateWatch, rules="B-WATCH-1 B-WATCH-2"),
    *row(State.ACTIVATING, m.WatchActivated, State.WATCH_KNOWN, m.HandToApp, rules="B-WATCH-1"),
    *row(State.WATCH_KNOWN, m.CanAddCardDetailsCalled, State.CHECKING, m.AskCanAddCardDetails, rules="FLOW-3 B-CAN-2"),
    *row((State.CREATED, State.READY, State.IN_WALLET, State.FAILED, State.STILL_OFFERED), m.CanAddCardDetailsCalled,
         State.CHECKING, m.AskCanAddCardDetails, rules="B-CAN-2", source="assumed"),
    *row(State.ADDED, m.CanAddCardDetailsCalled, State.CONFIRMING, m.AskCanAddCardDetails,
         rules="B-CAN-2", source="assumed"),
    # In the earlier variant provision takes sdkOutput only, in the later one paymentInstrumentId as well.
    *row(State.STARTING, m.DelegateProvisionCalled, State.POSTING, m.AskDelegate, m.StartProvisionBudget,
         rules="FLOW-3 B-DEL-1"),
    *row(State.STARTING, m.DelegateProvisionWithIdCalled, State.POSTING, m.AskDelegateWithId, m.StartProvisionBudget,
         rules="FLOW-3 B-DEL-2"),
)  # fmt: skip


def silent(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows for an app that does not tell the cardholder about a failure."""
    return tuple(r.without(m.TellFailure) for r in rows)


def available(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """The same rows for an app that shows the other label on completion, 'Available in Wallet' (B-FIN-2)."""
    return tuple(
        replace(r, commands=tuple(m.ShowAvailable if command is m.ShowAdded else command for command in r.commands))
        for r in rows
    )
