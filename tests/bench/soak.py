"""Endurance of `workbook serve`: memory over a million requests.

    python tests/bench/soak.py [--requests 1000000]

It is bounded and ends by itself. The memory is read from /proc, so this runs on Linux.
"""

import argparse
import re
import statistics
from pathlib import Path

from exchanges import Sample, mix
from load import load
from servers import SERVE, started

CONNECTIONS = 16
EVERY = 10_000
"""Requests between two looks at the memory."""
TOLD = (10_000, 100_000, 250_000, 500_000, 1_000_000)
NUMBER = re.compile(rb"VmRSS:\s+(\d+) kB")


class Memory(Sample):
    """Looks at bodies, and at the memory of a process."""

    def __init__(self, process):
        super().__init__()
        self._status = Path(f"/proc/{process.pid}/status")
        self.kilobytes = {0: self._now()}

    def __call__(self, request, status, body):
        super().__call__(request, status, body)
        if self.heard % EVERY == 0:
            self.kilobytes[self.heard] = self._now()

    def slope(self):
        """Bytes that the process grew with each request of the second half."""
        late = {number: size for number, size in self.kilobytes.items() if number >= self.heard / 2}
        return statistics.linear_regression(list(late), list(late.values())).slope * 1024

    def _now(self):
        return int(NUMBER.search(self._status.read_bytes())[1])


def memory(requests):
    """A mixed load over sockets, and the server's memory meanwhile."""
    with started([*SERVE, "--quiet"]) as (process, address, told):
        look = Memory(process)
        outcome = load(address, mix(told["api_key"], requests), CONNECTIONS, look)
        for number, kilobytes in look.kilobytes.items():
            if number in (0, *TOLD, max(look.kilobytes)):
                print(f"{number:>11,} requests   {kilobytes / 1024:6.1f} MB")
    print(f"second half: {look.slope():+.2f} bytes a request; {outcome.rate:,.0f} requests/s")
    print(f"statuses {dict(outcome.statuses)}; {look.wrong} of {look.looked} bodies wrong; gone: {outcome.gone}")
    assert not look.wrong
    assert not outcome.gone, "the server ended"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    memory(parser.parse_args().requests)


if __name__ == "__main__":
    main()
