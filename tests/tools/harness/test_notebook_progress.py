"""A run in a notebook shows a bar, where there is enough to wait for."""

import sys
from types import SimpleNamespace

import pytest
import ran

import workbook as wb
from workbook.errors import ParameterError
from workbook.tools.harness.notebook import Cell, cell_progress


@pytest.fixture
def displayed(monkeypatch):
    """What a cell would display."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, **_how: found.append(bundle))
    return found


def test_each_case_advances_the_bar_and_the_end_takes_it_away(displayed):
    progress = Cell()
    progress.begin(100)
    for _ in range(3):
        progress.ended(ran.result())
    assert (progress.bar.value, progress.bar.max, progress.label.value) == (3, 100, "3 of 100 cases")
    progress.close()
    assert progress.view.comm is None
    (bundle,) = displayed
    assert bundle["text/plain"] == "A bar showed the progress of 100 cases."
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_few_cases_have_none(displayed):
    progress = Cell()
    progress.begin(99)
    progress.ended(ran.result())
    progress.close()
    assert displayed == []


def test_only_a_kernel_is_a_notebook(monkeypatch):
    assert cell_progress() is None
    for shell, expected in ((SimpleNamespace(kernel=object()), True), (SimpleNamespace(), False), (None, False)):
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda shell=shell: shell))
        assert isinstance(cell_progress(), Cell) is expected


def test_the_report_is_shown_whole_and_can_be_saved():
    result = wb.conform(wb.Relay, "relay.get.path")
    shown = wb.show(result, "report")
    assert result.report.startswith("<!doctype html>") or result.report.startswith("<!DOCTYPE html>")
    assert "conform.html" in shown.snapshot().text()
    value = shown.widget().value
    assert 'download="conform.html"' in value
    assert "srcdoc=" in value
    assert "relay.get.path" in value


def test_what_has_no_report_is_explained():
    with pytest.raises(ParameterError, match=r"has no report\. Give a result of wb\.conform"):
        wb.show(wb.session().platform_a.play(), "report")
