"""Gives a command of the workbook a signal at a moment that a seed draws, and says what is not as it should be.

The moments are real, so a failure may come back only now and then: it names the command, the signal and the seconds.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from urllib.error import URLError
from urllib.request import urlopen
from xml.etree import ElementTree as ET

from workbook.lessons.exercises.editions import copy_lessons
from workbook.lessons.exercises.progress import Progress
from workbook.tools.harness.report import About, RunRecord, to_json

ROOT = Path(__file__).parent.parent.parent
MARK = "WORKBOOK_SIGNAL_TEST"
PROGRAM = ("-m", "workbook")
SESSIONS = {"ANN": "session-of-ann-7d1f", "BOB": "session-of-bob-93c2"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
RECORD = '{"version":1,"kind":"workbook proxy","to":"http://127.0.0.1:9","began":"2030-01-01T00:00:00+00:00"}\n'
FILE = "lessons/fixtures/back_ends/back-end.toml"

COMMANDS = {
    "lab": (["lab", "--no-browser", "--port", "PORT"], 8.0, {0, 130}),
    "new": (["new", "copy"], 1.0, {0, 130}),
    "reset": (["reset", "all", "--dir", "lessons"], 1.5, {0, 130}),
    "run": (["run", "00", "--out", "out"], 8.0, {0, 130}),
    "render": (["render", "00"], 8.0, {0, 1, 130}),
    "export": (["export", "00", "01", "--out", "out"], 4.0, {0, 130}),
    "serve": (["serve", "--port", "PORT", "--journal", "journal", "--quiet", "--tls"], 2.0, {0}),
    "sdk-output": (["sdk-output"], 1.0, {0, 130}),
    "openapi": (["openapi"], 1.0, {0, 130}),
    "proxy": (["proxy", "--port", "PORT", "--to", "http://127.0.0.1:9", "--out", "out.jsonl", "--quiet"], 2.0, {0}),
    "drift": (["drift", "record.jsonl"], 1.0, {0, 1, 2, 130}),
    "conform": (["conform", FILE, "--out", "out", "--only", "relay.get.*"], 8.0, {0, 1, 2, 130}),
    "conform init": (["conform", "init"], 1.0, {0, 130}),
    "conform app init": (["conform", "app", "init"], 1.0, {0, 130}),
    "native": (["native", "kotlin", "files"], 1.0, {0, 130}),
    "phone": (["phone", "--port", "PORT", "--out", "out"], 2.0, {0}),
    "preflight": (["preflight", "lessons/fixtures/projects"], 2.0, {0, 1, 2, 130}),
    "compare": (["compare", "run.json", "run.json", "--out", "out.txt"], 1.0, {0, 130}),
    "diagnose": (["diagnose", "15009"], 1.0, {0, 1, 130}),
    "inspect": (["inspect", "record.jsonl"], 1.0, {0, 1, 130}),
    "doctor": (["doctor"], 4.0, {0, 1, 130}),
    "rules": (["rules"], 0.7, {0, 130}),
    "sweep": (["sweep", "--limit", "300", "--out", "out"], 6.0, {0, 1, 130}),
    "course": (["course", "board", "--port", "PORT", "--data", "board"], 2.0, {0, 130}),
    "course agenda": (["course", "agenda", "--minutes", "60"], 1.0, {0, 130}),
}
"""The words of each command, the seconds in which a signal may come, and its documented exit codes: of an
interruption, and of a command that had ended by then."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def marked(mark):
    """The processes, but this one, whose environment has this mark: whatever a command started has it too."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environ = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if f"{MARK}={mark}\0".encode() in environ and state != "Z":
                found.append((int(entry.name), command))
    return found


def left(mark, seconds=8.0):
    """What is still running a moment later."""
    until = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def half_written(folder, scratch):
    """Every file that its reader would refuse, but for those in the system's place for what nobody keeps."""
    wrong = []
    for path in (path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(scratch)):
        text = path.read_text("utf-8", "replace")
        try:
            if path.suffix in {".json", ".ipynb"}:
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


def callers(port, over):
    """Call what listens on this port until it is over, so that the signal meets work."""

    def call():
        while not over.is_set():
            with suppress(URLError, OSError, ValueError):
                urlopen(f"http://127.0.0.1:{port}/bcl/v2/paymentInstruments/PI1/networkTokenActivationData", timeout=1)
            time.sleep(0.02)

    threading.Thread(target=call, daemon=True).start()


def drawn(name, number):
    """After how many seconds which signal comes: the one of this number of a command."""
    draw = random.Random(f"{name} {number}")
    return draw.uniform(0, COMMANDS[name][1]), draw.choice(SIGNALS)


def wrong_after(name, seconds, sent, folder):
    """Run one command, send it one signal, and return what is wrong afterwards, in words; empty where nothing is.

    Args:
        name: of the command.
        seconds: after which the signal comes.
        sent: the signal.
        folder: an empty one for its files.
    """
    words, _within, codes = COMMANDS[name]
    port, scratch = str(free_port()), folder / "scratch"
    mark = f"{os.getpid()}-{port}"
    scratch.mkdir()
    environ = os.environ | SESSIONS | {MARK: mark, "PYTHONPATH": str(ROOT), "TMPDIR": str(scratch)}
    environ.pop("WORKBOOK_API_KEY", None)
    if name in {"conform", "reset"}:
        copy_lessons(folder / "lessons")
        (folder / "lessons" / "progress.json").write_text(Progress.begun().text())  # as `workbook new` leaves it
    (folder / "record.jsonl").write_text(RECORD, "utf-8")
    (folder / "run.json").write_text(to_json(RunRecord(About(program="workbook run"), ())), "utf-8")
    command = [sys.executable, *PROGRAM, *(port if word == "PORT" else word for word in words)]
    over = threading.Event()
    if "PORT" in words and name != "lab":
        callers(port, over)
    with NamedTemporaryFile() as printed:  # a pipe would be open for as long as anything that the command left behind
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=printed, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
        in_time = True
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            in_time = False
            process.kill()
            process.wait()
        over.set()
        out = Path(printed.name).read_bytes()
    running = left(mark)
    for pid, _command in running:
        os.kill(pid, signal.SIGKILL)  # one that this command has started
    # Python itself may still be starting: then it says so with a traceback, or ends by the signal. It also ends by
    # SIGINT, which a shell takes for 130, where KeyboardInterrupt came while it ran a text as code, caught or not.
    starting = any(words in out for words in (b"<frozen site>", b"Could not import runpy", b"Fatal Python error: init"))
    killed = process.returncode == -signal.SIGKILL
    wrong = [
        *([] if in_time else ["it did not end within 60 s"]),
        *(f"still running: {command}" for _pid, command in running),
        *(f"half written: {path.name}: {error}" for path, error in half_written(folder, scratch)),
        # nobody can tidy up after SIGKILL; a file that waits to be renamed has another name by then
        *(f"left over: {path.relative_to(folder)}" for path in folder.rglob("*.part") if not killed),
        *(f"left over: {path.name}" for path in scratch.iterdir() if not killed),
    ]
    if not starting and process.returncode not in codes | {-sent, -signal.SIGINT, 130}:
        wrong.append(f"exit code {process.returncode}")
    if process.returncode >= 0 and not starting and b"Traceback" in out:
        wrong.append("a traceback")
    if wrong:
        wrong.append(f"printed last: {out.decode(errors='replace')[-1500:]}")
    head = f"{name}, {sent.name} after {seconds:.2f} s, exit code {process.returncode}:"
    return "\n".join([head, *wrong]) if wrong else ""
