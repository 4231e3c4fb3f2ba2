"""The CI files for a team's own repository: their schemas, and each of their shell lines, run as it stands.

What the systems bring themselves is not run here: the `uses:` steps of the workflow, and the plugins' steps of Jenkins.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workbook.base.files import sample
from workbook.lessons.exercises.editions import copy_lessons
from workbook.tools.commands import cli

GITHUB, GITLAB, JENKINS = (sample(f"ci/{name}") for name in ("github.yml", "gitlab-ci.yml", "Jenkinsfile"))
MANUAL = Path(__file__).parent.parent / "notebooks" / "reference" / "ci.md"


def workflow():
    return yaml.safe_load(GITHUB.read_text())["jobs"]["workbook"]


def lines(path):
    """The shell lines of a file, in the order in which they run."""
    if path == JENKINS:
        return [line[1:-1] for line in re.findall(r"^ +sh (.*)$", path.read_text(), re.MULTILINE)]
    if path == GITHUB:
        return [step["run"] for step in workflow()["steps"] if "run" in step]
    document = yaml.safe_load(path.read_text())
    jobs = [job for job in document.values() if isinstance(job, dict) and "script" in job]
    return [*document["default"]["before_script"], *(line for job in jobs for line in job["script"])]


def test_the_three_run_the_same_lines():
    (summary,) = [line for line in lines(GITHUB) if "GITHUB_STEP_SUMMARY" in line]
    assert sorted(lines(GITLAB)) == sorted(lines(JENKINS)) == sorted({*lines(GITHUB)} - {summary})


@pytest.mark.parametrize("path", [GITHUB, GITLAB, JENKINS], ids=lambda path: path.name)
def test_a_line_is_the_same_in_every_run(path):
    """What differs from run to run, and every secret, comes from the environment: nothing is filled into a line."""
    assert [line for line in lines(path) if "${" in line or "{{" in line] == []


def test_every_command_of_a_line_is_one_of_ours():
    """At night each line runs as it stands."""
    words = [shlex.split(part) for line in lines(GITHUB) for part in re.findall(r"\bworkbook ([^&|;>]*)", line)]
    assert len(words) >= 4
    for command in words:
        assert callable(cli.parsed([word for word in command if word != "$CONFORM"]).handler)


def test_the_manual_names_what_is_not_run_here():
    actions = {step["uses"] for step in workflow()["steps"] if "uses" in step}
    assert set(re.findall(r"`([a-z-]+/[\w/-]+@v\d+)`", MANUAL.read_text())) == actions


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "path", "more"),
    [("github-workflows", GITHUB, ()), ("gitlab-ci", GITLAB, ("--data-transform", "gitlab-ci"))],
    ids=["github", "gitlab"],
)
def test_the_published_schema_allows_it(schema, path, more):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *more, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A team's repository, and what runs a line in it as the workflow does: the exit code, and what was printed."""
    folder = tmp_path_factory.mktemp("team")
    copy_lessons(folder / "copy")
    shutil.copytree(folder / "copy" / "fixtures" / "back_ends", folder, dirs_exist_ok=True)
    shutil.copytree(folder / "copy" / "fixtures" / "projects" / "platform_a", folder / "app")
    source = "import workbook as wb\nsession = wb.session(globals())\nwb.check('it holds', True, rule='API-1')"
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / "00_start_here.ipynb").write_text(json.dumps(book))
    shutil.rmtree(folder / "copy")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "PIP_NO_INDEX": "1",  # what it asks for is installed already: it must not ask the network
        **workflow()["env"], "ANN": "of-ann-7d1f", "BOB": "of-bob-93c2",
        "CONFORM": os.environ.get("CI_CONFORM", "--only relay.get.path relay.post.path"),
    }  # fmt: skip

    def run(line):
        command = ["bash", "-e", "-c", line]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return folder, run


@pytest.mark.slow
@pytest.mark.nightly
def test_every_line_runs_as_it_stands_and_a_second_run_compares_with_the_first(ran):
    folder, run = ran
    for line in lines(GITHUB):
        code, told = run(line)
        assert code == 0, f"{line}\n{told}"
    assert not (folder / "changes.txt").exists()  # there was no last run
    for name in ("conform/conform.sarif", "preflight/preflight.sarif", "report/junit.xml"):
        assert (folder / name).is_file()
        assert (folder / "last" / name).is_file()
    assert "Newly failing" not in (folder / "summary.md").read_text()

    document = json.loads((folder / "conform" / "conform.json").read_text())
    document["cases"][0]["verdict"] = "fail"
    (folder / "conform" / "conform.json").write_text(json.dumps(document))
    changes, summary = ([line for line in lines(GITHUB) if word in line] for word in ("last/conform", "SUMMARY"))
    assert run(changes[0])[0] == 1
    assert run(summary[0])[0] == 0
    assert "Newly failing (1)" in (folder / "summary.md").read_text()
