"""The control API: what a test in any language asks of the mock server, over HTTP, beside the API that it plays.

It has a token of its own: the right to call the operator's API is not the right to read its journal. Without the token
every request gets the same answer, which tells nothing of what there is. The same calls exist in Python, without HTTP:
the methods of `MockServer`, by the same names. No API key is part of any request or answer: a world is
named by its short public name, see `worlds`.

Every endpoint is a row of `ENDPOINTS`. Two take time, `wait` and `events`: `respond` blocks its thread, `respond_async`
leaves the event loop free and ends when its task is cancelled.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, WorkbookError
from workbook.mockserver import live
from workbook.mockserver.journal import Entry, Match, Matching, as_dict
from workbook.mockserver.mock import MockServer
from workbook.mockserver.notifications import from_control
from workbook.mockserver.verification import from_json
from workbook.simulation.http import JSON_HEADERS, MAX_BODY, PHRASES, PROBLEM_HEADERS, Request, Response
from workbook.simulation.scenario import load, parse, scenarios

BASIS = "workbook: control"
"""The basis of every answer of the control API: it is ours, not the operator's."""

LONGEST_WAIT = 30.0
"""Seconds that a request may wait at most: fewer than most clients and proxies do."""
USUAL_WAIT = 10.0
MOST = 1_000
"""Faults or expectations in one request."""
LONGEST_NUMBER = 9
"""Digits of a number in a query."""
FILTERS = ("method", "instrument", "status", "after")
"""The fields of `Match`, by which entries can be chosen."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}\Z")


class Denied(Exception):  # an answer on its way out, not an error of ours  # noqa: N818
    """The request is refused: holds the status, the sentence for `detail`, and headers."""

    def __init__(self, status: int, detail: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


# Reading a request. Nothing that was sent is repeated, except a misspelt keyword in an expectation.


def _query(text: str, known: tuple[str, ...]) -> dict[str, str]:
    """The parameters of a query, each once."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=20)
    except ValueError:
        raise Denied(400, "The query is not a list of name=value.") from None
    _only("parameter", (name for name, _value in pairs), known)
    if len(dict(pairs)) != len(pairs):
        raise Denied(400, "A parameter stands in the query twice.")
    return dict(pairs)


def _only(what: str, names: Iterable[str], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name[:40], known) if known else f"There is no {what} here."
            raise Denied(400, f"A {what} is not known here. {hint}")


def _is(value: object, *kinds: type) -> bool:
    """Whether it is of one of these kinds; true and false are no numbers."""
    return isinstance(value, kinds) and not isinstance(value, bool)


PREFIX = "/workbook/control/"
"""Where it is served; the operator's API has no such path."""
LINES = "application/x-ndjson"


class ControlCall(NamedTuple):
    """A request that may be carried out: its token was right, and there is such an endpoint."""

    server: MockServer
    query: dict[str, str]
    request: Request

    @property
    def world(self) -> str:
        """The name of the world that is meant."""
        return self.server.worlds.named(self.query.get("world")).name

    def document(self) -> Any:
        """The body as JSON values."""
        body = self.request.body
        if len(body) > MAX_BODY:
            raise Denied(413, f"The body is larger than {MAX_BODY} bytes.")
        try:
            return json.loads(body.decode("utf-8"))
        except json.JSONDecodeError as error:
            message = f"The body is not JSON: {error.msg}, line {error.lineno}, column {error.colno}."
            raise Denied(400, message) from None
        except (ValueError, RecursionError):
            raise Denied(
                400, "The body is not JSON: it is no UTF-8, nested too deep, or has too long a number."
            ) from None

    def fields(self, known: tuple[str, ...]) -> dict[str, Any]:
        """The fields of the object in the body, which may be only these."""
        document = self.document()
        if not isinstance(document, dict):
            raise Denied(400, f"The body is a JSON object. Its fields: {', '.join(known)}.")
        _only("field", document, known)
        return document


def answered(value: object) -> Response:
    """These JSON values as an answer."""
    return Response(200, JSON_HEADERS, json.dumps(value).encode(), BASIS)


def _index(call: ControlCall) -> Response:
    endpoints = [
        {"method": row.method, "path": PREFIX + row.name, "does": row.does, "query": row.query, "body": row.body}
        for row in ENDPOINTS
    ]
    return answered({"worlds": [*call.server.journals], "endpoints": endpoints})


def _journal(call: ControlCall) -> Response:
    selected: dict[str, Any] = {name: call.query[name] for name in FILTERS if name in call.query}
    for name in {"status", "after"} & selected.keys():
        text = selected[name]
        if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
            raise Denied(400, f"The {name} is a whole number.")
        selected[name] = int(text)
    journal, matching = call.server.journal(call.world), Match(**selected)
    accepts = (call.request.header("accept") or "").lower()
    lines = any(media_type in accepts for media_type in (LINES, "application/jsonl", "application/json-lines"))
    match call.query.get("format") or ("jsonl" if lines else "json"):
        case "jsonl":
            return Response(200, (("content-type", LINES),), journal.to_jsonl(matching).encode(), BASIS)
        case "har":
            return answered(journal.to_har(matching))
        case "json":
            entries = [as_dict(entry) for entry in journal.entries(matching)]
            return answered({"count": journal.count, "dropped": journal.dropped, "entries": entries})
        case other:
            raise Denied(400, f"There is no such format. {did_you_mean(other[:40], ('har', 'json', 'jsonl'))}")


def _waiting(call: ControlCall) -> tuple[Match, float]:
    """What the body asks to wait for, and for how many seconds."""
    said = call.fields((*FILTERS, "timeout"))
    timeout = said.pop("timeout", USUAL_WAIT)
    if not _is(timeout, int, float) or not 0 <= timeout <= LONGEST_WAIT:
        raise Denied(400, f"The timeout is a number of seconds from 0 to {LONGEST_WAIT:g}.")
    for name, kind in (("method", str), ("instrument", str), ("status", int), ("after", int)):
        if name in said and not _is(said[name], kind):
            raise Denied(400, f"The {name} is {'a text' if kind is str else 'a whole number'}.")
    return Match(**said), timeout


def wait(call: ControlCall) -> Response:
    """Wait, and block the thread: a server calls `wait_async`."""
    match, timeout = _waiting(call)
    return _waited(call.server.wait(match, timeout, world=call.world))


async def wait_async(call: ControlCall) -> Response:
    """Wait without blocking the event loop."""
    match, timeout = _waiting(call)
    return _waited(await call.server.journal(call.world).wait_async(match, timeout))


def _waited(entry: Entry | None) -> Response:
    """That nothing came is an answer, not an error: the client decides what it means."""
    return answered({"found": entry is not None, "entry": None if entry is None else as_dict(entry)})


def _after(call: ControlCall) -> Matching:
    """What comes after the number in the query, or in the header that a browser sends when it asks again."""
    text = call.query.get("after") or call.request.header("last-event-id") or "0"
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise Denied(400, "The number of the last event (after, or last-event-id) is a whole number.")
    latest = call.server.journal(call.world).count
    return live.later_than(int(text) if int(text) <= latest else 0)  # after a reset the numbers begin again


def events(call: ControlCall) -> Response:
    """The entries as server-sent events; without one, wait and block the thread: a server calls `events_async`."""
    journal, matching = call.server.journal(call.world), _after(call)
    journal.wait(matching, live.PAUSE)
    return live.stream(journal.entries(matching))


async def events_async(call: ControlCall) -> Response:
    """The same without blocking the event loop."""
    journal, matching = call.server.journal(call.world), _after(call)
    await journal.wait_async(matching, live.PAUSE)
    return live.stream(journal.entries(matching))


def _verify(call: ControlCall) -> Response:
    listed = call.fields(("expectations",)).get("expectations")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST:
        raise Denied(400, f'The body is an object such as {{"expectations": [...]}}, with 1 to {MOST} of them.')
    outcomes = call.server.verify(*map(from_json, listed), world=call.world)
    return answered(
        {
            "passed": all(outcome.passed for outcome in outcomes),
            "outcomes": [outcome._asdict() for outcome in outcomes],
        }
    )


def _reset(call: ControlCall) -> Response:
    call.server.reset(call.world)
    return answered({"world": call.world, "reset": True})


def _faults(call: ControlCall) -> Response:
    name, tables = call.world, call.document()
    if not isinstance(tables, list) or len(tables) > MOST or not all(isinstance(table, dict) for table in tables):
        raise Denied(400, f"The body is a list of at most {MOST} objects, each a planned fault.")
    call.server.faults(*tables, world=name)
    return answered({"world": name, "faults": len(tables)})


def _scenario(call: ControlCall) -> Response:
    """Open one of the package's scenarios by its name, or a TOML document: over HTTP no file is read."""
    name, said = call.world, call.fields(("name", "toml"))
    values = [*said.values()]
    if len(values) != 1 or not isinstance(values[0], str) or not values[0]:
        raise Denied(400, "The body is an object with one text: either name or toml.")
    text = values[0]
    if "toml" in said:
        opened = parse(text.encode("utf-8", "replace"), name="yours", file="the request")
    elif not _NAME.match(text):
        raise Denied(400, "A scenario's name is made of letters, digits, - and _.")
    elif text not in scenarios():
        raise ConfigurationError(f"There is no scenario of that name. {did_you_mean(text[:40], scenarios())}")
    else:
        opened = load(text)
    call.server.scenario(opened, world=name)
    return answered({"world": name, "scenario": "from TOML" if "toml" in said else text})


def _notify(call: ControlCall) -> Response:
    said = call.fields(("event", "paymentInstrumentId", "decision", "status"))
    return answered({"number": from_control(call.server.notifier, said)})


class Endpoint(NamedTuple):
    """One thing that can be asked for: how, what it does, and what it takes."""

    method: str
    name: str
    does: str
    query: tuple[str, ...]
    body: str
    handler: Callable[[ControlCall], Response]


_WORLD = ("world",)
_READ = (*_WORLD, *FILTERS, "format")
_EXPECTATIONS = '{"expectations": [{"expect": "exactly", "count": 1, "operation": "GET", "before": "POST"}]}'
ENDPOINTS = (
    Endpoint("GET", "", "Lists the worlds and what can be asked for.", (), "", _index),
    Endpoint("GET", "journal", "The requests so far; format is json, jsonl or har.", _READ, "", _journal),
    Endpoint(
        "POST",
        "wait",
        "Waits for a request; timeout in seconds, 30 at most.",
        _WORLD,
        '{"method": "POST", "timeout": 5}',
        wait,
    ),
    Endpoint("GET", "events", "Each request as a server-sent event; waits for one.", (*_WORLD, "after"), "", events),
    Endpoint("POST", "verify", "Judges the journal.", _WORLD, _EXPECTATIONS, _verify),
    Endpoint("POST", "reset", "Puts the world back to its beginning, with an empty journal.", _WORLD, "", _reset),
    Endpoint("POST", "faults", "Plans faults.", _WORLD, '[{"fault": "reset"}]', _faults),
    Endpoint(
        "POST",
        "notify",
        "Sends a notification to the URL of --notify; returns its number.",
        (),
        '{"event": "networkToken.updated", "paymentInstrumentId": "PI1", "status": "suspended"}',
        _notify,
    ),
    Endpoint(
        "PUT",
        "scenario",
        'Opens a scenario by its name, or from a TOML document as {"toml": "..."}.',
        _WORLD,
        '{"name": "class-room"}',
        _scenario,
    ),
)
"""Everything that can be asked for; the index is this table, and each body in it can be sent as it stands."""


WAITING: Mapping[str, Callable[[ControlCall], Awaitable[Response]]] = {"wait": wait_async, "events": events_async}
"""The endpoints that take time, as coroutines."""

SHORTEST_TOKEN = 16
UNAUTHORISED = "Send the control token of this mock server in the header authorization: Bearer TOKEN."


class Control:
    """The control API of one mock server.

    Args:
        server: the mock server.
        token: every request has to carry it; 16 printable ASCII characters or more, no blanks. None makes a fresh one.

    Raises:
        ConfigurationError: the token is too short, or cannot stand in a header.
    """

    def __init__(self, server: MockServer, token: str | None = None) -> None:
        token = secrets.token_urlsafe(24) if token is None else token
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            message = f"A control token is {SHORTEST_TOKEN} printable ASCII characters or more, without blanks."
            raise ConfigurationError(f"{message} The one given is not repeated here.")
        self.server = server
        self.token = token

    def __repr__(self) -> str:
        return f"Control({len(self.server.worlds)} worlds)"

    def respond(self, request: Request) -> Response:
        """The answer; a request to wait blocks this thread, for 30 seconds at most."""
        try:
            endpoint, call = self._routed(request)
            return endpoint.handler(call)
        except (Denied, WorkbookError) as error:
            return _refusal(error)

    async def respond_async(self, request: Request) -> Response:
        """The answer, for a server: waiting blocks nothing else."""
        try:
            endpoint, call = self._routed(request)
            waits = WAITING.get(endpoint.name)
            return endpoint.handler(call) if waits is None else await waits(call)
        except (Denied, WorkbookError) as error:
            return _refusal(error)

    def _routed(self, request: Request) -> tuple[Endpoint, ControlCall]:
        """Check the token, find the endpoint, and read the query, in this order; no word of the request is repeated."""
        scheme, _blank, said = (request.header("authorization") or "").partition(" ")
        same = hmac.compare_digest(said.strip().encode("utf-8", "replace"), self.token.encode())
        if not same or scheme.lower() != "bearer":
            raise Denied(401, UNAUTHORISED, (("www-authenticate", "Bearer"),))
        path, _mark, query = request.target.partition("?")
        name = f"{path}/".removeprefix(PREFIX).strip("/") if f"{path}/".startswith(PREFIX) else path[:40]
        known = {endpoint.method: endpoint for endpoint in ENDPOINTS if endpoint.name == name}
        if not known:
            names = [endpoint.name for endpoint in ENDPOINTS if endpoint.name]
            raise Denied(404, f"There is no such endpoint under {PREFIX}. {did_you_mean(name[:40], names)}")
        endpoint = known.get(request.method)
        if endpoint is None:
            raise Denied(405, f"This endpoint takes {', '.join(known)}.", (("allow", ", ".join(known)),))
        return endpoint, ControlCall(self.server, _query(query, endpoint.query), request)


def _refusal(error: Denied | WorkbookError) -> Response:
    """Why it was not done, in the form of the API's own problems; an error of the mock server becomes a 400."""
    denied = error if isinstance(error, Denied) else Denied(400, str(error))
    problem = {
        "type": "about:blank",
        "title": PHRASES[denied.status],
        "status": denied.status,
        "detail": str(denied),
    }
    return Response(denied.status, PROBLEM_HEADERS + denied.headers, json.dumps(problem).encode(), BASIS)
