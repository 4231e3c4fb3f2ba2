"""`workbook course ...`: everything for a workshop."""

import argparse
from functools import partial
from typing import Any, NoReturn

from workbook.base.values import did_you_mean
from workbook.commands import add
from workbook.errors import ParameterError


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    below = "everything for a workshop: `workbook course` lists its commands"
    add(commands, "course", partial(course, commands.choices), below)


def course(commands: Any, _options: argparse.Namespace) -> NoReturn:
    """Say which commands a workshop has."""
    raise ParameterError(f"Which one? {did_you_mean('', [name for name in commands if name.startswith('course ')])}")
