"""Platform B's phone: phone and watch hold their own cards, and a fact that cannot be is explained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.flows.messages import limit_of
from workbook.simulation.phones import PHONES_B, PhoneB, Watch

MISSING = {
    "no watch, no card": (PhoneB(), (True, False)),
    "no watch, on the phone": (PhoneB(cards={"PI1"}), (False, False)),
    "watch, no card": (PhoneB(watch=Watch()), (True, True)),
    "watch, on the phone": (PhoneB(watch=Watch(), cards={"PI1"}), (False, True)),
    "watch, on the watch": (PhoneB(watch=Watch({"PI1"})), (True, False)),
    "watch, on both": (PhoneB(watch=Watch({"PI1"}), cards={"PI1"}), (False, False)),
    "another card": (PhoneB(watch=Watch({"PI2"}), cards={"PI2"}), (True, True)),
}


@pytest.mark.rule("B-CAN-3")
@pytest.mark.parametrize("name", MISSING)
def test_where_a_card_is_missing(name):
    phone, missing = MISSING[name]
    assert phone.missing("PI1") == missing


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
    phone = PhoneB(watch=Watch({"PI1"} if on_watch else set()), cards={"PI1"} if on_phone else set())
    where = phone.add("PI1", wanted)
    assert where == ADDED[there, wanted]
    assert ("PI1" in phone.cards) == (on_phone or where in ("phone", "both"))
    assert ("PI1" in phone.watch.cards) == (on_watch or where in ("watch", "both"))


@pytest.mark.parametrize("wanted", ["phone", "watch", "both"])
@pytest.mark.parametrize("cards", [set(), {"PI1"}])
def test_where_there_is_no_watch_the_card_goes_to_the_phone_whatever_was_wanted(wanted, cards):
    phone = PhoneB(cards=set(cards))
    assert (phone.add("PI1", wanted), phone.cards) == ("phone", {"PI1"})


@given(
    st.lists(st.tuples(st.sampled_from(["PI1", "PI2"]), st.sampled_from(("phone", "watch", "both"))), max_size=6),
    st.booleans(),
)
def test_whatever_is_added_is_there_afterwards_and_said_to_be(added, paired):
    phone = PhoneB(watch=Watch() if paired else None)
    for card, wanted in added:
        where = phone.add(card, wanted)
        assert where in ("phone", "watch", "both")
        assert (where == "watch") or card in phone.cards
        assert (where == "phone") or card in phone.watch.cards


def test_two_phones_share_nothing():
    one, other = PhoneB(watch=Watch()), PhoneB(watch=Watch())
    one.add("PI1", "both")
    one.storage.save("PI1", b"x")
    assert (other.cards, other.watch.cards, other.storage.values(), other.watch_sessions) == (set(), set(), {}, 0)


@pytest.mark.rule("B-DEL-3")
def test_a_named_phone_is_as_its_name_says():
    assert PHONES_B["back end takes 25 s"]("PI1").latencies.post == 25.0 > limit_of("provision").seconds
    assert PHONES_B["with a watch"]("PI1").watch is not None
    assert PHONES_B["ready"]("PI1").watch is None
