"""Endurance of `workbook serve`: memory over a million requests.

    python tests/bench/soak.py [--requests 1000000]

It is bounded and ends by itself. The memory is read from /proc, so this runs on Linux.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from load import load

from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.seal import Content, Genuine, Seal
from workbook.simulation.world import INSTRUMENT_IDS

SERVE = (sys.executable, "-m", "workbook", "serve", "--json", "--quiet")
SEAL = Seal(7)
"""The default scenario's."""
EACH = 100
"""Every how-manieth body is looked at."""
CONNECTIONS = 16
EVERY = 10_000
"""Requests between two looks at the memory."""
TOLD = (10_000, 100_000, 250_000, 500_000, 1_000_000)
NUMBER = re.compile(rb"VmRSS:\s+(\d+) kB")


@contextmanager
def started():
    """`workbook serve` on a free loopback port: the process, its address, and the API key that it told."""
    with subprocess.Popen(SERVE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            told = json.loads(process.stdout.readline())
            url = urlsplit(told["base_url"])
            yield process, (url.hostname, url.port), told["api_key"]
        finally:
            process.kill()


def mix(key, number):
    """Provisionings, each a GET and a POST, in turn for every instrument; one request in 20 names an unknown one."""
    for serial in range(1, 1 + number // 2):
        instrument = INSTRUMENT_IDS[serial % len(INSTRUMENT_IDS)]
        yield request("GET", key, instrument if serial % 10 else "PI-UNKNOWN")
        output = SEAL.close(Content.OUTPUT, instrument, serial, attempt=serial)
        yield request("POST", key, instrument, json.dumps({"sdkOutput": output}).encode())


def request(method, key, instrument, body=b""):
    """The bytes that a back end sends (API-1, API-2)."""
    length = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
    head = f"{method} {BEFORE_ID}{instrument}{AFTER_ID} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n"
    return f"{head}user-agent: bench\r\nx-api-key: {key}\r\n{length}\r\n".encode() + body


def is_right(status, body):
    """Whether an answer of the stand-in is what it should be."""
    told = json.loads(body)
    if status == 200:
        return isinstance(SEAL.open(told["sdkInput"]), Genuine)
    return told["status"] == status and bool(told["detail"])


class Observer:
    """Looks at each `EACH`-th body, counts those that are wrong, and reads the memory of a process now and then."""

    def __init__(self, process):
        self.looked = self.wrong = self.heard = 0
        self._status = Path(f"/proc/{process.pid}/status")
        self.kilobytes = {0: self._now()}

    def __call__(self, _request, status, body):
        self.heard += 1
        if self.heard % EACH == 0:
            self.looked += 1
            self.wrong += not is_right(status, body)
        if self.heard % EVERY == 0:
            self.kilobytes[self.heard] = self._now()

    def slope(self):
        """Bytes that the process grew with each request of the second half."""
        late = {number: size for number, size in self.kilobytes.items() if number >= self.heard / 2}
        return statistics.linear_regression(list(late), list(late.values())).slope * 1024

    def _now(self):
        return int(NUMBER.search(self._status.read_bytes())[1])


def main():
    """A mixed load over sockets, and the server's memory meanwhile."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    requests = parser.parse_args().requests
    with started() as (process, address, key):
        observer = Observer(process)
        outcome = load(address, mix(key, requests), CONNECTIONS, observer)
        for number, kilobytes in observer.kilobytes.items():
            if number in (0, *TOLD, max(observer.kilobytes)):
                print(f"{number:>11,} requests   {kilobytes / 1024:6.1f} MB")
    print(f"second half: {observer.slope():+.2f} bytes a request; {outcome.rate:,.0f} requests/s")
    print(f"statuses {dict(outcome.statuses)}; {observer.wrong} of {observer.looked} bodies wrong")
    assert not observer.wrong
    assert not outcome.gone, "the server ended"


if __name__ == "__main__":
    main()
