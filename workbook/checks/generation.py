"""What a trace shows of the add-payment-pass request: what the delegate did for it, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.checks.finding import Finding, Level, Owner
from workbook.extension.calls import handler_calls
from workbook.flows import messages as m
from workbook.trace import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.finding import Check
    from workbook.trace import Trace

OK = 200
ASKS = (m.CardArtForBrandAsked, m.CardArtForIdAsked, m.ExtensionProvisionCalled)
"""What the SDK asks of the delegate."""

FAILURES = (m.SdkThrew, m.ServiceNotMade, m.ApiFailed)
"""Why a handler may return nil, besides an answer of the API other than 200."""


def crossed_posts(trace: Trace) -> Iterator[Finding]:
    """A delegate that posts for another card than the SDK named (X-DEL-1)."""
    for call in handler_calls(trace):
        named = {record.values["payment_instrument_id"] for record in call.did(m.ExtensionProvisionCalled)}
        for record in call.did(m.BackEndAsked):
            asked: Any = record.message
            if asked.method == "POST" and named and asked.payment_instrument_id not in named:
                text = "The delegate posts for another payment instrument than the SDK named."
                todo = "Use the paymentInstrumentId that provision was given; mind the order of its two arguments."
                yield Finding("X-DEL-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def nil_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned nil (X-DEL-1); the wallet then says that the card was not added."""
    for record, returned in trace.seen(m.DelegateReturned):
        if returned.sdk_input is None:
            text = "The delegate's provision returned nil, so there is no request."
            todo = "Look into the back end's log: the POST gave no sdkInput."
            yield Finding("X-DEL-1", Level.FAIL, Owner.YOU, text, todo, record.at)


def text_from_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A delegate that returned base64 text where platform B takes bytes (API-8)."""
    for record, returned in trace.seen(m.DelegateReturned):
        if isinstance(returned.sdk_input, str):
            text = "The delegate's provision returned text where platform B takes bytes."
            todo = "Decode the base64 of the POST's sdkInput once, and return the bytes (X-DEL-1)."
            yield Finding("API-8", Level.FAIL, Owner.YOU, text, todo, record.at)


def request_without_the_delegate(trace: Trace) -> Iterator[Finding]:
    """A request that no delegate provisioned (X-FLOW-1)."""
    for call in handler_calls(trace):
        if call.answered(m.RequestReturned) and not call.did(m.ExtensionProvisionCalled):
            text = "A request was returned, and the delegate had provisioned nothing for it."
            todo = "Return what the SDK's operation of the same name makes in this very call."
            yield Finding("X-FLOW-1", Level.FAIL, Owner.YOU, text, todo, call.ended)


def nil_for_no_reason(trace: Trace) -> Iterator[Finding]:
    """A handler that returned nil though nothing had failed (X-GEN-1)."""
    for call in handler_calls(trace):
        refused = any(record.values["status"] != OK for record in call.did(m.ApiAnswered))
        if call.answered(m.NoRequest) and not refused and not call.did(*FAILURES):
            text = "The request's generation returned nil, and nothing that was seen had failed."
            todo = "Make the service, and return what the SDK's operation of the same name makes."
            yield Finding("X-GEN-1", Level.FAIL, Owner.YOU, text, todo, call.ended)


def out_of_turn(trace: Trace) -> Iterator[Finding]:
    """The SDK asks the delegate at a moment that the flow's order does not have (X-FLOW-1)."""
    for record in trace.select(*ASKS, kind=Kind.REFUSED):
        text = f"The SDK was made to ask for {record.message.says} out of turn: the wallet was {record.before}."
        todo = "Keep the order: status(), the entries, then provisioning and the request, each in its own call, once."
        yield Finding("X-FLOW-1", Level.FAIL, Owner.YOU, text, todo, record.at)


CHECKS: tuple[Check, ...] = (
    crossed_posts,
    nil_from_the_delegate,
    text_from_the_delegate,
    request_without_the_delegate,
    nil_for_no_reason,
    out_of_turn,
)
