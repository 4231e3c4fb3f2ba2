"""What every subcommand shares: its parser, and how it ends when it is interrupted.

The modules here import only the standard library, so `workbook --help` answers at once; a handler imports the rest when
it is called.
"""

from __future__ import annotations

import argparse
import signal
import threading
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbook.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Handler = Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """Says what is wrong as an error of ours, with the way to the help."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise ParameterError(f"{message}. Try: {self.prog} --help")

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        """Refuse words that mean nothing here; what stands after a = may be a secret, and is not repeated."""
        names = [word.partition("=")[0] for word in words]
        close = get_close_matches(names[0], self._option_string_actions, n=1)
        hint = f". Did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"unrecognized arguments: {' '.join(names)}{hint} Try: {self.prog} --help")


def add(commands: Any, name: str, handler: Handler, text: str, epilog: str = "") -> Parser:
    """A parser for one subcommand; `commands` is what `add_subparsers` returned."""
    parser: Parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler=handler)
    return parser


def add_notebooks(parser: Parser) -> None:
    """The options of every command that executes notebooks."""
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks")
    parser.add_argument(
        "--time-limit", type=float, default=300.0, metavar="SECONDS", help="per notebook; default: %(default)g"
    )


def checked_seed(number: int | None) -> int | None:
    """The seed that was given, or None where none was.

    Raises:
        ParameterError: it is not one.
    """
    from workbook.parameters import Parameters  # noqa: PLC0415

    return None if number is None else Parameters.of(seed=number).seed


def end_like_ctrl_c() -> None:
    """Let a closed terminal or a cancelled build end the kernels too."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), signal.default_int_handler)
