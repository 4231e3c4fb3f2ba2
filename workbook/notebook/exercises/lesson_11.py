"""The judges of lesson 11: the incidents of a task are diagnosed, and a message is read as its receiver would."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from workbook.base.values import quoted
from workbook.notebook.exercises.model import Judge, Observed, Reason, lesson
from workbook.reading.diagnosis import diagnose

CAUSES: Final = {
    2: "the role is missing",
    7: "an empty answer was believed",
    9: "the limits do not nest",
    12: "an old answer was used again",
    13: "two attempts at once",
    15: "not on the allowlist",
    19: "the scheme does not know the app",
    24: "fetchOpc failed",
    29: "no entitlement",
    30: "the scheme does not know the app",
    32: "the scheme refused",
    39: "status() is too slow",
}
"""The cause of each row of the catalogue, as the exercises name it."""
OWNERS: Final = {"you": "you", "operator": "the operator", "scheme": "the scheme"}
NAMES: Final = ("first", "second", "third", "fourth")
_LOGS: Final = re.compile(r"^```text[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def incidents(exercise_id: str) -> Observed:
    """The four logs in the text of an exercise: the likeliest cause of each, and who has to act first."""
    logs = _LOGS.findall(lesson("11")[exercise_id].task + "\n")
    rows = [diagnose(log).likely[0].row for log in logs]
    causes = {name: CAUSES[row.number] for name, row in zip(NAMES, rows, strict=True)}
    return Observed(
        None, **causes, **{f"{name}_acts": OWNERS[row.owners[0]] for name, row in zip(NAMES, rows, strict=True)}
    )


KEY: Final = "key-of-the-back-end-5f20c1"
OPAQUE: Final = "eyJub25jZSI6IjdmM2EiLCJjZXJ0aWZpY2F0ZXMiOlsiTUlJQjAwIl19"
CARD: Final = "PI3222722322935MDMZ9J83KH"


def log_of(request: str, status: int, code: str, time: str) -> str:
    """A back end's log of one failed POST, with everything in it that must not leave the house."""
    body = f'{{"status": {status}, "errorCode": "{code}", "requestId": "{request}", "detail": "no"}}'
    return "\n".join([
        f"{time} INFO relay: POST /paymentInstruments/{CARD}/networkTokenActivationData",
        f"{time} DEBUG relay: x-api-key: {KEY}",
        f'{time} DEBUG relay: body {{"sdkOutput": "{OPAQUE}"}}',
        f"{time} ERROR relay: {body}",
    ])  # fmt: skip


ASKED: Final = (
    ("req-77a1c0", 403, "00_403", "2026-03-02T10:15:04Z"),
    ("req-0b9e12", 422, "30_031", "2026-05-19T23:59:58Z"),
)
"""What the operator has to find an attempt by: the request's id, status, error code and time."""
SECRETS: Final = (
    (KEY, "REL-2", "the API key is in it: whoever reads the message can call the API. Replace the key today"),
    (OPAQUE, "REL-3", "the sdkOutput is in it, and that is card data"),
    (CARD, "REL-3", "the whole payment instrument id is in it; a few of its characters find the attempt as well"),
)


def ready_to_send(write: Callable[[str], Any]) -> Reason | Observed:
    """A message that finds the attempt, and tells nobody a secret."""
    for asked in ASKED:
        told = write(log_of(*asked))
        if not isinstance(told, str) or not told.strip():
            return Reason("", f"your function returned {quoted(told)}. Return the message, as text.")
        for secret, rule, why in SECRETS:
            if secret in told or secret[: len(secret) // 2] in told:
                return Reason(rule, f"{why}.")
        wanted = zip(("the requestId", "the HTTP status", "the errorCode", "the time"), map(str, asked), strict=True)
        if missing := [name for name, value in wanted if value not in told]:
            return Reason("GAP-1", f"your message lacks {', '.join(missing)}: without it nobody finds {asked[0]}.")
        if len(told.splitlines()) > LONGEST:
            return Reason(
                "GAP-1", f"your message has {len(told.splitlines())} lines; nobody reads more than {LONGEST}."
            )
    return Observed()


LONGEST: Final = 15
"""Lines of a message."""
JUDGES: Final[Mapping[str, Judge]] = {
    "11.1": lambda: incidents("11.1"),
    "11.2": lambda: incidents("11.2"),
    "11.3": lambda: incidents("11.3"),
    "11.4": ready_to_send,
}
"""Each exercise's judge."""
