"""What must not leave the back end: the key, the API's address and words, and opaque data."""

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from workbook.simulation.faults import FAULT_DETAIL
from workbook.simulation.http import AFTER_ID
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.judging import (
    SHORTEST_PART,
    WORK,
    WORKS,
    all_of,
    answer_text,
    answered,
    key_parts,
    parts,
    works,
)
from workbook.tools.conform.back_end.model import (
    ATTEMPT,
    GET,
    POST,
    AppCall,
    CaseScript,
    Exposed,
    Judge,
    Need,
    Rest,
    Seen,
    both,
)
from workbook.tools.harness.model import Miss, Root

# This many consecutive characters of opaque data cannot match by chance.
LONGEST_OPAQUE = 24
HIDE_KEY = "Keep the key in the back end: it goes into no answer, no header and no error."
HIDE_ADDRESS = "Tell the app no addresses; the words of a library's exception hold them."


def no_key(seen: Seen) -> Iterator[Miss]:
    """The phone receives no part of the key."""
    for call in seen.calls:
        text = answer_text(call)
        if key_parts(seen.key).found_in(text):
            observed = f"{SHORTEST_PART} or more of its characters in a row in an answer"
            yield Miss("no part of the key in an answer", observed, HIDE_KEY, root=Root.KEY)


def no_host(seen: Seen) -> Iterator[Miss]:
    """The phone receives neither the API's address nor its port, which the words of a library's error hold."""
    port = re.compile(rf"\b{re.escape(seen.host.rpartition(':')[2])}\b")
    for call in seen.calls:
        text = answer_text(call)
        if seen.host in text or port.search(text):
            observed = f"the address in an answer with status {call.status}"
            yield Miss("no answer with the API's address", observed, HIDE_ADDRESS, harms=True)


def no_words(seen: Seen) -> Iterator[Miss]:
    """No answer repeats what the API said, and none shows the code of the back end (REL-9)."""
    todo = "Tell the app that it failed and when to try again; log the rest."
    # words that only the API says, and a part of its path: whoever reads them sees behind the back end
    of_the_api = (FAULT_DETAIL, "00_401", "00_500", "30_031", "<h1>502", AFTER_ID)
    # how a stack trace begins, or what its lines look like; anchored to lines, so that it takes linear time
    trace = r"(?m)Traceback \(most recent call last\)|^[ \t]+at (?:.+:\d+:\d+|\S+\(\w+\.java:\d+\))"
    for call in seen.calls:
        text = answer_text(call)
        if words := [word for word in of_the_api if word in text]:
            yield Miss("a neutral failure", f"the API's own words: {', '.join(words[:3])}", todo)
        elif re.search(trace, text):
            yield Miss("a neutral failure", "a stack trace", todo, harms=True)


def nowhere(secret: Exposed, todo: str, *own: str) -> Judge:
    """No answer of the run holds the secret; `own` cases look for it in their own answers, and are left out here."""

    def judge(seen: Seen) -> Iterator[Miss]:
        if not seen.run.answers:
            yield Miss("an answer to look at", "the phone got none", WORK, root=Root.FOLLOWS)
        exposures = [exposure for exposure in seen.run.exposures if exposure.secret is secret]
        if others := [exposure for exposure in exposures if exposure.case not in own]:
            more = f", and in {len(others) - 1} more of them" if others[1:] else ""
            observed = f"{secret} in {others[0].where}, in {others[0].case}{more}"
            root = Root.KEY if secret is Exposed.KEY else Root.CASE
            yield Miss(f"no answer with {secret}", observed, todo, harms=True, root=root)

    return judge


def session_stays(seen: Seen) -> Iterator[Miss]:
    """A session that reaches the API is only noted: no rule forbids that."""
    if not seen.run.requests:
        yield Miss("a request to look at", "none reached the API", WORK, root=Root.FOLLOWS)
    places = Counter(exposure.where for exposure in seen.run.exposures if exposure.secret is Exposed.SESSION)
    if places:
        observed = ", ".join(f"it in {where} ({count} times)" for where, count in places.most_common(3))
        todo = "Build each request to the API anew, without the app's headers: the session is for your back end alone."
        yield Miss("no cardholder's session in a request", observed, todo, noted=True)


def not_elsewhere(operation: str) -> Judge:
    """Nothing goes where the redirect pointed: a request with the key breaks REL-2, one without it API-1 or API-2."""
    todo = "Follow no redirect: the key would go along, and so would the sdkOutput."
    address_rule = "API-1" if operation == GET else "API-2"

    def judge(seen: Seen) -> Iterator[Miss]:
        for arrived in seen.arrived:
            if arrived.elsewhere and any(seen.key in value for _name, value in arrived.request.headers):
                yield Miss("nothing at another origin", "a request with the key", todo, root=Root.KEY)
            elif arrived.elsewhere:
                yield Miss("nothing at another origin", "a request without the key", todo, address_rule)
        if not seen.came(operation):
            yield Miss(
                f"a {operation} at the API, which redirects it",
                "none",
                WORK,
                root=Root.FOLLOWS,
            )

    return judge


def _in_the_log(seen: Seen, what: str, holds: Callable[[str], bool], todo: str) -> Iterator[Miss]:
    """Counts the lines that hold it, and names the first. A very long line comes in several pieces."""
    lines = list(dict.fromkeys((line.file, line.number) for line in seen.log if holds(line.text)))
    if lines:
        (file, number), more = lines[0], len(lines) - 1
        others = f", and in {more} more {'line' if more == 1 else 'lines'}" if more else ""
        observed = f"{what} in {file}, line {number}{others}"
        yield Miss(f"no {what} in the log", observed, todo, file=file, line=number)


def log_without_key(seen: Seen) -> Iterator[Miss]:
    """No line of a log holds so much of the key that the rest could be guessed (REL-2)."""
    todo = "Never log headers or settings whole; take x-api-key and the key out of whatever is logged."
    yield from _in_the_log(seen, "part of the key", lambda text: key_parts(seen.key).found_in(text) is not None, todo)


def log_without_opaque(seen: Seen) -> Iterator[Miss]:
    """No line of a log holds opaque data, neither as it travels nor as the text or the bytes inside (REL-3)."""
    # Each value is cut into every piece of a fixed length, and each line into the same: a lookup in a set for each
    # position of a line takes linear time, however many values a run has.
    values, length = (*seen.opaque(), *seen.run.values), LONGEST_OPAQUE
    ids = re.compile("|".join(sorted({re.escape(id_) for id_, _value in values if id_}, key=len, reverse=True)) or "$")
    pieces = {piece for _id, value in values for piece in telling_pieces(value, ids)}

    def holds(line: str) -> bool:
        texts = readings(line)
        return any(text[at : at + length] in pieces for text in texts for at in range(len(text) - length + 1))

    todo = "Log lengths, statuses and times; no body of the API or of the app."
    yield from _in_the_log(seen, "opaque data", holds, todo)


def readings(line: str) -> Iterator[str]:
    """A line of a log, and what it says in hexadecimal or in base64. What precedes a value may look like either."""
    yield line
    # An encoded value may begin anywhere in a run, because other characters of the same alphabet may precede it. So
    # the run is read from each position that gives other bytes: two in hexadecimal, four in base64.
    for run in re.findall(r"[0-9a-fA-F]{48,}", line):
        for at in range(2):
            yield bytes.fromhex(run[at : len(run) - (len(run) - at) % 2]).decode("utf-8", "ignore")
    for run in re.findall(r"[A-Za-z0-9+/_-]{32,}", line):
        for at in range(4):
            whole = run[at : len(run) - (len(run) - at) % 4]
            yield base64.b64decode(whole, altchars=b"-_" if {"-", "_"} & set(whole) else None).decode("utf-8", "ignore")


def telling_pieces(value: str, ids: re.Pattern[str]) -> Iterator[str]:
    """Every piece of a value's beginning that gives it away, as it travels and as the text inside.

    An id in that text is left out, because it may well be logged.
    """
    value = value[:200]
    forms = [value]
    try:
        inside = base64.b64decode(value[: len(value) // 4 * 4], validate=True).decode("utf-8", "ignore")
    except ValueError:
        inside = ""
    forms += ids.split(inside)
    for form in forms:
        for piece in parts(form, LONGEST_OPAQUE):
            # a line of dashes gives nothing away
            if len(piece) == LONGEST_OPAQUE and len(set(piece)) >= 4:
                yield piece


def logs_are_there(seen: Seen) -> Iterator[Miss]:
    """A log that was never written was not scanned either."""
    for name in seen.run.missing_logs:
        todo = "Under `logs`, name the files that the back end writes, and no others."
        yield Miss("the log files that the configuration names", f"there is no {name}", todo)


def refuses_certificate(seen: Seen) -> Iterator[Miss]:
    """No request leaves for an API whose certificate does not hold; before and after, everything works (REL-2)."""
    todo = "Verify the certificate of the API, its authority, its date and its host, and never switch that off."
    first, *bad, last = seen.calls
    for call in bad:
        if seen.during(call):
            yield Miss("no request at all", f"a {call.operation} with the key went to whoever answered", todo)
    yield from all_of(judging.no_success, answered)(replace(seen, calls=tuple(bad)))
    yield from all_of(works(GET), judging.recovers)(replace(seen, calls=(first, last)))


def not_through_the_proxy(seen: Seen) -> Iterator[Miss]:
    """HTTP libraries use the proxy of their environment unasked; without TLS it reads the key (REL-2)."""
    if not seen.run.requests:
        yield Miss("a request to look at", "none reached the API", WORK, root=Root.FOLLOWS)
    if seen.run.proxied:
        todo = (
            "Keep the HTTP client from taking a proxy from the environment, for example by trust_env=False. If you "
            "want the proxy, set [start] proxy = false."
        )
        yield Miss(
            "no connection through the proxy of the environment",
            f"{seen.run.proxied} connections went through it",
            todo,
        )


# A back end says most when something fails, so every kind of failure is provoked before the answers are searched.

# Answers that a careless back end passes on as they are, or as an exception's words.
API_FAILS = CaseScript(tuple(
    step for fault in ("401", "422", "500", "502", "redirect", "close", "sdkInput missing") for operation in (GET, POST)
    for step in (model.SetOrders((model.Order(operation, fault=fault),)), AppCall(operation))
))  # fmt: skip
WHOLE_RUN = CaseScript((), judges_run=True)


def _logged(script: CaseScript) -> CaseScript:
    """The same with time enough to write a log. The cases that scan it run alone, so its lines belong to them."""
    return CaseScript((*script.steps, Rest(0.2)), alone=True)


# The rows with `WHOLE_RUN` run last, when the back end has ended and its logs are complete: they judge what no single
# case saw.
_case = partial(model.relay_case, model.RelayGroup.SECRECY)
CASES = (
    _case("success.no-key", "An answer holds no part of the key.", "REL-2", all_of(WORKS, no_key), ATTEMPT),
    _case("failure.no-key", "A failure holds no part of the key.", "REL-2", all_of(answered, no_key), API_FAILS),
    _case("success.no-host", "An answer does not hold the API's address.", "REL-9", all_of(WORKS, no_host), ATTEMPT),
    _case("failure.no-host", "A failure does not hold the API's address.", "REL-9",
          all_of(answered, no_host), API_FAILS),
    _case("away.no-host", "While the API is away no answer holds its address.", "REL-9",
          all_of(answered, no_host), CaseScript((model.AWAY, *both(), model.BACK), alone=True)),
    _case("failure.no-words", "A failure does not repeat the API's words.", "REL-9",
          all_of(answered, no_words), API_FAILS),
    *(_case(f"{operation.lower()}.redirect-not-followed", f"A redirect of the {operation} is not followed.", "REL-2",
            not_elsewhere(operation),
            CaseScript(calls, (model.Order(operation, fault="redirect", settings={"status": 307}),), alone=True))
      for operation, calls in ((GET, both()[:1]), (POST, both()))),
    *(_case(f"tls.{identity.name.lower().replace('_', '-')}",
            f"Nothing is sent to an API that presents a certificate {identity.value}.", "REL-2", refuses_certificate,
            CaseScript((AppCall(GET), model.Present(identity), *both(), model.BACK, Rest(), AppCall(GET)),
                       alone=True), Need.API_TLS)
      for identity in model.Identity if identity is not model.Identity.OWN),
    _case("log.no-key", "The log holds no part of the key.", "REL-2",
          all_of(WORKS, log_without_key), _logged(ATTEMPT), Need.LOGS),
    _case("log.no-key-on-failure", "The log holds no part of the key when the API refuses.", "REL-2",
          all_of(answered, log_without_key), _logged(API_FAILS), Need.LOGS),
    _case("log.no-opaque-data", "The log holds no opaque data.", "REL-3",
          all_of(WORKS, log_without_opaque), _logged(ATTEMPT), Need.LOGS),
    _case("log.no-opaque-data-on-failure", "The log holds no opaque data when the API refuses.", "REL-3",
          all_of(answered, log_without_opaque), _logged(API_FAILS), Need.LOGS),
    _case("log.no-key-ever", "Beyond the cases above, no line of the log holds part of the key.",
          "REL-2", all_of(log_without_key, logs_are_there), WHOLE_RUN, Need.LOGS),
    _case("log.no-opaque-data-ever", "No other line of the log holds any opaque data of the whole run.", "REL-3",
          all_of(log_without_opaque, logs_are_there), WHOLE_RUN, Need.LOGS),
    _case("answer.no-key-ever", "No other answer of the whole run holds part of the key.", "REL-2",
          nowhere(Exposed.KEY, HIDE_KEY, "relay.success.no-key", "relay.failure.no-key"), WHOLE_RUN),
    _case("answer.no-host-ever", "No other answer of the whole run holds the API's address.", "REL-9",
          nowhere(Exposed.HOST, HIDE_ADDRESS, "relay.success.no-host", "relay.failure.no-host", "relay.away.no-host"),
          WHOLE_RUN),
    _case("upstream.no-session-ever", "No request at the API holds a cardholder's session; one that does is noted.",
          "REL-4", session_stays, WHOLE_RUN, Need.SESSIONS),
    _case("proxy.not-used", "No request goes through the proxy that the environment names.", "REL-2",
          not_through_the_proxy, WHOLE_RUN, Need.PROXY),
)  # fmt: skip
