"""The `workbook` command: finds the subcommand, and turns whatever goes wrong into a line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Final

from workbook.commands import COMMANDS
from workbook.commands.command import Parser
from workbook.errors import ParameterError, WorkbookError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.commands.command import Handler

USAGE: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
UNEXPECTED: Final = 255


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line and return the process's exit code; nothing is raised.

    Args:
        argv: the words after the program's name; None takes them from the process.
    """
    try:
        return _dispatch(sys.argv[1:] if argv is None else argv)
    except SystemExit as end:  # argparse leaves this way after --help
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except WorkbookError as error:
        _tell(str(error))
        return USAGE
    except Exception as error:  # noqa: BLE001  # the last one before the user
        return _unexpected(error)


def _dispatch(argv: list[str]) -> int:
    parser, commands = _parsers()
    word = argv[0] if argv else "--help"
    if not word.startswith("-") and word not in commands:
        raise ParameterError(f"No command {word[:40]!r}. {did_you_mean(word, commands)}")
    options, unknown = parser.parse_known_args(argv or ["--help"])
    if unknown:
        commands.get(word, parser).unrecognized(unknown)
    handler: Handler | None = getattr(options, "handler", None)
    if handler is None:
        raise ParameterError(f"Which command? {did_you_mean('', commands)}")
    return handler(options)


def _tell(message: str) -> None:
    from workbook.runner.scrub import Scrubber  # noqa: PLC0415  # not before something is wrong

    print(f"workbook: {Scrubber.of_environment(os.environ).clean(message)}", file=sys.stderr)


def _unexpected(error: Exception) -> int:
    if os.environ.get("WORKBOOK_DEBUG"):
        _tell("".join(traceback.format_exception(error)).rstrip())
        return UNEXPECTED
    told = " ".join(str(error).split())
    _tell(f"unexpected {type(error).__name__}: {told} (WORKBOOK_DEBUG=1 shows the traceback)")
    return UNEXPECTED


def _parsers() -> tuple[Parser, Mapping[str, Parser]]:
    parser = Parser(prog="workbook", description="Walk, break and test in-app wallet card provisioning.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return parser, commands.choices


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # 20 ms

    try:
        return f"workbook {version('provisioning-workbook')}"
    except PackageNotFoundError:
        return "workbook (not installed)"
