"""The README's example runs, its commands exist, its tables are complete, its picture is the current one."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path, PurePath

import pytest
from notebook_rows import with_rows
from packaging.requirements import Requirement
from texts import demand_none

from workbook.lessons.exercises.model import lesson
from workbook.play.platform_a import PlatformARun
from workbook.views.sequence import sequence

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
ROWS = re.compile(r"(?:^\| \[?`\d\d_\w+`.*\n)+", re.MULTILINE)
"""Of a table of lessons: the rows of the lessons."""
TIME = re.compile(r"\*\*Time:\*\* .*? of (?:exercises|\[exercises\]\([^)]*\))\.")
"""In the first cell of a lesson: its sentence about time."""
WORDS_A_MINUTE = 200
PICTURE = ROOT / "notebooks" / "reference" / "platform-a.svg"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wb.session", "wb.ActivationDataClient"])
def test_an_example_prints_what_the_readme_says(name):
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL)
    ((program, printed),) = [example for example in examples if name in example[0]]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_it_is_short():
    """The rows of the lessons are not counted: a new lesson adds one."""
    prose = re.sub(r"```.*?```|^\|[-|]+$|\|", "", ROWS.sub("", README), flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) <= 836


def test_its_picture_is_what_the_workbook_draws_today(generated):
    generated(PICTURE, sequence(PlatformARun().walk()).svg())


def lessons(row):
    """One row for each lesson: its name, what it teaches, the minutes to read it and to do its exercises."""
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        words = sum(len(text.split()) for cell in cells for text in texts_of(cell))
        exercises = [*lesson(path.stem[:2]).values()]
        yield row.format(
            name=path.stem,
            teaches=cells[0]["metadata"]["teaches"],
            reading=round(words / WORDS_A_MINUTE),
            exercises=sum(each.minutes for each in exercises),
            first=f"Exercise-{exercises[0].id}:-{exercises[0].title.replace(' ', '-')}",  # JupyterLab's anchor
        )


def texts_of(cell):
    """What a reader has before them of one cell: its source, and its outputs as text."""
    yield "".join(cell["source"])
    for output in cell.get("outputs", ()):
        yield "".join(output.get("text", output.get("data", {}).get("text/plain", "")))


def test_each_lesson_says_how_long_it_takes_to_read_and_to_do(generated):
    times = lessons("**Time:** {reading} minutes to read, {exercises} minutes of [exercises](#{first}).")
    for path, time in zip(NOTEBOOKS, times, strict=True):
        generated(path, with_rows(path, TIME, time))


def test_its_table_of_lessons_is_what_the_notebooks_say_of_themselves(generated):
    table = "".join(lessons("| `{name}` | {teaches} | {reading} | {exercises} |\n"))
    generated(ROOT / "README.md", ROWS.sub(lambda _: table, README))
    assert table in (ROOT / "README.md").read_text("utf-8")


def test_the_first_lesson_leads_to_every_other_one():
    first = NOTEBOOKS[0].read_text("utf-8")
    assert [path.name for path in NOTEBOOKS[1:] if f"]({path.name})" not in first] == []


def test_each_file_of_the_guide_is_there():
    ours = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.*") if ".venv" not in path.parts}
    named = re.findall(
        r"`([\w./*-]+\.(?:py|toml|json|kt|swift|md))`", (ROOT / ".github/CONTRIBUTING.md").read_text("utf-8")
    )
    is_there = {
        name: [each for each in ours if PurePath(each).match(name.replace("NN", "[0-9][0-9]"))] for name in named
    }
    demand_none([f".github/CONTRIBUTING.md: there is no {name}" for name, found in is_there.items() if not found])


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    guide = (ROOT / ".github" / "CONTRIBUTING.md").read_text()
    reasons = guide[guide.index("| dependency | why |") :]
    rows = re.findall(r"^\| ([a-z0-9, -]+) \|", reasons, re.MULTILINE)
    explained = {name for row in rows for name in row.split(", ")} - {"dependency"}
    declared = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    assert explained == {Requirement(line).name for line in declared}


def test_ci_runs_the_readmes_test_command_with_byte_code():
    command = re.search(r"^## Test it.*?^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1].strip()
    script = (ROOT / ".ci" / "run").read_text()
    assert f"\n{command} || code=$?\n" in script
    assert "\nunset PYTHONDONTWRITEBYTECODE" in script
    assert os.access(ROOT / command, os.X_OK)
