"""`preflight`, with `allowlist-request` below it: the project's files, before a build."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.base.terminal import say
from workbook.errors import ExitCode, ParameterError
from workbook.tools.commands import add, add_case_options, list_cases, read_baseline, show, write_baseline

if TYPE_CHECKING:
    from workbook.tools.preflight.run import Preflight


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    closing = "Nothing is changed, and nothing is sent."
    codes = """\
workbook preflight allowlist-request PATH... --signing FILE...    the values to send, for each build variant

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
  0    every build variant is in the request
  1    no file names the certificate of a variant
  2    there is no fingerprint or no application id, or a file that you named cannot be read

"""
    text = "write the request for allowlisting: application id and SHA-256 of each build variant"
    parser = add(commands, "preflight allowlist-request", request, text, codes + closing)
    _add_files(parser)
    parser.add_argument("--json", action="store_true", dest="as_json", help="write it as JSON, for preflight --sent")


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add what both commands read."""
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders of the project")
    parser.add_argument(
        "--signing", nargs="+", action="extend", default=[], type=Path, metavar="FILE",
        help="texts of signing reports",
    )  # fmt: skip
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
    from workbook.tools.harness.selection import chosen
    from workbook.tools.harness.summary import headline
    from workbook.tools.preflight.run import PREFLIGHT_CASES, finding_lines, preflight

    cases = chosen(PREFLIGHT_CASES, [_pattern(text, PREFLIGHT_CASES) for text in options.only])
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
    """Print the request; name the build variants that it lacks."""
    from workbook.tools.preflight.gradle import read_build
    from workbook.tools.preflight.project import read_project
    from workbook.tools.preflight.run import named_certificates
    from workbook.tools.preflight.signing import allowlist_request

    if not options.signing:
        raise ParameterError("The request needs a fingerprint: --signing FILE, such as a signing report's text.")
    run = _run(options)
    build = read_build(read_project(run.paths))
    variants = [(variant.name, variant.application_id) for module in build.apps for variant in module.variants()]
    if not variants:
        raise ParameterError("No build file says an application id. Name the folder of the app's module.")
    certificates = named_certificates(run)
    rows = allowlist_request(variants, certificates)
    signed = {row["variant"] for row in rows}
    lacking = [f"{name} ({identity})" for name, identity in variants if identity and name not in signed]
    unknown = [*build.unknown_ids(certificate.variant for certificate in certificates)]
    if lacking:
        names = ", ".join(lacking)
        again = "Name that file with --signing, too"
        unknown.append(f"Not in the request, because no file names their certificate: {names}. {again}")
    for sentence in (*unknown, *(sentence for module in build.apps for sentence in module.filters())):
        say(f"{sentence}.", sys.stderr)
    exit_code = ExitCode.FAILED if unknown else ExitCode.OK
    if options.as_json:
        say(json.dumps({"request": rows}, indent=1))
        return exit_code
    say("Please allowlist this app with the wallet provider (A-ALLOW-1), one entry for each line:")
    for row in rows:
        note = f" ({row['note']})" if row["note"] else ""
        say(f"\n  application id  {row['applicationId']}\n  SHA-256         {row['sha256']}\n"
            f"  build variant   {row['variant']}\n  signed on       {row['machine']}{note}")  # fmt: skip
    return exit_code
