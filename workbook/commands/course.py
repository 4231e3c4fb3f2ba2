"""`workbook course ...`: everything for a workshop."""

import argparse
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from workbook.base.terminal import say
from workbook.base.values import did_you_mean
from workbook.commands import add
from workbook.errors import ExitCode, ParameterError


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    below = "everything for a workshop: `workbook course` lists its commands"
    add(commands, "course", partial(course, commands.choices), below)

    parser = add(commands, "course agenda", agenda, "print what to teach, minute by minute, and likely wrong answers")
    parser.add_argument("--minutes", type=int, choices=(60, 90, 180), default=90, help="default: %(default)s")
    audiences = ("integrators", "back-end", "app")
    parser.add_argument("--for", dest="audience", choices=audiences, default=audiences[0], help="default: %(default)s")
    parser.add_argument("--start", metavar="HH:MM", default="00:00", help="when it begins; default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="also write a page for the wall")


def course(commands: Any, _options: argparse.Namespace) -> NoReturn:
    """Say which commands a workshop has."""
    raise ParameterError(f"Which one? {did_you_mean('', [name for name in commands if name.startswith('course ')])}")


def agenda(options: argparse.Namespace) -> int:
    """Print the agenda, and write its page."""
    from workbook.base.files import write_whole
    from workbook.course.agenda import agenda as planned

    try:
        starts = datetime.strptime(options.start, "%H:%M")  # noqa: DTZ007  # a clock on a wall
    except ValueError:
        raise ParameterError(f"--start {options.start!r:.20} is no time of day, such as 09:30.") from None
    plan = planned(options.minutes, options.audience, starts.hour * 60 + starts.minute)
    say(plan.text())
    if options.out is not None:
        try:
            write_whole(options.out, plan.html())
        except OSError as error:
            raise ParameterError(f"--out {str(options.out)!r} cannot be written: {error.strerror}.") from None
        say(f"For the wall: {options.out}")
    return ExitCode.OK
