"""Judges: each asks one question about what was seen, and yields misses. They are pure; the cases combine them.

A missing precondition is a miss and not a pass: a judge that found nothing to judge reports that.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias, TypeVar

from workbook.api.opaque import decode_strictly, json_object
from workbook.base.secrecy import Secrets, is_dull
from workbook.simulation.faults import FAULTS, FaultKind
from workbook.tools.conform.back_end import model
from workbook.tools.conform.back_end.model import GET, POST, Arrived, Broke, Exposed, Exposure, Judge, PhoneCall, Seen
from workbook.tools.harness.model import Miss, Root

SeenT = TypeVar("SeenT")
OfRequest: TypeAlias = Callable[[Arrived, Seen], Iterable[Miss]]

WORK = "Make the plain case work first: a GET, and a POST, with nothing wrong anywhere."
ASK = "Let the back end ask the API for each attempt."
ASK_AGAIN = "Ask the API for each attempt; keep nothing of its answers in the back end."
HAND_ON = "Hand the sdkInput on unchanged: parse the API's JSON, and pass on the text in it as it is."
SEND_ON = "Send the sdkOutput on as the very text that the app handed over."
SIDE_BY_SIDE = "Let calls run side by side: more than one worker, and no lock around the API."
UNLOCKED = (
    "Release the lock of the session before you ask the API (in PHP: session_write_close()), and lock no cardholder: a "
    "list of cards is asked for all at once."
)
TELL = "Treat anything but a 200 with an sdkInput that is not empty as a failure, and report a failure to the app."
READ_ON = (
    "Read the answer of the API to its end, and treat one that breaks off as a failure: its last chunk never came, so "
    "nobody knows whether the value is whole."
)
MORE_TIME = (
    "Give the API more time: your back end gives up an answer that comes after a fraction of a second. The wallet "
    f"waits {model.BOUND:g} s (X-ENTRIES-3)."
)
AFRESH = (
    "Keep nothing of a broken exchange: no dead connection, no kept failure. Where a circuit breaker opens on purpose, "
    "give the seconds until it lets a call through again as [timeouts] recovery."
)


ASK_AFTER_FAILURE = (
    "Ask the API for each attempt, also after one that failed: keep no failure. Where a circuit breaker opens on "
    "purpose, give the seconds until it lets a call through again as [timeouts] recovery."
)

UNASKED = (
    "A call fails, and the API is not asked. Two causes are possible: a failure that is kept (then cases "
    "relay.get.fault-4* fail, too), or a dead connection in the pool of the HTTP client (then relay.get.fault-close)."
)


def but_last(judge: Judge) -> Judge:
    """The same question about all calls but the last, which shows whether everything works again."""
    return lambda seen: judge(replace(seen, calls=seen.calls[:-1]))


def recovers(seen: Seen) -> Iterator[Miss]:
    """The last call, made after the fault is over, succeeds."""
    last = seen.calls[-1]
    if last.succeeded:
        return
    observed = describe_ending(last)
    todo = AFRESH
    root = Root.CASE
    outputs = {request.sdk_output for request in seen.during(last) if request.operation == POST}
    if fails_unasked(last, seen):
        before = [arrived.response for arrived in seen.arrived if arrived.at < last.began]
        fault = FAULTS.get(before[-1].fault) if before else None
        # After anything else, a dead connection that is never opened anew looks the same from outside.
        if fault is not None and fault.kind in (FaultKind.STATUS, FaultKind.LIMIT):
            observed += f", and the API was not asked, though it had answered the call before with {before[-1].status}"
            todo = ASK_AFTER_FAILURE
            root = Root.OLD_ANSWER
        else:
            observed += ", and the API was not asked"
    elif outputs and last.sent not in outputs:
        observed += ", and the API got another sdkOutput than the app's"
        todo = SEND_ON
        root = Root.FOLLOWS
    elif any(request.given for request in seen.during(last)):
        observed += ", though the API answered this call as it should"
    yield Miss(f"a success {seen.recovery:g} s after the API works again", observed, todo, "REL-12", root=root)


def fails_unasked(call: PhoneCall, seen: Seen) -> bool:
    """Whether the back end answered a call with a failure, and asked the API nothing meanwhile."""
    return call.status is not None and not call.reported_success and not seen.during(call)


def waits(seen: Seen) -> Iterator[Miss]:
    """A call succeeds although the API takes a moment to answer: no time limit is as short as that."""
    last = seen.calls[-1]
    if not last.succeeded:
        rule = "API-11" if last.operation == POST else "API-10"
        todo = UNASKED if fails_unasked(last, seen) else MORE_TIME
        yield Miss("a success with an API that takes a moment", describe_ending(last), todo, rule)


def all_of(*judges: Callable[[SeenT], Iterable[Miss]]) -> Callable[[SeenT], Iterator[Miss]]:
    """Every miss of every judge, in their order."""
    return lambda seen: (miss for judge in judges for miss in judge(seen))


def each_request(operation: str, question: OfRequest = lambda _request, _seen: ()) -> Judge:
    """Ask a question about each request of this operation. That none came is a miss, too, by default the only one."""

    def judge(seen: Seen) -> Iterator[Miss]:
        came = seen.came(operation)
        if not came:
            strays = ", ".join(f"{stray.request.method} to another path" for stray in seen.strays[:3])
            yield Miss(f"a {operation} at the API", strays or "no request reached the API", ASK, root=Root.FOLLOWS)
        for request in came:
            yield from question(request, seen)

    return judge


def works(operation: str) -> Judge:
    """Each call of this operation succeeds: the precondition of everything else."""

    def judge(seen: Seen) -> Iterator[Miss]:
        for call in seen.asked(operation):
            if not call.succeeded:
                yield Miss("a success", describe_ending(call), WORK, root=Root.FOLLOWS)

    return judge


def loses_attempt(judge: Judge) -> Judge:
    """The same question where a breach loses the attempt of each cardholder whose phone calls like this: it fails."""
    return lambda seen: (replace(miss, harms=True) for miss in judge(seen))


# The GET and the POST of an attempt succeed.
WORKS = all_of(works(GET), works(POST))


def one_works(operation: str) -> Judge:
    """At least one call for each card succeeds. A back end may refuse calls while it is busy with that card."""

    def judge(seen: Seen) -> Iterator[Miss]:
        asked = seen.asked(operation)
        lucky = {call.instrument for call in asked if call.succeeded}
        if unlucky := [call for call in asked if call.instrument not in lucky]:
            todo = "Serve several calls at once; of two for one card, one at least has to succeed."
            yield Miss("a success for each card", describe_ending(unlucky[0]), todo)

    return judge


def one_request(operation: str, rule: str = "") -> Judge:
    """Exactly one request of this operation reaches the API. `rule`: what a second one breaks."""
    todo = "Make one request for each call of the app; what it did not ask for, it does not need."

    def judge(seen: Seen) -> Iterator[Miss]:
        if len(came := seen.came(operation)) > 1:
            yield Miss(f"one {operation}", _count(len(came), operation), todo, rule)

    return all_of(each_request(operation), judge)


def once(todo: str) -> Judge:
    """No sdkOutput reaches the API more often than the phone sent it (REL-1)."""

    def judge(seen: Seen) -> Iterator[Miss]:
        sent = Counter(call.sent for call in seen.asked(POST))
        came = Counter(request.sdk_output for request in seen.came(POST))
        again = max((came[output] for output in sent if came[output] > sent[output]), default=0)
        if again or came.total() > sent.total():
            in_all = "" if again else f", {sent.total()} in all"
            expected = "at most one POST" if sent.total() == 1 else f"one POST for each tap{in_all}"
            observed = f"{again} of one tap, with the same sdkOutput" if again else _count(came.total(), POST)
            yield Miss(expected, observed, todo, "REL-1")

    return judge


not_again = once("Never repeat a POST that may have been sent: the API may have carried it out.")


def no_success(seen: Seen) -> Iterator[Miss]:
    """No call is answered as a success, and none gets an sdkInput (REL-6)."""
    for call in seen.calls:
        if takes_for_success(call, seen):
            yield Miss("a failure that the app recognises", describe_ending(call), ways_to_tell(call, seen), "REL-6")


def answered(seen: Seen) -> Iterator[Miss]:
    """No call is dropped without an answer (REL-9)."""
    for call in seen.calls:
        # how a call breaks where the back end dropped it instead of answering
        if call.broke in {Broke.REFUSED, Broke.LOST, Broke.NO_HTTP, Broke.SPOILT, *model.BAD_TLS}:
            todo = (
                "Answer each call: a broken connection does not tell the app what to do, and an HTTP library may make "
                "the call again by itself (RFC 9110, 9.2.2)."
            )
            again = call.operation == POST and bool(seen.during(call))  # then the attempt is made twice
            yield Miss("an answer that reports the failure", describe_ending(call), todo, "REL-9", harms=again)


def in_time(seen: Seen) -> Iterator[Miss]:
    """Each call that the phone did not cancel is answered within the bound (REL-5).

    Where the extension of platform B is served, a GET that takes longer breaks a rule of the document (X-ENTRIES-3).
    """
    for call in seen.calls:
        if seen.seconds(call) > seen.bound or call.broke is Broke.LATE:
            todo = f"Limit the whole call, retries and body included, to well below {model.BOUND:g} s (X-ENTRIES-3)."
            rule = "X-ENTRIES-3" if seen.extension and call.operation == GET else "REL-5"
            yield Miss(f"an answer within {seen.bound:g} s", describe_times(call, seen), todo, rule, harms=True)


def takes_for_success(call: PhoneCall, seen: Seen) -> bool:
    """Whether the app would take the answer for a success.

    A status of 2xx is one, unless the configuration says that failures are reported in the body and the body does so.
    """
    return call.reported_success and not (seen.failures == model.IN_BODY and refuses(call))


def refuses(call: PhoneCall) -> bool:
    """Whether an answer reports a failure, by its status, or by a field of its body where there is no sdkInput."""
    if not call.reported_success or call.value is not None:
        return not call.reported_success
    body = json_object(call.body) or {}
    # fields by which answers with a status of 2xx report a failure (assumed)
    says_no = any(body.get(name) for name in ("error", "errors", "failure", "reason"))
    return says_no or any(body.get(name) is False for name in ("ok", "success", "successful"))


def ways_to_tell(call: PhoneCall, seen: Seen) -> str:
    """What to do about an answer that is taken for a success. Where its body reports a failure, there are two ways."""
    if call.operation == POST and call.value in {arrived.given for arrived in seen.came(GET) if arrived.given}:
        return (
            "Answer a failed POST as a failure, and never with the sdkInput of a GET: the SDK needs the sdkInput "
            "that answers its sdkOutput (API-11)."
        )
    if any(arrived.response.fault == "missing last chunk" for arrived in seen.during(call)):
        return READ_ON
    if not refuses(call):
        return TELL
    return (
        f"{TELL} There are two ways to report it: answer with a status outside 2xx, or, where your app reads the body "
        'of every answer and finds a field such as "error" or "ok" there, say failures = "body" in the configuration.'
    )


def wrong_encoding(body: bytes) -> str:
    """How a body is encoded that should be JSON in UTF-8 without a byte order mark; empty where it is right."""
    names = {"utf-8": "", "utf-8-sig": "UTF-8 with a byte order mark"}
    return names.get(encoding := json.detect_encoding(body), encoding.upper())


def refuses_length(call: PhoneCall, seen: Seen) -> bool:
    """Whether the back end refused a body for its length: by a 413, or by closing the connection over a long body.

    A server that answers and closes before it has read the body resets the connection. Whether the phone still sees
    the 413 is chance then, so both count as the same.
    """
    # a plain request is shorter than 1024 bytes, so a longer one may be more than a back end takes (assumed)
    cut = call.broke is Broke.LOST and call.request is not None and len(call.request.body) > 1024
    return (cut or call.status == 413) and not seen.during(call)


def describe_ending(call: PhoneCall) -> str:
    """How a call ended, in words without a value."""
    more = f" ({call.why})" if call.why else ""
    if call.broke:
        return f"{call.broke.value}{more}, after {call.seconds:.1f} s"
    if call.value:
        value = f" with an sdkInput of {len(call.value)} characters"
    elif call.value is not None:
        value = " with an empty sdkInput"
    else:
        value = " without an sdkInput at the configured place" if call.reported_success else ""
    return f"status {call.status}{more}{value}, after {call.seconds:.1f} s"


def describe_times(call: PhoneCall, seen: Seen) -> str:
    """How a call ended; where the API was asked, with the two parts of its time."""
    before = min(seen.before.get(call.operation, 0.0), call.seconds)
    if before < 0.05 or not seen.during(call):  # too little to speak of
        return describe_ending(call)
    rest = seen.seconds(call) - before
    return f"{describe_ending(call)}: it asks the API after {before:.1f} s, and takes {rest:.1f} s from there"


def source_of(value: str | None, seen: Seen) -> str:
    """Which answer of the API gave this value, so that its row is found in a report; `another value` where none did."""
    for arrived in seen.arrived:
        if value and arrived.given == value:
            seconds = arrived.at - seen.first
            return f"what the API gave to the {arrived.operation} for {arrived.instrument} at {seconds:.3f} s"
    return "another value"


def _count(count: int, operation: str) -> str:
    return f"one {operation}" if count == 1 else f"{count} {operation} requests"


# Scans every answer of a run for secrets, whichever case it belongs to.
#
# An answer is scanned when its case ends, because answers are large and many; only the places of what was found are
# kept. `cases.privacy` judges what was found.

# This many characters in a row give the key away.
SHORTEST_PART = 8
# This many consecutive characters of a value cannot match by chance.
PIECE = 16


class SecretWatch:
    """Scans answers.

    Args:
        key: the API key that the back end was given.
        host: the API's host and port that the back end was given.

    Attributes:
        answers: how many were scanned.
        exposures: what was found in them.
    """

    def __init__(self, key: str, host: str) -> None:
        self.answers = 0
        self.exposures = list[Exposure]()
        self._key = key_parts(key)
        self._address = re.compile(rf"{re.escape(host)}|\bport\W{{0,5}}{host.rpartition(':')[2]}\b", re.IGNORECASE)

    def scan_answers(self, case: str, calls: Iterable[PhoneCall], arrived: Iterable[Arrived]) -> None:
        """Scan what the phone received in one case."""
        given = {request.given for request in arrived if request.given}
        for call in calls:
            text = answer_text(call, given)
            self.answers += bool(text)
            where = f"an answer with status {call.status}" if call.status else "an answer that broke off"
            if self._key.found_in(text):
                self.exposures.append(Exposure(Exposed.KEY, case, where))
            if self._address.search(text):
                self.exposures.append(Exposure(Exposed.HOST, case, where))


# Which card each opaque value of the run belongs to, whichever case it travelled in (REL-4).
#
# The simulator seals each value for one card and never makes one twice, so a value that turns up under another card is
# misdelivered, and one that turns up again is an old one. A value that the API never gave is neither: it was altered,
# and the cases of the group fidelity judge that.

# No two cases share a value of this many characters by chance; a few cases send shorter ones.
SHORTEST_VALUE = 17
OWN_CARD = (
    "Keep everything of a call in that call, from the app's request to its answer: no shared variable, and the card in "
    "the key of every cache and store."
)


class CardWatch:
    """Follows every opaque value from where it was made to where it arrived.

    Args:
        cards: ids of all configured cards.

    Attributes:
        misdelivered: values that went to another card, in the order in which they were found.
    """

    def __init__(self, cards: Iterable[str]) -> None:
        self.misdelivered: list[model.Misdelivered] = []
        self._cards = frozenset(cards)
        self._given: dict[int, list[Arrived]] = {}
        self._sent: dict[int, list[tuple[str, PhoneCall]]] = {}

    def sends(self, case: str, call: PhoneCall) -> None:
        """The phone is about to send this call's sdkOutput."""
        if call.sent and len(call.sent) >= SHORTEST_VALUE:
            self._sent.setdefault(hash(call.sent), []).append((case, call))

    def scan(self, case: str, calls: Iterable[PhoneCall], requests: Iterable[Arrived]) -> None:
        """Look at what the phone received in one case.

        Args:
            case: its name.
            calls: of its phone.
            requests: those at the API that have not been scanned yet, whichever case they belong to.
        """
        for request in requests:
            if request.given and len(request.given) >= SHORTEST_VALUE:
                self._given.setdefault(hash(request.given), []).append(request)
            sent = self._sent.get(hash(request.sdk_output), []) if request.operation == POST else []
            if sent and all(self._is_other(request.instrument, call.instrument) for _case, call in sent):
                self.misdelivered.append(model.Misdelivered(*sent[-1], request, "sdkOutput"))
        for call in calls:
            if (given := self.given_for(call)) and all(self._is_other(r.instrument, call.instrument) for r in given):
                self.misdelivered.append(model.Misdelivered(case, call, given[0], "sdkInput"))

    def of(self, calls: Sequence[PhoneCall]) -> tuple[Miss, ...]:
        """What these calls of one case show: another card's data, else an old answer."""
        misdelivered = [value for value in self.misdelivered if any(value.call is call for call in calls)]
        if misdelivered:
            return (Miss("each value at its own card", str(misdelivered[0]), OWN_CARD, "REL-4", root=Root.WRONG_CARD),)
        for call in calls:
            if (given := self.given_for(call)) and all(request.at < call.began for request in given):
                observed = f"the phone's {call.operation} got an sdkInput that the API gave before the call"
                return (Miss("an answer of the API to this call", observed, ASK_AGAIN, "REL-7", root=Root.OLD_ANSWER),)
        return ()

    def given_for(self, call: PhoneCall) -> list[Arrived]:
        """The answers of the API that held the call's sdkInput."""
        return self._given.get(hash(call.value), []) if call.value else []

    def _is_other(self, card: str, own: str) -> bool:
        return card != own and card in self._cards


def parts(secret: str, length: int) -> tuple[str, ...]:
    """Every part of a secret that has this length."""
    return tuple(secret[at : at + length] for at in range(max(1, len(secret) - length + 1)))


@lru_cache(maxsize=4)
def key_parts(key: str) -> Secrets:
    """The API key: `SHORTEST_PART` of its characters in a row count as the key, except dull ones such as dashes."""
    return Secrets.of_keys([key, *(part for part in parts(key, SHORTEST_PART) if not is_dull(part))])


def answer_text(call: PhoneCall, given: Collection[str] | None = None) -> str:
    """Everything the phone received, without the sdkInput; of a broken answer, what came.

    Args:
        call: whose answer.
        given: the sdkInputs that the API gave. A value that shares nothing with them is no sdkInput and is kept in the
            text. None takes every value for an sdkInput.
    """
    headers = "\n".join(f"{name}: {value}" for name, value in call.headers)
    body = (call.body or call.partial).decode("utf-8", "replace")
    if call.value and (given is None or any(_akin(call.value, value) for value in given)):
        body = body.replace(call.value, "").replace(json.dumps(call.value)[1:-1], "")
    return f"{headers}\n{body}" if headers or body else ""


def _akin(value: str, given: str) -> bool:
    """Whether a value, changed or not, shares a piece with what the API gave, as sent or base64-decoded."""
    inside = [(decode_strictly(text) or b"").decode("latin-1") for text in (value, given)]
    for own, whole in ((value, given), inside):
        starts = range(0, max(1, len(own) - PIECE + 1), max(1, len(own) // PIECE))
        if own and any(own[start : start + PIECE] in whole for start in starts):
            return True
    return False
