"""The `workbook` command: finds the subcommand, and turns each error into a message and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping
from typing import Final

from workbook.base.values import did_you_mean
from workbook.commands import Handler, Parser, about, app, conform, diagnosis, notebooks, preflight, serving
from workbook.errors import ParameterError, WorkbookError

SUBJECTS: Final = (notebooks, serving, conform, app, preflight, diagnosis, about)
"""The modules of the commands, in the order in which the help lists them."""
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
        _print_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except WorkbookError as error:
        _print_error(str(error))
        return USAGE
    except Exception as error:  # noqa: BLE001  # the last handler before the user
        if os.environ.get("WORKBOOK_DEBUG"):
            _print_error("".join(traceback.format_exception(error)).rstrip())
        else:
            message = " ".join(str(error).split())
            _print_error(f"unexpected {type(error).__name__}: {message} (WORKBOOK_DEBUG=1 shows the traceback)")
        return UNEXPECTED


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


def _print_error(message: str) -> None:
    from workbook.base.secrecy import Secrets  # needed only after an error

    print(f"workbook: {Secrets.of_environment(os.environ).scrub(message)}", file=sys.stderr)


def _parsers() -> tuple[Parser, Mapping[str, Parser]]:
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms

    try:
        installed = f"workbook {version('provisioning-workbook')}"
    except PackageNotFoundError:
        installed = "workbook (not installed)"
    parser = Parser(prog="workbook", description="Walk, break and test in-app wallet card provisioning.")
    parser.add_argument("--version", action="version", version=installed)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for subject in SUBJECTS:
        subject.add_to(commands)
    return parser, commands.choices
