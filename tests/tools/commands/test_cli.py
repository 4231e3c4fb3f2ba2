import base64
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path
from platform import python_version

import pytest

from workbook.base.terminal import ending_signals
from workbook.lessons.exercises.progress import Progress
from workbook.simulation.contract import contract
from workbook.tools.commands import cli, end_like_ctrl_c

ROOT = Path(__file__).resolve().parents[3]
CANARY = "canary-0123456789"


def command(*words, **environ):
    return subprocess.run(
        [sys.executable, "-m", "workbook", *words],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", ["lab", "serve", "serve --tls", "proxy --to http://127.0.0.1:1", "phone --out x"])
def test_a_port_that_there_is_not_is_refused_before_anything_is_written(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main([*words.split(), "--port", "99999"]) == 2
    assert "There is no port 99999. Choose one up to 65535, or 0 for any free one." in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("word", ["--help", "rules"])
def test_nothing_heavy_is_imported(word):
    code = (
        f"import sys; from workbook.tools.commands.cli import main; main([{word!r}]);"
        "print(sorted(sys.modules.keys() & {'papermill', 'nbformat', 'httpx', 'pandas', 'uvicorn', 'tqdm', 'asyncio'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rnu"], "No command 'rnu'. Did you mean 'run'?"),
        (["run", "--frob"], "unrecognized arguments: --frob. Try: workbook run --help"),
        (["run", "--hlep"], "unrecognized arguments: --hlep. Did you mean '--help'? Try: workbook run --help"),
        (["serve", "--sede", "7"], "unrecognized arguments: --sede 7. Did you mean '--seed'?"),
        (["run", f"--api-key={CANARY}"], "unrecognized arguments: --api-key. Try: workbook run --help"),
        (["doctor", "me"], "unrecognized arguments: me. Try: workbook doctor --help"),
        (["--hlep"], "unrecognized arguments: --hlep. Did you mean '--help'? Try: workbook --help"),
        (["run", "1"], "No notebook '1'. Notebooks: 00_start_here, "),
        (["sdk-output", "PISIMULATED1"], "No payment instrument 'PISIMULATED1'. Did you mean 'PISIMULATED0"),
        (["serve", "--seed", "x"], "seed is 'x'. Give a whole number from 0 to 4,294,967,295."),
        (["sdk-output", "--seed", "-1"], "seed is '-1'. Give a whole number from 0 to 4,294,967,295."),
        (["serve", "--seed", "4294967296"], "seed is 4294967296. Give a whole number from 0 to 4,294,967,295."),
        (["run", "-p", CANARY], "-p needs NAME=VALUE"),
        (["run", "-p", "seed=1", "-p", "seed=2"], "-p seed was given twice."),
        (["run", "--time-limit", "soon"], "invalid float value: 'soon'"),
        (["render", "--notebooks", "/nowhere"], "No notebooks"),
        (["lab", "--notebooks", "/nowhere"], "No notebooks"),
        (
            ["rules", "ZZ"],
            "API-1, API-2, API-3, API-4, API-5, API-6, API-7, API-8, API-9, API-10, API-11, ",
        ),
        (["rules", "A-CAN-99"], "No rule 'A-CAN-99'. Did you mean"),
        (["serve", "--port", "x"], "invalid int value: 'x'"),
        (["openapi", "--profile", "feild"], "No profile 'feild'. Did you mean 'field'?"),
    ],
)
def test_a_wrong_word_is_one_line_and_exit_code_2(words, told, capsys):
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("workbook: ")
    assert told in shown.err
    assert len(shown.err.splitlines()) == 1
    assert CANARY not in shown.err


def test_a_key_as_a_parameter_is_refused_without_echo(tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text("{}")
    assert cli.main(["run", "--notebooks", str(tmp_path), "-p", f"api_key={CANARY}"]) == 2
    shown = capsys.readouterr().err
    assert "WORKBOOK_API_KEY" in shown
    assert CANARY not in shown


def test_the_version_names_the_workbooks_and_pythons(capsys):
    assert cli.main(["--version"]) == 0
    shown = capsys.readouterr().out
    assert shown == f"workbook {version('provisioning-workbook')} with Python {python_version()}\n"


def test_rules_are_printed(capsys):
    assert cli.main(["rules", "A-CAN-1"]) == 0
    assert capsys.readouterr().out.startswith("A-CAN-1 (must): ")
    assert cli.main(["rules", "a-can-1"]) == 0
    assert capsys.readouterr().out.startswith("A-CAN-1 (must): ")
    assert cli.main(["rules"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 50


@pytest.mark.parametrize("profile", ["spec", "field"])
def test_the_openapi_document_is_printed(profile, capsys):
    for _ in range(2):
        assert cli.main(["openapi", "--profile", profile]) == 0
    told = capsys.readouterr().out
    first = told[: len(told) // 2]
    assert told == first * 2
    assert json.loads(first) == contract(profile).document


@pytest.mark.parametrize("debug", [False, True])
def test_an_unexpected_error_shows_no_traceback_and_no_key(debug, monkeypatch, capsys):
    def broken(_):
        raise RuntimeError(f"two\nlines with {CANARY}")

    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    monkeypatch.setattr(cli, "_dispatch", broken)
    if debug:
        monkeypatch.setenv("WORKBOOK_DEBUG", "1")
    assert cli.main(["run"]) == 255
    shown = capsys.readouterr().err
    assert ("Traceback" in shown) is debug
    assert CANARY not in shown
    if not debug:
        assert shown == (
            "workbook: unexpected RuntimeError: two lines with [key] (WORKBOOK_DEBUG=1 shows the traceback)\n"
        )


class Interrupting:
    """What a signal meets that comes while Python makes a class."""

    def __set_name__(self, owner, name):
        raise KeyboardInterrupt


@pytest.mark.parametrize("making_a_class", [False, True])
def test_ctrl_c_is_130(monkeypatch, capsys, making_a_class):
    def stopped(_):
        if making_a_class:
            type("Any", (), {"field": Interrupting()})
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "parsed", lambda _words: Namespace(handler=stopped))
    monkeypatch.setattr(cli, "end_like_ctrl_c", lambda: None)
    assert cli.main(["run"]) == 130
    assert capsys.readouterr().err == "workbook: interrupted\n"


def test_a_closed_pipe_is_quiet():
    process = subprocess.Popen(
        [sys.executable, "-m", "workbook", "rules"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), told) == (141, b""), told


@pytest.mark.slow
def test_a_whole_run_says_and_writes_no_key(tmp_path):
    cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "a",
        "metadata": {},
        "outputs": [],
        "source": f"import sys\nkey = {CANARY!r}\nprint(key)\n"
        "print('to the terminal', key, file=sys.__stderr__, flush=True)\n"
        "raise ValueError(key)",
    }
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    out = tmp_path / "report"
    done = command("run", "--notebooks", str(tmp_path), "--out", str(out), WORKBOOK_API_KEY=CANARY)
    assert done.returncode == 3
    told = "ValueError in the cell that begins 'import sys': [key]: no key in the executed notebook"
    assert told in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    assert CANARY not in done.stderr + done.stdout
    assert sorted(path.name for path in out.iterdir()) == ["a.ipynb", "index.html", "junit.xml", "run.json", "run.md"]
    assert not any(CANARY in path.read_text() for path in out.iterdir())


def test_lab_opens_a_learners_copy_and_leaves_the_lessons_alone(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbook.tools.commands.lab.Lab.run", lambda lab, tell: opened.append(lab.notebooks) or 0)
    for _time in range(2):
        assert cli.main(["lab", "--no-browser"]) == 0
    assert opened == [tmp_path / "provisioning-workbook" / "notebooks"] * 2
    assert capsys.readouterr().out == "Your copy of the lessons is provisioning-workbook.\n"
    assert Progress.read(tmp_path / "provisioning-workbook" / "progress.json").exercises == {}


def test_what_nohup_switched_off_stays_off():
    interrupted = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_like_ctrl_c()
    assert signal.SIGHUP not in ending_signals()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    assert callable(signal.getsignal(signal.SIGTERM))
    signal.signal(signal.SIGINT, interrupted)


STEERING = "\x1b[2J\x1b]0;taken\x07\u202e\x9b"


def test_no_command_passes_foreign_text_on_to_the_terminal(tmp_path, capsys):
    value = base64.b64encode(json.dumps({STEERING: 1, "nonce\nfail A-1": 2}).encode()).decode()
    (tmp_path / "value").write_text(value)
    project = tmp_path / "project"
    shutil.copytree(ROOT / "fixtures/projects/platform_b", project / f"p{STEERING}\nfail")
    for plist in project.rglob("Info.plist"):
        plist.write_text("no plist")
    commands = [["inspect", str(tmp_path / "value")], ["diagnose", f"fail API-3 {STEERING}"],
                ["preflight", str(project)], ["preflight", str(project), "--format", "json"],
                ["rules", STEERING], [STEERING], ["rules", "--wrong" + STEERING]]  # fmt: skip
    for words in commands:
        cli.main(words)
        shown = capsys.readouterr()
        both = shown.out + shown.err
        assert both.strip()
        assert all(one.isprintable() or one in "\n\t" for one in both), words
        if words[0] != "diagnose" and "json" not in words:
            assert "\\u001b" in both or "\\x1b" in both, words
        assert "\nfail" not in both, words


def test_a_symptom_longer_than_the_name_of_a_file_is_a_symptom(capsys):
    body = json.dumps({"type": "about:blank", "status": 401, "detail": "x" * 300})
    assert cli.main(["diagnose", body]) == 0
    assert "401" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize(
    ("words", "code"), [(["rules"], 2), (["openapi"], 2), (["--help"], 2), (["conform", "--list"], 254)]
)
def test_a_full_disk_behind_stdout_is_a_sentence_and_a_code(words, code):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "workbook", *words],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == code
    assert ended.stderr == "workbook: Cannot print: No space left on device. Make room, or print to another place.\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes a stream so")
@pytest.mark.parametrize(
    ("closed", "words", "code", "says"),
    [
        (">&-", "rules", 2, "Cannot print: "),
        (">&-", "conform --list", 254, "Cannot print: "),
        (">&- 2>&- <&-", "rules", 2, ""),
        ("2>&-", "no-command", 2, ""),
        ("<&-", "inspect -", 2, "The value is empty."),
        ("<&-", "diagnose -", 2, "The symptom is empty."),
    ],
)
def test_a_stream_that_is_closed_before_the_start_ends_in_a_code(closed, words, code, says):
    ended = subprocess.run(
        ["/bin/sh", "-c", f"exec {shlex.quote(sys.executable)} -m workbook {words} {closed}"],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (code, "")
    assert ended.stderr.startswith(f"workbook: {says}" if says else "")
    assert "unexpected" not in ended.stderr


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("key", [f"{CANARY}\n", f" {CANARY}", f'"{CANARY}"', f"{CANARY}\r\n"])
@pytest.mark.parametrize("words", [["rules"], ["export"], ["run"], ["diagnose", f"the key is {CANARY}"], [CANARY]])
def test_a_key_with_something_around_it_is_refused_before_anything_is_done(monkeypatch, tmp_path, capsys, key, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKBOOK_API_KEY", key)
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert CANARY not in shown.err
    assert words == [CANARY] or "The API key " in shown.err
    assert [*tmp_path.iterdir()] == []
