"""`workbook run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbook.commands.command import add, add_notebooks, end_like_ctrl_c
from workbook.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


CODES: Final = """exit codes (when notebooks end differently, the highest wins):
  0  every cell ran and every check passed
  1  a check failed
  2  usage or a parameter is wrong; nothing ran
  3  a notebook raised an error
  4  the time limit passed; the kernel was killed
  5  a kernel died
  130  interrupted; the report holds what had ended

A key is read from the environment variable WORKBOOK_API_KEY and never from a parameter."""


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "run", handle, "run notebooks and write a report", CODES)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="01, activation_data or 01_activation_data; default: all"
    )
    parser.add_argument("-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="default: %(default)s")
    add_notebooks(parser)


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.runner.session import Request, run  # noqa: PLC0415

    end_like_ctrl_c()
    request = Request(
        names=options.names,
        given=_pairs(options.given),
        out=options.out,
        notebooks=options.notebooks,
        limit=options.time_limit,
    )
    report = run(request)
    print(f"report in {options.out}")
    return report.exit_code


def _pairs(given: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals:
            raise ParameterError("-p needs NAME=VALUE, such as -p seed=9.")
        if name in pairs:
            raise ParameterError(f"-p {name} was given twice.")
        pairs[name] = value
    return pairs
