"""Every fault of the simulated service against both clients and both operations, over a real socket.

Each ends as documented, within its deadline, without the key, and leaves nothing behind. A POST that may have
arrived is sent once, which the server counts.
"""

import asyncio
import os
import stat
import time
import traceback
from pathlib import Path

import anyio
import pytest
from rows import rows

from workbook import ActivationDataClient, AsyncActivationDataClient, RetryPolicy, Timeouts
from workbook.errors import (
    ActivationDataError,
    ApiStatusError,
    DeadlineError,
    MalformedResponseError,
    MaybeSentError,
    ResponseTooLargeError,
    SdkInputError,
)
from workbook.simulation.faults import FAULTS, FaultPlan, Planned
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, Credential, World
from workbook.tools.mockserver.server import running

KEY = "CANARY-4c1e77a05b9d-KEY"
ID = INSTRUMENT_IDS[0]
WORLD = World(credentials={KEY: Credential()})
OUTPUT = Seal(WORLD.seed).close(Content.OUTPUT, ID, 1, attempt=1)
LIMITS = {"deadline": 30.0, "timeouts": Timeouts(read=20.0), "retries": RetryPolicy(attempts=2, base=0.0)}
SHORT = {
    "429 in seconds": {"deadline": 10.0},
    "429 at a date": {"deadline": 10.0},
    "dribble": {"deadline": 0.6},
    "stall before headers": {"timeouts": Timeouts(read=0.2)},
    "stall after headers": {"timeouts": Timeouts(read=0.2)},
}
"""The limits of the faults that are ended by a limit: a busy machine reaches the other limits in no test."""

ONCE, TWICE = 1, 2
"""How often a GET is sent; a POST is sent once whatever happens."""
ENDS = {
    "200": (None, ONCE),
    "400": (ApiStatusError, ONCE),
    "401": (ApiStatusError, ONCE),
    "403": (ApiStatusError, ONCE),
    "422": (ApiStatusError, ONCE),
    "500": (ApiStatusError, TWICE),
    "404": (ApiStatusError, ONCE),
    "409": (ApiStatusError, ONCE),
    "429 in seconds": (ApiStatusError, ONCE),  # it asks for more seconds than this deadline leaves
    "429 at a date": (ApiStatusError, ONCE),
    "429 with garbage": (ApiStatusError, TWICE),
    "429 without Retry-After": (ApiStatusError, TWICE),
    "502": (ApiStatusError, TWICE),
    "503 that says 500": (ApiStatusError, TWICE),
    "504": (ApiStatusError, TWICE),
    "redirect": (ApiStatusError, ONCE),
    "latency": (None, ONCE),
    "uniform latency": (None, ONCE),
    "log-normal latency": (None, ONCE),
    "dribble": (DeadlineError, ONCE),
    "stall before headers": (MaybeSentError, TWICE),
    "stall after headers": (MaybeSentError, TWICE),
    "reset": (MaybeSentError, TWICE),
    "close": (MaybeSentError, TWICE),
    "truncated body": (MaybeSentError, TWICE),
    "missing last chunk": (MaybeSentError, TWICE),
    "bad chunk": (MaybeSentError, TWICE),
    "wrong content-length": (MalformedResponseError, ONCE),
    "bad gzip": (MalformedResponseError, ONCE),
    "gzip bomb": (ResponseTooLargeError, ONCE),
    "huge body": (ResponseTooLargeError, ONCE),
    "JSON truncated": (MalformedResponseError, ONCE),
    "JSON null": (MalformedResponseError, ONCE),
    "JSON of the wrong type": (MalformedResponseError, ONCE),
    "JSON nested deep": (MalformedResponseError, ONCE),
    "JSON with duplicate keys": (MalformedResponseError, ONCE),
    "not JSON": (MalformedResponseError, ONCE),
    "sdkInput missing": (SdkInputError, ONCE),
    "sdkInput null": (SdkInputError, ONCE),
    "sdkInput empty": (SdkInputError, ONCE),
    "sdkInput foreign": (None, ONCE),  # opaque to a back end: the SDK is who notices
    "sdkInput stale": (None, ONCE),
    "sdkInput damaged": (None, ONCE),
}
SET = {
    "429 in seconds": {"seconds": 60},
    "429 at a date": {"seconds": 60},
    "latency": {"seconds": 0.05},
    "uniform latency": {"least": 0.01, "most": 0.05},
    "log-normal latency": {"median": 0.01, "p99": 0.02},
}


class Counted:
    """A service that can be exchanged while its server runs; counts what arrives."""

    def __init__(self):
        self.loop, self.world, self.service, self.requests = None, WORLD, None, []

    def play(self, *planned):
        self.requests, self.service = [], Service(WORLD, FaultPlan(planned))

    def respond(self, request):
        self.loop = asyncio.get_running_loop()
        self.requests.append(request.method)
        return self.service.respond(request)


@pytest.fixture(scope="module")
def server():
    counted = Counted()
    with running(counted) as url:
        counted.url = url
        counted.play(Planned.of(fault="gzip bomb"))
        ended(sync, url, "GET")  # making a bomb takes a while
        counted.play()
        sync(url, "GET")  # from here on its loop has all the sockets of its own
        yield counted


def sync(url, method, **limits):
    with ActivationDataClient(url, KEY, **limits) as client:
        return client.get(ID) if method == "GET" else client.post(ID, OUTPUT)


def asynchronous(url, method, **limits):
    async def ask():
        async with AsyncActivationDataClient(url, KEY, **limits) as client:
            try:
                return await (client.get(ID) if method == "GET" else client.post(ID, OUTPUT))
            finally:
                assert asyncio.all_tasks() == {asyncio.current_task()}

    return anyio.run(ask)


def ended(call, url, method, **limits):
    """What the call raised, or None."""
    try:
        call(url, method, **(LIMITS | limits))
    except ActivationDataError as error:
        return error
    return None


def sockets():
    """How many sockets this process has open, on either side."""
    found = 0
    for one in Path("/proc/self/fd").iterdir():
        try:
            found += stat.S_ISSOCK(one.stat().st_mode)
        except OSError:
            continue
    return found


def settles(count, value, seconds=3.0):
    """Whether the count comes down to the value: the other side needs a moment to see that it was left."""
    until = time.monotonic() + seconds
    while count() > value and time.monotonic() < until:
        time.sleep(0.005)
    return count() <= value


def rendered(error):
    """All that may be shown of an error, the package's local variables included."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    package = f"{os.sep}workbook{os.sep}api{os.sep}"
    text, seen = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)], [told]
    while seen:
        one = seen.pop()
        text += [repr(frame.locals) for frame in one.stack if package in frame.filename]
        seen += [linked for linked in (one.__cause__, one.__context__) if linked is not None]
    return "\n".join(text)


def test_the_table_names_every_fault():
    assert set(ENDS) == set(FAULTS)


@pytest.mark.slow
@pytest.mark.rule("REL-1", "REL-2", "REL-5", "API-9")
@rows("call", [sync, asynchronous])
@rows("method", ["GET", "POST"])
@rows("name", ENDS)
def test_each_fault_ends_as_documented_and_leaves_nothing(server, name, method, call):
    kind, gets = ENDS[name]
    server.play(Planned.of(fault=name, **SET.get(name, {})))
    before, began = sockets(), time.monotonic()
    error = ended(call, server.url, method, **SHORT.get(name, {}))
    assert time.monotonic() - began < 10.0, "a limit was not kept, or something waited until the deadline"
    assert type(error) is (kind or type(None)), error
    assert server.requests == [method] * (gets if method == "GET" else 1)
    if error is not None:
        assert error.attempts == len(server.requests)
        assert KEY not in rendered(error)
    if kind is ApiStatusError:
        assert str(error.status) == ("302" if name == "redirect" else name.removesuffix(" that says 500").split()[0])
    assert settles(sockets, before), "a socket is left"
    assert settles(lambda: answering(server), 0), "a task is left"


def answering(server):
    """How many requests the server is busy with."""
    return sum("_answer_later" in repr(one) for one in asyncio.all_tasks(server.loop))


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("call", [sync, asynchronous], ids=lambda call: call.__name__)
def test_a_get_outlives_what_happens_once(server, call):
    for name in [name for name, (_kind, gets) in ENDS.items() if gets == TWICE]:
        server.play(Planned.of(fault=name, nth=1, **({"seconds": 0.1} if name.startswith("stall") else {})))
        assert ended(call, server.url, "GET") is None, name
        assert server.requests == ["GET", "GET"], name


@pytest.mark.rule("REL-1", "API-11")
@pytest.mark.parametrize("name", ["reset", "close", "truncated body", "stall before headers", "504"])
@pytest.mark.parametrize(("moment", "status"), [("before", None), ("after", 422)])
def test_who_sends_a_lost_post_again_by_hand_learns_whether_it_had_arrived(server, name, moment, status):
    server.play(Planned.of(fault=name, operation="POST", nth=1, moment=moment))
    assert ended(sync, server.url, "POST", **SHORT.get(name, {})) is not None
    again = ended(sync, server.url, "POST")
    assert getattr(again, "status", None) == status
    assert server.requests == ["POST", "POST"]


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("name", ["wrong content-length", "JSON truncated"])
def test_a_connection_that_lied_about_its_length_harms_no_later_call(server, name):
    server.play(Planned.of(fault=name, nth=1))
    with ActivationDataClient(server.url, KEY, **LIMITS) as client:
        with pytest.raises(MalformedResponseError):
            client.get(ID)
        assert settles(lambda: answering(server), 0)
        assert client.post(ID, OUTPUT).sdk_input
