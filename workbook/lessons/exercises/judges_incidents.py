"""Judges of lesson 09: the incidents of a task are diagnosed, and a message is read as its receiver would."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from workbook.base.values import quoted
from workbook.checks.diagnosis import CatalogueRow, diagnose
from workbook.lessons.exercises.model import Observed, Reason, lesson

# The cause of each row of the catalogue, as the exercises name it.
CAUSE_OF_ROW: Final = {
    2: "the role is missing",
    7: "an empty answer was believed",
    9: "the limits do not nest",
    12: "an old answer was used again",
    13: "two attempts at once",
    15: "not on the allowlist",
    19: "the card configuration",
    24: "fetchOpc failed",
    29: "no entitlement",
    30: "the scheme does not know the app",
    32: "the scheme refused",
    39: "status() is too slow",
}


def acting(found: CatalogueRow) -> str:
    """Who has to act first, as the exercises say it."""
    return {"you": "you", "operator": "the operator", "scheme": "the scheme"}[found.owners[0]]


def incidents(exercise_id: str) -> Observed:
    """The four logs in the text of an exercise: the likeliest cause of each, and who has to act first."""
    logs = re.findall(r"^```text[^\n]*\n(.*?)^```", lesson("09")[exercise_id].task + "\n", re.DOTALL | re.MULTILINE)
    facts: dict[str, str] = {}
    for name, log in zip(("first", "second", "third", "fourth"), logs, strict=True):
        row = diagnose(log).likely[0].row
        facts |= {name: CAUSE_OF_ROW[row.number], f"{name}_acts": acting(row)}
    return Observed(None, **facts)


incidents_1, incidents_2, incidents_3 = (partial(incidents, f"09.{number}") for number in (1, 2, 3))

# What must not leave the house, with the rule and why: key, sdkOutput, card.
IN_THE_LOG: Final = {
    "key-of-the-back-end-5f20c1": (
        "REL-2",
        "the API key is in it: whoever reads the message can call the API. Replace the key today",
    ),
    "eyJub25jZSI6IjdmM2EiLCJjZXJ0aWZpY2F0ZXMiOlsiTUlJQjAwIl19": (
        "REL-3",
        "the sdkOutput is in it, and that is card data",
    ),
    "PI3222722322935MDMZ9J83KH": (
        "REL-3",
        "the whole payment instrument id is in it; a few of its characters find the attempt as well",
    ),
}


def log_of(request: str, status: int, code: str, time: str) -> str:
    """A back end's log of one failed POST, with everything in it that must not leave the house."""
    key, opaque, card = IN_THE_LOG
    body = f'{{"status": {status}, "errorCode": "{code}", "requestId": "{request}", "detail": "no"}}'
    return "\n".join([
        f"{time} INFO relay: POST /paymentInstruments/{card}/networkTokenActivationData",
        f"{time} DEBUG relay: x-api-key: {key}",
        f'{time} DEBUG relay: body {{"sdkOutput": "{opaque}"}}',
        f"{time} ERROR relay: {body}",
    ])  # fmt: skip


def ready_to_send(write: Callable[[str], Any], longest: int = 15) -> Reason | Observed:
    """A message that finds the attempt, tells nobody a secret, and has at most `longest` lines."""
    for asked in (
        ("req-77a1c0", 403, "00_403", "2026-03-02T10:15:04Z"),
        ("req-0b9e12", 422, "30_031", "2026-05-19T23:59:58Z"),
    ):
        message = write(log_of(*asked))
        if not isinstance(message, str) or not message.strip():
            return Reason("", f"your function returned {quoted(message)}. Return the message, as text.")
        names = ("the requestId", "the HTTP status", "the errorCode", "the time")
        if wrong := wrong_message(message, dict(zip(names, map(str, asked), strict=True)), longest):
            return wrong
    return Observed()


def wrong_message(message: object, wanted: Mapping[str, str], longest: int = 15) -> Reason | None:
    """What is wrong with a message that has to hold what is wanted, by name, and nothing that is secret."""
    if not isinstance(message, str) or not message.strip():
        return Reason("", f"it is {quoted(message)}. Write what you send, as text.")
    for secret, (rule, why) in IN_THE_LOG.items():
        if secret in message or secret[: len(secret) // 2] in message:
            return Reason(rule, f"{why}.")
    if missing := [name for name, value in wanted.items() if value not in message]:
        found_by = next(iter(wanted.values()))
        return Reason("GAP-1", f"your message lacks {', '.join(missing)}: without it nobody finds {found_by}.")
    if (lines := len(message.splitlines())) > longest:
        return Reason("GAP-1", f"your message has {lines} lines; nobody reads more than {longest}.")
    return None
