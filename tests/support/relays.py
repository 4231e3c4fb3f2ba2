"""Runs the cases against one of the relays of `fixtures/back_ends`, at limits that are a fraction of the real ones.

The log of a relay in Python is the process's own, so one process runs one relay at a time.
"""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import broken
import broken_platform
import reference

from workbook.conformance.case_runner import CaseRunner, run_cases
from workbook.conformance.cases import CASES
from workbook.conformance.config import Exports
from workbook.conformance.logs import Logs
from workbook.conformance.model import BY_STATUS, IN_BODY, Cardholder, Need, Operation, Surface, Target
from workbook.conformance.notebook import BOUND, DEADLINE, SESSIONS, mock_api, relay_running
from workbook.conformance.process import surroundings

FOLDER = Path(__file__).parent.parent.parent / "fixtures" / "back_ends"

KEY = "KEY-of-the-relays-q7zj2xkvw9"
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
    """What each of these cases came to; `more` is the target's.

    Cases about certificates have an API with TLS to themselves: a handshake for every call of all cases takes long.
    """
    about_tls = [case for case in cases if Need.API_TLS in CASES[case].needs]
    plain = [case for case in cases if case not in about_tls]
    parts = [_results(name, part, deadline, bound, more) for part in (plain, about_tls) if part]
    return [result for part in parts for result in part]


def _results(name, cases, deadline, bound, more):
    with TemporaryDirectory() as folder, mock_api([CASES[case] for case in cases], key=KEY) as api:
        log = Path(folder) / "relay.log"
        logs = Logs([log])
        with _running(name, api, log, deadline) as address:
            target = replace(_target(name, address, log, bound), api_tls=api.ca_file is not None, **more)
            runner = CaseRunner(target, api)
            runner.logs = logs  # from before the relay started
            return asyncio.run(run_cases([CASES[name] for name in cases], runner))


def _running(name, api, log, deadline):
    if name in OTHERS:
        return _program(OTHERS[name], api, log, deadline)
    kind = kinds()[name]
    return relay_running(kind, api, log, handler=broken.handler(kind), deadline=deadline)


@contextmanager
def _program(command, api, log, deadline):
    """The relay as a program, which prints its address first."""
    values = Exports().values(api.url, api.key, api.ca_file) | surroundings(api, proxy=True)
    values |= {"RELAY_SESSIONS": json.dumps(SESSIONS), "PORT": "0"}
    environment = {**os.environ, **values, "RELAY_DEADLINE": str(deadline)}
    with log.open("wb") as errors:
        process = subprocess.Popen(command, cwd=FOLDER, env=environment, stdout=subprocess.PIPE, stderr=errors)
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _target(name, address, log, bound):
    holders = [
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in SESSIONS.items()
    ]
    offered = getattr(kinds().get(name), "surfaces", {"platform A": {}, "platform B": {}})
    surfaces = {platform: surface(**more) for platform, more in offered.items()}
    failures = IN_BODY if name in OTHERS and "node" in name else BY_STATUS
    return Target(address, surfaces, tuple(holders), bound, (log,), failures=failures, proxied=True)
