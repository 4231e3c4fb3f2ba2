"""What passes between the app and its back end, which alone speaks to the HTTP API (API-13)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.flows.messages.base import Actor, Command, Event


class HoldsSdkInput:
    """What every message has that holds an sdkInput bare, as platform B takes it: a text form without it (REL-3)."""

    __slots__ = ()
    sdk_input: Any

    def __repr__(self) -> str:
        redacts_itself = callable(getattr(self.sdk_input, "summary", None))
        held = repr(self.sdk_input) if redacts_itself else f"<{type(self.sdk_input).__name__}>"
        return f"{type(self).__name__}(sdk_input={held})"


@dataclass(frozen=True, slots=True)
class GetActivationData(Command):
    """Ask the back end for activation data; it makes the GET (API-1, API-10)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "needs activation data"
    rules = ("API-1", "API-10", "API-13")
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class ActivationDataReceived(Event):
    """The back end handed over the GET's sdkInput (FLOW-1, step 2)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput"
    rules = ("API-10",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class ActivationDataFailed(Event):
    """The back end could not get activation data; `reason` is neutral (REL-6, REL-9)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no activation data"
    rules = ("REL-6",)
    reason: str


@dataclass(frozen=True, slots=True)
class PostSdkOutput(Command):
    """Ask the back end to exchange sdkOutput; it makes the POST (API-2, API-11)."""

    sender, receiver, says = Actor.APP, Actor.BACK_END, "sdkOutput"
    rules = ("API-2", "API-11", "API-13")
    payment_instrument_id: str
    sdk_output: Any


@dataclass(frozen=True, slots=True)
class OpcReceived(Event):
    """The back end handed over the POST's sdkInput, on platform A the OPC data (API-11)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput (OPC data)"
    rules = ("API-11",)
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class OpcFailed(Event):
    """The back end, or the app's own OpcProvider, produced no OPC data."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no OPC data"
    rules = ("REL-6",)
    reason: str


@dataclass(frozen=True, slots=True)
class SaveSdkInput(Command):
    """The app stores sdkInput after its own network call, for the extension's status() (X-CACHE-1)."""

    sender, receiver, says = Actor.APP, Actor.STORAGE, "saves sdkInput's bytes"
    rules = ("X-CACHE-1",)
    sdk_input: Any


@dataclass(frozen=True, slots=True, repr=False)
class SdkInputReceived(HoldsSdkInput, Event):
    """The back end handed over the POST's sdkInput (B-DEL-3, API-11)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "sdkInput"
    rules = ("B-DEL-3", "API-11")
    sdk_input: Any


@dataclass(frozen=True, slots=True)
class NoSdkInput(Event):
    """No sdkInput can be produced; `reason` is neutral (B-DEL-3, REL-6)."""

    sender, receiver, says = Actor.BACK_END, Actor.APP, "no sdkInput"
    rules = ("B-DEL-3", "REL-6")
    reason: str
