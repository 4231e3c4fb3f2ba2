"""Panels of a scene, of a bench, and of a fault: each has a film, a snapshot, and a reel to play."""

import pytest

from workbook.benches.bench_a import Bench
from workbook.scenes.faults import break_it
from workbook.scenes.platform_a import open_card, walk
from workbook.scenes.platform_b import add_from_wallet, add_in_app, side_by_side
from workbook.widgets.panels import exchange, film_of, panels, screens, states, timing

SOURCES = {
    "walk": walk,
    "open_card": open_card,
    "in_app": add_in_app,
    "wallet": add_from_wallet,
    "watch": lambda: side_by_side()[1],
    "fault": break_it,
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=list(SOURCES))
def test_every_scene_has_its_panels(make):
    scene = make()
    film = film_of(scene)
    assert film.machine is scene.machine
    assert [str(record.after) for record in scene.trace][-1] == film.frames[-1].state
    played = panels(scene).widget().reel
    assert len(played["frames"]) == len(played["exchange"]["rows"]) == len(film.frames)


def test_a_bench_that_has_run_will_do():
    bench = Bench()
    bench.walk()
    assert film_of(bench).frames[-1].state == "in the wallet"


@pytest.mark.parametrize(
    ("scene", "held"),
    [
        (lambda: walk("card already in the wallet"), 1),
        (walk, 0),
        (lambda: add_in_app("card on both"), 1),
    ],
)
def test_the_film_begins_with_the_cards_that_were_there_before(scene, held):
    assert len(film_of(scene()).first.on_phone) == held


def test_a_watch_is_in_the_picture_where_one_is_paired():
    assert film_of(add_in_app("with a watch")).first.on_watch == frozenset()
    assert film_of(walk()).first.on_watch is None
    assert film_of(side_by_side()[1]).first.surface == "watch"


@pytest.mark.parametrize(
    ("make", "words"),
    [(screens, "Phone:"), (exchange, "Wallet app  Extension"), (states, "States:"), (timing, "Timing:")],
)
def test_one_panel_alone(make, words):
    shown = make(add_from_wallet())
    assert words in repr(shown)
    assert shown.widget().panels == list(shown.shown)
    assert shown.widget() is shown.widget()


def test_all_panels_tell_the_findings_too():
    assert "A-BTN-1" in repr(panels(walk(taps=3, guarded=False)))
