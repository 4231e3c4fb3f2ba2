"""A measurement to look at: the figures are live, and what is stored is the same on every run."""

import pytest

from workbook.checks.timing.measured import measure
from workbook.lessons.widgets.panels import Here
from workbook.play.extension.handler import ReferenceHandler


def here(takes):
    ticks = iter(range(0, 10**12, takes))
    return Here(measure(ReferenceHandler, warm=2, cold=1, sleep=lambda _s: None, stopwatch=lambda: next(ticks)))


@pytest.mark.slow
def test_what_is_stored_is_the_same_whatever_was_measured():
    fast, slow = here(10)._repr_mimebundle_(), here(10_000_000)._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert fast[kind] == slow[kind]
        assert "shown live and not stored" in fast[kind]
    assert "0 network calls in each status(), as its trace shows" in fast["text/plain"]


def test_the_figures_are_in_the_live_widget():
    shown = here(10_000_000)
    assert "median 10 ms" in shown.widget().value
    assert "Durations: status(), measured here" in shown.widget().value
    assert "shown live and not stored" in shown.widget().value
