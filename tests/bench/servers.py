"""The servers that are compared, each in a process of its own on a free loopback port, ended with the block."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(__file__).parent
PRISM = "@stoplight/prism-cli@5.14.2"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "workbook-bench"
"""Where Prism is installed, once; outside of the project."""
SERVE = (sys.executable, "-m", "workbook", "serve", "--json")
BARE = (sys.executable, str(HERE / "bare.py"))
UP_WITHIN = 30.0
"""Seconds that a server may take to answer."""


class Unavailable(Exception):  # noqa: N818  # a reason to leave something out
    """A server that cannot be had here, and why."""


@contextmanager
def started(command, log=subprocess.DEVNULL):
    """A server that prints JSON with its `base_url` first: the process, its address, and what it told."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=HERE.parents[1]) as process:
        try:
            told = json.loads(process.stdout.readline())
            url = urlsplit(told["base_url"])
            yield process, (url.hostname, url.port), told
        finally:
            process.kill()


@contextmanager
def prism(document):
    """Prism in its usual mode, silent, with this OpenAPI document: the process, its address, and nothing told."""
    address = ("127.0.0.1", _free_port())
    options = ["--host", address[0], "--port", str(address[1]), "--verboseLevel", "silent"]
    with subprocess.Popen([_prism(), "mock", *options, document], stdout=subprocess.DEVNULL) as process:
        try:
            _wait(process, address)
            yield process, address, {}
        finally:
            process.kill()


def _prism():
    npm = shutil.which("npm")
    program = CACHE / "node_modules" / ".bin" / "prism"
    if npm is None or shutil.which("node") is None:
        raise Unavailable("there is no Node.js with npm here")
    if not program.exists():
        install = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(CACHE), PRISM]
        CACHE.mkdir(parents=True, exist_ok=True)
        if subprocess.run(install, check=False, timeout=600).returncode:
            raise Unavailable(f"npm could not install {PRISM}")
    return str(program)


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _wait(process, address):
    until = time.monotonic() + UP_WITHIN
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(address, 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Unavailable("Prism did not start with this document")
