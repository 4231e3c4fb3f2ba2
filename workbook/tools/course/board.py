"""The board: one live page for the trainer, which shows where each seat of a room is, and who needs help.

    GET  {prefix}              the page: public, and says nothing; its script asks for the room with the trainer's token
    GET  {prefix}room          the room as JSON, for the trainer's token
    PUT  {prefix}seats/{seat}  takes a seat's `progress.json`, for the learners' token, which reads nothing

The trainer's token is in the fragment of the page's address, which a browser sends to nobody. Progress also comes from
a folder: each `progress.json` below it is read when it has changed. Whatever comes, the history keeps it first.
"""

import json
import os
import sqlite3
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from secrets import token_urlsafe
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import unquote

from workbook.base.files import read_regular, write_whole
from workbook.base.rules import sentence
from workbook.base.terminal import say, visible
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import Exercise, all_exercises
from workbook.lessons.exercises.progress import PROGRESS, Progress, Standing
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.tools.course.tls import certify, own_address
from workbook.tools.mockserver.control import Denied, bears, checked_token, problem, scripted_page
from workbook.tools.mockserver.server import Certificate, Server, is_loopback, listening, run_until_signal

# What the progress of each seat says of the room: who needs help, what costs most, what was solved when.
#
# Everything here is computed from each seat's `Progress` and the time: no file, no socket, no clock of its own.


def stuck(work: Standing | None, meant: int, now: datetime) -> str:
    """Why a seat is stuck at the exercise that it works on, in a sentence; empty where it is not.

    All of it is assumed: three wrong answers of one kind, or five of any; or twice the minutes that the exercise is
    meant to take, and ten at least, since the first answer.
    """
    if work is None or work.passed:
        return ""
    kind, times = _most(work.wrong)
    if times >= 3:
        return f"wrong {times} times: {in_words(kind)}"
    if (wrong := sum(work.wrong.values())) >= 5:
        return f"{wrong} different wrong answers"
    spent = _minutes(work.first, now)
    return f"{spent} min, meant for {meant}" if spent >= max(10, 2 * meant) else ""


def in_words(kind: str) -> str:
    """A kind of wrong answer, with the ledger's sentence where it is a rule."""
    return f"{kind}, {words.partition(': ')[2]}" if (words := sentence(kind)) else kind


def overview(seats: Iterable[Progress], passed: Iterable[datetime], now: datetime) -> dict[str, Any]:
    """The room as JSON values: `seats` (who needs help first), `costs` (most minutes first), `solved` (over time).

    Args:
        seats: the newest progress of each.
        passed: when each exercise was solved at each seat, also where it was reset afterwards.
        now: in UTC.
    """
    works: dict[str, list[Standing]] = {}
    for progress in seats:
        for name, work in progress.exercises.items():
            works.setdefault(name, []).append(work)
    rows = sorted((_seat(each, now) for each in seats), key=lambda row: (-row["hand"], not row["stuck"], row["seat"]))
    costs = sorted((_cost(*item) for item in works.items()), key=lambda row: (-row["minutes"], row["exercise"]))
    start = now - timedelta(hours=4)  # what the curve shows at most (assumed)
    late = [_minutes(at, now) for at in sorted(passed) if at >= start]
    solved = {"before": len([at for at in passed if at < start]), "minutes_ago": late}
    return {"seats": rows, "costs": costs[:6], "solved": solved}


def _seat(progress: Progress, now: datetime) -> dict[str, Any]:
    """The row of one seat; `hand` is the minutes that it has been up, -1 while it is down."""
    hand, at = progress.help, progress.now or ""
    exercise, work = _known().get(at), progress.exercises.get(at)
    return {
        "seat": progress.seat,
        "exercise": _title(at),
        "since": _minutes(work.first, now) if work and not work.passed else None,
        "wrong": sum(work.wrong.values()) if work else 0,
        "solved": sum(each.passed is not None for each in progress.exercises.values()),
        "of": len(_known()),
        "hand": _minutes(hand.since, now) if hand else -1,
        "for": hand.exercise if hand else "",
        "stuck": stuck(work, exercise.minutes if exercise else 5, now),
    }


def _cost(name: str, works: list[Standing]) -> dict[str, Any]:
    """What an exercise has cost the room, and its most frequent wrong answer."""
    kind, times = _most(sum((Counter(work.wrong) for work in works), Counter[str]()))
    return {
        "exercise": _title(name),
        "minutes": round(sum(work.minutes for work in works)),
        "seats": len(works),
        "solved": sum(work.passed is not None for work in works),
        "wrong": f"{in_words(kind)} ({times} {'time' if times == 1 else 'times'})" if times else "",
    }


def _most(wrong: Mapping[str, int]) -> tuple[str, int]:
    """The most frequent kind of wrong answer, and how often it was given."""
    return max(sorted(wrong.items()), key=lambda row: row[1], default=("", 0))


@cache
def _known() -> Mapping[str, Exercise]:
    return all_exercises()


def _title(name: str) -> str:
    return f"{name} {_known()[name].title}" if name in _known() else name


def _minutes(since: datetime, now: datetime) -> int:
    """Whole minutes from a time to now; 0 where a seat's clock is ahead."""
    return max(0, (now - since) // timedelta(minutes=1))


# What the board remembers, in one SQLite file: the newest progress of each seat, what was solved when, its own tokens.
#
# What `keep` has returned for is on the disk: it survives the end of the process and of the machine. One board at a
# time writes the file; a second one is refused.


class History:
    """An open file; it is made where there is none, for its owner only.

    Raises:
        ConfigurationError: it cannot be used: another board has it, it is no history, or it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        with self._told():
            # a link could lead into a file of somebody else's
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600))
            self._file = sqlite3.connect(path, timeout=0.2, check_same_thread=False)
            self._file.execute("PRAGMA locking_mode = EXCLUSIVE")
            ours = 0x57424452  # in the file's head: no file of another program is written, or deleted at the end
            if path.stat().st_size and self._file.execute("PRAGMA application_id").fetchone() != (ours,):
                raise sqlite3.DatabaseError("it is the database of another program")
            self._file.executescript(f"""
                PRAGMA application_id = {ours}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                CREATE TABLE IF NOT EXISTS seats (seat PRIMARY KEY, progress NOT NULL);
                CREATE TABLE IF NOT EXISTS solved (seat, exercise, at NOT NULL, PRIMARY KEY (seat, exercise));
                CREATE TABLE IF NOT EXISTS tokens (name PRIMARY KEY, value NOT NULL);
            """)
            rows = self._file.execute("SELECT progress FROM seats").fetchall()
        self.seats = {each.seat: each for (content,) in rows for each in [Progress.of(content)]}

    def keep(self, new: Progress) -> bool:
        """Keep a seat's progress; returns False where a newer one of that seat is kept, which then stays.

        Raises:
            ConfigurationError: it cannot be written.
        """
        solved = [(new.seat, name, work.passed.isoformat()) for name, work in new.exercises.items() if work.passed]
        with self._lock:
            known = self.seats.get(new.seat)
            if known and known.last and (new.last is None or new.last < known.last):
                return False
            if known != new:
                with self._told(), self._file:
                    self._file.execute("REPLACE INTO seats VALUES (?, ?)", (new.seat, new.text()))
                    self._file.executemany("INSERT OR IGNORE INTO solved VALUES (?, ?, ?)", solved)
                self.seats = {**self.seats, new.seat: new}  # another thread may be going through the old one
        return True

    def passed(self) -> list[datetime]:
        """When each exercise was first solved at each seat."""
        with self._lock, self._told():
            return [datetime.fromisoformat(at) for (at,) in self._file.execute("SELECT at FROM solved")]

    def token(self, name: str) -> str:
        """A token: made once, and the same after a restart."""
        with self._lock, self._told(), self._file:
            self._file.execute("INSERT OR IGNORE INTO tokens VALUES (?, ?)", (name, token_urlsafe(24)))
            return str(self._file.execute("SELECT value FROM tokens WHERE name = ?", (name,)).fetchone()[0])

    def close(self) -> None:
        """Give the file back."""
        with self._lock, suppress(sqlite3.Error):
            self._file.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the file in our words."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            locked = "another board uses it; end that one first"
            why = locked if "locked" in str(error) else getattr(error, "strerror", None) or str(error)
            raise ConfigurationError(
                f"The history {str(self._path)!r} cannot be used: {why}. To name another file: --history FILE"
            ) from None


# Bytes of a document; one with every exercise of the course has a sixth of it.
LARGEST_PROGRESS = 65_536
# The file at the top of a learner's copy that says where its progress is sent, and with which token.
JOIN_FILE = ".board.json"


@dataclass
class Board:
    """Answers the requests of one room.

    Attributes:
        history: keeps what comes.
        join: what a learner's `.board.json` holds; its `token` is the learners'.
        trainer: the trainer's token.
        prefix: the path that the board is below; begins and ends with `/`.
        folder: whose `progress.json` files are shown as well.
        most_seats: no more are taken, so that nobody can fill the disk (assumed).
        unread: what is wrong with a file of the folder, by the copy that it is in.
    """

    history: History
    join: dict[str, str] = field(repr=False)
    trainer: str = field(repr=False)
    prefix: str = "/"
    folder: Path | None = None
    most_seats: int = 200
    unread: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    def respond(self, request: Request) -> Response:
        """The answer; no value that was sent is repeated in a refusal."""
        path = request.target.partition("?")[0]
        name = path.removeprefix(self.prefix) if path.startswith(self.prefix) else "?"
        basis = "workbook: board"
        try:
            if name == "" and request.method in ("GET", "HEAD"):
                return scripted_page(Path(__file__).with_name("board"), basis)
            answer = self._answer(request, name)
        except Denied as error:
            return problem(error, basis)
        except ConfigurationError:  # a full disk, for one: what cannot be kept is not acknowledged
            return problem(Denied(507, "The board cannot write its history. Send it again later."), basis)
        return Response(200, (*JSON_HEADERS, ("cache-control", "no-store")), json.dumps(answer).encode(), basis)

    def _answer(self, request: Request, name: str) -> dict[str, object]:
        match request.method, *name.partition("seats/"):
            case "GET", "room", "", "":
                token = self.trainer
            case "PUT", "", "seats/", seat if seat:
                token = self.join["token"]
            case _:
                raise Denied(404, "The board has GET room, for the trainer, and PUT seats/NAME, for learners.")
        if not bears(request, token):
            wanted = "Send the token of the trainer, or for a seat the learners', in authorization: Bearer TOKEN."
            raise Denied(401, wanted, (("www-authenticate", "Bearer"),))
        return self.room(datetime.now(UTC)) if name == "room" else {"newest": self.take(request.body, unquote(seat))}

    def room(self, now: datetime) -> dict[str, object]:
        """What the page shows."""
        unread = [f"{visible(name)[:60]}: {why}" for name, why in [*self.unread.items()][:5]]
        about = {"join": self.join, "folder": visible(str(self.folder or "")), "unread": unread}
        return about | overview([*self.history.seats.values()], self.history.passed(), now)

    def take(self, content: bytes, seat: str | None = None) -> bool:
        """Keep the progress of a seat; returns False where a newer one is kept.

        Raises:
            Denied: it is too large, no progress, of another seat than `seat`, or there are too many seats.
            ConfigurationError: it cannot be written.
        """
        if len(content) > LARGEST_PROGRESS:
            raise Denied(413, f"The progress is larger than {LARGEST_PROGRESS:,} bytes.")
        try:
            sent = Progress.of(content)
        except ConfigurationError as error:
            raise Denied(400, str(error)) from None
        if seat not in (None, sent.seat):
            raise Denied(400, "The progress is of another seat than the address says.")
        if sent.seat not in self.history.seats and len(self.history.seats) >= self.most_seats:
            raise Denied(403, f"The board has {self.most_seats} seats, and takes no more.")
        return self.history.keep(sent)

    def look(self, folder: Path) -> None:
        """Read what has changed in the folder since the last look."""
        unread = {}
        for copy in copies(folder):
            path, name = copy / PROGRESS, str(copy.relative_to(folder))
            with suppress(FileNotFoundError):
                try:
                    state = path.lstat()
                    version = (state.st_mtime_ns, state.st_size, state.st_ino)
                    if self._seen.get(name) == version and name not in self.unread:
                        continue
                    if not stat.S_ISREG(state.st_mode):  # a seat may have put a link there
                        raise OSError(0, "it is no regular file")  # noqa: TRY301
                    self.take(read_regular(path, LARGEST_PROGRESS))
                    self._seen[name] = version
                except FileNotFoundError:
                    raise
                except (OSError, Denied, ConfigurationError) as error:
                    unread[name] = str(getattr(error, "strerror", None) or error)
        self.unread = unread


def copies(folder: Path, depth: int = 4) -> Iterator[Path]:
    """The learners' copies in a folder: what has a `progress.json` or a `.board.json`; no link is followed."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
        if {PROGRESS, JOIN_FILE} & {entry.name for entry in found}:
            yield folder
        elif depth:
            for entry in found:
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                    yield from copies(Path(entry.path), depth - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardOptions:
    """How to run a board.

    Attributes:
        history: the file that it remembers in.
        folder: where learners' copies are; None takes only what is sent.
        host: the address to listen on; https is spoken on any but loopback.
        port: the same after a restart, because learners have the address.
        prefix: the path that it is below, such as `/services/board/`.
        given: the certificate of one's own and its key, PEM; None makes one.
        tokens: of the learners and of the trainer; an empty one is made, once for each history.
    """

    history: Path
    folder: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8765
    prefix: str = "/"
    given: tuple[Path, Path] | None = None
    tokens: tuple[str, str] = field(default=("", ""), repr=False)


def serve_board(options: BoardOptions) -> int:
    """Run a board until Ctrl-C, SIGTERM or SIGHUP; returns the exit code.

    Raises:
        ConfigurationError: a file, a token or the address cannot be used.
    """
    if options.folder is not None and not options.folder.is_dir():
        raise ConfigurationError(f"There is no folder {str(options.folder)!r}. Name the one with the learners' copies.")
    with ExitStack() as stack:
        listener = stack.enter_context(listening(options.host, options.port, allow_remote=True))
        history = stack.enter_context(closing(History(options.history)))
        names = ("learners", "trainer")
        learners, trainer = (
            checked_token(given or history.token(name)) for given, name in zip(options.tokens, names, strict=True)
        )
        host = own_address() if options.host in ("0.0.0.0", "::") else options.host  # compared  # noqa: S104
        certificate, join, told = None, {"token": learners}, ""
        if options.given or not is_loopback(options.host):
            certificate, fingerprint = _certificate(options, host)
            told = f"Its certificate, SHA-256: {fingerprint}\n"
            if not options.given:
                join["fingerprint"] = fingerprint
        place = f"{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        join["address"] = f"{'https' if certificate else 'http'}://{place}{options.prefix}"
        joining = options.history.with_suffix(".join.json")
        write_whole(joining, json.dumps(join) + "\n")
        board = Board(history, join, trainer, options.prefix, options.folder)
        server = Server(board.respond, most_body=LARGEST_PROGRESS)
        server.listen(listener, certificate)
        if options.folder:
            stack.enter_context(_looking(board, options.folder))
        lines = f"The board, for you alone: {join['address']}#{trainer}\n{told}Learners: put {str(joining)!r} as "
        lines += f"{JOIN_FILE} at the top of each copy.\n{len(history.seats)} seats are known. Stop with Ctrl-C."
        run_until_signal(server, lambda: say(lines))
    return 0


def _certificate(options: BoardOptions, host: str) -> tuple[Certificate, str]:
    """The certificate beside the history, and its fingerprint."""
    from trustme import LeafCert  # brings cryptography

    file = options.history.with_suffix(".pem")
    fingerprint = certify(file, host, options.given)
    issued = LeafCert(file.read_bytes(), b"", [])
    return Certificate(file.with_suffix(".ca.pem"), issued), fingerprint


@contextmanager
def _looking(board: Board, folder: Path) -> Iterator[None]:
    """Look into the folder every second, on a thread, for as long as the block lasts."""
    ended = Event()

    def look() -> None:
        board.look(folder)
        while not ended.wait(1.0):
            board.look(folder)

    thread = Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
