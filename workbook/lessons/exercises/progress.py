"""The progress of one learner: one small file at the top of a learner's copy, and all that changes it.

A change is a pure function from one `Progress` to the next. `update` is the one place that touches the disk: it locks,
reads, changes and replaces the file as a whole. So two kernels that write at once lose nothing, and a kill or a full
disk leaves the old file. The file has no text of the learner's: a wrong answer is counted by its kind.
"""

import os
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import AwareDatetime, Field

from workbook.base.files import read_regular, write_whole
from workbook.base.forms import Form, explain_mistake
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import ExerciseState

PROGRESS: Final = "progress.json"
# What a board leaves in the folder of the copies that it reads, while it runs.
WATCHED: Final = ".board"
Tally = Annotated[int, Field(ge=0, le=1_000_000)]
# As a text, a pattern with \w or \s takes 0.3 MB of each kernel, and one that repeats them so many times takes
# megabytes. So such a one is Python's own, and the lengths are told beside it.
ExerciseId = Annotated[str, Field(pattern=r"^[0-9]{2}\.[0-9]{1,2}$")]


class Hand(Form):
    """A raised hand: at which exercise, and since when."""

    exercise: ExerciseId
    since: AwareDatetime


class Standing(Form):
    """How one exercise stands.

    Attributes:
        state: what was done once stays done until it is reset.
        attempts: answers that were judged, until it was passed.
        wrong: how many of them were wrong, by kind: a rule's id, or a short word such as `form`.
        hints: the furthest hint that was asked for, 0 to 3; each says more than the one before.
        first: when the learner first did something here.
        last: when the learner last did.
        passed: when it was passed; None until then.
        minutes: of work, until it was passed: the time since the copy's last event, where that is 10 minutes at most.
    """

    state: ExerciseState = ExerciseState.UNTOUCHED
    attempts: Tally = 0
    wrong: Annotated[
        Mapping[Annotated[str, Field(pattern=r"^[A-Za-z0-9_ -]+$", max_length=24)], Tally], Field(max_length=200)
    ] = {}
    hints: Annotated[int, Field(ge=0, le=3)] = 0
    first: AwareDatetime
    last: AwareDatetime
    passed: AwareDatetime | None = None
    minutes: Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)] = 0.0


class Progress(Form):
    """How far one learner is. Every method returns the next progress; none changes this one.

    Attributes:
        version: of this form.
        seat: a made-up name, so that nobody is named; the same on the trainer's board.
        now: the exercise at which something was done last; None at first.
        help: the raised hand; None while it is down.
        exercises: by id, those at which something was done.
    """

    version: Literal[1] = 1
    seat: Annotated[str, Field(pattern=re.compile(r"^\w[\w .@-]*\Z"), max_length=40)]
    now: ExerciseId | None = None
    help: Hand | None = None
    exercises: Annotated[Mapping[ExerciseId, Standing], Field(max_length=500)] = {}

    @classmethod
    def begun(cls) -> Self:
        """A new learner's, with the seat of the environment's WORKBOOK_SEAT or one that is made up."""
        colours = "amber azure black blue bronze brown coral golden green grey indigo ivory jade lilac lime maroon mint"
        birds = "crane crow dove eagle finch gull hawk heron ibis jay kite lark magpie owl robin stork swan swift wren"
        made_up = [*map(secrets.choice, (colours.split(), birds.split())), str(secrets.randbelow(1000))]
        return cls.of({"version": 1, "seat": os.environ.get("WORKBOOK_SEAT") or "-".join(made_up)})

    @classmethod
    def of(cls, document: bytes | str | Mapping[str, Any]) -> Self:
        """A progress from JSON, or from what JSON holds.

        Raises:
            ConfigurationError: it is none; says where.
        """
        with explain_mistake("This is no progress of a learner"):
            if isinstance(document, Mapping):
                return cls.model_validate(document)
            return cls.model_validate_json(document)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The progress in this file.

        Raises:
            OSError: the file cannot be read.
            ConfigurationError: it is damaged.
        """
        if len(content := read_regular(path, 1_048_576)) > 1_048_576:  # a hundred times what all exercises need
            raise ConfigurationError(f"{path.name} is too large for a learner's progress.")
        return cls.of(content)

    @property
    def last(self) -> datetime | None:
        """When something was done last; of two progresses of a seat, the one with the later time is the newer."""
        return max((each.last for each in self.exercises.values()), default=None)

    def state(self, exercise: str) -> ExerciseState:
        """How far this exercise is."""
        return self.exercises[exercise].state if exercise in self.exercises else ExerciseState.UNTOUCHED

    def note(self, exercise: str, state: ExerciseState, kind: str = "", at: datetime | None = None) -> Self:
        """An answer was judged; `kind` says what was wrong. A hand that was raised for what is done goes down."""
        at = at or now()
        before = self.exercises.get(exercise, Standing(first=at, last=at))
        if state is ExerciseState.DONE:
            passed = {} if before.passed else {"state": state, "attempts": before.attempts + 1, "passed": at}
            return self._seen(exercise, at, **passed).lower_hand(exercise)
        if before.passed or state is ExerciseState.UNTOUCHED:
            return self._seen(exercise, at)
        wrong = {**before.wrong, kind: before.wrong.get(kind, 0) + 1}
        return self._seen(exercise, at, state=state, attempts=before.attempts + 1, wrong=wrong)

    def hint(self, exercise: str, number: int, at: datetime | None = None) -> Self:
        """A hint was asked for."""
        before = self.exercises.get(exercise)
        return self._seen(exercise, at or now(), hints=max(number, before.hints if before else 0))

    def raise_hand(self, exercise: str, at: datetime | None = None) -> Self:
        """The learner asks for help; a hand that is up for this exercise stays up since then."""
        at = at or now()
        up = self.help if self.help and self.help.exercise == exercise else Hand(exercise=exercise, since=at)
        return self._seen(exercise, at).model_copy(update={"help": up})

    def lower_hand(self, exercise: str | None = None) -> Self:
        """The hand goes down; with an exercise, only where it is up for that."""
        other = self.help and exercise and self.help.exercise != exercise
        return self if other else self.model_copy(update={"help": None})

    def reset(self, exercises: Iterable[str], at: datetime | None = None) -> Self:
        """These exercises are untouched again, from now on."""
        fresh, down = Standing(first=at or now(), last=at or now()), self
        touched = [each for each in exercises if each in self.exercises]
        for each in touched:
            down = down.lower_hand(each)
        return down.model_copy(update={"exercises": {**self.exercises, **dict.fromkeys(touched, fresh)}})

    def text(self) -> str:
        """The file's content."""
        return self.model_dump_json(indent=1) + "\n"

    def _seen(self, exercise: str, at: datetime, **changed: Any) -> Self:
        """The learner was at this exercise."""
        before = self.exercises.get(exercise, Standing(first=at, last=at))
        away = at - (self.last or at)
        if not before.passed and timedelta() < away <= timedelta(minutes=10):
            changed["minutes"] = round(before.minutes + away / timedelta(minutes=1), 2)
        after = before.model_copy(update={"last": max(at, before.last), **changed})
        return self.model_copy(update={"now": exercise, "exercises": {**self.exercises, exercise: after}})


def now() -> datetime:
    """This second, in UTC."""
    return datetime.now(UTC).replace(microsecond=0)


def progress_file(folder: Path) -> Path | None:
    """The progress file of the learner's copy: in this folder or the one above; None outside a copy.

    `workbook run` and `render` are no learner: nothing is kept where WORKBOOK_UNATTENDED is set.
    """
    if "WORKBOOK_UNATTENDED" in os.environ:
        return None
    return next((path for path in (folder / PROGRESS, folder.parent / PROGRESS) if path.is_file()), None)


def update(path: Path, change: Callable[[Progress], Progress]) -> str:
    """Change the progress in this file.

    Returns:
        What the learner should know: that a damaged file was put aside. Empty where all went well.

    Raises:
        OSError: it cannot be kept; the old file is as it was.
    """
    with _lock(path):
        note = ""
        try:
            before = Progress.read(path)
        except FileNotFoundError:
            before = Progress.begun()
        except ConfigurationError:
            before, aside = Progress.begun(), path.with_suffix(".damaged.json")  # a board does not read it
            path.replace(aside)
            note = f"{path.name} was damaged. It is now {aside.name}, and a new one begins."
        write_whole(path, change(before).text())
    return note


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """No other kernel of this copy writes meanwhile; where there are no locks, as in a browser, nobody else is there.

    Raises:
        OSError: the file of the lock cannot be made.
    """
    with path.with_name(f".{path.name}.lock").open("ab") as lock:
        with suppress(ImportError, AttributeError, OSError):  # a browser's kernel has an empty module of this name
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
            else:
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
        for draft in path.parent.glob(f".{path.name}.*.part"):  # of a kernel that was killed
            draft.unlink(missing_ok=True)
        yield  # a file that is closed is unlocked, by a kill as well


# A learner's progress goes to the trainer's board in the background, where a room has one.
#
# The board is named by the environment (WORKBOOK_BOARD, WORKBOOK_BOARD_TOKEN), or by the private file `.board.json`
# beside the progress: {"address": ..., "token": ...}, and for a certificate of the room's own "fingerprint"
# (SHA-256). The full progress is sent on every change, so a lost post needs no retry.
# Nothing of this disturbs a learner: the table of all exercises says when the board was not reached.


# Why the last post of a progress file did not reach its board, by file; one that arrived has no entry.
not_reached: dict[Path, str] = {}
_turn = Lock()


class BoardAddress(Form):
    """Where the trainer's board is, and what it asks of who writes to it."""

    address: Annotated[str, Field(pattern=re.compile(r"^https?://[^\s/?#@]+[^\s?#]*\Z"))]
    token: Annotated[str, Field(pattern=r"^[!-~]{1,200}$", repr=False)]
    fingerprint: Annotated[str, Field(pattern=r"^([0-9A-Fa-f]{2}:?){32}$")] | None = None


def board_of(file: Path) -> BoardAddress | None:
    """The board that takes this progress file; None where there is none.

    Raises:
        OSError: `.board.json` cannot be read.
        ConfigurationError: it, or the environment, names no board.
    """
    with explain_mistake("the board's address is not right"), suppress(FileNotFoundError):
        if address := os.environ.get("WORKBOOK_BOARD"):
            return BoardAddress(address=address, token=os.environ.get("WORKBOOK_BOARD_TOKEN", ""))
        return BoardAddress.model_validate_json(read_regular(file.with_name(".board.json"), 10_000))
    return None


def has_board(file: Path) -> bool:
    """Whether a board gets this progress file, or reads it: that marks a folder, at most four above the copy."""
    with suppress(OSError, ConfigurationError):  # a board that cannot be found shows nothing either
        return any((folder / WATCHED).exists() for folder in file.parents[:5]) or board_of(file) is not None
    return False


def post(file: Path) -> None:
    """Send this progress file's newest content to its board, in the background."""
    if sys.platform != "emscripten":  # a browser has no threads
        Thread(target=_post, args=[file], daemon=True).start()


def _post(file: Path) -> None:
    with _turn:  # one after the other, so that the newest content is the last to arrive
        try:
            if board := board_of(file):
                send(board, Progress.read(file))
            not_reached.pop(file, None)
        except (OSError, ConfigurationError) as error:
            not_reached[file] = str(error) or type(error).__name__


def send(board: BoardAddress, progress: Progress) -> None:
    """Put a progress on the board; the connection and each answer may take 2 s.

    Raises:
        OSError: the board was not reached, has another certificate, or refused it; or what answered is no board.
    """
    import ssl  # a browser may have none
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    url = urlsplit(board.address)
    connection = HTTPConnection(url.netloc, timeout=2)
    if url.scheme == "https":
        context = ssl.create_default_context()
        if board.fingerprint:  # compared after the handshake, before anything is sent
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = HTTPSConnection(url.netloc, timeout=2, context=context)
    try:
        connection.connect()
        if board.fingerprint and isinstance(connection.sock, ssl.SSLSocket):
            fingerprint = sha256(connection.sock.getpeercert(binary_form=True) or b"").hexdigest()
            if fingerprint != board.fingerprint.replace(":", "").lower():
                raise OSError("it has another certificate")
        headers = {"Authorization": f"Bearer {board.token}", "Content-Type": "application/json"}
        target = f"{url.path.rstrip('/')}/seats/{quote(progress.seat, safe='')}"
        connection.request("PUT", target, progress.text().encode(), headers)
        if (status := connection.getresponse().status) >= 300:  # a redirect is not followed: it would take the token
            raise OSError(f"it answered {status}")
    except HTTPException as error:
        raise OSError("what answered is no board") from error
    finally:
        connection.close()
