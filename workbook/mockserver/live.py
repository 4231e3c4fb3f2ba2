"""The live page of a mock server: each request as it arrives, with the reason of each refusal, redacted.

The page itself is public and says nothing: it holds no entry and no token. Its script reads the control token from the
address's fragment, which a browser sends to nobody, and asks the control API for the events with it. So whatever
guards the control API guards the page.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbook.api.snippets import snippets
from workbook.base.rules import sentence
from workbook.mockserver.journal import LOST, Entry, Matching, as_dict
from workbook.simulation.http import Response

PAGE = "/workbook/"
"""Where the page is; the operator's API has no such path."""
EVENTS = "text/event-stream"
PAUSE = 25.0
"""Seconds after which a stream without an event ends; its reader asks again."""
OK = 200
_HERE = Path(__file__).parent
_RULE_ID = re.compile(r"\b[A-Z]+(?:-[A-Z]+)*-\d+\b")
_UNKEPT = re.compile(r"API-4; (a GET with \w+ content-type): (\w+)")


@cache
def page() -> Response:
    """The page. It may use its own script and style, by their hashes, and connect to this server only."""
    script, style = ((_HERE / f"live.{kind}").read_text("utf-8") for kind in ("js", "css"))
    html = (_HERE / "live.html").read_text("utf-8").replace("/*style*/", style).replace("/*script*/", script)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    )
    return Response(OK, headers, html.encode(), "workbook: live page")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def refusal(basis: str, status: int | None, fault: str, body: Any) -> str:
    """Why a request did not get what it asked for: the fault that was played, or our own sentence; else empty.

    Args:
        basis: what the answer rests on; a part of the sentence.
        status: the answer's.
        fault: the name of the fault that was played, empty for none.
        body: the answer's, as JSON values.
    """
    if fault:  # a faulted body has nothing that could be shown
        return basis[basis.index("fault: ") :]
    if status == OK:
        unkept = _UNKEPT.search(basis)
        return f"{unkept[1]} is answered ({unkept[2]}): application/json belongs there (API-4)" if unkept else ""
    return f"{body['detail']} ({basis})" if isinstance(body, dict) and "detail" in body else ""


def event(entry: Entry) -> dict[str, Any]:
    """One entry as the page shows it, redacted: the journal's values, the reason, the rules, and code to copy."""
    values = as_dict(entry)
    why = refusal(values["basis"], values["status"], values["fault"], values["responseBody"])
    named = dict.fromkeys(_RULE_ID.findall(f"{values['basis']} {why}"))
    return values | {
        "why": why,
        "lost": values["ending"] in LOST,
        "rules": {rule_id: text for rule_id in named if (text := sentence(rule_id))},
        "copies": snippets(values["method"], values["target"], sends=bool(values["bodyLength"]))
        if entry.operation
        else {},
    }


def stream(entries: tuple[Entry, ...]) -> Response:
    """These entries as server-sent events; each event's id is its entry's number."""
    lines = (f"id: {entry.number}\ndata: {json.dumps(event(entry))}\n\n" for entry in entries)
    headers = (("content-type", EVENTS), ("cache-control", "no-store"))
    return Response(OK, headers, "".join(lines).encode() or b": nothing yet\n\n", "workbook: live page")


def later_than(number: int) -> Matching:
    """The entries with a higher number."""
    return lambda entry: entry.number > number
