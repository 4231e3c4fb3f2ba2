"""`workbook serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.commands.command import add, checked_seed

if TYPE_CHECKING:
    import argparse


def add_to(commands: Any) -> None:
    """How it is called."""
    parser = add(commands, "serve", handle, "serve the simulated API over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--json", action="store_true", help="print the address, the key and sdkOutputs as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the worlds over a restart")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument("--control", action="store_true", help="serve the control API as well, with a token of its own")
    parser.add_argument("--basis", action="store_true", help="say in a header what each answer rests on")
    parser.add_argument("--allow-remote", action="store_true", help="let others than this machine in")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of all that the simulation makes up; default: the scenario's"
    )


def handle(options: argparse.Namespace) -> int:
    """Carry it out."""
    from workbook.simulation.server import Options, serve  # noqa: PLC0415  # cryptography, asyncio: 50 ms

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
