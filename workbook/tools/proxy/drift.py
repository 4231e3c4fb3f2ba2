"""`workbook drift`: where a real API and the simulator differ, from a record and a scenario.

The simulator answers the requests of the record under the scenario, without its faults. What the scenario does not say
is taken from the record: an instrument that the real API knew counts as an active card, and a key that it refused
throughout as one that opens nothing, or has no role. An sdkOutput of a real SDK cannot be opened here, so a genuine one
of the simulator replaces it. Equal ones get the same replacement.

The result is a list of differences. `workbook compare` says what changed between two of them.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum, unique
from typing import Any, TypeAlias

from workbook.api.opaque import json_object
from workbook.base.terminal import visible
from workbook.checks.diagnosis import see
from workbook.errors import ConfigurationError
from workbook.simulation.contract import CONTRACTS
from workbook.simulation.http import MAX_BODY, Request, Response, header_values
from workbook.simulation.scenario import Scenario
from workbook.simulation.seal import Content, Seal, damaged
from workbook.simulation.world import Instrument
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.proxy.record import EMPTY_BODY, NOT_JSON, REDACTION, ProxyRecord, RecordedExchange, shape
from workbook.tools.proxy.upstream import LOSSES

# The outcome of a recorded exchange, in one word.
#
# Some outcomes are transient: a limit, a fault, a lost connection. They say nothing about the request, so the simulator
# is not asked. The others are answers to the request.

FINE = "200"


def outcome_of(exchange: RecordedExchange) -> str:
    """A status, how the exchange was lost, or what is wrong with a 200."""
    if exchange.failure:
        return exchange.failure
    if exchange.status != int(FINE):
        return str(exchange.status)
    whole = exchange.response_shape.get("", "")
    if whole != "object":
        return f"{FINE}, {whole}" if whole else FINE
    kind = exchange.response_shape.get("sdkInput", "missing")
    return FINE if kind == "string" else f"{FINE}, sdkInput {kind}"


def is_transient_outcome(word: str) -> bool:
    """Whether this outcome says nothing about the request."""
    return word in LOSSES or word == "429" or bool(re.fullmatch("[35][0-9][0-9]", word))


# What the simulator would have answered: each request of the record once more, in the world of its caller.

_SAMPLES: Mapping[str, Any] = {
    "string": "text",
    "empty string": "",
    "number": 1,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


class Replay:
    """Answers the requests of a record, each in the world of its caller.

    Args:
        scenario: as it is to be played; take its faults out to see what a request alone is answered with.
        exchanges: all of the record: only all of them show which keys were refused throughout.

    Attributes:
        scenario: the same, with every instrument that the real API answered for.
    """

    def __init__(self, scenario: Scenario, exchanges: Sequence[RecordedExchange]) -> None:
        known = {instrument.id for instrument in scenario.instruments}
        answered: dict[str, None] = {}
        seen: dict[str, set[str]] = {}
        for exchange in exchanges:
            word = outcome_of(exchange)
            if exchange.instrument is not None and exchange.instrument not in known and exchange.status == int(FINE):
                answered[exchange.instrument] = None
            if exchange.credential is not None and exchange.sent and not is_transient_outcome(word):
                seen.setdefault(exchange.credential, set()).add(word)
        self.scenario = replace(scenario, instruments=(*scenario.instruments, *map(Instrument, answered)))
        self._refused = {caller: min(words) for caller, words in seen.items() if words in ({"401"}, {"403"})}
        self._server = MockServer(None)
        self._keys: set[str] = set()
        self._seal = Seal(scenario.seed)
        self._outputs: dict[tuple[str, str], str] = {}
        self._serial = 1_000_000  # far from those that a service draws

    def answer(self, exchange: RecordedExchange) -> Response:
        """What the simulator answers; a request that is sent again is another request."""
        key = ""
        if exchange.credential is not None:
            key = f"recorded-{exchange.credential}"
            name = self.credential(exchange)
            if name is not None and key not in self._keys:
                self._keys.add(self._server.add(self.scenario, key, credential=name))
        headers = tuple((name, key if name.lower() == "x-api-key" else value) for name, value in exchange.headers)
        return self._server.respond(Request(exchange.method, exchange.target, headers, self._body(exchange)))

    def refused(self, exchange: RecordedExchange) -> str:
        """The status, 401 or 403, of every answer that this caller got; empty where it got others."""
        return self._refused.get(exchange.credential or "", "")

    def credential(self, exchange: RecordedExchange) -> str | None:
        """The scenario's credential that plays this caller; None for one whose key opens nothing."""
        refused = self.refused(exchange)
        if exchange.credential is None or refused == "401":
            return None
        held = {name: bool(credential.roles) for name, credential in self.scenario.credentials.items()}
        wanted = refused != "403"
        return next((name for name, role in held.items() if role is wanted), next(iter(held)))

    def _body(self, exchange: RecordedExchange) -> bytes:
        """A body of the recorded shape, and as long where that matters."""
        whole = exchange.body_shape.get("", EMPTY_BODY)
        if whole == EMPTY_BODY:
            body = b""
        elif whole == NOT_JSON:
            body = b"not JSON"
        elif whole == "object":
            document = {}
            for name, kind in exchange.body_shape.items():
                if name and "." not in name and "[]" not in name:
                    output = (name, kind) == ("sdkOutput", "string")
                    document[name] = self._output(exchange) if output else _SAMPLES.get(kind, {})
            body = json.dumps(document).encode()
        else:
            body = json.dumps(_SAMPLES.get(whole)).encode()
        return body.ljust(MAX_BODY + 1) if exchange.body_length > MAX_BODY else body

    def _output(self, exchange: RecordedExchange) -> str:
        """A genuine sdkOutput, damaged where the recorded one is no plain base64; equal ones get the same."""
        shown = exchange.body.get("sdkOutput") if isinstance(exchange.body, dict) else None
        fields = shown if isinstance(shown, dict) else {}
        identity = str(fields.get("digest") or fields.get("serial") or f"line {exchange.line}")
        instrument = str(fields.get("paymentInstrumentId") or exchange.instrument)
        self._serial += 1
        fresh = self._seal.close(Content.OUTPUT, instrument, self._serial, attempt=self._serial)
        output = self._outputs.setdefault((instrument, identity), fresh)
        return output if exchange.body_layer is None else damaged(output, "quoted")


# A finding: what the real API did, what the simulator does, and on which basis.


@unique
class DriftKind(StrEnum):
    """How much a finding says, the heaviest first."""

    DOCUMENT = "contradicts the document"
    PUBLISHED = "contradicts what is published"
    ASSUMED = "our assumption is wrong"


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """One difference, however often it was seen.

    Attributes:
        kind: how much it says.
        operation: GET or POST.
        real: what the real API did.
        simulated: what the simulator does.
        basis: what the simulator's choice rests on: rules, published sources, `assumed`.
        count: in how many exchanges it was seen.
        of: how many exchanges the operation has.
        lines: the first three lines of the record that show it.
    """

    kind: DriftKind
    operation: str
    real: str
    simulated: str
    basis: str
    count: int
    of: int
    lines: tuple[int, ...]

    @property
    def order(self) -> tuple[int, int, str, str]:
        """The position in a report: the heaviest kind first, then the most frequent."""
        return list(DriftKind).index(self.kind), -self.count, self.operation, self.real


def kind_of_status(word: str) -> tuple[DriftKind, str]:
    """How much an ending says, and on which basis: the set of statuses is published."""
    published = ("200", "400", "401", "403", "422", "500")  # for the two operations (openapi)
    if word.isdigit() and word not in published:
        return DriftKind.PUBLISHED, "openapi"
    return DriftKind.ASSUMED, "assumed"


# How answers with the same status differ: media type, headers, fields, JSON types, and the values that are kept.

# Headers of servers, gateways and browsers' safety, which say nothing about this API; they are not compared.
_OF_THE_WAY = frozenset(
    """age alt-svc cache-control cf-cache-status cf-ray connection content-encoding content-length date etag expires
    keep-alive nel pragma report-to server set-cookie strict-transport-security transfer-encoding vary via
    x-cache x-content-type-options x-frame-options x-xss-protection""".split()  # noqa: SIM905  # to be read as a list
)
# One thing in which two answers differ: `kind`, `real`, `simulated` and `basis` of a `DriftFinding`.
AnswerDifference: TypeAlias = tuple[DriftKind, str, str, str]


def compare_answers(recorded: RecordedExchange, response: Response) -> Iterator[AnswerDifference]:
    """How the real answer and the simulator's differ; both have the same status."""
    status = recorded.status
    assumed = DriftKind.ASSUMED
    real_type, our_type = (
        next(iter(header_values(headers, "content-type")), "").partition(";")[0].strip().lower()
        for headers in (recorded.response_headers, response.headers)
    )
    if real_type != our_type:
        yield (assumed, f"{status} as {real_type or 'no media type'}", our_type, "assumed")
    real_names, our_names = (
        {name.lower() for name, _value in headers} - _OF_THE_WAY
        for headers in (recorded.response_headers, response.headers)
    )
    for name in sorted(real_names - our_names - {"content-type"}):
        yield (assumed, f"{status} with the header {name}", "without it", "assumed")
    for name in sorted(our_names - real_names - {"content-type"}):
        yield (assumed, f"{status} without the header {name}", "with it", "assumed")
    yield from compare_fields(recorded, response)
    values = recorded.response_body if isinstance(recorded.response_body, dict) else {}
    ours = json_object(response.body) or {}
    for name in sorted(REDACTION.fields & values.keys() & ours.keys()):
        if type(values[name]) is type(ours[name]) and values[name] != ours[name]:
            real = f"{status} with {name} {json.dumps(values[name])}"
            yield (assumed, real, json.dumps(ours[name]), response.basis)
    if recorded.response_layer is not None:
        real = f"an sdkInput that is no base64 text of a platform's form ({recorded.response_layer})"
        yield (DriftKind.PUBLISHED, real, "base64 text", "API-8; sdk-a, sdk-b")


def compare_fields(recorded: RecordedExchange, response: Response) -> Iterator[AnswerDifference]:
    """Fields that only one of them has, or with another JSON type.

    Which fields a refusal must have and may have is published, and which a 200 has. The simulator leaves out what a
    refusal may have.
    """
    published = CONTRACTS["field"]
    required = published.problem_schema["required"]
    optional = {*published.problem_schema["properties"], "response"} - {*required}
    real = recorded.response_shape
    ours = shape(response.body)
    refusal = str(recorded.status) != FINE
    for path in sorted(real.keys() | ours.keys()):
        there = real.get(path, "nothing")
        here = ours.get(path, "nothing")
        parents = ["", *(path[:end] for end in range(len(path)) if path[end] in ".[")]
        outer = path.partition(".")[0]
        left_out = not refusal and path and outer != "sdkInput" and there == "nothing"  # as a 200 may
        if there == here or left_out or any(real.get(one) != ours.get(one) for one in parents if one != path):
            continue  # one difference for a whole object is enough
        if refusal and path in required and there == "nothing":
            kind, basis = DriftKind.PUBLISHED, "openapi"
        elif not refusal and path and outer not in published.answer_fields:
            kind, basis = DriftKind.PUBLISHED, "API-9; openapi"
        else:
            kind, basis = DriftKind.ASSUMED, "openapi; left out: assumed" if outer in optional else "assumed"
        where = f"the field {path}" if path else "the body"
        yield (kind, f"{recorded.status}, {where}: {there}", here, basis)


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of a comparison.

    Attributes:
        scenario: its name.
        findings: the heaviest kind first.
        compared: how many exchanges.
        notes: what a reader should know.
    """

    scenario: str
    findings: tuple[DriftFinding, ...]
    compared: int
    notes: tuple[str, ...]


def drift(record: ProxyRecord, scenario: Scenario) -> Drift:
    """Compare a record with what the simulator would have answered.

    Raises:
        ConfigurationError: the record has nothing to compare.
    """
    compared = [each for each in record.exchanges if each.operation and each.instrument and each.sent]
    if not compared:
        raise ConfigurationError("The record holds no exchange of the two operations that reached the API.")
    replay = Replay(replace(scenario, faults=()), compared)
    totals = Counter(str(exchange.operation) for exchange in compared)
    seen: dict[tuple[str, AnswerDifference], list[RecordedExchange]] = defaultdict(list)
    for exchange in compared:
        for difference in compare_exchange(exchange, replay):
            seen[str(exchange.operation), difference].append(exchange)
    findings: list[DriftFinding] = []
    for (operation, (kind, real, simulated, basis)), alike in seen.items():
        lines = tuple(exchange.line for exchange in alike[:3])
        findings.append(DriftFinding(kind, operation, real, simulated, basis, len(alike), totals[operation], lines))
    notes = list(record.notes)
    if scenario.faults:
        notes.append("The faults of the scenario are not played: a fault that the real API showed is a difference.")
    more = len(replay.scenario.instruments) - len(scenario.instruments)
    if more:
        notes.append(f"The record has instruments that the scenario has not ({more}): they are taken for active cards.")
    callers = {each.credential: replay.credential(each) for each in compared if each.credential}
    unknown = sum(name is None for name in callers.values())
    if unknown:
        notes.append(f"Keys that got nothing but 401 ({unknown}) are taken for keys that open nothing (assumed).")
    ordered = sorted(findings, key=lambda finding: finding.order)
    return Drift(scenario.name, tuple(ordered), len(compared), tuple(notes))


def compare_exchange(exchange: RecordedExchange, replay: Replay) -> Iterator[AnswerDifference]:
    """How this exchange differs from what the simulator would have answered."""
    word = outcome_of(exchange)
    kind, published = kind_of_status(word)
    if is_transient_outcome(word):
        yield kind, LOSSES.get(word, word), FINE, published
        return
    response = replay.answer(exchange)
    if word == str(response.status):
        yield from compare_answers(exchange, response)
    elif exchange.status == int(FINE) and word != FINE:  # a 200 is JSON with an sdkInput that is a text (API-9)
        yield DriftKind.DOCUMENT, word, str(response.status), "API-9"
    else:
        yield kind, word, str(response.status), response.basis if kind is DriftKind.ASSUMED else published


# The drift of a real API as a report for a person and for a script.


def as_text(drift: Drift) -> str:
    """The report, each kind of finding under its heading."""
    found = len(drift.findings)
    total = f"{found} {'finding' if found == 1 else 'findings'}" if found else "no drift"
    lines = [f"{drift.compared} exchanges compared with the scenario {drift.scenario!r}: {total}."]
    lines += [f"Note: {note}" for note in drift.notes]
    for kind in DriftKind:
        findings = [finding for finding in drift.findings if finding.kind is kind]
        if findings:
            lines += ["", f"{kind.value} ({len(findings)})"]
        for finding in findings:
            where = ", ".join(map(str, finding.lines)) + ("..." if finding.count > len(finding.lines) else "")
            lines += [
                f"  {finding.operation:<4} {finding.count} of {finding.of}: {finding.real}",
                f"       the simulator: {finding.simulated}   basis: {finding.basis}   lines: {where}",
            ]
            lines += [f"       {words}" for words in (see(finding.basis, finding.real),) if words]
    return "".join(f"{visible(line)}\n" for line in lines)


def as_json(drift: Drift) -> str:
    """The same as a report, with a case for each difference.

    The scenario names what was tried: a difference that only one of two reports has was not there in the other.
    """
    cases = []
    for finding in drift.findings:
        verdict = Verdict.FAIL if finding.kind.startswith("contradicts") else Verdict.WARN
        why = f"{finding.kind}: {finding.real}; the simulator: {finding.simulated}"
        cases.append(CaseRecord(f"{finding.operation} {finding.real}", verdict, why=why))
    findings = [asdict(finding) for finding in drift.findings]
    named = {"scenario": drift.scenario, "compared": drift.compared, "notes": drift.notes, "findings": findings}
    about = About(program="workbook drift", facts={"scenario": drift.scenario}, tried=f"scenario {drift.scenario}")
    return to_json(RunRecord(about, tuple(cases), named))
