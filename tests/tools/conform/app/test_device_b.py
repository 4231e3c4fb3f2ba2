"""Platform B's phone: the app's flow and the extension's calls, over the protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from workbook.errors import OutOfOrderError
from workbook.flows.variants import VARIANTS_B
from workbook.simulation.http import Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.device_b import DeviceB
from workbook.tools.conform.app.phone import PlayedBackEnd
from workbook.tools.conform.back_end.model import SURFACE

CARD = INSTRUMENT_IDS[0]
CHAIN = {"certificateChain": ["bGVhZg=="], "nonce": "bm9uY2U=", "nonceSignature": "c2ln"}


class App:
    """An app that makes one call after the other."""

    def __init__(self, variant: str = "later", phone: str = "ready") -> None:
        self.device = DeviceB("app", VARIANTS_B[variant], pace=0)
        self.device.use(phone, CARD)
        self.back_end = PlayedBackEnd(SURFACE)

    async def call(self, name: str, **fields: Any) -> dict[str, Any]:
        return await self.device.answer(p.read(name, json.dumps({"client": "app", **fields}).encode()))

    async def sdk_input(self, card: str = CARD, sdk_output: str = "") -> str:
        method, operation = ("POST", "provision") if sdk_output else ("GET", "activation-data")
        body = json.dumps({"sdkOutput": sdk_output}).encode() if sdk_output else b""
        answer = await self.back_end.respond(Request(method, f"/cards/{card}/{operation}", (), body))
        text: str = json.loads(answer.body)["sdkInput"]
        return text

    async def service(self) -> int:
        number: int = (await self.call("makeService", sdkInput=await self.sdk_input()))["service"]
        return number

    async def delegate(self, asked: dict[str, Any]) -> dict[str, Any]:
        given = await self.sdk_input(asked.get("paymentInstrumentId", CARD), asked["sdkOutput"])
        return await self.call("sdkInput", turn=asked["turn"], sdkInput=given)


@pytest.mark.rule("B-INIT-1", "B-WATCH-1", "B-CAN-1", "B-CAN-2", "B-START-1", "B-DEL-1", "B-DEL-2", "B-FIN-1")
@pytest.mark.parametrize("variant", VARIANTS_B)
def test_a_whole_flow_adds_the_card(variant: str) -> None:
    async def play() -> None:
        app = App(variant)
        service = await app.service()
        if variant == "later":
            assert await app.call("activateWatch", instance=1) == {"isWatchActivated": False}
            can = await app.call("canAddCardDetails", service=service, isWatchActivated=False)
            assert can == {"canAddCard": True, "canAddToPhone": True, "canAddToWatch": False}
        else:
            assert (await app.call("canAddCard", service=service))["canAddCard"]
        begun = await app.call("start", service=service)
        asked = await app.call("goOn", turn=begun["turn"])
        assert ("paymentInstrumentId" in asked) == (variant == "later")
        assert await app.delegate(asked) == {"outcome": "Finished", "pass": True}
        assert app.device.phone.cards == {CARD}

    asyncio.run(play())


@pytest.mark.rule("B-START-1", "B-DEL-3", "B-FIN-1")
@pytest.mark.parametrize(
    ("phone", "ends"),
    [
        ("no entitlement", {"outcome": "Threw", "case": "presentationFailure"}),
        ("cardholder cancels", {"outcome": "Finished", "pass": False, "case": "userCancelled"}),
        ("ready", {"outcome": "Finished", "pass": False, "case": "walletKitError"}),  # the delegate returns nil
    ],
)
def test_how_an_attempt_ends_that_adds_nothing(phone: str, ends: dict[str, Any]) -> None:
    async def play() -> None:
        app = App("later", phone)
        service = await app.service()
        await app.call("canAddCardDetails", service=service, isWatchActivated=False)
        reply = await app.call("start", service=service)
        if "turn" in reply:
            reply = await app.call("goOn", turn=reply["turn"])
        if "ask" in reply:
            reply = await app.call("noSdkInput", turn=reply["turn"])
        assert ends.items() <= reply.items()

    asyncio.run(play())


@pytest.mark.rule("FLOW-3")
def test_the_flows_table_decides_what_may_come_when() -> None:
    async def play() -> None:
        app = App()
        service = await app.service()
        with pytest.raises(OutOfOrderError, match=r"Possible now: .*canAddCardDetails"):
            await app.call("start", service=service)
        with pytest.raises(OutOfOrderError, match="make it again"):
            await app.call("start", service=9)

    asyncio.run(play())


@pytest.mark.rule("X-INIT-1", "X-ENTRIES-1", "X-ENTRIES-2", "X-GEN-1", "X-DEL-1")
def test_the_extensions_service_lists_its_cards_and_makes_a_request() -> None:
    async def play() -> None:
        app = App("later", "with a watch")
        texts = [await app.sdk_input(card) for card in INSTRUMENT_IDS[:2]]
        service = (await app.call("makeExtensionService", sdkInputs=texts))["service"]
        for lists in ("passEntries", "remotePassEntries"):
            assert (await app.call(lists, service=service))["entries"] == [*INSTRUMENT_IDS[:2]]
        asked = await app.call("generate", service=service, identifier=CARD, **CHAIN)
        assert await app.delegate(asked) == {"outcome": "Success"}
        nil = await app.call("generate", service=service, identifier=CARD, **CHAIN)
        assert (await app.call("noSdkInput", turn=nil["turn"]))["case"] == "unableToConstructSDKOutput"
        assert (await app.call("generate", service=service, identifier="x", **CHAIN))["case"] == "invalidSDKInput"
        assert (await app.call("makeExtensionService", sdkInputs=[]))["case"] == "emptySDKInputs"
        assert (await app.call("makeExtensionService", sdkInputs=["bm8="]))["case"] == "invalidSDKInput"

    asyncio.run(play())
