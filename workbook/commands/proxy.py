"""`workbook proxy`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add

if TYPE_CHECKING:
    import argparse

KEPT = """\
Each exchange becomes a line of the record, redacted: no key, no sdkInput or sdkOutput (a length and a salted digest),
no sentence of the API's. Compare the record with the simulator: workbook drift RECORD
"""


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "proxy", handle, "stand between a back end and a real API, and record both", KEPT)
    parser.add_argument("--to", required=True, metavar="URL", help="the API's base URL: https, or http on loopback")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="trust this authority for the API, and no other (PEM)"
    )
    parser.add_argument(
        "--deadline", type=float, default=30.0, metavar="SECONDS", help="for a whole exchange; default: %(default)g"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the record; default: proxy-TIME.jsonl, right here")
    parser.add_argument("--append", action="store_true", help="go on with a record that is there")
    parser.add_argument("--pseudonyms", action="store_true", help="record no id of a payment instrument as it is")
    parser.add_argument("--json", action="store_true", help="print addresses and summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.proxy.proxy import Options, serve  # noqa: PLC0415  # asyncio, httpcore: 100 ms

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
