"""The wallet: which cards are in it, where another goes, and how its flow ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.simulation.wallet import PROVISION_FAILURES, WalletA, WalletB, Watch


@rows("failure", [None, *PROVISION_FAILURES])
def test_platform_a_s_wallet_has_the_card_unless_its_flow_ends_in_a_failure(failure):
    wallet = WalletA(provision_failure=failure)
    assert (wallet.add("PI1"), wallet.cards) == (failure, set() if failure else {"PI1"})


def test_the_failures_differ():
    assert len(PROVISION_FAILURES) == len(set(PROVISION_FAILURES))


@pytest.mark.parametrize(
    ("failure", "there", "pending"), [(None, True, False), (None, False, True), ("Timeout", True, True)]
)
def test_adding_a_card_once_more_completes_its_identity_check(failure, there, pending):
    wallet = WalletA({"PI1"} if there else set(), verification_pending=True, provision_failure=failure)
    wallet.add("PI1")
    assert wallet.verification_pending is pending


MISSING = {
    "no watch, no card": (WalletB(), (True, False)),
    "no watch, on the phone": (WalletB(cards={"PI1"}), (False, False)),
    "watch, no card": (WalletB(watch=Watch()), (True, True)),
    "watch, on the phone": (WalletB(watch=Watch(), cards={"PI1"}), (False, True)),
    "watch, on the watch": (WalletB(watch=Watch({"PI1"})), (True, False)),
    "watch, on both": (WalletB(watch=Watch({"PI1"}), cards={"PI1"}), (False, False)),
    "another card": (WalletB(watch=Watch({"PI2"}), cards={"PI2"}), (True, True)),
}


@pytest.mark.rule("B-CAN-3")
@pytest.mark.parametrize("name", MISSING)
def test_where_a_card_is_missing(name):
    wallet, missing = MISSING[name]
    assert wallet.missing("PI1") == missing


ADDED = {
    # where the card is, which place is wanted: where it goes
    ("nowhere", "phone"): "phone",
    ("nowhere", "watch"): "watch",
    ("nowhere", "both"): "both",
    ("phone", "phone"): "watch",
    ("phone", "watch"): "watch",
    ("phone", "both"): "watch",
    ("watch", "phone"): "phone",
    ("watch", "watch"): "phone",
    ("watch", "both"): "phone",
    ("both", "phone"): "phone",
    ("both", "watch"): "phone",
    ("both", "both"): "phone",
}


@pytest.mark.rule("B-CAN-3")
@rows(("there", "wanted"), ADDED)
def test_the_sheet_offers_the_places_that_lack_the_card(there, wanted):
    on_phone, on_watch = there in ("phone", "both"), there in ("watch", "both")
    wallet = WalletB(watch=Watch({"PI1"} if on_watch else set()), cards={"PI1"} if on_phone else set())
    where = wallet.add("PI1", wanted)
    assert where == ADDED[there, wanted]
    assert ("PI1" in wallet.cards) == (on_phone or where in ("phone", "both"))
    assert ("PI1" in wallet.watch.cards) == (on_watch or where in ("watch", "both"))


@pytest.mark.parametrize("wanted", ["phone", "watch", "both"])
@pytest.mark.parametrize("cards", [set(), {"PI1"}])
def test_where_there_is_no_watch_the_card_goes_to_the_phone_whatever_was_wanted(wanted, cards):
    wallet = WalletB(cards=set(cards))
    assert (wallet.add("PI1", wanted), wallet.cards) == ("phone", {"PI1"})


@given(
    st.lists(st.tuples(st.sampled_from(["PI1", "PI2"]), st.sampled_from(("phone", "watch", "both"))), max_size=6),
    st.booleans(),
)
def test_whatever_is_added_is_there_afterwards_and_said_to_be(added, paired):
    wallet = WalletB(watch=Watch() if paired else None)
    for card, wanted in added:
        where = wallet.add(card, wanted)
        assert where in ("phone", "watch", "both")
        assert (where == "watch") or card in wallet.cards
        assert (where == "phone") or card in wallet.watch.cards
