"""What can be asked of the control API: one table, and a function for each of its rows.

An endpoint gets a request that may be carried out already: `control` has looked at the token and at the path.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.errors import did_you_mean
from workbook.simulation.asked import (
    BASIS,
    FILTERS,
    Denied,
    document,
    expectations,
    scenario,
    search,
    tables,
    waiting,
)
from workbook.simulation.http import JSON_HEADERS, Response
from workbook.simulation.journal_export import as_dict
from workbook.simulation.journals import meant
from workbook.simulation.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.simulation.http import Request
    from workbook.simulation.journal import Entry, Journal

    Handler = Callable[["Call"], Response]

PREFIX = "/workbook/control/"
"""Where it is served; the operator's API has no such path."""
LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Actions:
    """What the control API can have done; each is called with the world's name first, and may raise a `WorkbookError`.

    Attributes:
        reset: makes the world what it was at the start, with an empty journal; None: only the journal is emptied.
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
    journals: Mapping[str, Journal]
    actions: Actions

    @property
    def world(self) -> str:
        """The name of the world that is meant."""
        return meant(self.journals, self.query.get("world"))

    @property
    def journal(self) -> Journal:
        """The journal of that world."""
        return self.journals[self.world]

    @property
    def said(self) -> Any:
        """The body, as JSON values."""
        return document(self.request.body)


def answered(value: object) -> Response:
    """These JSON values as an answer."""
    return Response(200, JSON_HEADERS, json.dumps(value).encode(), BASIS)


def _index(call: Call) -> Response:
    told = [
        {"method": one.method, "path": PREFIX + one.name, "does": one.does, "query": one.query, "body": one.body}
        for one in ENDPOINTS
    ]
    return answered({"worlds": [*call.journals], "endpoints": told})


def _journal(call: Call) -> Response:
    journal, match = call.journal, search(call.query)
    chosen = call.query.get("format") or _accepted(call.request)
    if chosen == "jsonl":
        return Response(200, (("content-type", LINES),), journal.to_jsonl(match).encode(), BASIS)
    if chosen == "har":
        return answered(journal.to_har(match))
    if chosen != "json":
        raise Denied(400, f"There is no such format. {did_you_mean(chosen[:40], ('har', 'json', 'jsonl'))}")
    entries = [as_dict(one) for one in journal.entries(match)]
    return answered({"count": journal.count, "dropped": journal.dropped, "entries": entries})


def _accepted(request: Request) -> str:
    """The format that the header asks for; JSON for whoever takes anything."""
    accepts = (request.header("accept") or "").lower()
    return "jsonl" if any(one in accepts for one in (LINES, "application/jsonl", "application/json-lines")) else "json"


def wait(call: Call) -> Response:
    """Waits, and holds up its thread: a server calls `wait_async`."""
    return _found(call.journal.wait(*waiting(call.said)))


async def wait_async(call: Call) -> Response:
    """The same, and holds up nobody."""
    return _found(await call.journal.wait_async(*waiting(call.said)))


def _found(one: Entry | None) -> Response:
    """That nothing came is an answer, not an error: who waits decides what it means."""
    return answered({"found": one is not None, "entry": None if one is None else as_dict(one)})


def _verify(call: Call) -> Response:
    outcomes = verify(call.journal, *expectations(call.said))
    return answered({"passed": all(one.passed for one in outcomes), "outcomes": [one.as_dict() for one in outcomes]})


def _reset(call: Call) -> Response:
    if call.actions.reset is None:
        call.journal.reset()
    else:
        call.actions.reset(call.world)
    return answered({"world": call.world, "reset": True})


def _faults(call: Call) -> Response:
    name, listed = call.world, tables(call.said)
    if call.actions.faults is None:
        raise Denied(501, "This stand-in has no faults to plan.")
    call.actions.faults(name, listed)
    return answered({"world": name, "faults": len(listed)})


def _scenario(call: Call) -> Response:
    name, said = call.world, scenario(call.said)
    if call.actions.scenario is None:
        raise Denied(501, "This stand-in has no scenarios.")
    call.actions.scenario(name, said)
    return answered({"world": name, "scenario": said if isinstance(said, str) else "from TOML"})


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
    Endpoint("POST", "verify", "Judges the journal.", _WORLD, _EXPECTATIONS, _verify),
    Endpoint("POST", "reset", "Makes the world what it was, with an empty journal.", _WORLD, "", _reset),
    Endpoint("POST", "faults", "Plans faults.", _WORLD, '[{"fault": "reset"}]', _faults),
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
