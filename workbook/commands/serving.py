"""`workbook serve`, `sdk-output` and `openapi`: the simulated API for your back end."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from workbook.commands import add, checked_seed


def add_to(commands: Any) -> None:
    """How they are called."""
    parser = add(commands, "serve", serve, "serve the simulated API over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; default: %(default)s")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--json", action="store_true", help="print the address, the key and sdkOutputs as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the data in this file over a restart")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument("--control", action="store_true", help="serve the control API as well, with a token of its own")
    parser.add_argument("--basis", action="store_true", help="name in a header the rule or source of each answer")
    parser.add_argument("--allow-remote", action="store_true", help="accept requests from other machines")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="for everything that the simulation makes up; default: the scenario's"
    )

    parser = add(commands, "sdk-output", sdk_output, "print a fresh sdkOutput, good for one POST to `workbook serve`")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the payment instrument; default: the first one")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="the one that the server was started with")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="the one that it was started with")

    parser = add(commands, "openapi", openapi, "print the OpenAPI document of the simulated API, as JSON")
    parser.add_argument("--profile", default="spec", metavar="NAME", help="spec or field; default: %(default)s")


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from workbook.simulation.serve import Options, serve  # cryptography, asyncio: 50 ms

    chosen = Options(
        host=options.host,
        port=options.port,
        as_json=options.json,
        seed=checked_seed(options.seed),
        quiet=options.quiet,
        scenario=options.scenario,
        state=options.state,
        tls=options.tls,
        control=options.control,
        basis=options.basis,
        allow_remote=options.allow_remote,
    )
    return serve(chosen)


def sdk_output(options: argparse.Namespace) -> int:
    """Print what the SDK stand-in makes for one payment instrument."""
    from workbook.simulation.mock_server import fresh_output
    from workbook.simulation.scenario import load

    world = load(options.scenario).world(seed=checked_seed(options.seed))
    instrument = next(iter(world.instruments)) if options.id is None else options.id
    print(fresh_output(instrument, seed=world.seed, world=world))
    return 0


def openapi(options: argparse.Namespace) -> int:
    """Print the document."""
    from workbook.simulation.contract import contract

    print(json.dumps(contract(options.profile).document, indent=2))
    return 0
