"""What a run shows beyond its single cases: a plain call that does not work, and what many failures have in common."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic, time
from typing import Any
from urllib.parse import quote

from jsonpointer import escape

from workbook.api.redaction import Redaction
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request, header_values
from workbook.tools.conform.back_end import case_runner, judging, model, schedule
from workbook.tools.conform.back_end.case_runner import CONFIRMED, PLAIN_ATTEMPT, CaseRunner
from workbook.tools.conform.back_end.judging import AFRESH, HAND_ON, MORE_TIME, WORK, describe_ending
from workbook.tools.conform.back_end.model import GET, SUCCESS, BackEndGroup, BackEndResult, Broke, PhoneCall, Seen
from workbook.tools.conform.back_end.phone import UNPACKED
from workbook.tools.conform.back_end.schedule import platform_names
from workbook.tools.harness.model import Root, RunFinding
from workbook.tools.mockserver.journal import operation_of

# The plain attempt, before any case: does a call go through the back end at all, and if not, why not.

# The status of an answer that comes before the value: the app asks for that later.
ACCEPTED = 202
PLACES = "Look at sdk_output of [post], the place where it reads the sdkOutput, and at id."
# What to check where a back end answers with this status and asks the API nothing.
HINTS = {
    400: f"Does the back end take the call as the configuration describes it? {PLACES}",
    401: "Is the session valid, and what comes before it (prefix)?",
    403: "Is the session valid, and does the card belong to that cardholder?",
    404: "Is the path right, and does the back end know the card?",
    405: "Is the method right?",
    415: "Does it take another content-type? [headers] can name it.",
    422: f"Does the back end take the call as the configuration describes it? {PLACES}",
}
# What to check where no connection was made.
NO_CONNECTION = {
    Broke.REFUSED: "Does the back end listen at {url}?",
    Broke.UNTRUSTED: (
        "base_url has to name the host that the certificate is for. If a CA of your own signed the certificate, give "
        "the CA's certificate with ca_file."
    ),
    Broke.NO_TLS: "Does something without TLS listen there? Then base_url must begin with http://.",
    Broke.NO_CERTIFICATE: "Give the workbook an address of your back end that asks for none.",
}


@dataclass(frozen=True, slots=True)
class PlainFailure:
    """A plain call that does not work.

    Attributes:
        operation: GET or POST.
        apps: the platforms whose app makes it.
        why: how it failed and what to check, in sentences.
        by_configuration: the configuration seems to be wrong, so the back end cannot be judged with it.
        asked: the API was called: then the cases about the form of the request have advice.
    """

    operation: str
    apps: tuple[str, ...]
    why: str
    by_configuration: bool
    asked: bool = True

    def finding(self, results: Iterable[BackEndResult]) -> RunFinding:
        """This failure for a report, with advice from the cases about the call's form."""
        results = list(results)
        advice = []
        for result in results:
            script = result.case.script  # list cases (several cards) give no advice
            form = result.case.group is BackEndGroup.FORM and script.cards == 1
            form = form and model.Need.CONTRACT not in result.case.needs  # what the app gets, and not the request
            if self.asked and form and result.verdict in CONFIRMED and self.operation in script.operations:
                of_its_own = (miss for miss in result.misses if miss.root in (Root.KEY, Root.CASE))
                advice += [miss.todo for miss in of_its_own if miss.todo not in (AFRESH, HAND_ON, MORE_TIME, WORK)]
        untested = tuple(result.case.name for result in results if result.why == schedule.NO_PLAIN_CALL)
        first = "Fix this first, because nearly every case makes this call."
        return RunFinding(Root.PLAIN_CALL, str(self), " ".join(dict.fromkeys(advice)) or first, untested)

    def __str__(self) -> str:
        return f"The plain {self.operation} of the app of {platform_names(self.apps)} does not work: {self.why}"


async def plain_attempt(runner: CaseRunner) -> tuple[tuple[PlainFailure, ...], bool]:
    """One attempt with each platform's app, and another one where that fails: a back end may be slow at first.

    Returns:
        What does not work, and whether anything reached the API or succeeded.
    """
    target = runner.target
    apps_of = dict[model.Surface, list[str]]()
    for app, surface in target.surfaces.items():
        apps_of.setdefault(surface, []).append(app)
    failures = list[PlainFailure]()
    alive = False
    for apps in apps_of.values():
        for _ in range(2):
            seen = await runner.run(PLAIN_ATTEMPT, target.cardholders[0].cards[:1], apps[0])
            if all(call.succeeded for call in seen.calls):
                break
        alive = alive or bool(seen.arrived) or any(call.succeeded for call in seen.calls)
        failures += [
            PlainFailure(
                call.operation,
                tuple(apps),
                " ".join(why_not(call, seen, target.base_url)),
                _by_configuration(call, seen),
                bool(seen.during(call)),
            )
            for call in seen.calls
            if not call.succeeded
        ]
    runner.plain_works = not failures
    return tuple(failures), alive


def why_not(call: PhoneCall, seen: Seen, base_url: str) -> Iterator[str]:
    """Why a plain call did not succeed, and what to check, in sentences."""
    yield re.sub(r", after [0-9.]+ s\Z", "", describe_ending(call)) + "."
    if call.broke in NO_CONNECTION:
        yield NO_CONNECTION[call.broke].format(url=base_url)
        return
    requests = seen.during(call)
    headers = {name.lower(): value for name, value in call.headers}
    expected = f"{BEFORE_ID}{quote(call.instrument, safe='')}{AFTER_ID}"
    if not requests:
        yield from _before_the_api(call)
    elif (came := requests[-1].request).method != call.operation or came.target != expected:
        yield from _at_another_path(call, came, expected)
    else:
        status = requests[-1].response.status
        source = requests[-1].response.basis
        yield f"A request reached the API, which answered with status {status} ({source})."
        in_its_request = {
            400: 'Is the body {"sdkOutput": ...}, with nothing beside it?',
            401: "Does it send x-api-key with the key that it was given?",
            415: "Does it send content-type: application/json?",
            422: 'Is the body {"sdkOutput": ...}, with the very text that the app sent?',
        }
        yield from filter(None, [in_its_request.get(status)])
        if call.sent and not requests[-1].sdk_output:
            yield f"It holds no sdkOutput. {PLACES}"
    if call.status in {301, 302, 303, 307, 308}:
        yield "The back end redirects, and the workbook follows no redirect. Configure the address to which it leads."
    if call.broke is Broke.LOST and base_url.startswith("https:") and not requests:
        yield "Does it ask for a client certificate? That is not supported."
    if call.broke in (Broke.LOST, Broke.NO_HTTP) and base_url.startswith("http:") and not requests:
        yield "Does something else listen there? Or does the back end speak TLS? Then base_url must begin with https://."
    if call.status in SUCCESS and call.value is None:
        yield _why_no_value(call, requests)
    if call.value is None and headers.get("content-encoding", "identity").lower() not in UNPACKED:
        yield f"Its content-encoding {headers['content-encoding'][:20]!r} is none that the phone asked for."


def _why_no_value(call: PhoneCall, requests: Iterable[model.Arrived]) -> str:
    """What to check where a success holds no sdkInput."""
    if call.status == ACCEPTED:
        return "Polling is not supported: give the path of a call whose answer holds the sdkInput."
    if isinstance(document := _document(call.body), str) and isinstance(_document(document), dict):
        return "The answer is JSON inside a JSON string: somewhere it is made JSON of twice. Send the object itself."
    if encoding := judging.wrong_encoding(call.body):
        return f"The answer is in {encoding}, and clients read JSON as UTF-8 without a byte order mark."
    if place := place_of({request.given for request in requests if request.given}, call.body):
        return f'The API\'s sdkInput is at another place of the answer: sdk_input = "{place}"?'
    kind = next(iter(header_values(call.headers, "content-type")), "nothing")[:40]
    return f"Is sdk_input right? The answer says content-type {kind!r}."


def _before_the_api(call: PhoneCall) -> Iterator[str]:
    """What to check where the back end failed before it called the API."""
    yield "No request reached the API."
    if call.status in HINTS:
        yield HINTS[call.status]
    elif call.status is not None and call.status >= 400:
        second = datetime.fromtimestamp(time() - (monotonic() - call.ended), UTC)
        yield f"Your back end failed before it called the API: look at its log at {second:%H:%M:%S} UTC."
        yield "Does it decode what its gateway hands over, such as a body in base64?"
        yield from [PLACES] if call.sent else []


def _document(text: str | bytes) -> Any:
    """What a text holds as JSON; None where it is none."""
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except (ValueError, RecursionError):
        return None


def _at_another_path(call: PhoneCall, came: Request, expected: str) -> Iterator[str]:
    rule_id = "API-1" if call.operation == GET else "API-2"
    redaction = Redaction()
    arrived = f"{redaction.method(came.method)} {redaction.target(came.target, call.instrument)}"
    yield f"The document has {call.operation} {expected} ({rule_id}), and {arrived} arrived."
    if operation_of(came.method, came.target)[1] not in (None, call.instrument):
        yield "The id was changed: pass it on unchanged."
    elif came.target.replace("/bcl/v2", "") == expected.replace("/bcl/v2", ""):
        yield "The address that it is given ends before /bcl/v2, which stands in the path once."


def place_of(values: Collection[str], body: bytes) -> str | None:
    """Where in an answer one of these values is: a JSON pointer, or `raw` for the whole body; None for nowhere."""
    if body.decode("utf-8", "replace") in values:
        return model.RAW
    return next((pointer for pointer, text in texts_in(_document(body)) if text in values), None)


def texts_in(document: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON document, each after its JSON pointer."""
    if isinstance(document, str):
        yield pointer, document
    elif isinstance(document, dict | list):
        for name, inner in document.items() if isinstance(document, dict) else enumerate(document):
            yield from texts_in(inner, f"{pointer}/{escape(str(name))}")


def _by_configuration(call: PhoneCall, seen: Seen) -> bool:
    """Whether it is the configuration that does not fit: the address, the path, the session, a pointer, or the kind."""
    if call.status == ACCEPTED and call.value is None:
        return True
    requests = seen.during(call)
    if not requests:
        return call.broke in NO_CONNECTION or call.status in HINTS
    given = {request.given for request in requests if request.given}
    return call.status in SUCCESS and call.value is None and place_of(given, call.body) is not None


# What many failures have in common.

GIVE_BACK = (
    f"Look first at what this case and those that ran with it left behind: a connection, a lock, a thread. {AFRESH}"
)


def common_causes(
    results: Iterable[BackEndResult],
    gone: str = "",
    ended: str = "",
    tempo: model.Tempo | None = None,
    *,
    pace: float = 0.0,
) -> Iterator[RunFinding]:
    """What explains many results at once.

    Args:
        results: of the whole run.
        gone: since when the back end no longer answers, in words; empty while it does.
        ended: how its command ended, in words.
        tempo: how the back end works; None where it was not measured.
        pace: least seconds between two calls; 0 for no pace.
    """
    results = list(results)
    if limited := tuple(result.case.name for result in results if case_runner.OWN_429 in result.why):
        cases = "one case" if len(limited) == 1 else f"{len(limited)} cases"
        says = f"Your back end answered 429 itself in {cases}, and asked the API nothing."
        slower = f"a pace of more than {pace:g}" if pace else "a pace"
        todo = (
            f"Lift its limit for the sessions of the test, or set {slower}, the least seconds between two calls: "
            "[timeouts] pace in the configuration."
        )
        yield RunFinding(Root.LIMIT, says, todo, limited)
    if tempo is not None and tempo.finding:
        queued = (judging.SIDE_BY_SIDE, judging.UNLOCKED)
        same = (result.case.name for result in results if any(miss.todo in queued for miss in result.misses))
        waited = (result.case.name for result in results if result.why == schedule.ONE_LANE)
        yield RunFinding(Root.CONCURRENCY, tempo.finding, queued[tempo.queues_cardholder], (*same, *waited))
    if gone:
        untested = tuple(result.case.name for result in results if gone in result.why)
        # what it failed after is what brings it about again
        groups = (result.case.group for result in results if result.case.name in gone)
        again = BackEndGroup.FAULTS if "failing API answers" in gone else next(groups, "")
        yield RunFinding(Root.NO_ANSWER, f"{gone} {ended}".strip(), GIVE_BACK, untested, str(again))
