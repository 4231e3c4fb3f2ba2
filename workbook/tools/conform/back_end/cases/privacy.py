"""Who may see what: key, address and opaque data stay where they belong, and no call gets another card's data."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from workbook.simulation.faults import FAULT_DETAIL
from workbook.simulation.http import AFTER_ID
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.judging import WORK, all_of, answer_text, answered, describe_ending, works
from workbook.tools.conform.back_end.model import GET, POST, AppCall, CaseScript, Need, Order, Seen, Together, both
from workbook.tools.harness.model import Miss, Root

# This many consecutive characters of opaque data cannot match by chance. A line that holds so many holds a piece of
# half of them that begins at a multiple of the other half, so that few of its pieces have to be looked up.
LONGEST_OPAQUE = 24
STRIDE = LONGEST_OPAQUE // 2
PIECE = LONGEST_OPAQUE - STRIDE + 1
HIDE_KEY = "Keep the key in the back end: it goes into no answer, no header and no error."
HIDE_ADDRESS = "Tell the app no addresses; the words of a library's exception hold them."


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


def nowhere(secret: model.Exposed, todo: str) -> model.Judge:
    """No answer of the run holds the secret, whatever case it belongs to."""

    def judge(seen: Seen) -> Iterator[Miss]:
        if not seen.run.answers:
            yield Miss("an answer to look at", "the phone got none", WORK, root=Root.FOLLOWS)
        if exposures := [exposure for exposure in seen.run.exposures if exposure.secret is secret]:
            more = f", and in {len(exposures) - 1} more of them" if exposures[1:] else ""
            observed = f"{secret} in {exposures[0].where}, in {exposures[0].case}{more}"
            root = Root.KEY if secret is model.Exposed.KEY else Root.CASE
            yield Miss(f"no answer with {secret}", observed, todo, harms=True, root=root)

    return judge


def not_elsewhere(operation: str) -> model.Judge:
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
            yield Miss(f"a {operation} at the API, which redirects it", "none", WORK, root=Root.FOLLOWS)

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
    key = judging.key_parts(seen.key)
    yield from _in_the_log(seen, "part of the key", lambda text: key.found_in(text) is not None, todo)


def log_without_opaque(seen: Seen) -> Iterator[Miss]:
    """No line of a log holds opaque data, neither as it travels nor as the text or the bytes inside (REL-3)."""
    # Each value is cut into every piece of a fixed length: lookups in a set take linear time, however many values a run
    # has.
    values = (*seen.opaque(), *seen.run.values)
    ids = re.compile("|".join(sorted({re.escape(id_) for id_, _value in values if id_}, key=len, reverse=True)) or "$")
    pieces = {piece for _id, value in values for piece in telling_pieces(value, ids)}

    def gives_away(text: str) -> bool:
        # a line of dashes gives nothing away
        varied = len(text) == LONGEST_OPAQUE and len(set(text)) >= 4
        return varied and all(piece in pieces for piece in judging.parts(text, PIECE))

    def holds(line: str) -> bool:
        return any(
            text[at : at + PIECE] in pieces
            and any(
                gives_away(text[start : start + LONGEST_OPAQUE]) for start in range(max(0, at - STRIDE + 1), at + 1)
            )
            for text in readings(line)
            for at in range(0, len(text) - PIECE + 1, STRIDE)
        )

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
        yield from judging.parts(form, PIECE) if len(form) >= LONGEST_OPAQUE else ()


def logs_are_there(seen: Seen) -> Iterator[Miss]:
    """A log that was never written was not scanned either."""
    for name in seen.run.missing_logs:
        todo = "Under `logs`, name the files that the back end writes, and no others."
        yield Miss("the log files that the configuration names", f"there is no {name}", todo)
    if names := ", ".join(seen.run.unnamed_logs):
        todo = "If it is a log, name it (logs, at the top of the configuration): it was not read."
        yield Miss("no file beside the command that grows and is not named", names, todo, noted=True)


def refuses_certificate(seen: Seen) -> Iterator[Miss]:
    """No request leaves for an API whose certificate does not hold; before and after, everything works (REL-2)."""
    todo = "Verify the certificate of the API, its authority, its date and its host, and never switch that off."
    first, *bad, last = seen.calls
    for call in bad:
        if seen.during(call):
            yield Miss("no request at all", f"a {call.operation} with the key went to whoever answered", todo)
    yield from all_of(judging.no_success, answered)(replace(seen, calls=tuple(bad)))
    yield from all_of(works(GET), judging.recovers)(replace(seen, calls=(first, last)))


# A back end says most when something fails, so every kind of failure is provoked before the answers are searched.

# Answers that a careless back end passes on as they are, or as an exception's words.
API_FAILS = CaseScript((
    *(step
      for fault in ("401", "422", "500", "502", "redirect", "close", "sdkInput missing") for operation in (GET, POST)
      for step in (model.SetOrders((model.Order(operation, fault=fault),)), AppCall(operation))),
    model.Rest(0.2),  # time to write a log
), alone=True)  # fmt: skip
WHOLE_RUN = CaseScript((), judges_run=True)


# The rows with `WHOLE_RUN` run last, when the back end has ended and its logs are complete: they judge what no single
# case saw.
_secret = partial(model.back_end_case, model.BackEndGroup.SECRECY)
SECRECY = (
    _secret("failure.no-words", "A failure does not repeat the API's words.", "REL-9",
            all_of(answered, no_words), API_FAILS),
    *(_secret(f"{operation.lower()}.redirect-not-followed", f"A redirect of the {operation} is not followed.", "REL-2",
              not_elsewhere(operation),
              CaseScript(calls, (model.Order(operation, fault="redirect", settings={"status": 307}),)))
      for operation, calls in ((GET, both()[:1]), (POST, both()))),
    *(_secret(f"tls.{identity.name.lower().replace('_', '-')}",
              f"Nothing is sent to an API that presents a certificate {identity.value}.", "REL-2", refuses_certificate,
              CaseScript((AppCall(GET), model.Present(identity), *both(), model.BACK, model.Rest(), AppCall(GET)),
                         alone=True), Need.API_TLS)
      for identity in model.Identity if identity is not model.Identity.OWN),
    _secret("log.no-key-ever", "No line of the log of the whole run holds part of the key.",
            "REL-2", all_of(log_without_key, logs_are_there), WHOLE_RUN, Need.LOGS),
    _secret("log.no-opaque-data-ever", "No line of the log holds any opaque data of the whole run.", "REL-3",
            all_of(log_without_opaque, logs_are_there), WHOLE_RUN, Need.LOGS),
    _secret("answer.no-key-ever", "No answer of the whole run holds part of the key.", "REL-2",
            nowhere(model.Exposed.KEY, HIDE_KEY), WHOLE_RUN),
    _secret("answer.no-host-ever", "No answer of the whole run holds the API's address.", "REL-9",
            nowhere(model.Exposed.HOST, HIDE_ADDRESS), WHOLE_RUN),
)  # fmt: skip


def own_only(seen: Seen) -> Iterator[Miss]:
    """Each card's data reaches the calls for that card and no others."""
    for call in seen.calls:
        own = {arrived.given for arrived in seen.came(call.operation) if arrived.instrument == call.instrument}
        if call.value and call.value not in own:
            others = {arrived.given for arrived in seen.came(call.operation)}
            todo = "Keep everything of a call in that call: no shared variable, no cache without the card in its key."
            observed, todo = judging.source_of(call.value, seen), todo if call.value in others else judging.HAND_ON
            yield Miss("its own card's sdkInput", observed, todo, root=Root.FOLLOWS)
    for arrived in seen.came(POST):
        if arrived.sdk_output not in {call.sent for call in seen.calls if call.instrument == arrived.instrument}:
            todo = "Keep everything of a call in that call: card and sdkOutput come from the same request."
            yield Miss("the sdkOutput of the card in the path", "another card's", todo)


def refused(seen: Seen) -> Iterator[Miss]:
    """A call that is not entitled is refused, and the API is not even asked."""
    todo = "Check session and card before the API is asked, and refuse."
    for call in seen.calls:
        if not judging.refuses(call):
            yield Miss("a refusal", describe_ending(call), todo)
    for arrived in seen.arrived:
        if arrived.operation:
            yield Miss("no request at the API", f"a {arrived.request.method} reached the API", todo)


def fresh(operation: str) -> model.Judge:
    """No answer of the API is handed out a second time."""

    def judge(seen: Seen) -> Iterator[Miss]:
        values = [call.value for call in seen.asked(operation) if call.value]
        if len(set(values)) < len(values):
            yield Miss("a new sdkInput for each attempt", "the same twice", judging.ASK_AGAIN)
        if not values:
            yield Miss("a success", describe_ending(seen.calls[0]), WORK, root=Root.FOLLOWS)

    return judge


def asked_each_time(seen: Seen) -> Iterator[Miss]:
    """An sdkOutput that comes again is answered by the API, or refused; no stored answer replaces the API's."""
    lucky, came = [call for call in seen.asked(POST) if call.succeeded], seen.came(POST)
    if not lucky:
        yield Miss("a success", describe_ending(seen.asked(POST)[0]), WORK, root=Root.FOLLOWS)
    elif len(lucky) > len(came):
        todo = "Send each POST of the app on, or refuse it; keep nothing of the API's answers in the back end."
        observed = f"{len(came)}, and an answer that came without the API"
        yield Miss(f"{len(lucky)} POST requests at the API", observed, todo)


def not_cacheable(seen: Seen) -> Iterator[Miss]:
    """No cache between back end and phone is allowed to keep an answer.

    Only two directives allow that by themselves: they say for how many seconds.
    """
    fresh_for = r"(?<![a-z-])(?:s-maxage|max-age)\s*=\s*[\"']?0*([1-9][0-9]*)"
    for call in seen.asked(GET):
        headers = {name.lower(): value.lower() for name, value in call.headers}
        kept = re.search(fresh_for, headers.get("cache-control", ""))
        if kept and "no-store" not in headers["cache-control"]:
            todo = (
                "Say cache-control: no-store, or nothing about caching. A second attempt within that time gets the "
                "first one's sdkInput out of the phone's own cache (RFC 9111), and your back end never hears of it."
            )
            # a cache that all cardholders share may then answer without asking who it is (RFC 9111, 3.5)
            shared = re.search(r"\bpublic\b|\bs-maxage\b", headers["cache-control"]) is not None
            observed = f"an answer that {'any cache' if shared else 'a phone'} may use again for {kept[1]} s"
            yield Miss("an answer for one attempt", observed, todo, "REL-4" if shared else "")


def own_data_each(seen: Seen) -> Iterator[Miss]:
    """Two phones that ask at the same moment are two attempts, and each needs activation data of its own (REL-7)."""
    values = [call.value for call in seen.calls if call.value]
    if len(values) < len(seen.calls):
        yield from works(GET)(seen)
    elif len(set(values)) < len(values):
        todo = "Ask the API for each call. Calls under way may share a public page, but never activation data."
        observed = f"{len(set(values))}, shared by calls under way together"
        yield Miss(f"{len(values)} different sdkInputs", observed, todo)


def nothing_kept_for_another(seen: Seen) -> Iterator[Miss]:
    """An sdkOutput that another cardholder sends is never answered with what the first one got (REL-4)."""
    first, other = seen.asked(POST)
    if not first.succeeded:
        yield Miss("a success", describe_ending(first), WORK, root=Root.FOLLOWS)
    elif other.value is not None and other.value == first.value:
        todo = "Keep no answer of the API. If you keep anything, put the card and its owner into its key."
        yield Miss("nothing of the first cardholder's card", "the sdkInput that the first cardholder got", todo)


def at_its_own_card(seen: Seen) -> Iterator[Miss]:
    """Over the whole run, whatever a case is about: each value reaches the card that it was made for, and no other."""
    if not seen.run.requests:
        yield Miss("a request to look at", "none reached the API", WORK, root=Root.FOLLOWS)
    if misdelivered := seen.run.misdelivered:
        more = f"; {len(misdelivered) - 1} more values went astray" if misdelivered[1:] else ""
        observed = f"in {misdelivered[0].case} {misdelivered[0]}{more}"
        # what only a call with a second id shows follows from that case
        alone = all(value.call.tamper is not None for value in misdelivered)
        root = Root.FOLLOWS if alone else Root.WRONG_CARD
        yield Miss("each value at its own card", observed, judging.OWN_CARD, root=root)


def _same_value(canary: str) -> str:
    """A value that is the same for every call of the case, and valid for either platform."""
    return base64.b64encode(f"{canary.rpartition('-')[0]} of which there is one".encode()).decode()


def _names_another(path: str, body: bytes | None, call: model.PhoneCall) -> tuple[str, bytes | None]:
    """The call names its own card, and in further fields or in the query also another cardholder's card.

    Frameworks that merge path, query and body into one set of parameters let one of them win after the check. The other
    id comes before the app's own fields, in each object of the body: whoever looks beside the sdkOutput finds it.
    """
    # names under which a back end may look for a card's id, although its app sends none of them
    names = ("id", "cardId", "card_id", "card", "paymentInstrumentId", "instrumentId", "instrument")
    others = dict.fromkeys(names, call.other)
    if call.operation == GET:
        path += f"{'&' if '?' in path else '?'}{urlencode(others)}"
    return path, body and json.dumps(json.loads(body, object_hook=lambda own: {**others, **own})).encode()


def no_other_card(seen: Seen) -> Iterator[Miss]:
    """Whatever a call names besides, nothing is asked or answered for another cardholder's card (REL-4)."""
    (call,) = seen.calls
    todo = "Take the id from one place, check that the card is the cardholder's own, and use that very variable."
    for arrived in seen.arrived:
        if arrived.instrument and arrived.instrument != call.instrument:
            yield Miss("a request for the cardholder's own card, or none", "one for another cardholder's card", todo)


# Numbers of calls at the same time. A variable that two calls share shows only while both are under way: each of many
# calls for few cards overtakes others many times. No value is used twice, so one at a wrong card gives itself away.
CROWD = range(12)


def _cut(card: str) -> str:
    return card[:-1] or f"{card}0"


# A call that is not entitled must not reach the API either. So these cases run alone, and any request is a miss.
_apart = partial(model.back_end_case, model.BackEndGroup.ISOLATION)
ISOLATION = (
    *(_apart(f"{operation.lower()}.crowd", f"Many {operation}s at once each get their own card's data.", "REL-4",
             all_of(judging.one_works(operation), own_only),
             CaseScript((Together(tuple(AppCall(operation, card=number % 3) for number in CROWD)),), cards=3),
             Need.SEVERAL_CARDS)
      for operation in (GET, POST)),
    *(_apart(f"{operation.lower()}.two-cardholders", f"Two cardholders{whose} at once each get their own card's data.",
             "REL-4", all_of(judging.one_works(operation), own_only),
             CaseScript((Together(tuple(AppCall(operation, cardholder=at % 2, own=True) for at in CROWD)),),
                    alone=True), Need.TWO_CARDHOLDERS)
      for operation, whose in ((GET, ""), (POST, "' POSTs"))),
    *(_apart(f"{operation.lower()}.{who}", f"A {operation} with {words} is refused before the API is asked.", "REL-4",
             all_of(refused, answered), CaseScript((AppCall(operation, cardholder=cardholder),), alone=True),
             Need.SESSIONS, need)
      for operation in (GET, POST) for who, words, cardholder, need in (
           ("other-cardholder", "another cardholder's session", 1, Need.OTHER_SESSION),
           ("no-session", "no session", -1, Need.SESSIONS),
           ("forged-session", "a session that does not exist", -2, Need.SESSIONS),
      )),
    # a check such as `startswith`, LIKE or `in` takes a part of an id for the id
    _apart("attempt.part-of-id", "An id without its last character is not taken for the cardholder's own.", "REL-4",
           all_of(refused, answered), CaseScript(tuple(replace(call, instrument=_cut) for call in both()), alone=True),
           Need.SESSIONS),
    _apart("get.id-in-query", "A second id in the query of the GET never leads to another cardholder's card.", "REL-4",
           all_of(no_other_card, answered), CaseScript((AppCall(GET, tamper=_names_another),), alone=True),
           Need.TWO_CARDHOLDERS),
    _apart("post.id-in-body", "A second id in the body of the POST never leads to another cardholder's card.", "REL-4",
           all_of(no_other_card, answered), CaseScript((AppCall(POST, tamper=_names_another),), alone=True),
           Need.JSON_BODY, Need.TWO_CARDHOLDERS),
    _apart("post.same-by-another", "Another cardholder with the same sdkOutput gets nothing of the first card.",
           "REL-4", nothing_kept_for_another,
           CaseScript((*both(output=_same_value), AppCall(POST, cardholder=1, own=True, output=_same_value)),
                      (Order(POST, value=_same_value),), alone=True), Need.TWO_CARDHOLDERS),
    _apart("get.at-once", "Two GETs for one card at the same moment each get their own data.", "REL-7", own_data_each,
           CaseScript((Together((AppCall(GET), AppCall(GET))),),
                      (Order(GET, fault="latency", settings={"seconds": 0.3}),))),
    _apart("get.fresh", "Each GET of the app gets new activation data.", "REL-7", all_of(works(GET), fresh(GET)),
           CaseScript((AppCall(GET), model.Rest(0.05), AppCall(GET)))),
    _apart("get.not-cacheable", "No answer of the GET may be cached on its way to the phone.", "REL-7",
           all_of(works(GET), not_cacheable), CaseScript((AppCall(GET),))),
    _apart("get.fresh-after-failure", "After a failed attempt the app gets new data, not the last that worked.",
           "REL-7", fresh(GET), CaseScript((AppCall(GET), model.SetOrders((Order(GET, fault="500"),)), AppCall(GET)))),
    _apart("post.same-again", "An sdkOutput that is sent again is answered by the API, not from a store.", "REL-7",
           asked_each_time,
           CaseScript((*both(output=_same_value), AppCall(POST, output=_same_value)),
                      (Order(POST, value=_same_value),))),
    _apart("attempt.again", "A second attempt gets new data from the GET and from the POST.", "REL-7",
           all_of(works(GET), works(POST), fresh(GET), fresh(POST)), CaseScript((*both(), *both()))),
    _apart("run.own-card", "In the whole run no sdkInput and no sdkOutput goes to another card.", "REL-4",
           at_its_own_card, CaseScript((), judges_run=True)),
)  # fmt: skip

CASES = (*SECRECY, *ISOLATION)
