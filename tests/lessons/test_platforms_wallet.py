"""Scenes from the wallet: every name in the lesson's vocabulary works, and a misspelt one is explained."""

import pytest
from rows import rows

from workbook.errors import ParameterError
from workbook.lessons.session import session
from workbook.play.handler import ReferenceHandler
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.platform_b import opened_phone
from workbook.simulation.world import INSTRUMENT_IDS

SESSION = session()

FIRST, SECOND, THIRD = INSTRUMENT_IDS


def test_every_authorization_ui_can_be_named():
    ends = {SESSION.wallet.play(authorization=name).state for name in AUTHORIZATIONS}
    assert ends == {"added", "not authenticated"}


@pytest.mark.rule("X-CACHE-1")
def test_on_a_phone_that_was_opened_every_card_has_its_sdk_input_saved():
    phone = opened_phone()
    assert [*phone.storage.values()] == [*INSTRUMENT_IDS]
    assert phone.cards == set()
    assert opened_phone("app was never opened").storage.values() == {}
    assert [*opened_phone(cards=[THIRD]).storage.values()] == [THIRD]


def test_the_card_that_is_added_is_the_first_that_is_offered():
    scene = SESSION.wallet.play(cards=[THIRD, FIRST])
    assert scene.offered == (THIRD, FIRST)
    assert scene.phone.cards == {THIRD}


def test_the_summary_tells_the_end_in_words():
    assert SESSION.wallet.play().summary == {
        "ended": "added",
        "cards offered": "3",
        "card on the phone": "yes",
        "card on the watch": "no watch is paired",
        "took": "4.46 s of virtual time",
    }
    on_watch = SESSION.wallet.play(phone="with a watch", surface="watch").summary
    assert (on_watch["card on the phone"], on_watch["card on the watch"]) == ("no", "yes")
    assert SESSION.wallet.play(phone="app was never opened").summary["cards offered"] == "none"


@rows("name", HANDLERS)
def test_every_handler_can_be_named_and_shown(name):
    for surface in ("phone", "watch"):
        assert "How it ended" in repr(SESSION.wallet.play(name, "with a watch", surface=surface))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: SESSION.wallet.play("referense"), "Did you mean 'reference'"),
        (lambda: SESSION.wallet.play(phone="app was open"), "Did you mean 'app was opened'"),
        (lambda: SESSION.wallet.play(variant="latter"), "Did you mean 'later'"),
        (lambda: SESSION.wallet.play(surface="wach"), "Did you mean 'watch'"),
        (lambda: SESSION.wallet.play(authorization="refuse"), "Did you mean 'refuses'"),
        (lambda: opened_phone("readdy"), "No phone 'readdy'"),
        (lambda: SESSION.wallet.play(5), "takes a handler class, because each call gets a new handler; not 5"),
        (lambda: SESSION.wallet.play(None), "No handler None"),
        (
            lambda: SESSION.wallet.play(ReferenceHandler(None, None, None, ())),
            "not a value of type ReferenceHandler. Write one",
        ),
        (lambda: SESSION.wallet.play(dict), "A wallet app takes a handler class"),
        (lambda: SESSION.wallet.play(authorization=None), "No authorization None"),
        (lambda: SESSION.wallet.play(cards=FIRST), "allowed: a list of payment instrument ids"),
    ],
)
def test_a_misspelt_name_or_a_wrong_argument_is_explained(call, told):
    with pytest.raises(ParameterError) as caught:
        call()
    assert told in str(caught.value)
    assert len(str(caught.value)) < 750


@rows("name", list(HANDLERS)[1:])
def test_a_mistaken_handler_is_played_where_its_mistake_shows(name):
    assert any(one.level != "note" for one in SESSION.wallet.play(name).findings)


def test_the_table_of_mistakes_has_each_handler_once_beside_how_it_ends():
    ends = {state: names.split("; ") for state, names in SESSION.wallet.mistakes().rows}
    assert sorted(name for names in ends.values() for name in names) == sorted(SESSION.wallet.handlers[1:])
    assert ends["app not listed"] == ["network call in status()", "status() fails without a cache"]
    assert set(ends) == {"app not listed", "no card offered", "not added", "added"}
