"""`workbook conform` as a user calls it, with the reference relay as a real process."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.tools.commands import cli

ROOT = Path(__file__).resolve().parents[4]
RELAY = ROOT / "fixtures" / "back_ends" / "reference.py"
SESSION = "session-of-ann-0001"
CARDS = [f"PICONFORM{number:016d}" for number in range(1, 7)]
FEW = ("relay.get.path", "relay.post.key-once", "relay.log.no-key-ever")


@pytest.fixture(autouse=True)
def same_signals():
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def folder(tmp_path):
    """A folder with a configuration that starts the reference, and the environment for it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (tmp_path / "back-end.toml").write_text(f"""
base_url = "http://127.0.0.1:{port}"
[get]
path = "/cards/{{id}}/activation-data"
[post]
path = "/cards/{{id}}/provision"
sdk_output = "/sdkOutput"
[[cardholder]]
name = "ann"
cards = {json.dumps(CARDS)}
session = {{ authorization = {{ env = "ANN", prefix = "Bearer " }} }}
[timeouts]
answer = 2.0
[start]
command = '''exec "{sys.executable}" "{RELAY}"'''
""")
    environ = {"ANN": SESSION, "PORT": str(port), "RELAY_DEADLINE": "1", "RELAY_SESSIONS": json.dumps({SESSION: CARDS})}
    return tmp_path, os.environ | environ | {"PYTHONPATH": str(ROOT)}


def start(folder, *words, **more):
    path, environ = folder
    line = [sys.executable, "-m", "workbook", "conform", *words]
    return subprocess.Popen(line, cwd=path, env=environ | more, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True)  # fmt: skip


@pytest.fixture
def run(folder, monkeypatch, capsys):
    """Runs the command in this process; the back end is one of its own."""

    def run(*words, **more):
        monkeypatch.chdir(folder[0])
        for name, value in (folder[1] | more).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["workbook", "conform", *words])
        code = cli.main(["conform", *words])
        return code, *capsys.readouterr()

    return run


def report(folder, name="conform"):
    return json.loads((folder[0] / name / "conform.json").read_text())


@pytest.mark.slow
@pytest.mark.rule("REL-2")
def test_a_good_back_end_ends_with_0_and_leaves_every_report(folder, run):
    code, out, err = run("--only", *FEW, "--seed", "11")
    assert (code, "3 cases, and none failed: 3 pass." in out) == (0, True), out + err
    assert re.fullmatch(r"asks the API after [0-9.]+ s; 6 or more calls at once; less than a minute\n", err), err
    assert {path.name for path in (folder[0] / "conform").iterdir()} == {
        "conform.json", "conform.sarif", "conform.html", "conform.xml", "conform.md"
    }  # fmt: skip
    about = report(folder)["about"]
    assert about["command"] == f"workbook conform --only {' '.join(FEW)} --seed 11"
    assert SESSION not in out + err + (folder[0] / "conform" / "conform.json").read_text()


@pytest.mark.slow
def test_a_failure_ends_with_1_is_run_again_and_can_be_known(folder, run):
    more = {"RELAY_SESSIONS": json.dumps({SESSION: CARDS, "": CARDS})}
    names = ("relay.get.no-session", "relay.get.path")
    code, out, err = run("--only", *names, "--write-baseline", "written.toml", **more)
    assert (code, "1 of 2 cases did not hold: 1 fail. The others: 1 pass." in out) == (1, True), out + err
    assert "fail           relay.get.no-session: expected a refusal, observed status 200" in err
    assert run("--only", names[0], "--out", "again", **more)[0] == 1
    (folder[0] / "known.toml").write_text('[[known]]\ncase = "relay.get.no-session"\ncomment = "ticket 1"\n')
    assert run("--only", *names, "--baseline", "known.toml", **more)[0] == 0
    written = (folder[0] / "written.toml").read_text()
    assert 'case = "relay.get.no-session"' in written
    why = r'"Expected a refusal, observed status 200 with an sdkInput of \d+ characters, after [\d.]+ s\. TODO: say why'
    assert re.search(why, written)
    code, out, _err = run("--only", *names, "--baseline", "known.toml")
    assert (code, "relay.get.no-session: it passes now. Take it out of the baseline." in out) == (1, True)
    both = [str(folder[0] / name) for name in ("again/conform.json", "conform/conform.json")]
    assert cli.main(["compare", *both]) == 0


@pytest.mark.slow
def test_the_form_that_a_code_host_reads_is_all_that_stdout_holds(folder, run):
    code, out, err = run("--only", FEW[0], "--format", "sarif")
    (told,) = json.loads(out)["runs"]
    assert (code, told["tool"]["driver"]["name"], told["results"]) == (0, "workbook conform", []), err
    assert out.strip() == (folder[0] / "conform" / "conform.sarif").read_text().strip()


@pytest.mark.slow
def test_ctrl_c_leaves_a_valid_partial_report_and_no_process(folder):
    process = start(folder, "--out", "partial")
    assert process.stderr.readline().startswith("asks the API after")
    line = process.stderr.readline()
    assert line.startswith(("pass", "not ")), line + process.stderr.read()
    process.send_signal(signal.SIGINT)
    out, _err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "The run was interrupted" in out
    partial = report(folder, "partial")
    assert partial["about"]["interrupted"]
    assert partial["about"]["unfinished"]
    assert partial["cases"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(folder[1]["PORT"])), timeout=60).close()


@pytest.mark.slow
def test_values_by_hand_are_printed_and_the_first_call_is_waited_for(folder):
    path, environ = folder
    file = path / "back-end.toml"
    file.write_text(file.read_text().partition("[start]")[0] + "\n[export]\nurl = 'UPSTREAM'\n")
    process = start(folder, "--only", "relay.get.path")
    values = dict(process.stdout.readline().strip().split("=", 1) for _ in range(2))
    assert sorted(values) == ["API_KEY", "UPSTREAM"]
    given = {"API_URL": values["UPSTREAM"], "API_KEY": values["API_KEY"]}
    with subprocess.Popen([sys.executable, RELAY], env=environ | given, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as relay:  # fmt: skip
        try:
            _out, err = process.communicate(timeout=60)
        finally:
            relay.terminate()
    assert (process.returncode, err.splitlines()[0]) == (0, "waiting for the first call: 120 s at most")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--onyl", "x"], "unrecognized arguments: --onyl. Did you mean '--only'?"),
        (["--only", "frmo"], "No case and no group 'frmo'. Did you mean 'form'?"),
        (["--seed", "-1"], "seed is '-1'. Give a whole number"),
        (["nope.toml"], "nope.toml: 1 mistake.\n  there is no such file."),
        (["inti"], "Did you mean 'workbook conform init'?"),
        (["init", "--defaults"], "unrecognized arguments: --defaults"),
        (["--baseline", "back-end.toml"], "there is no such key. Known: known."),
        (["--out", "back-end.toml"], "--out 'back-end.toml' cannot be used"),
    ],
)
def test_what_is_not_in_order_ends_with_254(folder, monkeypatch, capsys, words, told):
    monkeypatch.chdir(folder[0])
    monkeypatch.setenv("ANN", SESSION)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert cli.main(["conform", *words]) == 254
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.startswith("workbook: ")


def test_check_config_prints_the_configuration_or_every_mistake(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder[0])
    assert cli.main(["conform", "--check-config"]) == 254
    assert "[[cardholder]] 1 session authorization env: the environment variable ANN is" in capsys.readouterr().err
    monkeypatch.setenv("ANN", SESSION)
    assert cli.main(["conform", "run", "back-end.toml", "--check-config"]) == 0
    shown = capsys.readouterr().out
    assert 'name = "ann"' in shown
    assert shown.startswith("# back-end.toml is in order; ")
    assert "whole = 900.0" in shown
    assert SESSION not in shown


def test_the_cases_are_listed(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder[0])
    monkeypatch.setenv("ANN", SESSION)
    assert cli.main(["conform", "--list", "--only", "relay.get.path"]) == 0
    assert capsys.readouterr().out == "relay.get.path  [form, API-1 must]  The GET goes to the document's path.\n"
    assert [path.name for path in folder[0].iterdir()] == ["back-end.toml"]


def test_init_prints_a_file_that_is_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CARDHOLDER_SESSION", SESSION)
    assert cli.main(["conform", "init"]) == 0
    (tmp_path / "back-end.toml").write_text(capsys.readouterr().out)
    assert cli.main(["conform", "--check-config"]) == 0


def test_help_says_every_exit_code(capsys):
    cli.main(["conform", "--help"])
    shown = capsys.readouterr().out
    for code in ("0  ", "1  ", "2  ", "130", "254", "255"):
        assert f"\n  {code}" in shown
