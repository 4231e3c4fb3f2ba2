"""Lint, format and types are tests too, so that one command says everything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ruff", "check", "."), id="lint"),
        pytest.param(("ruff", "format", "--check", "."), id="format"),
        pytest.param(("mypy",), id="types", marks=pytest.mark.slow),
    ],
)
def test_nothing_to_complain_about(command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_type_checker_refuses_a_misspelt_name_and_knows_what_a_verb_returns(tmp_path):
    """It has read the package for the test above, and remembers it."""
    file = tmp_path / "mine.py"
    file.write_text("import workbook as wb\nwb.sesion()\nreveal_type(wb.session().platform_a.create())\n")
    command = [sys.executable, "-m", "mypy", "--strict", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 'mine.py:2: error: Module has no attribute "sesion"; maybe "session"?' in done.stdout
    assert "CreateSuccess | workbook.flows.messages.WalletPayNotSupported |" in done.stdout


def test_every_ignored_lint_rule_has_its_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text()
    (listed,) = re.findall(r"^ignore = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    assert [line for line in listed.splitlines() if not re.search(r'", +# \w', line)] == []


DEVELOPERS = [
    ".ci/run",
    ".ci/test",
    ".ci/other",
    ".ci/nightly",
    ".github/CONTRIBUTING.md",
    "tests/mutation.md",
    "tests/conftest.py",
    "README.md",
]


@pytest.mark.parametrize("name", [name for name in DEVELOPERS if (ROOT / name).exists()])
def test_every_file_that_developers_are_sent_to_is_there(name):
    """A file that moves takes with it the lines that name it: pytest passes over an `--ignore` that is nowhere."""
    text = (ROOT / name).read_text("utf-8")
    named = set(re.findall(r"\b(?:tests|workbook|fixtures|notebooks)/[\w/.*-]*\w", text))
    assert [path for path in sorted(named) if not [*ROOT.glob(path), *ROOT.glob(f"{path}*")]] == []
