"""`workbook drift`: where a real API and the simulator differ, from a record and a scenario.

The simulator answers the requests of the record under the scenario. What the scenario does not say is taken from the
record: an instrument that the real API knew counts as an active card, and a key that it refused throughout as one that
opens nothing, or has no role. An sdkOutput of a real SDK cannot be opened here, so a genuine one of the simulator
replaces it. Equal ones get the same replacement.

Each question is answered on its own, in the order of `_Comparison.findings`: what the document says of any answer,
which of the scenario's faults were seen, which transient failures it does not plan, how each exchange ends, what
answers with equal statuses differ in, and how long answers take.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum, unique
from math import sqrt
from statistics import median
from typing import Any, TypeAlias

import tomli_w

from workbook.api.opaque import decode_strictly, json_object
from workbook.base.terminal import visible
from workbook.base.values import is_text
from workbook.checks.diagnosis import see
from workbook.errors import ConfigurationError
from workbook.simulation.faults import FAULTS, FaultKind, Planned
from workbook.simulation.http import MAX_BODY, Request, Response, header_values
from workbook.simulation.scenario import Scenario
from workbook.simulation.seal import Content, Genuine, Seal, damaged
from workbook.simulation.world import Instrument
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.mockserver.mock import Worlds
from workbook.tools.proxy.record import EMPTY_BODY, NOT_JSON, REDACTION, TWICE, ProxyRecord, RecordedExchange, shape
from workbook.tools.proxy.upstream import LARGEST_ANSWER, LOSSES, ProxyFailure

# The outcome of a recorded exchange, in one word, and which fault of the simulator's plays the same.
#
# Some outcomes are transient: a limit, a fault, a lost connection. They say nothing about the request, so they are
# counted and compared as shares. The others are answers to the request, and are compared one by one.

FINE = "200"
# The name of the fault that is played for an outcome.
PLAYED: Mapping[str, str] = {
    **{word: fault.name for fault in FAULTS.values() for word in fault.seen_as},
    # the plainest of those that look alike from outside
    "429": "429 in seconds",
    "200, not JSON": "not JSON",
    ProxyFailure.CLOSED: "close",
    ProxyFailure.CUT: "truncated body",
    ProxyFailure.LATE: "stall before headers",
    ProxyFailure.TOO_LARGE: "huge body",
}


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


def of_recording(record: ProxyRecord) -> RunRecord:
    """A recording as a report, with a case for each operation and instrument.

    A case fails where an answer was anything but a 200 with an sdkInput. What is to no instrument is left out.
    """
    endings: dict[str, set[str]] = defaultdict(set)
    for each in record.exchanges:
        if each.operation is not None and each.instrument is not None:
            endings[f"{each.operation} {each.instrument}"].add(outcome_of(each))
    cases = []
    for name, words in sorted(endings.items()):
        bad = ", ".join(LOSSES.get(word, word) for word in sorted(words - {FINE}))
        cases.append(CaseRecord(name, Verdict.FAIL if bad else Verdict.PASS, why=bad))
    return RunRecord(About(program="workbook proxy", facts={"API": ", ".join(record.to)}), tuple(cases))


def is_transient_outcome(word: str) -> bool:
    """Whether this outcome says nothing about the request."""
    return word in LOSSES or word == "429" or bool(re.fullmatch("[35][0-9][0-9]", word))


def outcomes_of(planned: Planned) -> frozenset[str]:
    """The outcomes that a planned fault may have; none where it cannot be recognised from outside."""
    fault = planned.fault
    values = fault.effective
    if "status" in values:
        return frozenset({str(values["status"])})
    passed_on = values.get("bytes", LARGEST_ANSWER) < LARGEST_ANSWER
    return frozenset(fault.seen_as) - ({ProxyFailure.TOO_LARGE} if passed_on else set())


def settings(word: str, seen: Sequence[RecordedExchange]) -> dict[str, Any] | None:
    """The fault that plays this outcome, with settings from these exchanges; None where no fault does."""
    if word not in PLAYED:
        return None
    fault = PLAYED[word]
    if "status" in FAULTS[fault].settings:
        return {"fault": fault, "status": int(word)}
    if word == ProxyFailure.LATE:
        return {"fault": fault, "seconds": float(round(max(exchange.seconds for exchange in seen) + 1))}
    if FAULTS[fault].kind is FaultKind.LIMIT:
        return _limit([value for each in seen for value in header_values(each.response_headers, "retry-after")])
    return {"fault": fault, **({"bytes": 2 * LARGEST_ANSWER} if word == ProxyFailure.TOO_LARGE else {})}


def _limit(pauses: Sequence[str]) -> dict[str, Any]:
    """The fault that plays a 429 with the first of these values of Retry-After."""
    if not pauses:
        return {"fault": "429 without Retry-After"}
    first = pauses[0]
    in_seconds = FAULTS["429 in seconds"]
    if first.isascii() and first.isdigit() and in_seconds.settings["seconds"].fits(int(first[:9])):
        return {"fault": in_seconds.name, "seconds": int(first)}
    return {"fault": "429 at a date" if first.endswith("GMT") else "429 with garbage"}


# What the simulator would have answered: each request of the record once more, in the world of its caller.

# What is done to a genuine sdkOutput so that it is wrong in the layer in which the recorded one was.
_DAMAGES: Mapping[str, str] = {
    "quoted": "quoted",
    "decoded-once-too-often": "decoded",
    "line-breaks": "wrapped into lines",
    "url-safe": "url-safe alphabet",
    "alphabet": "quoted",
    "padding": "padding trimmed",
    "pad-bits": "one character changed",
    "encoded-twice": "encoded twice",
}
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
        seen: dict[tuple[int, str], set[str]] = {}
        for exchange in exchanges:
            word = outcome_of(exchange)
            if exchange.instrument is not None and exchange.instrument not in known and exchange.status == int(FINE):
                answered[exchange.instrument] = None
            if exchange.credential is not None and exchange.sent and not is_transient_outcome(word):
                seen.setdefault((exchange.run, exchange.credential), set()).add(word)
        self.scenario = replace(scenario, instruments=(*scenario.instruments, *map(Instrument, answered)))
        self._refused = {caller: min(words) for caller, words in seen.items() if words in ({"401"}, {"403"})}
        self._worlds = Worlds()
        self._seal = Seal(scenario.seed)
        self._own_seed = any(isinstance(self._seal.open(text), Genuine) for text in _texts(exchanges))
        self._outputs: dict[tuple[int, str | None, str], str] = {}
        self._serial = 1_000_000  # far from those that a service draws

    def answer(self, exchange: RecordedExchange) -> Response:
        """What the simulator answers; a request that is sent again is another request."""
        key = ""
        if exchange.credential is not None:
            key = f"recorded-{exchange.run}-{exchange.credential}"
            name = self.credential(exchange)
            if name is not None and key not in self._worlds:
                self._worlds.add(self.scenario, key, credential=name)
        headers = tuple((name, key if name.lower() == "x-api-key" else value) for name, value in exchange.headers)
        return self._worlds.respond(Request(exchange.method, exchange.target, headers, self._body(exchange)))

    def refused(self, exchange: RecordedExchange) -> str:
        """The status, 401 or 403, of every answer that this caller got; empty where it got others."""
        return self._refused.get((exchange.run, exchange.credential or ""), "")

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
        elif whole in ("object", TWICE):
            pairs = []
            for name, kind in exchange.body_shape.items():
                if name and "." not in name and "[]" not in name:
                    output = (name, kind) == ("sdkOutput", "string")
                    value = self._output(exchange) if output else _SAMPLES.get(kind, {})
                    pairs.append(f"{json.dumps(name)}: {json.dumps(value)}")
            if whole == TWICE:
                pairs += pairs[:1]
            body = f"{{{', '.join(pairs)}}}".encode()
        else:
            body = json.dumps(_SAMPLES.get(whole)).encode()
        return body.ljust(MAX_BODY + 1) if exchange.body_length > MAX_BODY else body

    def _output(self, exchange: RecordedExchange) -> str:
        """The recorded sdkOutput where the simulator made it, else a genuine one that is wrong in the same layer."""
        shown = exchange.body.get("sdkOutput") if isinstance(exchange.body, dict) else None
        fields = shown if isinstance(shown, dict) else {}
        text = fields.get("text")
        if isinstance(text, str):
            resealed = text if self._own_seed else self._resealed(text)
            if resealed is not None:
                return resealed
        identity = str(fields.get("digest") or fields.get("serial") or f"line {exchange.line}")
        self._serial += 1
        instrument = exchange.instrument or ""
        fresh = self._seal.close(Content.OUTPUT, instrument, self._serial, attempt=self._serial)
        output = self._outputs.setdefault((exchange.run, exchange.instrument, identity), fresh)
        return damaged(output, _DAMAGES.get(exchange.body_layer or "", "none"))

    def _resealed(self, text: str) -> str | None:
        """The same claims under this scenario's seed: another server's seal cannot be checked, only believed."""
        claims: dict[str, Any] = json_object(decode_strictly(text) or b"") or {}
        try:
            content, instrument, serial = Content(claims["kind"]), claims["paymentInstrumentId"], claims["serial"]
        except (KeyError, ValueError):
            return None
        more = {"attempt": claims["attempt"]} if "attempt" in claims else {}
        return self._seal.close(content, str(instrument), serial, **more)


def _texts(exchanges: Sequence[RecordedExchange]) -> Iterator[str]:
    """All simulated data of the record."""
    for exchange in exchanges:
        for body in (exchange.body, exchange.response_body):
            for value in body.values() if isinstance(body, dict) else ():
                if isinstance(value, dict) and isinstance(value.get("text"), str):
                    yield value["text"]


# A finding of drift: what the real API did, what the simulator does and on which basis, and how to make them agree.


@unique
class DriftKind(StrEnum):
    """How much a finding says, the heaviest first."""

    DOCUMENT = "contradicts the document"
    PUBLISHED = "contradicts what is published"
    ASSUMED = "our assumption is wrong"
    CONFIGURED = "the scenario is set otherwise"


@dataclass(frozen=True, slots=True)
class ScenarioSetting:
    """What to set in a scenario.

    Attributes:
        table: `instrument`, `credential`, `latencies` or `fault`.
        values: keys and values of that table.
        name: which instrument or credential is meant; empty for the others.
        number: which of the scenario's `[[fault]]` tables it replaces, from 1; 0 where it is a further one.
    """

    table: str
    values: Mapping[str, Any] = field(hash=False)
    name: str = ""
    number: int = 0


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
        of: in how many exchanges it could have been seen.
        lines: the first three lines of the record that show it.
        setting: what would make the simulator do the same; None where nothing does.
        note: what else there is to say.
    """

    kind: DriftKind
    operation: str
    real: str
    simulated: str
    basis: str
    count: int
    of: int
    lines: tuple[int, ...]
    setting: ScenarioSetting | None = None
    note: str = ""

    @property
    def see(self) -> str:
        """The command that prints its row of the catalogue of symptoms; empty where it has none."""
        return see(self.basis, self.real)

    @property
    def order(self) -> tuple[int, int, str, str]:
        """The position in a report: the heaviest kind first, then the most frequent."""
        return list(DriftKind).index(self.kind), -self.count, self.operation, self.real


# One recorded exchange beside what the simulator would have answered, and what a difference between them becomes.


@dataclass(frozen=True, slots=True)
class ComparedExchange:
    """One exchange and the simulator's answer to it.

    Attributes:
        recorded: what was recorded.
        word: its outcome, see `outcome_of`.
        response: what the simulator answers; None for a transient outcome, which is not replayed.
    """

    recorded: RecordedExchange
    word: str
    response: Response | None

    @property
    def operation(self) -> str:
        """GET or POST."""
        return self.recorded.operation or ""

    @property
    def instrument(self) -> str:
        """The payment instrument's id."""
        return self.recorded.instrument or ""

    @property
    def simulated(self) -> str:
        """The simulator's status; empty where it was not asked."""
        return "" if self.response is None else str(self.response.status)

    @property
    def basis(self) -> str:
        """What the simulator's answer rests on."""
        return "" if self.response is None else self.response.basis

    @property
    def differs(self) -> bool:
        """Whether it ended otherwise than the simulator's answer."""
        return self.word != self.simulated


Comparisons: TypeAlias = Sequence[ComparedExchange]


def _grouped(
    comparisons: Iterable[ComparedExchange], key: Callable[[ComparedExchange], tuple[Any, ...]]
) -> Iterable[tuple[tuple[Any, ...], list[ComparedExchange]]]:
    """The comparisons by key, in the order of each key's first."""
    groups: dict[tuple[Any, ...], list[ComparedExchange]] = defaultdict(list)
    for comparison in comparisons:
        groups[key(comparison)].append(comparison)
    return groups.items()


def _finding(kind: DriftKind, seen: Comparisons, **more: Any) -> DriftFinding:
    """The one finding that these comparisons make together; `more` are its other fields."""
    lines = tuple(comparison.recorded.line for comparison in seen[:3])
    return DriftFinding(kind, seen[0].operation, count=len(seen), lines=lines, **more)


def _kind_of_status(word: str) -> tuple[DriftKind, str]:
    """How much an ending says, and on which basis: the set of statuses is published."""
    published = ("200", "400", "401", "403", "422", "500")  # for the two operations (openapi)
    if word.isdigit() and word not in published:
        return DriftKind.PUBLISHED, "openapi"
    return DriftKind.ASSUMED, "assumed"


def _fault(seen: Comparisons, of: int, instrument: str = "") -> ScenarioSetting | None:
    """A `[[fault]]` for the ending that these share, as often as it was seen; None where no fault plays it."""
    table = settings(seen[0].word, [comparison.recorded for comparison in seen])
    if table is None:
        return None
    target = {"payment_instrument_id": instrument} if instrument else {}
    share = {} if len(seen) == of else {"share": round(len(seen) / of, 4)}
    return ScenarioSetting(
        "fault", {"fault": table.pop("fault"), "operation": seen[0].operation, **target, **share, **table}
    )


# How answers with the same status differ: media type, headers, fields, JSON types, and the values that are kept.

# Headers of servers, gateways and browsers' safety, which say nothing about this API; they are not compared.
_OF_THE_WAY = frozenset(
    """age alt-svc cache-control cf-cache-status cf-ray connection content-encoding content-length date etag expires
    keep-alive nel pragma report-to server set-cookie strict-transport-security transfer-encoding vary via
    x-cache x-content-type-options x-frame-options x-xss-protection""".split()  # noqa: SIM905  # to be read as a list
)
# One thing in which two answers differ: `kind`, `real`, `simulated` and `basis` of a `DriftFinding`.
AnswerDifference: TypeAlias = tuple[DriftKind, str, str, str]


def differences(recorded: RecordedExchange, response: Response) -> Iterator[AnswerDifference]:
    """How the real answer and the simulator's differ; both have the same status."""
    status, assumed = recorded.status, DriftKind.ASSUMED
    real_type, our_type = (
        next(iter(header_values(headers, "content-type")), "").partition(";")[0].strip().lower()
        for headers in (recorded.response_headers, response.headers)
    )
    if real_type != our_type:
        yield (assumed, f"{status} as {real_type or 'no media type'}", our_type, "assumed")
    real_names, our_names = (  # another simulator may be the API: it adds headers of its own
        {name.lower() for name, _value in headers if not name.lower().startswith("x-workbook-")} - _OF_THE_WAY
        for headers in (recorded.response_headers, response.headers)
    )
    for name in sorted(real_names - our_names - {"content-type"}):
        yield (assumed, f"{status} with the header {name}", "without it", "assumed")
    for name in sorted(our_names - real_names - {"content-type"}):
        yield (assumed, f"{status} without the header {name}", "with it", "assumed")
    yield from _fields(recorded, response)
    values = recorded.response_body if isinstance(recorded.response_body, dict) else {}
    ours = json_object(response.body) or {}
    for name in sorted(REDACTION.fields & values.keys() & ours.keys()):
        if type(values[name]) is type(ours[name]) and values[name] != ours[name]:
            real = f"{status} with {name} {json.dumps(values[name])}"
            yield (assumed, real, json.dumps(ours[name]), response.basis)
    if recorded.response_layer is not None:
        real = f"an sdkInput that is no base64 text of a platform's form ({recorded.response_layer})"
        yield (DriftKind.PUBLISHED, real, "base64 text", "API-8; sdk-a, sdk-b")


def _fields(recorded: RecordedExchange, response: Response) -> Iterator[AnswerDifference]:
    """Fields that only one of them has, or with another JSON type.

    Which fields a refusal must have and may have is published, and so is that a 200 has none but sdkInput. The
    simulator leaves out what a refusal may have.
    """
    required = ("type", "title", "status", "detail", "errorCode")
    optional = ("instance", "requestId", "invalidFields", "response")
    real, ours = recorded.response_shape, shape(response.body)
    refusal = str(recorded.status) != FINE
    for path in sorted(real.keys() | ours.keys()):
        there, here = real.get(path, "nothing"), ours.get(path, "nothing")
        parents = ["", *(path[:end] for end in range(len(path)) if path[end] in ".[")]
        if there == here or any(real.get(parent) != ours.get(parent) for parent in parents if parent != path):
            continue  # one difference for a whole object is enough
        outer = path.partition(".")[0]
        if refusal and path in required and there == "nothing":
            kind, basis = DriftKind.PUBLISHED, "openapi"
        elif not refusal and path and outer != "sdkInput":
            kind, basis = DriftKind.PUBLISHED, "API-9; openapi"
        else:
            kind, basis = DriftKind.ASSUMED, "openapi; left out: assumed" if outer in optional else "assumed"
        where = f"the field {path}" if path else "the body"
        yield (kind, f"{recorded.status}, {where}: {there}", here, basis)


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of a comparison.

    Attributes:
        scenario: as it was given, with the instruments that the record adds.
        findings: the heaviest kind first.
        compared: how many exchanges.
        notes: what a reader should know.
    """

    scenario: Scenario
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
    findings = sorted(_Comparison(compared, scenario, replay).findings(), key=lambda finding: finding.order)
    notes = list(record.notes)
    more = len(replay.scenario.instruments) - len(scenario.instruments)
    if more:
        notes.append(f"The record has instruments that the scenario has not ({more}): they are taken for active cards.")
    callers = {(each.run, each.credential): replay.credential(each) for each in compared if each.credential}
    unknown = sum(name is None for name in callers.values())
    if unknown:
        notes.append(f"Keys that got nothing but 401 ({unknown}) are taken for keys that open nothing (assumed).")
    return Drift(replace(replay.scenario, faults=scenario.faults), tuple(findings), len(compared), tuple(notes))


# Each rule draws once for each request: the rule's share is its chance to take the request, if no rule before took it.
# The count of a rule is a sum of such draws, so their means add up, and so do their variances. By chance alone, one
# count in 370 is off by more than three standard deviations. Half a count more is for those too small for a normal
# curve.


def _chances(rules: Sequence[Planned], exchanges: Iterable[RecordedExchange]) -> list[list[float]]:
    """For each rule, the chances that it took each of these requests that it is meant for."""
    chances: list[list[float]] = [[] for _rule in rules]
    counts = Counter[tuple[int, int, str | None]]()
    for exchange in exchanges:
        left = 1.0  # the chance that no rule before took this request
        for number, rule in enumerate(rules):
            if rule.is_meant_for(exchange.operation or "", exchange.instrument or ""):
                counts[key := (number, exchange.run, exchange.credential)] += 1
                share = 1.0 if rule.share is None else float(rule.share)
                chances[number].append(left * (share if rule.nth is None else float(counts[key] == rule.nth)))
                left -= chances[number][-1]
    return chances


# What an ending is about: ("credential", name), ("instrument", id), or `_ANYBODY`.
Subject: TypeAlias = tuple[str, str]
_ANYBODY = ("", "")


class _Comparison:
    """Every question about a record, one method each. What one question explains is not asked about again.

    Args:
        compared: the record's exchanges.
        scenario: with its faults.
        replay: of the same scenario without its faults.
    """

    def __init__(self, compared: Sequence[RecordedExchange], scenario: Scenario, replay: Replay) -> None:
        words = [(each, outcome_of(each)) for each in compared]
        self._all = [
            ComparedExchange(each, word, None if is_transient_outcome(word) else replay.answer(each))
            for each, word in words
        ]
        self._scenario, self._replay = scenario, replay
        self._explained: set[int] = set()  # lines of the record

    def findings(self) -> Iterator[DriftFinding]:
        """Every finding."""
        yield from self._document()
        yield from self._planned()
        yield from self._transient()
        rest = self._unexplained()
        yield from self._endings(rest)
        yield from self._details(rest)
        yield from self._latencies()

    def _unexplained(self) -> list[ComparedExchange]:
        return [each for each in self._all if each.recorded.line not in self._explained]

    def _explain(self, seen: Comparisons) -> None:
        self._explained.update(each.recorded.line for each in seen)

    def _document(self) -> Iterator[DriftFinding]:
        """What the document says of both operations, whatever the simulator does."""
        enough = 3  # exchanges without any other ending: then the operation is missing
        for operation, rule in (("GET", "API-1"), ("POST", "API-2")):
            seen = [each for each in self._all if each.operation == operation and not is_transient_outcome(each.word)]
            if len(seen) >= enough and all(each.word in ("404", "405") for each in seen):
                self._explain(seen)
                real = f"{seen[0].word} throughout: the operation is not there"
                note = "Look at the proxy's --to first."
                kind = DriftKind.DOCUMENT
                yield _finding(kind, seen, of=len(seen), real=real, simulated="it is", basis=rule, note=note)
        # Each instrument has an sdkInput of its own (API-12). Digests are salted, so they compare within one run only.
        same: dict[tuple[int, str], list[ComparedExchange]] = defaultdict(list)
        for each in self._all:
            body = each.recorded.response_body
            shown = body.get("sdkInput") if isinstance(body, dict) else None
            if each.word == FINE and isinstance(shown, dict) and isinstance(shown.get("digest"), str):
                same[each.recorded.run, shown["digest"]].append(each)
        for alike in same.values():
            ids, of = {each.instrument for each in alike}, len(self._all)
            if len(ids) > 1:
                real = f"the same sdkInput for {len(ids)} payment instruments"
                kind, basis = DriftKind.DOCUMENT, "API-12"
                yield _finding(kind, alike, of=of, real=real, simulated="one for each", basis=basis)

    # What no request explains: limits, faults, lost connections, how long answers take. They are compared as shares.

    def _planned(self) -> Iterator[DriftFinding]:
        """The scenario's faults that are seen more often or less often than they are planned."""
        plan = self._scenario.plan()
        rules = () if plan is None else plan.planned
        chances = _chances(rules, [each.recorded for each in self._all])
        for number, rule in enumerate(rules):
            mean, deviation = sum(chances[number]), sqrt(sum(chance * (1 - chance) for chance in chances[number]))
            words = outcomes_of(rule)
            meant = [each for each in self._all if rule.is_meant_for(each.operation, each.instrument)]
            left = [each for each in meant if each.recorded.line not in self._explained]
            seen = [each for each in left if each.word in words and each.differs]
            self._explain(seen)
            if words and meant and abs(len(seen) - mean) > 3 * deviation + 0.5:
                fault = self._scenario.faults[number]
                values = {name: value for name, value in fault.items() if name not in ("nth", "share")}
                values["share"] = round(len(seen) / len(meant), 4)
                yield _finding(
                    DriftKind.CONFIGURED,
                    meant,
                    of=len(meant),
                    real=f"the fault {fault['fault']!r} was seen {len(seen)} times",
                    simulated=f"about {mean:.3g} times",
                    basis="the scenario",
                    setting=ScenarioSetting("fault", values, number=number + 1),
                )

    def _transient(self) -> Iterator[DriftFinding]:
        """Transient failures that the scenario does not plan, for each operation."""
        left = [each for each in self._unexplained() if is_transient_outcome(each.word)]
        for (operation, word), seen in _grouped(left, lambda each: (each.operation, each.word)):
            of = sum(each.operation == operation for each in self._all)
            kind, basis = _kind_of_status(word)
            self._explain(seen)
            real, setting = LOSSES.get(word, word), _fault(seen, of)
            yield _finding(kind, seen, of=of, real=real, simulated=FINE, basis=basis, setting=setting)

    def _latencies(self) -> Iterator[DriftFinding]:
        """The median time until an answer begins, of the exchanges that went well.

        Two medians count as equal unless they differ by more than 0.1 s, and one is more than 1.5 times the other.
        """
        replay = Replay(self._scenario, [each.recorded for each in self._all])
        waits: dict[str, list[float]] = defaultdict(list)
        for each in self._all:
            response = replay.answer(each.recorded)
            if str(response.status) == FINE:
                waits[each.operation].append(response.wire.before_headers)
        good = [each for each in self._all if each.word == FINE]
        for (operation,), fine in _grouped(good, lambda each: (each.operation,)):
            real = [each.recorded.latency for each in fine if each.recorded.latency is not None]
            usual, here = median(real or [0.0]), median(waits[operation] or [0.0])
            if abs(usual - here) > 0.1 and max(usual, here) > 1.5 * min(usual, here):
                yield _finding(
                    DriftKind.CONFIGURED if here else DriftKind.ASSUMED,
                    fine,
                    of=len(fine),
                    real=f"{usual:.3f} s until an answer begins (median; the slowest {max(real):.3f} s)",
                    simulated=f"{here:.3f} s",
                    basis="the scenario" if here else "assumed",
                    setting=ScenarioSetting("latencies", {operation.lower(): round(usual, 3)}),
                )

    # How single answers end. An ending belongs to the smallest subject that explains it: to a credential if its role
    # explains it, to an instrument if the operation does not end so for every instrument, else to anybody. A setting
    # for a larger subject would change answers that agree already.

    def _endings(self, rest: Comparisons) -> Iterator[DriftFinding]:
        """The exchanges that ended differently from the simulator's, by credential, by instrument, or for all."""
        words: dict[Subject, set[str]] = defaultdict(set)
        for each in rest:
            words["operation", each.operation].add(each.word)
            words["instrument", each.instrument].add(each.word)
        differing = [each for each in rest if each.differs]
        for (word, basis, operation, *named), seen in _grouped(
            differing, lambda each: (each.word, each.basis, each.operation, *self._subject(each, words))
        ):
            subject = (named[0], named[1])
            kind, published = _kind_of_status(word)
            # a 200 is JSON and carries sdkInput, a string that is not empty
            rule = "API-9" if word != FINE and seen[0].recorded.status == int(FINE) else ""
            of = sum(
                each.operation == operation
                and subject in (_ANYBODY, ("instrument", each.instrument), self._caller(each))
                for each in self._all
            )
            yield _finding(
                DriftKind.DOCUMENT if rule else kind,
                seen,
                of=of,
                real=word if subject == _ANYBODY else f"{word} for the {' '.join(subject)}",
                simulated=seen[0].simulated,
                basis=rule or (basis if kind is DriftKind.ASSUMED else published),
                setting=_setting(seen, subject, of, inactive=words[subject] == {"422"}),
            )

    def _subject(self, each: ComparedExchange, words: Mapping[Subject, set[str]]) -> Subject:
        """What this ending is about; `words` has the endings of each operation and of each instrument.

        A 403 on one side alone is about the credential's role (API-15). An ending with one of a few statuses is about
        the instrument if
        - the real API answers 200, and the simulator refuses for a reason that is not the document's; or
        - the simulator answers 200, and the operation ends otherwise for another instrument, or this one always
          with 422.
        """
        caller = self._caller(each)
        if {each.word, each.simulated} == {"403", FINE} and caller != _ANYBODY:
            return caller
        refused_here = each.word == FINE and "API-" not in each.basis
        mixed = words["operation", each.operation] != {each.word}
        inactive = words["instrument", each.instrument] == {"422"}
        for_one = refused_here or (each.simulated == FINE and (mixed or inactive))
        names_one = each.word in ("200", "401", "403", "404", "409", "422")
        return ("instrument", each.instrument) if for_one and names_one else _ANYBODY

    def _caller(self, each: ComparedExchange) -> Subject:
        """The credential to set: a further one for a key that was always refused, else the scenario's."""
        name = self._replay.credential(each.recorded)
        if name is None or (each.word == "403" and self._replay.refused(each.recorded) != "403"):
            return _ANYBODY
        return "credential", "without the role" if each.word == "403" else name

    def _details(self, rest: Comparisons) -> Iterator[DriftFinding]:
        """How answers with equal statuses differ."""
        seen: dict[tuple[str, str, AnswerDifference], list[ComparedExchange]] = defaultdict(list)
        for each in rest:
            if each.response is not None and not each.differs:
                for difference in differences(each.recorded, each.response):
                    seen[each.operation, each.word, difference].append(each)
        for (operation, word, (kind, real, simulated, basis)), alike in seen.items():
            of = sum((each.operation, each.word) == (operation, word) for each in rest)
            yield _finding(kind, alike, of=of, real=real, simulated=simulated, basis=basis)


def _setting(seen: Comparisons, subject: Subject, of: int, *, inactive: bool) -> ScenarioSetting | None:
    """What makes the simulator end so; None where nothing does. `inactive`: the subject ends with 422 throughout."""
    (table, name), first = subject, seen[0]
    if table == "credential":
        return ScenarioSetting("credential", {"role": first.word == FINE}, name=name)
    if first.word == FINE and table == "instrument":
        return ScenarioSetting("instrument", {"status": "active", "type": "card"}, name=name)
    if first.simulated != FINE:
        return None
    if table == "instrument" and inactive:
        return ScenarioSetting("instrument", {"status": "inactive"}, name=name)
    return _fault(seen, of, name)


# The drift of a real API as a report for a person and for a script, and as a scenario file.


def scenario_toml(drift: Drift) -> str:
    """A scenario file with every setting of the findings in it; comments name the findings without one."""
    settings = [finding.setting for finding in drift.findings if finding.setting is not None]
    values: dict[tuple[str, str], dict[str, Any]] = {}
    for setting in settings:
        values.setdefault((setting.table, setting.name), {}).update(setting.values)
    scenario = drift.scenario
    known = {instrument.id: instrument for instrument in scenario.instruments}
    meant = [setting.values.get("payment_instrument_id") for setting in settings if setting.table == "fault"]
    ids = dict.fromkeys([*known, *filter(None, meant), *(name for table, name in values if table == "instrument")])
    instruments = []
    for each in filter(is_text, ids):
        usual, instrument = Instrument(each), known.get(each, Instrument(each))
        own = {field.name: getattr(instrument, field.name) for field in fields(instrument)}
        own = {name: value for name, value in own.items() if value != getattr(usual, name)}  # the file stays short
        instruments.append({"id": each} | own | values.get(("instrument", each), {}))
    held = {name: bool(credential.roles) for name, credential in scenario.credentials.items()}
    names = dict.fromkeys([*held, *(name for table, name in values if table == "credential")])
    replaced = {setting.number: setting.values for setting in settings if setting.table == "fault" and setting.number}
    faults = [dict(replaced.get(number, table)) for number, table in enumerate(scenario.faults, 1)]
    faults += [dict(setting.values) for setting in settings if setting.table == "fault" and not setting.number]
    latencies = {method.lower(): seconds for method, seconds in scenario.latencies.items()}
    document = {
        "title": "As the real API was seen",
        "profile": scenario.profile,
        "seed": scenario.seed,
        "instrument": instruments,
        "credential": [
            {"name": name, "role": held.get(name, True)} | values.get(("credential", name), {}) for name in names
        ],
        "latencies": latencies | values.get(("latencies", ""), {}),
        "fault": faults,
    }
    comments = ["# Made by `workbook drift` from a record of the real API. Try it: workbook serve --scenario FILE"]
    comments += [
        visible(f"# no setting for: {finding.operation} {finding.real} (the simulator: {finding.simulated})")
        for finding in drift.findings
        if finding.setting is None
    ]
    said = {name: value for name, value in document.items() if value not in ({}, [])}
    return "\n".join([*comments, "", tomli_w.dumps(said)])


def setting_line(setting: ScenarioSetting) -> str:
    """A setting as one line for a person: the table, and its values."""
    name = {"instrument": "id", "credential": "name"}.get(setting.table)
    values = ({} if name is None else {name: setting.name}) | dict(setting.values)
    line = tomli_w.dumps(values).strip().replace("\n", ", ")
    heading = "[latencies]" if setting.table == "latencies" else f"[[{setting.table}]]"
    where = f" (instead of [[fault]] {setting.number})" if setting.number else ""
    return f"{heading} {line}{where}"


def as_text(drift: Drift) -> str:
    """The report, each kind of finding under its heading."""
    found = len(drift.findings)
    total = f"{found} {'finding' if found == 1 else 'findings'}" if found else "no drift"
    lines = [f"{drift.compared} exchanges compared with the scenario {drift.scenario.name!r}: {total}."]
    lines += [f"Note: {note}" for note in drift.notes]
    for kind in DriftKind:
        findings = [finding for finding in drift.findings if finding.kind is kind]
        if findings:
            lines += ["", f"{kind.value} ({len(findings)})"]
        for finding in findings:
            setting = "no setting makes the simulator do this: please report it"
            if finding.setting is not None:
                setting = setting_line(finding.setting)
            where = ", ".join(map(str, finding.lines)) + ("..." if finding.count > len(finding.lines) else "")
            lines += [
                f"  {finding.operation:<4} {finding.count} of {finding.of}: {finding.real}",
                f"       the simulator: {finding.simulated}   basis: {finding.basis}   lines: {where}",
                f"       {setting}",
            ]
            lines += [f"       {words}" for words in (finding.note, finding.see) if words]
    return "".join(f"{visible(line)}\n" for line in lines)


def as_json(drift: Drift) -> str:
    """The same as a report, with a case for each difference: a figure that varies from record to record is a reason.

    The scenario names what was tried: a difference that only one of two reports has was not there in the other.
    """
    cases = []
    for finding in drift.findings:
        setting = finding.setting
        varies = setting is not None and (setting.table == "latencies" or setting.number)  # it counts, or measures
        name = f"{setting.table} {setting.number or ''}".strip() if setting and varies else finding.real
        verdict = Verdict.FAIL if finding.kind.startswith("contradicts") else Verdict.WARN
        why = f"{finding.kind}: {finding.real}; the simulator: {finding.simulated}"
        cases.append(CaseRecord(f"{finding.operation} {name}", verdict, why=why))
    findings = [
        asdict(finding) | {"toml": None if finding.setting is None else setting_line(finding.setting)}
        for finding in drift.findings
    ]
    scenario = drift.scenario.name
    named = {"scenario": scenario, "compared": drift.compared, "notes": drift.notes, "findings": findings}
    about = About(program="workbook drift", facts={"scenario": scenario}, tried=f"scenario {scenario}")
    return to_json(RunRecord(about, tuple(cases), named))
