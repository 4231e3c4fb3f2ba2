"""What becomes of one call of the HTTP API attempt by attempt, seen only where a back end is watched that closely."""

from __future__ import annotations

from dataclasses import dataclass

from workbook.flows.messages.aside import ApiFailed, ApiRequested
from workbook.flows.messages.base import Actor, Aside


@dataclass(frozen=True, slots=True)
class ApiAskedAgain(ApiRequested):
    """The back end sent the same request again by itself, `pause` seconds after the attempt before (REL-1)."""

    rules = ("API-4", "API-13", "REL-1")
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerLost(ApiFailed):
    """No answer arrived, or not all of it; `fault` was played. `error` is empty while the call goes on."""

    says = "no answer"
    rules = ("API-9", "REL-1")
    fault: str = ""


@dataclass(frozen=True, slots=True)
class AnswerRefused(ApiFailed):
    """A 200 arrived, and the back end refused it because it is of no use; `fault` was played (REL-6)."""

    says = "no usable answer"
    rules = ("API-9", "REL-6")
    fault: str = ""


@dataclass(frozen=True, slots=True)
class RedirectFollowed(Aside):
    """The back end sent the request to where a redirect pointed; `with_key`: the API key went along (REL-2)."""

    sender, receiver, says = Actor.BACK_END, Actor.BACK_END, "follows the redirect"
    rules = ("REL-2",)
    location: str
    with_key: bool


@dataclass(frozen=True, slots=True)
class ApiCallEnded(Aside):
    """The back end's call is over: how many attempts it made, what they took in seconds, and what it came to.

    `ending` is `sdkInput`, or the class of the error.
    """

    arrow = False
    sender, receiver, says = Actor.BACK_END, Actor.BACK_END, "the call is over"
    rules = ("REL-5",)
    method: str
    attempts: int
    took: float
    ending: str
