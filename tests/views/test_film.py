from itertools import pairwise

from workbook.flows import messages as m
from workbook.lessons.script import Script, play
from workbook.views.screen import Sheet

TAPPED = Script().then("tap", 0.52)
WALLET = Script("from the wallet").then("choose app", 0.2).then("choose card", 1.0, "PISIMULATED00000000000001")


def test_every_line_of_the_diagram_is_a_frame():
    shown = play(TAPPED).film
    assert len(shown.frames) == len(shown.sequence.lines) > 20
    assert [frame.at for frame in shown.frames] == [line.at for line in shown.sequence.lines]
    assert all(line.label in frame.caption for frame, line in zip(shown.frames, shown.sequence.lines, strict=True))


def test_a_frame_says_where_the_flow_is_and_what_moved_it():
    shown = play(TAPPED).film
    states = {state.value for state in shown.machine.states}
    assert {frame.state for frame in shown.frames} <= states
    moves = [frame.moved for frame in shown.frames if frame.moved]
    assert moves[0][0] == shown.machine.initial.value
    assert all(first[1] == second[0] for first, second in pairwise(moves))
    assert moves[-1][1] == "in the wallet"


def test_a_refused_event_changes_neither_screen_nor_state():
    shown = play(Script().then("tap", 0.01)).film
    refused = [number for number, line in enumerate(shown.sequence.lines) if line.shape == "refused"]
    assert refused
    for number in refused:
        assert shown.frames[number].moved is None or shown.frames[number].moved[0] == shown.frames[number].moved[1]
        assert shown.frames[number].screen == shown.frames[number - 1].screen


def test_a_film_can_be_cut_after_an_event():
    whole = play(WALLET.then("confirm", 2.0)).film
    cut = whole.until(m.AuthorizationUiShown)
    assert cut.frames == whole.frames[: len(cut.frames)]
    assert cut.frames[-1].event is m.AuthorizationUiShown
    assert len(cut.sequence.lines) == len(cut.frames)
    assert whole.until(m.AddTapped) is whole
    assert whole.until(m.AuthorizationUiShown, 2) is whole


def test_nobody_is_asked_any_more_once_the_delegate_works():
    shown = play(Script("platform B").then("tap", 1.0)).film
    sheets = [frame.screen.sheet for frame in shown.frames if frame.event is m.DelegateProvisionWithIdCalled]
    assert sheets == [Sheet.ADDING]
    asked = [frame.event for frame in shown.frames if frame.screen.sheet is Sheet.UP]
    assert asked == [m.StartCalled]
