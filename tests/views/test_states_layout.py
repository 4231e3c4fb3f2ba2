"""Every machine's picture, measured: nothing stands on anything else, and every arrow ends where it should."""

from dataclasses import replace
from itertools import combinations, pairwise, product
from pathlib import Path

import pytest
from plays import MACHINES
from states_layout import BOX_WIDTH, LEADING, PAGE_WIDTH, TICK, Layout, drawn, moves, pictured

from workbook.flows import messages as m
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


def test_every_state_has_a_box_and_every_move_an_arrow(machine, plan):
    assert sorted(plan.boxes) == sorted(map(str, machine.states))
    rows = [row for row in machine.rows if not row.of_another_attempt]
    pairs = {f"{row.state}>{row.to}" for row in rows}
    assert sorted(arrow.move.name for arrow in plan.arrows) == sorted(pairs)
    assert sum(len(arrow.move.rows) for arrow in plan.arrows) == len(rows)


def test_no_two_boxes_overlap(plan):
    assert [
        (one, other)
        for (one, box), (other, second) in combinations(plan.boxes.items(), 2)
        if _meet(_area(box), _area(second))
    ] == []


def test_no_arrow_runs_through_a_box(plan):
    crossed = [
        (arrow.move.name, state)
        for arrow in plan.arrows
        for line in pairwise(arrow.points)
        for state, box in plan.boxes.items()
        if _meet(_span(*line), _area(box))
    ]
    assert crossed == []


def test_every_arrow_leaves_its_own_box_and_ends_at_the_other(plan):
    boxes = plan.boxes
    for arrow in plan.arrows:
        assert _on_edge(arrow.points[0], boxes[arrow.move.source]), arrow.move.name
        assert _on_edge(arrow.points[-1], boxes[arrow.move.target]), arrow.move.name
        assert all(one[0] == other[0] or one[1] == other[1] for one, other in pairwise(arrow.points))


def test_arrows_that_share_a_line_lead_to_the_same_state(plan):
    mixed = [
        (one.move.name, other.move.name)
        for one, other in combinations(plan.arrows, 2)
        if one.move.target != other.move.target
        for first in pairwise(one.points)
        for second in pairwise(other.points)
        if _along(first, second)
    ]
    assert mixed == []


def test_no_word_stands_on_a_box_or_on_another_word(plan):
    _no_word_stands_on_anything(plan)


def _no_word_stands_on_anything(plan):
    areas = [area for words in _all_words(plan) for area in _lines(words)]
    assert [area for area in areas for box in plan.boxes.values() if _meet(area, _area(box))] == []
    assert [pair for pair in combinations(areas, 2) if _meet(*pair)] == []


def test_nothing_stands_outside_the_picture(plan):
    points = [point for arrow in plan.arrows for point in arrow.points]
    assert all(4 < x < PAGE_WIDTH - 4 and 0 < y < plan.height for x, y in points)
    assert all(area[0] > 4 and area[2] < PAGE_WIDTH - 4 for words in _all_words(plan) for area in _lines(words))


def test_the_picture_is_one_that_a_person_can_look_at(plan):
    assert PAGE_WIDTH <= 900
    assert plan.height < 40 * (len(plan.boxes) + len(plan.arrows))


def test_every_event_is_named_beside_its_arrow(plan):
    for arrow in plan.arrows:
        (words,) = [words for words in _all_words(plan) if arrow.move.name in words.moves]
        for event in arrow.move.events:
            lines = [label.text for label in words.lines if label.event == event]
            name = event.partition("(")[0].rpartition(".")[2].replace(" ", "")
            assert name in "".join(lines).replace(" ", ""), arrow.move.name


def test_one_more_event_on_an_arrow_is_drawn_and_the_rows_below_make_room():
    machine = A_FROM_0_4_0.machine
    move = next(move for move in moves(machine) if move.name == "asking once more>in the wallet")
    more = replace(move.rows[0], event=m.SdkOutputCreated)
    grown = Machine("grown", (*machine.rows, more), initial=machine.initial, final=machine.final)
    before, after = Layout(machine), Layout(grown)
    (words,) = [arrow.words for arrow in after.arrows if arrow.move.name == move.name]
    assert [label.event for label in words.lines] == [*move.events, m.SdkOutputCreated.says]
    assert after.boxes["in the wallet"].y == before.boxes["in the wallet"].y + LEADING
    _no_word_stands_on_anything(after)


def _area(box):
    return box.x, box.y, box.x + BOX_WIDTH, box.end


def _span(one, other):
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])


def _meet(one, other):
    """Whether two areas share more than an edge."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _on_edge(point, box):
    (x, y), (left, top, right, end) = point, _area(box)
    inside = left <= x <= right and top <= y <= end
    return inside and (x in (left, right) or y in (top, end))


def _along(one, other):
    """Whether two lines run over each other for more than a point."""
    for axis in (0, 1):
        if one[0][axis] == one[1][axis] == other[0][axis] == other[1][axis]:
            first, second = (sorted(point[1 - axis] for point in line) for line in (one, other))
            return max(first[0], second[0]) < min(first[1], second[1])
    return False


def _all_words(plan):
    return [*filter(None, (arrow.words for arrow in plan.arrows)), *plan.signs]


def _lines(words):
    choice = len({label.event for label in words.lines}) > 1
    for number, label in enumerate(reversed(words.lines)):
        wide, y = LETTER * len(label.text + TICK * choice), words.y - LEADING * number
        x = words.x if words.anchor == "start" else words.x - wide
        yield x, y - 9, x + wide, y + 1
