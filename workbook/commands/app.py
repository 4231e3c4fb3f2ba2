"""`phone` and `native`: for tests of your own app."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

from workbook.base.signals import ending_signals
from workbook.commands import add, checked_seed, make_folder

AFTER: Final = """\
On an emulator: adb reverse tcp:PORT tcp:PORT, and the same address works there.
The protocol: notebooks/reference/phone.md
"""


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    parser = add(commands, "native", native, "write the SDK stand-in's source files, for tests of your own app")
    parser.add_argument("language", choices=["kotlin"], help="the language of the files")
    parser.add_argument("folder", type=Path, metavar="DIR", help="where they go: your test sources")
    parser.add_argument("--variant", default="from-0.4.0", metavar="NAME", help="of the SDK; default: %(default)s")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    parser.add_argument(
        "--jar", action="store_true", help="a jar for Kotlin notebooks instead; prints the lines that load it"
    )

    parser = add(commands, "phone", phone, "play the phone for an app that calls the SDK stand-in", AFTER)
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--phone", default="ready", metavar="NAME", help="which phone; --phone list lists them")
    parser.add_argument("--pace", type=float, default=1.0, metavar="X", help="multiplies the SDK's seconds; default: 1")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write each client's trace there, as JSON lines")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print address, key and cards as JSON")
    parser.add_argument("--schema", action="store_true", help="print every call as JSON Schema")
    parser.add_argument("--quiet", action="store_true", help="do not log each step on stderr")
    parser.add_argument("--seed", metavar="N", help="makes the simulated data; the same number makes the same data")


def native(options: argparse.Namespace) -> int:
    """Write the files, or the jar."""
    from workbook.app.compiling import for_cells, write_standin

    if options.jar:
        print(for_cells(options.folder / "provisioning.jar", options.variant))
        return 0
    for path in write_standin(options.folder, options.variant, force=options.force):
        print(path)
    return 0


def phone(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C, then write the traces."""
    import asyncio  # 50 ms

    from workbook.app.phone import PhoneServer
    from workbook.app.protocol import schema
    from workbook.base.files import write_all
    from workbook.base.values import checked_port, lookup, number
    from workbook.mockserver.server import print_log
    from workbook.simulation.phones import PHONES_A
    from workbook.simulation.world import INSTRUMENT_IDS

    if options.phone == "list" or options.schema:
        print(json.dumps(schema(), indent=2) if options.schema else "\n".join(PHONES_A))
        return 0
    made = lookup("phone", options.phone, PHONES_A)
    number("--pace", options.pace)
    checked_port(options.port)
    if options.out is not None:
        make_folder(options.out)
    log = None if options.quiet else print_log
    seed = checked_seed(options.seed)
    server = PhoneServer(
        phone=lambda: made(INSTRUMENT_IDS[0]), pace=options.pace, seed=7 if seed is None else seed, log=log
    )

    async def serve() -> None:
        stop = asyncio.Event()
        for signal_number in ending_signals():
            asyncio.get_running_loop().add_signal_handler(signal_number, stop.set)
        async with server.serving(options.port):
            values = server.settings
            lines = json.dumps(values) if options.as_json else "\n".join(f"{n}={v}" for n, v in values.items())
            sys.stdout.write(f"{lines}\n")
            sys.stdout.flush()
            await stop.wait()

    asyncio.run(serve())
    if options.out is not None:
        write_all({options.out / f"{name}.jsonl": c.device.trace.to_jsonl() for name, c in server.clients.items()})
    return 0
