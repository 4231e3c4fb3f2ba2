"""Progress: one line for each answer, added to a file beside the learner's copy.

A line reaches the disk before the verdict is shown: a crash loses nothing, and two lessons that are open at the same
time do not overwrite each other. A line that was cut off in a crash is skipped.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

FILE: Final = "progress.jsonl"
MIMETYPE: Final = "application/vnd.workbook.exercise+json"
"""What a cell's output leaves for a runner: the exercise's id and state."""


def file_of(folder: Path) -> Path | None:
    """The progress file of the learner's copy: in this folder or the one above; None outside a copy."""
    return next((path for path in (folder / FILE, folder.parent / FILE) if path.is_file()), None)


def add(file: Path, exercise_id: str, state: str) -> None:
    """Note how far an exercise is: `untouched`, `wrong` or `done`.

    Raises:
        OSError: the file cannot be written.
    """
    line = json.dumps({"exercise": exercise_id, "state": state})
    with file.open("ab") as lines:
        lines.write(f"\n{line}".encode())  # a line break first: the last line may have been cut off
        lines.flush()
        os.fsync(lines.fileno())


def states(file: Path) -> dict[str, str]:
    """How far each exercise is. What was done once stays done until it is reset, which makes it `untouched`."""
    found: dict[str, str] = {}
    for line in file.read_bytes().splitlines():
        try:
            noted = json.loads(line)
            name, state = str(noted["exercise"]), str(noted["state"])
        except (ValueError, KeyError, TypeError):
            continue
        if found.get(name) != "done" or state == "untouched":
            found[name] = state
    return found
