"""What an extension's handler does during a call: seen, recorded, and stepped by no table (platform B).

`case` is one of the public interface's names (sdk-b); `why` is the simulator's explanation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbook.flows.messages.base import Actor, Aside


@dataclass(frozen=True, slots=True)
class StorageRead(Aside):
    """The handler read the secure storage; `found` counts the values, `out_of_reach` those not shared (X-CACHE-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.STORAGE, "reads sdkInput"
    rules = ("X-CACHE-1",)
    found: int
    out_of_reach: int = 0


@dataclass(frozen=True, slots=True)
class BackEndAsked(Aside):
    """The handler asked the back end (API-13); `method` is what that will send."""

    sender, receiver, says = Actor.EXTENSION, Actor.BACK_END, "asks the back end"
    rules = ("API-13",)
    method: str
    payment_instrument_id: str


@dataclass(frozen=True, slots=True)
class ServiceMade(Aside):
    """An ExtensionProvisioningService was made; `cards` are the instruments of its sdkInputs (X-INIT-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "ExtensionProvisioningService(…)"
    rules = ("X-INIT-1", "X-HANDLER-1")
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ServiceNotMade(Aside):
    """The ExtensionProvisioningService could not be initialised (X-STATUS-2)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "no service"
    rules = ("X-INIT-1", "X-STATUS-2")
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class SdkPassEntriesCalled(Aside):
    """The handler called the SDK's passEntries(withDelegate) (X-ENTRIES-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "passEntries(withDelegate)"
    rules = ("X-ENTRIES-1",)


@dataclass(frozen=True, slots=True)
class SdkRemotePassEntriesCalled(Aside):
    """The handler called the SDK's remotePassEntries(withDelegate) (X-ENTRIES-2)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "remotePassEntries(withDelegate)"
    rules = ("X-ENTRIES-2",)


@dataclass(frozen=True, slots=True)
class SdkGenerateCalled(Aside):
    """The handler called the SDK's operation of the same name (X-GEN-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "generateAddPaymentPassRequest…"
    rules = ("X-GEN-1",)
    identifier: str


@dataclass(frozen=True, slots=True)
class SdkThrew(Aside):
    """An SDK operation threw inside the handler (X-GEN-1)."""

    sender, receiver, says = Actor.SDK, Actor.EXTENSION, "threw"
    rules = ("X-GEN-1",)
    case: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class CardArtReturned(Aside):
    """The delegate returned card art; `problems` say what is wrong with it, if anything (X-ART-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "card art"
    rules = ("X-ART-1",)
    problems: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class DelegateReturned(Aside):
    """The delegate's provision returned; `sdk_input` is None for nil (X-DEL-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.SDK, "returned"
    rules = ("X-DEL-1",)
    sdk_input: Any = None

    def __repr__(self) -> str:
        return f"DelegateReturned({type(self.sdk_input).__name__})"  # bare bytes or text, which may be real


@dataclass(frozen=True, slots=True)
class HandlerKept(Aside):
    """What a handler left in itself or in its class for a later call, which will find nothing (X-HANDLER-1)."""

    arrow = False
    sender, receiver, says = Actor.EXTENSION, Actor.EXTENSION, "kept for later"
    rules = ("X-HANDLER-1",)
    where: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AuthorizationUiShown(Aside):
    """The wallet put the app's authorization UI on the screen (X-AUTH-1)."""

    sender, receiver, says = Actor.WALLET_APP, Actor.EXTENSION, "shows the authorization UI"
    rules = ("X-AUTH-1",)


@dataclass(frozen=True, slots=True)
class CompletionHandlerCalled(Aside):
    """The authorization UI reported through completionHandler; once is enough (X-AUTH-1)."""

    sender, receiver, says = Actor.EXTENSION, Actor.WALLET_APP, "completionHandler(…)"
    rules = ("X-AUTH-1",)
    arrow = False
    succeeded: bool
