"""Two outputs: what is stored, and what lives as long as the kernel."""

import ipywidgets
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from workbook.lessons.plays.pages import PANELS
from workbook.lessons.session import session
from workbook.lessons.widgets.chooser import Chooser
from workbook.lessons.widgets.panels import WAKE, Live, Panels
from workbook.lessons.widgets.stage import stage
from workbook.views.table import Snapshot

SESSION = session()

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
