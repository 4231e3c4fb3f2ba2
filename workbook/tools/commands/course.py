"""`workbook course ...`: everything for a workshop."""

import argparse
import shlex
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from workbook.base.files import explain_failure
from workbook.base.terminal import say
from workbook.base.values import did_you_mean
from workbook.errors import ExitCode, ParameterError
from workbook.tools.commands import add


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

    parser = add(commands, "course bundle", bundle, "write a zip file that installs the workbook without a network")
    parser.add_argument("--out", type=Path, metavar="FILE.zip", required=True)
    here = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    parser.add_argument("--platform", choices=("linux", "macos", "windows"), default=here, help="default: %(default)s")
    here = "{}.{}".format(*sys.version_info)
    parser.add_argument("--python", metavar="3.N", default=here, help="of the learners; default: %(default)s")
    parser.add_argument("--wheel", type=Path, metavar="FILE.whl", help="the workbook's own; needed outside of a clone")

    text = "show a trainer, live, where each seat is and who needs help"
    parser = add(commands, "course board", board, text, "The manual: notebooks/reference/board.md")
    parser.add_argument("--host", default="127.0.0.1", help="https on any but loopback; default: %(default)s")
    parser.add_argument("--port", type=int, default=8765, help="default: %(default)s")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the learners' copies are")
    own = "what the board keeps: sent progress, tokens, certificate; default: %(default)s"
    parser.add_argument("--data", type=Path, metavar="DIR", default=Path("board"), help=own)

    text = "build a site with lessons 00 to 05 that run in a browser, where nothing can be installed"
    parser = add(commands, "course lite", lite, text)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="must not exist, or be empty")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep here what is fetched: then no network is needed"
    )
    _add_incidents(commands)


def _add_incidents(commands: Any) -> None:
    parser = add(commands, "course incidents", incidents, "deal a failure to each seat, to be found and fixed")
    parser.add_argument("--seed", required=True, metavar="CLASS", help="a name of the class; the same deals the same")
    parser.add_argument("--seats", type=int, default=30, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--solutions", action="store_true", help="print cause and owner of each instead: not to project"
    )


def course(commands: Any, _options: argparse.Namespace) -> NoReturn:
    """Say which commands a workshop has."""
    raise ParameterError(f"Which one? {did_you_mean('', [name for name in commands if name.startswith('course ')])}")


def agenda(options: argparse.Namespace) -> int:
    """Print the agenda, and write its page."""
    from workbook.base.files import write_whole
    from workbook.tools.course.agenda import agenda as planned

    try:
        starts = datetime.strptime(options.start, "%H:%M")  # noqa: DTZ007  # a clock on a wall
    except ValueError:
        raise ParameterError(f"--start {options.start!r:.20} is no time of day, such as 09:30.") from None
    plan = planned(options.minutes, options.audience, starts.hour * 60 + starts.minute)
    say(plan.text())
    if options.out is not None:
        with explain_failure(f"--out {str(options.out)!r} cannot be written"):
            write_whole(options.out, plan.html())
        say(f"For the wall: {options.out}")
    return ExitCode.OK


def bundle(options: argparse.Namespace) -> int:
    """Write a bundle."""
    from workbook.tools.course.bundle import Target, make_bundle

    make_bundle(options.out, Target.of(options.platform, options.python), options.wheel, say)
    size = options.out.stat().st_size / 1e6
    say(f"{options.out}: {size:.0f} MB")
    return ExitCode.OK


def board(options: argparse.Namespace) -> int:
    """Run the board until Ctrl-C."""
    from workbook.tools.course.board import serve_board  # asyncio, pydantic: 300 ms

    return serve_board(options.data, options.folder, options.host, options.port)


def lite(options: argparse.Namespace) -> int:
    """Build the site, and say what it lacks."""
    from workbook.tools.course.lite import build_site

    site = build_site(options.out, options.cache)
    for cell, why in site.left_out.items():
        say(f"left out: {cell}. {why}")
    say(f"{options.out}: {site.size / 1e6:.0f} MB. Any web server can serve it; to try it on this machine:")
    say(f"  {shlex.join(['python', '-m', 'http.server', '--bind', '127.0.0.1', '--directory', str(options.out)])}")
    return ExitCode.OK


def incidents(options: argparse.Namespace) -> int:
    """Print which incident each seat plays, or the solutions."""
    from workbook.tools.course.agenda import handed_out, solved

    say((solved if options.solutions else handed_out)(options.seed, options.seats).text())
    return ExitCode.OK
