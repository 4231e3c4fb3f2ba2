"""A command that gets a signal at any moment: the documented exit code, no process left, and no half-written file.

A sample of what `tests/bench/signals.py` does three hundred times.
"""

import re
import signal
import subprocess
import sys

import pytest
import signals

from workbook.tools.commands.cli import _parsers

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["conform"])  # all of them at night: .ci/nightly signals
def test_a_signal_at_any_moment_leaves_nothing_half_done(name, tmp_path):
    assert not signals.wrong_after(name, *signals.drawn(name, 0), tmp_path)


def test_every_command_gets_signals():
    _parser, commands = _parsers()
    assert {name.partition(" ")[0] for name in signals.COMMANDS} == {name.partition(" ")[0] for name in commands}


INTERRUPTED_IMPORT = """
import os, signal, sys
from workbook.__main__ import main

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "workbook.tools.commands":
            os.kill(os.getpid(), signal.SIGINT)

if sys.argv.pop(1) == "ignored":  # as a script's background job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.meta_path.insert(0, Interrupts())
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("at_start", "code", "printed"), [("usual", -signal.SIGINT, r""), ("ignored", 0, r"workbook \S+ with .+\n")]
)
def test_ctrl_c_while_the_command_is_imported_prints_no_traceback(at_start, code, printed):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, at_start, "--version"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (code, "")
    assert re.fullmatch(printed, process.stdout)
