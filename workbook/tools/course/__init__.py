"""For a workshop: its agenda, a bundle for machines without a network, the trainer's board, a site in the browser."""

import subprocess
from pathlib import Path

from workbook.base.children import child_environment
from workbook.errors import ConfigurationError
from workbook.views.table import clean


def run_program(failure: str, *command: str, folder: Path | None = None) -> None:
    """Run a program to its end.

    Args:
        failure: the beginning of the error; what the program printed last follows.
        command: the program and its arguments.
        folder: in which it runs; None leaves the current one.

    Raises:
        ConfigurationError: it is not installed, or failed.
    """
    try:
        ended = subprocess.run(  # noqa: S603
            command,
            cwd=folder,
            env=child_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise ConfigurationError(f"{failure}: the program {command[0]} is not installed.") from None
    if ended.returncode:
        raise ConfigurationError(f"{failure}: {clean(ended.stdout.strip()[-700:], 900) or 'it said nothing'}")
