"""What a lesson's cells print today is what the lesson stores: `workbook render` stores it anew."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from texts import demand_none, paths, read
from traitlets.config import Config

LESSONS = paths("notebooks/*.ipynb")
ELSEWHERE = ("conform_app(", "examine(", "wb.check()")
"""What compiles an app, or looks at the machine: its output is compared where notebooks are run."""


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """What runs cells as a kernel does, in this process and in the folder of the lessons."""
    monkeypatch.chdir(LESSONS[0].parent)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_line_of_a_stored_output_is_printed_today(path, shell):
    wrong, places = [], {text: line for line, text in read(path)}
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and not any(word in source for word in ELSEWHERE):
            with capture_output() as captured:
                shell.run_cell(source)
            shown = "".join([captured.stdout, *(output.data.get("text/plain", "") for output in captured.outputs)])
            stored = "".join(
                "".join(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in cell["outputs"]
            )
            wrong += [f"{path.name}:{places[line]}: {line}" for line in stored.splitlines() if line not in shown]
    demand_none(wrong)
