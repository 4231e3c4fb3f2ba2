"""What is asked of a server under load: bytes made beforehand, and a look at what comes back."""

import itertools
import json

from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.seal import Content, Genuine, Seal
from workbook.simulation.world import INSTRUMENT_IDS

SEAL = Seal(7)
"""The default scenario's."""
EACH = 100
"""Every how-manieth body is looked at."""


def get(key, instrument=INSTRUMENT_IDS[0]):
    """A GET as a back end sends it (API-1)."""
    return _request("GET", key, instrument)


def post(key, serial, instrument=INSTRUMENT_IDS[0]):
    """A POST of an sdkOutput that nothing else has (API-2)."""
    output = SEAL.close(Content.OUTPUT, instrument, serial, attempt=serial)
    return _request("POST", key, instrument, json.dumps({"sdkOutput": output}).encode())


def gets(key, number):
    """The same GET so often."""
    return itertools.repeat(get(key), number)


def mix(key, number, first=1):
    """Provisionings, each a GET and a POST, in turn for every instrument; one request in 20 names an unknown one."""
    for serial in range(first, first + number // 2):
        instrument = INSTRUMENT_IDS[serial % len(INSTRUMENT_IDS)]
        yield get(key, instrument if serial % 10 else "PI-UNKNOWN")
        yield post(key, serial, instrument)


def check(status, body):
    """Whether an answer of the stand-in is what it should be."""
    told = json.loads(body)
    if status == 200:
        return isinstance(SEAL.open(told["sdkInput"]), Genuine)
    return told["status"] == status and bool(told["detail"])


class Sample:
    """Looks at each `EACH`-th body, and counts those that are wrong."""

    def __init__(self):
        self.looked = self.wrong = self.heard = 0

    def __call__(self, _request, status, body):
        self.heard += 1
        if self.heard % EACH == 0:
            self.looked += 1
            self.wrong += not check(status, body)


def _request(method, key, instrument, body=b""):
    length = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
    head = f"{method} {BEFORE_ID}{instrument}{AFTER_ID} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\n"
    return f"{head}user-agent: bench\r\nx-api-key: {key}\r\n{length}\r\n".encode() + body
