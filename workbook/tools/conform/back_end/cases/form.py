"""The form of the two requests, as they reach the API, and of the calls that HTTP allows the phone."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import quote, unquote

from workbook.api.opaque import json_object
from workbook.simulation.http import AFTER_ID, BEFORE_ID, header_values
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.cases.fidelity import given_back, handed_on
from workbook.tools.conform.back_end.cases.isolation import other_value, own_only
from workbook.tools.conform.back_end.judging import (
    WORKS,
    all_of,
    answered,
    each_request,
    loses_attempt,
    one_request,
    outcome,
    works,
)
from workbook.tools.conform.back_end.model import (
    ATTEMPT_ALONE,
    GET,
    POST,
    AppCall,
    CaseScript,
    Judge,
    Manner,
    Need,
    Order,
    Seen,
    both,
)
from workbook.tools.harness.model import Miss, Root

# The payment instrument in a request's path tells which case the request belongs to. A request to a wrong path has
# none, so the cases that look for such a request run alone: whatever arrives then is theirs.
THREE_GETS = CaseScript(tuple(AppCall(GET, card=number) for number in range(3)), cards=3)


def key_once(arrived: model.Arrived, seen: Seen) -> Iterator[Miss]:
    """The header x-api-key is there once, with the key."""
    todo = "Send the header x-api-key once, with the key that was handed over, and nothing added to it."
    values = header_values(arrived.request.headers, "x-api-key")
    if len(values) != 1:
        yield Miss("the header x-api-key once", f"it came {len(values)} times", todo)
    elif values[0] != seen.key:
        yield Miss("the key that was handed over", f"another value of {len(values[0])} characters", todo)


def content_type(arrived: model.Arrived, _seen: Seen) -> Iterator[Miss]:
    """The header content-type says application/json; a charset beside it changes nothing."""
    values = header_values(arrived.request.headers, "content-type")
    if [value.partition(";")[0].strip().lower() for value in values] != ["application/json"]:
        observed = f"content-type {', '.join(values)[:60]!r}" if values else "no content-type"
        yield Miss("content-type: application/json", observed, "Send content-type: application/json, on the GET too.")


def no_query(arrived: model.Arrived, seen: Seen) -> Iterator[Miss]:
    """The document shows no query on the GET, and says nothing of one on the POST: there a query is only noted.

    A query with the key is a miss on both: every server on the way writes URLs into its logs (REL-2).
    """
    todo = "Send the key in the header x-api-key alone, and take it out of the URL: servers write URLs into their logs."
    target = arrived.request.target
    if judging.key_parts(seen.key).found_in(target):
        yield Miss("the key in its header alone", "the key in the URL", todo, "REL-2", root=Root.KEY)
    elif "?" in target:
        yield Miss("no query", "a query", "Send no query: the document shows none.", noted=arrived.operation == POST)


def no_body(arrived: model.Arrived, _seen: Seen) -> Iterator[Miss]:
    """A body on a GET has no meaning (RFC 9110, 9.3.1), and servers between may drop the request for it."""
    if arrived.request.body:
        yield Miss("no body", f"a body of {len(arrived.request.body)} bytes", "Send the GET without a body.")


def one_field(arrived: model.Arrived, _seen: Seen) -> Iterator[Miss]:
    """The body is JSON with the field sdkOutput alone: an API may refuse what it does not know."""
    if (document := json_object(arrived.request.body)) is None:
        observed = f"{len(arrived.request.body)} bytes that are no JSON object"
        yield Miss("a JSON object", observed, 'Send JSON: {"sdkOutput": ...}.')
    elif list(document) != ["sdkOutput"]:
        names = ", ".join(sorted(document))[:80] or "no field"
        yield Miss("exactly the field sdkOutput", names, "Send sdkOutput and nothing beside it.")


def document_path(operation: str) -> Judge:
    """No request about the card goes to another path, and at least one goes to the right path."""
    todo = f"The path is {BEFORE_ID}{{id}}{AFTER_ID}, on GET and POST alike."

    def judge(seen: Seen) -> Iterator[Miss]:
        for stray in seen.strays:
            if stray.request.method == operation and seen.calls[0].instrument in unquote(stray.request.target):
                yield Miss(f"{BEFORE_ID}…{AFTER_ID}", f"{operation} to another path", todo)
        yield from each_request(operation)(seen)

    return judge


def path_kept(seen: Seen) -> Iterator[Miss]:
    """An id with special characters goes to the API as one segment, or not at all, never as another path (API-3)."""
    todo = "Percent-encode the id as one segment, and refuse what is not one of the cardholder's own cards."
    (call,) = seen.calls
    card = call.instrument.partition("/")[0]
    for arrived in seen.arrived:
        target = arrived.request.target
        if card in target and (arrived.instrument != call.instrument or "?" in target):
            yield Miss("the id as one segment of the path, or no request", "a request to another path", todo)
    if call.succeeded:
        yield Miss("a refusal", outcome(call), todo)


def get_first(seen: Seen) -> Iterator[Miss]:
    """The GET answers the app's request for data, the POST its sdkOutput; neither is made earlier or later."""
    order = [arrived.operation for arrived in seen.arrived if arrived.operation]
    todo = "Make the GET when the app asks for data, the POST on its sdkOutput."
    if order[:1] != [GET] or POST not in order:
        yield Miss("the GET, then the POST", ", then ".join(order) or "no request", todo)
    elif seen.came(GET)[0].at > seen.asked(POST)[0].began:
        yield Miss("the GET when the app asks for data", "the GET once the app had sent the sdkOutput", todo)


def one_get_each(seen: Seen) -> Iterator[Miss]:
    """One GET for each instrument, and each card gets what its own GET gave (API-12)."""
    for call in seen.calls:
        given = [arrived.given for arrived in seen.came(GET) if arrived.instrument == call.instrument]
        if len(given) != 1:
            yield Miss("one GET for each instrument", f"{len(given)} for one of them", "Make one GET for each card.")
        elif call.value != given[0]:
            todo = "Keep each answer with the card that it is for."
            yield Miss("each card's own sdkInput", judging.source_of(call.value, seen), todo, root=Root.FOLLOWS)


def not_encoded(seen: Seen) -> Iterator[Miss]:
    """An answer is encoded only for a phone that accepts that."""
    for call in seen.calls:
        codings = header_values(call.headers, "content-encoding")
        if codings and codings != ["identity"]:
            todo = (
                "Compress an answer only if the call says accept-encoding: gzip; else the app may be unable to read it."
            )
            yield Miss("an answer as it is", f"content-encoding {', '.join(codings)[:40]!r}", todo)


def id_kept(seen: Seen) -> Iterator[Miss]:
    """The id is a string (API-3): whatever it is made of, the API gets it as it is configured.

    An id of capitals and digits survives what most code does to it: changing its case, reading it as a number, escaping
    it once too often or not at all. So one card of each other shape shows more than a hundred of the usual one.
    """
    id_ = seen.calls[0].instrument
    todo = "Keep the id as the text that it is, and percent-encode it once, as one segment of the path."
    if model.shape_of(id_) is Need.ID_ESCAPED and not seen.came(GET):  # a library refuses such a URL, or a server does
        todo = (
            "Percent-encode the id as one segment of the path, with what your language has for that: "
            'encodeURIComponent(id), quote(id, safe=""), URLEncoder with %20 in the place of +.'
        )
        yield Miss("a GET for an id with such a character", "no GET reached the API", todo)
    changed = {  # what a back end may have done, and how the id then looks
        "in capitals": id_.upper(),
        "in small letters": id_.lower(),
        "without its leading zeros": id_.lstrip("0"),
        "encoded twice": quote(id_, safe=""),
        "with its blanks as +": id_.replace(" ", "+"),
    }
    for arrived in seen.arrived:
        elsewhere = not arrived.instrument and quote(id_, safe="") in arrived.request.target  # its id is right
        if arrived.instrument != id_ and not elsewhere:
            how = (words for words, text in changed.items() if text == arrived.instrument)
            yield Miss("the id as it is configured", f"the id {next(how, 'changed, or on another path')}", todo)
    yield from each_request(GET)(seen)
    yield from WORKS(seen)


def labelled(seen: Seen) -> Iterator[Miss]:
    """HTTP says what a body is: strict clients refuse JSON under another label, others decode it wrongly (REL-8)."""
    todo = "Send JSON in UTF-8 and label it application/json: name no charset, or utf-8."
    for call in seen.calls:
        # a value that is the whole body may begin like JSON
        raw = call.value in (call.body.decode("latin-1"), base64.b64encode(call.body).decode())
        if call.broke or raw or not call.body.lstrip().startswith(b"{"):
            continue
        label = next(iter(header_values(call.headers, "content-type")), "")
        kind, _, more = label.lower().partition(";")
        charset = re.search(r"charset\s*=\s*\"?([^\s;\"]+)", more)
        is_json = kind.strip() == "application/json" or kind.strip().endswith("+json")
        if not is_json or (charset and charset[1] not in ("utf-8", "utf8")):
            observed = f"content-type {label[:60]!r} in an answer with status {call.status}"
            yield Miss("an answer labelled as JSON in UTF-8", observed, todo, harms=call.succeeded and bool(label))
    yield from works(GET)(replace(seen, calls=seen.calls[:1]))


def _escaped(path: str, body: bytes | None, _call: model.PhoneCall) -> tuple[str, bytes | None]:
    """The same JSON as another phone's library writes it: with escaped slashes, escaped letters and blanks."""
    text = json.dumps(json.loads(body or b"{}"), indent=2)
    return path, text.replace("/", "\\/").replace("a", "\\u0061").encode()


# What an app may send by mistake. If the call hangs, the phone waits until its time limit.
BAD_BODIES: Mapping[str, tuple[str, model.Tamper]] = {
    "no-json": ("that is no JSON", lambda path, _body, _call: (path, b"sdkOutput=x")),
    "cut": ("that ends in the middle", lambda path, body, _call: (path, (body or b"")[: len(body or b"") // 2])),
    "empty": ("that is empty", lambda path, _body, _call: (path, b"")),
    "list": ("that is a list", lambda path, body, _call: (path, b"[" + (body or b"") + b"]")),
    "no-field": ("without an sdkOutput", other_value(...)),
    "null": ("whose sdkOutput is null", other_value(None)),
    "number": ("whose sdkOutput is a number", other_value(12345)),
    "object": ("whose sdkOutput is an object", other_value({"value": "x"})),
}


def refused_at_once(seen: Seen) -> Iterator[Miss]:
    """A body without a usable sdkOutput is refused at once, and nothing of it goes to the API (API-6)."""
    todo = "Check the body before anything else: refuse all but a JSON object whose sdkOutput is a non-empty text."
    for call in seen.calls:
        if call.broke is model.Broke.LATE:
            yield Miss("a refusal", f"{outcome(call)}: the call was never answered", todo, "REL-9", harms=True)
        elif not call.broke and not judging.refuses(call):
            # Nothing reached the API, so the body was refused; only the answer to the app is wrong.
            yield Miss("a refusal", outcome(call), todo if seen.arrived else judging.TELL, "REL-6")
    for arrived in seen.came(POST):
        sent = "an empty sdkOutput" if arrived.sdk_output == "" else "a body made from the refused one"
        yield Miss("no request at the API", f"a POST with {sent}", todo)
    yield from answered(seen)


def _odd_id(operation: str) -> CaseScript:
    """A call with an id that contains everything that ends a segment, a path or a query."""
    return CaseScript((AppCall(operation, instrument=lambda card: f"{card}/../{card}?a=1#b%2F"),), alone=True)


def _attempt(manner: Manner) -> CaseScript:
    return CaseScript((AppCall(GET, manner=manner), AppCall(POST, manner=manner)))


# The first rows are about what reaches the API, the later ones about what HTTP and JSON allow the phone. The phone in
# most tests is the same library in one setting; real phones differ in just these things, and some differ between two
# versions.
_case = partial(model.relay_case, model.RelayGroup.FORM)
CASES = (
    _case("get.path", "The GET goes to the document's path.", "API-1", document_path(GET), ATTEMPT_ALONE),
    _case("post.path", "The POST goes to the very same path.", "API-2", document_path(POST), ATTEMPT_ALONE),
    *(_case(f"{operation.lower()}.{name}", f"The {operation} {says}.", "API-4", each_request(operation, question),
            ATTEMPT_ALONE)
      for name, says, question in (("key-once", "carries the key, once and unchanged", key_once),
                                   ("content-type", "says content-type: application/json", content_type))
      for operation in (GET, POST)),
    _case("get.no-query", "The GET has no query.", "API-5", each_request(GET, no_query), ATTEMPT_ALONE),
    _case("get.no-body", "The GET has no body.", "API-5", each_request(GET, no_body), ATTEMPT_ALONE),
    _case("post.no-query", "The POST's URL holds no key.", "REL-2", each_request(POST, no_query), ATTEMPT_ALONE),
    _case("post.one-field", "The POST's body is sdkOutput and nothing else.", "API-6",
          each_request(POST, one_field), ATTEMPT_ALONE),
    _case("get.id-cannot-change-path", "No id changes the path of the GET.", "API-3", all_of(path_kept, answered),
          _odd_id(GET)),
    _case("post.id-cannot-change-path", "No id changes the path of the POST.", "API-3", all_of(path_kept, answered),
          _odd_id(POST)),
    _case("attempt.get-before-post", "The GET comes before the POST.", "API-10", get_first, ATTEMPT_ALONE),
    _case("attempt.one-of-each", "One attempt makes one GET and one POST.", "REL-7",
          all_of(one_request(GET), one_request(POST, rule="REL-1"), WORKS), ATTEMPT_ALONE),
    _case("list.one-get-each", "Several cards: one GET for each, and each its own data.", "API-12", one_get_each,
          replace(THREE_GETS, alone=True), Need.SEVERAL_CARDS),
    # A back end accepts every form of a call that HTTP allows, and takes all of them to mean the same (REL-8).
    _case("post.chunked-body", "The phone may send its body in chunks, without a length.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on, given_back(POST))),
          CaseScript(both(manner=Manner.CHUNKED)), Need.HTTP),
    _case("attempt.header-case", "The phone may write header names in capitals.", "REL-8", loses_attempt(WORKS),
          _attempt(Manner.UPPER_CASE), Need.HTTP),
    _case("attempt.closed-connections", "The phone may use a new connection for each call.", "REL-8",
          loses_attempt(WORKS), _attempt(Manner.CLOSING), Need.HTTP),
    _case("attempt.no-encoding", "An answer is not compressed for a phone that accepts no compression.", "REL-8",
          loses_attempt(all_of(WORKS, not_encoded)), _attempt(Manner.UNPACKED), Need.HTTP),
    _case("list.kept-connection", "Several calls on one connection each get their own card's data.", "REL-8",
          loses_attempt(all_of(works(GET), own_only)), THREE_GETS, Need.HTTP, Need.SEVERAL_CARDS),
    _case("post.expecting", "The phone may announce its body with Expect: 100-continue.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(manner=Manner.EXPECTING)), Need.HTTP),
    _case("post.charset", "The phone may name the charset in its content-type.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(manner=Manner.WITH_CHARSET)), Need.JSON_BODY),
    _case("post.escaped-body", "The phone's JSON may have escapes and blanks that mean nothing.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(tamper=_escaped)), Need.JSON_BODY),
    _case("answer.labelled", "A JSON answer, success or failure, is labelled as JSON in UTF-8.", "REL-8", labelled,
          CaseScript((*both(), model.SetOrders((Order(GET, fault="500"),)), AppCall(GET))), Need.HTTP),
    # What no app sends today may come from an app of tomorrow, or from somebody who experiments.
    *(_case(f"post.body-{name}", f"A body of the app {words} is refused at once.", "API-6", refused_at_once,
            CaseScript((AppCall(POST, tamper=tamper),)), Need.JSON_BODY)
      for name, (words, tamper) in BAD_BODIES.items()),
    *(_case(f"attempt.{need.name.lower().replace('_', '-')}",
            f"An id reaches the API unchanged, also where it {need.value.partition('whose id ')[2]}.",
            "API-3", id_kept, ATTEMPT_ALONE, need)
      for need in model.SHAPES),
    # A body that the back end left unread would come before the next call on the same connection.
    _case("post.kept-connection", "After a refused POST the same connection serves the next call.", "REL-8",
          judging.recovers, CaseScript((AppCall(POST, cardholder=-1), AppCall(GET)), alone=True),
          Need.HTTP, Need.SESSIONS),
)  # fmt: skip
