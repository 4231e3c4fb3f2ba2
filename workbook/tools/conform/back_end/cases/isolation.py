"""Isolation: no call gets another card's data, and no old answer is handed out as new."""

import base64
import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import urlencode

from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.judging import (
    HAND_ON,
    WORK,
    all_of,
    answered,
    each_request,
    one_works,
    outcome,
    refuses,
    works,
)
from workbook.tools.conform.back_end.model import (
    GET,
    POST,
    AppCall,
    CaseScript,
    Need,
    Order,
    PhoneCall,
    Seen,
    SetOrders,
    Together,
    both,
)
from workbook.tools.harness.model import Miss, Root


def own_only(seen: Seen) -> Iterator[Miss]:
    """Each card's data reaches the calls for that card and no others."""
    for call in seen.calls:
        own = {arrived.given for arrived in seen.came(call.operation) if arrived.instrument == call.instrument}
        if call.value and call.value not in own:
            others = {arrived.given for arrived in seen.came(call.operation)}
            todo = "Keep everything of a call in that call: no shared variable, no cache without the card in its key."
            observed, todo = judging.source_of(call.value, seen), todo if call.value in others else HAND_ON
            yield Miss("its own card's sdkInput", observed, todo, root=Root.FOLLOWS)
    for arrived in seen.came(POST):
        if arrived.sdk_output not in {call.sent for call in seen.calls if call.instrument == arrived.instrument}:
            todo = "Keep everything of a call in that call: card and sdkOutput come from the same request."
            yield Miss("the sdkOutput of the card in the path", "another card's", todo)


def refused(seen: Seen) -> Iterator[Miss]:
    """A call that is not entitled is refused, and the API is not even asked."""
    todo = "Check session and card before the API is asked, and refuse."
    for call in seen.calls:
        if not refuses(call):
            yield Miss("a refusal", outcome(call), todo)
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
            yield Miss("a success", outcome(seen.calls[0]), WORK, root=Root.FOLLOWS)

    return judge


def asked_each_time(seen: Seen) -> Iterator[Miss]:
    """An sdkOutput that comes again is answered by the API, or refused; no stored answer replaces the API's."""
    lucky, came = [call for call in seen.asked(POST) if call.succeeded], seen.came(POST)
    if not lucky:
        yield Miss("a success", outcome(seen.asked(POST)[0]), WORK, root=Root.FOLLOWS)
    elif len(lucky) > len(came):
        todo = "Send each POST of the app on, or refuse it; keep nothing of the API's answers in the back end."
        yield Miss(
            f"{len(lucky)} POST requests at the API", f"{len(came)}, and an answer that came without the API", todo
        )


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
        yield Miss(
            f"{len(values)} different sdkInputs", f"{len(set(values))}, shared by calls under way together", todo
        )


def nothing_kept_for_another(seen: Seen) -> Iterator[Miss]:
    """An sdkOutput that another cardholder sends is never answered with what the first one got (REL-4)."""
    first, other = seen.asked(POST)
    if not first.succeeded:
        yield Miss("a success", outcome(first), WORK, root=Root.FOLLOWS)
    elif other.value is not None and other.value == first.value:
        todo = "Keep no answer of the API. If you keep anything, put the card and its owner into its key."
        yield Miss("nothing of the first cardholder's card", "the sdkInput that the first cardholder got", todo)


def cookies_stay(seen: Seen) -> Iterator[Miss]:
    """A cookie that the API sets with one cardholder's data never comes with another's request (REL-7).

    HTTP clients with a cookie jar send it with every later request, whoever that is for, so a gateway before the API
    may take two cardholders for one.
    """
    todo = "Keep no cookie of the API: switch off the cookie jar of the HTTP client that all calls share."
    given = {
        value.partition(";")[0]: arrived.instrument
        for arrived in seen.arrived
        for name, value in arrived.response.headers
        if name == "set-cookie"
    }
    if not given:
        yield from each_request(GET)(seen)
    for arrived in seen.arrived:
        cookies = "; ".join(arrived.request.values("cookie"))
        if any(cookie in cookies and owner != arrived.instrument for cookie, owner in given.items()):
            observed = f"a {arrived.request.method} with another cardholder's cookie"
            yield Miss("no cookie of another cardholder's exchange", observed, todo)
            return


def at_its_own_card(seen: Seen) -> Iterator[Miss]:
    """Over the whole run, whatever a case is about: each value reaches the card that it was made for, and no other."""
    if not seen.run.requests:
        yield Miss("a request to look at", "none reached the API", WORK, root=Root.FOLLOWS)
    if misdelivered := seen.run.misdelivered:
        more = f"; {len(misdelivered) - 1} more values went astray" if misdelivered[1:] else ""
        observed = f"in {misdelivered[0].case} {misdelivered[0]}{more}"
        # what only a call with a second id shows follows from that case
        alone = all(one.call.tamper is not None for one in misdelivered)
        root = Root.FOLLOWS if alone else Root.WRONG_CARD
        yield Miss("each value at its own card", observed, judging.OWN_CARD, root=root)


def _same_value(canary: str) -> str:
    """A value that is the same for every call of the case, and valid for either platform."""
    return base64.b64encode(f"{canary.rpartition('-')[0]} of which there is one".encode()).decode()


def other_value(value: Any) -> model.Tamper:
    """Sends this value, of another type, in the place of the sdkOutput; `...` leaves the field out."""

    def swapped(inner: Any, sent: str | None) -> Any:
        if isinstance(inner, dict):
            kept = {key: item for key, item in inner.items() if value is not ... or item != sent}
            return {key: swapped(item, sent) for key, item in kept.items()}
        if isinstance(inner, list):
            return [swapped(item, sent) for item in inner if value is not ... or item != sent]
        return value if inner == sent else inner

    def tamper(path: str, body: bytes | None, call: PhoneCall) -> tuple[str, bytes | None]:
        return path, json.dumps(swapped(json.loads(body or b"{}"), call.sent)).encode()

    return tamper


def _names_another(path: str, body: bytes | None, call: PhoneCall) -> tuple[str, bytes | None]:
    """The call names its own card, and in further fields or in the query also another cardholder's card.

    Frameworks that merge path, query and body into one set of parameters let one of them win after the check. The other
    id comes before the app's own fields, in each object of the body: whoever looks beside the sdkOutput finds it.
    """
    # names under which a back end may look for a card's id, although its app sends none of them
    names = ["id", "cardId", "card_id", "card", "paymentInstrumentId", "instrumentId", "instrument"]
    if body is None or call.operation == GET:
        path += f"{'&' if '?' in path else '?'}{urlencode(dict.fromkeys(names, call.other))}"
    if body is None:
        return path, body
    document = json.loads(body)
    names += re.findall(rf'"(\w+)"\s*:\s*{re.escape(json.dumps(call.asked_for))}', body.decode())

    def named(inner: Any) -> Any:
        if isinstance(inner, list):
            return [named(item) for item in inner]
        own = {name: named(item) for name, item in inner.items()} if isinstance(inner, dict) else None
        return inner if own is None else {**dict.fromkeys(names, call.other), **own}

    return path, json.dumps(named(document)).encode()


def nothing_left_behind(seen: Seen) -> Iterator[Miss]:
    """Nothing of an attempt that failed goes out with a later call, which has no sdkOutput of its own (REL-4)."""
    todo = (
        "Keep nothing of a failed attempt: clear what belongs to a thread, a worker or a connection, however it ends."
    )
    late = [call for call in seen.calls if call.tamper is not None]
    for call in late:
        if call.succeeded:
            yield Miss("a refusal of a POST without an sdkOutput", outcome(call), todo, harms=True)
    began = min((call.began for call in late), default=float("inf"))
    if again := [one for one in seen.came(POST) if one.at >= began and one.sdk_output]:
        observed = f"{len(again)} with the sdkOutput of an attempt that had failed before"
        yield Miss("no POST at the API for calls without an sdkOutput", observed, todo, harms=True)
    yield from each_request(POST)(seen)


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

# A call that is not entitled must not reach the API either. So these cases run alone, and any request is a miss.
_case = partial(model.relay_case, model.RelayGroup.ISOLATION)
CASES = (
    *(_case(f"{operation.lower()}.crowd", f"Many {operation}s at once each get their own card's data.", "REL-4",
            all_of(one_works(operation), own_only),
            CaseScript((Together(tuple(AppCall(operation, card=number % 3) for number in CROWD)),), cards=3,
                       alone=True),
            Need.SEVERAL_CARDS)
      for operation in (GET, POST)),
    *(_case(f"{operation.lower()}.two-cardholders", f"Two cardholders{whose} at once each get their own card's data.",
            "REL-4", all_of(one_works(operation), own_only),
            CaseScript((Together(tuple(AppCall(operation, cardholder=at % 2, own=True) for at in CROWD)),),
                   alone=True), Need.TWO_CARDHOLDERS)
      for operation, whose in ((GET, ""), (POST, "' POSTs"))),
    *(_case(f"{operation.lower()}.{who}", f"A {operation} with {words} is refused before the API is asked.", "REL-4",
            all_of(refused, answered), CaseScript((AppCall(operation, cardholder=cardholder),), alone=True),
            Need.SESSIONS, need)
      for operation in (GET, POST) for who, words, cardholder, need in (
          ("other-cardholder", "another cardholder's session", 1, Need.TWO_CARDHOLDERS),
          ("no-session", "no session", -1, Need.SESSIONS),
          ("forged-session", "a session that does not exist", -2, Need.SESSIONS),
      )),
    _case("get.id-in-query", "A second id in the query of the GET never leads to another cardholder's card.", "REL-4",
          all_of(no_other_card, answered), CaseScript((AppCall(GET, tamper=_names_another),), alone=True),
          Need.HTTP, Need.TWO_CARDHOLDERS),
    _case("post.id-in-body", "A second id in the body of the POST never leads to another cardholder's card.", "REL-4",
          all_of(no_other_card, answered), CaseScript((AppCall(POST, tamper=_names_another),), alone=True),
          Need.JSON_BODY, Need.TWO_CARDHOLDERS),
    # Several at once, so that each thread of a pool has a failed attempt behind it when the calls without one come.
    _case("post.nothing-left-behind", "After failed attempts a POST without an sdkOutput sends nothing of them.",
          "REL-4", all_of(nothing_left_behind, answered),
          CaseScript((*(step for fault in ("500", "close")
                        for step in (SetOrders((Order(POST, fault=fault),)), Together((AppCall(POST),) * 6))),
                      SetOrders(), Together((AppCall(POST, tamper=other_value(...)),) * 6)), alone=True),
          Need.JSON_BODY),
    _case("post.same-by-another", "Another cardholder with the same sdkOutput gets nothing of the first card.",
          "REL-4", nothing_kept_for_another,
          CaseScript((*both(output=_same_value), AppCall(POST, cardholder=1, own=True, output=_same_value)),
                     (Order(POST, value=_same_value),), alone=True), Need.TWO_CARDHOLDERS),
    _case("attempt.no-cookie-of-another", "A cookie of the API (assumed: the document shows none) never comes "
          "back with another cardholder's call.", "REL-7", all_of(works(GET), cookies_stay),
          CaseScript((*model.EACH_WORKER, *both(), Together((AppCall(GET, cardholder=1, own=True),) * 6),
                      AppCall(POST, cardholder=1, own=True)),
                     (Order(GET, cookie=True), Order(POST, cookie=True)), alone=True), Need.TWO_CARDHOLDERS),
    _case("get.at-once", "Two GETs for one card at the same moment each get their own data.", "REL-7", own_data_each,
          CaseScript((Together((AppCall(GET), AppCall(GET))),),
                     (Order(GET, fault="latency", settings={"seconds": 0.3}),))),
    _case("get.fresh", "Each GET of the app gets new activation data.", "REL-7", all_of(works(GET), fresh(GET)),
          CaseScript((AppCall(GET), model.Rest(0.05), AppCall(GET)))),
    _case("get.not-cacheable", "No answer of the GET may be cached on its way to the phone.", "REL-7",
          all_of(works(GET), not_cacheable), CaseScript((AppCall(GET),)), Need.HTTP),
    _case("get.fresh-after-failure", "After a failed attempt the app gets new data, not the last that worked.", "REL-7",
          fresh(GET), CaseScript((AppCall(GET), SetOrders((Order(GET, fault="500"),)), AppCall(GET)))),
    _case("post.same-again", "An sdkOutput that is sent again is answered by the API, not from a store.", "REL-7",
          asked_each_time,
          CaseScript((*both(output=_same_value), AppCall(POST, output=_same_value)),
                     (Order(POST, value=_same_value),))),
    _case("attempt.again", "A second attempt gets new data from the GET and from the POST.", "REL-7",
          all_of(works(GET), works(POST), fresh(GET), fresh(POST)), CaseScript((*both(), *both()))),
    _case("run.own-card", "In the whole run no sdkInput and no sdkOutput goes to another card.", "REL-4",
          at_its_own_card, CaseScript((), judges_run=True)),
)  # fmt: skip
