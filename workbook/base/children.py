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


def kernel_command(*options: str) -> list[str]:
    """The command line of a kernel of this Python, for a kernel specification.

    What a notebook imports from its folder it still finds: IPython puts the folder on the path once it has started.
    """
    return python_command("-m", "ipykernel_launcher", "-f", "{connection_file}", *options)


@contextmanager
def guarded_children() -> Iterator[None]:
    """Within the block, each Python that `multiprocessing` starts has no secret, and starts as by `python_command`."""
    before = {**os.environ}
    for name in before.keys() - child_environment().keys():
        del os.environ[name]
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def child_environment() -> dict[str, str]:
    """The environment of this process without the workbook's own variables: they hold the API key and passwords."""
    return {name: value for name, value in os.environ.items() if not name.startswith("WORKBOOK_")}
