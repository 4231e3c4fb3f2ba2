"""An app in Python that speaks the phone's protocol: for tests that need no Java, and for the variant before 0.4.0."""

from __future__ import annotations

import sys
from threading import Event, Thread
from typing import Any

import httpx


class PythonApp:
    """One card's page, SDK before 0.4.0 or from it; `mistake` names one that it makes."""

    def __init__(self, url: str, key: str, variant: str = "from-0.4.0", mistake: str = "") -> None:
        self.http = httpx.Client(base_url=url, headers={"x-workbook-key": key}, timeout=30, trust_env=False)
        self.variant, self.mistake = variant, mistake
        self.button, self.back_end, self.session, self.number, self.card = "absent", "", "", 0, ""
        self.call("hello", platform="A", variant=variant, protocol=1)

    def call(self, name: str, **fields: Any) -> dict[str, Any]:
        answer = self.http.post(f"/phone/v1/{name}", json={"client": "app", **fields})
        if answer.status_code != httpx.codes.OK:
            raise RuntimeError(answer.json()["error"])
        document: dict[str, Any] = answer.json()
        return document

    def relay(self, method: str, body: Any = None) -> str:
        operation = "activation-data" if method == "GET" else "provision"
        url = f"{self.back_end}/cards/{self.card}/{operation}"
        session = {} if self.mistake == "signs-nothing" else {"authorization": f"Bearer {self.session}"}
        content = f'{{"sdkOutput": {body["sdkOutput"]}}}' if body and self.mistake == "quotes-nothing" else None
        ways: dict[str, Any] = {"json": body} if content is None else {"content": content}
        seconds = 2 if self.mistake == "gives-up" else 30
        answer = self.http.request(method, url, headers=session, timeout=seconds, **ways)
        answer.raise_for_status()
        value = answer.json()["sdkInput"]
        if not isinstance(value, str) or not value:
            raise ValueError
        return value

    def opened(self) -> None:
        try:
            made = self.call("create", sdkInput=self.relay("GET"))
            self.number = made["provisioning"]
            self.button = self.asked()
        except Exception:  # noqa: BLE001 - whatever it is, the card cannot be offered
            self.button = "hidden"

    def asked(self) -> str:
        may = self.call("canProvision", provisioning=self.number)["outcome"] == "CanBeProvisioned"
        return "shown" if may else "hidden"

    def added(self) -> None:
        try:
            outcome = self.two_steps() if self.variant == "before-0.4.0" else self.with_provider()
            self.button = self.asked() if outcome["outcome"] == "Success" else "shown"
        except Exception:  # noqa: BLE001 - whatever it is, the attempt is over
            self.button = "shown"

    def two_steps(self) -> dict[str, Any]:
        made = self.call("createSdkOutput", provisioning=self.number)
        opc = self.relay("POST", {"sdkOutput": made["sdkOutput"]})
        said = {"provisioning": self.number, "sdkInput": opc, "cardDisplayName": "Card"}
        return self.activity(self.call("provision", **said))

    def with_provider(self) -> dict[str, Any]:
        asked = self.call("provisionWithProvider", provisioning=self.number, cardDisplayName="Card")
        try:
            opc = self.relay("POST", {"sdkOutput": asked["no such field" if self.mistake == "fails" else "sdkOutput"]})
        except Exception as error:  # noqa: BLE001 - as the SDK catches it
            return self.call("noOpc", turn=asked["turn"], threw=type(error).__name__)
        return self.activity(self.call("opc", turn=asked["turn"], sdkInput=opc))

    def activity(self, reply: dict[str, Any]) -> dict[str, Any]:
        return self.call("activity", turn=reply["turn"], there=True) if "ask" in reply else reply

    def do(self, order: dict[str, Any]) -> dict[str, Any]:
        match order["do"]:
            case "screen" if self.mistake == "crashes" and self.button == "shown":
                return {"uncaught": "java.io.IOException at App.kt"}
            case "begin":
                self.back_end, self.session, self.button = order["backEnd"], order["session"], "absent"
            case "openCardPage":
                self.card, self.button = order["card"], "absent"
                Thread(target=self.opened, daemon=True).start()
            case "tapAdd" if self.button == "shown" and self.mistake != "ignores-taps":
                if self.mistake == "hangs":
                    Event().wait(60)
                if self.mistake == "exits":
                    sys.exit(3)
                self.button = "disabled"
                if self.mistake == "blocks":
                    self.added()
                if self.mistake == "sleeps":
                    Event().wait(4)
                Thread(target=self.added, daemon=True).start()
            case "closeCardPage" | "processDeath":
                self.button = "absent"
            case "signOut":
                return {"threw": "NotImplementedError"}
            case "reports":
                return {"reports": 3} if self.mistake == "counts" else {"threw": "NotImplementedError"}
        return {}

    def driven(self) -> None:
        """Do what the workbook says until it says that all is over."""
        order = self.call("next", turn=0)
        while order["do"] != "end":
            done = self.do(order)
            order = self.call("next", turn=order["turn"], button=self.button, **done)


if __name__ == "__main__":
    import os

    PythonApp(os.environ["WORKBOOK_PHONE_URL"], os.environ["WORKBOOK_PHONE_KEY"], *sys.argv[1:]).driven()
