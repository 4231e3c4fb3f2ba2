"""The README's example runs, and its commands are the ones that exist."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_example_prints_what_the_readme_says():
    program, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, re.DOTALL).groups()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == printed


def test_every_command_it_names_exists():
    named = set(re.findall(r"`workbook (\w+)", README))
    helped = subprocess.run([sys.executable, "-m", "workbook", "--help"], capture_output=True, text=True, check=True)
    assert named
    assert {name for name in named if not re.search(rf"\b{name}\b", helped.stdout)} == set()


def test_every_notebook_is_in_its_table_and_every_row_is_a_notebook():
    listed = re.findall(r"^\| `(\d\d_\w+)` \|", README, re.MULTILINE)
    assert listed == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_every_runtime_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    reasons = README[README.index("| package | why |") :]
    rows = re.findall(r"^\| ([a-z, -]+) \|", reasons, re.MULTILINE)
    explained = {name for row in rows for name in row.split(", ")} - {"package"}
    assert explained == {Requirement(line).name for line in project["dependencies"]}


def test_the_part_for_ci_is_found_by_ci():
    command = re.search(r"^## Test it.*?^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[1]
    assert "pytest" in command
    assert "awk" in (ROOT / ".ci" / "run").read_text()
