"""The editions of the lessons: made from the notebooks and the tables of the exercises, which are their one source.

A cell with the id `task-05-1` holds the task of exercise 05.1, and `exercise-05-1` its code. Everything else of a
lesson is the same in each edition.

A learner's copy also has a file with the learner's progress: see `progress`.
"""

import json
import re
import shlex
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from workbook.base.files import (
    FIXTURES,
    LEFT_OUT,
    NOTEBOOKS,
    explain_failure,
    new_folder,
    read_regular,
    write_all,
    write_whole,
)
from workbook.base.values import quoted
from workbook.errors import ConfigurationError, ParameterError
from workbook.lessons.exercises.model import Exercise, all_exercises, exercise_named
from workbook.lessons.exercises.progress import PROGRESS, Progress, progress_file, update
from workbook.views.html import RULE_ID

# Where a copy's metadata says for whom it is; the workbook's own lessons do not have it.
EDITION: Final = "workbook_edition"
EXERCISE_CELL: Final = re.compile(r"(task|exercise)-(\d\d)-(\d+)")


class Edition(StrEnum):
    """Who a copy of the lessons is for."""

    LEARNER = "learner"
    SOLVED = "solved"
    INSTRUCTOR = "instructor"


def fill_in(notebook: Any, edition: Edition = Edition.LEARNER) -> Any:
    """The notebook of nbformat 4, in JSON, with the exercises' cells as this edition has them; outputs stay."""
    cells: list[Any] = []
    for cell in notebook["cells"]:
        found = EXERCISE_CELL.fullmatch(cell.get("id", ""))
        if not found:
            cells.append(cell)
            continue
        exercise = exercise_named(f"{found[2]}.{found[3]}")
        if found[1] == "task":
            cells.append({**cell, "source": task(exercise)})
            continue
        cells.append({**cell, "source": exercise.skeleton if edition is Edition.LEARNER else exercise.solution})
        if edition is Edition.INSTRUCTOR:
            cells.append(_note(f"notes-{found[2]}-{found[3]}", notes(exercise)))
    return {**notebook, "cells": cells}


def exercise_cells(notebook: Any) -> list[Any]:
    """The cells in which exercises are answered, in order."""
    return [cell for cell in notebook["cells"] if cell.get("id", "").startswith("exercise-")]


def _note(cell_id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": cell_id, "metadata": {"tags": ["instructor"]}, "source": source}


def task(exercise: Exercise) -> str:
    """The task as the lesson shows it, and below it the questions with their choices as a table."""
    minutes = f"{exercise.minutes} minute{'s' if exercise.minutes > 1 else ''}"
    head = f"### Exercise {exercise.id}: {exercise.title}\n\n*{exercise.kind.value}, {minutes}.* {exercise.task}"
    names: dict[tuple[str, tuple[object, ...]], list[str]] = {}
    for name, question in exercise.asks.items():
        names.setdefault((question.asks, question.choices), []).append(f"`{name}`")
    rows, above = [], None
    for (asks, choices), same in names.items():
        spelled = ", ".join(f'`"{choice}"`' if isinstance(choice, str) else f"`{choice}`" for choice in choices)
        rows.append(f"| {', '.join(same)} | {asks} | {'the same' if choices == above else spelled} |")
        above = choices
    asked = any(question.asks for question in exercise.asks.values())
    return "\n".join([head, "\n| answer | question | choices |\n|---|---|---|", *rows]) if asked else head


def notes(exercise: Exercise) -> str:
    """What an instructor should know, as Markdown; mistakes that are only slips of the pen are left out."""
    mistakes = [mistake for mistake in exercise.mistakes if RULE_ID.match(mistake.says)]
    rows = "\n".join(f"| {_in_cell(mistake.what)} | {_in_cell(mistake.says)} |" for mistake in mistakes)
    return (
        f"**Instructor, {exercise.id} ({exercise.minutes} min).** {exercise.notes}\n\n"
        f"| common mistake | what the learner is told |\n|---|---|\n{rows}"
    )


def _in_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def make_edition(notebook: Any, edition: Edition) -> Any:
    """The notebook for a copy: laid out, without the outputs that an exercise or the tag `answer` would give away."""
    laid = fill_in(notebook, edition)
    laid["metadata"] = {**laid["metadata"], EDITION: edition.value}
    for cell in laid["cells"]:
        spoils = EXERCISE_CELL.fullmatch(cell.get("id", "")) or "answer" in cell["metadata"].get("tags", ())
        if cell["cell_type"] == "code" and spoils:
            cell |= {"outputs": [], "execution_count": None}
    return laid


def copy_lessons(folder: Path) -> None:
    """Copy the lessons and the sample files into a folder, as `notebooks` and `fixtures`.

    Raises:
        OSError: it cannot be written.
    """
    for source in (NOTEBOOKS, FIXTURES):
        shutil.copytree(source, folder / source.name, ignore=LEFT_OUT)
    config = folder / "fixtures" / "back_ends" / "back-end.toml"
    # the sample names the checkout's Python; outside a checkout it runs on the one that the workbook is installed in
    text = config.read_text("utf-8").replace("../../.venv/bin/python", shlex.quote(sys.executable))
    write_whole(config, text)


def lay_out(folder: Path, edition: Edition = Edition.LEARNER) -> None:
    """Copy the lessons in this edition and the sample files into a new folder; a learner's keeps the progress.

    Raises:
        ConfigurationError: the folder exists and is not empty, or cannot be written.
    """
    with new_folder(folder) as draft:
        copy_lessons(draft)
        texts = {path: _text(make_edition(_read(path), edition)) for path in (draft / "notebooks").glob("*.ipynb")}
        if edition is Edition.LEARNER:
            texts[draft / PROGRESS] = Progress.begun().text()
        write_all(texts)


def reset(folder: Path, what: str, source: Path) -> tuple[list[str], Path]:
    """Put an exercise, a lesson or all back as they were in `source`; `backups` in the copy keeps what was.

    Args:
        folder: a learner's copy, or its folder of notebooks.
        what: an exercise such as `05.1`, a lesson such as `05`, or `all`.
        source: the workbook's own notebooks.

    Returns:
        The names of the notebooks that were put back, and the folder with the backups.

    Raises:
        ParameterError: there is no such exercise or lesson.
        ConfigurationError: this is no learner's copy, the exercise's cell is gone, or a file cannot be written.
    """
    file = progress_file(folder.resolve())
    if file is None:
        raise ConfigurationError(
            f"{str(folder)!r} is no learner's copy: it has no {PROGRESS}. Make one: workbook new DIR"
        )
    chosen = exercise_named(what) if "." in what else None
    originals = {path.name: path for path in sorted(source.glob("*.ipynb"))}
    names = [name for name in originals if what == "all" or name.partition("_")[0] == what.partition(".")[0]]
    if not names:
        raise ParameterError(
            f"There is no lesson {quoted(what)}. Name one such as 05, an exercise such as 05.1, or all."
        )
    copy, backups, texts = file.parent / "notebooks", file.parent / "backups", {}
    if backups.is_symlink():
        raise ConfigurationError(f"{str(backups)!r} is a symbolic link. Remove it: the backups stay in the copy.")
    for name in names:
        fresh = make_edition(_read(originals[name]), Edition.LEARNER)
        texts[copy / name] = _text(_with_cells_of(chosen, _read(copy / name), fresh) if chosen else fresh)
    with explain_failure(f"Cannot write into {str(file.parent)!r}"):
        backups.mkdir(exist_ok=True)
        for path in filter(Path.exists, texts):
            shutil.copy2(path, backups)
        shutil.copy2(file, backups / f"before-{file.name}")  # by its own name a board would read it
        write_all(texts)
        lessons = {name[:2] for name in names}
        ids = [chosen.id] if chosen else [each for each in all_exercises() if each[:2] in lessons]
        update(file, lambda progress: progress.reset(ids))
    return names, backups


def _with_cells_of(exercise: Exercise, mine: Any, fresh: Any) -> Any:
    """My notebook, with the cells of this exercise as they are in the fresh one."""
    name = exercise.id.replace(".", "-")
    new = {cell["id"]: cell for cell in fresh["cells"] if cell["id"] in (f"task-{name}", f"exercise-{name}")}
    if f"exercise-{name}" not in {cell.get("id") for cell in mine["cells"]}:
        raise ConfigurationError(
            f"The cell of exercise {exercise.id} is gone. Reset its lesson: workbook reset {exercise.id[:2]}"
        )
    return {**mine, "cells": [new.get(cell.get("id"), cell) for cell in mine["cells"]]}


def _read(path: Path) -> Any:
    """A notebook as JSON.

    Raises:
        ConfigurationError: it cannot be read, or is none.
    """
    try:
        notebook = json.loads(read_regular(path, 256 * 2**20))
        if all(isinstance(cell, dict) for cell in notebook["cells"]):
            return notebook
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ConfigurationError(
        f"{path.name} cannot be read as a notebook. Reset its lesson: workbook reset {path.name[:2]}"
    )


def _text(notebook: Any) -> str:
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
