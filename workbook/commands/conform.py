"""`workbook conform`, and below it `run`, `init` and `compare`; without a word it is `run`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from workbook.commands.command import Parser, add, end_like_ctrl_c
from workbook.errors import ParameterError, WorkbookError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbook.commands.command import Handler

BAD_CONFIGURATION: Final = 254
HARNESS_ERROR: Final = 255
PROG: Final = "workbook conform"
RUN: Final = "run"
USUAL: Final = Path("back-end.toml")
CODES: Final = """\
workbook conform init       write a commented back-end.toml, by asking
workbook conform compare    what changed between two reports

exit codes:
  0    no case failed
  1    a case failed, or an entry of the baseline is stale
  2    nothing could be decided, or not everything: the back end did not start, did not answer, or went away
  130  interrupted; the reports hold what had ended
  254  the configuration or the command line is not in order
  255  the workbook itself failed

Secrets come from the environment and never stand in the configuration."""
COMPARE_CODES: Final = """\
exit codes:
  0    nothing got worse
  1    something did
  254  a file is no report"""


class _Parser(Parser):
    """The parser of one word; ends with the code for a bad configuration, because 2 says something else here."""

    def error(self, message: str) -> NoReturn:
        try:
            super().error(message)
        except ParameterError as error:
            raise SystemExit(_refused(error)) from None

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        try:
            super().unrecognized(words)
        except ParameterError as error:
            raise SystemExit(_refused(error)) from None


class _Words(Parser):
    """Looks at the first word, and leaves the rest to the parser of that word, or to that of a run."""

    below: Mapping[str, _Parser]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """What the command line says; every word of it is known, or refused."""
        word, *more = args or [""]
        parser, words = (self.below[word], more) if word in self.below else (self.below[RUN], args)
        found, unknown = parser.parse_known_args(words, namespace)
        if unknown:
            parser.unrecognized(unknown)
        return found, []


def add_to(commands: Any) -> None:
    """How it is called."""
    add(commands, "conform", handle, "test your own back end from both sides")  # for the list of commands
    words = _Words(prog=PROG)
    words.below = {RUN: _run(), "init": _init(), "compare": _compare()}
    commands.choices["conform"] = words


def _run() -> _Parser:
    parser = _parser(PROG, handle, "Test your own back end from both sides.", CODES)
    parser.usage = "workbook conform [run] [CONFIG] [options]"
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG", default=USUAL, help="default: %(default)s")
    parser.add_argument("--check-config", action="store_true", help="explain every mistake, or say what was understood")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument("--dry-run", action="store_true", help="count what would be run, and say what not and why")
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="PATTERN", help="names, groups or globs of cases"
    )
    parser.add_argument("--rerun-failed", type=Path, metavar="REPORT", help="the cases that a conform.json says failed")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each case so many times")
    parser.add_argument("--strict", action="store_true", help="a warning counts as a failure")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="failures that are known")
    parser.add_argument("--out", type=Path, default=Path("conform"), metavar="DIR", help="default: %(default)s")
    parser.add_argument("--seed", type=int, metavar="N", help="of all that is made up; default: the configuration's")
    return parser


def _parser(prog: str, handler: Handler, text: str, more: str = "") -> _Parser:
    parser = _Parser(
        prog=prog, description=text, epilog=more, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(handler=handler)
    return parser


def _init() -> _Parser:
    parser = _parser(f"{PROG} init", handle_init, "Write a commented configuration, by asking.")
    parser.add_argument("file", nargs="?", type=Path, metavar="FILE", default=USUAL, help="default: %(default)s")
    parser.add_argument("--defaults", action="store_true", help="ask nothing")
    parser.add_argument("--force", action="store_true", help="write over a file that is there")
    return parser


def _compare() -> _Parser:
    parser = _parser(f"{PROG} compare", handle_compare, "What changed between two reports.", COMPARE_CODES)
    parser.add_argument("old", type=Path, metavar="OLD", help="a conform.json")
    parser.add_argument("new", type=Path, metavar="NEW", help="a later one")
    parser.add_argument("--markdown", action="store_true", help="as Markdown")
    return parser


def handle(options: argparse.Namespace) -> int:
    """Carry out a run, or say what it would do."""
    return _coded(RUN, options)


def handle_init(options: argparse.Namespace) -> int:
    """Carry out `init`."""
    return _coded("init", options)


def handle_compare(options: argparse.Namespace) -> int:
    """Carry out `compare`."""
    return _coded("compare", options)


def _coded(word: str, options: argparse.Namespace) -> int:
    """The work's own code, or that of what went wrong."""
    from workbook.commands.conform_work import WORK  # noqa: PLC0415  # it imports all that a run needs
    from workbook.errors import ConfigurationError  # noqa: PLC0415

    end_like_ctrl_c()
    try:
        return WORK[word](options)
    except ConfigurationError as error:
        return _refused(error)
    except WorkbookError as error:
        _tell(str(error))
        return HARNESS_ERROR


def _refused(error: Exception) -> int:
    _tell(str(error))
    return BAD_CONFIGURATION


def _tell(message: str) -> None:
    from workbook.runner.scrub import Scrubber  # noqa: PLC0415  # not before something is wrong

    print(f"workbook: {Scrubber.of_environment(os.environ).clean(message)}", file=sys.stderr)
