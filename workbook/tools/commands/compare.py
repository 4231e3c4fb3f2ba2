"""`compare`: what changed between two reports that other commands left."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbook.base.files import explain_failure
from workbook.base.terminal import say
from workbook.tools.commands import add


def add_to(commands: Any) -> None:
    """Add this command to the parser."""
    codes = """\
A report is a file or its folder: conform.json (conform, conform app, preflight), run.json, sweep.json, or what
workbook drift --json printed. Both are of one kind.

exit codes:
  0  nothing got worse; a case that the older report does not know is never worse by itself
  1  something did: newly failing, or no longer decided
  2  a file is no report, or the two are of different kinds"""
    parser = add(commands, "compare", compare, "what changed between two reports of one kind", codes)
    parser.add_argument("old", type=Path, metavar="OLD", help="a report, or its folder")
    parser.add_argument("new", type=Path, metavar="NEW", help="a later one of the same kind")
    parser.add_argument("--format", choices=["text", "markdown"], default="text", help="default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")


def compare(options: argparse.Namespace) -> int:
    """Print or write what changed between two reports."""
    from workbook.base.files import write_whole
    from workbook.tools.harness.compare import compare_reports
    from workbook.tools.harness.report import read_report, report_file

    changes = compare_reports(*(read_report(report_file(path)) for path in (options.old, options.new)))
    made = changes.to_markdown() if options.format == "markdown" else changes.text()
    if options.out is None:
        say(made)
        return changes.exit_code
    with explain_failure(f"--out {str(options.out)!r} cannot be written"):
        write_whole(options.out, made)
    say(f"{changes.headline} See {options.out}")
    return changes.exit_code
