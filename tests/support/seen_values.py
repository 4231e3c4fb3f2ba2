"""Both sides of an attempt, made by hand: what a back end that is in order would have shown, and changes of it."""

import json
from dataclasses import replace

from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response
from workbook.tools.conform.back_end.model import GET, POST, Arrived, Broke, PhoneCall, Seen
from workbook.tools.harness.program import LogLine

KEY = "KEY-made-by-hand-0123456789"
HOST = "127.0.0.1:34567"
CARD, OTHER = "PI1", "PI2"
FIRST, SECOND, OUTPUT = "first-sdk-input-of-the-card", "second-sdk-input-of-the-card", "sdk-output-of-the-card-1"


def body(value):
    """An answer of the back end or of the API."""
    return json.dumps({"sdkInput": value}, ensure_ascii=False).encode("utf-8", "backslashreplace")


def call(operation=GET, value=FIRST, *, status=200, number=1, card=CARD, sent=None, began=0.0, took=0.1, **more):
    """One call of the phone; with `value=None` its answer is a neutral failure unless `body` says otherwise."""
    said = {"body": b'{"error": "Try again later."}' if value is None else body(value), **more}
    times = (began, began + took)
    return PhoneCall(number, operation, "ann", card, sent, *times, status=status, value=value, **said)


def dropped(broke=Broke.LOST, operation=GET, **more):
    """A call without an answer."""
    return replace(call(operation, None, status=None, **more), broke=broke, body=b"")


def request(operation=GET, value=FIRST, *, card=CARD, sent=OUTPUT, at=0.05, elsewhere=False, **more):
    """One request as it should reach the API, and what that answered."""
    content = json.dumps({"sdkOutput": sent}, ensure_ascii=False).encode() if operation == POST else b""
    target = more.pop("target", f"{BEFORE_ID}{card}{AFTER_ID}")
    headers = more.pop("headers", (("x-api-key", KEY), ("content-type", "application/json")))
    asked = Request(operation, target, headers, more.pop("content", content))
    answer = Response(200, JSON_HEADERS, body(value), "by hand")
    known = more.pop("operation", operation)
    return Arrived(1, at, asked, answer, known, card if known else "", value, elsewhere)


def seen(calls, arrived, **more):
    """What a case saw."""
    log = [LogLine("relay.log", number, text) for number, text in enumerate(more.pop("log", "").splitlines(), 1)]
    return Seen(tuple(calls), tuple(arrived), log, KEY, HOST, more.pop("bound", 2.0), **more)


def attempt(**changes):
    """A GET and a POST that went well; `first`, `second`, `get` and `post` stand for another call or request."""
    parts = {
        "first": call(),
        "second": call(POST, SECOND, number=2, sent=OUTPUT, began=1.0),
        "get": request(),
        "post": request(POST, SECOND, at=1.05),
        **changes,
    }
    calls = [parts[name] for name in ("first", "second") if parts[name]]
    return seen(calls, [parts[name] for name in ("get", "post") if parts[name]], log=changes.get("log", ""))
