"""Live panels: each has a film, data to play and a stored form, and does not believe a browser."""

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from workbook.lessons.pages import PANELS
from workbook.lessons.session import session
from workbook.lessons.widgets.chooser import Chooser
from workbook.lessons.widgets.panels import WAKE, Live, Panels, Player, film_of
from workbook.lessons.widgets.stage import stage
from workbook.play.platform_a import PlatformARun
from workbook.views.table import Snapshot

SESSION = session()
SOURCES = {
    "walk": SESSION.platform_a.play,
    "open_card": SESSION.platform_a.open_page,
    "in_app": SESSION.platform_b.play,
    "wallet": SESSION.wallet.play,
    "watch": lambda: SESSION.wallet.play(surface="watch"),
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
    assert film_of(SESSION.wallet.play(surface="watch")).first.surface == "watch"


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


WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Thing(Live):
    def __init__(self):
        self.made = ipywidgets.HTML("live")

    def snapshot(self):
        return Snapshot("stored", "<p>stored</p>")

    def make_widget(self):
        return self.made


@pytest.fixture
def displayed():
    InteractiveShell.instance()
    yield _outputs
    InteractiveShell.clear_instance()


def _outputs(shown):
    with capture_output() as captured:
        shown._ipython_display_()
    return [output.data for output in captured.outputs]


def test_a_notebook_gets_a_snapshot_and_a_view(displayed):
    stored, view = displayed(Thing())
    assert set(stored) == {"text/plain", "text/html"}
    assert stored["text/plain"] == "stored"
    assert "<p>stored</p>" in stored["text/html"]
    assert set(view) == {"text/plain", WIDGET_VIEW}
    assert view["text/plain"] == WAKE


def test_whoever_asks_for_its_forms_gets_what_is_stored():
    assert set(Thing()._repr_mimebundle_()) == {"text/plain", "text/html"}


EVERYTHING = {
    "chooser": lambda: Chooser(SESSION.platform_a.play, taps=[1, 2]),
    "panels": lambda: Panels(SESSION.platform_a.play(), *PANELS),
    "stage": lambda: stage("from the wallet"),
}


@pytest.mark.parametrize("make", EVERYTHING.values(), ids=list(EVERYTHING))
def test_what_is_stored_is_the_same_every_time(make):
    one, other = make()._repr_mimebundle_(), make()._repr_mimebundle_()
    assert one == other
    assert " at 0x" not in "".join(map(str, one.values())) + repr(make())
    assert "<script" not in one["text/html"]


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
