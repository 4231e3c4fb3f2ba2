"""The phone's server: keys, clients, what is refused, and two apps at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, get_args

import httpx
import pytest

import workbook.tools.conform.app.device as device_module
from workbook.flows import messages as m
from workbook.flows.variants import VARIANTS_A, VariantA
from workbook.simulation.http import Request
from workbook.simulation.phones import PHONES_A
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.phone import WRONG_ANSWERS, Arrival, PhoneServer, PlayedBackEnd
from workbook.tools.conform.back_end.model import SURFACE

CARD, OTHER = INSTRUMENT_IDS[:2]
Said = dict[str, Any]


class App:
    """One client of the protocol."""

    def __init__(self, http: httpx.AsyncClient, name: str) -> None:
        self.http, self.name, self.back_end = http, name, ""

    async def call(self, name: str, status: int = 200, /, **fields: Any) -> Said:
        answer = await self.http.post(f"/phone/v1/{name}", json={"client": self.name, **fields})
        assert answer.status_code == status, answer.text
        document: Said = answer.json()
        return document

    async def hello(self, variant: str = "from-0.4.0") -> None:
        self.back_end = (await self.call("hello", platform="A", variant=variant, protocol=1))["backEnd"]

    async def sdk_input(self, card: str = CARD) -> str:
        text: str = (await self.http.get(f"{self.back_end}/cards/{card}/activation-data")).json()["sdkInput"]
        return text

    async def created(self, card: str = CARD) -> int:
        number: int = (await self.call("create", sdkInput=await self.sdk_input(card)))["provisioning"]
        await self.call("canProvision", provisioning=number)
        return number

    async def begins(self, number: int) -> Said:
        return await self.call("provisionWithProvider", provisioning=number, cardDisplayName="Card")

    async def opc(self, asked: Said) -> str:
        url = f"{self.back_end}/cards/{asked['paymentInstrumentId']}/provision"
        text: str = (await self.http.post(url, json={"sdkOutput": asked["sdkOutput"]})).json()["sdkInput"]
        return text

    async def ends(self, asked: Said) -> Said:
        activity = await self.call("opc", turn=asked["turn"], sdkInput=await self.opc(asked))
        return await self.call("activity", turn=activity["turn"], there=True)


def served(work: Callable[[PhoneServer, Callable[[str], App]], Awaitable[None]], **options: Any) -> PhoneServer:
    """Run this against a server of its own; returns the server."""
    server = PhoneServer(pace=0, **options)

    async def main() -> None:
        async with (
            server.serving(),
            httpx.AsyncClient(
                base_url=server.url, headers={"x-workbook-key": server.key}, trust_env=False, verify=False
            ) as http,  # plain HTTP; to read the trust store for each test takes longer than the test
        ):
            await work(server, lambda name: App(http, name))

    asyncio.run(main())
    return server


@pytest.mark.rule("A-CREATE-1", "A-CAN-1", "A-PROV-2", "A-OPC-1", "A-PROV-3")
def test_a_whole_flow_adds_the_card() -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        asked = await one.begins(await one.created())
        assert (asked["ask"], asked["paymentInstrumentId"]) == ("fetchOpc", CARD)
        assert await one.ends(asked) == {"outcome": "Success", "tokenId": "SIMULATED"}

    device = served(work).clients["one"].device
    assert device.phone.cards == {CARD}
    assert [record.name for record in device.trace] == [
        "CreateCalled", "CreateSuccess", "CanProvisionCalled", "CanBeProvisioned", "AddTapped",
        "ProvisionWithProviderCalled", "FetchOpcCalled", "OpcReceived", "WalletAsked", "ProvisionSuccess",
    ]  # fmt: skip


@pytest.mark.rule("A-CREATE-2", "A-CREATE-3", "A-CAN-2", "A-CAN-3", "A-CAN-4", "A-CAN-5")
@pytest.mark.parametrize(
    ("phone", "outcome"),
    [
        ("wallet payment not supported", {"outcome": "WalletPayNotSupported"}),
        ("card already in the wallet", {"outcome": "AlreadyExistsInWallet"}),
        ("app not allowlisted", {"outcome": "ApiError", "statusCode": 15009}),
        ("canProvision ends in Error", {"outcome": "Error", "throwable": "IOException"}),
        ("canProvision ends in UnknownFailure", {"outcome": "UnknownFailure"}),
    ],
)
def test_a_test_chooses_the_phone(phone: str, outcome: Said) -> None:
    async def work(_server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        await one.call("usePhone", name=phone)
        made = await one.call("create", sdkInput=await one.sdk_input())
        if "provisioning" in made:
            made = await one.call("canProvision", provisioning=made["provisioning"])
        assert made == outcome
        assert (await one.call("create", sdkInput="bm90IGl0"))["outcome"] == "InvalidSdkInput"
        assert "ready" in (await one.call("usePhone", 400, name="redy"))["error"]

    served(work)


@pytest.mark.rule("A-CAN-5")
@pytest.mark.parametrize("variant", VARIANTS_A.values(), ids=lambda variant: variant.name)
def test_on_no_phone_an_sdk_answers_what_its_variant_lacks(variant: VariantA) -> None:
    answers: set[str] = set()

    async def work(_server: PhoneServer, app: Callable[[str], App]) -> None:
        for number, name in enumerate(PHONES_A):
            one = app(f"app-{number}")
            await one.hello(variant.name)
            await one.call("usePhone", name=name)
            made = await one.call("create", sdkInput=await one.sdk_input())
            if "provisioning" in made:
                answers.add((await one.call("canProvision", provisioning=made["provisioning"]))["outcome"])

    served(work)
    failures = {event: event.says.rpartition(".")[2] for event in get_args(m.CanProvisionFailure)}
    has = {name for event, name in failures.items() if event not in variant.facts.lacks}
    assert answers & {*failures.values()} == has


@pytest.mark.parametrize("how", WRONG_ANSWERS)
def test_a_test_chooses_what_the_back_end_does_wrong(how: str) -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        await one.call("useBackEnd", operation="GET", fails=how)
        with pytest.raises((httpx.TransportError, KeyError, ValueError, AssertionError)):
            assert await one.sdk_input()
        await one.call("useBackEnd", operation="GET", fails="")
        assert await one.sdk_input()
        assert len(server.clients["one"].back_end.came("GET")) == 2

    served(work)


def test_a_card_that_is_not_simulated_is_told_which_are() -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        for card in server.settings["WORKBOOK_PHONE_CARDS"].split(","):
            assert (await one.http.get(f"{one.back_end}/cards/{card}/activation-data")).status_code == 200
        for method, operation in (("GET", "activation-data"), ("POST", "provision")):
            answer = await one.http.request(method, f"{one.back_end}/cards/PI1/{operation}", json={"sdkOutput": "x"})
            assert (answer.status_code, "'PI1'" in answer.text) == (404, True)
            assert all(card in answer.text for card in INSTRUMENT_IDS)

    served(work)


def test_what_is_refused_says_why() -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        assert "No client 'one'" in (await one.call("canProvision", 400, provisioning=1))["error"]
        await one.hello()
        assert "make it again" in (await one.call("canProvision", 409, provisioning=9))["error"]
        assert "Nothing waits for turn 5" in (await one.call("opc", 409, turn=5, sdkInput="x"))["error"]
        assert "A person plays" in (await one.call("next", 409, turn=0))["error"]
        assert "version 1" in (await one.call("hello", 400, platform="A", variant="x", protocol=2))["error"]
        assert "later" in (await one.call("hello", 400, platform="B", variant="x", protocol=1))["error"]
        made = await one.call("create", sdkInput=await one.sdk_input())
        early = await one.call("provisionWithProvider", 409, provisioning=made["provisioning"], cardDisplayName="C")
        assert "Possible now: canProvision()" in early["error"]
        for key in ("", "another"):
            answer = await one.http.post("/phone/v1/create", headers={"x-workbook-key": key}, json={})
            assert answer.status_code == 401
            assert server.key not in answer.text
        assert (await one.http.get("/phone/v1/create")).status_code == 400
        foreign = await one.http.post("/phone/v1/create", headers={"host": "example.com"})
        assert foreign.status_code == 403
        assert (await one.http.get(f"{server.url}/back-end/none/1/cards/x/y")).status_code == 404

    device = served(work).clients["one"].device
    assert len(device.refused) == 3


def test_two_apps_at_once_never_mix() -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one, two = app("one"), app("two")
        await one.hello()
        await two.hello()
        first, second = await asyncio.gather(one.created(CARD), two.created(OTHER))
        asked, also = await asyncio.gather(one.begins(first), two.begins(second))
        crossed = await two.call("opc", 409, turn=asked["turn"] + 7, sdkInput="x")
        assert "Nothing waits" in crossed["error"]
        assert [await one.ends(asked), await two.ends(also)] == [{"outcome": "Success", "tokenId": "SIMULATED"}] * 2
        nobodys = await one.http.get(f"{two.back_end}x/cards/{CARD}/activation-data")
        assert (nobodys.status_code, "No app has its back end here" in nobodys.text) == (404, True)

    clients = served(work).clients
    for name, card in (("one", CARD), ("two", OTHER)):
        assert {arrival.card for arrival in clients[name].back_end.arrivals} == {card}
        assert {
            called.payment_instrument_id for _record, called in clients[name].device.trace.seen(m.FetchOpcCalled)
        } == {card}
    assert clients["one"].device.phone.cards == {CARD}
    assert clients["two"].device.phone.cards == {OTHER}


@pytest.mark.rule("A-BTN-2")
def test_two_attempts_at_once_fail_as_the_document_warns() -> None:
    async def work(_server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        number = await one.created()
        first, second = await one.begins(number), await one.begins(number)
        ends = [await one.ends(first), await one.ends(second)]
        assert [end["outcome"] for end in ends] == ["Failure", "Failure"]
        assert ends[0]["name"] == "InvalidSdkInput"

    served(work)


def test_an_sdk_output_that_could_not_be_made_is_a_failure_with_its_reason() -> None:
    assert device_module._reply(m.SdkOutputFailed("why")) == {"outcome": "Failure", "message": "why"}


def test_an_app_has_left_once_it_waits_for_no_answer_of_an_operation() -> None:
    back_end, left = PlayedBackEnd(SURFACE), asyncio.Event()
    request = Request("GET", "/", (), b"")
    back_end.arrivals.append(Arrival(0.0, "GET", "card", request, leaving=left))
    assert not back_end.left("GET")
    left.set()
    assert back_end.left("GET")
    back_end.arrivals.append(Arrival(1.0, "GET", "card", request))
    assert not back_end.left("GET")


def test_a_process_that_ends_leaves_what_was_under_way() -> None:
    async def work(_server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        number = await one.created()
        await one.begins(number)
        await one.hello()  # a new process
        assert "is gone" in (await one.call("canProvision", 409, provisioning=number))["error"]
        await one.begins(await one.created())

    trace = served(work).clients["one"].device.trace
    notes = [note.text for _record, note in trace.seen(m.Noted)]
    assert notes == [f"{m.ProvisionWithProviderCalled.says} was under way when the app's process ended"] * 2
    assert trace[len(trace) - 1].name == "Noted"


def test_no_opaque_data_and_no_key_leaves_in_a_log_or_a_trace() -> None:
    lines: list[str] = []
    values: list[str] = []

    async def work(_server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        values.append(await one.sdk_input())
        asked = await one.begins(await one.created())
        values.append(asked["sdkOutput"])
        await one.ends(asked)

    server = served(work, log=lines.append)
    told = "\n".join([*lines, server.clients["one"].device.trace.to_jsonl(), repr(server), repr(server.clients)])
    assert lines
    assert not [value for value in (*values, server.key) if value[:30] in told]


def test_a_phone_serves_a_thousand_clients_and_goes_on_with_each() -> None:
    async def work(server: PhoneServer, app: Callable[[str], App]) -> None:
        one = app("one")
        await one.hello()
        server.clients.update({f"app-{number}": server.clients["one"] for number in range(999)})
        refused = await app("one-more").call("hello", 409, platform="A", variant="from-0.4.0", protocol=1)
        assert "1,000 clients, which is the most" in refused["error"]
        await one.hello()

    assert "one-more" not in served(work).clients
