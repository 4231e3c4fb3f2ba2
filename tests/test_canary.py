"""A canary key goes through everything that writes, and stands in nothing that was written.

The notebooks run against a real server as if it were the operator's API, which is also the proof that
`source=api` makes the GET real and says where the real world ends.
"""

import base64
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from workbook.simulation.service import Service
from workbook.simulation.world import Credential, World
from workbook.tools.mockserver.server import running

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
CANARY = "CANARY-7f3a9c51e0b24d68-KEY"
SPELLINGS = (CANARY, CANARY.lower(), base64.b64encode(CANARY.encode()).decode(), CANARY.encode().hex(), CANARY[:16])

SILENT = {"06", "07", "08"}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report directory and the printed output of a run of all notebooks with the canary as their key.

    Without 06 to 08: they judge samples and ask no API. tests/tools/conform/back_end plants canaries there. With each
    change two lessons run, at night all of them.
    """
    out = tmp_path_factory.mktemp("canary") / "report"
    world = replace(World(seed=99), credentials={CANARY: Credential()})
    with running(Service(world)) as base_url:
        names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem[:2] not in SILENT)
        if "WORKBOOK_EVERYTHING" not in os.environ:
            names = names[1:3]
        command = [sys.executable, "-m", "workbook", "run", *names, "--out", str(out), "-p", "source=api"]
        environment = {**os.environ, "WORKBOOK_API_KEY": CANARY, "WORKBOOK_BASE_URL": base_url}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return out, done


@pytest.mark.rule("REL-2")
def test_the_key_stands_in_nothing_that_was_written(report):
    out, done = report
    texts = {str(path): path.read_text(errors="replace") for path in out.rglob("*") if path.is_file()}
    assert len(texts) >= 5
    texts |= {"stdout": done.stdout, "stderr": done.stderr}
    assert [(name, form) for name, text in texts.items() for form in SPELLINGS if form in text] == []


def test_a_real_api_is_asked_and_the_notebooks_say_where_it_ends(report):
    out, done = report
    assert done.returncode == 0, done.stdout + done.stderr
    first = (out / "01_activation_data.ipynb").read_text()
    second = (out / "02_sdk_init_and_can_provision.ipynb").read_text()
    assert "Not possible here" in first
    assert "The GET was real." in second
