"""The same service by three ways gives the same results and the same errors."""

import anyio
import pytest

from workbook.api import ActivationDataClient, AsyncActivationDataClient, RetryPolicy
from workbook.api.opaque import SdkOutput
from workbook.errors import ApiStatusError
from workbook.simulation.direct import ORIGIN, DirectApi
from workbook.simulation.seal import Content, Seal
from workbook.simulation.server import running
from workbook.simulation.service import Service
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World

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
    with (
        running(Service(world)) as base_url,
        ActivationDataClient(base_url, SIMULATED_KEY, retries=ONCE) as client,
    ):
        return [told(getattr(client, name), arguments) for name, *arguments in calls]


@pytest.mark.rule("API-1", "API-2", "API-3", "API-7", "API-11")
@pytest.mark.parametrize("way", [in_process, asynchronous, over_a_socket], ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", CONVERSATIONS)
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
    assert port.basis == "API-1 API-9; content: assumed"
    with pytest.raises(ApiStatusError):
        get("PIUNKNOWN")
    assert port.basis == "API-3; code: openapi; pairing: assumed"


@pytest.mark.rule("REL-2")
def test_a_wrong_key_is_refused_and_not_repeated():
    with pytest.raises(ApiStatusError) as caught:
        DirectApi(api_key="CANARY-0123456789").get(ID)
    assert caught.value.status == 401
    assert "CANARY" not in str(caught.value) + repr(caught.value.request) + repr(caught.value.body)
