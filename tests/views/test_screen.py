from dataclasses import replace

import pytest

from workbook.flows import messages as m
from workbook.play.loop import NO_BUTTON_YET
from workbook.views.screen import SCREEN_CHANGES, InFront, Page, Screen, Sheet, after, describe

CARD, OTHER = "PISIMULATED00000000000001", "PISIMULATED00000000000002"
OPEN = Screen(place=InFront.APP, card=CARD, button="shown")


def seen(screen, *messages):
    for message in messages:
        screen = after(screen, message)
    return screen


@pytest.mark.rule("A-CAN-1", "A-CAN-2", "A-BTN-1")
@pytest.mark.parametrize(
    ("command", "button"),
    [
        (m.ShowButton(), "shown"),
        (m.HideButton(), "hidden"),
        (m.DisableButton(), "disabled"),
        (m.EnableButton(), "shown"),
    ],
)
def test_the_button_is_what_the_app_was_told_to_make_of_it(command, button):
    assert after(replace(OPEN, button="absent"), command).button == button


@pytest.mark.rule("B-FIN-2")
def test_the_label_says_what_became_of_the_card_until_the_next_attempt():
    assert after(OPEN, m.ShowAdded()).label == "Added to Wallet"
    assert after(OPEN, m.ShowAvailable()).label == "Available in Wallet"
    assert after(OPEN, m.AlreadyExistsInWallet()).label == "In the wallet"
    assert seen(OPEN, m.TellFailure()).label == "Not added"
    assert seen(OPEN, m.TellFailure(), m.DisableButton()).label == ""


@pytest.mark.rule("APP-9")
def test_a_page_without_activation_data_says_so_until_it_is_opened_anew():
    failed = seen(replace(OPEN, button="absent", waits=True), m.ActivationDataFailed("no answer"), m.HideButton())
    assert (failed.button, failed.label, failed.waits) == ("hidden", NO_BUTTON_YET, False)
    assert describe(failed).endswith(f"“{NO_BUTTON_YET}” and offers to try again.")
    assert after(failed, m.Opened(OTHER)).label == ""


@pytest.mark.rule("A-PROV-3")
@pytest.mark.parametrize(
    ("event", "state", "label"),
    [
        (m.ProvisionFailure("Timeout"), "failed", "Not added"),
        (m.ProvisionFailure("Canceled"), "failed", ""),
        (m.SdkOutputFailed("no wallet"), "failed", "Not added"),
        (m.OpcFailed("no answer"), "failed", "Not added"),
        (m.OpcFailed("no answer"), "wallet provisions", ""),
        (m.ProvisionFailure("Canceled"), "in the wallet", ""),
    ],
)
def test_what_ends_an_attempt_on_platform_a_leaves_a_word_beside_the_button(event, state, label):
    screen = after(after(OPEN, event, state), m.EnableButton(), state)
    assert (screen.label, screen.button, screen.sheet) == (label, "shown", Sheet.NONE)
    for forgets in (m.AddTapped(), m.ProvisionSuccess()):
        assert after(screen, forgets, "tapped").label == ""


def test_opening_a_page_waits_for_an_answer_and_forgets_the_last_one():
    screen = after(replace(OPEN, label="Not added", sheet=Sheet.FAILED), m.Opened(OTHER))
    assert (screen.card, screen.button, screen.label, screen.sheet, screen.waits) == (OTHER, "absent", "", "", True)


def test_on_platform_b_the_sheet_comes_with_start_and_goes_with_the_next_question():
    screen = after(OPEN, m.StartCalled())
    assert screen.sheet is Sheet.UP
    assert after(screen, m.WalletKitAsked()).sheet is Sheet.ADDING
    assert after(screen, m.CanAddCardCalled()).sheet is Sheet.NONE


def test_a_failure_shows_on_a_sheet_only_where_there_is_one():
    assert after(OPEN, m.FinishedWithError("walletKitError")).sheet is Sheet.NONE
    assert after(replace(OPEN, sheet=Sheet.UP), m.FinishedWithError("walletKitError")).sheet is Sheet.FAILED
    assert after(replace(OPEN, sheet=Sheet.UP), m.FinishedCancelled("userCancelled")).sheet is Sheet.NONE
    assert after(replace(OPEN, sheet=Sheet.ADDING), m.ProvisionFailure("Timeout")).sheet is Sheet.FAILED


@pytest.mark.parametrize(
    ("where", "on_phone", "on_watch"),
    [("phone", {CARD}, {OTHER}), ("watch", set(), {CARD, OTHER}), ("both", {CARD}, {CARD, OTHER})],
)
def test_the_card_goes_where_the_cardholder_wants_it(where, on_phone, on_watch):
    screen = after(replace(OPEN, on_watch=frozenset({OTHER})), m.FinishedWithPass(where))
    assert (screen.on_phone, screen.on_watch) == (on_phone, on_watch)


def test_without_a_watch_nothing_is_on_it():
    assert after(OPEN, m.FinishedWithPass("both")).on_watch is None


def test_the_wallet_app_goes_from_its_list_to_the_card():
    screen = seen(Screen(), m.IssuerListOpened(), m.ListIssuer(requires_authentication=True))
    assert (screen.place, screen.page) == (InFront.WALLET, Page.APPS)
    screen = seen(screen, m.IssuerChosen(), m.ShowEntries((CARD, OTHER)))
    assert (screen.page, screen.entries, screen.waits) == (Page.CARDS, (CARD, OTHER), False)
    screen = seen(screen, m.EntryChosen(OTHER), m.CallGenerate(OTHER), m.ShowCardAdded())
    assert (screen.page, screen.card, screen.on_phone) == (Page.ADDED, OTHER, {OTHER})


@pytest.mark.rule("X-STATUS-3")
def test_an_app_that_is_not_listed_is_simply_not_there():
    assert seen(Screen(), m.IssuerListOpened(), m.HideIssuer()).page is Page.NO_APPS


def test_what_is_not_in_the_table_happens_behind_the_screen():
    assert m.FetchOpcCalled not in SCREEN_CHANGES
    assert after(OPEN, m.CreateSuccess()) is OPEN
