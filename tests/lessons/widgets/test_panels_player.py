"""The player's Python half: numbers, refusals, and a browser that is not believed."""

import pytest

from workbook.errors import ParameterError
from workbook.lessons.widgets.panels import PANELS, Player

DATA = {"title": "A run", "frames": []}


def player(answers, **more):
    def answer(message):
        answers.append(message)
        return {"acts": len(answers)}

    return Player(DATA, answer=answer, **more)


def sent(panel, **content):
    panel._handle_custom_msg(content, [])


def test_each_number_is_answered_once():
    answers = []
    panel = player(answers)
    for number in (1, 1, 2, 2, 1):
        sent(panel, kind="act", number=number)
    assert [message["number"] for message in answers] == [1, 2]
    assert (panel.number, panel.acts) == (2, 2)


@pytest.mark.parametrize("number", [None, "1", 1.5, True, -1, 0, [1]])
def test_what_is_no_newer_number_is_dropped(number):
    answers = []
    sent(player(answers), kind="act", number=number)
    assert answers == []


def test_a_film_to_look_at_answers_nothing():
    panel = Player(DATA)
    sent(panel, kind="act", number=1)
    assert (panel.by_hand, panel.number) == (False, 0)


def test_the_answer_and_its_number_arrive_together():
    panel, seen = player([]), []
    panel.send_state = lambda _key=None: seen.append((panel.acts, panel.number))
    sent(panel, kind="act", number=1)
    assert seen == [(1, 1)]


def test_a_misspelt_panel_is_explained():
    with pytest.raises(ParameterError, match="Did you mean 'phone'"):
        Player(DATA, ["fone"])
    assert Player(DATA).panels == list(PANELS)
