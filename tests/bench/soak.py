"""Endurance of `workbook serve`: memory over a million requests, and `kill -9` under load with `--state`.

    python tests/bench/soak.py [--requests 1000000] [--kills 200]

Both are bounded and end by themselves; 0 leaves one out. The memory is read from /proc, so this runs on Linux.
"""

import argparse
import json
import random
import re
import statistics
import tempfile
import threading
from collections import Counter
from pathlib import Path

from exchanges import SEAL, Sample, get, mix
from load import load
from servers import SERVE, started

from workbook.simulation.world import INSTRUMENT_IDS

CONNECTIONS = 16
EVERY = 10_000
"""Requests between two looks at the memory."""
TOLD = (10_000, 100_000, 250_000, 500_000, 1_000_000)
SOONEST, LATEST = 0.01, 0.3
"""Seconds of load before a server is killed."""
SEED = 7
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


class Acknowledged:
    """What a server said that it had done: the sdkOutputs that it exchanged, and the serials that it gave."""

    def __init__(self):
        self.posts = []
        self.serials = Counter()
        self.others = Counter()

    def __call__(self, request, status, body):
        if status != 200:
            self.others[status] += 1
        elif request.startswith(b"POST"):
            self.posts.append(request)
        else:
            said = _said(body)
            self.serials[said.payment_instrument_id] = max(self.serials[said.payment_instrument_id], said.serial)


def _said(body):
    return SEAL.open(json.loads(body)["sdkInput"])


def kills(count):
    """Start, load and kill one server after another on one state file; each answers for what those before it said."""
    moments = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+b") as log:
        before, serials, key, verified, unheard = Acknowledged(), Counter(), None, 0, 0
        for turn in range(count + 1):
            with started([*SERVE, "--quiet", "--state", str(Path(folder) / "state")], log) as (process, address, told):
                key = key or told["api_key"]
                assert told["api_key"] == key, "the restarted server has another key"
                serials |= before.serials
                unheard += _verify(address, key, before.posts, serials)
                verified += len(before.posts)
                if turn < count:
                    before = _killed(process, address, key, turn, moments.uniform(SOONEST, LATEST))
                    print(f"kill {turn + 1:>3}: {len(before.posts):>4} POSTs acknowledged, {dict(before.others)}")
        log.seek(0)
        assert log.read() == b"", "a server complained"
    print(
        f"{count} kills, {count} clean restarts: {verified:,} acknowledged POSTs and every serial verified, none lost;"
    )
    print(f"{unheard} GETs were on the disk and not yet heard of (at most {CONNECTIONS} for each kill)")


def _verify(address, key, posts, serials):
    """Ask a restarted server for all that was acknowledged before; how many GETs it knows that nobody heard of."""
    known = []
    load(address, posts, 1, lambda _request, status, body: known.append(status == 422 and b"already" in body))
    assert len(known) == len(posts), "the restarted server is gone"
    assert all(known), f"{known.count(False)} of {len(known)} acknowledged POSTs are lost"
    unheard = 0
    for instrument in INSTRUMENT_IDS:
        said = []
        load(address, [get(key, instrument)], 1, lambda _request, _status, body, said=said: said.append(_said(body)))
        missed = said[0].serial - serials[instrument] - 1
        assert missed >= 0, "a serial was given twice"
        assert missed <= CONNECTIONS, "more than was under way"
        unheard, serials[instrument] = unheard + missed, said[0].serial
    return unheard


def _killed(process, address, key, turn, seconds):
    """What a server acknowledges until it is killed."""
    heard = Acknowledged()
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    outcome = load(address, mix(key, 1_000_000, first=1 + turn * 1_000_000), CONNECTIONS, heard)
    timer.join()
    assert outcome.gone
    assert process.wait() == -9
    assert set(heard.others) <= {422}
    return heard


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    if options.requests:
        memory(options.requests)
    if options.kills:
        kills(options.kills)


if __name__ == "__main__":
    main()
