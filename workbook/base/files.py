"""The files that come with the workbook (lessons, samples, native code), and how a file is written.

A checkout holds them at its top level, as `notebooks` and `fixtures`. A wheel holds them inside the package, in
`workbook/_data`. `workbook new` copies them to where a reader can change them.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from time import time
from typing import Final

from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ParameterError

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# Whether the workbook was installed from a wheel; False in a checkout, and where one is installed with -e.
INSTALLED: Final = (_PACKAGE / "_data").is_dir()
_BUNDLE: Final = _PACKAGE / "_data" if INSTALLED else _PACKAGE.parent
NOTEBOOKS: Final = _BUNDLE / "notebooks"
FIXTURES: Final = _BUNDLE / "fixtures"
# Source files for an app of one's own: `kotlin` and `swift`.
NATIVE: Final = FIXTURES / "native"
# Files that Python and the system leave behind in a folder: they are not samples and are not copied.
LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")


def sample(name: str) -> Path:
    """The path of a sample: a file such as `native/kotlin/BackEnd.kt`, or a project such as `projects/platform_a`.

    Raises:
        ParameterError: there is no such file.

    Example:
        >>> wb.sample("native/kotlin/BackEnd.kt").name
        'BackEnd.kt'
    """
    path = FIXTURES / str(name)
    is_there = path.is_file() or (path.is_dir() and path.parent == FIXTURES / "projects")
    if is_there and FIXTURES in path.resolve().parents and not LEFT_OUT("", [*Path(name).parts]):
        return path
    paths = (file.relative_to(FIXTURES) for file in FIXTURES.rglob("*.*") if file.is_file())
    known = sorted(str(path) for path in paths if not LEFT_OUT("", [*path.parts]))
    if not known:
        raise ParameterError(f"The folder of sample files, {FIXTURES}, is empty. Install the workbook again.")
    raise ParameterError(f"No sample file {str(name)!r:.60}. {did_you_mean(str(name), known)}")


SCRATCH: Final = "workbook-scratch-"


class ScratchFolder(TemporaryDirectory[str]):
    """A private temporary folder; making one removes those beside it that a killed process of this user has left.

    Each is locked by its process, and the lock goes with the process, even after SIGKILL.

    Args:
        parent: the folder that it is made in; None is the system's for temporary files.
    """

    def __init__(self, parent: Path | None = None) -> None:
        parent = (parent or Path(gettempdir())).absolute()  # a child process may have another current folder
        for left in parent.glob(f"{SCRATCH}*"):
            with suppress(OSError, ImportError):
                about = left.lstat()
                a_minute_ago = time() - 60.0  # one that is being made has no lock yet
                if about.st_uid == os.getuid() and about.st_mtime < a_minute_ago:
                    with _locked(left):
                        shutil.rmtree(left, ignore_errors=True)
        super().__init__(prefix=SCRATCH, dir=parent, ignore_cleanup_errors=True)
        self._held = ExitStack()
        with suppress(OSError, ImportError):  # a file system without locks: what is left here stays
            self._held.enter_context(_locked(Path(self.name)))

    def cleanup(self) -> None:
        """Remove it."""
        super().cleanup()
        self._held.close()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    import fcntl  # not on Windows

    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def explain_failure(what: str, again: str = "") -> Iterator[None]:
    """Raise our own error where the system refuses to read or write: `what` failed, the reason, and what to do next.

    Raises:
        ConfigurationError: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise ConfigurationError(f"{what}: {error.strerror or error}. {again}".rstrip()) from None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A draft beside a new folder; it becomes the folder if the block ends well, and is removed if not.

    Raises:
        ConfigurationError: the folder exists and is not empty, is the current one, or cannot be written.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if folder.exists() and any(folder.iterdir()):
            raise ConfigurationError(f"{str(folder)!r} is not empty. Name a new folder: nothing is overwritten.")
        if folder.exists() and folder.samefile(Path.cwd()):
            raise ConfigurationError("This is the current folder. Name a new one in it.")
        with ScratchFolder(folder.parent) as scratch:
            draft = Path(scratch) / folder.name
            draft.mkdir()  # with the user's own permissions, unlike the directory around it
            yield draft
            draft.rename(folder)
    except OSError as error:
        # shutil lists a failure for each file that it copies; the first one says enough
        why = error.args[0][0][-1] if isinstance(error, shutil.Error) else error.strerror or error
        raise ConfigurationError(f"Cannot write into {str(folder)!r}: {why}.") from error


def pip_line(extra: str) -> str:
    """The command that installs one of the workbook's extras."""
    return f"pip install 'provisioning-workbook[{extra}]'" if INSTALLED else f"pip install -e '.[{extra}]'"


@contextmanager
def needs_lab(what: str) -> Iterator[None]:
    """A context or decorator for code that needs the extra `lab`; `what` names that code in the error.

    Raises:
        ConfigurationError: the package is not installed; names it, and the command that installs the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        needed = f"{what} needs the package {error.name}, which is not installed: {pip_line('lab')}"
        raise ConfigurationError(needed) from error


def read_regular(path: Path, most: int) -> bytes:
    """Read a regular file: at most `most` bytes, and one more if the file is larger, so that the caller sees it.

    A pipe or a device is refused before it is opened: reading one may never end.

    Raises:
        OSError: there is no such file, it is not regular, or it cannot be read.
    """
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
    except ValueError as error:  # a name that no file system can have
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    if not regular:
        raise OSError(errno.EINVAL, "it is not a regular file")
    with path.open("rb") as file:
        return file.read(most + 1)


def read_named(path: Path, most: int, again: str) -> bytes:
    """The content of a file that a person named; `again` says which file to name instead.

    Raises:
        ConfigurationError: it cannot be read, or is larger than `most` bytes.
    """
    with explain_failure(f"Cannot read {str(path)!r}", again):
        content = read_regular(path, most)
    if len(content) > most:
        raise ConfigurationError(f"{str(path)!r} is larger than {most:,} bytes. {again}")
    return content


def write_whole(path: Path, text: str) -> None:
    """Write `text` as UTF-8; a reader sees the old file or the new one, never a part.

    A symbolic link is replaced, not followed: somebody else may have put the link into a shared folder.

    Raises:
        OSError: the directory is missing or not writable; the old file is as it was.
    """
    write_all({path: text})


def write_all(texts: Mapping[Path, str]) -> None:
    """Write each text as UTF-8 into its file, all of them or none; a symbolic link is replaced, not followed.

    All drafts are written to the disk before the first one replaces its file, so a full disk leaves every old file.

    Raises:
        OSError: a directory is missing or not writable, or the disk is full; the old files are as they were.
    """
    drafts: dict[Path, Path] = {}
    try:
        for path, text in texts.items():
            if path.is_dir() and not path.is_symlink():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            draft = drafts[path] = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
            with draft.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
            if path.is_file() and not path.is_symlink():
                shutil.copymode(path, draft)
        for path, draft in drafts.items():
            draft.replace(path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
