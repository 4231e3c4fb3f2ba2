"""Looks at this machine: can the workbook run here, and if not, what to do."""

from __future__ import annotations

import os
import socket
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

DISTRIBUTION: Final = "provisioning-workbook"
OLDEST_PYTHON: Final = (3, 11)
COARSEST_CLOCK: Final = 0.001  # seconds
PLAUSIBLE_YEARS: Final = range(2025, 2061)
WIDGET_MANAGER: Final = "@jupyter-widgets/jupyterlab-manager"


@dataclass(frozen=True, slots=True)
class Health:
    """What one check found.

    Attributes:
        name: of the check.
        ok: nothing to do.
        text: what was found; for a bad one, what to do about it too.
    """

    name: str
    ok: bool
    text: str

    def __str__(self) -> str:
        return f"{'ok' if self.ok else 'bad':<4} {self.name:<12} {self.text}"


def python(version: Sequence[int]) -> Health:
    """The interpreter is new enough."""
    shown = ".".join(str(part) for part in version[:3])
    if tuple(version[:2]) >= OLDEST_PYTHON:
        return Health("python", ok=True, text=shown)
    return Health("python", ok=False, text=f"{shown}; install Python 3.11 or later and make a new venv with it")


def packages(requires: Callable[[], Iterable[str] | None], installed: Callable[[str], str]) -> Health:
    """Every dependency is installed in a version that pyproject.toml allows.

    Args:
        requires: gives the requirements; raises ModuleNotFoundError when the workbook is not installed.
        installed: gives a distribution's version; raises ModuleNotFoundError when it is missing.
    """
    try:
        needed = _needed(requires() or ())
    except ModuleNotFoundError:
        return Health("packages", ok=False, text=f"{DISTRIBUTION} is not installed; pip install -e . in the checkout")
    wrong = [told for requirement in needed if (told := _wrong(requirement, installed))]
    if wrong:
        return Health("packages", ok=False, text=f"{'; '.join(wrong)}; install the workbook again in a new venv")
    return Health("packages", ok=True, text=f"{len(needed)} within their bounds")


def _needed(requires: Iterable[str]) -> list[Any]:
    from packaging.requirements import Requirement  # noqa: PLC0415  # comes with JupyterLab; not at every start

    parsed = [Requirement(text) for text in requires]
    return [each for each in parsed if each.marker is None or each.marker.evaluate({"extra": ""})]


def _wrong(requirement: Any, installed: Callable[[str], str]) -> str | None:
    try:
        version = installed(requirement.name)
    except ModuleNotFoundError:
        return f"{requirement.name} is missing"
    if requirement.specifier.contains(version, prereleases=True):
        return None
    return f"{requirement.name} is {version}, needed {requirement.specifier}"


def kernel(start: Callable[[], str]) -> Health:
    """A kernel starts and adds 1 and 1; `start` returns its answer."""
    begun = time.monotonic()
    try:
        answer = start()
    except Exception as error:  # noqa: BLE001  # whatever keeps a kernel from starting is the finding
        told = " ".join(str(error).split())[:200]
        return Health("kernel", ok=False, text=f"did not start ({told or type(error).__name__}); reinstall ipykernel")
    if answer != "2":
        return Health("kernel", ok=False, text=f"says that 1 + 1 is {answer!r}; reinstall ipykernel")
    return Health("kernel", ok=True, text=f"started in {time.monotonic() - begun:.1f} s")


def widgets(labextensions: Iterable[Path]) -> Health:
    """JupyterLab has the extension that shows widgets."""
    for directory in labextensions:
        if (directory / WIDGET_MANAGER / "package.json").is_file():
            return Health("widgets", ok=True, text=WIDGET_MANAGER)
    return Health("widgets", ok=False, text="JupyterLab has no widget manager; reinstall jupyterlab_widgets")


def writing(directory: Path) -> Health:
    """A report can be written below the current directory."""
    try:
        with TemporaryFile(dir=directory):
            return Health("writing", ok=True, text="the current directory can be written")
    except OSError as error:
        told = f"not possible in {directory} ({error.strerror}); go elsewhere, or use --out DIR"
        return Health("writing", ok=False, text=told)


def loopback(bind: Callable[[], int]) -> Health:
    """A port of 127.0.0.1 can be had; `bind` takes one and returns it."""
    try:
        return Health("loopback", ok=True, text=f"port {bind()} was free")
    except OSError as error:
        told = f"no port on 127.0.0.1 ({error.strerror or error}); a sandbox or firewall may forbid it"
        return Health("loopback", ok=False, text=told)


def clock(resolution: float, now: float) -> Health:
    """The monotonic clock is fine enough to measure a budget, and the date can be true.

    Args:
        resolution: of the monotonic clock, in seconds.
        now: the wall clock, in seconds since 1970.
    """
    date = datetime.fromtimestamp(now, UTC)
    if resolution > COARSEST_CLOCK:
        return Health("clock", ok=False, text=f"steps of {resolution:g} s are too coarse to measure a 100 ms budget")
    if date.year not in PLAUSIBLE_YEARS:
        return Health("clock", ok=False, text=f"says {date:%Y-%m-%d}; set it, or certificates will be refused")
    return Health("clock", ok=True, text=f"{date:%Y-%m-%d} UTC, steps of {resolution:g} s")


def environment(environ: Mapping[str, str]) -> Health:
    """The settings for a real API are both there or both absent, and well formed; a value is never shown."""
    names = ("WORKBOOK_BASE_URL", "WORKBOOK_API_KEY")
    told = ", ".join(f"{name} {'set' if name in environ else 'not set'}" for name in names)
    wrong = _wrong_settings(*(environ.get(name) for name in names))
    if wrong:
        return Health("environment", ok=False, text=f"{told}; {wrong}")
    return Health("environment", ok=True, text=told)


def _wrong_settings(base_url: str | None, key: str | None) -> str | None:
    if (base_url is None) != (key is None):
        return "a real API needs both; the simulation needs neither"
    if base_url is None or key is None:
        return None
    if not _is_web_address(base_url):
        return "WORKBOOK_BASE_URL is not an address like https://host"
    if not key.isascii() or not key.isprintable() or " " in key or not key:
        return "WORKBOOK_API_KEY is empty, or has spaces or characters that no header can carry; copy it again"
    return None


def _is_web_address(text: str) -> bool:
    try:
        url = urlsplit(text)
    except ValueError:
        return False
    return url.scheme in {"http", "https"} and bool(url.hostname)


def _requires() -> list[str] | None:
    from importlib.metadata import requires  # noqa: PLC0415  # only when asked

    return requires(DISTRIBUTION)


def _installed(name: str) -> str:
    from importlib.metadata import version  # noqa: PLC0415  # only when asked

    return version(name)


def _labextensions() -> list[Path]:
    from jupyter_core.paths import jupyter_path  # noqa: PLC0415  # only when asked

    return [Path(place) for place in jupyter_path("labextensions")]


def _start_kernel() -> str:
    from workbook.runner.probe import one_plus_one  # noqa: PLC0415  # starts a kernel

    return one_plus_one()


def _bind() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


CHECKS: Final[tuple[Callable[[], Health], ...]] = (
    lambda: python(sys.version_info[:3]),
    lambda: packages(_requires, _installed),
    lambda: kernel(_start_kernel),
    lambda: widgets(_labextensions()),
    lambda: writing(Path.cwd()),
    lambda: loopback(_bind),
    lambda: clock(time.get_clock_info("monotonic").resolution, time.time()),
    lambda: environment(os.environ),
)


def examine(checks: Iterable[Callable[[], Health]] = CHECKS) -> Iterator[Health]:
    """Make each check in turn; findings come as they are made."""
    for check in checks:
        yield check()
