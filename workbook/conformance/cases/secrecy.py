"""What must not get out: the key, the API's address and words, and opaque data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group, Need
from workbook.conformance.script import GET, POST, Ask, Order, Script, both
from workbook.conformance.verdict import Miss

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.conformance.case import Judge
    from workbook.conformance.script import Step
    from workbook.conformance.seen import Call, Seen

SHORTEST_PART = 8
"""As many characters of the key in a row give it away."""
LONGEST_OPAQUE = 24
"""As many characters of opaque data in a row are more than chance."""
WORDS = (
    "errorCode",
    "00_400",
    "00_401",
    "00_403",
    "00_500",
    "30_031",
    "99_500",
    "problem+json",
    "networkTokenActivation",
)
"""What only the API says; an app that can read it can be used to look behind the back end (REL-9)."""


def _parts(secret: str, length: int) -> tuple[str, ...]:
    return tuple(secret[at : at + length] for at in range(max(1, len(secret) - length + 1)))


def _side(call: Call) -> str:
    """Everything that the phone was told, except the value that belongs there."""
    headers = "\n".join(f"{name}: {value}" for name, value in call.headers)
    return f"{headers}\n{call.body.decode('utf-8', 'replace')}"


def _on_the_phone(parts_of: str, length: int, what: str, todo: str) -> Judge:
    """No part of a secret, which is an attribute of what was seen, stands on the phone's side."""

    def judge(seen: Seen) -> Iterator[Miss]:
        parts = _parts(getattr(seen, parts_of), length)
        for call in seen.calls:
            if found := next((part for part in parts if part in _side(call)), None):
                yield Miss(f"nothing of {what}", f"{len(found)} characters of it or more in an answer", todo)

    return judge


def _no_words(seen: Seen) -> Iterator[Miss]:
    for call in seen.calls:
        if found := [word for word in WORDS if word in _side(call)]:
            observed = f"the API's own words in the answer: {', '.join(found[:3])}"
            yield Miss(
                "a neutral failure", observed, "Tell the app that it failed and when to try again; log the rest."
            )


def _in_the_log(parts: Iterable[str], what: str, todo: str) -> Iterator[Miss]:
    if any(part in what for part in parts):
        yield Miss("nothing of it in the log", "it stands in a log file", todo)


def _log_without_key(seen: Seen) -> Iterator[Miss]:
    todo = "Never log headers whole; take x-api-key out of whatever is logged."
    yield from _in_the_log(_parts(seen.key, SHORTEST_PART), seen.log, todo)


def _log_without_opaque(seen: Seen) -> Iterator[Miss]:
    todo = "Log lengths, statuses and times; no body of the API or of the app."
    parts = {part for value in seen.opaque() for part in _parts(value[:200], LONGEST_OPAQUE)}
    yield from _in_the_log(parts, seen.log, todo)


def _not_elsewhere(seen: Seen) -> Iterator[Miss]:
    for one in seen.arrived:
        if one.elsewhere:
            with_key = any(seen.key in value for _name, value in one.request.headers)
            observed = "a request with the key" if with_key else "a request"
            yield Miss("nothing at another origin", observed, "Follow no redirect: the key would go along.")


def _refusals(operation: str) -> tuple[Order, ...]:
    """Each of the documented refusals, one after the other."""
    return tuple(Order(operation, fault=status, nth=nth) for nth, status in enumerate(REFUSALS, 1))


REFUSALS = ("400", "401", "403", "422", "500")
ATTEMPT = Script(both())
REFUSED = Script((*(Ask(GET) for _ in REFUSALS), *(Ask(POST) for _ in REFUSALS)), (*_refusals(GET), *_refusals(POST)))
"""Answers that a careless back end passes on as they are."""


def _redirected(operation: str) -> Script:
    steps: tuple[Step, ...] = (Ask(GET),) if operation == GET else both()
    return Script(steps, (Order(operation, fault="redirect", settings={"status": 307}),), alone=True)


KEY, HOST = (
    "Keep the key in the back end: it goes into no answer, no header and no error.",
    "Tell the app no addresses.",
)


def _case(name: str, says: str, rule: str, judge: Judge, script: Script, *needs: Need) -> Case:
    return Case(f"relay.{name}", says, rule, Group.SECRECY, script, judge, frozenset(needs))


CASES = (
    _case("success.no-key", "An answer holds no part of the key.", "REL-2",
          _on_the_phone("key", SHORTEST_PART, "the key", KEY), ATTEMPT),
    _case("failure.no-key", "A failure holds no part of the key.", "REL-2",
          _on_the_phone("key", SHORTEST_PART, "the key", KEY), REFUSED),
    _case("success.no-host", "An answer does not tell the API's address.", "REL-9",
          _on_the_phone("host", 100, "the API's address", HOST), ATTEMPT),
    _case("failure.no-host", "A failure does not tell the API's address.", "REL-9",
          _on_the_phone("host", 100, "the API's address", HOST), REFUSED),
    _case("failure.no-words", "A failure does not repeat the API's words.", "REL-9", _no_words, REFUSED),
    _case("get.redirect-not-followed", "A redirect of the GET is not followed.", "REL-2", _not_elsewhere,
          _redirected(GET)),
    _case("post.redirect-not-followed", "A redirect of the POST is not followed.", "REL-2", _not_elsewhere,
          _redirected(POST)),
    _case("log.no-key", "The log holds no part of the key.", "REL-2", _log_without_key, ATTEMPT, Need.LOGS),
    _case("log.no-key-on-failure", "The log holds no part of the key when the API refuses.", "REL-2",
          _log_without_key, REFUSED, Need.LOGS),
    _case("log.no-opaque-data", "The log holds no opaque data.", "REL-3", _log_without_opaque, ATTEMPT, Need.LOGS),
    _case("log.no-opaque-data-on-failure", "The log holds no opaque data when the API refuses.", "REL-3",
          _log_without_opaque, REFUSED, Need.LOGS),
)  # fmt: skip
