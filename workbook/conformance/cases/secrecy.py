"""What must not get out: the key, the API's address and words, and opaque data."""

from __future__ import annotations

import base64
import re
from collections import Counter
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, answered, works
from workbook.conformance.script import GET, POST, Ask, Down, Now, Order, Rest, Script, Up, both
from workbook.conformance.verdict import Miss
from workbook.conformance.watch import SHORTEST_PART, Secret, answer_text, parts
from workbook.simulation.faults_http import TOLD
from workbook.simulation.http import AFTER_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.logs import Line
    from workbook.conformance.script import Step
    from workbook.conformance.seen import Seen

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
HEXADECIMAL, BASE64 = re.compile(r"(?:[0-9a-fA-F]{2}){24,}"), re.compile(r"[A-Za-z0-9+/_-]{32,}")
"""Runs of a log's line that may hold opaque data in another form: as much of it as gives it away."""
TRACES = re.compile(r"Traceback \(most recent call last\)|\n\s+at .+:\d+:\d+|\n\s+at \S+\(\w+\.java:\d+\)")
"""How a stack trace begins, or what its lines look like."""


def _no_key(seen: Seen) -> Iterator[Miss]:
    """No part of the key stands on the phone's side."""
    told = parts(seen.key, SHORTEST_PART)
    for call in seen.calls:
        if any(part in answer_text(call) for part in told):
            yield Miss("nothing of the key", f"{SHORTEST_PART} characters of it or more in an answer", KEY)


def _no_host(seen: Seen) -> Iterator[Miss]:
    """Neither the API's address nor its port stands on the phone's side, as a library's error words have it."""
    port = re.compile(rf"\b{re.escape(seen.host.rpartition(':')[2])}\b")
    for call in seen.calls:
        if seen.host in answer_text(call) or port.search(answer_text(call)):
            yield Miss("nothing of the API's address", f"it stands in an answer with status {call.status}", HOST)


def _no_words(seen: Seen) -> Iterator[Miss]:
    for call in seen.calls:
        if found := [word for word in WORDS if word in answer_text(call)]:
            yield Miss("a neutral failure", f"the API's own words: {', '.join(found[:3])}", NEUTRAL)
        elif TRACES.search(answer_text(call)):
            yield Miss("a neutral failure", "a stack trace", NEUTRAL)


def _in_the_log(log: Iterable[Line], holds: Callable[[str], bool], todo: str) -> Iterator[Miss]:
    """Every line that holds it is counted, and the first is named."""
    if found := [line for line in log if holds(line.text)]:
        first, more = found[0], len(found) - 1
        others = f", and in {more} more {'line' if more == 1 else 'lines'}" if more else ""
        yield Miss("nothing of it in the log", f"it stands in {first.file}, line {first.number}{others}", todo)


def _log_without_key(seen: Seen) -> Iterator[Miss]:
    todo = "Never log headers or settings whole; take x-api-key and the key out of whatever is logged."
    told = parts(seen.key, SHORTEST_PART)
    yield from _in_the_log(seen.log, lambda text: any(part in text for part in told), todo)


def _log_without_opaque(seen: Seen) -> Iterator[Miss]:
    todo = "Log lengths, statuses and times; no body of the API or of the app."
    told, length = (*seen.opaque(), *seen.values), LONGEST_OPAQUE
    ids = re.compile("|".join(sorted({re.escape(id_) for id_, _value in told if id_}, key=len, reverse=True)) or "$")
    pieces = {piece for _id, value in told for piece in _pieces(value, ids)}

    def holds(line: str) -> bool:
        texts = _readings(line)
        return any(text[at : at + length] in pieces for text in texts for at in range(len(text) - length + 1))

    yield from _in_the_log(seen.log, holds, todo)


def _readings(line: str) -> Iterator[str]:
    """A line of a log, and what it says where it says it in hexadecimal or in base64."""
    yield line
    for run in HEXADECIMAL.findall(line):
        yield bytes.fromhex(run).decode("utf-8", "ignore")
    for run in BASE64.findall(line):
        for at in range(4):  # what stands before it may look like base64 too
            whole = run[at : len(run) - (len(run) - at) % 4]
            yield base64.b64decode(whole, altchars=b"-_" if {"-", "_"} & set(whole) else None).decode("utf-8", "ignore")


def _pieces(value: str, ids: re.Pattern[str]) -> Iterator[str]:
    """Every piece of a value's beginning that gives it away, as it travels and as the text that it may hold."""
    for form in _forms(value[:BEGINNING], ids):
        for piece in parts(form, LONGEST_OPAQUE):
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


def _nowhere(secret: Secret, owners: frozenset[str], todo: str) -> Judge:
    """No answer of the run has it, apart from those that another case looks at for the same."""

    def judge(seen: Seen) -> Iterator[Miss]:
        if not seen.watched.answers:
            yield Miss("an answer to look at", "the phone got none", "Make the plain case work first.")
        places = [one for one in seen.watched.found if one.secret is secret and one.case not in owners]
        if places:
            more = f", and in {len(places) - 1} more of them" if places[1:] else ""
            observed = f"it stands in {places[0].where}, in {places[0].case}{more}"
            yield Miss("nothing of it in any answer", observed, todo)

    return judge


def _session_stays(seen: Seen) -> Iterator[Miss]:
    """No rule says that it may not leave: only noted."""
    if not seen.watched.requests:
        yield Miss("a request to look at", "none reached the API", "Make the plain case work first.")
    places = Counter(one.where for one in seen.watched.found if one.secret is Secret.SESSION)
    if places:
        observed = ", ".join(f"{where} ({count} times)" for where, count in places.most_common(3))
        todo = "Make the API's requests anew, and take nothing of the app's headers over: the session is yours alone."
        yield Miss("nothing of a cardholder's session in a request", f"it stands in {observed}", todo, noted=True)


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


LOOKING = {
    "key": frozenset({"relay.success.no-key", "relay.failure.no-key"}),
    "host": frozenset({"relay.success.no-host", "relay.failure.no-host", "relay.away.no-host"}),
}
"""The cases that look for the same in their own answers, which nobody is blamed for twice."""


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
    _case("answer.no-key-ever", "No other answer of the whole run holds part of the key.", "REL-2",
          _nowhere(Secret.KEY, LOOKING["key"], KEY), WHOLE),
    _case("answer.no-host-ever", "No other answer of the whole run tells the API's address.", "REL-9",
          _nowhere(Secret.HOST, LOOKING["host"], HOST), WHOLE),
    _case("upstream.no-session-ever", "No request at the API holds a cardholder's session; one that does is noted.",
          "API-4", _session_stays, WHOLE, Need.SESSIONS),
)  # fmt: skip
