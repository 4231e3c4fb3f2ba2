"""A room on one server: the folder of a JupyterHub, in which each learner has a seat.

What lies in the folder:

    ROOM.md                what the trainer has to know: how the room is started, opened, and recognised
    jupyterhub_config.py   what `jupyterhub -f` starts; local_config.py beside it is the trainer's own
    seats.json             the `Room`: where it listens, the seats' names, and the accounts that were made for it
    lessons                what each seat gets: a lesson that is mended here, or in a newer workbook, is handed out
    homes/SEAT             a seat's files; made as root, they are its account's, and closed to all other seats
    private                pass phrase, password, keys, certificate, the hub's own data: for the folder's owner only
"""

import asyncio
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import NoReturn

from workbook.base.files import FIXTURES, write_all, write_whole
from workbook.base.values import HIGHEST_PORT, quoted, whole
from workbook.errors import ConfigurationError, ParameterError
from workbook.lessons.exercises.editions import lay_out
from workbook.lessons.exercises.progress import PROGRESS, Progress
from workbook.lessons.quiet_start import quiet_options, with_kernel, write_settings
from workbook.tools.course.tls import certify, own_address
from workbook.views.templates import fill

# What a hub starts for a learner, in the learner's own account: a copy of the lessons, and JupyterLab on it.


def start_server(lessons: Path | None) -> NoReturn:
    """Hand out what is new in these lessons, None takes the workbook's own, and become the seat's server.

    Raises:
        ConfigurationError: the learner's home cannot be written, or its disk is full.
    """
    copy, private = Path.home() / "provisioning-workbook", Path.home() / ".local" / "share" / "provisioning-workbook"
    try:
        with TemporaryDirectory() as scratch:
            if lessons is None:
                lay_out(lessons := Path(scratch) / "lessons")
            hand_out(lessons, copy)
        if not (copy / PROGRESS).exists():
            write_whole(copy / PROGRESS, Progress.begun().text())
        write_settings(private)
    except OSError as error:
        raise ConfigurationError(f"Cannot write into {str(Path.home())!r}: {error.strerror or error}.") from error
    server = [sys.executable, "-m", "jupyterhub.singleuser", "--ServerApp.log_level=ERROR", *quiet_options(private)]
    os.execve(sys.executable, server, {**os.environ, **with_kernel(private, os.environ)})  # noqa: S606  # no shell


def hand_out(lessons: Path, copy: Path) -> None:
    """Bring a copy to the state of these lessons, and overwrite nothing that its owner has changed.

    A file that is as it was handed out is replaced by a mended one. Beside a changed one, the mended one goes into the
    folder `mended` of the copy. What was handed out is in the copy's `.handed-out.json`; its progress is its own.

    Raises:
        OSError: the lessons cannot be read, or the copy cannot be written; the next call does the rest.
    """
    record = copy / ".handed-out.json"
    given: dict[str, str] = json.loads(record.read_text("utf-8")) if record.exists() else {}
    files = (path for path in sorted(lessons.rglob("*")) if path.is_file() and path.name not in (record.name, PROGRESS))
    for path in files:
        name, new = path.relative_to(lessons).as_posix(), _digest(path)
        if given.get(name) == new:
            continue
        target = copy / name
        if target.exists() and _digest(target) not in (new, given.get(name)):
            target = copy / "mended" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f".{target.name}.part")
        shutil.copy(path, draft)
        draft.replace(target)
        given[name] = new
    copy.mkdir(parents=True, exist_ok=True)
    write_whole(record, json.dumps(given, indent=1))


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What `seats.json` keeps of a room.

    Attributes:
        host: the name or the IPv4 address that learners open.
        port: of the proxy, which speaks HTTPS; the four above it are used on loopback.
        seats: their names.
        accounts: the system's accounts that were made for it, whose homes are in the folder `homes`. None without root.
    """

    host: str
    port: int
    seats: list[str]
    accounts: list[str]

    @property
    def address(self) -> str:
        """Where the proxy listens: on the host's own address; for a name, which others resolve, on every address."""
        return self.host if re.fullmatch(r"[0-9.]+", self.host) else "0.0.0.0"  # noqa: S104  # a room is for others


def read_room(folder: Path) -> Room | None:
    """The room in this folder; None where there is none yet.

    Raises:
        ConfigurationError: the folder holds something else.
    """
    file = folder / "seats.json"
    with suppress(OSError, ValueError, TypeError):
        if file.exists():
            return Room(**json.loads(file.read_text("utf-8")))
        if not folder.exists() or not any(folder.iterdir()):
            return None
    raise ConfigurationError(f"{str(folder)!r} is not empty, and holds no room. Name a new folder.")


def make_room(
    folder: Path,
    *,
    seats: int | None = None,
    host: str | None = None,
    port: int | None = None,
    certificate: tuple[Path, Path] | None = None,
) -> str:
    """Make a room, or make one anew: what learners and the trainer have stays. Returns what to tell the trainer.

    Args:
        folder: where it lies.
        seats: at least so many; None keeps those that there are, or makes 30.
        host: the name or the IPv4 address that learners open; None keeps it, or takes this machine's address.
        port: of HTTPS; None keeps it, or takes 8443.
        certificate: a certificate and its key, as PEM files; None keeps what there is, or makes one.

    Raises:
        ParameterError: a value is out of range.
        ConfigurationError: the folder, a port, the certificate or an account cannot be used.
    """
    folder = folder.resolve()
    old = read_room(folder)
    was = old or Room(host=own_address(), port=8443, seats=[], accounts=[])
    names = was.seats + seat_names(len(was.seats) or 30 if seats is None else seats)[len(was.seats) :]
    accounts = [*names, "trainer"] if os.geteuid() == 0 else []
    room = Room(host=host or was.host, port=port or was.port, seats=names, accounts=accounts)
    if old and bool(old.accounts) != bool(accounts):
        raise ConfigurationError("Another user made this room. Make it anew as that one, or name a new folder.")
    if old is None or (room.host, room.port) != (old.host, old.port):
        check_address(room)
    _check_accounts(folder, room)
    private = folder / "private"
    try:
        private.mkdir(0o700, parents=True, exist_ok=True)
        (folder / "homes").mkdir(0o711, exist_ok=True)
        _open_worlds(private, [*room.seats, "trainer"])
        write_whole(folder / "seats.json", json.dumps(asdict(room), indent=1))
        fingerprint = certify(private / "certificate.pem", room.host, certificate)
        for name in room.accounts:
            _make_account(name, folder / "homes" / name)
        fresh = {"pass-phrase": "-".join(secrets.token_hex(2) for _ in range(3))}
        fresh |= {"trainer-password": secrets.token_hex(16)}  # JupyterHub takes 32 characters or more
        fresh |= {"board-token": secrets.token_urlsafe(24)}
        made = {name: secret for name, secret in fresh.items() if not (private / name).exists()}
        for name, secret in made.items():
            _write_secret(private / name, secret)
        with TemporaryDirectory() as scratch:
            lay_out(Path(scratch) / "lessons")
            hand_out(Path(scratch) / "lessons", folder / "lessons")
        sheet = _fill("room.md", folder, room, fingerprint)
        config = _fill("jupyterhub_config.pyt", folder, room, fingerprint)
        write_all({folder / "ROOM.md": sheet, folder / "jupyterhub_config.py": config})
    except OSError as error:
        raise ConfigurationError(f"Cannot write into {str(folder)!r}: {error.strerror or error}.") from error
    phrase = made.get("pass-phrase")
    return f"{sheet}\nThe pass phrase {f'is shown this once: {phrase}' if phrase else 'is as before'}"


def seat_names(count: int) -> list[str]:
    """So many names for seats, always the same: nobody's own, easy to say and to type, and fit for an account.

    Raises:
        ParameterError: there are not so many.
    """
    whole("--seats", count, least=1, most=256)
    colours = "amber black blue brown coral cyan gold green grey ivory lilac olive pink red silver white"
    birds = "heron crane crow dove duck eagle finch gull hawk kite lark owl raven robin swan wren"
    return [f"{colour}-{bird}" for bird in birds.split() for colour in colours.split()][:count]


def check_address(room: Room) -> None:
    """Refuse a host that is none, and ports on which nobody can listen."""
    if re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", room.host) is None:
        raise ParameterError(
            f"--host is {quoted(room.host)}. Give a name such as room.example.com, or an IPv4 address."
        )
    first = whole("--port", room.port, least=1, most=HIGHEST_PORT - 4)
    for address, port in [(room.address, first), *(("127.0.0.1", first + more) for more in range(1, 5))]:
        try:
            with closing(socket.socket()) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
        except OSError as error:
            why = f"Nothing can listen on {address}:{port}: {error.strerror or error}."
            raise ConfigurationError(f"{why} Choose another --port, or --host.") from error


def _check_accounts(folder: Path, room: Room) -> None:
    """Refuse accounts that are somebody else's, or that could not read the workbook."""
    import pwd  # not on Windows

    if room.accounts and which("useradd") is None:
        raise ConfigurationError("The seats' accounts are made by useradd, of Linux. Without root there are none.")
    python = Path(sys.executable)
    needed = (folder.parent, python, python.resolve(), Path(sys.base_prefix), FIXTURES.resolve())
    for part in {part for path in needed for part in (path, *path.parents)} if room.accounts else ():
        if part.exists() and not part.stat().st_mode & (0o001 if part.is_dir() else 0o004):
            raise ConfigurationError(
                f"The seats' accounts could not enter {str(part)!r}. Install Python and the workbook where all may "
                "read them, such as /opt, and put the room into /srv."
            )
    for name in room.accounts:
        with suppress(KeyError):
            if (home := pwd.getpwnam(name).pw_dir) != str(folder / "homes" / name):
                raise ConfigurationError(
                    f"The account {name} is there already, with the home {home}. Remove it, or end its room."
                )


def _make_account(name: str, home: Path) -> None:
    """An account without a password; its home is closed to all others."""
    import pwd

    try:
        account = pwd.getpwnam(name)
    except KeyError:
        words = ["useradd", "--no-create-home", "--home-dir", str(home), "--shell", "/bin/bash", "--user-group", name]
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603  # a name of ours
        if done.returncode:
            raise ConfigurationError(f"The account {name} cannot be made: {done.stderr.strip():.200}") from None
        account = pwd.getpwnam(name)
    home.mkdir(0o700, exist_ok=True)
    os.chown(home, account.pw_uid, account.pw_gid)


def _write_secret(file: Path, text: str) -> None:
    file.touch(0o600)
    write_whole(file, text)


def _open_worlds(private: Path, names: list[str]) -> None:
    """Give each name that has none a world in the data of the simulated API, and keep its key."""
    from workbook.simulation.scenario import load
    from workbook.tools.mockserver.mock import Worlds  # 100 ms

    file = private / "keys.json"
    keys: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if new := [name for name in names if name not in keys]:
        try:
            with closing(Worlds(private / "worlds.db")) as worlds:
                keys |= {name: worlds.add(load("default")) for name in new}
        except ConfigurationError as error:
            raise ConfigurationError(f"Seats are added while the hub is stopped. {error}") from error
        _write_secret(file, json.dumps(keys))


def _fill(template: str, folder: Path, room: Room, fingerprint: str) -> str:
    """One of the room's two texts: JupyterHub's configuration, or the trainer's sheet."""
    limits = Path("/run/systemd/system").is_dir() and find_spec("systemdspawner")
    return fill(
        template,
        folder=str(folder),
        room=room,
        python=sys.executable,
        jupyterhub=str(Path(sys.executable).with_name("jupyterhub")),
        fingerprint=fingerprint,
        proxy_is_there=proxy_program(folder) is not None,
        spawner="simple" if not room.accounts else "systemd" if limits else "accounts",
        seconds_apart=round(4 / (os.cpu_count() or 1), 2),  # a start takes so many seconds of one processor
    )


def proxy_program(folder: Path) -> str | None:
    """The proxy of npm, in the room's folder or on the path; None where there is none."""
    return which("configurable-http-proxy", path=f"{folder}/node_modules/.bin{os.pathsep}{os.environ.get('PATH', '')}")


def turns(seconds: float) -> Callable[[object], Awaitable[None]]:
    """What a hub awaits before it starts a server, so that each starts so many seconds after the one before it."""
    following = 0.0  # by the clock; in a function's closure, because JupyterHub copies an object for each seat

    async def take_turn(_spawner: object) -> None:
        nonlocal following
        now = time.monotonic()
        turn = max(now, following)
        following = turn + seconds
        await asyncio.sleep(turn - now)

    return take_turn
