"""`compare` and `evidence`: what is made of reports that other commands left."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.base.terminal import say
from workbook.errors import ExitCode, ParameterError
from workbook.tools.commands import add

if TYPE_CHECKING:
    from workbook.tools.harness.results import AnyReport


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    codes = """\
A report is a file or its folder: conform.json (conform, conform app, preflight), run.json, sweep.json, a recording
of workbook proxy, or what workbook drift --json printed. Both are of one kind.

exit codes:
  0  nothing got worse; a case that the older report does not know is never worse by itself
  1  something did: newly failing, graver, no longer decided, slower
  2  a file is no report, or the two are of different kinds"""
    parser = add(commands, "compare", compare, "what changed between two reports of one kind", codes)
    parser.add_argument("old", type=Path, metavar="OLD", help="a report, or its folder")
    parser.add_argument("new", type=Path, metavar="NEW", help="a later one of the same kind")
    parser.add_argument("--format", choices=["text", "markdown", "html"], default="text", help="default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")

    text = "one page and a zip of what the operator's and the wallet provider's reviews ask"
    epilog = """\
A report that is not named is looked for in this folder and directly below it. What is missing is named.

exit codes:
  0  both are written, whatever the reports say
  2  a file is no such report, two are of one kind, or one holds the API key or card data; nothing is written"""
    parser = add(commands, "evidence", evidence, text, epilog)
    for words in ("preflight", "conform", "conform app", "run"):
        option = f"--{words.split()[-1]}"
        parser.add_argument(option, type=Path, metavar="FILE", help=f"the report of workbook {words}, or its folder")
    parser.add_argument(
        "--durations", type=Path, nargs="+", default=[], metavar="FILE", help="durations measured on devices"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder for both")


def _read(path: Path) -> AnyReport:
    """The report of any kind in this file or folder."""
    from workbook.tools.harness.results import read_report, report_file
    from workbook.tools.proxy.drift import of_recording
    from workbook.tools.proxy.record import read_proxy_record

    file = report_file(path)
    return of_recording(read_proxy_record(file)) if file.suffix == ".jsonl" else read_report(file)


def compare(options: argparse.Namespace) -> int:
    """Print or write what changed between two reports."""
    from workbook.base.files import write_whole
    from workbook.tools.harness.compare import compare

    changes = compare(_read(options.old), _read(options.new))
    made = {"text": changes.text, "markdown": changes.to_markdown, "html": changes.to_html}[options.format]()
    if options.out is None:
        say(made)
        return changes.exit_code
    try:
        write_whole(options.out, made)
    except OSError as error:
        raise ParameterError(f"--out {str(options.out)!r} cannot be written: {error.strerror}.") from None
    say(f"{changes.headline} See {options.out}")
    return changes.exit_code


def evidence(options: argparse.Namespace) -> int:
    """Write the page and the zip."""
    from workbook.base.secrecy import Secrets
    from workbook.tools.harness.results import ReportKind, found_reports, read_sources, write_evidence

    named = {kind: path for kind in ReportKind if (path := getattr(options, kind.option, None))}
    found = found_reports(Path(), named, lambda text: say(text, sys.stderr))
    sources = read_sources(named | found, options.durations)
    if not sources:
        raise ParameterError("There is no report here. Make one first, such as: workbook conform back-end.toml")
    missing = write_evidence(sources, options.out, Secrets.of_environment(os.environ))
    say(f"{options.out / 'evidence.html'} and evidence.zip, from {', '.join(source.file for source in sources)}")
    if missing:
        say(f"Not provided: {', '.join(missing)}. The page says how to make it.")
    return ExitCode.OK
