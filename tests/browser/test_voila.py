"""The panels in Voila: the notebook as a page of its own, live, without JupyterLab and without the network."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from urllib.parse import urlsplit

import pytest

READY_WITHIN = 60.0  # seconds

pytestmark = pytest.mark.browser


@pytest.fixture
def voila(tmp_path):
    """The address of a Voila that shows one notebook with a stage."""
    source = "from workbook.lessons.widgets.stage import stage\nstage()"
    cell = {"cell_type": "code", "id": "one", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "panels.ipynb").write_text(json.dumps(document))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "voila",
        "panels.ipynb",
        "--template=workbook",
        "--no-browser",
        f"--port={port}",
        # it is for sites without a server, and fails elsewhere
        "--VoilaConfiguration.extension_denylist=@jupyterlite/pyodide-kernel-extension",
        "--Voila.ip=127.0.0.1",
    ]
    environment = {**os.environ, "HOME": str(tmp_path)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
    try:
        yield answered(f"http://127.0.0.1:{port}/")
    finally:
        process.terminate()
        process.wait(60)


def answered(url):
    opener, until = urllib.request.build_opener(urllib.request.ProxyHandler({})), time.monotonic() + READY_WITHIN
    while time.monotonic() < until:
        try:
            opener.open(f"{url}voila/static/favicon.ico", timeout=1).close()
        except urllib.error.HTTPError:
            return url
        except OSError:
            time.sleep(0.2)
        else:
            return url
    return pytest.fail("Voila did not answer in time")


def left(page):
    """What was asked of another machine."""
    return [url for url in page.asked if url.startswith(("http", "ws")) and urlsplit(url).hostname != "127.0.0.1"]


@pytest.mark.nightly
def test_a_stage_can_be_played_in_voila_and_nothing_leaves_the_machine(page, voila):
    page.set_default_timeout(60_000)
    page.goto(voila)
    stage = page.locator(".wb-player")
    stage.wait_for()
    assert page.locator(".wb-snapshot:visible").count() == 0
    stage.locator(".wb-keys").get_by_role("button", name="Add to").click()
    stage.get_by_text("hides Add").first.wait_for()
    assert left(page) == []
    assert page.troubles == []
    refused = "fetch('http://127.0.0.2:9/').then(() => '', (error) => String(error))"
    assert "Failed to fetch" in page.evaluate(refused)
    assert all("Content Security Policy" in trouble for trouble in page.troubles)
    assert page.troubles
