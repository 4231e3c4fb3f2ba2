"""`workbook proxy` and `drift`: record the real API, and compare the record with the simulator."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from workbook.commands import add

REDACTED: Final = """\
Each exchange becomes a line of the record, redacted: no key, no sdkInput or sdkOutput (a length and a salted digest),
no free text of the API. Compare the record with the simulator: workbook drift RECORD
"""
DRIFT_CODES: Final = """\
exit codes:
  0  the simulator would answer the same
  1  it would answer differently; each difference names the setting that removes it, where there is one
  2  a wrong command line, or a file that cannot be used
"""


def add_to(commands: Any) -> None:
    """How they are called."""
    parser = add(commands, "proxy", proxy, "pass requests from a back end to a real API, and record both", REDACTED)
    parser.add_argument("--to", required=True, metavar="URL", help="the API's base URL: https, or http on loopback")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="trust this authority for the API, and no other (PEM)"
    )
    parser.add_argument(
        "--deadline", type=float, default=30.0, metavar="SECONDS", help="for a whole exchange; default: %(default)g"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the record; default: ./proxy-TIME.jsonl")
    parser.add_argument("--append", action="store_true", help="add to a record that exists")
    parser.add_argument("--pseudonyms", action="store_true", help="replace the ids of payment instruments")
    parser.add_argument("--json", action="store_true", help="print addresses and summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")

    parser = add(commands, "drift", drift, "compare a record of the real API with the simulator", DRIFT_CODES)
    parser.add_argument("record", type=Path, metavar="RECORD", help="what workbook proxy wrote")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the findings as JSON")
    form.add_argument("--toml", action="store_true", help="print the scenario that answers as the real API did")


def proxy(options: argparse.Namespace) -> int:
    """Pass requests on until Ctrl-C."""
    from workbook.proxy.proxy import Options, serve  # asyncio, httpcore: 100 ms

    chosen = Options(
        to=options.to,
        port=options.port,
        tls=options.tls,
        ca_file=options.ca_file,
        deadline=options.deadline,
        out=options.out,
        append=options.append,
        pseudonyms=options.pseudonyms,
        as_json=options.json,
        quiet=options.quiet,
    )
    return serve(chosen)


def drift(options: argparse.Namespace) -> int:
    """Print the differences, or the scenario without them."""
    from workbook.proxy.drift import as_json, as_text, drift, scenario_toml
    from workbook.proxy.record import read
    from workbook.simulation.scenario import load

    result = drift(read(options.record), load(options.scenario))
    text = scenario_toml(result) if options.toml else as_json(result) + "\n" if options.json else as_text(result)
    print(text, end="")
    return 1 if result.findings else 0
