"""No kernel outlives its run: not at Ctrl-C, not at SIGTERM, not when it starts late."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import pytest

from workbook.tools.commands import runner
from workbook.tools.commands.runner import Kernels, one_plus_one

pytestmark = pytest.mark.slow

STUCK = "import os, pathlib\npathlib.Path(f'{os.getpid()}.pid').write_text('')\nwhile True: pass"


def until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGINT, id="ctrl-c"),
        pytest.param(signal.SIGTERM, id="cancelled", marks=pytest.mark.nightly),
    ],
)
def test_an_interrupted_run_leaves_a_valid_report_and_no_kernel(books, is_alive, sent):
    books.add("00_quick", "from workbook.lessons.lesson import check\ncheck('done', True)")
    for name in ("01_stuck", "02_stuck", "03_waits"):
        books.add(name, STUCK)
    out = books.directory.parent / "report"
    command = [sys.executable, "-m", "workbook", "run", "--notebooks", str(books.directory), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: len(list(books.directory.glob("*.pid"))) == 2)
    process.send_signal(sent)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in told
    pids = [int(path.stem) for path in books.directory.glob("*.pid")]
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)
    content = json.loads((out / "run.json").read_text())
    assert content["about"]["interrupted"] is True
    statuses = [each["status"] for each in content["details"]["notebooks"]]
    assert statuses == ["ok", "interrupted", "interrupted", "interrupted"]
    assert [(each["name"], each["verdict"]) for each in content["cases"][:2]] == [
        ("00_quick", "pass"), ("00_quick: done", "pass")]  # fmt: skip
    assert len(ET.parse(out / "junit.xml").getroot()) == 4


def test_a_kernel_that_starts_after_the_stop_is_stopped_too():
    kernels = Kernels(limit=60.0)
    kernels.stop()
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    kernels.add(process.pid)
    assert process.wait(timeout=60) == -signal.SIGKILL


def test_what_writes_on_for_a_moment_leaves_nothing_behind(tmp_path, monkeypatch):
    """As a kernel does that a notebook started: it notices a little later that its parent has ended."""

    def write():
        while time.monotonic() < until:
            for number in range(20):
                with suppress(OSError):
                    (scratch / str(number)).touch()

    scratch, until = tmp_path / "scratch", time.monotonic() + 0.3
    scratch.mkdir()
    monkeypatch.setattr(runner, "ScratchFolder", lambda: SimpleNamespace(name=str(scratch), cleanup=lambda: None))
    with Kernels(limit=60.0).kernel():
        writer = threading.Thread(target=write)
        writer.start()
    writer.join()
    assert not scratch.exists()


def test_what_ended_is_handed_over_when_the_rest_is_interrupted():
    ended = []

    def work(item):
        if item == 1:
            raise KeyboardInterrupt
        time.sleep(0.3)
        return item

    with pytest.raises(KeyboardInterrupt):
        Kernels(limit=60.0).each(work, [0, 1], ended.append)
    assert ended == [0]


def test_what_a_job_met_while_it_was_ended_does_not_stand_in_for_the_interrupt():
    stopped = threading.Event()

    def work(item):
        if item == 1:
            raise KeyboardInterrupt
        stopped.wait(0.3)
        raise RuntimeError("my kernel is gone")

    ended = []
    with pytest.raises(KeyboardInterrupt):
        Kernels(limit=60.0).each(work, [0, 1], ended.append)
    assert ended == []


def test_the_kernel_is_this_interpreters_even_if_the_home_has_another(tmp_path, monkeypatch):
    wrong = tmp_path / "kernels" / "python3"
    wrong.mkdir(parents=True)
    spec = {"argv": ["false"], "display_name": "wrong", "language": "python"}
    (wrong / "kernel.json").write_text(json.dumps(spec))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert one_plus_one() == "2"
