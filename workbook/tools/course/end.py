"""The end of a course: what the board remembers of the seats, and every token and key, is deleted."""

from contextlib import closing
from pathlib import Path

from workbook.errors import ConfigurationError
from workbook.lessons.exercises.progress import PROGRESS
from workbook.tools.course.board import JOIN_FILE, History, copies


def leavings(folder: Path | None, history: Path, *, progress: bool = False) -> list[Path]:
    """The files that a course leaves: the history with its tokens and keys, each copy's token, and a hub's secrets.

    Args:
        folder: where the learners' copies are, or a hub's folder; None leaves them out.
        history: the board's file.
        progress: also what each copy keeps of its own progress.

    Raises:
        ConfigurationError: a board still runs, the history is the file of another program, or there is no such folder.
    """
    if folder is not None and not folder.is_dir():
        raise ConfigurationError(f"There is no folder {str(folder)!r}. Name the one with the learners' copies.")
    if history.is_file():
        with closing(History(history)):
            pass  # it is ours, and no board runs
    own = [history, *(history.with_suffix(ending) for ending in (".join.json", ".pem", ".ca.pem"))]
    if folder and (folder / "seats.json").is_file():  # of `workbook course hub`: its pass phrases, keys and cookies
        own += [folder / "ca.pem", *sorted((folder / "private").rglob("*"))]
    names = [JOIN_FILE, *([PROGRESS] if progress else [])]
    theirs = [copy / name for copy in (copies(folder) if folder else ()) for name in names]
    return [path for path in [*own, *theirs] if path.is_file() or path.is_symlink()]
