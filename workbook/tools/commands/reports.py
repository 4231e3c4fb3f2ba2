"""What leaves a report without a back end or an app: `preflight`, `sweep`, and what changed, by `compare`."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.base.files import explain_failure
from workbook.base.terminal import say
from workbook.errors import ConfigurationError, ExitCode, ParameterError
from workbook.tools.commands import add, add_case_options, list_cases, read_baseline, show, write_baseline

if TYPE_CHECKING:
    from workbook.tools.preflight.run import Preflight


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    closing = "Nothing is changed, and nothing is sent."
    codes = """\
workbook preflight allowlist-request PATH... --signing FILE...    the values to send, for each variant or target

exit codes:
  0    no case failed
  1    a case failed, or an entry of the baseline is stale
  2    nothing here is about provisioning, or a file that you named cannot be read

"""
    text = "judge a mobile project's files before they are built"
    parser = add(commands, "preflight", preflight, text, codes + closing)
    _add_files(parser)
    add_case_options(parser)
    parser.add_argument("--sdk", default="", metavar="NAME", help="the SDK's coordinate group:name, or its package")
    parser.add_argument("--library", default="", metavar="NAME", help="the private library's coordinate group:name")
    parser.add_argument("--sent", type=Path, metavar="FILE", help="the request that was sent for allowlisting, as JSON")
    parser.add_argument("--env", type=Path, metavar="FILE", help="the back end's environment, NAME=VALUE lines")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the reports there, SARIF too")

    codes = """\
exit codes:
  0    every build variant and every target is in the request
  1    a value is in none of the files
  2    there is no fingerprint, application id or bundle id, or a file that you named cannot be read

"""
    text = (
        "write the request for allowlisting: platform A's application ids and SHA-256, platform B's team and bundle ids"
    )
    parser = add(commands, "preflight allowlist-request", request, text, codes + closing)
    _add_files(parser)
    parser.add_argument("--store-id", default="", metavar="ID", help="the store's number of platform B's app")
    parser.add_argument("--json", action="store_true", dest="as_json", help="write it as JSON, for preflight --sent")
    _add_sweep(commands)
    _add_compare(commands)


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add what both commands read."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders of the project")
    parser.add_argument(
        "--signing",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help="texts of signing reports; profiles and archives of platform B",
    )
    parser.add_argument("--machine", default="", metavar="NAME", help="the machine that made the certificates")


def _run(options: argparse.Namespace, **settings: Any) -> Preflight:
    """The run with the files that both commands read.

    Raises:
        ParameterError: no folder is named.
    """
    from workbook.tools.preflight.run import Preflight

    if not options.paths:
        raise ParameterError("Which project? Name its folder: workbook preflight PATH.")
    return Preflight(tuple(options.paths), signing=tuple(options.signing), machine=options.machine, **settings)


def preflight(options: argparse.Namespace) -> int:
    """Judge, or list the cases."""
    from workbook.tools.harness.model import choose_cases
    from workbook.tools.harness.summary import headline
    from workbook.tools.preflight.run import PREFLIGHT_CASES, finding_lines, preflight

    cases = choose_cases(PREFLIGHT_CASES, [_pattern(text, PREFLIGHT_CASES) for text in options.only])
    if options.list:
        return list_cases(cases)
    baseline = read_baseline(options)
    run = _run(
        options,
        cases=cases,
        sdk=options.sdk,
        library=options.library,
        sent=options.sent,
        environment=options.env,
        baseline=baseline,
        only=tuple(options.only),
        strict=options.strict,
        command=shlex.join(["workbook", "preflight", *map(str, options.paths)]),
    )
    done = preflight(run)
    write_baseline(options, baseline, done, PREFLIGHT_CASES)
    if options.out is not None:
        from workbook.tools.harness.output import write_reports  # jinja2

        write_reports(done, options.out)
    lines = (*finding_lines(done), *done.about.stale, *filter(None, [done.about.trouble]), headline(done))
    return show(options, done, lines)


def _pattern(text: str, names: Iterable[str]) -> str:
    """A pattern as `chosen` takes it: `signing` and `plist.*` mean cases whose names go on so after `preflight.`."""
    forms = (f"preflight.{text}", f"preflight.{text}.*")
    return next((form for form in forms if any(fnmatchcase(name, form) for name in names)), text)


def request(options: argparse.Namespace) -> int:
    """Print the request; name what it lacks."""
    from workbook.tools.preflight.run import make_request, read_facts

    facts = read_facts(_run(options))
    wanted = make_request(facts, facts.certificates, facts.signed, options.store_id)
    for sentence in (*wanted.lacking, *wanted.filters):
        say(f"{sentence}.", sys.stderr)
    if options.as_json:
        say(json.dumps({"request": wanted.rows, "platformB": wanted.rows_b}, indent=1))
    else:
        _print_request(wanted.rows, wanted.rows_b)
    return ExitCode.FAILED if wanted.lacking else ExitCode.OK


def _print_request(rows: Collection[Mapping[str, str]], rows_b: Collection[Mapping[str, str]]) -> None:
    """Print what to send for each platform."""
    if rows:
        say("Please allowlist this app with the wallet provider (A-ALLOW-1), one entry for each line:")
    for row in rows:
        note = f" ({row['note']})" if row["note"] else ""
        say(
            f"\n  application id  {row['applicationId']}\n  SHA-256         {row['sha256']}\n"
            f"  build variant   {row['variant']}\n  signed on       {row['machine']}{note}"
        )
    if rows_b:
        say("Platform B: please allowlist these with the wallet provider, and associate them with the cards (wallet):")
    for row in rows_b:
        say(
            f"\n  bundle id       {row['bundleId']}\n  target          {row['target']}\n"
            f"  team id         {row['teamId']}\n  store id        {row['storeId']}\n"
            f"  at the scheme   associated application identifier {row['associatedApplicationIdentifier']}, "
            f"associated store identifier {row['storeId']}"
        )


def _add_sweep(commands: Any) -> None:
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
    parser.add_argument("--limit", type=int, metavar="N", help="play N combinations, spread over all")
    parser.add_argument("--app", default="", metavar="MODULE:NAME", help="your fetchOpc, or your delegate's class")
    parser.add_argument("--handler", dest="own", default="", metavar="MODULE:CLASS", help="your extension's handler")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes; one a core")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="play on the Dask cluster of this scheduler")


def sweep(options: argparse.Namespace) -> int:
    """Play, summarise, and say what failed."""
    from importlib.util import find_spec

    from workbook.base.files import explain_failure, pip_line
    from workbook.base.values import whole
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
        limit=0 if options.limit is None else whole("--limit", options.limit, least=1, most=10_000_000),
    )
    open_executor = partial(open_cluster, options.scheduler) if options.scheduler else partial(open_pool, workers)
    with explain_failure("The sweep cannot be written", "Make room, and start it again: it goes on where it was."):
        played, seconds = sweep(matrix, options.out, open_executor)
        document = summarise(matrix, options.out, played, seconds)
    for kind in document["failures"]:
        values = ", ".join(f"{name} = {value}" for name, value in kind["smallest"].items()) or "-"
        say(f"FAIL  {kind['kind']}")
        say(f"      {kind['rows']} row{'' if kind['rows'] == 1 else 's'}; smallest: {values}\n      {kind['replay']}")
    count, rows = len(document["failures"]), document["rows"]
    kinds = "no failure" if not count else f"{count} {'kind' if count == 1 else 'kinds'} of failure"
    say(f"{kinds} in {rows:,} combinations; {played:,} played in {seconds:.0f} s; see {options.out / 'index.html'}")
    return ExitCode.FAILED if count else ExitCode.OK


def _add_compare(commands: Any) -> None:
    codes = """\
A report is a file or its folder: conform.json (conform, conform app, preflight), run.json, sweep.json, or what
workbook drift --json printed. Both are of one kind.

exit codes:
  0  nothing got worse; a case that the older report does not know is never worse by itself
  1  something did: newly failing, newly warned, or no longer decided
  2  a file is no report, the two are of different kinds, or the later one decided nothing"""
    parser = add(commands, "compare", compare, "what changed between two reports of one kind", codes)
    parser.add_argument("old", type=Path, metavar="OLD", help="a report, or its folder")
    parser.add_argument("new", type=Path, metavar="NEW", help="a later one of the same kind")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there instead of printing it")


def compare(options: argparse.Namespace) -> int:
    """Print or write what changed between two reports."""
    from workbook.base.files import write_whole
    from workbook.tools.harness.report import compare_reports, read_report

    changes = compare_reports(read_report(options.old), read_report(options.new))
    if options.out is None:
        say(changes.text())
        return changes.exit_code
    with explain_failure(f"--out {str(options.out)!r} cannot be written"):
        write_whole(options.out, changes.text())
    say(f"{changes.headline} See {options.out}")
    return changes.exit_code
