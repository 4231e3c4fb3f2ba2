"""What `show` makes of each kind of thing, and what it says of a thing that it does not know."""

from pathlib import Path

import pytest

import workbook as wb
from workbook.errors import ParameterError
from workbook.lessons.display import LOOK_UPS
from workbook.lessons.widgets.panels import Panels

RUN = wb.session().platform_a.play(taps=2, guarded=False)


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (RUN, "How it ended"),
        (RUN.trace, RUN.trace.title),
        (wb.session().platform_a.create().card_provisioning, "CardProvisioning.create"),
        (RUN.findings, "A-BTN-1"),
        ([], "Nothing to report"),
    ],
)
def test_each_kind_of_thing_has_its_view(thing, words):
    assert words in wb.show(thing).text()


@pytest.mark.parametrize("part", ["messages", "findings"])
def test_a_trace_has_the_parts_of_its_own(part):
    assert wb.show(RUN, part).text() == wb.show(RUN.trace, part).text()


@pytest.mark.parametrize(
    ("part", "panels"), [("phone", ["phone"]), ("limits", ["timing"]), ("all", "phone exchange states timing findings")]
)
def test_a_run_has_panels(part, panels):
    shown = wb.show(RUN, part)
    assert isinstance(shown, Panels)
    assert list(shown.shown) == (panels if isinstance(panels, list) else panels.split())


@pytest.mark.parametrize(
    ("thing", "part", "told"),
    [
        (7, "", "show does not know 7"),
        (Path, "messages", "has no messages, states or findings"),
        (RUN, "message", "Did you mean 'messages'"),
        (RUN.trace, "states", "'states' needs a run"),
    ],
)
def test_what_cannot_be_shown_is_explained(thing, part, told):
    with pytest.raises(ParameterError, match=told):
        wb.show(thing, part)


@pytest.mark.parametrize("name", LOOK_UPS)
def test_every_table_can_be_looked_up(name):
    assert wb.table(name).text()


def test_a_table_that_takes_no_such_choice_says_so():
    with pytest.raises(ParameterError, match="does not take these arguments"):
        wb.table("faults", colour="red")
