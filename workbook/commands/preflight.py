"""`preflight`, with `allowlist-request` below it: the project's files, before a build."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbook.commands import add
from workbook.errors import ParameterError

if TYPE_CHECKING:
    from workbook.harness.selection import Known
    from workbook.preflight.run import Preflight

CODES: Final = """\
workbook preflight allowlist-request PATH... --signing FILE...    the values to send, for each build variant

exit codes:
  0    no case failed
  1    a case failed, an entry of the baseline is stale, or a variant is missing in the request
  2    nothing here is about provisioning, or a file that you named cannot be read

A keystore's password comes from WORKBOOK_KEYSTORE_PASSWORD. Nothing is changed, and nothing is sent."""
REQUEST: Final = "allowlist-request"


def add_to(commands: Any) -> None:
    """Add this command to the parser."""
    parser = add(commands, "preflight", preflight, "judge a mobile project's files before they are built", CODES)
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="folders of the project")
    parser.add_argument("--list", action="store_true", help="list the cases")
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="PATTERN", help="names, groups or globs of cases"
    )
    parser.add_argument("--sdk", default="", metavar="NAME", help="the SDK's coordinate group:name, or its package")
    parser.add_argument("--library", default="", metavar="NAME", help="the private library's coordinate group:name")
    parser.add_argument("--repository", type=Path, metavar="DIR", help="the local repository with the private library")
    parser.add_argument(
        "--signing", nargs="+", action="extend", default=[], type=Path, metavar="FILE",
        help="signing reports, certificates, keystores, signed packages",
    )  # fmt: skip
    parser.add_argument("--machine", default="", metavar="NAME", help="the machine that made the certificates")
    parser.add_argument("--sent", type=Path, metavar="FILE", help="the request that was sent for allowlisting, as JSON")
    parser.add_argument("--env", type=Path, metavar="FILE", help="the back end's environment, NAME=VALUE lines")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="known failures")
    parser.add_argument("--strict", action="store_true", help="a warning counts as a failure")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the reports there, SARIF too")
    parser.add_argument("--format", choices=["text", "json", "junit", "sarif"], default="text", help="what to print")
    parser.add_argument(
        "--json", action="store_true", dest="as_json", help="with allowlist-request: write it as JSON, for --sent"
    )


def preflight(options: argparse.Namespace) -> int:
    """Judge, list the cases, or write the request."""
    from workbook.harness.selection import chosen
    from workbook.preflight.run import PREFLIGHT_CASES, Preflight
    from workbook.preflight.signing import PASSWORD

    request = options.paths[:1] == [Path(REQUEST)]
    paths = tuple(options.paths[1:] if request else options.paths)
    cases = chosen(PREFLIGHT_CASES, [_pattern(text, PREFLIGHT_CASES) for text in options.only])
    if options.list:
        for case in cases:
            print(f"{case.name}  [{case.group}, {case.rule} {case.rests_on.level}]  {case.says}")
        return 0
    if not paths:
        raise ParameterError("Which project? Name its folder: workbook preflight PATH.")
    known: tuple[Known, ...] = ()
    if options.baseline is not None:
        from workbook.relay.config_file import load_baseline  # loads the forms of every file: 300 ms

        known = load_baseline(options.baseline)
    run = Preflight(
        paths,
        cases,
        sdk=options.sdk,
        library=options.library,
        signing=tuple(options.signing),
        password=os.environ.get(PASSWORD, ""),
        machine=options.machine,
        sent=options.sent,
        repository=options.repository,
        environment=options.env,
        known=known,
        only=tuple(options.only),
        strict=options.strict,
        line=shlex.join(["workbook", "preflight", *map(str, paths)]),
    )
    return _request(run, as_json=options.as_json) if request else _judge(run, options)


def _pattern(text: str, names: Iterable[str]) -> str:
    """A pattern as `chosen` takes it: `signing` and `plist.*` mean cases whose names go on so after `preflight.`."""
    forms = (f"preflight.{text}", f"preflight.{text}.*")
    return next((form for form in forms if any(fnmatchcase(name, form) for name in names)), text)


def _judge(run: Preflight, options: argparse.Namespace) -> int:
    from workbook.base.files import write_whole
    from workbook.harness.report import headline
    from workbook.preflight.run import finding_lines, preflight, to_sarif

    done = preflight(run)
    text, sarif = "", to_sarif(done)
    if options.format == "sarif":
        text = sarif
    elif options.format != "text":
        from workbook.harness.reports import to_json, to_junit  # jinja2

        text = (to_json if options.format == "json" else to_junit)(done)
    done.secrets.check({"text": text, "sarif": sarif})
    if options.out is not None:
        from workbook.harness.reports import write_reports

        write_reports(done, options.out)
        write_whole(options.out / "preflight.sarif", sarif)
    if text:
        sys.stdout.write(text)
        return done.about.exit_code
    for line in (*finding_lines(done), *done.about.stale, *filter(None, [done.about.trouble]), headline(done)):
        print(line)
    if options.out is not None:
        print(f"reports in {options.out}")
    return done.about.exit_code


def _request(run: Preflight, *, as_json: bool) -> int:
    from workbook.preflight.gradle import read_build
    from workbook.preflight.project import read_project
    from workbook.preflight.run import named_certificates
    from workbook.preflight.signing import allowlist_request

    if not run.signing:
        raise ParameterError("The request needs a fingerprint: --signing FILE, such as a signing report's text.")
    variants = [(one.name, one.application_id) for module in read_build(read_project(run.paths)).apps
                for one in module.variants()]  # fmt: skip
    if not variants:
        raise ParameterError("No build file says an application id. Name the folder of the app's module.")
    rows = allowlist_request(variants, named_certificates(run))
    signed = {row["variant"] for row in rows}
    missing = [f"{name} ({identity})" for name, identity in variants if name not in signed]
    if missing:
        sys.stderr.write(f"Not in the request, because no file names their certificate: {', '.join(missing)}. "
                         "Name that file with --signing, too.\n")  # fmt: skip
    if as_json:
        print(json.dumps({"request": rows}, indent=1))
        return 1 if missing else 0
    print("Please allowlist this app with the wallet provider (A-ALLOW-1), one entry for each line:")
    for row in rows:
        note = f" ({row['note']})" if row["note"] else ""
        print(f"\n  application id  {row['applicationId']}\n  SHA-256         {row['sha256']}\n"
              f"  build variant   {row['variant']}\n  signed on       {row['machine']}{note}")  # fmt: skip
    return 1 if missing else 0
