import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from workbook.errors import ConfigurationError
from workbook.lessons.quiet_start import quiet_options
from workbook.tools.commands.lab import LAB_HOST, Lab, free_port

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "a",
            "metadata": {},
            "outputs": [],
            "source": "import sys; print(sys.executable)",
        }
    ],
    "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
CHROMIUM = "/usr/bin/chromium"
BROWSER_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture
def notebooks(tmp_path):
    return _notebooks_in(tmp_path)


def _notebooks_in(tmp_path):
    directory = tmp_path / "project" / "notebooks"
    directory.mkdir(parents=True)
    (directory / "00_start_here.ipynb").write_text(json.dumps(NOTEBOOK))
    return directory


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """JupyterLab as a person starts it, with an empty home; Ctrl-C ends it."""
    home = tmp_path_factory.mktemp("home")
    notebooks = _notebooks_in(tmp_path_factory.mktemp("lab"))
    process = subprocess.Popen(
        [sys.executable, "-m", "workbook", "lab", "--no-browser"],
        env={"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        cwd=notebooks.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield re.search(r"http\S+", process.stdout.readline())[0]
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert told == ""
    assert [path.name for path in notebooks.parent.iterdir()] == ["notebooks"]


def test_it_starts_with_an_empty_home_and_answers(address):
    base, token = re.fullmatch(
        r"(http://127\.0\.0\.1:\d+)/lab/tree/notebooks/00_start_here\.ipynb\?token=(\S+)", address
    ).groups()
    request = urllib.request.Request(f"{base}/api/status", headers={"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
    request = urllib.request.Request(f"{base}/api/kernelspecs", headers={"Authorization": f"token {token}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        specs = json.load(answer)
    assert specs["default"] == "python3"
    assert specs["kernelspecs"]["python3"]["spec"]["argv"][0] == sys.executable


@pytest.mark.browser
@pytest.mark.needs("chromium")
@pytest.mark.nightly
def test_a_person_is_asked_nothing_and_nothing_leaves_the_machine(address):
    from playwright.sync_api import sync_playwright  # only where there is a browser

    asked = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=BROWSER_ARGS)
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        # keys that come before the kernel is there may be lost while JupyterLab still lays out its page
        page.get_by_text("Python 3 | Idle").wait_for(timeout=60_000)
        page.locator(".jp-Notebook .jp-Cell").first.click(timeout=60_000)
        page.keyboard.press("Shift+Enter")
        page.wait_for_selector(".jp-OutputArea-output", timeout=60_000)
        page.wait_for_timeout(1500)
        assert sys.executable in page.locator(".jp-OutputArea-output").first.inner_text()
        assert page.locator(".Toastify__toast").count() == 0
        assert page.locator(".jp-Dialog").count() == 0
        assert page.locator('[data-id="extensionmanager.main-view"]').count() == 0
        browser.close()
    own = address.partition("/lab/")[0]
    assert [url for url in asked if not url.startswith((own, "data:", "blob:"))] == []


@pytest.mark.nightly
def test_the_browser_is_opened_without_the_token_on_a_command_line(notebooks, tmp_path):
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\ncp "${{1#file://}}" {opened}.html\necho "$@" > {opened}\n')
    browser.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "workbook", "lab", "--notebooks", str(notebooks)],
        env={"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": str(ROOT), "BROWSER": str(browser)},
        stdout=subprocess.PIPE,
        text=True,
    )
    url = re.search(r"http\S+", process.stdout.readline())[0]
    until = time.monotonic() + 60
    while not opened.exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    page, token = url.split("?token=")
    assert token not in opened.read_text()
    assert f"{page}?token={token}" in (tmp_path / "opened.html").read_text()


def test_the_token_is_not_on_the_command_line(notebooks, tmp_path):
    lab = Lab(notebooks, free_port(), browser=False)
    assert lab.token not in " ".join(lab.command(tmp_path))
    environment = lab.environment(tmp_path, {"JUPYTER_PATH": "mine"})
    assert environment["JUPYTER_TOKEN"] == lab.token
    assert environment["JUPYTER_PATH"] == os.pathsep.join([str(tmp_path / "jupyter"), "mine"])
    assert ("--allow-root" in lab.command(tmp_path)) is (os.geteuid() == 0)
    assert f"--ServerApp.ip={LAB_HOST}" in lab.command(tmp_path)
    assert set(quiet_options(tmp_path)) < set(lab.command(tmp_path))


def test_without_a_first_notebook_it_opens_the_files(tmp_path):
    (tmp_path / "other.ipynb").write_text("{}")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/lab\?token=.{32}", Lab(tmp_path, free_port(), browser=False).url)


def test_a_taken_port_is_refused_when_it_was_asked_for():
    with socket.create_server((LAB_HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} is taken"):
            free_port(port)
    assert free_port(port) == port
    with pytest.raises(ConfigurationError, match="There is no port 99999"):
        free_port(99999)


def test_a_server_that_does_not_start_is_one_error(notebooks, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ConfigurationError, match="did not start"):
        Lab(notebooks, free_port(), browser=False).run(tell=print)


def test_a_port_that_another_program_takes_meanwhile_is_named(notebooks, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    lab = Lab(notebooks, free_port(), browser=False)
    with (
        socket.create_server((LAB_HOST, lab.port)),
        pytest.raises(ConfigurationError, match=f"Port {lab.port} is taken or not allowed; choose another with --port"),
    ):
        lab.run(tell=print)


def test_a_server_that_answers_without_a_token_is_refused(notebooks):
    with socket.create_server((LAB_HOST, 0)) as listener:

        def answer():
            for _request in range(2):
                connection, _address = listener.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")

        Thread(target=answer, daemon=True).start()
        lab = Lab(notebooks, listener.getsockname()[1])
        with pytest.raises(ConfigurationError, match="switches the token off"):
            lab._wait_until_ready(SimpleNamespace(poll=lambda: None))


@pytest.mark.nightly
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
def test_jupyterlab_ends_with_a_workbook_that_was_killed(notebooks, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "workbook", "lab", "--no-browser", "--notebooks", str(notebooks)],
        env={"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    port = int(re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())[1])
    process.kill()
    process.communicate()
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((LAB_HOST, port)):
                return
        time.sleep(0.1)
    pytest.fail("JupyterLab still listens")
