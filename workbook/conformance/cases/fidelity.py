"""Opaque data arrives as it was sent, byte for byte, both ways."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, each_request, no_success, outcome, refuses, works
from workbook.conformance.script import GET, POST, Ask, Order, Script, both
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from workbook.conformance.case import Judge
    from workbook.conformance.script import Made
    from workbook.conformance.seen import Arrived, Seen

KIB, MIB = 1024, 1_048_576
ROOM = KIB
"""Bytes that the JSON around a value may take: the stand-in reads bodies of 1 MiB as a whole (assumed)."""

TEXTS: Mapping[str, tuple[str, Made]] = {
    "unicode": ("letters beyond ASCII", lambda canary: f"{canary} \u00fc u\u0308 \u00df \u6f22\u5b57 \U0001f4b3"),
    "unicode-long": ("240 KiB of letters beyond ASCII", lambda canary: canary + "\u6f22" * (80 * KIB)),
    "symbols": ("the characters + / =", lambda canary: f"{canary}+/+/=="),
    "outer-blanks": ("blanks at both ends", lambda canary: f"  {canary}  "),
    "quotes": ("quotes and backslashes", lambda canary: f'"{canary}\\"\\\\/'),
    "line-ends": ("line ends and tabs", lambda canary: f"{canary}\r\n\tend\n"),
    "percent": ("percent signs and an ampersand", lambda canary: f"{canary}%2B%25&amp;x=1"),
    "looks-like-json": ("text that looks like JSON", lambda canary: f'{{"canary": "{canary}"}}'),
    "single": ("one character", lambda _canary: "x"),
    "64-kib": ("64 KiB", lambda canary: canary.ljust(64 * KIB, "k")),
    "1-mib": ("1 MiB", lambda canary: canary.ljust(MIB - ROOM, "m")),
}
"""What platform A's text may be like, by name: nothing in it may be touched (API-7)."""
LARGE = ("1-mib", "unicode-long")
"""Nothing says how long a value may be (GAP-3), so one that is refused for its length is no failure."""


def given_back(operation: str) -> Judge:
    """The phone gets what the API gave, and not something else of the same length."""
    todo = "Hand the sdkInput on as the very text that the API gave: parse the JSON, and touch nothing in it."

    def judge(seen: Seen) -> Iterator[Miss]:
        given = [one.given for one in seen.came(operation) if one.given]
        for call in seen.asked(operation):
            if not given:
                yield Miss("an sdkInput from the API", "none came", todo)
            elif call.value not in given:
                yield Miss(
                    "the sdkInput as the API gave it", f"{outcome(call)}: {_unlike(given[-1], call.value)}", todo
                )

    return judge


def handed_on(seen: Seen) -> Iterator[Miss]:
    """The API gets the sdkOutput that the phone sent."""
    todo = "Send the sdkOutput on as the very text that the app handed over."
    sent = {call.sent for call in seen.asked(POST)}

    def question(one: Arrived) -> Iterator[Miss]:
        if (came := one.sdk_output) not in sent:
            observed = _unlike(next(iter(sent)) or "", came)
            yield Miss("the sdkOutput as the phone sent it", observed, todo)

    yield from each_request(POST, question)(seen)


def or_refused(judge: Judge) -> Judge:
    """The same question, unless every call was plainly refused: that is only noted."""

    def asked(seen: Seen) -> Iterator[Miss]:
        refused = [call for call in seen.calls if refuses(call) and not call.broke]
        if not refused:
            yield from judge(seen)
        for call in refused:
            todo = "See whether a limit of a server, a gateway or a framework is smaller than it need be."
            yield Miss("an answer, however long the value is", outcome(call), todo, "GAP-3")

    return asked


def _second(seen: Seen) -> Iterator[Miss]:
    """After the POST the phone gets the POST's sdkInput, and never the GET's (API-11)."""
    first = {one.given for one in seen.came(GET)}
    for call in seen.asked(POST):
        if call.value is not None and call.value in first:
            todo = "Answer with the sdkInput of the POST's own answer."
            yield Miss("the sdkInput that the POST returned", "the one that the GET had returned", todo)


def _nothing_for_nothing(seen: Seen) -> Iterator[Miss]:
    yield from no_success(replace(seen, calls=seen.asked(POST)))


CHANGES: Mapping[str, Callable[[str], str]] = {
    "its outer blanks are gone": str.strip,
    "it is in the url-safe alphabet": lambda text: text.replace("+", "-").replace("/", "_"),
    "its padding is gone": lambda text: text.rstrip("="),
    "it was encoded a second time": lambda text: base64.b64encode(text.encode()).decode(),
    "it was put into quotes": json.dumps,
    "its letters beyond ASCII were replaced": lambda text: text.encode("ascii", "replace").decode(),
}
"""What a back end may have done to a value, and how it then looks."""


def _unlike(wanted: str, came: str | None) -> str:
    """How two values differ, without saying either."""
    if came is None:
        return "nothing where it belongs"
    if came.replace("\n", "").replace("\r", "") == wanted.replace("\n", "").replace("\r", ""):
        return "its line ends were changed, or it was wrapped into lines"
    found = next((words for words, change in CHANGES.items() if change(wanted) == came), None)
    return found or f"{len(came)} characters instead of {len(wanted)}, another value"


def _text_cases() -> Iterator[Case]:
    needs = frozenset({Need.PLATFORM_A})
    for name, (words, made) in TEXTS.items():
        get = Script((Ask(GET),), (Order(GET, value=made),))
        post = Script(both(output=made), (Order(POST, value=made),))
        yield Case(f"relay.get.text-{name}", f"The GET's sdkInput arrives untouched: {words}.", "API-7",
                   Group.FIDELITY, get, _untouched(name, given_back(GET)), needs)  # fmt: skip
        yield Case(f"relay.post.text-{name}", f"The POST's data arrives untouched, both ways: {words}.", "API-7",
                   Group.FIDELITY, post, _untouched(name, handed_on, given_back(POST)), needs)  # fmt: skip


def _untouched(name: str, *judges: Judge) -> Judge:
    return or_refused(all_of(*judges)) if name in LARGE else all_of(*judges)


def _base64(octets: int, *, head: bytes = b"", tail: bytes = b"") -> Made:
    """Canonical base64 of so many bytes in which every character of the alphabet occurs."""

    def made(canary: str) -> str:
        data = head + (canary.encode() + ALPHABET * (octets // len(ALPHABET) + 1))[:octets] + tail
        return base64.b64encode(data).decode()

    return made


ALPHABET = bytes.fromhex(
    "00108310518720928b30d38f41149351559761969b71d79f8218a39259a7a29aabb2dbafc31cb3d35db7e39ebbf3dfbf"
)
"""The bytes whose base64 is the whole alphabet once, plus and slash included."""

BINARIES: Mapping[str, tuple[str, Made]] = {
    "alphabet": ("every character of the alphabet, + and / too", _base64(96)),
    "one-pad": ("one = at the end", _base64(98)),
    "two-pads": ("two = at the end", _base64(97)),
    "long": ("longer than one line of 76 characters", _base64(3 * KIB)),
    "not-text": ("bytes that are no text", _base64(96, tail=b"\x00\xff\xfe\xc3\x28\x80")),
    "outer-blanks": ("a blank and a line end first and last", _base64(96, head=b" \n", tail=b"\n ")),
    "1-mib": ("1 MiB of bytes", _base64((MIB - ROOM) * 3 // 4)),
}
"""What platform B's bytes may be like, by name: canonical base64, once, in one line (API-8)."""


def _binary_cases() -> Iterator[Case]:
    needs = frozenset({Need.PLATFORM_B})
    for name, (words, made) in BINARIES.items():
        get = Script((Ask(GET),), (Order(GET, value=made),))
        post = Script(both(output=made), (Order(POST, value=made),))
        yield Case(f"relay.get.bytes-{name}", f"Platform B's bytes arrive as they are: {words}.", "API-8",
                   Group.FIDELITY, get, _untouched(name, given_back(GET)), needs)  # fmt: skip
        yield Case(f"relay.post.bytes-{name}", f"Platform B's bytes arrive as they are, both ways: {words}.", "API-8",
                   Group.FIDELITY, post, _untouched(name, handed_on, given_back(POST)), needs)  # fmt: skip


MORE = {"expiresAt": "2030-01-01T00:00:00Z", "nested": {"list": [1, None, True]}}
"""Fields that the document does not show; a reader has to tolerate them."""


def _more(operation: str) -> Case:
    script = Script(both() if operation == POST else (Ask(GET),), (Order(operation, more=MORE),))
    says = f"Unknown fields beside the {operation}'s sdkInput do no harm."
    judge = all_of(works(operation), given_back(operation))
    return Case(f"relay.{operation.lower()}.unknown-fields", says, "API-9", Group.FIDELITY, script, judge)


def _compressed(operation: str) -> Case:
    script = Script(both() if operation == POST else (Ask(GET),), (Order(operation, packed=True),))
    says = f"The answer of the {operation} is compressed for a back end that says it may be, and arrives all the same."
    told, rule = f"relay.{operation.lower()}.compressed", "API-11" if operation == POST else "API-10"
    return Case(told, says, rule, Group.FIDELITY, script, given_back(operation))


ATTEMPT = Script(both())
CASES = (
    Case("relay.get.sdk-input-byte-exact", "The phone gets the very sdkInput that the GET returned.", "API-10",
         Group.FIDELITY, ATTEMPT, given_back(GET)),
    Case("relay.post.sdk-output-byte-exact", "The API gets the very sdkOutput that the phone sent.", "API-2",
         Group.FIDELITY, ATTEMPT, handed_on),
    Case("relay.post.sdk-input-byte-exact", "The phone gets the very sdkInput that the POST returned.", "API-11",
         Group.FIDELITY, ATTEMPT, given_back(POST)),
    Case("relay.post.second-sdk-input", "After the POST the phone gets the second sdkInput, not the first.", "API-11",
         Group.FIDELITY, ATTEMPT, all_of(works(POST), _second)),
    Case("relay.post.empty-sdk-output", "An empty sdkOutput gets no sdkInput.", "REL-6", Group.FIDELITY,
         Script(both(output=lambda _canary: "")), all_of(works(GET), _nothing_for_nothing)),
    _compressed(GET),
    _compressed(POST),
    *_text_cases(),
    *_binary_cases(),
    _more(GET),
    _more(POST),
)  # fmt: skip
