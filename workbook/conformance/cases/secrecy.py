"""What must not get out: the key, the API's address and words, and opaque data."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, answered, works
from workbook.conformance.script import GET, POST, Ask, Down, Now, Order, Rest, Script, Up, both
from workbook.conformance.verdict import Miss
from workbook.simulation.faults_http import TOLD
from workbook.simulation.http import AFTER_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.logs import Line
    from workbook.conformance.script import Step
    from workbook.conformance.seen import Call, Seen

SHORTEST_PART = 8
"""As many characters of the key in a row give it away."""
LONGEST_OPAQUE = 24
"""As many characters of opaque data in a row are more than chance."""
BEGINNING = 200
"""So many characters of each value are looked for in the log."""
VARIETY = 4
"""Different characters that a piece has at least: a line of dashes gives nothing away."""
WORDS = (
    TOLD,
    "00_401",
    "00_500",
    "30_031",
    "<h1>502",
    AFTER_ID,
)
"""What only the API says, or its address; who can read it can look behind the back end (REL-9)."""
TRACES = re.compile(r"Traceback \(most recent call last\)|\n\s+at .+:\d+:\d+|\n\s+at \S+\(\w+\.java:\d+\)")
"""How a stack trace begins, or what its lines look like."""


def _parts(secret: str, length: int) -> tuple[str, ...]:
    return tuple(secret[at : at + length] for at in range(max(1, len(secret) - length + 1)))


def _side(call: Call) -> str:
    """Everything that the phone was told, except the value that belongs there."""
    headers = "\n".join(f"{name}: {value}" for name, value in call.headers)
    body = call.body.decode("utf-8", "replace")
    for value in (call.value, json.dumps(call.value)[1:-1]) if call.value else ():
        body = body.replace(value, "")
    return f"{headers}\n{body}"


def _no_key(seen: Seen) -> Iterator[Miss]:
    """No part of the key stands on the phone's side."""
    parts = _parts(seen.key, SHORTEST_PART)
    for call in seen.calls:
        if any(part in _side(call) for part in parts):
            yield Miss("nothing of the key", f"{SHORTEST_PART} characters of it or more in an answer", KEY)


def _no_host(seen: Seen) -> Iterator[Miss]:
    """Neither the API's address nor its port stands on the phone's side, as a library's error words have it."""
    port = re.compile(rf"\b{re.escape(seen.host.rpartition(':')[2])}\b")
    for call in seen.calls:
        if seen.host in _side(call) or port.search(_side(call)):
            yield Miss("nothing of the API's address", f"it stands in an answer with status {call.status}", HOST)


def _no_words(seen: Seen) -> Iterator[Miss]:
    for call in seen.calls:
        if found := [word for word in WORDS if word in _side(call)]:
            yield Miss("a neutral failure", f"the API's own words: {', '.join(found[:3])}", NEUTRAL)
        elif TRACES.search(_side(call)):
            yield Miss("a neutral failure", "a stack trace", NEUTRAL)


def _in_the_log(log: Iterable[Line], holds: Callable[[str], bool], todo: str) -> Iterator[Miss]:
    """Every line that holds it is counted, and the first is named."""
    if found := [line for line in log if holds(line.text)]:
        first, more = found[0], len(found) - 1
        others = f", and in {more} more {'line' if more == 1 else 'lines'}" if more else ""
        yield Miss("nothing of it in the log", f"it stands in {first.file}, line {first.number}{others}", todo)


def _log_without_key(seen: Seen) -> Iterator[Miss]:
    todo = "Never log headers or settings whole; take x-api-key and the key out of whatever is logged."
    parts = _parts(seen.key, SHORTEST_PART)
    yield from _in_the_log(seen.log, lambda text: any(part in text for part in parts), todo)


def _log_without_opaque(seen: Seen) -> Iterator[Miss]:
    todo = "Log lengths, statuses and times; no body of the API or of the app."
    told, length = (*seen.opaque(), *seen.values), LONGEST_OPAQUE
    ids = re.compile("|".join(sorted({re.escape(id_) for id_, _value in told if id_}, key=len, reverse=True)) or "$")
    parts = {part for _id, value in told for part in _pieces(value, ids)}

    def holds(text: str) -> bool:
        return any(text[at : at + length] in parts for at in range(len(text) - length + 1))

    yield from _in_the_log(seen.log, holds, todo)


def _pieces(value: str, ids: re.Pattern[str]) -> Iterator[str]:
    """Every piece of a value's beginning that gives it away, as it travels and as the text that it may hold."""
    for form in _forms(value[:BEGINNING], ids):
        for piece in _parts(form, LONGEST_OPAQUE):
            if len(piece) == LONGEST_OPAQUE and len(set(piece)) >= VARIETY:
                yield piece


def _forms(value: str, ids: re.Pattern[str]) -> Iterator[str]:
    """An opaque value as it travels, and what it holds where that is text; an id in it may well be logged."""
    yield value
    try:
        text = base64.b64decode(value[: len(value) // 4 * 4], validate=True).decode("utf-8", "ignore")
    except ValueError:
        return
    yield from ids.split(text)


def _logs_are_there(seen: Seen) -> Iterator[Miss]:
    """A log that was never written was not scanned either."""
    for name in seen.missing:
        todo = "Name the files that the back end writes in logs, or leave out what it does not write."
        yield Miss("the log files that the configuration names", f"there is no {name}", todo)


def _not_elsewhere(operation: str) -> Judge:
    """Nothing goes where the redirect pointed: with the key it breaks REL-2, and without it still the address."""

    def judge(seen: Seen) -> Iterator[Miss]:
        todo = "Follow no redirect: the key would go along, and so would the sdkOutput."
        for one in (one for one in seen.arrived if one.elsewhere):
            if any(seen.key in value for _name, value in one.request.headers):
                yield Miss("nothing at another origin", "a request with the key", todo)
            else:
                rule = "API-1" if operation == GET else "API-2"
                yield Miss("nothing at another origin", "a request without the key", todo, rule)
        if not seen.came(operation):
            yield Miss(f"a {operation} at the API, which redirects it", "none", "Make the plain case work first.")

    return judge


BREACHES = ("401", "422", "500", "502", "redirect", "close", "sdkInput missing")
"""Answers that a careless back end passes on as they are, or as an exception's words."""
WORKS = all_of(works(GET), works(POST))
ATTEMPT = Script(both())
REFUSED = Script(tuple(step for one in BREACHES for operation in (GET, POST)
                       for step in (Now((Order(operation, fault=one),)), Ask(operation))))  # fmt: skip
WRITTEN = Rest(0.2)
"""As long as it takes a log to be written."""
ATTEMPT_ALONE = Script((*ATTEMPT.steps, WRITTEN), alone=True)
"""What is logged meanwhile is nobody else's."""
REFUSED_ALONE = Script((*REFUSED.steps, WRITTEN), alone=True)
WHOLE = Script((), whole=True)
AWAY = Script((Down(), Ask(GET), Ask(POST), Up()), alone=True)


def _redirected(operation: str) -> Script:
    steps: tuple[Step, ...] = (Ask(GET),) if operation == GET else both()
    return Script(steps, (Order(operation, fault="redirect", settings={"status": 307}),), alone=True)


KEY = "Keep the key in the back end: it goes into no answer, no header and no error."
HOST = "Tell the app no addresses; the words of a library's exception hold them."
NEUTRAL = "Tell the app that it failed and when to try again; log the rest."


def _case(name: str, says: str, rule: str, judge: Judge, script: Script, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, rule, Group.SECRECY, script, judge, frozenset(needs))


CASES = (
    _case("success.no-key", "An answer holds no part of the key.", "REL-2",
          all_of(WORKS, _no_key), ATTEMPT),
    _case("failure.no-key", "A failure holds no part of the key.", "REL-2", all_of(answered, _no_key), REFUSED),
    _case("success.no-host", "An answer does not tell the API's address.", "REL-9", all_of(WORKS, _no_host), ATTEMPT),
    _case("failure.no-host", "A failure does not tell the API's address.", "REL-9",
          all_of(answered, _no_host), REFUSED),
    _case("away.no-host", "While the API is away no answer tells its address.", "REL-9",
          all_of(answered, _no_host), AWAY),
    _case("failure.no-words", "A failure does not repeat the API's words.", "REL-9",
          all_of(answered, _no_words), REFUSED),
    _case("get.redirect-not-followed", "A redirect of the GET is not followed.", "REL-2", _not_elsewhere(GET),
          _redirected(GET)),
    _case("post.redirect-not-followed", "A redirect of the POST is not followed.", "REL-2", _not_elsewhere(POST),
          _redirected(POST)),
    _case("log.no-key", "The log holds no part of the key.", "REL-2",
          all_of(WORKS, _log_without_key), ATTEMPT_ALONE, Need.LOGS),
    _case("log.no-key-on-failure", "The log holds no part of the key when the API refuses.", "REL-2",
          all_of(answered, _log_without_key), REFUSED_ALONE, Need.LOGS),
    _case("log.no-opaque-data", "The log holds no opaque data.", "REL-3",
          all_of(WORKS, _log_without_opaque), ATTEMPT_ALONE, Need.LOGS),
    _case("log.no-opaque-data-on-failure", "The log holds no opaque data when the API refuses.", "REL-3",
          all_of(answered, _log_without_opaque), REFUSED_ALONE, Need.LOGS),
    _case("log.no-key-ever", "From before the first call to the end, no other line of the log holds part of the key.",
          "REL-2", all_of(_log_without_key, _logs_are_there), WHOLE, Need.LOGS),
    _case("log.no-opaque-data-ever", "No other line of the log holds any opaque data of the whole run.", "REL-3",
          all_of(_log_without_opaque, _logs_are_there), WHOLE, Need.LOGS),
)  # fmt: skip
