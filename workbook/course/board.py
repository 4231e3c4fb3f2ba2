"""The board: one live page for the trainer, which shows where each seat of a room is, and who needs help.

    GET  {prefix}              the page: public, and says nothing; its script asks for the room with the trainer's token
    GET  {prefix}room          the room as JSON, for the trainer's token
    PUT  {prefix}seats/{seat}  takes a seat's `progress.json`, for the learners' token, which reads nothing

The trainer's token is in the fragment of the page's address, which a browser sends to nobody. Progress also comes from
a folder: each `progress.json` below it is read when it has changed. Whatever comes, the history keeps it first.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from urllib.parse import unquote

from workbook.base.files import read_regular, write_whole
from workbook.base.terminal import say, visible
from workbook.course.history import History
from workbook.course.room import overview
from workbook.course.tls import certify, own_address
from workbook.errors import ConfigurationError
from workbook.mockserver.control import Denied, bears, checked_token, problem, scripted_page
from workbook.mockserver.server import Certificate, Server, is_loopback, listening, run_until_signal
from workbook.notebook.exercises.progress import PROGRESS, Progress
from workbook.simulation.http import JSON_HEADERS, Request, Response

LARGEST_PROGRESS = 65_536
"""Bytes of a document; one with every exercise of the course has a sixth of it."""
JOIN_FILE = ".board.json"
"""The file at the top of a learner's copy that says where its progress is sent, and with which token."""


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
