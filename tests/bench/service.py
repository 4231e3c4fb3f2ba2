"""How fast `workbook serve` is, against a bare app on the same stack and a common mock server, in one run.

    python tests/bench/service.py [NAME ...]

Nothing here passes or fails. Every server is a process of its own, and all of them are up all the time. Each figure is
the median of rounds in which they take turns, and each ratio the median of the rounds' ratios, so that a machine whose
speed drifts still compares like with like. The load is bounded and ends by itself.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from itertools import count, islice
from pathlib import Path

from exchanges import SEAL, Sample, get, gets, mix
from load import load
from servers import BARE, SERVE, Unavailable, prism, started

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.seal import Content
from workbook.simulation.service import DirectApi
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.mock import MockServer

ROUNDS = 9
REQUESTS = {1: 1500, 16: 4000}
"""A round's requests, by connections."""
STARTS = 9
EXCHANGES = 5000
QUIET, LOG, NAKED, MOCK = "serve --quiet", "serve, log to a file", "bare app", "Prism"


def gets_a_second():
    """GETs over kept connections. Aims: 0.6 of the bare app, twice Prism, 99 % below 3 ms at 16."""
    _compare(lambda key, number, _turn: gets(key, number))


def mixed_a_second():
    """Provisionings, a GET and a POST each; one request in 20 is for an unknown instrument (422). Aims as above."""
    _compare(lambda key, number, turn: mix(key, number, first=1 + turn * max(REQUESTS.values())))


def _compare(requests):
    with ExitStack() as stack:
        servers, turns = _servers(stack), count()  # no turn exchanges an sdkOutput of another
        for connections, number in REQUESTS.items():
            rounds = {name: [] for name in servers}
            samples = {name: Sample() for name in servers}
            for turn in islice(turns, ROUNDS):
                for name, (_process, address, told) in servers.items():
                    load_ = requests(told.get("api_key", "SIMULATED-API-KEY"), number, turn)
                    heard = samples[name] if "api_key" in told else _unheard
                    rounds[name].append(load(address, load_, connections, heard))
            _print(connections, rounds, samples)


def _servers(stack):
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    log = stack.enter_context((folder / "log").open("w"))
    servers = {
        QUIET: stack.enter_context(started([*SERVE, "--quiet"])),
        LOG: stack.enter_context(started(SERVE, log)),
        NAKED: stack.enter_context(started(BARE)),
    }
    try:
        document = folder / "openapi.json"
        document.write_bytes(subprocess.run([*SERVE[:3], "openapi"], check=True, stdout=subprocess.PIPE).stdout)
        servers[MOCK] = stack.enter_context(prism(str(document)))
    except (Unavailable, subprocess.SubprocessError) as error:
        print(f"{'':<17} without Prism: {error}")
    return servers


def _unheard(_request, _status, _body):
    """The other servers' bodies are theirs."""


def _print(connections, rounds, samples):
    for name, outcomes in rounds.items():
        rate = statistics.median(one.rate for one in outcomes)
        middle, late = (statistics.median(one.percentile(percent) for one in outcomes) * 1e3 for percent in (50, 99))
        against = "".join(_ratio(outcomes, rounds, other) for other in (NAKED, MOCK) if other != name)
        statuses = sum((one.statuses for one in outcomes), start=type(outcomes[0].statuses)())
        looked = samples[name]
        print(
            f"{connections:>4} connections  {name:<21} {rate:>7,.0f}/s   p50 {middle:5.2f} ms   p99 {late:5.2f} ms"
            f"{against}   {dict(sorted(statuses.items()))}"
            + (f", {looked.wrong} of {looked.looked} bodies wrong" if looked.looked else ""),
            flush=True,
        )


def _ratio(outcomes, rounds, other):
    if other not in rounds:
        return ""
    ratios = [mine.rate / theirs.rate for mine, theirs in zip(outcomes, rounds[other], strict=True)]
    return f"   {statistics.median(ratios):5.2f} of {other}"


def in_process():
    """Exchanges a second without a socket. Aim: at least 50,000 through the direct port."""
    direct, stand = DirectApi(), MockServer()
    key = next(iter(stand.keys.values()))
    target = f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}"
    headers = (("host", "127.0.0.1"), ("x-api-key", key), ("accept", "application/json"), ("user-agent", "bench"))
    request = Request("GET", target, headers)
    outputs = iter([SEAL.close(Content.OUTPUT, INSTRUMENT_IDS[0], n, attempt=n) for n in range(EXCHANGES * 10)])
    _exchanges("DirectApi.get", lambda: direct.get(INSTRUMENT_IDS[0]))
    _exchanges("DirectApi.post", lambda: direct.post(INSTRUMENT_IDS[0], next(outputs)))
    _exchanges("Service.respond", partial(direct.service.respond, Request("GET", target, _known(headers, direct))))
    _exchanges("MockServer.respond", lambda: stand.respond(request))


def _known(headers, direct):
    key = next(iter(direct.service.world.credentials))
    return tuple((name, key if name == "x-api-key" else value) for name, value in headers)


def _exchanges(name, call):
    rates = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        for _ in range(EXCHANGES):
            call()
        rates.append(EXCHANGES / (time.perf_counter() - began))
    print(f"{name:>18}   {statistics.median(rates):>9,.0f}/s   from {min(rates):,.0f} to {max(rates):,.0f}", flush=True)


def until_ready():
    """From the start of the process to its first answer. Aim: under a second."""
    took, bare = [], []
    for _ in range(STARTS):
        took.append(_ready([*SERVE, "--quiet"]))
        bare.append(_ready(BARE))
    for name, each in ((QUIET, took), (NAKED, bare)):
        print(
            f"{name:>17}   {statistics.median(each) * 1e3:.0f} ms   from {min(each) * 1e3:.0f} to {max(each) * 1e3:.0f}"
        )


def _ready(command):
    began = time.perf_counter()
    with started(command) as (_process, address, told):
        load(address, [get(told.get("api_key", "none"))], 1)
        return time.perf_counter() - began


BENCHES = (gets_a_second, mixed_a_second, in_process, until_ready)


def main(names):
    for bench in BENCHES:
        if not names or bench.__name__ in names:
            print(f"{bench.__name__}: {bench.__doc__}", flush=True)
            bench()


if __name__ == "__main__":
    main(sys.argv[1:])
