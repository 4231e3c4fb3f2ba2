"""The README's example runs, its commands exist, its tables are complete, its picture is the current one."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from workbook.runs.platform_a import PlatformARun
from workbook.views.sequence import sequence

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PICTURE = ROOT / "notebooks" / "reference" / "platform-a.svg"


@pytest.mark.slow
def test_the_example_prints_what_the_readme_says():
    program, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_it_is_short():
    prose = re.sub(r"```.*?```|^\|[-|]+$|\|", "", README, flags=re.DOTALL | re.MULTILINE)
    assert len(prose.split()) <= 950


def test_its_picture_is_what_the_workbook_draws_today():
    """`WORKBOOK_GOLDEN=write pytest tests/test_readme.py` draws it anew."""
    drawn = sequence(PlatformARun().walk()).svg()
    if os.environ.get("WORKBOOK_GOLDEN") == "write":
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn


def test_every_notebook_is_in_its_table_and_every_row_is_a_notebook():
    listed = re.findall(r"^\| `(\d\d_\w+)` \|", README, re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_the_map_of_the_first_lesson_lists_all_others():
    first = json.loads((ROOT / "notebooks" / "00_start_here.ipynb").read_text())
    listed = re.findall(r"^\| \[`(\d\d_\w+)`\]\(\1\.ipynb\) \|", "".join(first["cells"][-1]["source"]), re.MULTILINE)
    assert ["00_start_here", *listed] == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    reasons = README[README.index("| dependency | why |") :]
    rows = re.findall(r"^\| ([a-z0-9, -]+) \|", reasons, re.MULTILINE)
    explained = {name for row in rows for name in row.split(", ")} - {"dependency"}
    declared = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    assert explained == {Requirement(line).name for line in declared}


def test_every_part_of_the_package_that_it_names_exists():
    rows = re.findall(r"^\| `(workbook/.*?) \|", README, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"[\w./]+", row)]
    assert [name for name in names if not (ROOT / "workbook" / name.removeprefix("workbook/")).exists()] == []


def test_ci_runs_the_readmes_test_command_with_byte_code():
    command = re.search(r"^## Test it.*?^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1].strip()
    script = (ROOT / ".ci" / "run").read_text()
    assert script.rstrip().endswith(f"exec {command}")
    assert "\nunset PYTHONDONTWRITEBYTECODE" in script
    assert os.access(ROOT / command, os.X_OK)
