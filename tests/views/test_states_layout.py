"""Every machine's picture, measured: nothing stands on anything else, and every arrow ends where it should."""

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest
from plays import MACHINES
from states_layout import BOX_WIDTH, LEADING, TICK, Layout, drawn, pictured

from workbook.flows.machine import Machine
from workbook.flows.variants import A_FROM_0_4_0, A_NOT_MIGRATED, VARIANTS_A, VARIANTS_B, VariantA
from workbook.views.states import stored

LETTER = 6.2
"""How wide a letter of a label may be, in pixels; a common font's is narrower."""


STORED = Path(__file__).parents[2] / "workbook" / "views" / "states"


@pytest.mark.parametrize(("name", "machine"), [*pictured()], ids=str)
def test_a_stored_picture_is_what_is_drawn_today(generated, name, machine):
    generated(STORED / f"{name}.svg", drawn(machine))
    stored.cache_clear()


def test_no_picture_is_stored_that_nothing_draws():
    assert {path.stem for path in STORED.iterdir()} == {name for name, _machine in pictured()}


@pytest.mark.parametrize("variant", [*VARIANTS_A.values(), A_NOT_MIGRATED, *VARIANTS_B.values()], ids=repr)
def test_every_choice_of_a_variant_is_drawn_as_it_is_stored(variant):
    names = ("guarded", "by_hand") if isinstance(variant, VariantA) else ("tells", "says_available")
    for chosen in product((True, False), repeat=2):
        one = replace(variant, **dict(zip(names, chosen, strict=True)))
        assert "\n".join((*stored(one.machine), "")) == drawn(one.machine)


def test_a_machine_with_other_moves_is_refused_by_name():
    machine = A_FROM_0_4_0.machine
    other = Machine("platform C", machine.rows[:-1], initial=machine.initial, final=machine.final)
    with pytest.raises(LookupError, match="has the moves of platform C"):
        stored(other)


@pytest.fixture(params=MACHINES, ids=repr)
def machine(request):
    return request.param


@pytest.fixture
def plan(machine):
    return Layout(machine)


def test_no_word_stands_on_a_box_or_on_another_word(plan):
    _no_word_stands_on_anything(plan)


def _no_word_stands_on_anything(plan):
    areas = [area for words in _all_words(plan) for area in _lines(words)]
    assert [area for area in areas for box in plan.boxes.values() if _meet(area, _area(box))] == []
    assert [pair for pair in combinations(areas, 2) if _meet(*pair)] == []


def _area(box):
    return box.x, box.y, box.x + BOX_WIDTH, box.end


def _meet(one, other):
    """Whether two areas share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _all_words(plan):
    return [*filter(None, (arrow.words for arrow in plan.arrows)), *plan.signs]


def _lines(words):
    choice = len({label.event for label in words.lines}) > 1
    for number, label in enumerate(reversed(words.lines)):
        wide, y = LETTER * len(label.text + TICK * choice), words.y - LEADING * number
        x = words.x if words.anchor == "start" else words.x - wide
        yield x, y - 9, x + wide, y + 1
