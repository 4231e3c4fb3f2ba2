"""Looks at a machine on the evening before a workshop, as `doctor` does for one learner: what is short, what to do."""

import json
import shutil
import socket
import ssl
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from workbook.base.files import FIXTURES, NOTEBOOKS, needs_lab, pip_line
from workbook.commands.doctor import Health, packages, python
from workbook.course.bundle import check_bundle
from workbook.errors import ConfigurationError


def room_checks(seats: int | None, folder: Path | None, bundle: Path | None) -> Iterator[Callable[[], Health]]:
    """What to look at, for `examine`: this machine, and what is named of a bundle and of a room on a server.

    Args:
        seats: how many learners work on this machine at once; None where each has an own one.
        folder: the hub's, as `workbook course hub` made it.
        bundle: the zip file.

    Raises:
        ConfigurationError: the folder holds no room.
    """
    try:
        text = (folder / "seats.json").read_text("utf-8") if folder else '{"host": "", "port": 8443, "seats": []}'
        room = json.loads(text)
        host, port, count = str(room["host"]), int(room["port"]), seats or len(room["seats"])
    except (OSError, ValueError, TypeError, KeyError):
        raise ConfigurationError(f"{str(folder)!r} holds no room. Make one: workbook course hub --out DIR") from None
    yield lambda: python(sys.version_info[:3])
    yield lambda: packages(lambda: metadata.requires("provisioning-workbook"), metadata.version)
    yield lambda: looked("browser", browser)
    if bundle:
        yield lambda: looked("bundle", lambda: check_bundle(bundle))
    if count:
        yield lambda: looked("jupyterhub", jupyterhub)
        yield lambda: looked("ports", lambda: ports(port))
        yield lambda: looked("memory", lambda: memory(count))
        yield lambda: looked("disk", lambda: disk(count, folder or Path.cwd()))
    if folder:
        yield lambda: looked("certificate", lambda: certificate(folder, host, datetime.now(UTC)))


def looked(name: str, look: Callable[[], str]) -> Health:
    """What a look at something says; where it raises ConfigurationError, what is short and what to do."""
    try:
        return Health(name, ok=True, text=look())
    except ConfigurationError as error:
        return Health(name, ok=False, text=str(error))


def browser(find: Callable[[str], str | None] = shutil.which) -> str:
    """A browser, to see what learners will see."""
    known = ("chromium", "google-chrome", "firefox", "microsoft-edge", "safari")
    try:
        return next(filter(None, map(find, known)), "") or type(webbrowser.get()).__name__
    except webbrowser.Error:
        raise ConfigurationError("none was found; install Firefox or Chromium, and open lesson 00 in it") from None


def jupyterhub() -> str:
    """The version of JupyterHub."""
    try:
        return metadata.version("jupyterhub")
    except ModuleNotFoundError:
        raise ConfigurationError(f"not installed: {pip_line('hub')}") from None


def ports(first: int) -> str:
    """The port for learners, and the three above it, which the hub uses on loopback."""
    for port in range(first, first + 4):
        with closing(socket.socket()) as probe:
            try:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                why = f"{port} cannot be used ({error.strerror}); end what listens there (the room itself may), or"
                raise ConfigurationError(f"{why} choose others: workbook course hub --port") from None
    return f"{first} to {first + 3} are free"


@needs_lab("`workbook course check`")
def memory(seats: int) -> str:
    """The memory: 125 MB (PSS) for each seat were measured; hub, proxy and the rest take 500 MB (assumed)."""
    import psutil  # type: ignore[import-untyped]  # ipykernel brings it

    return enough(psutil.virtual_memory().available / 1e6, seats, 125, 500)


def disk(seats: int, folder: Path) -> str:
    """The disk: each seat has a copy of the lessons, what Jupyter saves of it, and a backup (assumed)."""
    copy = sum(path.stat().st_size for place in (NOTEBOOKS, FIXTURES) for path in place.rglob("*") if path.is_file())
    return enough(shutil.disk_usage(folder).free / 1e6, seats, 3 * copy / 1e6, 100)


def enough(free: float, seats: int, each: float, besides: float) -> str:
    """Whether so many MB are enough for all seats.

    Raises:
        ConfigurationError: they are not; says how many seats they are enough for.
    """
    needed = seats * each + besides
    said = f"{needed:,.0f} MB for {seats} seats, {free:,.0f} MB are free"
    if free < needed:
        fit = max(0, int((free - besides) // each))
        raise ConfigurationError(f"{needed - free:,.0f} MB are short: {said}, enough for {fit}. Free some, or move.")
    return said


def certificate(folder: Path, host: str, now: datetime) -> str:
    """Whom the room's certificate names, and how long it is valid; a browser's own checks are made.

    Raises:
        ConfigurationError: a browser would refuse it, or it ends within a week.
    """
    advice = f"Give one that is valid for {host}, or have one made: workbook course hub"
    made_here = folder / "ca.pem" if (folder / "ca.pem").exists() else None
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        server.load_cert_chain(folder / "private" / "certificate.pem", password="")
        client = ssl.create_default_context(cafile=made_here)
        near = client.wrap_bio(to_client, to_server, server_hostname=host)
        for side in (near, server.wrap_bio(to_server, to_client, server_side=True)) * 2:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue  # the other one's turn
        shown = near.getpeercert() or {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{getattr(error, 'verify_message', '') or error}. {advice}") from None
    days = (ssl.cert_time_to_seconds(str(shown["notAfter"])) - now.timestamp()) // 86400  # seconds of a day
    if days < 7:
        raise ConfigurationError(f"it ends in {days:.0f} days. {advice}")
    names = ", ".join(str(pair[1]) for pair in shown["subjectAltName"])
    return f"for {names}; {days:.0f} days left{'; made here: browsers ask once' if made_here else ''}"
