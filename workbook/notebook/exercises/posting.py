"""A learner's progress goes to the trainer's board in the background, where a room has one.

The board is named by the environment (WORKBOOK_BOARD, WORKBOOK_BOARD_TOKEN), or by the private file `.board.json`
beside the progress: {"address": ..., "token": ...}, and for a certificate of the room's own "fingerprint" (SHA-256). It
takes the whole progress, as often as it comes. What does not arrive goes with the next change. Nothing of this disturbs
a learner: the table of all exercises says when the board was not reached.
"""

import os
import sys
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationError

from workbook.base.files import read_regular
from workbook.base.forms import Form
from workbook.errors import ConfigurationError
from workbook.notebook.exercises.progress import Progress

not_reached: dict[Path, str] = {}
"""Why the last post of a progress file did not reach its board, by file; one that arrived has no entry."""
_turn = Lock()


class BoardAddress(Form):
    """Where the trainer's board is, and what it asks of who writes to it."""

    address: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+[^\s?#]*$")]
    token: Annotated[str, Field(pattern=r"^[!-~]{1,200}$", repr=False)]
    fingerprint: Annotated[str, Field(pattern=r"^([0-9A-Fa-f]{2}:?){32}$")] | None = None


def board_of(file: Path) -> BoardAddress | None:
    """The board that takes this progress file; None where there is none.

    Raises:
        OSError: `.board.json` cannot be read.
        ConfigurationError: it, or the environment, names no board.
    """
    try:
        if address := os.environ.get("WORKBOOK_BOARD"):
            return BoardAddress(address=address, token=os.environ.get("WORKBOOK_BOARD_TOKEN", ""))
        return BoardAddress.model_validate_json(read_regular(file.with_name(".board.json"), 10_000))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]["loc"]  # the token is never repeated
        raise ConfigurationError(f"the {' '.join(map(str, wrong)) or 'file'} of the board is not right") from None


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
            own = sha256(connection.sock.getpeercert(binary_form=True) or b"").hexdigest()
            if own != board.fingerprint.replace(":", "").lower():
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
