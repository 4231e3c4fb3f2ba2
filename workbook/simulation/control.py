"""The control API: what a test in any language asks of the stand-in, beside the API that the stand-in plays.

It has a token of its own, because who may call the operator's API may not thereby read its journal. Without the token
everything is answered alike, so nobody learns what there is. The same is there as Python calls, without HTTP: they are
the journal and `verification` themselves.

It is a responder like the service: a request in, a response out. Waiting is the exception, as it takes time: `respond`
blocks its thread, `respond_async` gives the loop back meanwhile and ends at once when its task is cancelled. A server
must call the latter, or nothing could arrive that is waited for. No key is part of any request or answer: a world is
meant by its short public name, see `journals`.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.errors import ConfigurationError, WorkbookError, did_you_mean
from workbook.simulation.asked import (
    BASIS,
    FILTERS,
    Denied,
    document,
    expectations,
    query,
    refused,
    scenario,
    search,
    tables,
    waiting,
)
from workbook.simulation.http import JSON_HEADERS, Response
from workbook.simulation.journal_export import as_dict
from workbook.simulation.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.simulation.http import Request
    from workbook.simulation.journal import Entry, Journal

    Handler = Callable[["Control", "Call"], Response]

PREFIX = "/workbook/control/"
"""Where it is served; the operator's API has no such path."""
SHORTEST_TOKEN = 16
LINES = "application/x-ndjson"
UNAUTHORISED = "This needs the control token of this stand-in, as authorization: Bearer and the token."


@dataclass(frozen=True, slots=True)
class Actions:
    """What the control API can have done; each is called with the world's name first, and may raise a `WorkbookError`.

    Attributes:
        reset: makes the world what it was at the start; its journal is emptied in any case.
        faults: plans faults from a list of tables, as a scenario's `[[fault]]` has them.
        scenario: opens a scenario in that world: by its name (text), or from a TOML document (bytes).
    """

    reset: Callable[[str], None] | None = None
    faults: Callable[[str, list[dict[str, Any]]], None] | None = None
    scenario: Callable[[str, str | bytes], None] | None = None


class Endpoint(NamedTuple):
    """One thing that can be asked for: how, what it does, and what it takes."""

    method: str
    name: str
    does: str
    query: tuple[str, ...]
    body: str
    handler: Handler


class Call(NamedTuple):
    """A request that may be carried out: its token was right, and there is such an endpoint."""

    endpoint: Endpoint
    query: dict[str, str]
    request: Request


class Control:
    """The control API of one stand-in.

    Args:
        token: who says it may do everything; 16 printable ASCII characters or more, no blanks.
        journals: the worlds' journals by their public names, such as a `Journals`; looked at anew for each request.
        actions: what can be done besides reading.

    Raises:
        ConfigurationError: the token is too short, or cannot stand in a header.
    """

    def __init__(self, token: str, journals: Mapping[str, Journal], actions: Actions | None = None) -> None:
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            message = f"A control token is {SHORTEST_TOKEN} printable ASCII characters or more, without blanks."
            raise ConfigurationError(f"{message} The one given is not repeated here.")
        self._token = token.encode()
        self.journals = journals
        self.actions = actions or Actions()

    def __repr__(self) -> str:
        return f"Control({len(self.journals)} worlds)"

    def respond(self, request: Request) -> Response:
        """The answer; a request to wait blocks this thread, for 30 seconds at most."""
        try:
            call = self._call(request)
            return call.endpoint.handler(self, call)
        except (Denied, WorkbookError) as error:
            return refused(error)

    async def respond_async(self, request: Request) -> Response:
        """The answer, for a server: waiting holds up nobody else."""
        try:
            call = self._call(request)
            if call.endpoint.handler is not _wait:
                return call.endpoint.handler(self, call)
            return _found(await self.journal(call).wait_async(*waiting(document(request.body))))
        except (Denied, WorkbookError) as error:
            return refused(error)

    def journal(self, call: Call) -> Journal:
        """The journal of the world that is meant."""
        return self.journals[self.world(call)]

    def world(self, call: Call) -> str:
        """The name of the world that is meant; where there is one only, it needs no naming."""
        names = tuple(self.journals)
        if "world" not in call.query and len(names) == 1:
            return names[0]
        name = call.query.get("world", "")
        if name not in names:
            hint = did_you_mean(name[:40], names) if names else "There is none yet."
            raise Denied(400, f"Say which world is meant, as ?world=name. {hint}")
        return name

    def _call(self, request: Request) -> Call:
        """Authenticated, routed, and its query read, in this order."""
        self._authenticate(request)
        path, _mark, text = request.target.partition("?")
        endpoint = _endpoint(request.method, path)
        return Call(endpoint, query(text, endpoint.query), request)

    def _authenticate(self, request: Request) -> None:
        scheme, _blank, said = (request.header("authorization") or "").partition(" ")
        same = hmac.compare_digest(said.strip().encode("utf-8", "replace"), self._token)
        if not same or scheme.lower() != "bearer":
            raise Denied(401, UNAUTHORISED, (("www-authenticate", "Bearer"),))


def _endpoint(method: str, path: str) -> Endpoint:
    """The endpoint that is asked for; what was asked instead is not repeated."""
    name = f"{path}/".removeprefix(PREFIX).strip("/") if f"{path}/".startswith(PREFIX) else path[:40]
    known = [one for one in ENDPOINTS if one.name == name]
    if not known:
        names = [one.name for one in ENDPOINTS if one.name]
        raise Denied(404, f"There is no such endpoint under {PREFIX}. {did_you_mean(name[:40], names)}")
    if (chosen := next((one for one in known if one.method == method), None)) is None:
        allowed = ", ".join(one.method for one in known)
        raise Denied(405, f"This endpoint takes {allowed}.", (("allow", allowed),))
    return chosen


def _json(value: object) -> Response:
    return Response(200, JSON_HEADERS, json.dumps(value).encode(), BASIS)


def _index(control: Control, _call: Call) -> Response:
    told = [
        {"method": one.method, "path": PREFIX + one.name, "does": one.does, "query": one.query, "body": one.body}
        for one in ENDPOINTS
    ]
    return _json({"worlds": [*control.journals], "endpoints": told})


def _journal(control: Control, call: Call) -> Response:
    journal, match = control.journal(call), search(call.query)
    chosen = call.query.get("format") or _accepted(call.request)
    if chosen == "jsonl":
        return Response(200, (("content-type", LINES),), journal.to_jsonl(match).encode(), BASIS)
    if chosen == "har":
        return _json(journal.to_har(match))
    if chosen != "json":
        raise Denied(400, f"There is no such format. {did_you_mean(chosen[:40], ('har', 'json', 'jsonl'))}")
    entries = [as_dict(one) for one in journal.entries(match)]
    return _json({"count": journal.count, "dropped": journal.dropped, "entries": entries})


def _accepted(request: Request) -> str:
    """The format that the header asks for; JSON for whoever takes anything."""
    accepts = (request.header("accept") or "").lower()
    return "jsonl" if any(one in accepts for one in (LINES, "application/jsonl", "application/json-lines")) else "json"


def _wait(control: Control, call: Call) -> Response:
    return _found(control.journal(call).wait(*waiting(document(call.request.body))))


def _found(one: Entry | None) -> Response:
    """That nothing came is an answer, not an error: who waits decides what it means."""
    return _json({"found": one is not None, "entry": None if one is None else as_dict(one)})


def _verify(control: Control, call: Call) -> Response:
    outcomes = verify(control.journal(call), *expectations(document(call.request.body)))
    return _json({"passed": all(one.passed for one in outcomes), "outcomes": [one.as_dict() for one in outcomes]})


def _reset(control: Control, call: Call) -> Response:
    name = control.world(call)
    if control.actions.reset is not None:
        control.actions.reset(name)
    control.journals[name].reset()
    return _json({"world": name, "reset": True})


def _faults(control: Control, call: Call) -> Response:
    name, listed = control.world(call), tables(document(call.request.body))
    if control.actions.faults is None:
        raise Denied(501, "This stand-in has no faults to plan.")
    control.actions.faults(name, listed)
    return _json({"world": name, "faults": len(listed)})


def _scenario(control: Control, call: Call) -> Response:
    name, said = control.world(call), scenario(document(call.request.body))
    if control.actions.scenario is None:
        raise Denied(501, "This stand-in has no scenarios.")
    control.actions.scenario(name, said)
    return _json({"world": name, "scenario": said if isinstance(said, str) else "from TOML"})


_WORLD = ("world",)
_EXPECTATIONS = '{"expectations": [{"expect": "exactly", "count": 1, "operation": "GET", "before": "POST"}]}'
ENDPOINTS = (
    Endpoint("GET", "", "Lists the worlds and what can be asked for.", (), "", _index),
    Endpoint(
        "GET",
        "journal",
        "The requests so far; format is json, jsonl or har.",
        (*_WORLD, *FILTERS, "format"),
        "",
        _journal,
    ),
    Endpoint(
        "POST",
        "wait",
        "Waits for a request; timeout in seconds, 30 at most.",
        _WORLD,
        '{"method": "POST", "timeout": 5}',
        _wait,
    ),
    Endpoint("POST", "verify", "Judges the journal.", _WORLD, _EXPECTATIONS, _verify),
    Endpoint("POST", "reset", "Makes the world what it was, with an empty journal.", _WORLD, "", _reset),
    Endpoint("POST", "faults", "Plans faults.", _WORLD, '[{"fault": "reset"}]', _faults),
    Endpoint(
        "PUT",
        "scenario",
        "Opens a scenario, by name or as TOML.",
        _WORLD,
        '{"name": "..."} or {"toml": "..."}',
        _scenario,
    ),
)
"""Everything that can be asked for; the index is this table."""
