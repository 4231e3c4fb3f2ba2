"""The browser's part without a browser: its pure functions in Node's test runner, and what the texts must not do."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from workbook.lessons.widgets.chooser import Keys
from workbook.lessons.widgets.panels import Player

HERE = Path(__file__).parent
WIDGETS = HERE.parents[2] / "workbook" / "lessons" / "widgets"


def node():
    found = shutil.which("node")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("CI promises node, and there is none on this machine")
    if found is None:
        pytest.skip("there is no node on this machine")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", ["frames", "kernel"])
def test_its_functions_do_what_they_say(name, tmp_path):
    module = tmp_path / f"{name}.mjs"
    module.write_text((WIDGETS / f"{name}.js").read_text())
    command = [node(), "--test", "--test-reporter=tap", str(HERE / f"{name}.test.mjs")]
    environment = {**os.environ, f"{name.upper()}_MODULE": module.as_uri()}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^# pass [1-9]", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("widget", [Player, Keys])
def test_the_texts_make_one_module(widget, tmp_path):
    module = tmp_path / "widget.mjs"
    module.write_text(str(widget._esm))
    done = subprocess.run([node(), "--check", str(module)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", [path.name for path in WIDGETS.iterdir() if path.suffix in (".js", ".css")])
def test_nothing_is_loaded_from_anywhere(name):
    text = (WIDGETS / name).read_text()
    assert re.findall(r"https?://|@import|url\(|\bfetch\(|\bimport\(|^import ", text, re.MULTILINE) == []


@pytest.mark.parametrize("widget", [Player, Keys])
def test_nothing_is_left_on_the_window(widget):
    text = str(widget._esm)
    assert re.findall(r"window\.|globalThis|localStorage|document\.addEventListener", text) == []
