"""A combination is played as its surroundings say, and a failure is what the integrator's choices add."""

import pytest

import workbook as wb
from workbook.errors import ParameterError
from workbook.simulation.world import SIMULATED_CARDS
from workbook.tools.sweep import run
from workbook.tools.sweep.matrix import from_spec, imported
from workbook.tools.sweep.run import Player, play_out


def failures(line):
    combination = from_spec(line)
    return Player(2.0).failures(combination, play_out(combination, 2.0))


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("platform=a", "in the wallet"),
        ("platform=a variant=before-0.4.0 seed=3 card=second", "in the wallet"),
        ("platform=a card=suspended", "unavailable"),
        ("platform=a card=bankAccount", "unavailable"),
        ("platform=a card=unknown", "unavailable"),
        ("platform=a card='of another wallet'", "unavailable"),
        ("platform=a latency=9", "unavailable"),
        ("platform=b fault='503 that says 500' operation=POST", "failed"),
        ("platform=wallet seed=12 cards=5", "added"),
        ("platform=wallet phone='app was never opened'", "app not listed"),
        ("platform=wallet latency=21", "no card offered"),
        ("platform=wallet surface=watch phone='with a watch'", "added"),
    ],
)
def test_the_surroundings_decide(line, state):
    assert play_out(from_spec(line)).state == state
    assert failures(line) == ()
    assert wb.session().replay(line).state == state


def test_a_late_call_is_told():
    handler = "handler='GETs one after the other'"
    assert any(
        "X-ENTRIES-3" in kind for kind in play_out(from_spec(f"platform=wallet cards=30 latency=1 {handler}")).found
    )
    assert play_out(from_spec(f"platform=wallet cards=3 latency=1 {handler}")).found == ()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("platform=a guarded=no taps=2", "A-BTN-"),
        ("platform=a back_end='sends the POST again' fault=reset operation=POST moment=after", "REL-1"),
        ("platform=b app='hands over base64 text'", "B-INIT-1"),
        ("platform=wallet handler='no card art'", "X-ART-1"),
        ("platform=wallet authorization='never reports'", "X-AUTH-1"),
    ],
)
def test_a_mistake_is_a_failure(line, kind):
    assert any(each.startswith(kind) for each in failures(line))


def test_what_a_kind_says_repeats_no_figure():
    one, other = (
        failures(f"platform=wallet cards=3 latency={get} handler='GETs one after the other'") for get in (3, 5)
    )
    assert one == other != ()


def test_a_row_has_the_same_columns_on_each_platform():
    rows = [Player(2.0).row(1, from_spec(f"platform={each}")) for each in ("a", "b", "wallet")]
    assert rows[0].keys() == rows[1].keys() == rows[2].keys()
    assert [row["outcome"] for row in rows] == ["in the wallet", "in the wallet", "added"]


@pytest.mark.parametrize("status", ["inactive", "suspended", "closed"])
def test_a_card_has_its_status(status):
    world, cards = run._world(status, 1, 7)
    assert [world.instruments[card].status for card in cards] == [status]


@pytest.mark.parametrize(
    ("card", "cards", "held"), [("first", 1, [1]), ("third", 2, [3, 1]), ("second", 4, [2, 1, 3, 4])]
)
def test_a_cardholder_has_so_many_cards_the_one_that_is_added_first(card, cards, held):
    world, found = run._world(card, cards, 7)
    assert [int(each[-4:]) for each in found] == held
    assert len([each for each in world.instruments if each[-4:].isdigit()]) == max(3, cards, len(SIMULATED_CARDS))


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("platform=a app=no_code:f", "app"),
        ("platform=b app=no_code:F", "app"),
        ("platform=wallet handler=no_code:H", "handler"),
    ],
)
def test_code_that_is_not_there_is_told_with_its_option(line, option):
    (found,) = play_out(from_spec(line)).found
    assert f"{option} 'no_code:" in found


def test_a_handler_that_hangs_is_stopped_when_the_sweep_has_no_more_patience(own_code, monkeypatch):
    def hang(_self):
        while True:
            pass

    monkeypatch.setattr(imported("handler", "planted_code:Handler"), "pass_entries", hang)
    found = play_out(from_spec("platform=wallet handler=planted_code:Handler"), 0.1).found
    assert any("pass_entries() had not ended" in text for text in found), found


def test_a_line_with_a_mistake_is_refused_in_a_notebook():
    with pytest.raises(ParameterError, match="Did you mean"):
        wb.session().replay("platform=a fualt=reset")
