"""Panels of a scene, of a bench, and of a fault: each has a film, a snapshot, and data to play."""

import pytest

from workbook.lessons.plays.pages import PANELS
from workbook.lessons.session import session
from workbook.lessons.widgets.panels import Panels, film_of
from workbook.play.platform_a import PlatformARun

SESSION = session()

SOURCES = {
    "walk": SESSION.platform_a.play,
    "open_card": SESSION.platform_a.open_page,
    "in_app": SESSION.platform_b.play,
    "wallet": SESSION.wallet.play,
    "watch": lambda: SESSION.wallet.play_both()[1],
    "fault": SESSION.break_it,
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=list(SOURCES))
def test_every_scene_has_its_panels(make):
    scene = make()
    film = film_of(scene)
    assert film.machine is scene.machine
    assert [str(record.after) for record in scene.trace][-1] == film.frames[-1].state
    played = Panels(scene, *PANELS).widget().player_data
    assert len(played["frames"]) == len(played["exchange"]["rows"]) == len(film.frames)


def test_a_bench_that_has_run_will_do():
    bench = PlatformARun()
    bench.walk()
    assert film_of(bench).frames[-1].state == "in the wallet"


@pytest.mark.parametrize(
    ("scene", "held"),
    [
        (lambda: SESSION.platform_a.play("card already in the wallet"), 1),
        (SESSION.platform_a.play, 0),
        (lambda: SESSION.platform_b.play("card on both"), 1),
    ],
)
def test_the_film_begins_with_the_cards_that_were_there_before(scene, held):
    assert len(film_of(scene()).first.on_phone) == held


def test_a_watch_is_in_the_picture_where_one_is_paired():
    assert film_of(SESSION.platform_b.play("with a watch")).first.on_watch == frozenset()
    assert film_of(SESSION.platform_a.play()).first.on_watch is None
    assert film_of(SESSION.wallet.play_both()[1]).first.surface == "watch"


@pytest.mark.parametrize(
    ("panel", "words"),
    [("phone", "Phone:"), ("exchange", "Cardholder → Wallet app: opens"), ("states", "States:"), ("timing", "Timing:")],
)
def test_one_panel_alone(panel, words):
    shown = Panels(SESSION.wallet.play(), panel)
    assert words in repr(shown)
    assert shown.widget().panels == list(shown.shown)
    assert shown.widget() is shown.widget()


def test_all_panels_tell_the_findings_too():
    assert "A-BTN-1" in repr(Panels(SESSION.platform_a.play(taps=3, guarded=False), *PANELS))
