"""What travels: the form of the two requests and of the phone's calls, and opaque data byte for byte."""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, unquote, unquote_plus

from workbook.api.opaque import decode_strictly, json_object, json_text
from workbook.simulation.http import AFTER_ID, BEFORE_ID, header_values
from workbook.tools.conform.back_end import judging, model
from workbook.tools.conform.back_end.cases.privacy import own_only
from workbook.tools.conform.back_end.judging import (
    WORKS,
    all_of,
    answered,
    describe_ending,
    each_request,
    loses_attempt,
    works,
)
from workbook.tools.conform.back_end.model import ATTEMPT, GET, POST, AppCall, CaseScript, Need, Seen, both
from workbook.tools.harness.model import Miss, Root

# Bytes. The mock API reads bodies of at most 1 MiB (assumed), with the JSON around a value.
LARGEST_VALUE = 1023 * 1024


def _digits(canary: str, count: int) -> str:
    """`count` digits, made of the canary. Read as a number they lose their leading zeros and their precision."""
    return str(int.from_bytes(canary.encode()))[-count:]


# Only the SDK may read opaque data. One well-meant change destroys each value below: trimming, normalising,
# unescaping, guessing a type, decoding as a form, storing in a column that is too short. A simulator's usual data
# survives all of them, because it is short ASCII without blanks.

# Texts of platform A, by name: a back end changes nothing in them (API-7).
TEXTS: Mapping[str, tuple[str, model.Maker]] = {
    "unicode": ("letters beyond ASCII", lambda canary: f"{canary} \u00fc u\u0308 \u00df \u6f22\u5b57 \U0001f4b3"),
    "unicode-long": ("240 KiB of letters beyond ASCII", lambda canary: canary + "\u6f22" * (80 * 1024)),
    "symbols": ("the characters + / =", lambda canary: f"{canary}+/+/=="),
    "outer-blanks": ("blanks at both ends", lambda canary: f"  {canary}  "),
    # each alone at an end: whoever trims one of them keeps the others
    "no-break-spaces": ("no-break spaces at both ends", lambda canary: f"\u00a0{canary}\u00a0"),
    "byte-order-marks": ("byte order marks at both ends", lambda canary: f"\ufeff{canary}\ufeff"),
    "zero-width-spaces": ("zero-width spaces at both ends", lambda canary: f"\u200b{canary}\u200b"),
    "quotes": ("quotes and backslashes", lambda canary: f'"{canary}\\"\\\\/'),
    "line-ends": ("line ends and tabs", lambda canary: f"{canary}\r\n\tend\n"),
    "percent": ("percent signs and an ampersand", lambda canary: f"{canary}%2B%25&amp;x=1"),
    "looks-like-json": ("text that looks like JSON", lambda canary: f'{{"canary": "{canary}"}}'),
    "digits": ("digits only, with zeros in front", lambda canary: f"00{_digits(canary, 30)}"),
    "true": ("the word true", lambda _canary: "true"),
    "single": ("one character", lambda _canary: "x"),
    "64-kib": ("64 KiB", lambda canary: canary.ljust(64 * 1024, "k")),
    "1-mib": ("1 MiB", lambda canary: canary.ljust(LARGEST_VALUE, "m")),
}


def _base64(octets: int, *, head: bytes = b"", tail: bytes = b"") -> model.Maker:
    """Canonical base64 of so many bytes, in which every character of the alphabet occurs."""
    alphabet = base64.b64decode(f"{ascii_uppercase}{ascii_lowercase}{digits}+/")

    def value(canary: str) -> str:
        data = head + (canary.encode() + alphabet * (octets // len(alphabet) + 1))[:octets] + tail
        return base64.b64encode(data).decode()

    return value


# Bytes of platform B, by name: canonical base64, encoded once, in one line (API-8).
BINARIES: Mapping[str, tuple[str, model.Maker]] = {
    "alphabet": ("every character of the alphabet, + and / too", _base64(96)),
    "one-pad": ("one = at the end", _base64(98)),
    "two-pads": ("two = at the end", _base64(97)),
    "digits": ("digits only, in base64 too", lambda canary: f"00{_digits(canary, 30)}"),
    "long": ("longer than one line of 76 characters", _base64(3 * 1024)),
    "not-text": ("bytes that are no text", _base64(96, tail=b"\x00\xff\xfe\xc3\x28\x80")),
    "outer-blanks": ("a blank and a line end first and last", _base64(96, head=b" \n", tail=b"\n ")),
    "1-mib": ("1 MiB of bytes", _base64(LARGEST_VALUE * 3 // 4)),
}


def difference(wanted: str, came: str | None, other: str = "another value") -> str:
    """How two values differ, in words that hold neither; `other` says what came where no change explains it."""
    if came is None:
        return "no value where it belongs"
    # what a back end may have done, and how the value then looks: whoever knows the change finds the line to fix
    outer = " \t\r\n\u00a0\ufeff\u200b"
    octets, urlsafe = wanted.encode("utf-8", "surrogatepass"), str.maketrans("+/", "-_")
    inside = decode_strictly(wanted) or octets
    changed = {
        "its byte order mark in front is gone": wanted.removeprefix("\ufeff"),
        "its byte order marks are gone": wanted.strip("\ufeff"),
        "its outer blanks are gone": wanted.strip(),
        "its blanks in front are gone": wanted.lstrip(),
        "its blanks at the end are gone": wanted.rstrip(),
        "each CR LF became LF": wanted.replace("\r\n", "\n"),
        "each LF became CR LF": re.sub("\r?\n", "\r\n", wanted),
        "its line ends are gone": re.sub("[\r\n]", "", wanted),
        "its outer blanks are gone, also those beyond ASCII": wanted.strip(outer),
        "each + became a blank": wanted.replace("+", " "),
        "it was decoded as a form: + became a blank, and %2B a +": unquote_plus(wanted),
        "its percent signs were decoded": unquote(wanted),
        "it was percent-encoded": quote(wanted, safe="", errors="replace"),
        "it was normalised to NFC": normalize("NFC", wanted),
        "its entities of HTML were decoded": html.unescape(wanted),
        "it was escaped for HTML": came if html.unescape(came) == wanted else "",
        "its zeros in front are gone": wanted.lstrip("0"),
        "its backslashes are gone": wanted.replace("\\", ""),
        "it is in the url-safe alphabet": wanted.translate(urlsafe),
        "its padding is gone": wanted.rstrip("="),
        "it is in the url-safe alphabet, and its padding is gone": wanted.translate(urlsafe).rstrip("="),
        "it was encoded a second time": base64.b64encode(octets).decode(),
        "it was decoded from base64": inside.decode("utf-8", "replace"),
        "it is written in hexadecimal": octets.hex(),
        "what its base64 holds is written in hexadecimal": inside.hex(),
        "its UTF-8 was read as ISO 8859-1": octets.decode("latin-1"),
        "its UTF-8 was read as Windows-1252": octets.decode("cp1252", "replace"),
        "it was put into quotes": json.dumps(wanted),
        "its letters beyond ASCII were replaced": wanted.encode("ascii", "replace").decode(),
    }
    # of a value that was cut, both counts say where, because a column counts characters and a buffer bytes
    cut = ""
    if came and wanted.startswith(came):
        octets = came.encode("utf-8", "surrogatepass")
        cut = f"it was cut at {len(came):,} of {len(wanted):,} characters ({len(octets):,} bytes)"
    same = next((at for at, pair in enumerate(zip(came, wanted, strict=False)) if pair[0] != pair[1]), 0)
    other += f", of {len(came):,} characters instead of {len(wanted):,}"
    if lost := came.count("\ufffd") - wanted.count("\ufffd"):
        other = f"{lost:,} characters U+FFFD stand in it: UTF-8 was decoded piece by piece, or as another charset"
    elif same:
        other += f"; the first {same:,} are the same"
    wrapped = re.sub("[\r\n]", "", came) == wanted != came
    return next(
        (words for words, text in changed.items() if text == came != wanted),
        "it was wrapped into lines" if wrapped else cut or other,
    )


def _is_cut(call: model.PhoneCall) -> bool:
    """Whether an answer is the beginning of a JSON object, and ends before the object does."""
    try:
        json.loads(call.body)
    except UnicodeDecodeError:
        return call.body.startswith(b"{")
    except json.JSONDecodeError as error:
        return call.body.startswith(b"{") and (error.pos >= len(error.doc) or error.msg.startswith("Unterminated"))
    return False


def given_back(operation: str) -> model.Judge:
    """The phone gets what the API gave, and not something else of the same length."""

    def judge(seen: Seen) -> Iterator[Miss]:
        given = [arrived.given for arrived in seen.came(operation) if arrived.given]
        for call in seen.asked(operation):
            if not given:
                yield Miss("an sdkInput from the API", "none came", judging.ASK, root=Root.FOLLOWS)
            elif call.value is None and _is_cut(call):
                todo = "Write the whole JSON to the app: its content-length counts bytes in UTF-8, and not characters."
                yield Miss("the sdkInput as the API gave it", "cut-off JSON in a complete answer", todo)
            elif call.broke is model.Broke.SPOILT:
                todo = (
                    "Do not pass content-encoding and content-length of the API on: your HTTP client has unpacked the "
                    "body, so neither is true of what the app gets."
                )
                yield Miss("the sdkInput as the API gave it", describe_ending(call), todo)
            elif call.body in [value.encode("utf-8", "surrogatepass") for value in given] and call.value not in given:
                todo = (
                    'Decode the API\'s base64 text once, and send the bytes: the configuration says encoding = "bytes".'
                )
                yield Miss("the bytes of the sdkInput", "their base64 text, which was not decoded", todo)
            elif call.value not in given:
                how = f": {difference(given[-1], call.value, judging.source_of(call.value, seen))}"
                observed = f"{describe_ending(call)}{how if call.reported_success else ''}"
                todo = judging.HAND_ON if call.succeeded else judging.WORK
                yield Miss("the sdkInput as the API gave it", observed, todo)

    return judge


def handed_on(seen: Seen) -> Iterator[Miss]:
    """The API gets the sdkOutput that the phone sent."""
    sent = {call.sent for call in seen.asked(POST)}
    yield from judging.each_request(POST)(seen)
    for arrived in seen.came(POST):
        if (came := arrived.sdk_output) not in sent:
            yield Miss("the sdkOutput as the phone sent it", difference(next(iter(sent)) or "", came), judging.SEND_ON)


def or_refused(judge: model.Judge) -> model.Judge:
    """Asks what `judge` asks, unless a call was plainly refused: a refusal is only noted."""

    def either(seen: Seen) -> Iterator[Miss]:
        refused = [
            call
            for call in seen.calls
            if judging.refuses_length(call, seen) or (judging.refuses(call) and not call.broke)
        ]
        if not refused:
            yield from judge(seen)
        for call in refused:
            todo = "Check whether a server, a gateway or a framework limits bodies more than it has to."
            length = max((len(value) for _id, value in seen.opaque()), default=0)
            observed = "a refusal for its length" if judging.refuses_length(call, seen) else describe_ending(call)
            yield Miss(f"a value of {length:,} characters handed on", observed, todo, "GAP-3")

    return either


def not_the_first_again(seen: Seen) -> Iterator[Miss]:
    """After the POST the phone gets the POST's sdkInput, and never the GET's (API-11)."""
    first = {arrived.given for arrived in seen.came(GET)}
    for call in seen.asked(POST):
        if call.value is not None and call.value in first:
            todo = "Answer with the sdkInput of the POST's own answer."
            yield Miss("the sdkInput that the POST returned", "the one that the GET had returned", todo)


_whole = partial(model.back_end_case, model.BackEndGroup.FIDELITY)


def _values(
    kind: str, subject: tuple[str, str], rule: str, values: Mapping[str, tuple[str, model.Maker]], need: Need
) -> Iterator[model.BackEndCase]:
    """For each value one case of the GET and one of the POST."""
    for name, (words, maker) in values.items():
        get, post = given_back(GET), all_of(handed_on, given_back(POST))
        if name in {"1-mib", "unicode-long"}:  # no limit is shown (GAP-3), so to refuse a long value is no failure
            get, post = or_refused(get), or_refused(post)
        order, both_calls = model.Order(POST, value=maker), both(output=maker)
        yield _whole(f"get.{kind}-{name}", f"{subject[0]}: {words}.", rule, get,
                    CaseScript((AppCall(GET),), (model.Order(GET, value=maker),)), need)  # fmt: skip
        yield _whole(f"post.{kind}-{name}", f"{subject[1]}, both ways: {words}.", rule, post,
                    CaseScript(both_calls, (order,)), need)  # fmt: skip


# The calls that a case of one operation needs.
CALLS_FOR: Mapping[str, tuple[AppCall, ...]] = {GET: (AppCall(GET),), POST: both()}
FIDELITY = (
    _whole("get.sdk-input-byte-exact", "The phone gets the very sdkInput that the GET returned.", "API-10",
           given_back(GET), ATTEMPT),
    _whole("post.sdk-output-byte-exact", "The API gets the very sdkOutput that the phone sent.", "API-2",
           handed_on, ATTEMPT),
    _whole("post.sdk-input-byte-exact", "The phone gets the very sdkInput that the POST returned.", "API-11",
           given_back(POST), ATTEMPT),
    _whole("post.second-sdk-input", "After the POST the phone gets the second sdkInput, not the first.", "API-11",
           all_of(works(POST), not_the_first_again), ATTEMPT),
    # an empty one is none: the POST of an SDK that failed must not look like a success
    _whole("post.empty-sdk-output", "An empty sdkOutput gets no sdkInput.", "REL-6",
           all_of(works(GET), lambda seen: judging.no_success(replace(seen, calls=seen.asked(POST)))),
           CaseScript(both(output=lambda _canary: ""))),
    *(_whole(f"{operation.lower()}.{name}", f"The answer of the {operation} {says}, and arrives all the same.", rule,
             all_of(works(operation), given_back(operation)), CaseScript(CALLS_FOR[operation], (order(operation),)))
      for name, says, order in (
          ("compressed", "is compressed for a back end that accepts it", partial(model.Order, packed=True)),
          ("chunked-answer", "travels in chunks, without a length", partial(model.Order, chunked=True)))
      for operation, rule in ((GET, "API-10"), (POST, "API-11"))),
    *_values("text", ("The GET's sdkInput arrives untouched", "The POST's data arrives untouched"), "API-7",
              TEXTS, Need.PLATFORM_A),
    *_values("bytes", ("Platform B's bytes arrive as they are (base64 in the answer: sdk-b)",
                        "Platform B's bytes arrive as they are"), "API-8", BINARIES, Need.PLATFORM_B),
    # The document shows one field. An API that gains another is the same API, and a strict reader fails that day.
    *(_whole(f"{operation.lower()}.unknown-fields", f"Unknown fields beside the {operation}'s sdkInput do no harm.",
             "REL-10", all_of(works(operation), given_back(operation)),
             CaseScript(CALLS_FOR[operation], (model.Order(operation, more={
                 "expiresAt": "2030-01-01T00:00:00Z", "nested": {"list": [1, None, True]},
             }),)))
      for operation in (GET, POST)),
)  # fmt: skip


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
    elif encoding := judging.wrong_encoding(arrived.request.body):
        todo = "Send JSON in UTF-8 without a byte order mark (RFC 8259, 8.1)."
        yield Miss("JSON in UTF-8 without a byte order mark", encoding, todo)
    elif list(document) != ["sdkOutput"]:
        names = ", ".join(sorted(document))[:80] or "no field"
        yield Miss("exactly the field sdkOutput", names, "Send sdkOutput and nothing beside it.")


def document_path(operation: str) -> model.Judge:
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
        yield Miss("a refusal", describe_ending(call), todo)


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
            todo = "Compress an answer only if the call says accept-encoding: gzip; else the app may be unable to read."
            yield Miss("an answer as it is", f"content-encoding {', '.join(codings)[:40]!r}", todo)


def labelled(seen: Seen) -> Iterator[Miss]:
    """HTTP says what a body is: strict clients refuse JSON under another label, others decode it wrongly (REL-8)."""
    todo = "Send JSON in UTF-8 and label it application/json: name no charset, or utf-8."
    utf_8 = "Send JSON in UTF-8 without a byte order mark (RFC 8259, 8.1): strict clients refuse anything else."
    for call in seen.calls:
        # a value that is the whole body may begin like JSON
        raw = call.value in (call.body.decode("latin-1"), base64.b64encode(call.body).decode())
        if encoding := "" if raw or call.broke else judging.wrong_encoding(call.body):
            observed = f"{encoding} in an answer with status {call.status}"
            yield Miss("JSON in UTF-8 without a byte order mark", observed, utf_8, harms=call.reported_success)
        if call.broke or raw or encoding or not call.body.lstrip().startswith(b"{"):
            continue
        label = next(iter(header_values(call.headers, "content-type")), "")
        kind, _, more = label.lower().partition(";")
        charset = re.search(r"charset\s*=\s*\"?([^\s;\"]+)", more)
        is_json = kind.strip() == "application/json" or kind.strip().endswith("+json")
        if not is_json or (charset and charset[1] not in ("utf-8", "utf8")):
            observed = f"content-type {label[:60]!r} in an answer with status {call.status}"
            yield Miss("an answer labelled as JSON in UTF-8", observed, todo, harms=call.succeeded and bool(label))
    yield from works(GET)(replace(seen, calls=seen.calls[:1]))


def as_lesson_01(seen: Seen) -> Iterator[Miss]:
    """The answers to the app are those of lesson 01: their statuses, a sentence in `error`, and no-store (REL-13)."""
    failed = ((502, 504), (401, 403, 404), "the API failed")
    allowed = (
        ((200,), (), "the API answered"),
        failed,
        failed,
        ((401,), (403, 404), "there is no session"),
        ((404, 403), (401,), "the card is unknown"),
        ((400,), (401, 403, 404), "a POST has no sdkOutput"),
    )
    for call, (statuses, misleading, when) in zip(seen.calls, allowed, strict=True):
        wanted = " or ".join(map(str, statuses))
        if call.status not in statuses:
            # after these an app asks its cardholder to sign in, or takes its button away
            harms = call.status in misleading
            todo = f"Answer as lesson 01 has it: {wanted} where {when}. The app decides by the status what it says."
            yield Miss(f"status {wanted} where {when}", describe_ending(call), todo, harms=harms)
        elif statuses != (200,) and not json_text(call.body, "error"):
            todo = 'Give each failure a text for the cardholder: {"error": "..."}.'
            yield Miss("a text in the field error", f"none in an answer with status {call.status}", todo)
        if "no-store" not in ",".join(header_values(call.headers, "cache-control")).lower():
            yield Miss("cache-control: no-store", f"none in an answer with status {call.status}", "Say cache-control: "
                       "no-store with every answer: it is for one attempt, and no cache may keep it.")  # fmt: skip


def _escaped(path: str, body: bytes | None, _call: model.PhoneCall) -> tuple[str, bytes | None]:
    """The same JSON as another phone's library writes it: with escaped slashes, escaped letters and blanks."""
    text = json.dumps(json.loads(body or b"{}"), indent=2)
    return path, text.replace("/", "\\/").replace("a", "\\u0061").encode()


def _other_value(value: Any) -> model.Tamper:
    """Sends this value, of another type, in the place of the sdkOutput; `...` leaves the field out."""

    def swapped(inner: Any, sent: str | None) -> Any:
        if isinstance(inner, dict):
            kept = {key: item for key, item in inner.items() if value is not ... or item != sent}
            return {key: swapped(item, sent) for key, item in kept.items()}
        if isinstance(inner, list):
            return [swapped(item, sent) for item in inner if value is not ... or item != sent]
        return value if inner == sent else inner

    def tamper(path: str, body: bytes | None, call: model.PhoneCall) -> tuple[str, bytes | None]:
        return path, json.dumps(swapped(json.loads(body or b"{}"), call.sent)).encode()

    return tamper


# What an app may send by mistake. If the call hangs, the phone waits until its time limit.
BAD_BODIES: Mapping[str, tuple[str, model.Tamper]] = {
    "no-json": ("that is no JSON", lambda path, _body, _call: (path, b"sdkOutput=x")),
    "cut": ("that ends in the middle", lambda path, body, _call: (path, (body or b"")[: len(body or b"") // 2])),
    "empty": ("that is empty", lambda path, _body, _call: (path, b"")),
    "list": ("that is a list", lambda path, body, _call: (path, b"[" + (body or b"") + b"]")),
    "no-field": ("without an sdkOutput", _other_value(...)),
    "null": ("whose sdkOutput is null", _other_value(None)),
    "number": ("whose sdkOutput is a number", _other_value(12345)),
    "object": ("whose sdkOutput is an object", _other_value({"value": "x"})),
}


def refused_at_once(seen: Seen) -> Iterator[Miss]:
    """A body without a usable sdkOutput is refused at once, and nothing of it goes to the API (API-6)."""
    todo = "Check the body before anything else: refuse all but a JSON object whose sdkOutput is a non-empty text."
    for call in seen.calls:
        if call.broke is model.Broke.LATE:
            yield Miss("a refusal", f"{describe_ending(call)}: the call was never answered", todo, "REL-9", harms=True)
        elif not call.broke and not judging.refuses(call):
            # Nothing reached the API, so the body was refused; only the answer to the app is wrong.
            yield Miss("a refusal", describe_ending(call), todo if seen.arrived else judging.TELL, "REL-6")
    for arrived in seen.came(POST):
        sent = "an empty sdkOutput" if arrived.sdk_output == "" else "a body made from the refused one"
        yield Miss("no request at the API", f"a POST with {sent}", todo)
    yield from answered(seen)


def _odd_id(operation: str) -> CaseScript:
    """A call with an id that contains everything that ends a segment, a path or a query."""
    return CaseScript((AppCall(operation, instrument=lambda card: f"{card}/../{card}?a=1#b%2F"),), alone=True)


def _attempt(manner: model.Manner) -> CaseScript:
    return CaseScript((AppCall(GET, manner=manner), AppCall(POST, manner=manner)))


# The first rows are about what reaches the API, the later ones about what HTTP and JSON allow the phone. The phone in
# most tests is the same library in one setting; real phones differ in just these things, and some differ between two
# versions.
_form = partial(model.back_end_case, model.BackEndGroup.FORM)
FORM = (
    _form("get.path", "The GET goes to the document's path.", "API-1", document_path(GET), ATTEMPT),
    _form("post.path", "The POST goes to the very same path.", "API-2", document_path(POST), ATTEMPT),
    *(_form(f"{operation.lower()}.{name}", f"The {operation} {says}.", "API-4", each_request(operation, question),
            ATTEMPT)
      for name, says, question in (("key-once", "carries the key, once and unchanged", key_once),
                                   ("content-type", "says content-type: application/json", content_type))
      for operation in (GET, POST)),
    _form("get.no-query", "The GET has no query.", "API-5", each_request(GET, no_query), ATTEMPT),
    _form("get.no-body", "The GET has no body.", "API-5", each_request(GET, no_body), ATTEMPT),
    _form("post.no-query", "The POST's URL holds no key.", "REL-2", each_request(POST, no_query), ATTEMPT),
    _form("post.one-field", "The POST's body is sdkOutput and nothing else.", "API-6",
          each_request(POST, one_field), ATTEMPT),
    _form("get.id-cannot-change-path", "No id changes the path of the GET.", "API-3", all_of(path_kept, answered),
          _odd_id(GET)),
    _form("post.id-cannot-change-path", "No id changes the path of the POST.", "API-3", all_of(path_kept, answered),
          _odd_id(POST)),
    _form("attempt.get-before-post", "The GET comes before the POST.", "API-10", get_first, ATTEMPT),
    _form("attempt.one-of-each", "One attempt makes one GET and one POST.", "REL-7",
          all_of(judging.one_request(GET), judging.one_request(POST, rule="REL-1"), WORKS), ATTEMPT),
    _form("list.one-get-each", "Several cards: one GET for each, and each its own data.", "API-12", one_get_each,
          THREE_GETS, Need.SEVERAL_CARDS),
    # A back end accepts every form of a call that HTTP allows, and takes all of them to mean the same (REL-8).
    _form("post.chunked-body", "The phone may send its body in chunks, without a length.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on, given_back(POST))),
          CaseScript(both(manner=model.Manner.CHUNKED))),
    _form("attempt.header-case", "The phone may write header names in capitals.", "REL-8", loses_attempt(WORKS),
          _attempt(model.Manner.UPPER_CASE)),
    _form("attempt.closed-connections", "The phone may use a new connection for each call.", "REL-8",
          loses_attempt(WORKS), _attempt(model.Manner.CLOSING)),
    _form("attempt.no-encoding", "An answer is not compressed for a phone that accepts no compression.", "REL-8",
          loses_attempt(all_of(WORKS, not_encoded)), _attempt(model.Manner.UNPACKED)),
    _form("list.kept-connection", "Several calls on one connection each get their own card's data.", "REL-8",
          loses_attempt(all_of(works(GET), own_only)), THREE_GETS, Need.SEVERAL_CARDS),
    _form("post.expecting", "The phone may announce its body with Expect: 100-continue.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(manner=model.Manner.EXPECTING))),
    _form("post.charset", "The phone may name the charset in its content-type.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(manner=model.Manner.WITH_CHARSET)),
          Need.JSON_BODY),
    _form("post.escaped-body", "The phone's JSON may have escapes and blanks that mean nothing.", "REL-8",
          loses_attempt(all_of(works(POST), handed_on)), CaseScript(both(tamper=_escaped)), Need.JSON_BODY),
    _form("answer.labelled", "A JSON answer, success or failure, is labelled as JSON in UTF-8.", "REL-8", labelled,
          CaseScript((*both(), model.SetOrders((model.Order(GET, fault="500"),)), AppCall(GET)))),
    _form("answer.as-lesson-01", "The app gets the statuses, the field error and the headers of lesson 01.", "REL-13",
          as_lesson_01,
          CaseScript((AppCall(GET), model.SetOrders((model.Order(GET, fault="500"), model.Order(POST, fault="500"))),
                      *both(), model.SetOrders(), AppCall(GET, cardholder=-1),
                      AppCall(GET, instrument=lambda card: f"{card[:-1]}_"), AppCall(POST, tamper=_other_value(...)))),
          Need.CONTRACT, Need.SESSIONS, Need.JSON_BODY),
    # What no app sends today may come from an app of tomorrow, or from somebody who experiments.
    *(_form(f"post.body-{name}", f"A body of the app {words} is refused at once.", "REL-11", refused_at_once,
            CaseScript((AppCall(POST, tamper=tamper),)), Need.JSON_BODY)
      for name, (words, tamper) in BAD_BODIES.items()),
    # A body that the back end left unread would come before the next call on the same connection.
    _form("post.kept-connection", "After a refused POST the same connection serves the next call.", "REL-8",
          judging.recovers, CaseScript((AppCall(POST, cardholder=-1), AppCall(GET))),
          Need.SESSIONS),
)  # fmt: skip
