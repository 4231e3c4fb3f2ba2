"""Runs the cases against one of the relays of `fixtures/back_ends`, at limits that are a fraction of the real ones.

The log of a relay in Python is the process's own, so one process runs one relay at a time.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from workbook.conformance.cases import CASES
from workbook.conformance.logs import Logs
from workbook.conformance.rig import Rig
from workbook.conformance.run import run
from workbook.conformance.side import Side
from workbook.conformance.target import Cardholder, Operation, Surface, Target

FOLDER = Path(__file__).parent.parent.parent / "fixtures" / "back_ends"
sys.path.insert(0, str(FOLDER))

import broken  # noqa: E402
import broken_platform  # noqa: E402
import reference  # noqa: E402

DEADLINE, BOUND = 1.5, 3.5
"""Seconds: of a relay for a whole call, and of the wallet."""
CARDS = tuple(f"PIRELAY{number:018d}" for number in range(1, 29))
SESSIONS = {"session-of-ann-7d1f": list(CARDS[:26]), "session-of-bob-93c2": list(CARDS[26:])}
KEY = "KEY-of-the-relays-0123456789"
REFERENCE, FRONTS = "Relay", "TwoFronts"
OTHERS = {"asgi": [sys.executable, "asgi.py"], "node": ["node", "node.js"], "broken node": ["node", "broken_node.js"]}
"""Relays that are programs of their own, by name: how each is started."""
WRONG = {
    "broken node": (
        "It decodes each piece of an answer by itself, has a limit for silence only, and tells what its library says.",
        (
            "relay.get.text-unicode-long",
            "relay.post.text-unicode-long",
            "relay.get.limit-trickle",
            "relay.away.no-host",
        ),
    )
}
"""What is wrong with those that are broken, and which cases are made for it."""


def kinds():
    """Every relay that a process can hold itself."""
    return {REFERENCE: reference.Relay, FRONTS: broken_platform.TwoFronts, **broken.BROKEN}


def surface(prefix="", sdk_output="/sdkOutput", sdk_input="/sdkInput"):
    """What a relay offers an app."""
    return Surface(
        Operation("GET", f"{prefix}/cards/{{id}}/activation-data", sdk_input=sdk_input),
        Operation("POST", f"{prefix}/cards/{{id}}/provision", sdk_output=sdk_output, sdk_input=sdk_input),
    )


def verdicts(name, cases=tuple(CASES)):
    """The verdict on each of these cases, by name."""
    return {result.case.name: result.verdict for result in results(name, cases)}


def results(name, cases=tuple(CASES), deadline=DEADLINE, bound=BOUND, **more):
    """What each of these cases came to; `more` is the target's."""
    with TemporaryDirectory() as folder, Side(CARDS, key=KEY) as side:
        log = Path(folder) / "relay.log"
        logs = Logs([log])
        with _running(name, side, log, deadline) as address:
            target = replace(_target(address, log, bound, kinds().get(name)), **more)
            elsewhere = {"elsewhere": side.elsewhere, "elsewhere_url": side.other.base_url}
            rig = Rig(target, side.upstream, side.line, **elsewhere, logs=logs)
            return asyncio.run(run([CASES[one] for one in cases], rig))


def _running(name, side, log, deadline):
    if name in OTHERS:
        return _program(OTHERS[name], side, log, deadline)
    return _thread(kinds()[name], side, log, deadline)


@contextmanager
def _thread(kind, side, log, deadline):
    """The relay in this process, and what it logs."""
    with _logged(log):
        relay = kind(side.url, side.key, SESSIONS, deadline=deadline)
        server = reference.serve(relay, handler=broken.handler(kind))
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.socket.close()
            relay.api.close()


@contextmanager
def _logged(path):
    """Everything that the relay's own logger is told stands in this file."""
    logger, handler = logging.getLogger("relay"), logging.FileHandler(path)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


@contextmanager
def _program(command, side, log, deadline):
    """The relay as a program, which prints its address first."""
    told = {"API_URL": side.url, "API_KEY": side.key, "RELAY_SESSIONS": json.dumps(SESSIONS), "PORT": "0"}
    environment = {**os.environ, **told, "RELAY_DEADLINE": str(deadline)}
    with log.open("wb") as errors:
        process = subprocess.Popen(command, cwd=FOLDER, env=environment, stdout=subprocess.PIPE, stderr=errors)
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _target(address, log, bound, kind):
    holders = [
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in SESSIONS.items()
    ]
    offered = getattr(kind, "surfaces", {"platform A": {}, "platform B": {}})
    surfaces = {platform: surface(**more) for platform, more in offered.items()}
    return Target(address, surfaces, tuple(holders), Operation("GET", "/status"), bound, (log,))
