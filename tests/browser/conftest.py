"""Real JupyterLab on copies of the notebooks, in a real browser; skipped with a reason where there is none."""

import json
import os
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium():
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("CI promises a browser, and there is no chromium on this machine")
    if found is None:
        pytest.skip("there is no chromium on this machine")
    return found


def unrun(notebook):
    """The notebook as if nobody had run it, so that a cell which has run can be told from a stored one."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return notebook


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a JupyterLab on copies of the notebooks, and where the copies are."""
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        (folder / path.name).write_text(json.dumps(unrun(json.loads(path.read_text()))))
    with socket.create_server(("127.0.0.1", 0)) as chosen:  # two workers that look for one at once find the same
        port = chosen.getsockname()[1]
    command = [sys.executable, "-m", "workbook", "lab", "--no-browser", "--port", str(port)]
    command += ["--notebooks", str(folder)]
    environment = {**os.environ, "HOME": str(folder.parent)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        line = next(line for line in process.stdout if "http://" in line)
        yield "http://" + line.split("http://", 1)[1].strip(), folder
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(20)


@contextmanager
def opened_page(chromium):
    """A page of a fresh browser, which remembers what went wrong on it and what it asked for."""
    from playwright.sync_api import sync_playwright  # only where there is a browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.troubles, page.asked = [], []
        page.on("console", lambda message: message.type == "error" and page.troubles.append(message.text))
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        yield page
        browser.close()


@pytest.fixture
def page(chromium):
    """A page of its own for one test."""
    with opened_page(chromium) as page:
        yield page


@pytest.fixture(scope="module")
def board(chromium):
    """One page for all tests of a module."""
    with opened_page(chromium) as page:
        yield page
