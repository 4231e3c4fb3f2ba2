"""The `workbook` command: finds the subcommand, and turns each error into a message and an exit code."""

import os
import platform
import sys
import traceback
from argparse import Action, ArgumentParser, Namespace
from contextlib import suppress

from workbook.base.secrecy import Secrets
from workbook.base.terminal import say
from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ExitCode, NotInstalledError, ParameterError, WorkbookError
from workbook.tools.commands import Handler, Parser, conform, diagnosis, end_like_ctrl_c, notebooks, reports, serving


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line and return the process's exit code; nothing is raised.

    Args:
        argv: the words after the program's name; None takes them from the process.
    """
    words = sys.argv[1:] if argv is None else argv
    try:
        return _dispatch(words)
    except SystemExit as end:  # argparse leaves this way after --help
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        _print_error("interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.BROKEN_PIPE
    except WorkbookError as error:
        _print_error(str(error))
        of_conform = ExitCode.CONFIGURATION if isinstance(error, ConfigurationError) else ExitCode.BROKEN
        undecided = words[:1] != ["conform"] or isinstance(error, NotInstalledError)
        return ExitCode.NOTHING_DONE if undecided else of_conform  # its 1 and 2 say how cases ended
    except Exception as error:  # noqa: BLE001  # the last handler before the user
        if os.environ.get("WORKBOOK_DEBUG"):
            _print_error("".join(traceback.format_exception(error)).rstrip())
        else:
            message = " ".join(str(error).split())
            _print_error(f"unexpected {type(error).__name__}: {message} (WORKBOOK_DEBUG=1 shows the traceback)")
        return ExitCode.BROKEN


def _dispatch(argv: list[str]) -> int:
    options = parsed(argv or ["--help"])
    end_like_ctrl_c()
    handler: Handler = options.handler
    if handler is not diagnosis.doctor:  # which says it among other things
        Secrets.of_environment(os.environ)
    try:
        return handler(options)
    except RuntimeError as error:
        # Python 3.11 makes one of whatever comes while it makes a class, such as a signal during an import.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def parsed(argv: list[str]) -> Namespace:
    """The options of a command line, with the function that carries it out as `handler`.

    Raises:
        ParameterError: a word is unknown or missing.
        SystemExit: the help or the version was asked for, and is printed.
    """
    parser, commands = _parsers()
    size = next((size for size in (3, 2) if " ".join(argv[:size]) in commands), 1)
    words = [" ".join(argv[:size]), *argv[size:]]
    if not words[0].startswith("-") and words[0] not in commands:
        raise ParameterError(f"No command {words[0][:40]!r}. {did_you_mean(words[0], commands)}")
    options, unknown = parser.parse_known_args(words)
    if unknown:
        commands.get(words[0], parser).unrecognized(unknown)
    if not hasattr(options, "handler"):
        raise ParameterError(f"Which command? {did_you_mean('', commands)}")
    return options


def _print_error(message: str) -> None:
    with suppress(OSError, ConfigurationError):  # stderr is closed or full: the exit code is left
        say(f"workbook: {message}", sys.stderr)


class _Version(Action):
    """Prints the versions of the workbook and of Python."""

    def __call__(self, parser: ArgumentParser, *_: object) -> None:
        """Print them and end."""
        from importlib.metadata import version  # takes 20 ms

        say(f"workbook {version('provisioning-workbook')} with Python {platform.python_version()}")
        parser.exit()


def _parsers() -> tuple[Parser, dict[str, Parser]]:
    parser = Parser(prog="workbook", description="Walk, break and test in-app wallet card provisioning.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions of the workbook and of Python")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    # in the order of the help
    for subject in (notebooks, serving, conform, reports, diagnosis):
        subject.add_to(commands)
    return parser, commands.choices
