"""The manuals: each rule exists, and the examples do what they say."""

import json
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest
from rows import rows
from texts import demand_none, read

from workbook.tools.commands import cli
from workbook.tools.conform.app.run import AppForm
from workbook.tools.conform.back_end.config import BaselineForm
from workbook.tools.sweep.matrix import DIMENSIONS, MatrixForm

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks" / "reference"
PAGES = [ROOT / "README.md", *sorted(path for path in FOLDER.glob("*.md") if path.name != "python.md")]


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["conform", "run", "drift", "preflight", "sweep"])
def test_the_exit_codes_of_a_manual_are_those_of_the_commands_help(name, capsys, generated):
    cli.main([name, "--help"])
    told = capsys.readouterr().out.split("exit codes")[1]
    codes = re.findall(r"^  (\d+) +(.*(?:\n {7}\S.*)?)", told, re.MULTILINE)
    lines = "".join(f"| {code} | {' '.join(words.split())} |\n" for code, words in codes)
    page = FOLDER / f"{name}.md"
    table = re.compile(r"(?<=\n)(\| (?:exit )?code \| meaning.*\n\|---\|---\|\n)(?:\|.*\n)+")
    made, times = table.subn(lambda old: old[1] + lines, page.read_text("utf-8"))
    assert (times, len(codes) >= 3) == (1, True)
    generated(page, made)


def headings(path):
    """What a link may name of a page or a lesson, in lower case, as a code host and JupyterLab spell it."""
    text = "\n".join(line for _, line in read(path))
    found = re.findall(r"^#+ (.*)", text, re.MULTILINE) + re.findall(r'<a id="([^"]*)"', text)
    return {re.sub(r"[^\w-]" if path.suffix == ".md" else "`", "", each.replace(" ", "-")).lower() for each in found}


@rows("path", [*PAGES, *sorted(FOLDER.parent.glob("*.ipynb"))])
def test_every_link_leads_somewhere(path):
    wrong = []
    for line, text in read(path):
        for name, heading in re.findall(r"\]\(([^)#]*)(?:#([^)]+))?\)", text):
            target = path.parent / name if name else path
            if "://" not in name and not (target.exists() and (not heading or heading.lower() in headings(target))):
                wrong.append(f"{path.name}:{line}: {name}#{heading}")
    demand_none(wrong)


@pytest.mark.parametrize(("name", "form"), [("phone", AppForm), ("conform", BaselineForm), ("sweep", MatrixForm)])
def test_every_configuration_of_a_manual_has_keys_that_there_are(name, form):
    for block in blocks(FOLDER / f"{name}.md", "toml"):
        form.model_validate(tomllib.loads(block))


def test_the_values_of_a_dimension_are_those_that_it_takes():
    page, wrong = (FOLDER / "sweep.md").read_text("utf-8"), []
    for names, values in re.findall(r"^\| (`\w+`.*?) \| [\w, ]* \| (.*) \|$", page, re.MULTILINE):
        dimensions = [DIMENSIONS[name] for name in re.findall(r"`(\w+)`", names)]
        taken = {each for of_platforms in dimensions for of_one in of_platforms.values() for each in of_one}
        wrong += [
            each
            for each in re.findall("`([^`]+)`", values)
            if re.fullmatch("[a-z][\\w -]+", each) and each not in taken
        ]
    demand_none(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in PAGES[1:] if "```text" in path.read_text()], ids=lambda p: p.stem)
def test_every_python_example_prints_what_the_page_says(path):
    pairs = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE)
    for program, printed in pairs:
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout == printed


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a block of a page in a new directory, with `workbook` on the path."""
    folder = tmp_path_factory.mktemp("shell")
    program = folder / "bin" / "workbook"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m workbook "$@"\n')
    program.chmod(0o755)

    def run(block, cwd, **values):
        # the pages leave out what a server printed: NAME=... is filled in
        for name, value in values.items():
            block = re.sub(rf"\b{name}=\S+", f"{name}={value}", block)
        script = f'PATH="{program.parent}:$PATH"; export PYTHONPATH={ROOT}; set -eu\n{block}'
        done = subprocess.run(["sh", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@contextmanager
def started(*words, cwd):
    """A server of the command line, and what it printed as JSON."""
    command = [sys.executable, "-m", "workbook", *words, "--json", "--quiet"]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, text=True, env=None)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.mark.slow
@pytest.mark.needs("curl")
def test_the_calls_of_serve_are_answered(shell, tmp_path):
    _, calls, control = blocks(FOLDER / "serve.md", "sh")
    with started("serve", "--control", cwd=tmp_path) as printed:
        answers = shell(calls, tmp_path, BASE_URL=printed["base_url"], KEY=printed["api_key"])
        assert answers.count('"sdkInput"') == 2
        urls = {"CONTROL_URL": printed["control_url"], "CONTROL_TOKEN": printed["control_token"]}
        later = json.loads(shell(control.replace("world=w1&", ""), tmp_path, **urls))
    assert [entry["method"] for entry in later["entries"]] == ["POST"]
    assert len(json.loads((tmp_path / "journal.json").read_text())["entries"]) == 2


@pytest.mark.slow
@pytest.mark.nightly
def test_the_sample_back_end_conforms(shell, tmp_path):
    page = FOLDER / "conform.md"
    printed = shell(blocks(page, "sh")[1], tmp_path)
    for line in blocks(page, "text")[0].splitlines():
        assert line in printed
