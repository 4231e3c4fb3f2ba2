"""A command that gets a signal at any moment: the documented exit code, no process left, and no half-written file.

Some fifty signals, at moments that a seed draws. The moments are real, so a failure may come back only now and then:
the message names the command, the signal and the seconds.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from workbook.files import copy_lessons

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc"),
]

ROOT = Path(__file__).parent.parent
MARK = "WORKBOOK_SIGNAL_TEST"
CODES = {
    "serve": {0},
    "proxy": {0},
    "export": {0, 130},
    "run": {0, 130},
    "render": {0, 1, 130},
    "doctor": {0, 1, 130},
    "conform": {0, 1, 2, 130},
}
"""The documented exit codes: of an interruption, and of a command that had ended by then."""
EARLY = {-signal.SIGINT, -signal.SIGTERM, 130}
"""Before a command listens to signals, Python's own end."""
COMMANDS = {
    "serve": (["serve", "--state", "state", "--quiet"], 2.0, 10),
    "proxy": (["proxy", "--to", "http://127.0.0.1:9", "--out", "record.jsonl", "--quiet"], 2.0, 10),
    "export": (["export", "00", "01", "--out", "out"], 4.0, 8),
    "run": (["run", "00", "--out", "out"], 8.0, 6),
    "render": (["render", "00", "--check"], 8.0, 6),
    "doctor": (["doctor"], 4.0, 6),
    "conform": (
        ["conform", "lessons/fixtures/back_ends/back-end.toml", "--out", "out", "--only", "relay.get.*"],
        8.0,
        6,
    ),
}
"""The words of each command, the seconds in which a signal may come, and how many signals it gets."""
KILLS = [(name, number) for name, (_words, _within, count) in COMMANDS.items() for number in range(count)]


def marked(mark):
    """The processes, but this one, whose environment has this mark: whatever a command started has it too."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environ = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environ and state != "Z":
                found.append((int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
    return found


def left(mark, seconds=5.0):
    """What is still running a moment later."""
    until = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def half_written(folder):
    """Every file that its reader would refuse."""
    wrong = list(folder.rglob("*.part"))
    for path in folder.rglob("*"):
        text = (
            path.read_text("utf-8", "replace") if path.suffix in (".json", ".ipynb", ".jsonl", ".xml", ".html") else ""
        )
        try:
            if path.suffix in (".json", ".ipynb"):
                json.loads(text)
            elif path.suffix == ".jsonl":
                assert text.endswith("\n") or not text
                [json.loads(line) for line in text.splitlines()]
            elif path.suffix == ".xml":
                ET.fromstring(text)
            elif path.suffix == ".html":
                assert text.rstrip().endswith("</html>")
        except (ValueError, AssertionError, ET.ParseError) as error:
            wrong.append((path, error))
    return wrong


@pytest.mark.parametrize(("name", "number"), KILLS)
def test_a_signal_at_any_moment_leaves_nothing_half_done(name, number, tmp_path):
    words, within, _count = COMMANDS[name]
    draw = random.Random(f"{name} {number}")
    seconds, sent = draw.uniform(0, within), draw.choice([signal.SIGINT, signal.SIGTERM])
    mark = f"{os.getpid()}-{name}-{number}"
    sessions = {"ANN": "session-of-ann-7d1f", "BOB": "session-of-bob-93c2"}
    environ = os.environ | sessions | {MARK: mark, "PYTHONPATH": str(ROOT)}
    if name == "conform":
        copy_lessons(tmp_path / "lessons")
    environ.pop("WORKBOOK_API_KEY", None)
    command = [sys.executable, "-m", "workbook", *words]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
            try:
                out, _ = process.communicate(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    said = f"{name}, {sent.name} after {seconds:.2f} s: {out.decode(errors='replace')[-1500:]}"
    running = left(mark)
    for pid, _command in running:
        os.kill(pid, signal.SIGKILL)  # one that this test has started
    assert running == [], said
    assert half_written(tmp_path) == [], said
    # Python itself may still be starting, and says so with a traceback of its own.
    starting = b"<frozen site>" in out or b"Could not import runpy module" in out
    if not starting:
        assert process.returncode in CODES[name] | EARLY, said
    if process.returncode >= 0 and not starting:
        assert b"Traceback" not in out, said


def test_there_are_about_fifty_signals():
    assert 45 <= len(KILLS) <= 60
