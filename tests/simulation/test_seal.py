"""Simulated opaque data: recognisable, bound, and no damage to it goes unnoticed."""

import base64
import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import LAYERS, SIMULATED_PREFIX
from workbook.simulation.seal import DAMAGES, Content, Damaged, Genuine, HardSeal, Seal, damaged

SEAL = Seal(7)
TEXT = SEAL.close(Content.ACTIVATION, "PI1", 3, brand="example", supportedWallets=("wallet-a",))
ALPHABET = string.ascii_letters + string.digits + "+/"


def test_what_is_closed_opens_with_all_that_was_said():
    opened = SEAL.open(TEXT)
    assert isinstance(opened, Genuine)
    assert (opened.content, opened.payment_instrument_id, opened.serial) == ("activation", "PI1", 3)
    assert opened.claims["supportedWallets"] == ["wallet-a"]


def test_it_is_base64_text_of_a_json_object_whose_first_key_says_simulated():
    assert TEXT.startswith(SIMULATED_PREFIX)
    claims = json.loads(base64.b64decode(TEXT, validate=True))
    assert list(claims)[:2] == ["simulated", "kind"]
    assert claims["simulated"] == "not card data"


def test_the_same_seed_makes_and_reads_the_same():
    assert Seal(7).close(Content.OPC, "PI1", 1) == SEAL.close(Content.OPC, "PI1", 1)
    assert isinstance(Seal(7).open(TEXT), Genuine)


@pytest.mark.parametrize("seed", [0, 8, -7, 2**32])
def test_another_seed_makes_other_data_and_does_not_read_this(seed):
    assert Seal(seed).close(Content.OPC, "PI1", 1) != SEAL.close(Content.OPC, "PI1", 1)
    assert Seal(seed).open(TEXT) == Damaged(
        "its seal is broken: it was changed on the way, or another simulator made it"
    )


@pytest.mark.rule("A-CREATE-3", "API-7")
def test_a_change_of_any_character_is_noticed():
    for place, old in enumerate(TEXT):
        for new in ("A", "B", "=", "-", " ", "\n", "é", chr(ord(old) ^ 1)):
            changed = TEXT[:place] + new + TEXT[place + 1 :]
            assert changed == TEXT or isinstance(SEAL.open(changed), Damaged), (place, new)


@pytest.mark.rule("A-CREATE-3")
def test_a_change_of_any_bit_of_the_data_is_noticed():
    data = base64.b64decode(TEXT)
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            assert isinstance(SEAL.open(base64.b64encode(changed).decode()), Damaged), (place, bit)


@pytest.mark.rule("A-CREATE-3")
def test_a_cut_at_any_length_is_noticed():
    data = base64.b64decode(TEXT)
    for length in range(len(TEXT)):
        assert isinstance(SEAL.open(TEXT[:length]), Damaged), length
        assert length == 0 or isinstance(SEAL.open(TEXT[length:]), Damaged), length
    for length in range(len(data)):
        assert isinstance(SEAL.open(base64.b64encode(data[:length]).decode()), Damaged), length


def test_a_character_more_anywhere_is_noticed():
    for place in range(len(TEXT) + 1):
        for more in ("A", "=", "\n", "AAAA"):
            assert isinstance(SEAL.open(TEXT[:place] + more + TEXT[place:]), Damaged), (place, more)


@pytest.mark.rule("A-CREATE-3")
@rows("damage", [name for name in DAMAGES if name != "none"])
def test_every_damage_of_the_catalogue_is_noticed_and_advised_upon(damage):
    opened = SEAL.open(damaged(TEXT, damage))
    assert isinstance(opened, Damaged)
    assert opened.why
    assert opened.advice in {"", *LAYERS.values()}


@given(
    st.none()
    | st.integers()
    | st.binary()
    | st.text()
    | st.text(ALPHABET).map(lambda text: SIMULATED_PREFIX + text)
    | st.binary().map(lambda data: base64.b64encode(data).decode())
    | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3).map(
        lambda claims: base64.b64encode(json.dumps({"simulated": "not card data"} | claims).encode()).decode()
    )
)
def test_whatever_else_is_handed_over_is_damaged_and_never_an_error(anything):
    assert isinstance(SEAL.open(anything), Damaged)


@given(
    st.sampled_from(Content), st.text(min_size=1), st.integers(0, 2**40), st.dictionaries(st.just("more"), st.text())
)
def test_whatever_is_closed_opens(content, owner, serial, more):
    opened = SEAL.open(SEAL.close(content, owner, serial, **more))
    assert isinstance(opened, Genuine)
    assert (opened.content, opened.payment_instrument_id, opened.serial) == (content, owner, serial)


@given(st.sampled_from(Content), st.text(string.ascii_letters, min_size=1, max_size=9), st.integers(1, 10**6))
def test_hard_data_has_each_character_that_a_relay_may_change_and_is_read_by_the_same_seed(content, card, serial):
    text = HardSeal(7).close(content, card, serial, attempt=serial)
    assert text.endswith("=")
    assert {"+", "/"} <= set(text)
    opened = SEAL.open(text)
    assert isinstance(opened, Genuine)
    assert (opened.payment_instrument_id, opened.serial) == (card, serial)
    assert isinstance(SEAL.open(text.rstrip("=")), Damaged)
