"""`sweep`: every combination of a matrix is played, checked, kept and summarised."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

from workbook.base.terminal import say
from workbook.errors import ConfigurationError, ExitCode
from workbook.tools.commands import add


def add_to(commands: Any) -> None:
    """Add this command to the parser."""
    closing = """\
exit codes:
  0    no failure: your choices add none to what the ordinary ones have in the same surroundings
  1    failures were found
  2    the matrix or an option is wrong, or something that is needed is not installed

Killed or stopped, the same command goes on where it was. Without a file it plays the workbook's own matrix.
"""
    parser = add(commands, "sweep", sweep, "play every combination of a matrix and find what fails", closing)
    parser.add_argument("matrix", nargs="?", type=Path, metavar="MATRIX.toml", help="the matrix")
    parser.add_argument("--print", action="store_true", dest="as_toml", help="print the workbook's own matrix")
    parser.add_argument("--out", type=Path, default=Path("sweep"), metavar="DIR", help="where rows and summary go")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="play N combinations, spread over all")
    parser.add_argument("--app", default="", metavar="MODULE:NAME", help="your fetchOpc, or your delegate's class")
    parser.add_argument("--handler", dest="own", default="", metavar="MODULE:CLASS", help="your extension's handler")
    parser.add_argument("--patience", type=float, default=2.0, metavar="N", help="your code hangs after N seconds (2)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes; one a core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on the Dask cluster of this scheduler")


def sweep(options: argparse.Namespace) -> int:
    """Play, summarise, and say what failed."""
    from importlib.util import find_spec

    from workbook.base.files import explain_failure, pip_line
    from workbook.base.values import number, whole
    from workbook.tools.sweep import matrix as matrices

    if options.as_toml:
        say(Path(matrices.__file__).with_name("matrix.toml").read_text("utf-8"))
        return ExitCode.OK
    if options.scheduler and find_spec("distributed") is None:
        raise ConfigurationError(f"--scheduler needs Dask, which is not installed: {pip_line('dask')}")
    from workbook.tools.sweep.run import open_cluster, open_pool, summarise, sweep

    workers = whole("--workers", options.workers, least=1, most=256)
    matrix = matrices.read_matrix(
        options.matrix,
        app=options.app,
        handler=options.own,
        limit=whole("--limit", options.limit, least=0, most=10_000_000),
        patience=number("--patience", options.patience, least=0.1, most=60, unit="seconds"),
    )
    open_executor = partial(open_cluster, options.scheduler) if options.scheduler else partial(open_pool, workers)
    with explain_failure("The sweep cannot be written", "Make room, and start it again: it goes on where it was."):
        played, seconds = sweep(matrix, options.out, open_executor)
        document = summarise(matrix, options.out, played, seconds)
    for kind in document["failures"]:
        values = ", ".join(f"{name} = {value}" for name, value in kind["smallest"].items()) or "-"
        say(f"FAIL  {kind['kind']}")
        say(f"      {kind['rows']} rows; smallest: {values}\n      {kind['replay']}")
    count, rows = len(document["failures"]), document["rows"]
    kinds = "no failure" if not count else f"{count} {'kind' if count == 1 else 'kinds'} of failure"
    say(f"{kinds} in {rows:,} combinations; {played:,} played in {seconds:.0f} s; see {options.out / 'index.html'}")
    return ExitCode.FAILED if count else ExitCode.OK
