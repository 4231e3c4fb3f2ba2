"""Every way a notebook can end, with real kernels, in one run."""

import io
import json
import sys
import time
from xml.etree import ElementTree as ET

import pytest

from workbook.errors import ConfigurationError, ExitCode, ParameterError
from workbook.lessons.exercises.model import exercise_named
from workbook.tools.commands.runner.run import CheckResult, RunOutcome, RunRequest, raised, read_checks, run

pytestmark = pytest.mark.slow

CANARY = "canary-0123456789"
LIMIT = 15.0
CHECK = "from workbook.lessons.lesson import check\n"
STUCK = """
import os, pathlib, signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
pathlib.Path("pids").write_text(f"{os.getpid()} {child.pid}")
while True:
    try:
        while True: pass
    except KeyboardInterrupt:
        pass
"""
LEAK = """
import base64, json
key = "canary-0123456789"
print(key, json.dumps(key), base64.b64encode(f"x{key}".encode()).decode())
"""


@pytest.fixture(scope="module")
def finished(make_books):
    """The report of one run over every kind, its directory, and what stderr was told."""
    books = make_books()
    books.add("00_ok", CHECK + "check('same python', True, rule='A-CAN-2')", "import sys; print(sys.executable)")
    books.add("01_fails", CHECK + "check('a', False, otherwise='b')", CHECK + "check('c', True)")
    books.add("02_raises", "raise ValueError('canary-0123456789\\x00\\x1b[31m' + 'x' * 999)", "print('never')")
    books.add("03_stuck", STUCK)
    books.add("04_dies", CHECK + "check('before', True)", "import os; os._exit(1)")
    books.add("05_exits", "import sys; sys.exit(0)", CHECK + "check('never', False)")
    books.add("06_leaks", LEAK)
    books.add("07_given", "print(seed, payment_instrument_id)", parameters="seed = 1\npayment_instrument_id = 'PI'")
    (books.directory / "08_broken.ipynb").write_text("{")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBOOK_API_KEY", CANARY)
        begun = time.monotonic()
        report = run(
            RunRequest(
                out=books.directory.parent / "report",
                notebooks=books.directory,
                limit=LIMIT,
            )
        )
    return report, books.directory, time.monotonic() - begun


def outcome(finished, name):
    return next(each for each in finished[0].runs if each.name == name)


def executed(finished, name):
    return (finished[1].parent / "report" / f"{name}.ipynb").read_text()


def test_a_good_notebook_passes_in_this_interpreter(finished):
    good = outcome(finished, "00_ok")
    assert good.outcome == RunOutcome(ExitCode.OK)
    assert good.checks == (CheckResult("same python", passed=True, rule="A-CAN-2"),)
    assert json.dumps(sys.executable)[1:-1] in executed(finished, "00_ok")


def test_a_failed_check_does_not_stop_the_notebook(finished):
    bad = outcome(finished, "01_fails")
    assert bad.outcome == RunOutcome(ExitCode.FAILED, "a check failed")
    assert [check.passed for check in bad.checks] == [False, True]


def test_an_error_is_one_line_and_names_its_cell(finished):
    error = outcome(finished, "02_raises").outcome
    assert (error.status, error.exit_code) == ("error", 3)
    assert error.why.startswith("ValueError in the cell that begins \"raise ValueError('[key]")
    assert (
        str(outcome(finished, "02_raises")).count("ValueError in the cell that begins \"raise ValueError('[key]") == 1
    )
    assert len(error.why.split('": ', 1)[1]) == 300
    assert "\x1b" not in error.why


def test_a_stuck_kernel_is_killed_with_what_it_started(finished, is_alive):
    stuck = outcome(finished, "03_stuck").outcome
    assert (stuck.status, stuck.exit_code) == ("time-limit", 4)
    assert stuck.why == "took longer than 15 s; its kernel was killed (--time-limit allows more)"
    assert outcome(finished, "03_stuck").seconds < 4 * LIMIT
    pids = [int(pid) for pid in (finished[1] / "pids").read_text().split()]
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


def test_a_dead_kernel_keeps_what_was_checked_before(finished):
    dead = outcome(finished, "04_dies")
    assert (dead.outcome.status, dead.outcome.exit_code) == ("kernel-died", 5)
    assert dead.checks == (CheckResult("before", passed=True),)


def test_leaving_early_is_not_a_success(finished):
    assert outcome(finished, "05_exits").outcome == raised("SystemExit", "a cell ended the notebook early")


def test_a_key_in_an_output_is_removed_and_fails_the_notebook(finished):
    leak = outcome(finished, "06_leaks")
    assert leak.outcome.status == "check-failed"
    assert leak.checks == (CheckResult("no key in the executed notebook", passed=False),)
    assert "[key]" in executed(finished, "06_leaks")
    json.loads(executed(finished, "06_leaks"))


def test_no_file_of_the_report_holds_the_key(finished):
    written = list((finished[1].parent / "report").iterdir())
    assert len(written) == 12
    for path in written:
        text = path.read_text()
        assert CANARY not in text, path.name
        assert "Y2FuYXJ5" not in text
        assert "NhbmFyeS0w" not in text


def test_defaults_stay_when_nothing_is_given(finished):
    assert "1 PI\\n" in executed(finished, "07_given")


def test_a_broken_file_is_an_error(finished):
    assert outcome(finished, "08_broken").outcome.status == "error"


def test_the_worst_decides_and_the_files_say_the_same(finished):
    report, directory, _ = finished
    content = json.loads((directory.parent / "report" / "run.json").read_text())
    assert content["about"]["exit_code"] == report.exit_code == 5
    assert [each["status"] for each in content["details"]["notebooks"]] == [
        "ok",
        "check-failed",
        "error",
        "time-limit",
        "kernel-died",
        "error",
        "check-failed",
        "ok",
        "error",
    ]
    suites = ET.parse(directory.parent / "report" / "junit.xml").getroot()
    assert [suite.get("name") for suite in suites] == [f"run.{each.name}" for each in report.runs]


def test_nothing_in_the_report_says_where_it_was_made(finished):
    folder = finished[1].parent
    for path in (folder / "report").iterdir():
        assert str(folder) not in path.read_text(), path.name
    page = (folder / "report" / "index.html").read_text()
    assert "<h1>7 of 9 notebooks failed.</h1>" in page
    assert "workbook run 03_stuck --notebooks notebooks --time-limit 15" in page
    assert "signal.signal(signal.SIGTERM, signal.SIG_IGN)" in page


def test_only_declared_parameters_are_injected(books):
    books.add("00_one", "print(seed, payment_instrument_id)", parameters="seed = 1\npayment_instrument_id = 'PI'")
    books.add("01_two", "print(sorted(name for name in globals() if name == 'seed'))", parameters="variant_a = 'x'")
    out = books.directory.parent / "odd {name}"
    given = {"seed": "9", "payment_instrument_id": "0012345", "variant_a": "before-0.4.0"}
    report = run(RunRequest(given=given, out=out, notebooks=books.directory))
    assert [each.outcome for each in report.runs] == [RunOutcome(ExitCode.OK)] * 2
    assert "9 0012345\\n" in (out / "00_one.ipynb").read_text()
    assert "[]\\n" in (out / "01_two.ipynb").read_text()
    assert report.parameters == given | {"seed": 9}


def test_wrong_requests_run_nothing(books, tmp_path):
    books.add("00_one", "1", parameters="seed = 1")
    wrong = {
        "has the parameter variant_a": {"given": {"variant_a": "from-0.4.0"}},
        "Did you mean 'seed'": {"given": {"sede": "1"}},
        "No notebook": {"names": ["zero"]},
        "above 0": {"limit": float("nan")},
    }
    for told, request in wrong.items():
        with pytest.raises(ParameterError, match=told):
            run(RunRequest(**request, out=tmp_path / "report", notebooks=books.directory))
    assert not (tmp_path / "report").exists()
    (tmp_path / "file").write_text("")
    for out, told in {books.directory: "would overwrite", tmp_path / "file": "cannot be used"}.items():
        with pytest.raises(ConfigurationError, match=told):
            run(RunRequest(out=out, notebooks=books.directory))


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("given", [{}, {"source": "api", "base_url": "https://example.org"}])
def test_a_kernel_has_the_key_only_where_it_is_needed(books, tmp_path, monkeypatch, given):
    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    told = f"import os\ncheck('as it should be', ('WORKBOOK_API_KEY' in os.environ) is {bool(given)})"
    books.add("00_key", CHECK + told, parameters="source = 'simulated'\nbase_url = None")
    report = run(RunRequest(given=given, out=tmp_path / "report", notebooks=books.directory))
    assert report.runs[0].checks == (CheckResult("as it should be", passed=True),)


def test_a_terminal_gets_a_bar_and_a_line_without_the_key(books, tmp_path, monkeypatch):
    books.add("00_raises", f"raise ValueError({CANARY!r})")
    stderr = io.StringIO()
    stderr.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stderr)
    run(RunRequest(out=tmp_path / "report", notebooks=books.directory, environ={"WORKBOOK_API_KEY": CANARY}))
    assert "0/1" in stderr.getvalue()
    assert "[key]" in stderr.getvalue()
    assert CANARY not in stderr.getvalue()


@pytest.mark.parametrize("data", [None, [], {"name": "a"}, {"name": "a", "passed": 1, "rule": None}])
def test_a_check_that_cannot_be_read_is_failed(data):
    outputs = [{"data": {"application/vnd.workbook.check+json": data}}]
    text = json.dumps({"cells": [{"outputs": outputs}, {"cell_type": "markdown"}]})
    assert [check.passed for check in read_checks(text)] == [False]


def test_a_real_api_without_its_settings_is_refused_before_anything_runs(tmp_path):
    request = RunRequest(names=[], given={"source": "api"}, out=tmp_path / "out", notebooks=None, limit=60)
    with pytest.raises(ConfigurationError, match="WORKBOOK_BASE_URL"):
        run(request)
    assert not (tmp_path / "out").exists()


def test_an_exercise_is_reported_and_never_decides_the_exit_code(books, tmp_path):
    own = exercise_named("05.2")
    books.add("05_lesson", 'import workbook as wb\nwb.exercise("05.2", 7)')
    books.add("06_lesson", 'import workbook as wb\nwb.exercise("05.2", 7)', own.solution)
    report = run(RunRequest(out=tmp_path / "report", notebooks=books.directory))
    assert report.exit_code == 0
    assert [dict(ended.exercises) for ended in report.runs] == [{"05.2": "wrong"}, {"05.2": "done"}]


def test_an_executed_notebook_that_was_cut_is_an_error_of_it(books, tmp_path, monkeypatch):
    def cut(_notebook, executed, *_given):
        executed.write_text('{"cells": [')
        return RunOutcome(ExitCode.OK)

    monkeypatch.setattr("workbook.tools.commands.runner.run._execute", cut)
    books.add("00_cut", "1 + 1")
    report = run(RunRequest(out=tmp_path / "report", notebooks=books.directory))
    assert report.runs[0].outcome.why == "JSONDecodeError: the executed notebook cannot be written: it is not whole"
    assert (tmp_path / "report" / "run.json").exists()
