"""The browser's part without a browser: its pure functions in Node's test runner, and what the texts must not do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from workbook.widgets.player import Player

HERE = Path(__file__).parent
WIDGETS = HERE.parents[1] / "workbook" / "widgets"


def node():
    found = shutil.which("node")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("CI promises node, and there is none on this machine")
    if found is None:
        pytest.skip("there is no node on this machine")
    return found


def test_what_is_shown_when(tmp_path):
    module = tmp_path / "reel.mjs"
    module.write_text((WIDGETS / "reel.js").read_text())
    command = [node(), "--test", "--test-reporter=tap", str(HERE / "reel.test.mjs")]
    environment = {**os.environ, "REEL_MODULE": module.as_uri()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


def test_the_texts_make_one_module(tmp_path):
    module = tmp_path / "player.mjs"
    module.write_text(str(Player._esm))
    done = subprocess.run([node(), "--check", str(module)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["reel.js", "parts.js", "exchange.js", "player.js", "player.css"])
def test_nothing_is_loaded_from_anywhere(name):
    text = (WIDGETS / name).read_text()
    assert re.findall(r"https?://|@import|url\(|\bfetch\(|\bimport\(|^import ", text, re.MULTILINE) == []


def test_nothing_is_left_on_the_window():
    text = str(Player._esm)
    assert re.findall(r"window\.|globalThis|localStorage|document\.addEventListener", text) == []
