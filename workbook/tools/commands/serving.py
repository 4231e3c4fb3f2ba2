"""What plays the other side: `serve`, `sdk-output`, `openapi` for a back end, `proxy`, `drift`, `phone`, `native`."""

import argparse
import json
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from workbook.base.terminal import at_first_signal, say
from workbook.errors import ExitCode
from workbook.tools.commands import add, checked_seed, make_folder


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    _add_simulation(commands)
    _add_real_api(commands)
    _add_app(commands)


def _add_simulation(commands: Any) -> None:
    """Add the simulated API, and what belongs to it."""
    parser = add(commands, "serve", serve, "serve the simulated API over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on; default: %(default)s")
    _add_server(parser, "print the address, the key and sdkOutputs as JSON")
    _add_world(parser, "default: %(default)s", "for everything that the simulation makes up; default: the scenario's")
    parser.add_argument("--journal", type=Path, metavar="FILE", help="append each exchange to this file, redacted")
    parser.add_argument("--control", action="store_true", help="serve the control API as well, with a token of its own")
    parser.add_argument("--allow-remote", action="store_true", help="accept requests from other machines")

    parser = add(commands, "sdk-output", sdk_output, "print a fresh sdkOutput, good for one POST to `workbook serve`")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the payment instrument; default: the first one")
    _add_world(parser, "the one that the server was started with", "the seed that the server was started with")

    parser = add(commands, "openapi", openapi, "print the OpenAPI document of the simulated API, as JSON")
    parser.add_argument("--profile", default="spec", metavar="NAME", help="spec or field; default: %(default)s")


def _add_real_api(commands: Any) -> None:
    """Add what stands between a back end and a real API."""
    redacted = """\
Each exchange becomes a line of the record, redacted: no key, no sdkInput or sdkOutput (a length and a salted digest),
no free text of the API. Compare the record with the simulator: workbook drift RECORD
"""
    parser = add(commands, "proxy", proxy, "pass requests from a back end to a real API, and record both", redacted)
    parser.add_argument("--to", required=True, metavar="URL", help="the API's base URL: https, or http on loopback")
    _add_server(parser, "print addresses and summary as JSON")
    parser.add_argument(
        "--ca-file", type=Path, metavar="FILE", help="trust this authority for the API, and no other (PEM)"
    )
    parser.add_argument(
        "--deadline", type=float, default=30.0, metavar="SECONDS", help="for a whole exchange; default: %(default)g"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="the record; default: ./proxy-TIME.jsonl")

    codes = """\
exit codes:
  0  the simulator would answer the same
  1  it would answer differently
  2  a wrong command line, or a file that cannot be used
"""
    parser = add(commands, "drift", drift, "compare a record of the real API with the simulator", codes)
    parser.add_argument("record", type=Path, metavar="RECORD", help="what workbook proxy wrote")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the findings as a report")


def _add_app(commands: Any) -> None:
    """Add what an app is tested with."""
    parser = add(commands, "native", native, "write the SDK stand-in's source files, for tests of your own app")
    parser.add_argument("language", choices=["kotlin", "swift"], help="the language of the files")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of sources; for Swift a new package")
    parser.add_argument(
        "--variant", default="", metavar="NAME", help="before-0.4.0 in Kotlin, earlier in Swift (sdk-a, sdk-b)"
    )
    named = "the name of the real one, so that the same sources compile against both; default: one of ours"
    parser.add_argument("--package", "--module", dest="name", default="", metavar="NAME", help=named)
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")

    after = """\
On an emulator: adb reverse tcp:PORT tcp:PORT, and the same address works there.
The protocol: notebooks/reference/phone.md
"""
    parser = add(commands, "phone", phone, "play the phone for an app that calls the SDK stand-in", after)
    _add_port(parser, "print address, key and cards as JSON", "each step")
    parser.add_argument("--phone", default="ready", metavar="NAME", help="which phone; --phone list lists them")
    parser.add_argument("--pace", type=float, default=1.0, metavar="X", help="multiplies the SDK's seconds; default: 1")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write each client's trace there, as JSON lines")
    parser.add_argument("--seed", metavar="N", help="makes the simulated data; the same number makes the same data")


def _add_port(parser: Any, json_help: str, logged: str) -> None:
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--json", action="store_true", dest="as_json", help=json_help)
    parser.add_argument("--quiet", action="store_true", help=f"do not log {logged} on stderr")


def _add_server(parser: Any, json_help: str) -> None:
    _add_port(parser, json_help, "each request")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")


def _add_world(parser: Any, scenario_help: str, seed_help: str) -> None:
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help=scenario_help)
    parser.add_argument("--seed", metavar="N", help=seed_help)


def _as(kind: Any, options: argparse.Namespace) -> Any:
    """The options as a dataclass whose fields have the names of the arguments."""
    return kind(**{field.name: getattr(options, field.name) for field in fields(kind)})


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from workbook.tools.mockserver.serve import ServeOptions, serve_api  # asyncio: 50 ms

    options.seed = checked_seed(options.seed)
    return serve_api(_as(ServeOptions, options))


def sdk_output(options: argparse.Namespace) -> int:
    """Print what the SDK stand-in makes for one payment instrument."""
    from workbook.simulation.scenario import load
    from workbook.tools.mockserver.mock import fresh_output

    world = load(options.scenario).world(seed=checked_seed(options.seed))
    instrument = next(iter(world.instruments)) if options.id is None else options.id
    say(fresh_output(instrument, seed=world.seed, world=world))
    return ExitCode.OK


def openapi(options: argparse.Namespace) -> int:
    """Print the document."""
    from workbook.simulation.contract import contract

    say(json.dumps(contract(options.profile).document, indent=2))
    return ExitCode.OK


def proxy(options: argparse.Namespace) -> int:
    """Pass requests on until Ctrl-C."""
    from workbook.tools.proxy.proxy import ProxyOptions, serve_proxy  # asyncio, httpcore: 100 ms

    return serve_proxy(_as(ProxyOptions, options))


def drift(options: argparse.Namespace) -> int:
    """Print the differences."""
    from workbook.simulation.scenario import load
    from workbook.tools.proxy.drift import as_json, as_text, drift
    from workbook.tools.proxy.record import read_proxy_record

    result = drift(read_proxy_record(options.record), load(options.scenario))
    say(as_json(result) if options.json else as_text(result))
    return ExitCode.FAILED if result.findings else ExitCode.OK


def native(options: argparse.Namespace) -> int:
    """Write the files."""
    from workbook.tools.conform.app.compiling import write_standin

    for path in write_standin(options.folder, options.language, options.variant, options.name, force=options.force):
        say(path)
    return ExitCode.OK


def phone(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C, then write the traces."""
    import asyncio  # 50 ms

    from workbook.base.files import write_all
    from workbook.base.values import check_port, lookup, number
    from workbook.simulation.phones import PHONES_A, PHONES_B
    from workbook.tools.conform.app.phone import PhoneServer
    from workbook.tools.mockserver.server import print_log

    phones = {**PHONES_A, **PHONES_B}
    if options.phone == "list":
        say("\n".join(phones))
        return ExitCode.OK
    lookup("phone", options.phone, phones)
    number("--pace", options.pace)
    check_port(options.port)
    if options.out is not None:
        make_folder(options.out)
    log = None if options.quiet else print_log
    seed = checked_seed(options.seed)
    server = PhoneServer(phone=options.phone, pace=options.pace, seed=7 if seed is None else seed, log=log)

    async def serve() -> None:
        stop = asyncio.Event()
        at_first_signal(partial(asyncio.get_running_loop().call_soon_threadsafe, stop.set))
        async with server.serving(options.port):
            values = server.settings
            lines = json.dumps(values) if options.as_json else "\n".join(f"{n}={v}" for n, v in values.items())
            say(lines)
            await stop.wait()

    asyncio.run(serve())
    if options.out is not None:
        write_all({options.out / f"{name}.jsonl": c.device.trace.to_jsonl() for name, c in server.clients.items()})
    return ExitCode.OK
