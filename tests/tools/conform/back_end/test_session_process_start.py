"""How a back end comes to its values: a command that is ended with all its children."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic, sleep

import pytest

from workbook.base.forms import BadConfigurationError
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.config import as_toml, load_config
from workbook.tools.conform.back_end.session import Launcher
from workbook.tools.harness.origin import Origin
from workbook.tools.harness.program import StartCommand, StartError
from workbook.tools.harness.summary import RunProgress

FREE = Origin.of("http://127.0.0.1:9")


def started(line, tmp_path, *, seconds=3.0, **values):
    with StartCommand(line, tmp_path, values) as command:
        command.start()
        with suppress(StartError):
            asyncio.run(command.listening(FREE, seconds))
        return command.ended, command.output.read_text()


def test_a_command_gets_the_values_and_its_output_is_kept(tmp_path):
    ended, printed = started("pwd; echo $API_URL; exit 3", tmp_path, API_URL="http://api")
    assert printed == f"{tmp_path}\nhttp://api\n"
    assert ended == f"Its command ended with exit code 3. It printed last: {tmp_path} | http://api"


@pytest.mark.rule("REL-2")
def test_a_command_does_not_get_the_workbooks_own_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "KEY-of-the-real-api-0123456789")
    monkeypatch.setenv("OTHER", "stays")
    _ended, printed = started("env; exit 1", tmp_path, API_URL="http://api")
    assert "KEY-of-the-real-api" not in printed
    assert {"OTHER=stays", "API_URL=http://api"} <= set(printed.splitlines())


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a child that its parent has died")
def test_a_command_ends_with_a_run_that_is_killed(tmp_path):
    program = (
        "import pathlib, sys, time; from workbook.tools.harness.program import StartCommand\n"
        "command = StartCommand('echo $$; exec sleep 600', pathlib.Path(sys.argv[1]), {})\n"
        "command.__enter__(); command.start()\n"
        "while not command.output.read_text().endswith('\\n'): time.sleep(0.05)\n"
        "print(command.output.read_text(), end='', flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True) as run:
        child = int(run.stdout.readline())
        run.kill()
    until = monotonic() + 60
    while Path(f"/proc/{child}").exists() and monotonic() < until:
        sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("before", [194, 70_000])
def test_a_secret_is_taken_out_before_a_line_is_cut(tmp_path, before):
    """Both cuts: what is shown of a line, and where the end of a long output begins."""
    secret = "KEY-0123456789-abcdefghij"
    code = f"import sys; sys.stdout.write('x' * {before} + {secret!r} + 'y' * {65_536 - 12 if before > 200 else 0})"
    with StartCommand(
        f'{sys.executable} -c "{code}"', tmp_path, {}, lambda text: text.replace(secret, "[key]")
    ) as command:
        command.start()
        with suppress(StartError):
            asyncio.run(command.listening(FREE, 5.0))
        ended = command.ended
    assert not any(secret[at : at + 6] in ended for at in range(len(secret) - 5))


LATE = r"waiting Does it listen at another address or port, or take longer \(\[timeouts\] start\)\?"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("exit 7", r"did not start\. Its command ended with exit code 7\. It printed nothing\."),
        ("no-such-command-anywhere", r"exit code 127\. It printed last: .*not found"),
        ("echo boom >&2; kill -9 $$", r"was ended by signal 9\. It printed last: boom"),
        ("echo waiting; sleep 30", rf"did not listen at http://127\.0\.0\.1:9 within 0\.5 s\. It printed last: {LATE}"),
    ],
)
def test_one_that_does_not_start_says_why(tmp_path, line, told):
    with StartCommand(line, tmp_path, {}) as command:
        command.start()
        with pytest.raises(StartError, match=told):
            asyncio.run(command.listening(FREE, 0.5 if "sleep" in line else 10))


def test_what_it_printed_is_cut_and_made_printable(tmp_path):
    code = "import sys; sys.stdout.write('\\x1b[31m' + 'x' * 100_000 + '\\n' + 'last\\n' * 9)"
    ended, _ = started(f'{sys.executable} -c "{code}"', tmp_path)
    assert ended.endswith("It printed last: last | last | last | last | last")
    assert ended.isprintable()


@pytest.mark.parametrize("child", ["sleep 300 & echo $!", "(setsid sh -c 'echo $$; exec sleep 300' &)"])
def test_the_children_of_a_command_end_with_it(tmp_path, child):
    if "setsid" in child and not sys.platform.startswith("linux"):
        pytest.skip("a daemon is found by its environment, which only Linux shows")
    with StartCommand(f"{child}; {sys.executable} -c 'import time; time.sleep(300)'", tmp_path, {}) as command:
        command.start()
        while not (printed := command.output.read_text()).endswith("\n"):
            pass
    child, until = int(printed), monotonic() + 60
    while lives(child):
        assert monotonic() < until, "it lives on"
        sleep(0.05)


def lives(child):
    """Whether a process runs; one that has ended and that nobody asked about does not."""
    try:
        os.kill(child, 0)
        return Path(f"/proc/{child}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


SIGNS_IN = """
base_url = "http://127.0.0.1:0"
[get]
path = "/{id}"
[post]
path = "/{id}"
sdk_output = "/sdkOutput"
[[cardholder]]
name = "ann"
cards = ["PI1", { id = "PI2", session = { authorization = { command = 'COMMAND' } } }]
session = { cookie = { command = "echo of-ann-7d1f", prefix = "sid=" } }
[start]
command = "exec PYTHON -m http.server $PORT --bind 127.0.0.1"
"""


def signed_in(folder, command):
    """What a run comes to, and the headers of ann's sessions in it."""
    (folder / "back-end.toml").write_text(SIGNS_IN.replace("COMMAND", command).replace("PYTHON", sys.executable))
    config = load_config(folder / "back-end.toml", {})
    assert "command = " not in as_toml(config)
    with ExitStack() as stack:
        api = stack.enter_context(MockApi(["PI1", "PI2"]))
        launcher = Launcher(config, api, RunProgress(), stack, str, known=False)
        asyncio.run(launcher.ready(CaseRunner(launcher.target, api)))
        (ann,) = launcher.target.cardholders
        return ann.session_for("PI1"), ann.session_for("PI2"), launcher.target.session_secrets()


@pytest.mark.slow
@pytest.mark.needs("curl")
@pytest.mark.rule("REL-2")
def test_a_command_prints_the_session_once_the_back_end_listens(tmp_path):
    command = 'test -z "$API_KEY" && curl -sf http://127.0.0.1:$PORT >/dev/null && echo tok-$PORT-0a'
    cookie, bearer, secrets = signed_in(tmp_path, command)
    assert cookie == (("cookie", "sid=of-ann-7d1f"),)
    assert re.fullmatch("tok-[0-9]+-0a", bearer[0][1])
    assert {cookie[0][1], bearer[0][1]} <= set(secrets)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("echo secret-7d1f; exit 3", "It ended with exit code 3."),
        ("echo one-7d1f; echo two-7d1f", "printed 17 characters that are no line of printable ASCII"),
        ("true", "printed 0 characters"),
    ],
)
def test_a_command_that_prints_no_session_is_told_without_what_it_printed(tmp_path, command, told):
    with pytest.raises(StartError, match=f"The command that prints ann's authorization (failed. )?{told}") as error:
        signed_in(tmp_path, command)
    assert "7d1f" not in str(error.value)


def test_a_session_comes_from_one_place(tmp_path):
    (tmp_path / "back-end.toml").write_text(SIGNS_IN.replace('command = "echo of-ann-7d1f", ', ""))
    with pytest.raises(BadConfigurationError, match='give either env = "NAME" or command'):
        load_config(tmp_path / "back-end.toml", {})
