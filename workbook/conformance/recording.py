"""Makes a record of what a run came to: everything that may be shown, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbook.conformance.leaks import Kind, Secrets, canaries_in, session_secrets
from workbook.conformance.quoting import quoted
from workbook.conformance.redaction import LONGEST_NAME, Redaction
from workbook.conformance.report import API, PHONE, CaseRecord, Exchange, Message, Record
from workbook.conformance.verdict import OWNERS, Owner
from workbook.simulation.faults import FAULTS
from workbook.simulation.http import Request
from workbook.simulation.journal_export import SHOWN_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbook.conformance.report import About
    from workbook.conformance.run import Result
    from workbook.conformance.seen import Arrived, Call, Seen
    from workbook.conformance.verdict import Miss

MOST = 200
"""Exchanges of one case with one app that are kept; a back end that repeats itself without end makes more."""
DIGITS = 4
"""Of a second: a tenth of a millisecond."""


def record(results: Sequence[Result], about: About) -> Record:
    """What these results and this run come to, redacted; its secrets are gathered from what was seen."""
    known = Secrets(_secrets(results, about), _of_every_round(about))
    redaction = Redaction(known)
    first = min((began for result in results if (began := _began(result)) is not None), default=0.0)
    cases = tuple(_case(result, about, redaction, first) for result in results)
    return Record(about, cases, known)


def _secrets(results: Iterable[Result], about: About) -> Iterator[tuple[Kind, str]]:
    """The sessions' and the keys, and the opaque data of these results."""
    for value in session_secrets(about.secrets):
        yield Kind.SESSION, value
    every = [part.seen for result in results for part in result.each if part.seen is not None]
    yield from ((Kind.KEY, seen.key) for seen in every)
    for seen in every:
        for _card, value in seen.opaque():
            yield from _opaque(value)


def _of_every_round(about: About) -> Iterator[tuple[Kind, str]]:
    """The opaque data of all rounds: of each case one of them is shown, and the others were run too."""
    for value in about.values:
        yield from _opaque(value)


def _opaque(value: str) -> Iterator[tuple[Kind, str]]:
    yield from ((Kind.CANARY, canary) for canary in canaries_in(value))
    yield Kind.OPAQUE, value


def _began(result: Result) -> float | None:
    """When a case made its first call, on the run's clock; None where it made none."""
    return min((call.began for part in result.each if part.seen for call in part.seen.calls), default=None)


def _case(result: Result, about: About, redaction: Redaction, first: float) -> CaseRecord:
    case, began = result.case, _began(result)
    saw = [part.seen for part in result.each if part.seen is not None]
    told = [_Told(part, redaction).exchanges(part.seen) for part in result.each if part.seen is not None]
    return CaseRecord(
        name=case.name,
        says=case.says,
        rule=case.rests_on,
        group=case.group,
        verdict=result.verdict,
        owner=OWNERS.get(result.verdict, Owner.NOBODY),
        platform=result.platform,
        why=redaction.text(result.why),
        seconds=round(result.seconds, DIGITS),
        misses=tuple(_miss(miss, case.rule, saw, redaction) for miss in result.misses),
        exchanges=tuple(one for exchanges in told for one in exchanges[:MOST]),
        left_out=sum(len(exchanges[MOST:]) for exchanges in told),
        reproduce=about.reproduce("" if case.script.whole else case.name),
        began=None if began is None else round(began - first, DIGITS),
    )


def _miss(miss: Miss, rule: str, saw: Sequence[Seen], redaction: Redaction) -> Miss:
    """With the rule's id in any case; what was observed may hold what a back end said."""
    clean, observed = redaction.text, quoted(miss.observed, saw, redaction.knows)
    told = replace(miss, expected=clean(miss.expected), observed=clean(observed), todo=clean(miss.todo))
    return replace(told, rule=miss.rule or rule)


class _Told:
    """The exchanges of one case with the app of one platform, as they may be shown."""

    def __init__(self, result: Result, redaction: Redaction) -> None:
        self._platform, self._redaction = result.platform, redaction
        self._began = 0.0

    def exchanges(self, seen: Seen) -> list[Exchange]:
        """Both sides in the order of time; a call comes before the request that it brings about."""
        self._began = min([call.began for call in seen.calls] + [one.at for one in seen.arrived], default=0.0)
        both = [*(self._call(call) for call in seen.calls), *(self._arrived(one, seen.key) for one in seen.arrived)]
        return sorted(both, key=lambda one: one.at)

    def _call(self, call: Call) -> Exchange:
        headers, request = self._redaction.headers, call.request or Request(call.operation, "", ())
        answer = Message(headers(call.headers, ""), *self._body(call.body))
        return Exchange(
            PHONE,
            self._at(call.began),
            self._at(call.ended),
            self._redaction.short(request.method, LONGEST_NAME),
            self._redaction.path(request.target, call.instrument),
            self._redaction.text(call.cardholder),
            Message(headers(request.headers, ""), *self._body(request.body)),
            call.status,
            None if call.status is None else answer,
            self._redaction.text(": ".join(filter(None, (call.broke.value, call.why)))),
            platform=self._platform,
            operation=call.operation,
        )

    def _arrived(self, one: Arrived, key: str) -> Exchange:
        request, response = one.request, one.response
        headers = self._redaction.headers
        return Exchange(
            API,
            self._at(one.at),
            None,
            self._redaction.short(request.method, LONGEST_NAME),
            self._redaction.path(request.target),
            "",
            Message(headers(request.headers, key), *self._body(request.body)),
            response.status,
            Message(headers(response.headers, key), *self._body(response.body, SHOWN_FIELDS)),
            f"fault: {_effect(response.fault)}" if response.fault else "",
            one.elsewhere,
            self._platform,
            one.operation,
        )

    def _body(self, body: bytes, fields: frozenset[str] = frozenset()) -> tuple[object, int]:
        return self._redaction.body(body, fields), len(body)

    def _at(self, moment: float) -> float:
        return round(moment - self._began, DIGITS)


def _effect(fault: str) -> str:
    """What a fault does, in words; a case is named after what it asks, not after the fault."""
    return FAULTS[fault].sentence.rstrip(".") if fault in FAULTS else fault
