"""`serve`, `sdk-output` and `openapi`: the simulated API for your back end; `proxy` and `drift`: the real one."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from workbook.commands import add, checked_seed, end_like_ctrl_c

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
    """Add these commands to the parser."""
    parser = add(commands, "serve", serve, "serve the simulated API over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; default: %(default)s")
    _add_server(parser, "print the address, the key and sdkOutputs as JSON")
    _add_world(parser, "default: %(default)s", "for everything that the simulation makes up; default: the scenario's")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the data in this file over a restart")
    parser.add_argument("--control", action="store_true", help="serve the control API as well, with a token of its own")
    parser.add_argument(
        "--basis", action="store_true", help="add the header x-workbook-basis: which rule or source each answer follows"
    )
    parser.add_argument("--allow-remote", action="store_true", help="accept requests from other machines")
    parser.add_argument("--notify", default="", metavar="URL", help="send notifications (openapi) there, simulated")

    parser = add(commands, "sdk-output", sdk_output, "print a fresh sdkOutput, good for one POST to `workbook serve`")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the payment instrument; default: the first one")
    parser.add_argument(
        "--platform", choices=["a", "b"], default="a", help="the platform that it is from; default: %(default)s"
    )
    _add_world(parser, "the one that the server was started with", "the seed that the server was started with")

    parser = add(commands, "openapi", openapi, "print the OpenAPI document of the simulated API, as JSON")
    parser.add_argument("--profile", default="spec", metavar="NAME", help="spec or field; default: %(default)s")

    parser = add(commands, "proxy", proxy, "pass requests from a back end to a real API, and record both", REDACTED)
    parser.add_argument("--to", required=True, metavar="URL", help="the API's base URL: https, or http on loopback")
    _add_server(parser, "print addresses and summary as JSON")
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="trust this authority for the API, and no other (PEM)"
    )
    parser.add_argument(
        "--deadline", type=float, default=30.0, metavar="SECONDS", help="for a whole exchange; default: %(default)g"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the record; default: ./proxy-TIME.jsonl")
    parser.add_argument("--append", action="store_true", help="add to a record that exists")
    parser.add_argument("--pseudonyms", action="store_true", help="replace the ids of payment instruments")

    parser = add(commands, "drift", drift, "compare a record of the real API with the simulator", DRIFT_CODES)
    parser.add_argument("record", type=Path, metavar="RECORD", help="what workbook proxy wrote")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the findings as JSON")
    form.add_argument("--toml", action="store_true", help="print the scenario that answers as the real API did")


def _add_server(parser: Any, json_help: str) -> None:
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument("--json", action="store_true", dest="as_json", help=json_help)
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")


def _add_world(parser: Any, scenario_help: str, seed_help: str) -> None:
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help=scenario_help)
    parser.add_argument("--seed", metavar="N", help=seed_help)


def _as(kind: Any, options: argparse.Namespace) -> Any:
    """The options as a dataclass whose fields have the names of the arguments."""
    return kind(**{field.name: getattr(options, field.name) for field in fields(kind)})


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    end_like_ctrl_c()
    from workbook.mockserver.serve import ServeOptions, serve_api  # asyncio: 50 ms

    options.seed = checked_seed(options.seed)
    return serve_api(_as(ServeOptions, options))


def sdk_output(options: argparse.Namespace) -> int:
    """Print what the SDK stand-in makes for one payment instrument."""
    from workbook.mockserver.mock_server import fresh_output
    from workbook.simulation.scenario import load

    world = load(options.scenario).world(seed=checked_seed(options.seed))
    instrument = next(iter(world.instruments)) if options.id is None else options.id
    print(fresh_output(instrument, seed=world.seed, world=world, platform=options.platform))
    return 0


def openapi(options: argparse.Namespace) -> int:
    """Print the document."""
    from workbook.simulation.contract import contract

    print(json.dumps(contract(options.profile).document, indent=2))
    return 0


def proxy(options: argparse.Namespace) -> int:
    """Pass requests on until Ctrl-C."""
    end_like_ctrl_c()
    from workbook.proxy.proxy import ProxyOptions, serve_proxy  # asyncio, httpcore: 100 ms

    return serve_proxy(_as(ProxyOptions, options))


def drift(options: argparse.Namespace) -> int:
    """Print the differences, or the scenario that removes them."""
    from workbook.proxy.drift import as_json, as_text, drift, scenario_toml
    from workbook.proxy.record import read_proxy_record
    from workbook.simulation.scenario import load

    result = drift(read_proxy_record(options.record), load(options.scenario))
    text = scenario_toml(result) if options.toml else as_json(result) + "\n" if options.json else as_text(result)
    print(text, end="")
    return 1 if result.findings else 0
