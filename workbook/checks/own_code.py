"""What a trace shows of the integrator's own code: where it failed, how long it took, and what is never called."""

from collections.abc import Iterator

from workbook.base.rules import Owner
from workbook.checks.finding import Check, Finding, Severity
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS
from workbook.flows.trace import CALLS, Trace

# Errors of a call that a back end may let out: its caller tells the app a neutral sentence.
API_ERRORS = ("ApiStatusError", "MaybeSentError", "NotSentError", "DeadlineError", "MalformedResponseError")


def failed_code(trace: Trace) -> Iterator[Finding]:
    """The line on which code failed; for a handler's call, the finding about that call names the line.

    A back end that lets the API's error out reports a failure as a failure, so that is only noted.
    """
    for record, failed in trace.seen(m.CodeFailed):
        if failed.call in ("get", "post") and failed.error.startswith(API_ERRORS):
            error = failed.error.rstrip(".")
            text = f"The API failed, and your {failed.call}() let its error out: {error}. {failed.line}."
            todo = "Nothing, if its caller gives the app a neutral sentence. Else catch the error and do so."
            yield Finding("REL-9", Severity.NOTE, Owner.YOU, text, todo, record.at)
        elif failed.call not in CALLS.values():
            text = f"Your {failed.call}() failed: {failed.error.rstrip('.')}. {failed.line}."
            todo = "Fix this line, or catch the error and give the documented answer."
            yield Finding(_rule(failed.call, trace), Severity.FAIL, Owner.YOU, text, todo, record.at)


def slow_code(trace: Trace) -> Iterator[Finding]:
    """Code that really took long, or had not ended when its time was over."""
    for record, slow in trace.seen(m.CodeTookLong):
        limit = LIMITS.get(slow.call)
        over = bool(slow.outcome or (limit and slow.really > limit.seconds))
        took = {
            "": f"really took {slow.really:g} s here",
            "stopped": f"had not ended after {slow.really:g} s of real time, and was stopped",
            "left behind": f"had not ended after {slow.really:g} s of real time; it cannot be stopped, "
            "and goes on on a thread of its own",
        }[slow.outcome]
        text = f"{slow.call}() {took}.{slow.line and f' {slow.line}.'}"
        if over:
            text += f" The wallet waits {limit}." if limit else " It has no longer (assumed)."
        todo = "Do not sleep or wait in your own code."
        rule = limit.rules[0] if limit and slow.call != "provision" else _rule(slow.call, trace)
        if slow.outcome and not limit:
            rule = "REL-5"  # its time is ours, so that it fits into the wallet's 20 s
        yield Finding(rule, Severity.FAIL if over else Severity.WARN, Owner.YOU, text, todo, record.at)


def never_called(trace: Trace) -> Iterator[Finding]:
    """A method whose name looks like a misspelling of a known one."""
    for record, never in trace.seen(m.NeverCalled):
        text = f"Nobody calls your {never.name}(): the base class's {never.meant}() runs in its place."
        todo = f"Did you mean {never.meant}()? A helper of your own can begin with an underscore."
        yield Finding(_rule(never.meant, trace), Severity.WARN, Owner.YOU, text, todo, record.at)


def _rule(call: str, trace: Trace) -> str:
    """The rule of a call; the extension's provision has another rule than the app's."""
    if call == "provision" and trace.select(m.IssuerListOpened):
        return "X-DEL-1"
    rules = {
        "fetchOpc": "A-OPC-1",
        "provision": "B-DEL-3",
        "didFinishProvisioning": "B-FIN-1",
        "viewDidAppear": "X-AUTH-1",
        "view_did_appear": "X-AUTH-1",
        "cardArt": "X-ART-1",
        "card_art": "X-ART-1",
        "status": "X-STATUS-1",
        "pass_entries": "X-ENTRIES-1",
        "remote_pass_entries": "X-ENTRIES-2",
        "get": "REL-6",
        "post": "REL-6",
    }
    return rules.get(call, "X-GEN-1")  # that of the request's generation


OWN_CODE_CHECKS: tuple[Check, ...] = (failed_code, slow_code, never_called)
