"""A combination is played as its surroundings say, and a failure is what the integrator's choices add."""

import pytest

import workbook as wb
from workbook.errors import ParameterError
from workbook.sweep.matrix import from_spec, imported
from workbook.sweep.play import Player, outcome


def failures(line):
    combination = from_spec(line)
    return Player(2.0).failures(combination, outcome(combination, 2.0))


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("platform=a", "in the wallet"),
        ("platform=a variant=before-0.4.0 seed=3 card=second", "in the wallet"),
        ("platform=a card=suspended", "unavailable"),
        ("platform=a card=bankAccount", "unavailable"),
        ("platform=a card=unknown", "unavailable"),
        ("platform=a card='of another wallet'", "unavailable"),
        ("platform=a get=9", "unavailable"),
        ("platform=b seed=12 post=25", "failed"),
        ("platform=b fault='503 that says 500' operation=POST", "failed"),
        ("platform=wallet seed=12 cards=5", "added"),
        ("platform=wallet phone='app was never opened'", "app not listed"),
        ("platform=wallet status=0.2", "app not listed"),
        ("platform=wallet pass_entries=21", "no card offered"),
        ("platform=wallet surface=watch phone='with a watch'", "added"),
    ],
)
def test_the_surroundings_decide(line, state):
    assert outcome(from_spec(line)).state == state
    assert failures(line) == ()
    assert wb.session().replay(line).state == state


def test_a_late_call_is_told():
    assert outcome(from_spec("platform=wallet pass_entries=21")).late
    assert not outcome(from_spec("platform=wallet pass_entries=19")).late


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
    one, other = (failures(f"platform=wallet cards=3 get={get} handler='GETs one after the other'") for get in (3, 5))
    assert one == other != ()


def test_a_row_has_the_same_columns_on_each_platform():
    rows = [Player(2.0).row(1, from_spec(f"platform={each}")) for each in ("a", "b", "wallet")]
    assert rows[0].keys() == rows[1].keys() == rows[2].keys()
    assert rows[2]["pass_entries_took"] > rows[2]["status_took"] > 0


def test_own_code_is_made_ready_once_and_not_for_each_combination(own_code):
    for seed in range(3):
        outcome(from_spec(f"platform=wallet seed={seed} handler=planted_code:Handler"), 2.0)
    assert len(imported("handler", "planted_code:Handler").__subclasses__()) == 1


def test_a_line_with_a_mistake_is_refused_in_a_notebook():
    with pytest.raises(ParameterError, match="Did you mean"):
        wb.session().replay("platform=a fualt=reset")
