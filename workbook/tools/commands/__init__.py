"""The subcommands, one module per subject: `add_to` adds its commands to the parser, other functions carry them out.

The modules import only the standard library, so `workbook --help` answers at once; a handler imports the rest when it
is called.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbook.base.files import explain_failure
from workbook.base.terminal import at_first_signal, say
from workbook.errors import ExitCode, ParameterError

if TYPE_CHECKING:
    from workbook.tools.harness.model import Known
    from workbook.tools.harness.report import RunRecord

Handler = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Raises our own error for a wrong command line, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise ParameterError(f"{message}. Try: {self.prog} --help")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print the help or the version."""
        say(message, file)

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        """Refuse unknown words, without repeating what follows a `=`: it may be a secret."""
        names = [word.partition("=")[0] for word in words]
        close = get_close_matches(names[0], self._option_string_actions, n=1)
        hint = f". Did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"unrecognized arguments: {' '.join(names)}{hint} Try: {self.prog} --help")


def add(commands: Any, name: str, handler: Handler, text: str, epilog: str = "") -> Parser:
    """A parser for one subcommand; `commands` is what `add_subparsers` returned.

    A name of two words is a subcommand below another one, which the list of commands leaves out.
    """
    parser: Parser = commands.add_parser(
        name,
        **({} if " " in name else {"help": text}),
        description=text[0].upper() + text[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler=handler)
    return parser


def add_case_options(parser: argparse.ArgumentParser) -> None:
    """Add what chooses cases and judges them, for the commands that run some."""
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATTERN",
        help="run only these cases: names, groups or globs",
    )
    parser.add_argument("--strict", action="store_true", help="a warning, and a case not looked at, fail the run")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="a file of known failures")
    parser.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write what failed into a baseline, for you to comment"
    )
    parser.add_argument("--format", choices=["text", "json", "junit", "sarif"], default="text", help="what to print")


def read_baseline(options: argparse.Namespace) -> Sequence[Known]:
    """The known failures in the file that the options name; none where they name none.

    Raises:
        ParameterError: the folder of the one to write does not exist.
        ConfigurationError: the file has mistakes.
    """
    if options.write_baseline is not None and not options.write_baseline.absolute().parent.is_dir():
        raise ParameterError(f"--write-baseline {str(options.write_baseline)!r} is not a file in an existing folder.")
    if options.baseline is None:
        return ()
    from workbook.tools.conform.back_end.config import load_baseline  # loads the forms of every file: 300 ms

    return load_baseline(options.baseline)


def write_baseline(
    options: argparse.Namespace, old: Sequence[Known], record: RunRecord, cases: Mapping[str, Any]
) -> None:
    """Write what failed into a baseline, if the options name one; `cases` are all cases by name."""
    if options.write_baseline is None:
        return
    from workbook.base.files import write_whole
    from workbook.tools.harness.model import COVERED, Verdict, new_baseline

    failures = {
        case.name: " ".join(f"Expected {miss.expected}, observed {miss.observed}." for miss in case.misses[:1])
        or case.why
        for case in record.ended(*COVERED, Verdict.KNOWN)
    }
    write_whole(options.write_baseline, new_baseline(old, failures, cases))


def show(options: argparse.Namespace, record: RunRecord, lines: Iterable[str]) -> int:
    """Print a run in the form that the options name, as text in these lines; returns its exit code."""
    if options.format == "text":
        for line in (*lines, *([f"reports in {options.out}"] if options.out else [])):
            say(line)
        return record.about.exit_code
    from workbook.tools.harness.output import to_junit, to_sarif
    from workbook.tools.harness.report import to_json

    text = {"json": to_json, "junit": to_junit, "sarif": to_sarif}[options.format](record)
    record.secrets.check({"text": text})
    say(text)
    return record.about.exit_code


def list_cases(cases: Iterable[Any]) -> ExitCode:
    """Print a line for each case."""
    for case in cases:
        say(f"{case.name}  [{case.group}, {case.rule} {case.rests_on.level}]  {case.says}")
    return ExitCode.OK


def checked_seed(text: str | None) -> int | None:
    """The given seed, or None where none was given.

    Raises:
        ParameterError: the text is no whole number, or outside the range of seeds.
    """
    from workbook.lessons.session import Parameters

    return None if text is None else Parameters.from_strings({"seed": text}).seed


def make_folder(out: Path, *old: str) -> None:
    """Make the folder of `--out` where it is missing, and delete the old files with these names in it.

    Raises:
        ParameterError: it cannot be made, or a file in it cannot be deleted.
    """
    with explain_failure(f"--out {str(out)!r} cannot be used"):
        out.mkdir(parents=True, exist_ok=True)
        for name in old:
            (out / name).unlink(missing_ok=True)


def end_like_ctrl_c() -> None:
    """Treat SIGTERM and SIGHUP (a cancelled build, a closed terminal) like Ctrl-C, and obey only the first signal.

    A second one would break off what the first one set going: kernels that end, a report that is being written.
    """

    def interrupt() -> NoReturn:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        at_first_signal(interrupt)
