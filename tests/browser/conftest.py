"""Real JupyterLab on copies of the notebooks, in a real browser; skipped with a reason where there is none."""

import json
import os
import shutil
import socket
import subprocess
import sys
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


def unrun(text):
    """A notebook as if nobody had run it, so that a cell which has run can be told from a stored one."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return json.dumps(notebook)


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The address of a JupyterLab on copies of the notebooks, and where the copies are."""
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    folder.mkdir()
    shutil.copytree(ROOT / "fixtures", folder.parent / "fixtures")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        (folder / path.name).write_text(unrun(path.read_text()))
    # JupyterLab's own commands, for a test that has to wait until one is done
    (folder.parent / ".jupyter").mkdir()
    (folder.parent / ".jupyter" / "jupyter_lab_config.py").write_text("c.LabApp.expose_app_in_browser = True\n")
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
        process.wait(60)


@pytest.fixture(scope="module")
def browser(chromium):
    """One browser for all tests of a module. Playwright's loop must have ended before other modules run theirs."""
    from playwright.sync_api import sync_playwright  # only where there is a browser

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def profile(browser):
    """What the pages of a module keep: JupyterLab's code is read and compiled once."""
    return new_profile(browser)


def new_profile(browser):
    return browser.new_context(viewport={"width": 1280, "height": 800})


def watched(page):
    """The page; it remembers what went wrong on it and what it asked for."""
    page.troubles, page.asked = [], []
    page.on("console", lambda message: message.type == "error" and page.troubles.append(message.text))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


@pytest.fixture
def page(browser):
    """A page for one test, where nobody was before."""
    with new_profile(browser) as profile:
        yield watched(profile.new_page())


@pytest.fixture(scope="module")
def board(profile):
    """One page for all tests of a module."""
    return watched(profile.new_page())
