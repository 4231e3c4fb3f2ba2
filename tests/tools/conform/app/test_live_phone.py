"""The phone that a notebook serves: an app calls it over HTTP, and the panels follow."""

from __future__ import annotations

from time import monotonic, sleep

import httpx
import pytest

import workbook as wb
from workbook.errors import ConfigurationError, ParameterError
from workbook.lessons.widgets.panels import film_of
from workbook.tools.conform.app.panel import LivePhone
from workbook.views.phone import KeyScreens

CARD = "PISIMULATED00000000000001"


@pytest.fixture
def live():
    phone = LivePhone(pace=0)
    yield phone
    phone.stop()


def captions(live: LivePhone, least: int) -> list[str]:
    """What the panels show, once they have so many lines."""
    until = monotonic() + 60
    while len(live._player.player_data["frames"]) < least and monotonic() < until:
        sleep(0.02)
    shown = [frame["caption"] for frame in live._player.player_data["frames"]]
    assert len(shown) >= least, shown
    return shown


@pytest.mark.slow
def test_the_panels_show_what_an_app_does_while_it_does_it(live: LivePhone) -> None:
    live.widget()
    [waits] = captions(live, 1)  # the panels on the page need a frame
    assert waits.endswith("no app has called yet.")
    key = live.settings["WORKBOOK_PHONE_KEY"]
    with httpx.Client(base_url=live.settings["WORKBOOK_PHONE_URL"], trust_env=False) as http:

        def call(name: str, **fields: object) -> dict[str, object]:
            answer = http.post(f"/phone/v1/{name}", headers={"x-workbook-key": key}, json={"client": "app", **fields})
            return answer.json()

        back_end = call("hello", platform="A", variant="from-0.4.0", protocol=1)["backEnd"]
        sdk_input = http.get(f"{back_end}/cards/{CARD}/activation-data").json()["sdkInput"]
        number = call("create", sdkInput=sdk_input)["provisioning"]
        call("canProvision", provisioning=number)
        assert captions(live, 4)[-1].endswith("SDK to App: CanBeProvisioned.")
        call("provisionWithProvider", provisioning=number, cardDisplayName="Card")
        assert "fetchOpc(paymentInstrumentId, sdkOutput)" in captions(live, 7)[-1]
    assert "The app shows the card ending in 0001" in KeyScreens(film_of(live.seen())).text()


@pytest.mark.slow
@pytest.mark.rule("B-CAN-2", "X-INIT-1", "X-ENTRIES-1")
def test_the_panels_follow_an_app_and_an_extension_of_platform_b() -> None:
    live = LivePhone("with a watch", "B", pace=0)
    try:
        live.widget()
        key = live.settings["WORKBOOK_PHONE_KEY"]
        with httpx.Client(base_url=live.settings["WORKBOOK_PHONE_URL"], trust_env=False) as http:

            def call(name: str, **fields: object) -> dict[str, object]:
                answer = http.post(
                    f"/phone/v1/{name}", headers={"x-workbook-key": key}, json={"client": "app", **fields}
                )
                return answer.json()

            back_end = call("hello", platform="B", variant="later", protocol=1)["backEnd"]
            sdk_input = http.get(f"{back_end}/cards/{CARD}/activation-data").json()["sdkInput"]
            service = call("makeService", sdkInput=sdk_input)["service"]
            assert call("activateWatch", instance=1) == {"isWatchActivated": True}
            call("canAddCardDetails", service=service, isWatchActivated=True)
            extension = call("makeExtensionService", sdkInputs=[sdk_input])["service"]
            assert call("passEntries", service=extension)["entries"] == [CARD]
            assert call("holds", card=CARD, onWatch=True) == {"holds": False}
        assert "cardArt" in captions(live, 9)[-1]
    finally:
        live.stop()


def test_nothing_of_a_run_is_stored(live: LivePhone) -> None:
    stored = live.snapshot()
    assert stored.text() == repr(live)
    assert live.settings["WORKBOOK_PHONE_KEY"] not in stored.html()


def test_a_wrong_choice_is_explained(live: LivePhone) -> None:
    with pytest.raises(ParameterError, match="Did you mean 'ready'"):
        LivePhone("raedy")
    with pytest.raises(ParameterError, match=r"^port is 70000\. Give a whole number from 0 to 65,535"):
        LivePhone(port=70_000)
    with pytest.raises(ConfigurationError, match="port"):
        LivePhone(port=int(live.server.url.rpartition(":")[2]))


def test_an_extension_is_served_as_an_app_is() -> None:
    served = wb.session().wallet.serve("with a watch", pace=0)
    try:
        assert (served.server.pace, "WORKBOOK_PHONE_URL" in served.settings) == (0, True)
    finally:
        served.stop()
