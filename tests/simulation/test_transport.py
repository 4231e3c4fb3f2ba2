"""The same service by three ways gives the same results and the same errors."""

import anyio
import httpx
import pytest
from rows import rows

from workbook import ActivationDataClient, AsyncActivationDataClient, RetryPolicy, Timeouts
from workbook.api.opaque import SdkOutput
from workbook.errors import ActivationDataError, ApiStatusError, DeadlineError, MaybeSentError
from workbook.simulation.clock import VirtualClock
from workbook.simulation.faults import FAULTS, FaultKind, FaultPlan, Planned
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import ORIGIN, DirectApi, Service
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World
from workbook.tools.mockserver.server import running

ID = INSTRUMENT_IDS[0]
OUTPUT = SdkOutput(Seal(7).close(Content.OUTPUT, ID, 1, attempt=1))
NO_ROLE = World(credentials={SIMULATED_KEY: Credential(frozenset())})
ONCE = RetryPolicy(attempts=1)
CONVERSATIONS = {
    "GET": (None, [("get", ID)]),
    "GET twice": (None, [("get", ID), ("get", ID)]),
    "GET and POST": (None, [("get", ID), ("post", ID, OUTPUT)]),
    "POST twice": (None, [("post", ID, OUTPUT), ("post", ID, OUTPUT)]),
    "unknown id": (None, [("get", "PIUNKNOWN")]),
    "id that needs encoding": (None, [("get", "a/b ?#%ü")]),
    "junk": (None, [("post", ID, "junk")]),
    "no role": (NO_ROLE, [("get", ID), ("post", ID, OUTPUT)]),
}


def told(call, arguments):
    try:
        return call(*arguments).sdk_input
    except ApiStatusError as error:
        return error.status, error.body


def direct(world, calls):
    api = DirectApi(Service(world))
    return [told(getattr(api, name), arguments) for name, *arguments in calls]


def in_process(world, calls, base_url=ORIGIN, transport=None):
    transport = transport or SimulatedTransport(Service(world))
    with ActivationDataClient(base_url, SIMULATED_KEY, transport=transport, retries=ONCE) as client:
        return [told(getattr(client, name), arguments) for name, *arguments in calls]


def asynchronous(world, calls):
    async def ask():
        transport = SimulatedTransport(Service(world))
        async with AsyncActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport, retries=ONCE) as client:
            results = []
            for name, *arguments in calls:
                try:
                    results.append((await getattr(client, name)(*arguments)).sdk_input)
                except ApiStatusError as error:
                    results.append((error.status, error.body))
            return results

    return anyio.run(ask)


def over_a_socket(world, calls):
    with running(Service(world)) as base_url, ActivationDataClient(base_url, SIMULATED_KEY, retries=ONCE) as client:
        return [told(getattr(client, name), arguments) for name, *arguments in calls]


@pytest.mark.rule("API-1", "API-2", "API-3", "API-7", "API-11")
@rows("way", [in_process, asynchronous, over_a_socket])
@rows("name", CONVERSATIONS)
def test_every_way_gives_the_same_results_and_errors_as_no_http_at_all(way, name):
    world, calls = CONVERSATIONS[name]
    assert way(world, calls) == direct(world, calls)


def _without_http():
    api = DirectApi()
    return api, api.get


def _over_transport():
    transport = SimulatedTransport()
    return transport, ActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport, retries=ONCE).get


@pytest.mark.parametrize("make", [_without_http, _over_transport])
def test_what_an_answer_rests_on_is_kept_beside_it(make):
    port, get = make()
    assert port.basis == ""
    get(ID)
    assert port.basis == "API-1 API-9; content: assumed; status: openapi"
    with pytest.raises(ApiStatusError):
        get("PIUNKNOWN")
    assert port.basis == "API-3; code: openapi; pairing: assumed"


@pytest.mark.rule("REL-2")
def test_a_wrong_key_is_refused_and_not_repeated():
    with pytest.raises(ApiStatusError) as caught:
        DirectApi(api_key="CANARY-0123456789").get(ID)
    assert caught.value.status == 401
    assert "CANARY" not in str(caught.value) + repr(caught.value.request) + repr(caught.value.body)


def faulty(name, **settings):
    usual = {"seconds": 0.001} if name == "dribble" else {}
    return Service(plan=FaultPlan([Planned.of(fault=name, **(usual | settings))]))


def outcome(get):
    """The text, or the error's type and words."""
    try:
        return get(ID).sdk_input.text
    except ActivationDataError as error:
        return type(error), str(error).partition(": ")[2]


def over_transport(service, **options):
    with ActivationDataClient(ORIGIN, SIMULATED_KEY, transport=SimulatedTransport(service), **options) as client:
        return outcome(client.get)


def over_async_transport(service, **options):
    async def ask():
        transport = SimulatedTransport(service)
        async with AsyncActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport, **options) as client:
            try:
                return (await client.get(ID)).sdk_input.text
            except ActivationDataError as error:
                return type(error), str(error).partition(": ")[2]

    return anyio.run(ask)


def over_network(service, **options):
    with running(service) as url, ActivationDataClient(url, SIMULATED_KEY, **options) as client:
        return outcome(client.get)


@pytest.mark.slow
@rows("name", FAULTS)
def test_a_fault_ends_in_process_as_it_does_on_a_socket(name):
    read = 0.3 if name.startswith("stall") else 20.0  # only a stall is ended by this limit
    limits = {"retries": ONCE, "timeouts": Timeouts(read=read, get=30.0), "deadline": 30.0}
    real = over_network(faulty(name), **limits)
    assert over_transport(faulty(name), **limits) == real
    assert over_async_transport(faulty(name), **limits) == real


IN_THE_ANSWER = [name for name, fault in FAULTS.items() if fault.kind in (FaultKind.STATUS, FaultKind.UNUSABLE)]


@rows("name", IN_THE_ANSWER)
def test_a_fault_in_the_answer_ends_without_http_as_it_does_in_the_client(name):
    api = DirectApi(faulty(name))
    assert outcome(api.get)[0] == over_transport(faulty(name), retries=ONCE)[0]
    assert f"fault: {name}" in api.basis


@pytest.mark.rule("REL-5")
@pytest.mark.parametrize(("read", "kind", "took"), [(0.5, DeadlineError, 2.0), (0.05, MaybeSentError, 0.05)])
def test_a_virtual_clock_passes_as_the_answer_would_take(read, kind, took):
    clock = VirtualClock()
    transport = SimulatedTransport(faulty("dribble", seconds=0.1), pause=clock.sleep)
    with (
        ActivationDataClient(
            ORIGIN,
            SIMULATED_KEY,
            transport=transport,
            clock=clock,
            retries=ONCE,
            deadline=2.0,
            timeouts=Timeouts(read=read),
        ) as client,
        pytest.raises(kind) as caught,
    ):
        client.get(ID)
    assert caught.value.elapsed == pytest.approx(took, abs=0.11)


@pytest.mark.rule("REL-1")
def test_a_lost_post_is_not_repeated_in_process_either():
    service = Service(plan=FaultPlan([Planned.of(fault="reset", nth=1, moment="after")]))
    transport = SimulatedTransport(service)
    with ActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport) as client:
        with pytest.raises(MaybeSentError) as caught:
            client.post(ID, OUTPUT)
        assert caught.value.attempts == 1
        with pytest.raises(ApiStatusError, match="exchanged already"):
            client.post(ID, OUTPUT)


def test_without_a_timeout_a_stall_is_only_its_ending():
    transport = SimulatedTransport(faulty("stall before headers", seconds=60.0))
    url = f"{ORIGIN}/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
    with pytest.raises(httpx.RemoteProtocolError), httpx.Client(transport=transport, timeout=None) as client:
        client.get(url)
