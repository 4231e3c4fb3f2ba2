"""An exercise's questions below its cell: chosen, judged, kept."""

from types import SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter

import workbook as wb
from workbook.lessons import session
from workbook.lessons.exercises.model import EXERCISE_MIMETYPE
from workbook.lessons.exercises.progress import PROGRESS, Progress
from workbook.lessons.widgets.chooser import Form

ANSWERS = {"posts": "Back end", "makes_sdk_output": "SDK", "wallet_needs": "POST", "button": "disabled"}


@pytest.fixture
def form(tmp_path, monkeypatch):
    """The form of exercise 00.1 in a learner's copy."""
    (tmp_path / PROGRESS).write_text(Progress.begun().text())
    monkeypatch.chdir(tmp_path)
    return Form(wb.exercise("00.1", **dict.fromkeys(ANSWERS, ...)))


def answer(form, **answers):
    """Choose these answers, and press the button where it is enabled; what the form then says."""
    *rows, button, _keys, result = form.widget().children
    for row, name in zip(rows, ANSWERS, strict=True):
        row.children[1].value = answers.get(name)
    if not button.disabled:
        button.click()
    return result.value


def test_a_form_is_judged_once_every_question_has_an_answer(form):
    assert "then press Check" in answer(form, posts="Back end")
    assert "posts=&#x27;App&#x27;" in answer(form, **ANSWERS | {"posts": "App"})
    assert "done." in answer(form, **ANSWERS)
    assert "wb.exercise(&quot;00.1&quot;, posts=&#x27;Back end&#x27;" in form.widget().children[-1].value
    kept = Progress.read(form.feedback.file).exercises["00.1"]
    assert (kept.attempts, kept.passed is None) == (2, False)


def test_what_is_stored_is_the_verdict_on_the_cell(form):
    stored = form._repr_mimebundle_()
    assert stored["text/plain"].startswith("○ 00.1 not yet")
    assert stored[EXERCISE_MIMETYPE] == {"id": "00.1", "state": "untouched"}


def test_only_open_questions_are_shown_as_a_form(form, monkeypatch):
    shown = []
    monkeypatch.setattr(Form, "_ipython_display_", lambda form: shown.append(form.feedback.exercise.id))
    monkeypatch.delenv("WORKBOOK_UNATTENDED", raising=False)
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    session.teach(shell)
    display = shell.display_formatter.format
    assert "text/plain" in display(wb.exercise("00.1", **ANSWERS))[0]
    assert "text/plain" in display(wb.exercise("05.2", wb.ReferenceHandler))[0]
    assert shown == []
    assert display(form.feedback) == ({}, {})
    assert shown == ["00.1"]
