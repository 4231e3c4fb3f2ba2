"""A strict lesson has the same verdict in each program that runs notebooks: papermill, Jupyter's own, nbmake, nbval."""

import os
import subprocess
import sys

import pytest

from workbook.errors import ExitCode
from workbook.tools.commands.runner.run import RunOutcome, RunRequest, run

pytestmark = pytest.mark.slow

FAILED = "0 of 1 checks hold: ✗ seven is even (A-CAN-2)"
STRICT = {"WORKBOOK_STRICT": "1"}
RUNNERS = {
    "papermill": ("papermill {} - -p strict True --no-progress-bar", {}),
    "jupyter": ("jupyter execute {}", STRICT),
    "nbmake": ("pytest -p no:nbval -p no:schemathesis --nbmake {}", STRICT),
    "nbval": ("pytest -p no:nbmake -p no:schemathesis --nbval-lax {}", STRICT),
}


@pytest.fixture(scope="module")
def books(make_books):
    """A good lesson, and one that has a false check which its cell does not show."""
    books = make_books()
    for word, holds in (("odd", True), ("even", False)):
        begin = f"import workbook as wb\nsession = wb.session(globals())\nfact = wb.check('seven is {word}', {holds}, "
        books.add(word, begin + "rule='A-CAN-2')", "wb.check()", parameters="strict = False")
    return books.directory


def end(runner, word, books):
    """The exit code of this program on this lesson, and what it printed."""
    words, strict = RUNNERS[runner]
    line = [sys.executable, "-m", *words.format(f"{word}.ipynb").split()]
    done = subprocess.run(
        line, cwd=books, env=os.environ | strict, capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    "runner", ["jupyter", *(pytest.param(name, marks=pytest.mark.nightly) for name in RUNNERS if name != "jupyter")]
)
def test_a_false_check_fails_it_and_is_named_and_a_good_lesson_passes(books, runner):
    code, told = end(runner, "odd", books)
    assert code == 0, told
    code, told = end(runner, "even", books)
    assert code == 1
    assert FAILED in told


@pytest.mark.parametrize(("given", "why"), [({}, "a check failed"), ({"strict": "True"}, FAILED)], ids=["", "strict"])
def test_workbook_run_says_the_same_with_and_without_strict(books, tmp_path, given, why):
    report = run(RunRequest(["even"], given, out=tmp_path / "report", notebooks=books))
    assert report.runs[0].outcome == RunOutcome(ExitCode.FAILED, why)
