"""The CI files for a team's own repository: their schemas, and each of their shell lines, run as it stands.

What the systems bring themselves is not run here: the `uses:` steps of the workflow, and the plugins' steps of Jenkins.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from fnmatch import fnmatch
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from sample_projects import good_project

from workbook.base.files import sample
from workbook.lessons.exercises.editions import copy_lessons
from workbook.tools.harness.output import FORMS

GITHUB, GITLAB, JENKINS = FILES = [sample(f"ci/{name}") for name in ("github.yml", "gitlab-ci.yml", "Jenkinsfile")]
SITE = sample("ci/site.yml")
REPORT = r"\b(?:conform|preflight|report)/[\w-]+\.\w+"
ROOT = Path(__file__).parent.parent
MANUAL = ROOT / "notebooks" / "reference" / "ci.md"


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


@pytest.mark.parametrize("path", [*FILES, SITE], ids=lambda path: path.name)
def test_what_is_installed_is_a_file_and_never_a_name_of_an_index(path):
    """The name is free for anybody, so who asks an index for it gets whatever somebody put there."""
    text = path.read_text()
    (wheel,) = re.findall(r"^ +WORKBOOK(?:: | = ')([^ ']+)", text, re.MULTILINE)
    assert wheel == f"wheels/provisioning_workbook-{version('provisioning-workbook')}-py3-none-any.whl"
    (installed,) = re.findall(r"pip install (.*?)'?$", text, re.MULTILINE)
    assert re.fullmatch(r'"\$WORKBOOK\[[a-z,]+\]"', installed)
    assert "provisioning-workbook" not in text


def test_what_a_line_writes_is_kept():
    upload = next(step for step in workflow()["steps"] if "upload-artifact" in step.get("uses", ""))
    jobs = [job for job in yaml.safe_load(GITLAB.read_text()).values() if isinstance(job, dict)]
    kept = {
        GITHUB: upload["with"]["path"].split(),
        GITLAB: [path for job in jobs if "script" in job for path in job["artifacts"]["paths"]],
        JENKINS: re.search(r"artifacts: '(.*)'", JENKINS.read_text())[1].replace("/**", "").split(", "),
    }
    for path, patterns in kept.items():
        written = {name for line in lines(path) for name in re.findall(r"--out (\S+)", line)}
        assert len(written) == 5
        assert [name for name in written if not any(fnmatch(name, pattern) for pattern in patterns)] == []


def test_each_report_that_a_file_hands_on_is_one_that_is_written():
    written = {"report/junit.xml"}
    written |= {f"{tool}/{name}" for tool in ("conform", "preflight") for name in (*FORMS, f"{tool}.sarif")}
    named = [(path, name) for path in FILES for name in re.findall(REPORT, path.read_text())]
    assert [(path.name, name) for path, name in named if name not in written] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_was_not_looked_at_fails_both_judges(path):
    for name, command in (("PREFLIGHT", "preflight app"), ("CONFORM", "conform back-end.toml")):
        assert re.search(rf"{name}(: | = ')--strict\b", path.read_text())
        assert [line for line in lines(path) if f"workbook {command} ${name} --out" in line]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_line_is_the_same_in_every_run(path):
    """What differs from run to run, and every secret, comes from the environment: nothing is filled into a line."""
    assert [line for line in lines(path) if "${" in line or "{{" in line] == []


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
    good_project(folder / "copy", "a").rename(folder / "app")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "wheels")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    source = "import workbook as wb\nsession = wb.session(globals())\nwb.check('it holds', True, rule='API-1')"
    cell = {"cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / "00_start_here.ipynb").write_text(json.dumps(book))
    shutil.rmtree(folder / "copy")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8",
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        # what the wheel needs is installed already: pip must not ask the network, nor replace this checkout
        "PIP_NO_INDEX": "1", "PIP_DRY_RUN": "1",
        **workflow()["env"], "ANN": "of-ann-7d1f", "BOB": "of-bob-93c2",
        "CONFORM": os.environ.get("CI_CONFORM", "--only relay.get.path relay.post.path"),
    }  # fmt: skip

    def run(line, **more):
        command = ["bash", "-e", "-c", line]
        done = subprocess.run(command, cwd=folder, env=environment | more, capture_output=True, text=True, check=False)
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


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("program", "code", "element"),
    [("reference.py", 0, None), ("broken.py EncodedTwice", 1, "failure"), ("none.py", 2, "error")],
)
def test_a_good_back_end_is_green_a_bad_one_red_and_one_that_does_not_start_an_error(ran, program, code, element):
    folder, run = ran
    good = (folder / "back-end.toml").read_text()
    (folder / "back-end.toml").write_text(good.replace(" reference.py\n", f" {program}\n"))
    shutil.rmtree(folder / "last", ignore_errors=True)
    conform, changes, keep = (next(line for line in lines(GITHUB) if word in line) for word in
                              ("workbook conform", "last/conform", "mv next last"))  # fmt: skip
    try:
        told = run(conform, CONFORM="--strict --only relay.get.sdk-input-byte-exact relay.post.path")
        assert told[0] == code, told[1]
        endings = [row.tag for row in ET.parse(folder / "conform" / "conform.xml").findall(".//testcase/*")]
        assert (element in endings) if element else endings == []
        assert run(changes)[0] == 0  # there is no last run
        (folder / "report").mkdir(exist_ok=True)
        (folder / "preflight").mkdir(exist_ok=True)
        assert run(keep)[0] == 0
        assert run(changes)[0] == (2 if code == 2 else 0)  # it is as bad as the last run, but not undecided
    finally:
        (folder / "back-end.toml").write_text(good)
