"""How a record reads: the label on its arrow, and one line of detail below.

Opaque data is never shown. The simulator's own is named by what it is for and its serial number; any
other gets a number in the order of its first appearance, so that a reader sees which value went where.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from workbook.flows import messages as m
from workbook.trace import Kind
from workbook.views.plain import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.trace import Record

PATH = "…/{id}/networkTokenActivationData"
OK = 200
LONGEST = 160
"""As many characters of one value as a detail shows."""
OPAQUE = ("sdk_input", "sdk_output")
IN_LABEL = ("method", "status", "fault")
IF_TRUE = ("hidden_by_scheme", "out_of_reach")
"""Told only where there is something to tell."""
KINDS = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}
WORDS = {
    "payment_instrument_id": "id {}",
    "card_display_name": "name “{}”",
    "card_address": "address {}",
    "status_code": "statusCode {}",
    "throwable": "throwable {}",
    "reason": "{}",
    "why": "{}",
    "text": "{}",
    "error": "{}",
    "message": "{}",
    "told": "{}",
    "case": "{} (sdk-b)",
    "where": "the cardholder chose: {} (wallet)",
    "instance": "instance {}",
    "is_watch_activated": "isWatchActivated = {}",
    "requires_authentication": "requiresAuthentication = {}",
    "can_add_to_phone": "to the phone: {} (sdk-b)",
    "can_add_to_watch": "to the watch: {} (sdk-b)",
    "phone": "missing on the phone: {}",
    "watch": "missing on the watch: {}",
    "hidden_by_scheme": "hidden from this app by the scheme: {}",
    "out_of_reach": "{} out of reach",
    "identifier": "entry {}",
    "entries": "{}",
    "cards": "for {}",
    "found": "{} found",
    "brand": "brand {}",
    "problems": "{}",
    "request": "{}",
    "call": "{}()",
    "succeeded": "authentication succeeded: {}",
    "pause": "after a pause of {} s",
    "location": "to {}",
    "with_key": "the API key goes along: {}",
}
"""How a field's value reads; a field that is not listed is written with its name."""

RULE_IDS = re.compile(r"[A-Z]+(-[A-Z]+)*-\d+( [A-Z]+(-[A-Z]+)*-\d+)*")

GLOSSARY = {
    "sdkInput": "opaque data from the API for the SDK; the app and the back end only relay it",
    "sdkOutput": "opaque data from the SDK for the API, sent in the POST",
    "OPC data": "Opaque Payment Card data: the sdkInput that the POST returns",
}


def label(record: Record) -> str:
    """What stands on the record's arrow."""
    says = clean(_says(record.message))
    return f"refused: {says}" if record.kind is Kind.REFUSED else says


def _says(message: m.Message) -> str:
    match message:
        case m.ApiAskedAgain():
            return f"{message.method} again: {PATH}"
        case m.ApiRequested():
            return f"{message.method} {PATH}"
        case m.ApiAnswered():
            return f"{status(message.status)}{', sdkInput' if message.status == OK else ''}"
        case m.AnswerLost(fault=fault) | m.AnswerRefused(fault=fault):
            return f"{message.says}: {fault}"
        case _:
            return message.says


def status(code: int) -> str:
    """A status code with its registered phrase."""
    known = {str(one.value): one.phrase for one in HTTPStatus}
    return f"{code} {known.get(str(code), '(not a registered status)')}"


def _sources(basis: str) -> str:
    """What an answer rests on besides rules, whose ids stand beside the line already."""
    parts = [part.strip() for part in basis.split(";")]
    return "; ".join(part for part in parts if not RULE_IDS.fullmatch(part))


def _word(value: object) -> object:
    """A value in words: a list of several by its length, a truth as the document writes it."""
    if isinstance(value, list):
        return value[0] if len(value) == 1 else f"{len(value)} cards"
    return str(value).lower() if isinstance(value, bool) else value


class Wording:
    """The details of one trace's records; remembers which values it has named already."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._instrument: object = None

    def detail(self, record: Record) -> str:
        """The record's values as one short line, redacted; empty when there is nothing to add."""
        parts = [clean(part, LONGEST) for part in self._parts(record)]
        return " · ".join(part for part in parts if part)

    def _parts(self, record: Record) -> Iterator[str]:
        if record.kind is Kind.REFUSED:
            yield f"not allowed in state “{record.before}”"
        for name, value in record.values.items():
            if name in IN_LABEL or value is None or value == "" or (name in IF_TRUE and not value):
                continue
            yield self._part(record, name, value)

    def _part(self, record: Record, name: str, value: object) -> str:
        if name in OPAQUE:
            return self._opaque(value, getattr(record.message, name))
        if name == "payment_instrument_id" and not self._news(record, value):
            return ""
        if name == "basis":
            return _sources(str(value))
        if name == "reason" and isinstance(record.message, m.ProvisionFailure):
            return f"{value} (sdk-a)"
        return WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(_word(value))

    def _news(self, record: Record, instrument: object) -> bool:
        """Whether an id is worth its space: in a request, or when it is not the one seen first."""
        first, self._instrument = self._instrument, self._instrument or instrument
        return instrument != first or isinstance(record.message, m.ApiRequested)

    def _opaque(self, value: object, raw: object) -> str:
        if isinstance(value, dict):
            return f"{self._name(value)}{self._owner(value)}{', as bytes' if isinstance(raw, bytes) else ''}"
        if isinstance(raw, bytes | str):
            return f"a body of {len(raw)} bytes" if isinstance(raw, bytes) else f"bare text, {len(raw)} characters"
        return f"{type(raw).__name__}, not shown"

    def _name(self, summary: Mapping[str, Any]) -> str:
        size = f"{summary.get('length')} characters"
        if not summary.get("simulated"):
            number = self._seen.setdefault(str(summary.get("digest")), len(self._seen) + 1)
            return f"opaque value #{number}, {size}"
        kind, serial = str(summary.get("kind")), summary.get("serial")
        return f"simulated {KINDS.get(kind, kind)} #{serial}" if serial else f"simulated, unreadable, {size}"

    def _owner(self, summary: Mapping[str, Any]) -> str:
        owner = summary.get("paymentInstrumentId")
        return f" for {owner}" if owner not in (None, self._instrument) else ""
