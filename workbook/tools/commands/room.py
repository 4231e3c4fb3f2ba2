"""Looks at a machine on the evening before a workshop, as `doctor` does for one learner: what is short, what to do."""

import shutil
import ssl
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from workbook.base.files import FIXTURES, NOTEBOOKS, needs_lab
from workbook.errors import ConfigurationError
from workbook.tools.commands.doctor import Health, extra, packages, python
from workbook.tools.course.bundle import check_bundle
from workbook.tools.course.hub import Room, check_address, read_room


def look_at_room(seats: int | None, folder: Path | None, bundle: Path | None) -> Iterator[Health]:
    """Look at this machine, and at what is named of a bundle and of a room on a server.

    Args:
        seats: how many learners work on this machine at once; None where each has an own one.
        folder: the room, as `workbook course hub` made it.
        bundle: the zip file.

    Raises:
        ConfigurationError: the folder holds no room, or a package is missing.
    """
    with needs_lab("`workbook course check`"):
        import psutil  # type: ignore[import-untyped]  # ipykernel brings it

    room = read_room(folder) if folder else Room(host="127.0.0.1", port=8443, seats=[], accounts=[])
    if room is None:
        raise ConfigurationError(f"{str(folder)!r} holds no room. Make one: workbook course hub --out DIR")
    yield python(sys.version_info[:3])
    yield packages(lambda: metadata.requires("provisioning-workbook"), metadata.version)
    yield looked("browser", browser)
    if bundle:
        yield looked("bundle", lambda: check_bundle(bundle))
    if count := seats or len(room.seats):
        memory, disk = psutil.virtual_memory().available, shutil.disk_usage(folder or Path.cwd()).free
        lessons = sum(path.stat().st_size for top in (NOTEBOOKS, FIXTURES) for path in top.rglob("*") if path.is_file())
        yield extra("jupyterhub", find_spec("jupyterhub"), "`course hub`", "hub")
        yield looked("ports", lambda: ports(room))
        # a seat's 160 MB (PSS) were measured; 500 MB for the rest, and thrice the lessons with copies, are assumed
        yield looked("memory", lambda: enough(memory / 1e6, count, 160, 500))
        yield looked("disk", lambda: enough(disk / 1e6, count, 3 * lessons / 1e6, 100))
    if folder:
        yield looked("certificate", lambda: certificate(folder, room.host))


def looked(name: str, look: Callable[[], str]) -> Health:
    """What a look at something says; where it raises ConfigurationError, what is short and what to do."""
    try:
        return Health(name, ok=True, text=look())
    except ConfigurationError as error:
        return Health(name, ok=False, text=str(error))


def ports(room: Room) -> str:
    """The room's four ports are free."""
    check_address(room)
    return f"{room.port} to {room.port + 3} are free"


def browser(find: Callable[[str], str | None] = shutil.which) -> str:
    """A browser, to see what learners will see."""
    known = ("chromium", "google-chrome", "firefox", "microsoft-edge", "safari")
    try:
        return next(filter(None, map(find, known)), "") or type(webbrowser.get()).__name__
    except webbrowser.Error:
        raise ConfigurationError("none was found; install Firefox or Chromium, and open lesson 00 in it") from None


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


def certificate(folder: Path, host: str) -> str:
    """Whom a room's certificate names, and how long it is valid; a browser's own checks are made, in memory.

    Raises:
        ConfigurationError: a browser would refuse it within a week.
    """
    advice = f"Give one for {host}, or have one made: workbook course hub"
    own = folder / "ca.pem" if (folder / "ca.pem").exists() else None
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=own)
        server.load_cert_chain(folder / "private" / "certificate.pem", password="")
        near = client.wrap_bio(to_client, to_server, server_hostname=host)
        for side in (near, server.wrap_bio(to_server, to_client, server_side=True)) * 2:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue  # the other one's turn
        shown = near.getpeercert() or {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{getattr(error, 'verify_message', '') or error}. {advice}") from None
    days = (ssl.cert_time_to_seconds(str(shown["notAfter"])) - time.time()) // 86400  # seconds of a day
    if days < 7:
        raise ConfigurationError(f"It ends in {days:.0f} days. {advice}")
    names = ", ".join(str(pair[1]) for pair in shown["subjectAltName"])
    return f"for {names}; {days:.0f} days left{'; made here: browsers ask once' if own else ''}"
