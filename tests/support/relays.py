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
from ran import ABOUT
from tempos import TEMPOS, slowed

from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import Exports
from workbook.tools.conform.back_end.findings import common_causes, plain_attempt
from workbook.tools.conform.back_end.model import BY_STATUS, IN_BODY, BackEndOperation, Cardholder, Surface, Target
from workbook.tools.conform.back_end.schedule import run_cases
from workbook.tools.conform.back_end.session import read_unasked
from workbook.tools.conform.notebook import RELAY_SESSIONS, mock_api, relay_running
from workbook.tools.harness.program import Logs
from workbook.tools.harness.report import record
from workbook.tools.harness.summary import todos

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
            "relay.answer.no-host-ever",
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
        BackEndOperation("GET", f"{prefix}/cards/{{id}}/activation-data", sdk_input=sdk_input),
        BackEndOperation("POST", f"{prefix}/cards/{{id}}/provision", sdk_output=sdk_output, sdk_input=sdk_input),
    )


def verdicts(name, cases=tuple(CASES)):
    """The verdict on each of these cases, by name."""
    return {result.case.name: result.verdict for result in results(name, cases)}


def results(name, cases=tuple(CASES), deadline=1.5, bound=3.5, **more):
    """What each of these cases came to; `more` is the target's."""
    with running(name, cases, deadline, bound, **more) as runner:
        return asyncio.run(run_cases([CASES[name] for name in cases], runner))


def judged(name, cases=tuple(CASES)):
    """The verdicts as above, and what a report says first: the text, and what the cases made for it say to do."""

    async def run():
        failures, _alive = await plain_attempt(runner)
        return failures, await run_cases([CASES[name] for name in cases], runner)

    with running(name, cases) as runner:
        failures, results = asyncio.run(run())
    findings = [
        *(failure.finding(results) for failure in failures),
        *common_causes(results, runner.gone),
    ]
    told = record(results, replace(ABOUT, findings=tuple(findings)))
    made = {miss.todo for case in told.cases if case.name in catches(name) for miss in case.misses}
    first = next((todo.text for todo in todos(told)), "")
    return {case.name: case.verdict for case in told.cases}, first, made


def catches(name):
    """The cases that are made for what is wrong with this relay."""
    return getattr(kinds().get(name), "catches", WRONG.get(name, ("", ()))[1])


@contextmanager
def running(name, cases=tuple(CASES), deadline=1.5, bound=3.5, **more):
    """A runner in front of this relay."""
    with TemporaryDirectory() as folder, mock_api([CASES[case] for case in cases], key=KEY) as api:
        log = Path(folder) / "relay.log"
        logs = Logs([log])
        with _running(name, api, log, deadline) as address:
            target = replace(_target(name, address, log, bound), api_tls=api.ca_file is not None, **more)
            runner = CaseRunner(target, api)
            runner.logs = logs  # from before the relay started
            yield runner


def _running(name, api, log, deadline):
    if name in OTHERS:
        return _program(OTHERS[name], api, log, deadline)
    kind = kinds()[name]
    if tempo := os.environ.get("WORKBOOK_TEMPO"):
        kind = slowed(kind, **TEMPOS[tempo])
    return relay_running(kind, api, log, handler=broken.handler(kind), deadline=deadline)


@contextmanager
def _program(command, api, log, deadline):
    """The relay as a program, which prints its address first."""
    values = Exports().values(api.url, api.key, api.ca_file) | read_unasked(api)
    values |= {"RELAY_SESSIONS": json.dumps(RELAY_SESSIONS), "PORT": "0"}
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
        for session, cards in RELAY_SESSIONS.items()
    ]
    offered = getattr(kinds().get(name), "surfaces", {"platform A": {}, "platform B": {}})
    surfaces = {platform: surface(**more) for platform, more in offered.items()}
    failures = IN_BODY if name in OTHERS and "node" in name else BY_STATUS
    contract = "own" if failures == IN_BODY or name == FRONTS else "lesson"
    holders = tuple(holders)
    return Target(address, surfaces, holders, bound, (log,), failures=failures, contract=contract)
