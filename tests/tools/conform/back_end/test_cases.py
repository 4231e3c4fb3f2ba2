"""What each case makes of both sides of a call, without any socket: what is in order, and what is not."""

import re
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import get_args

import pytest
import relays
from rows import rows
from seen_values import CARD, FIRST, KEY, OTHER, OUTPUT, SECOND, attempt, call, dropped, request, seen
from texts import demand_none

from workbook.play.own_code import BACK_END_WAIT
from workbook.simulation.faults import FAULTS
from workbook.simulation.http import Response
from workbook.tools.conform.app.cases import APP_CASES, AppGroup
from workbook.tools.conform.app.cases_b import APP_CASES_B
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.cases.data import difference
from workbook.tools.conform.back_end.model import (
    AWAY,
    GET,
    IN_BODY,
    POST,
    AppCall,
    BackEndGroup,
    Broke,
    Exposed,
    Exposure,
    Misdelivered,
    Need,
    SetOrders,
    Tempo,
    WholeRun,
)
from workbook.tools.harness.model import Verdict, gravest
from workbook.tools.preflight.model import PreflightGroup
from workbook.tools.preflight.run import PREFLIGHT_CASES

PASS, WARN, FAIL, NOTE = Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.NOTE
STRAY = {"operation": ""}


def verdict(name, value):
    case = CASES[f"relay.{name}"]
    return gravest(case.judge(value), case.rule)


def get_with(*headers):
    return attempt(get=request(headers=headers))


def post_body(content):
    return attempt(post=request(POST, SECOND, at=1.05, content=content))


def failed(operation, **more):
    """A fault, told as a failure, and then a success."""
    sent = OUTPUT if operation == POST else None
    answers = [call(operation, None, status=502, sent=sent, **more), call(operation, SECOND, number=2, sent=sent)]
    return seen(answers, [request(operation, None), request(operation, SECOND)])


TYPE = ("content-type", "application/json")
LONG_ID = "PI00000000000000000000000001"
INSIDE = f'{{"paymentInstrumentId": "{LONG_ID}", "cardholderName": "A. Cardholder"}}'


OPAQUE = "opaque-data-of-one-card-0123456789-abcdefg"
LONGER = {"first": call(value=OPAQUE), "get": request(value=OPAQUE)}
LEAK = Exposure(Exposed.KEY, "relay.get.limit-headers", "an answer with status 504")


def sealed(log):
    """An attempt whose sdkInput holds text that names the card."""
    value = b64encode(INSIDE.encode()).decode()
    parts = {"first": call(value=value, card=LONG_ID), "get": request(value=value, card=LONG_ID)}
    return attempt(**parts, log=log)


FORM = [
    ("get.path", attempt(get=None), FAIL),
    ("get.path", attempt(get=request(target="/v2/paymentInstruments/PI1", **STRAY)), FAIL),
    ("get.path", seen(attempt().calls, [*attempt().arrived, request(target="/health", **STRAY)]), PASS),
    ("post.path", attempt(post=None), FAIL),
    ("get.key-once", get_with(TYPE), FAIL),
    ("get.key-once", get_with(("X-Api-Key", KEY), TYPE), PASS),
    ("get.key-once", get_with(("x-api-key", KEY), ("X-API-KEY", KEY), TYPE), FAIL),
    ("get.key-once", get_with(("x-api-key", f'"{KEY}"'), TYPE), FAIL),
    ("post.key-once", attempt(post=None), FAIL),
    ("get.content-type", get_with(("x-api-key", KEY)), FAIL),
    ("get.content-type", get_with(("Content-Type", "application/json; charset=utf-8")), PASS),
    ("get.content-type", get_with(TYPE, TYPE), FAIL),
    ("post.content-type", attempt(post=request(POST, SECOND, headers=(("content-type", "text/plain"),))), FAIL),
    ("get.no-query", attempt(get=request(target="/bcl/v2/paymentInstruments/PI1/x?a=1")), FAIL),
    ("get.no-query", attempt(get=request(target=f"/bcl/v2/paymentInstruments/PI1/x?key={KEY}")), FAIL),
    ("post.no-query", attempt(post=request(POST, SECOND, target=f"/x?key={KEY}")), FAIL),
    ("get.no-body", attempt(get=request(content=b"{}")), FAIL),
    ("post.no-query", attempt(post=request(POST, SECOND, target="/x?platform=a")), NOTE),
    ("post.one-field", post_body(b'{"sdkOutput": "x", "id": "PI1"}'), FAIL),
    ("post.one-field", post_body(b"[]"), FAIL),
    ("post.one-field", post_body(b'\xef\xbb\xbf{"sdkOutput": "x"}'), FAIL),
    ("post.one-field", post_body(b""), FAIL),
    ("attempt.get-before-post", attempt(get=None), FAIL),
    ("attempt.get-before-post", attempt(get=request(at=1.01)), FAIL),
    ("attempt.one-of-each", seen(attempt().calls, [request(), *attempt().arrived]), WARN),
    ("attempt.one-of-each", seen(attempt().calls, [*attempt().arrived, attempt().arrived[1]]), FAIL),
    ("attempt.one-of-each", attempt(post=None), WARN),
    ("list.one-get-each", seen([call(), call(GET, SECOND, card=OTHER)],
                               [request(), request(value=SECOND, card=OTHER)]), PASS),
    ("list.one-get-each", seen([call(), call(card=OTHER)], [request(), request(value=SECOND, card=OTHER)]), FAIL),
    ("list.one-get-each", seen([call(), call(card=OTHER)], [request()]), FAIL),
    ("get.id-cannot-change-path", seen([call(GET, None, status=404, card="PI1/../PI1?a")], []), PASS),
    ("get.id-cannot-change-path", seen([call(GET, None, status=502, card="PI1/../PI1?a")],
                                       [request(card="PI1/../PI1?a", target="/bcl/PI1%2F..%2FPI1%3Fa/n")]), PASS),
    ("get.id-cannot-change-path", seen([call(GET, None, status=502, card="PI1/../PI1?a")], [request()]), FAIL),
    ("get.id-cannot-change-path", seen([call(card="PI1/../PI1?a")], []), FAIL),
]  # fmt: skip
HTTP = [
    ("post.chunked-body", attempt(second=call(POST, None, status=400, sent=OUTPUT), post=None), FAIL),
    ("attempt.header-case", attempt(first=call(GET, None, status=401)), FAIL),
    ("attempt.closed-connections", attempt(second=dropped(operation=POST)), FAIL),
    ("attempt.no-encoding", attempt(first=call(headers=(("Content-Encoding", "identity"),))), PASS),
    ("attempt.no-encoding", attempt(first=call(headers=(("Content-Encoding", "gzip"),))), FAIL),
    ("post.kept-connection", seen([call(POST, None, status=401, sent=OUTPUT), call()], [request()]), PASS),
    ("post.kept-connection", seen([call(POST, None, status=401, sent=OUTPUT), dropped()], []), FAIL),
    ("list.kept-connection", seen([call(), call(card=OTHER)], [request(), request(value=SECOND, card=OTHER)]), FAIL),
]
FIDELITY = [
    ("get.text-unicode", attempt(first=call(value=None, body='{"sdkInput": "\u00fc'.encode())), FAIL),
    ("get.text-unicode", attempt(first=call(value=None, body='{"sdkInput": "\u00fc"'.encode()[:-2])), FAIL),
    ("get.sdk-input-byte-exact", attempt(first=call(value=FIRST.upper())), FAIL),
    ("get.sdk-input-byte-exact", attempt(first=dropped()), FAIL),
    ("get.compressed", attempt(first=dropped(Broke.SPOILT)), FAIL),
    ("get.sdk-input-byte-exact", attempt(first=call(value="QUJD", body=FIRST.encode())), FAIL),
    ("get.sdk-input-byte-exact", attempt(get=None), FAIL),
    ("post.sdk-output-byte-exact", attempt(post=request(POST, SECOND, sent=f"{OUTPUT} ")), FAIL),
    ("post.sdk-output-byte-exact", attempt(post=None), FAIL),
    ("post.sdk-input-byte-exact", attempt(second=call(POST, FIRST, sent=OUTPUT)), FAIL),
    ("post.second-sdk-input", attempt(second=call(POST, FIRST, sent=OUTPUT)), FAIL),
    ("post.second-sdk-input", attempt(second=call(POST, None, status=502, sent=OUTPUT)), FAIL),
    ("get.text-1-mib", attempt(second=None, post=None), PASS),
    ("get.text-1-mib", attempt(first=call(value=FIRST[:-1]), second=None, post=None), FAIL),
    ("get.text-1-mib", seen([call(GET, None, status=413)], []), NOTE),
    ("get.text-1-mib", seen([dropped()], [request()]), FAIL),
    ("get.text-symbols", seen([call(GET, None, status=413)], [request()]), FAIL),
    ("get.unknown-fields", seen([call(GET, None, status=502)], [request()]), WARN),
    ("post.empty-sdk-output", seen([call(), call(POST, None, status=400, sent="")], [request()]), PASS),
    ("post.empty-sdk-output", seen([call(), call(POST, FIRST, sent="")], [request()]), FAIL),
]
SECRECY = [
    ("failure.no-words", seen([call(GET, None, status=502, body=b'{"errorCode": "CARD"}')], []), PASS),
    ("failure.no-words", seen([call(GET, None, status=502, body=b'{"errorCode": "00_401"}')], []), WARN),
    ("failure.no-words", seen([call(GET, None, status=500, body=b"Traceback (most recent call last):")], []), FAIL),
    ("failure.no-words", seen([call(GET, None, status=500, body=b"Error\n    at run (/a/b.js:3:14)")], []), FAIL),
    ("get.redirect-not-followed", seen([call(GET, None, status=502)], [request(value=None)]), PASS),
    ("get.redirect-not-followed", seen([call()], [request(), request(elsewhere=True)]), FAIL),
    ("get.redirect-not-followed", seen([call()], [request(), request(elsewhere=True, headers=())]), FAIL),
    ("get.redirect-not-followed", seen([call(GET, None, status=502)], []), FAIL),
    ("log.no-key-ever", attempt(log="GET, answered with 200"), PASS),
    ("log.no-key-ever", attempt(log=f"headers {{'x-api-key': '{KEY}'}}"), FAIL),
    ("log.no-opaque-data-ever", attempt(log="GET, answered with 200"), PASS),
    ("log.no-opaque-data-ever", attempt(log=f"answer: {FIRST[:24]}..."), FAIL),
    ("log.no-opaque-data-ever", sealed(f"bytes: {INSIDE.encode().hex()}"), FAIL),
    ("log.no-opaque-data-ever", sealed(f"bytes={INSIDE.encode().hex().upper()}"), FAIL),
    ("log.no-opaque-data-ever", attempt(log=f"again: {b64encode(OPAQUE.encode()).decode()}", **LONGER), FAIL),
    ("log.no-opaque-data-ever", attempt(log=f"again/{b64encode(OPAQUE.encode()).decode()}", **LONGER), FAIL),
    ("log.no-opaque-data-ever", sealed(f"id: {'0123456789abcdef' * 8} {'Zm9vYmFy' * 9}"), PASS),
    ("answer.no-key-ever", seen([], [], run=WholeRun(3)), PASS),
    ("answer.no-key-ever", seen([], [], run=WholeRun(3, 0, (LEAK,))), FAIL),
    ("answer.no-host-ever", seen([], [], run=WholeRun(3, 0, (LEAK,))), PASS),
    ("answer.no-host-ever", seen([], [], run=WholeRun(3, 0, (replace(LEAK, secret=Exposed.HOST),))), FAIL),
    ("log.no-opaque-data-ever", sealed(f"answer: {INSIDE[:40]}..."), FAIL),
    ("log.no-opaque-data-ever", sealed(f"GET for {LONG_ID}, answered with 200"), PASS),
    ("log.no-key-ever", seen([], [], log=f"GET\nkey: {KEY[4:14]}"), FAIL),
    ("log.no-key-ever", seen([], [], log="GET, answered with 200"), PASS),
    ("log.no-key-ever", seen([], [], log=f"GET\nkey: {KEY.encode().hex().upper()}"), FAIL),
    ("log.no-key-ever", seen([], [], run=WholeRun(missing_logs=("relay.log",))), FAIL),
    (
        "log.no-opaque-data-ever",
        seen([], [], log=f"answer: {FIRST[:24]}...", run=WholeRun(values=((CARD, FIRST),))),
        FAIL,
    ),
    (
        "log.no-opaque-data-ever",
        seen([], [], log=f"answer: {'-' * 40}x", run=WholeRun(values=((CARD, "-" * 40),))),
        PASS,
    ),
    ("log.no-opaque-data-ever", seen([], [], log="answer: x", run=WholeRun(values=((CARD, "x"),))), PASS),
]
SAME = (call(POST, SECOND, sent="a"), call(POST, SECOND, sent="a"))
ISOLATION = [
    ("get.crowd", seen([call(), call(GET, SECOND, card=OTHER)], [request(), request(value=SECOND, card=OTHER)]), PASS),
    ("get.crowd", seen([call(), call(card=OTHER)], [request(), request(value=SECOND, card=OTHER)]), FAIL),
    ("get.crowd", seen([call(), call(GET, None, status=429)], [request()]), PASS),
    ("get.crowd", seen([call(GET, None, status=429)], []), FAIL),
    ("post.crowd", seen([call(POST, None, sent=OUTPUT, status=502), call(POST, SECOND, sent="x", card=OTHER)],
                        [request(POST, SECOND, card=OTHER, sent=OUTPUT)]), FAIL),
    ("get.other-cardholder", seen([call(GET, None, status=403)], []), PASS),
    ("get.other-cardholder", seen([call(GET, None, status=200)], []), PASS),
    ("get.other-cardholder", seen([call()], []), FAIL),
    ("get.other-cardholder", seen([call(GET, None, status=403)], [request()]), FAIL),
    ("get.fresh", seen([call(), call(GET, SECOND)], [request(), request(value=SECOND)]), PASS),
    ("get.fresh", seen([call(), call()], [request()]), WARN),
    *(("get.not-cacheable", attempt(first=call(headers=(("Cache-Control", told),))), wanted)
      for told, wanted in (("no-store", PASS), ("private, max-age=0", PASS), ("max-age=60", WARN),
                           ("public, s-maxage=5, max-age=0", FAIL), ("no-store, max-age=60", PASS))),
    ("post.same-again", seen([call(), *SAME], [request(), *(request(POST, SECOND, sent="a"),) * 2]), PASS),
    ("post.same-again", seen([call(), SAME[0], call(POST, None, status=409, sent="a")],
                             [request(), request(POST, SECOND, sent="a")]), PASS),
    ("post.same-again", seen([call(), *SAME], [request(), request(POST, SECOND, sent="a")]), WARN),
    ("get.fresh-after-failure", seen([call(), call(GET, None, status=502)], [request()]), PASS),
    ("get.fresh-after-failure", seen([call(), call()], [request()]), WARN),
    ("get.fresh-after-failure", seen([dropped(), dropped()], []), WARN),
]  # fmt: skip
FAULTED = [
    *((f"{operation.lower()}.fault-500", failed(operation), PASS) for operation in (GET, POST)),
    ("get.fault-500", failed(GET, body=b"no JSON"), PASS),
    ("get.fault-wrong-content-length", failed(GET), PASS),
    ("get.fault-wrong-content-length", seen([call(), call(GET, SECOND)], [request(), request(value=SECOND)]), NOTE),
    ("get.fault-wrong-content-length", seen([call(value="cut"), call(GET, SECOND)], [request()]), FAIL),
    ("get.fault-500", seen([call(GET, None), call(GET, SECOND)], [request(), request()]), FAIL),
    ("get.fault-500", seen([call(GET, None), call(GET, SECOND)], [request(), request()], failures=IN_BODY), PASS),
    ("get.fault-500", seen([call(GET, None, body=b"{}"), call(GET, SECOND)], [request()], failures=IN_BODY), FAIL),
    ("get.fault-500", seen([call(GET, None, body=b'{"ok": false}'), call(GET, SECOND)], [], failures=IN_BODY), PASS),
    ("get.fault-500", seen([call(GET, None, body=b"{}"), call(GET, SECOND)], [request(), request()]), FAIL),
    ("get.fault-500", seen([call(GET, None, body=b'{"title": "x"}'), call(GET, SECOND)], []), FAIL),
    ("get.fault-500", seen([call(value=""), call(GET, SECOND)], [request(), request()]), FAIL),
    ("get.fault-500", seen([dropped(), call(GET, SECOND)], [request(), request()]), WARN),
    ("get.fault-500", seen([dropped(Broke.LATE), call(GET, SECOND)], [request(), request()]), FAIL),
    ("get.fault-500", seen([call(GET, None, status=502, took=2.5), call(GET, SECOND)], [request()]), FAIL),
    ("get.fault-500", seen([call(GET, None, status=502), call(GET, None, status=502)], [request()]), FAIL),
    ("post.fault-500", seen(failed(POST).calls, [request(POST, None)] * 3), FAIL),
    ("get.odd-huge-body", failed(GET), PASS),
    ("get.odd-huge-body", seen([call(), call(GET, SECOND)], [request(), request(value=SECOND)]), PASS),
    ("get.odd-huge-body", seen([call(value=FIRST[:9]), call(GET, SECOND)], [request(), request(value=SECOND)]), FAIL),
    ("get.opaque-sdkinput-damaged", seen([call()], [request()]), PASS),
    ("get.opaque-sdkinput-damaged", seen([call(GET, None, status=502)], [request()]), FAIL),
]
TIMES = [
    ("get.limit-headers", seen([call(GET, None, status=504, took=1.7)], [request()]), PASS),
    ("get.limit-headers", seen([dropped(Broke.LATE, took=2.5)], [request()]), FAIL),
    ("get.limit-headers", seen([call(GET, None, status=504, took=2.1)], [request()]), FAIL),
    ("get.limit-headers", seen([call(GET, None, status=504, took=1.95)], [request()]), PASS),
    ("get.limit-headers", seen([call(GET, None, status=504, took=1.95)], [request()], app_wait=1.5), WARN),
    ("get.limit-headers", seen([call(GET, None, status=504, began=-9.0, took=10.7)], [request()]), PASS),
    ("get.limit-headers", seen([call(GET, None, status=504, began=-1, took=2.7)], [request()], before={GET: 1}), FAIL),
    ("get.limit-headers", seen([dropped(Broke.LATE, took=2.5)], [request()], extension=True), FAIL),
    ("post.limit-headers", seen([dropped(Broke.LATE, POST, took=2.5)], [request(POST)], extension=True), FAIL),
    ("get.connections-end", seen([call()] * 4, [request()] * 4, left_open=1), PASS),
    ("get.connections-end", seen([call()] * 4, [request()] * 4, left_open=3), WARN),
    ("get.connections-end", seen([call()] * 4, [request()] * 4, left_open=4), FAIL),
    ("get.connections-end-on-failure", seen([call(GET, None, status=502)] * 4, [request()], left_open=4), FAIL),
    ("list.in-time", seen([call(took=0.4), call(took=0.4)], [request(), request()]), PASS),
    ("list.in-time", seen([call(GET, None, status=504, took=0.4)], [request()]), PASS),
    ("list.in-time", seen([call(took=0.4), call(took=2.1)], [request(), request()]), FAIL),
    ("list.side-by-side", seen([], [], tempo=Tempo({}, {}, carried=2, met=2)), PASS),
    ("list.side-by-side", seen([], [], tempo=Tempo({}, {}, carried=1, met=1, one_lane=True)), FAIL),
    ("list.side-by-side", seen([], [], tempo=Tempo({}, {}, carried=2, met=2, queues_cardholder=True)), FAIL),
]
AGAIN = call(POST, FIRST, sent=OUTPUT, number=2)
BAD = call(POST, None, status=400, sent=OUTPUT)
OF_THIS_CARD, OF_ANOTHER = request(POST), request(POST, SECOND, card=OTHER)
LABELLED = [call(headers=(("content-type", "application/json; charset=utf-8"),))]
NO_TLS = [call(), call(GET, None, status=502, began=1.0), call(POST, None, status=502, began=2.0, sent=OUTPUT)]
PIECES = "UTF-8 was decoded piece by piece, or as another charset"
GONE_ASTRAY = [
    Misdelivered("relay.get.crowd", call(), request(card=OTHER), "sdkInput"),
    Misdelivered("relay.post.crowd", call(POST, sent=OUTPUT), request(POST, SECOND, card=OTHER), "sdkOutput"),
]
STRANGERS = [
    ("run.own-card", seen([], [], run=WholeRun(requests=2)), PASS),
    ("run.own-card", seen([], [], run=WholeRun()), FAIL),
    ("run.own-card", seen([], [], run=WholeRun(requests=2, misdelivered=tuple(GONE_ASTRAY[:1]))), FAIL),
    ("run.own-card", seen([], [], run=WholeRun(requests=2, misdelivered=tuple(GONE_ASTRAY))), FAIL),
    ("post.expecting", attempt(second=dropped(operation=POST)), FAIL),
    ("post.charset", attempt(second=call(POST, None, status=415, sent=OUTPUT), post=None), FAIL),
    ("post.escaped-body", attempt(post=request(POST, SECOND, sent=f"{OUTPUT}-")), FAIL),
    ("answer.labelled", seen(LABELLED, []), PASS),
    ("answer.labelled", seen([call(headers=(("content-type", "application/problem+json"),))], []), PASS),
    ("answer.labelled", seen([call(headers=(("content-type", "text/html"),))], []), FAIL),
    ("answer.labelled", seen([call(headers=(("content-type", "application/json; charset=latin1"),))], []), FAIL),
    ("answer.labelled", seen([call()], []), WARN),
    ("answer.labelled", seen([call(value=None, body=b"\xef\xbb\xbf{}", headers=LABELLED[0].headers)], []), FAIL),
    ("answer.labelled", seen([call(value=None, body="{}".encode("utf-16"), headers=LABELLED[0].headers)], []), FAIL),
    ("answer.labelled", seen([*LABELLED, call(GET, None, status=502, body="{}".encode("utf-16-le"))], []), WARN),
    ("answer.labelled", seen([call(value="{raw", body=b"{raw")], []), PASS),
    ("answer.labelled", seen([call(value=b64encode(b"{raw").decode(), body=b"{raw")], []), PASS),
    ("answer.labelled", seen([*LABELLED, call(GET, None, status=502, body=b"not JSON")], []), PASS),
    ("post.body-number", seen([BAD], []), PASS),
    ("post.body-number", seen([BAD], [request(POST, None, sent="12345")]), WARN),
    ("post.body-number", seen([call(POST, FIRST, sent=OUTPUT)], []), FAIL),
    ("post.body-cut", seen([dropped(Broke.LATE, POST)], []), FAIL),
    ("post.body-cut", seen([dropped(operation=POST)], []), WARN),
    ("get.id-in-query", seen([call()], [request()]), PASS),
    ("get.id-in-query", seen([call(GET, None, status=404)], []), PASS),
    ("get.id-in-query", seen([call(GET, SECOND)], [request(value=SECOND, card=OTHER)]), FAIL),
    ("post.id-in-body", seen([AGAIN], [OF_THIS_CARD]), PASS),
    ("post.id-in-body", seen([AGAIN], [OF_ANOTHER]), FAIL),
    ("post.same-by-another", seen([AGAIN, call(POST, None, status=404, card=OTHER, sent=OUTPUT)], []), PASS),
    ("post.same-by-another", seen([AGAIN, call(POST, FIRST, card=OTHER, sent=OUTPUT)], []), FAIL),
    ("post.same-by-another", seen([BAD, BAD], []), FAIL),
    ("get.at-once", seen([call(), call(GET, SECOND)], [request(), request(value=SECOND)]), PASS),
    ("get.at-once", seen([call(), call()], [request()]), WARN),
    ("get.at-once", seen([call(), call(GET, None, status=409)], [request()]), WARN),
    ("get.fault-500", replace(failed(GET), arrived=(request(GET, None),) * 3 + (request(GET, SECOND),)), PASS),
    ("get.fault-500", replace(failed(GET), arrived=(request(GET, None),) * 26 + (request(GET, SECOND),)), FAIL),
    ("get.key-refused", seen([call(GET, None, status=502)], [request()]), PASS),
    ("get.key-refused", seen([call(GET, None, status=401)], [request()]), FAIL),
    ("get.key-refused", seen([call(GET, None, status=403)], [request()]), WARN),
    ("get.sdk-input-number", failed(GET), PASS),
    ("get.sdk-input-number", seen([call(GET, None, body=b'{"sdkInput": 7}'), call(GET, SECOND)], [request()]), FAIL),
    ("tls.expired", seen([*NO_TLS, call(began=3.0)], [request(), request(at=3.05)]), PASS),
    ("tls.expired", seen([*NO_TLS, call(began=3.0)], [request(), request(at=1.05), request(at=3.05)]), FAIL),
    ("tls.expired", seen([*NO_TLS, call(GET, None, status=502, began=3.0)], [request()]), FAIL),
]
TAPS = [call(), call(POST, SECOND, sent="a"), call(POST, "third", sent="b")]
AT_THE_API = [request(), request(POST, SECOND, sent="a"), request(POST, "third", sent="b")]
TOGETHER = [
    ("post.double-tap", seen(TAPS, AT_THE_API), PASS),
    ("post.double-tap", seen([*TAPS[:2], call(POST, None, status=409, sent="b")], AT_THE_API[:2]), PASS),
    ("post.double-tap", seen([*TAPS[:2], call(POST, SECOND, sent="b")], AT_THE_API[:2]), FAIL),
    ("post.double-tap", seen([TAPS[0], call(POST, "third", sent="a"), TAPS[2]], AT_THE_API), FAIL),
    ("post.given-up", seen([call(), dropped(Broke.CANCELLED, POST, sent="a")], AT_THE_API[:2]), PASS),
    ("post.given-up", seen([call(), dropped(Broke.CANCELLED, POST, sent="a")], AT_THE_API), FAIL),
    ("post.given-up", seen([call(), *TAPS[1:]], [*AT_THE_API[:2], AT_THE_API[1]]), FAIL),
    ("attempt.after-given-up", seen(TAPS, AT_THE_API), PASS),
    ("attempt.after-given-up", seen([*TAPS[:2], call(POST, None, status=409, sent="b")], AT_THE_API), FAIL),
    ("post.after-idle", seen([call(POST), call(POST)], [request(POST)] * 2), PASS),
    ("post.after-idle", seen([call(POST), call(POST, None, status=502, sent="a")], AT_THE_API[1:2]), FAIL),
    ("get.api-away", seen([call(), call(GET, None, status=502), call()], [request()] * 2), PASS),
    ("get.api-away", seen([call(), call(), call()], [request()] * 2), FAIL),
    ("get.api-away", seen([call(), dropped(), call()], [request()] * 2), WARN),
    ("get.api-away", seen([call(), call(GET, None, status=502), dropped()], [request()]), FAIL),
]


NO_STORE = (("Cache-Control", "private, no-store"),)


def answers(changed=0, **more):
    """What the case about lesson 01 sees of a back end that is in order, but for one call."""
    calls = [(GET, 200), (GET, 502), (POST, 504), (GET, 401), (GET, 404), (POST, 400)]
    told = [call(operation, None, status=status, headers=NO_STORE) for operation, status in calls]
    told[changed] = replace(told[changed], **more)
    return seen(told, [])


CONTRACT = [
    ("answer.as-lesson-01", answers(), PASS),
    ("answer.as-lesson-01", answers(4, status=403), PASS),
    ("answer.as-lesson-01", answers(1, status=500), WARN),
    ("answer.as-lesson-01", answers(1, status=401), FAIL),
    ("answer.as-lesson-01", answers(4, status=401), FAIL),
    ("answer.as-lesson-01", answers(5, body=b"no"), WARN),
    ("answer.as-lesson-01", answers(0, headers=()), WARN),
    ("get.limit-headers", seen([call(GET, None, status=504, took=BACK_END_WAIT - 0.1)], [request()], bound=20.0), PASS),
    ("get.limit-headers", seen([call(GET, None, status=504, took=BACK_END_WAIT + 0.1)], [request()], bound=20.0), WARN),
    (
        "get.limit-headers",
        seen([call(GET, None, status=504, took=BACK_END_WAIT + 0.1)], [request()], bound=20.0, app_wait=12.0),
        PASS,
    ),
]


@pytest.mark.rule("REL-1", "REL-2", "REL-3", "REL-4", "REL-5", "REL-6", "REL-7", "REL-8", "REL-9",
                  "REL-10", "REL-11", "REL-12", "REL-13")  # fmt: skip
@rows(
    ("name", "value", "wanted"),
    [*FORM, *HTTP, *FIDELITY, *SECRECY, *ISOLATION, *FAULTED, *TIMES, *TOGETHER, *STRANGERS, *CONTRACT],
)
def test_a_case_comes_to_this(name, value, wanted):
    assert verdict(name, value) is wanted


TOGETHER_HELD = Tempo({}, {}, carried=2, met=2)
MANUAL = {
    "a GET takes more than": ("get.limit-headers", seen([dropped(Broke.LATE, took=2.5)], [request()], extension=True)),
    "an answer takes longer than": (
        "get.limit-headers",
        seen([call(GET, None, status=504, took=BACK_END_WAIT + 0.1)], [request()], bound=20.0),
    ),
    "one call waits": ("list.side-by-side", seen([], [], tempo=replace(TOGETHER_HELD, carried=1, one_lane=True))),
    "calls of one cardholder": (
        "list.side-by-side",
        seen([], [], tempo=replace(TOGETHER_HELD, queues_cardholder=True)),
    ),
    "an answer is JSON with": (
        "answer.labelled",
        seen([call(value=None, body=b"\xef\xbb\xbf{}", headers=LABELLED[0].headers)], []),
    ),
    "a value is whole after": (
        "get.fault-wrong-content-length",
        seen([call(), call(GET, SECOND)], [request(), request(value=SECOND)]),
    ),
    "the answers to the app": ("answer.as-lesson-01", answers(1, status=500)),
    "a new field": ("get.unknown-fields", seen([call(GET, None, status=502)], [request()])),
    "a POST is repeated": ("post.fault-429-with-garbage", seen(failed(POST).calls, [request(POST, None)] * 3)),
    "two simultaneous GETs": ("get.at-once", seen([call(), call()], [request()])),
    "each of 96 GETs": ("get.connections-end", seen([call()] * 4, [request()] * 4, left_open=4)),
    "a success is not labelled": ("answer.labelled", seen([call(headers=(("content-type", "text/html"),))], [])),
    "any cache may keep": (
        "get.not-cacheable",
        attempt(first=call(headers=(("Cache-Control", "public, s-maxage=5, max-age=0"),))),
    ),
    "a call fails after": (
        "get.fault-wrong-content-length",
        seen([call(GET, None, status=502)] * 2, [request()]),
    ),
    "a stack trace": (
        "failure.no-words",
        seen([call(GET, None, status=500, body=b"Traceback (most recent call last):")], []),
    ),
    "another cardholder's card": ("get.other-cardholder", seen([call(GET, None, status=403)], [])),
    "the API's 401": ("get.key-refused", seen([call(GET, None, status=401)], [request()])),
}
"""Each finding that the manual explains, by its first words: the case that finds it, and what it sees then."""
OF_THE_RUN = ("a command prints nothing", "a file beside the command", "another cardholder's session")
"""What no case judges."""
PAGE = Path(__file__).parents[4] / "notebooks/reference/conform.md"
TABLE = re.compile(r"(?<=\| finding \| verdict \| why \|\n\|---\|---\|---\|\n)(?:\|.*\n)+")


def test_the_manual_gives_each_finding_the_verdict_of_its_case(generated):
    def told(row):
        finding, _, why = row.strip("|\n").split(" | ")
        (found,) = [first for first in (*MANUAL, *OF_THE_RUN) if finding.strip().startswith(first)]
        return row if found in OF_THE_RUN else f"|{finding} | {verdict(*MANUAL[found]).value} | {why}|\n"

    page = PAGE.read_text("utf-8")
    rows = TABLE.search(page)[0].splitlines(keepends=True)
    assert len(rows) == len(MANUAL) + len(OF_THE_RUN)
    generated(PAGE, TABLE.sub(lambda _: "".join(map(told, rows)), page))


def test_each_miss_word_for_word(golden):
    seen_by_case = [*FORM, *HTTP, *FIDELITY, *SECRECY, *ISOLATION, *FAULTED, *TIMES, *TOGETHER, *STRANGERS, *CONTRACT]
    lines = {
        f"{name}: {miss.expected} | {miss.observed} | {miss.todo} | {miss.rule} {miss.root.name}"
        + " noted" * miss.noted + " harms" * miss.harms: None
        for name, value, _wanted in seen_by_case for miss in CASES[f"relay.{name}"].judge(value)
    }  # fmt: skip
    golden("misses", "\n".join(lines))


def test_the_cases_and_the_rule_of_each(golden):
    golden("cases", "\n".join(f"{case.name} {case.rule}" for case in CASES.values()))


@rows("name", [name for name in CASES if name != "relay.post.given-up"])
def test_no_case_passes_where_every_call_was_dropped(name):
    case = CASES[name]
    asks = [ask for step in case.script.steps for ask in getattr(step, "steps", [step]) if isinstance(ask, AppCall)]
    calls = [dropped(operation=ask.operation, number=at, sent=OUTPUT) for at, ask in enumerate(asks, 1)]
    run = WholeRun(missing_logs=("relay.log",) if case.script.judges_run else ())
    assert verdict(name.removeprefix("relay."), seen(calls, [], run=run)) is not PASS


def test_for_each_case_a_relay_is_broken_and_says_how():
    kinds = {name: kind for name, kind in relays.kinds().items() if name != relays.REFERENCE}
    caught = {case: name for name in (*kinds, *relays.WRONG) for case in relays.catches(name)}
    none = "has no broken relay: write one in fixtures/back_ends/broken_*.py, with the case in its `catches`"
    other = "is in its `catches`, and there is no such case"
    demand_none([
        *(f"{case} {none}" for case in CASES if case not in caught),
        *(f"{name} of fixtures/back_ends: {case} {other}" for case, name in caught.items() if case not in CASES),
        *(f"{name} of fixtures/back_ends: its docstring does not say what is wrong with it"
          for name, kind in kinds.items() if not kind.__doc__),
    ])  # fmt: skip


def test_every_group_and_every_need_has_a_case():
    assert {case.group for case in CASES.values()} == set(BackEndGroup)
    assert {case.group for case in (*APP_CASES.values(), *APP_CASES_B.values())} == set(get_args(AppGroup))
    assert {case.group for case in PREFLIGHT_CASES.values()} == set(get_args(PreflightGroup))
    assert set().union(*(case.needs for case in CASES.values())) == set(Need)


def test_every_fault_of_the_service_is_played_on_both_operations():
    orders = [order for case in CASES.values() for order in _orders(case.script)]
    same = {"200", "uniform latency", "log-normal latency"}  # no fault, and two that are latency to a single call
    assert {(fault, operation) for fault in FAULTS.keys() - same for operation in (GET, POST)} <= {
        (order.fault, order.operation) for order in orders
    }


def _orders(script):
    yield from script.orders
    for step in script.steps:
        yield from step.orders if isinstance(step, SetOrders) else ()


def test_what_disturbs_others_runs_alone():
    for case in CASES.values():
        if any(step == AWAY for step in case.script.steps):
            assert case.script.alone, case.name


def test_no_sentence_of_a_miss_holds_a_value():
    values = (KEY, FIRST, SECOND, OUTPUT)
    for name, value, _wanted in (*FORM, *FIDELITY, *SECRECY, *ISOLATION, *FAULTED, *TOGETHER, *STRANGERS):
        for miss in CASES[f"relay.{name}"].judge(value):
            assert not any(one in f"{miss.expected}{miss.observed}{miss.todo}" for one in values), name


@pytest.mark.rule("API-7", "API-8")
@rows(
    ("wanted", "came", "told"),
    [
        ("\ufeffa\ufeff", "a\ufeff", "its byte order mark in front is gone"),
        (" a ", "a ", "its blanks in front are gone"),
        (" a ", " a", "its blanks at the end are gone"),
        ("a\r\nb\n", "a\nb\n", "each CR LF became LF"),
        ("a\r\nb\n", "a\r\nb\r\n", "each LF became CR LF"),
        ("QUJDREVG", "QUJD\r\nREVG\r\n", "it was wrapped into lines"),
        ("a+b/c==", "a-b_c", "it is in the url-safe alphabet, and its padding is gone"),
        ("a+b", "a b", "each + became a blank"),
        ("QUJDREVG", "ABCDEF", "it was decoded from base64"),
        ("QUJDREVG", "414243444546", "what its base64 holds is written in hexadecimal"),
        ("\u00fc", "\u00c3\u00bc", "its UTF-8 was read as ISO 8859-1"),
        ("\ufeffa\ufeff", "a", "its byte order marks are gone"),
        (" a ", "a", "its outer blanks are gone"),
        ("a\r\nb\n", "ab", "its line ends are gone"),
        ("\u200ba\u200b", "a", "its outer blanks are gone, also those beyond ASCII"),
        ("a+%2B", "a +", "it was decoded as a form: + became a blank, and %2B a +"),
        ("a+%2B", "a++", "its percent signs were decoded"),
        ("a/b", "a%2Fb", "it was percent-encoded"),
        ("a&amp;", "a&", "its entities of HTML were decoded"),
        ("a&<", "a&amp;&lt;", "it was escaped for HTML"),
        ("a+/b==", "a+&#x2F;b==", "it was escaped for HTML"),
        ("007", "7", "its zeros in front are gone"),
        ("a\\b", "ab", "its backslashes are gone"),
        ("a+b/", "a-b_", "it is in the url-safe alphabet"),
        ("QQ==", "QQ", "its padding is gone"),
        ("ab", "YWI=", "it was encoded a second time"),
        ("a!", "6121", "it is written in hexadecimal"),
        ("\u20ac", "\u00e2\u201a\u00ac", "its UTF-8 was read as Windows-1252"),
        ("ab", '"ab"', "it was put into quotes"),
        ("a\u00fc", "a?", "its letters beyond ASCII were replaced"),
        ("\u00fc\u00fc", "\ufffd\u00fc\ufffd", f"2 characters U+FFFD stand in it: {PIECES}"),
        ("abc", "xyz", "another value, of 3 characters instead of 3"),
        ("abc", None, "no value where it belongs"),
        ("u\u0308", "\u00fc", "it was normalised to NFC"),
        ("k" * 9000, "k" * 8192, "it was cut at 8,192 of 9,000 characters (8,192 bytes)"),
        ("abc", "abX", "another value, of 3 characters instead of 3; the first 2 are the same"),
    ],
)
def test_how_a_value_was_changed_is_told(wanted, came, told):
    assert difference(wanted, came) == told


def words(name, value):
    return [f"{miss.expected}; {miss.observed}" for miss in CASES[f"relay.{name}"].judge(value)]


@pytest.mark.parametrize("body", [b"\n" * 300_000, b" " * 300_000, b"\n at " * 60_000, b"\n at " + b":1" * 100_000])
def test_an_answer_of_blank_lines_does_not_hold_up_the_judge(body):
    """The expression for stack traces was quadratic: 64 KiB of line ends took 15 seconds."""
    began = monotonic()
    list(CASES["relay.failure.no-words"].judge(seen([call(GET, None, status=502, body=body)], [])))
    assert monotonic() - began < 5


@pytest.mark.rule("REL-1")
def test_a_post_too_many_is_told_by_what_the_phone_did():
    assert words("post.given-up", seen(TAPS[:2], AT_THE_API)) == ["at most one POST; 2 POST requests"]
    assert words("post.given-up", seen(TAPS[:2], [AT_THE_API[1]] * 2)) == [
        "at most one POST; 2 of one tap, with the same sdkOutput"
    ]
    (twice,) = words("post.given-up", seen(TAPS, [*AT_THE_API, request(POST, "fourth", sent="c")]))
    assert twice == "one POST for each tap, 2 in all; 3 POST requests"


@pytest.mark.rule("REL-6")
def test_an_error_in_a_200_is_told_with_both_ways_out():
    (miss,) = CASES["relay.get.fault-500"].judge(seen([call(GET, None), call(GET, SECOND)], [request(), request()]))
    assert "a status outside 2xx" in miss.todo
    assert 'failures = "body"' in miss.todo


def test_an_answer_without_its_last_chunk_is_to_be_read_to_its_end():
    broken = replace(request(), response=Response(200, (), b"", "by hand", fault="missing last chunk"))
    (miss,) = CASES["relay.get.fault-missing-last-chunk"].judge(seen([call(), call(GET, SECOND)], [broken, request()]))
    assert miss.todo.startswith("Read the answer of the API to its end")
