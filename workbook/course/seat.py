"""What a hub starts for a learner, in the learner's own account: a copy of the lessons, and JupyterLab on it."""

import json
import os
import shutil
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from workbook.base.files import write_whole
from workbook.errors import ConfigurationError
from workbook.notebook.exercises.editions import lay_out
from workbook.notebook.exercises.progress import PROGRESS, Progress
from workbook.notebook.quiet_start import quiet_options, with_kernel, write_settings


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
