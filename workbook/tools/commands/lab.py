"""Starts JupyterLab on the first notebook: on this machine only, without questions and without the network.

Everything set here lives in a private temporary directory; neither the project nor the user's own
settings are touched, and the user's theme stays.
"""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.parse import quote

from workbook.base.children import python_command
from workbook.base.files import ScratchFolder
from workbook.base.terminal import end_with_parent
from workbook.base.values import check_port
from workbook.errors import ConfigurationError
from workbook.lessons.quiet_start import quiet_options, with_kernel, write_settings
from workbook.tools.commands.runner import FIRST_NOTEBOOK

LAB_HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Lab:
    """One JupyterLab, before it starts.

    Attributes:
        notebooks: the notebooks' directory; its parent is what the file browser shows.
        port: on 127.0.0.1.
        browser: whether JupyterLab opens one.
        token: the part of the address that lets a browser in.
    """

    notebooks: Path
    port: int
    browser: bool = True
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def url(self) -> str:
        """The address of the first notebook, with the token."""
        return f"http://{LAB_HOST}:{self.port}{self._page}?token={self.token}"

    @property
    def _page(self) -> str:
        first = f"/tree/{quote(self.notebooks.name)}/{FIRST_NOTEBOOK}"
        return f"/lab{first if (self.notebooks / FIRST_NOTEBOOK).is_file() else ''}"

    def command(self, private: Path) -> list[str]:
        """The command line; `private` holds the settings."""
        return [
            *python_command("-m", "jupyterlab"),
            # JupyterLab opens the browser itself: by a private file, so that no command line shows the token
            *([] if self.browser else ["--no-browser"]),
            f"--LabApp.default_url={self._page}",
            "--ServerApp.log_level=ERROR",
            "--LabApp.log_level=ERROR",
            # a reader's own Jupyter configuration may open these doors; the command line is stronger
            "--ServerApp.allow_origin=",
            "--ServerApp.allow_origin_pat=",
            "--ServerApp.allow_remote_access=False",
            "--ServerApp.disable_check_xsrf=False",
            f"--ServerApp.ip={LAB_HOST}",
            f"--ServerApp.port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={self.notebooks.parent}",
            *quiet_options(private),
        ]

    def environment(self, private: Path, environ: Mapping[str, str]) -> dict[str, str]:
        """The process's environment: the token, which other users could read on a command line, and our kernel."""
        return {**environ, "JUPYTER_TOKEN": self.token, **with_kernel(private, environ)}

    def run(self, tell: Callable[[str], None]) -> int:
        """Start, tell the address, and stay until it ends or Ctrl-C; returns the exit code.

        Raises:
            ConfigurationError: it did not start within 60 s, or answers without the token.
        """
        with ScratchFolder() as scratch:
            private = Path(scratch)
            write_settings(private)
            process = subprocess.Popen(  # noqa: S603  # this interpreter, and arguments of ours
                self.command(private),
                env=self.environment(private, os.environ),
                # a session of its own: Ctrl-C reaches only this process, which then asks the server once
                start_new_session=True,
                preexec_fn=end_with_parent(),  # noqa: PLW1509  # no other thread runs yet
            )
            try:
                self._wait_until_ready(process)
                tell(f"JupyterLab: {self.url}\nCtrl-C ends it.")
                return process.wait()
            except KeyboardInterrupt:
                return 0
            finally:
                self._end(process)

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + 60.0  # seconds
        while not self._succeeds("GET", "/api/status", within=2.0):
            if process.poll() is not None:
                free_port(self.port)  # raises if another program took the port meanwhile
                raise ConfigurationError("JupyterLab did not start; its own message is above. Try: workbook doctor")
            if time.monotonic() > until:
                raise ConfigurationError("JupyterLab did not answer within 60 s.")
            time.sleep(0.1)
        if self._succeeds("GET", "/api/status", within=2.0, with_token=False):
            raise ConfigurationError(
                "Your Jupyter configuration switches the token off, so any page in a browser could run code here. "
                "Remove the empty token from it (jupyter --paths shows where it is)."
            )

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """Ask the server to end, then insist. A signal alone makes it write a line about it on the terminal."""
        within = 10.0  # seconds for each of the three
        if process.poll() is None and self._succeeds("POST", "/api/shutdown", within=within):
            with suppress(subprocess.TimeoutExpired):
                process.wait(within)
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(within)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _succeeds(self, method: str, path: str, *, within: float, with_token: bool = True) -> bool:
        """Whether the server answers with 200 within so many seconds."""
        authorization = {"Authorization": f"token {self.token}"} if with_token else {}
        request = urllib.request.Request(f"http://{LAB_HOST}:{self.port}{path}", headers=authorization, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with suppress(OSError, HTTPException), opener.open(request, timeout=within) as answer:
            return bool(answer.status == HTTPStatus.OK)
        return False


def free_port(wanted: int | None = None) -> int:
    """The wanted port, or the first free one from 8888.

    Raises:
        ConfigurationError: the wanted port is taken, or all ports are.
    """
    for port in range(8888, 8988) if wanted is None else [check_port(wanted)]:
        with closing(socket.socket()) as probe, suppress(OSError):
            # as the server itself does: a port in TIME_WAIT is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((LAB_HOST, port))
            return int(probe.getsockname()[1])
    which = f"Port {wanted} is" if wanted is not None else "Every port from 8888 to 8987 is"
    raise ConfigurationError(f"{which} taken or not allowed; choose another with --port.")
