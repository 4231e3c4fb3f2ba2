import json
from dataclasses import replace

import pytest

from workbook.lessons.exercises.model import exercise_named
from workbook.tools.commands.runner.render import render

pytestmark = pytest.mark.slow

NOISY = """
import os, sys
from IPython.display import display
print("one"); print("two")
display({"application/vnd.jupyter.widget-view+json": {"model_id": "x"}, "text/plain": "kept"}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": "x"}}, raw=True)
print(sorted(name for name in os.environ if name.startswith("WORKBOOK_")), os.environ["PYTHONHASHSEED"])
{"é": hash("stable")}
"""


@pytest.fixture
def book(books):
    path = books.add("00_book", "", NOISY, "x = 1", "x")
    content = json.loads(path.read_text())
    content["cells"][1]["metadata"] = {"tags": ["keep"], "execution": {"a": "b"}, "papermill": {}}
    content["cells"][2]["id"] = "cell-04"
    del content["cells"][3]["id"]
    content["metadata"]["widgets"] = {"state": {}}
    path.write_text(json.dumps(content))
    return path


def test_rendering_gives_the_same_bytes_every_time(book, monkeypatch):
    monkeypatch.setenv("WORKBOOK_BASE_URL", "https://example.org")
    (written,) = render([book], limit=60)
    assert written.written
    assert str(written) == "written  00_book"
    before = book.read_bytes()
    (again,) = render([book], limit=60)
    assert not again.written
    assert book.read_bytes() == before
    assert str(again) == "same     00_book"
    assert [path.name for path in book.parent.iterdir()] == ["00_book.ipynb"]
    _is_settled(book.read_text("utf-8"))


def _is_settled(text):
    content = json.loads(text)
    assert text == json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert content["metadata"] == {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    empty, noisy, _, last = content["cells"]
    assert (empty["execution_count"], empty["outputs"]) == (None, [])
    assert noisy["metadata"] == {"tags": ["keep"]}
    assert [cell["execution_count"] for cell in content["cells"]] == [None, 1, 2, 3]
    assert [cell["id"] for cell in content["cells"][2:]] == ["cell-04", "cell-04-2"]
    assert last["outputs"][0]["execution_count"] == 3
    stream, shown, result = noisy["outputs"]
    assert stream["text"] == ["one\n", "two\n", "['WORKBOOK_UNATTENDED'] 0\n"], (
        "no setting but this: a rendering is no learner"
    )
    assert shown["data"] == {"text/plain": ["kept"]}
    assert result["data"]["text/plain"][0].startswith("{'é': ")


def test_a_notebook_that_fails_is_named_and_left_alone(books):
    wrong = {
        "00_raises": ("x = 1\nx/0", "ZeroDivisionError in the cell that begins 'x = 1': division by zero"),
        "01_stuck": ("import time; time.sleep(600)", "took longer than 10 s"),
    }
    paths = [books.add(name, source) for name, (source, _) in wrong.items()]
    broken = books.directory / "02_broken.ipynb"
    broken.write_text("[]")
    before = [path.read_bytes() for path in [*paths, broken]]
    rendered = render([*paths, broken], limit=10)
    assert [each.error for each in rendered[:2]] == [told for _, told in wrong.values()]
    assert rendered[2].error.startswith("not a notebook")
    assert str(rendered[0]).startswith("error    00_raises")
    assert [path.read_bytes() for path in [*paths, broken]] == before


@pytest.mark.rule("REL-2")
def test_the_environment_of_a_rendering_is_nobodys(books, monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "canary-0123456789")
    monkeypatch.setenv("WORKBOOK_STRICT", "1")
    shown = "import os; sorted({'WORKBOOK_API_KEY', 'WORKBOOK_STRICT'} & {*os.environ}), os.environ['PYTHONHASHSEED']"
    path = books.add("00_environment", shown)
    assert render([path], limit=60)[0].error is None
    assert "([], '0')" in path.read_text()


@pytest.mark.rule("REL-2")
def test_an_error_with_the_key_in_it_is_told_without_it(books, monkeypatch):
    """The notebook has it from a file. A part of it would not be found, so it goes before the text is cut."""
    monkeypatch.setenv("WORKBOOK_API_KEY", "canary-0123456789")
    path = books.add("00_raises", "raise ValueError('x' * 295 + 'canary-' + '0123456789')")
    assert render([path], limit=60)[0].error.endswith(f"{'x' * 295}[key]")


UNTOUCHED = 'import workbook as wb\nwb.exercise("05.2", ...)'


def exercised(books, source=UNTOUCHED, **metadata):
    """A notebook whose second cell is that of an exercise."""
    path = books.add("05_lesson", "import workbook as wb", source)
    content = json.loads(path.read_text())
    content["cells"][1]["id"] = "exercise-05-2"
    content["metadata"] |= metadata
    path.write_text(json.dumps(content))
    return path


def test_the_exercises_of_a_lesson_are_filled_in_and_both_editions_proved(books):
    path = exercised(books)
    (done,) = render([path], limit=60)
    assert (done.error, done.written) == (None, True)
    cell = json.loads(path.read_text())["cells"][1]
    assert "".join(cell["source"]) == exercise_named("05.2").skeleton
    assert cell["outputs"][0]["data"]["text/plain"][0].startswith("○ 05.2 not yet: X-STATUS-3")


@pytest.mark.parametrize(
    ("edition", "error"),
    [
        pytest.param("solved", "exercise-05-2 is not done; it shows: ✗ 05.2 not yet", marks=pytest.mark.nightly),
        ("learner", None),
    ],
)
def test_a_copy_is_run_as_it_is(books, edition, error):
    mine = 'wb.exercise("05.2", 7)'
    path = exercised(books, mine, workbook_edition=edition)
    (done,) = render([path], limit=60)
    assert (done.error or "").startswith(error or "")
    assert bool(done.error) is bool(error)
    content = json.loads(path.read_text())
    assert "".join(content["cells"][1]["source"]) == mine
    assert content["metadata"]["workbook_edition"] == edition


def test_a_solution_that_is_not_accepted_stops_the_rendering(books, monkeypatch):
    wrong = replace(exercise_named("05.2"), solution='wb.exercise("05.2", int)')
    monkeypatch.setattr("workbook.lessons.exercises.editions.exercise_named", lambda _id: wrong)
    (done,) = render([exercised(books)], limit=60)
    assert done.error.startswith("exercise-05-2 is not done; it shows: ✗ 05.2")


def test_edits_made_while_a_notebook_ran_are_not_lost(books):
    path = books.add("00_edited", "import pathlib; pathlib.Path('00_edited.ipynb').write_text('mine')")
    (result,) = render([path], limit=60)
    assert result.error == "it was edited while it ran, so nothing was written. Render it again."
    assert path.read_text() == "mine"
