"""The form of the two requests, as they reach the API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.judging import all_of, answered, each_request, one_request, outcome, works
from workbook.conformance.script import GET, POST, Ask, Script, both
from workbook.conformance.verdict import Miss
from workbook.simulation.http import AFTER_ID, BEFORE_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.judging import OfRequest
    from workbook.conformance.seen import Arrived, Seen

ATTEMPT = Script(both(), alone=True)
"""One attempt, with nothing else going on: a request to a wrong path belongs to nobody."""
LIST = Script(tuple(Ask(GET, card=number) for number in range(3)), cards=3, alone=True)


def _key(seen_key: Callable[[Seen], str], operation: str) -> Judge:
    """The header x-api-key stands there once, with the key."""

    def judge(seen: Seen) -> Iterator[Miss]:
        yield from each_request(operation, lambda one: _once(one, seen_key(seen)))(seen)

    return judge


def _once(one: Arrived, key: str) -> Iterator[Miss]:
    values = [value for name, value in one.request.headers if name.lower() == "x-api-key"]
    todo = "Send the header x-api-key once, with the key that was handed over, and nothing added to it."
    if len(values) != 1:
        yield Miss("the header x-api-key once", f"it came {len(values)} times", todo)
    elif values[0] != key:
        yield Miss("the key that was handed over", f"another value of {len(values[0])} characters", todo)


def _content_type(one: Arrived) -> Iterator[Miss]:
    values = [value for name, value in one.request.headers if name.lower() == "content-type"]
    told = [value.partition(";")[0].strip().lower() for value in values]
    if told != ["application/json"]:
        observed = f"content-type {', '.join(values)[:60]!r}" if values else "no content-type"
        yield Miss("content-type: application/json", observed, "Send content-type: application/json, on the GET too.")


def _no_query(one: Arrived) -> Iterator[Miss]:
    if "?" in one.request.target:
        yield Miss("no query", "a query", "Send no query parameters: the document shows none.")


def _no_body(one: Arrived) -> Iterator[Miss]:
    if one.request.body:
        yield Miss("no body", f"a body of {len(one.request.body)} bytes", "Send the GET without a body.")


def _one_field(one: Arrived) -> Iterator[Miss]:
    try:
        document = json.loads(one.request.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        yield Miss("a JSON object", f"{len(one.request.body)} bytes that are none", 'Send JSON: {"sdkOutput": ...}.')
    elif list(document) != ["sdkOutput"]:
        names = ", ".join(sorted(document))[:80] or "no field"
        yield Miss("exactly the field sdkOutput", names, "Send sdkOutput and nothing beside it.")


def _path(operation: str) -> Judge:
    """Nothing about the card goes to another path, and the one request goes to the right one."""
    todo = f"The path is {BEFORE_ID}{{id}}{AFTER_ID}, on GET and POST alike."

    def judge(seen: Seen) -> Iterator[Miss]:
        for one in seen.strays:
            if one.request.method == operation and seen.calls[0].instrument in unquote(one.request.target):
                yield Miss(f"{BEFORE_ID}…{AFTER_ID}", f"{operation} to another path", todo)
        yield from each_request(operation, lambda _one: [])(seen)

    return judge


def _get_first(seen: Seen) -> Iterator[Miss]:
    order = [one.operation for one in seen.arrived if one.operation]
    todo = "Make the GET when the app asks for data, the POST on its sdkOutput."
    if order[:1] != [GET] or POST not in order:
        yield Miss("the GET, then the POST", ", then ".join(order) or "no request", todo)
    elif seen.came(GET)[0].at > seen.asked(POST)[0].began:
        yield Miss("the GET when the app asks for data", "the GET once the app had sent the sdkOutput", todo)


def _each_its_own(seen: Seen) -> Iterator[Miss]:
    """One GET for each instrument, and each card gets what its own GET gave (API-12)."""
    for call in seen.calls:
        given = [one.given for one in seen.came(GET) if one.instrument == call.instrument]
        if len(given) != 1:
            yield Miss("one GET for each instrument", f"{len(given)} for one of them", "Make one GET for each card.")
        elif call.value != given[0]:
            yield Miss("each card's own sdkInput", "another card's", "Keep each answer with the card that it is for.")


def _case(name: str, says: str, rule: str, judge: Judge, script: Script = ATTEMPT, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, rule, Group.FORM, script, judge, frozenset(needs))


def _of(operation: str, question: OfRequest) -> Judge:
    return each_request(operation, question)


def _path_kept(seen: Seen) -> Iterator[Miss]:
    """An id that is none goes to the API as one segment, or not at all; it never becomes another path (API-3)."""
    todo = "Percent-encode the id as one segment, and refuse what is not one of the cardholder's own cards."
    (call,) = seen.calls
    card = call.instrument.partition("/")[0]
    for one in seen.arrived:
        if card in one.request.target and (one.instrument != call.instrument or "?" in one.request.target):
            yield Miss("the id as one segment of the path, or no request", "a request to another path", todo)
    if call.succeeded:
        yield Miss("a refusal", outcome(call), todo)


def _astray(operation: str) -> Script:
    """An id with everything in it that ends a segment, a path or a query."""
    return Script((Ask(operation, instrument=lambda card: f"{card}/../{card}?a=1#b%2F"),), alone=True)


ONE_EACH = "Make one request for each call of the app; what it did not ask for, it does not need."
CASES = (
    _case("get.path", "The GET goes to the document's path.", "API-1", _path(GET)),
    _case("post.path", "The POST goes to the very same path.", "API-2", _path(POST)),
    _case("get.key-once", "The GET carries the key, once and unchanged.", "API-4", _key(lambda s: s.key, GET)),
    _case("post.key-once", "The POST carries the key, once and unchanged.", "API-4", _key(lambda s: s.key, POST)),
    _case("get.content-type", "The GET says content-type: application/json.", "API-4", _of(GET, _content_type)),
    _case("post.content-type", "The POST says content-type: application/json.", "API-4", _of(POST, _content_type)),
    _case("get.no-query", "The GET has no query.", "API-5", _of(GET, _no_query)),
    _case("get.no-body", "The GET has no body.", "API-5", _of(GET, _no_body)),
    _case("post.no-query", "The POST has no query.", "API-2", _of(POST, _no_query)),
    _case("post.one-field", "The POST's body is sdkOutput and nothing else.", "API-6", _of(POST, _one_field)),
    _case("get.id-cannot-change-path", "No id changes the path of the GET.", "API-3", all_of(_path_kept, answered),
          _astray(GET)),
    _case("post.id-cannot-change-path", "No id changes the path of the POST.", "API-3", all_of(_path_kept, answered),
          _astray(POST)),
    _case("attempt.get-before-post", "The GET comes before the POST.", "API-10", _get_first),
    _case("attempt.one-of-each", "One attempt makes one GET and one POST.", "REL-7",
          all_of(one_request(GET, ONE_EACH), one_request(POST, ONE_EACH, "REL-1"), works(GET), works(POST))),
    _case("list.one-get-each", "Several cards: one GET for each, and each its own data.", "API-12", _each_its_own,
          LIST, Need.SEVERAL_CARDS),
)  # fmt: skip
