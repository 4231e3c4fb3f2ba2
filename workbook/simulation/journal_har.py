"""The journal as an HTTP archive (HAR 1.2), which browsers and proxies read; redacted as `journal_export` has it."""

from __future__ import annotations

import json
from datetime import timedelta
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbook.simulation.direct import ORIGIN
from workbook.simulation.journal_export import as_dict
from workbook.simulation.wire import UNANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from workbook.simulation.journal_entry import Entry


def to_har(entries: Iterable[Entry], epoch: datetime, origin: str = ORIGIN) -> dict[str, Any]:
    """An HTTP archive (HAR 1.2) as plain JSON values.

    Args:
        entries: in the order they are to stand in.
        epoch: the moment of second 0, with a time zone.
        origin: what stands before each target to make it an address; the stand-in's own name is made up.
    """
    creator = {"name": "provisioning-workbook", "version": "simulated"}
    return {"log": {"version": "1.2", "creator": creator, "entries": [_har(one, epoch, origin) for one in entries]}}


def _har(entry: Entry, epoch: datetime, origin: str) -> dict[str, Any]:
    told = as_dict(entry)
    waited = round(max(0.0, told["answered"] - told["arrived"]) * 1000, 3)
    return {
        "startedDateTime": (epoch + timedelta(seconds=told["arrived"])).isoformat(timespec="milliseconds"),
        "time": waited,
        "request": _har_request(told, origin),
        "response": _har_response(told),
        "cache": {},
        "timings": {"send": 0, "wait": waited, "receive": 0},
        # HAR leaves names with an underscore to whoever writes it.
        **{f"_{name}": told[name] for name in ("number", "operation", "instrument", "basis", "fault", "ending")},
    }


def _har_request(told: dict[str, Any], origin: str) -> dict[str, Any]:
    request = {
        "method": told["method"],
        "url": origin + quote(f"/{told['target'].removeprefix('/')}", safe="/?&=%:@!$'()*+,;~"),
        "queryString": _pairs(part.partition("=")[::2] for part in told["target"].partition("?")[2].split("&") if part),
        **_har_common(told["headers"], told["bodyLength"]),
    }
    if not told["bodyLength"]:
        return request
    return request | {"postData": {"mimeType": _media_type(told["headers"]), "params": [], **_text(told["body"])}}


def _har_response(told: dict[str, Any]) -> dict[str, Any]:
    status = None if told["ending"] in LOST else told["status"]
    content = {"size": told["responseLength"], "mimeType": _media_type(told["responseHeaders"])}
    return {
        "status": status or 0,
        "statusText": _phrase(status),
        "content": content | (_text(told["responseBody"]) if told["responseLength"] else {}),
        "redirectURL": "",
        **_har_common(told["responseHeaders"], told["responseLength"]),
    }


def _har_common(headers: list[list[str]], length: int) -> dict[str, Any]:
    """Sizes in bytes; the headers' is not known, for which HAR has -1."""
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "headersSize": -1,
        "bodySize": length,
    }


def _pairs(pairs: Iterable[Iterable[str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _text(told: Any) -> dict[str, str]:
    return {"text": json.dumps(told), "comment": "redacted: strings as a length and a digest, unless simulated"}


def _media_type(headers: list[list[str]]) -> str:
    return next((value for name, value in headers if name.lower() == "content-type"), "")


def _phrase(status: int | None) -> str:
    if status is None:
        return "no answer"
    return HTTPStatus(status).phrase if status in _KNOWN else ""


LOST = frozenset(ending.value for ending in UNANSWERED)
"""Endings of which a client saw no byte: what the service would have said is no answer."""
_KNOWN: frozenset[int] = frozenset(HTTPStatus)
