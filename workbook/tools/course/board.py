"""The board: a page for the trainer that shows where each seat of a room is, and who needs help.

    GET  /              the page: public, and says nothing; its script asks for the room with the trainer's token
    GET  /room          the room as JSON, for the trainer's token
    PUT  /seats/{seat}  takes a seat's `progress.json`, for the learners' token, which reads nothing

Each answer is computed from progress files alone: those in learners' copies below a folder, and those that were sent,
which the board keeps in a folder of its own. The trainer's token is in the fragment of the page's address, which a
browser sends to nobody.
"""

import hashlib
import json
import os
import re
import socket
import ssl
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from secrets import token_urlsafe
from typing import Any
from urllib.parse import unquote

from workbook.base.files import read_regular, write_whole
from workbook.base.rules import sentence
from workbook.base.terminal import say, visible
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import Exercise, all_exercises
from workbook.lessons.exercises.progress import PROGRESS, WATCHED, Progress, Standing
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.tools.mockserver.serve import Denied, bears, make_page, problem
from workbook.tools.mockserver.server import (
    Certificate,
    Server,
    is_loopback,
    listening,
    new_authority,
    run_until_signal,
)

# Bytes of a document; one with every exercise of the course has a sixth of it.
LARGEST_PROGRESS = 65_536

# What the progress of each seat says of the room. Everything here is computed from `Progress` and the time.


def overview(seats: Iterable[Progress], now: datetime) -> dict[str, Any]:
    """The room as JSON values: `seats` (who needs help first) and `costs` (most minutes first).

    Args:
        seats: the newest progress of each.
        now: in UTC.
    """
    works: dict[str, list[Standing]] = {}
    rows = []
    for progress in seats:
        rows.append(_seat(progress, now))
        asks = progress.help.exercise if progress.help else ""
        for name, work in progress.exercises.items():
            if work.attempts or work.hints or name == asks:  # who has only run the lesson has tried nothing
                works.setdefault(name, []).append(work)
    rows.sort(key=lambda row: (-row["hand"], not row["stuck"], row["seat"]))
    costs = sorted((_cost(*item) for item in works.items()), key=lambda row: (-row["minutes"], row["exercise"]))
    return {"seats": rows, "costs": costs[:6]}


def _seat(progress: Progress, now: datetime) -> dict[str, Any]:
    """The row of one seat; `hand` is the minutes that it has been up, -1 while it is down."""
    hand = progress.help
    name = progress.now or ""
    exercise = _known_exercises().get(name)
    work = progress.exercises.get(name)
    return {
        "seat": progress.seat,
        "exercise": _title(name) + (", solved" if work and work.passed else ""),
        "since": _minutes(work.first, now) if work and not work.passed else None,
        "wrong": sum(work.wrong.values()) if work else 0,
        "solved": sum(each.passed is not None for each in progress.exercises.values()),
        "of": len(_known_exercises()),
        "hand": _minutes(hand.since, now) if hand else -1,
        "for": hand.exercise if hand else "",
        "stuck": stuck(work, exercise.minutes if exercise else 5, now),
    }


def stuck(work: Standing | None, meant: int, now: datetime) -> str:
    """Why a seat is stuck at the exercise that it works on, in a sentence; empty where it is not.

    All of it is assumed: three wrong answers of one kind, or five of any; or twice the minutes that the exercise is
    meant to take, and ten at least, since the first answer.
    """
    if work is None or work.passed:
        return ""
    kind, times = _most_frequent(work.wrong)
    if times >= 3:
        return f"wrong {times} times: {_explain(kind)}"
    if (wrong := sum(work.wrong.values())) >= 5:
        return f"{wrong} different wrong answers"
    spent = _minutes(work.first, now)
    return f"{spent} min, meant for {meant}" if spent >= max(10, 2 * meant) else ""


def _cost(name: str, works: list[Standing]) -> dict[str, Any]:
    """What an exercise has cost the room, and its most frequent wrong answer."""
    kind, times = _most_frequent(sum((Counter(work.wrong) for work in works), Counter[str]()))
    return {
        "exercise": _title(name),
        "minutes": round(sum(work.minutes for work in works)),
        "seats": len(works),
        "solved": sum(work.passed is not None for work in works),
        "wrong": f"{_explain(kind)} ({times} {'time' if times == 1 else 'times'})" if times else "",
    }


def _most_frequent(wrong: Mapping[str, int]) -> tuple[str, int]:
    """The most frequent kind of wrong answer, and how often it was given."""
    return max(sorted(wrong.items()), key=lambda row: row[1], default=("", 0))


def _explain(kind: str) -> str:
    """A kind of wrong answer, with the ledger's sentence where it is a rule."""
    rule = sentence(kind)
    return f"{kind}, {rule.partition(': ')[2]}" if rule else kind


@cache
def _known_exercises() -> Mapping[str, Exercise]:
    return all_exercises()


def _title(name: str) -> str:
    return f"{name} {_known_exercises()[name].title}" if name in _known_exercises() else name


def _minutes(since: datetime, now: datetime) -> int:
    """Whole minutes from a time to now; 0 where a seat's clock is ahead."""
    return max(0, (now - since) // timedelta(minutes=1))


# Where the progress is.


def progress_files(folder: Path, depth: int = 4) -> Iterator[Path]:
    """The progress files of the copies below a folder, at most so many folders deep; no link is followed."""
    for place, below, names in os.walk(folder):
        if PROGRESS in names:
            yield Path(place, PROGRESS)
        if PROGRESS in names or len(Path(place).relative_to(folder).parts) >= depth:
            below.clear()
        below[:] = sorted(name for name in below if not name.startswith("."))


def read_progress(path: Path) -> Progress:
    """The progress in a file of somebody else's.

    Raises:
        OSError: it cannot be read, or is a link, which may lead anywhere.
        ConfigurationError: it is no progress.
    """
    if path.is_symlink():
        raise OSError(0, "it is not a regular file")
    content = read_regular(path, LARGEST_PROGRESS)
    if len(content) > LARGEST_PROGRESS:
        raise ConfigurationError(f"The progress is larger than {LARGEST_PROGRESS:,} bytes.")
    return Progress.of(content)


def is_older(progress: Progress, other: Progress) -> bool:
    """Whether nothing was done in the one for as long as in the other."""
    return other.last is not None and (progress.last is None or progress.last < other.last)


@dataclass
class Board:
    """Answers the requests of one room.

    Attributes:
        sent: the folder that keeps what was sent, as `SEAT/progress.json`.
        join: what a learner's `.board.json` holds; its `token` is the learners'.
        trainer: the trainer's token.
        folder: whose progress files are shown as well.
        most_seats: no more are taken, so that nobody can fill the disk (assumed).
    """

    sent: Path
    join: dict[str, str] = field(repr=False)
    trainer: str = field(repr=False)
    folder: Path | None = None
    most_seats: int = 200

    def respond(self, request: Request) -> Response:
        """The answer; no value that was sent is repeated in a refusal."""
        path = request.target.partition("?")[0]
        basis = "workbook: board"
        if path == "/" and request.method in ("GET", "HEAD"):
            return make_page(Path(__file__).with_name("board"), basis)
        try:
            answer = self._answer(request, path)
        except Denied as error:
            return problem(error, basis)
        except OSError:  # such as a full disk
            return problem(Denied(507, "The board cannot keep this. Send it again later."), basis)
        return Response(200, (*JSON_HEADERS, ("cache-control", "no-store")), json.dumps(answer).encode(), basis)

    def _answer(self, request: Request, path: str) -> dict[str, Any]:
        seat = unquote(path.removeprefix("/seats/"))
        asks_for_room = (request.method, path) == ("GET", "/room")
        if not asks_for_room and not (request.method == "PUT" and path.startswith("/seats/") and seat):
            raise Denied(404, "The board has GET room, for the trainer, and PUT seats/NAME, for learners.")
        if not bears(request, self.trainer if asks_for_room else self.join["token"]):
            wanted = "Send the token of the trainer, or for a seat the learners', in authorization: Bearer TOKEN."
            raise Denied(401, wanted, (("www-authenticate", "Bearer"),))
        return self.room(datetime.now(UTC)) if asks_for_room else {"newest": self.take(request.body, seat)}

    def room(self, now: datetime) -> dict[str, Any]:
        """What the page shows: the newest progress of each seat, and what is wrong with files that are no progress."""
        newest: dict[str, Progress] = {}
        unread = []
        for folder in filter(None, (self.sent, self.folder)):
            for path in progress_files(folder):
                try:
                    progress = read_progress(path)
                except FileNotFoundError:  # just removed
                    continue
                except (OSError, ConfigurationError) as error:
                    name = visible(str(path.parent.relative_to(folder)))[:60]
                    unread.append(f"{name}: {getattr(error, 'strerror', None) or error}")
                    continue
                known = newest.get(progress.seat)
                if known is None or not is_older(progress, known):
                    newest[progress.seat] = progress
        about = {"join": self.join, "folder": visible(str(self.folder or "")), "unread": unread[:5]}
        return about | overview(newest.values(), now)

    def take(self, content: bytes, seat: str) -> bool:
        """Keep the progress of a seat; returns False where a newer one is kept.

        Raises:
            Denied: it is too large, no progress, of another seat or of the future, or there are too many seats.
            OSError: it cannot be kept.
        """
        if len(content) > LARGEST_PROGRESS:
            raise Denied(413, f"The progress is larger than {LARGEST_PROGRESS:,} bytes.")
        try:
            progress = Progress.of(content)
        except ConfigurationError as error:
            raise Denied(400, str(error)) from None
        if progress.seat != seat:
            raise Denied(400, "The progress is of another seat than the address says.")
        if progress.last is not None and progress.last > datetime.now(UTC) + timedelta(minutes=1):
            raise Denied(
                400, "The clock of this seat is ahead of the board's. Set it right, and send the progress again."
            )
        path = self.sent / seat / PROGRESS
        if not path.exists() and len([*self.sent.iterdir()]) >= self.most_seats:
            raise Denied(403, f"The board has {self.most_seats} seats, and takes no more.")
        with suppress(FileNotFoundError, ConfigurationError):  # none yet, or damaged
            if is_older(progress, read_progress(path)):
                return False
        path.parent.mkdir(exist_ok=True)
        write_whole(path, progress.text())
        return True


# How a board runs.


def serve_board(data: Path, folder: Path | None = None, host: str = "127.0.0.1", port: int = 8765) -> int:
    """Run a board until Ctrl-C, SIGTERM or SIGHUP; returns the exit code.

    Args:
        data: the board's own folder: what was sent, the tokens, and the certificate. A board that is started again on
            it goes on with them.
        folder: where learners' copies are, or will be; None shows only what is sent.
        host: the address to listen on; https is spoken on any but loopback.
        port: the same after a restart, because learners have the address.

    Raises:
        ConfigurationError: a folder or the address cannot be used.
    """
    with closing(listening(host, port, allow_remote=True)) as listener, ExitStack() as at_end:
        reached = own_address() if host in ("0.0.0.0", "::") else host  # compared  # noqa: S104
        place = f"{f'[{reached}]' if ':' in reached else reached}:{listener.getsockname()[1]}"
        certificate = None
        told = []
        try:
            learners, trainer = _tokens(data)
            join = {"token": learners, "address": f"http://{place}/"}
            if not is_loopback(host):
                certificate, fingerprint = room_certificate(data, reached)
                told = [f"Its certificate, SHA-256: {fingerprint}"]
                join |= {"address": f"https://{place}/", "fingerprint": fingerprint}
            write_whole(data / "join.json", json.dumps(join) + "\n")
            learners = f"Learners: put {str(data / 'join.json')!r} as .board.json at the top of each copy."
            if folder is not None:
                folder.mkdir(parents=True, exist_ok=True)  # a hub makes it for its first seat
                (folder / WATCHED).touch()
                at_end.callback((folder / WATCHED).unlink, missing_ok=True)
                learners = f"It shows the copies below {str(folder)!r}: {len([*progress_files(folder)])} so far."
        except OSError as error:
            raise ConfigurationError(f"{error.filename!r} cannot be used: {error.strerror}.") from None
        server = Server(Board(data / "seats", join, trainer, folder).respond, most_body=LARGEST_PROGRESS)
        server.listen(listener, certificate)
        lines = [
            f"The board, for you alone: {join['address']}#{trainer}",
            *told,
            learners,
            "Stop with Ctrl-C.",
        ]
        run_until_signal(server, lambda: say("\n".join(lines)))
    return 0


def _tokens(data: Path) -> list[str]:
    """The tokens of the learners and of the trainer, made once for this folder, which is the owner's alone."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / "seats").mkdir(exist_ok=True)
    file = data / "tokens"
    if not file.exists() or not file.stat().st_size:  # empty, where one was ended between these two lines
        file.touch(0o600)
        write_whole(file, f"{token_urlsafe(24)}\n{token_urlsafe(24)}\n")
    return file.read_text("utf-8").split()


def own_address() -> str:
    """The address by which this machine leaves for another network, or loopback's; no packet is sent."""
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # an address for examples
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def room_certificate(data: Path, host: str) -> tuple[Certificate, str]:
    """The certificate for this address, made once, and its SHA-256 fingerprint.

    A client that trusts the authority's file beside it, `HOST.ca.pem`, trusts this board and nothing more.

    Raises:
        OSError: a file cannot be read or written.
    """
    from trustme import LeafCert  # brings cryptography

    name = host.replace(":", "_")
    file = data / f"{name}.pem"
    authority_file = data / f"{name}.ca.pem"
    if not file.exists():
        authority = new_authority()
        write_whole(authority_file, authority.cert_pem.bytes().decode())
        until = datetime.now(UTC) + timedelta(days=800)  # a browser refuses one that is valid for more than 825
        issued = authority.issue_cert(host, not_after=until)
        file.touch(0o600)
        write_whole(file, issued.private_key_and_cert_chain_pem.bytes().decode())
    pem = file.read_bytes()
    first = re.search(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem.decode(), re.DOTALL)
    if first is None:
        raise OSError(0, f"{file.name} holds no certificate; delete it")
    fingerprint = hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0])).digest().hex(":").upper()
    return Certificate(authority_file, LeafCert(pem, b"", [])), fingerprint
