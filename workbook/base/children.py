"""How another program is started: without the workbook's secrets, and without code from the current folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def python_command(*arguments: str) -> list[str]:
    """The command line of this Python for code of ours.

    `-P` keeps the current folder off its path: that may be a foreign project, and hold a module with any name.
    """
    return [sys.executable, "-P", *arguments]


@contextmanager
def safe_path() -> Iterator[None]:
    """Within the block, each Python that `multiprocessing` starts is started as by `python_command`."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def child_environment() -> dict[str, str]:
    """The environment of this process without the workbook's own variables: they hold the API key and passwords."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WORKBOOK_")}
