"""Looking at things: `show` for any value of the workbook, `table` to look something up, `rule` for the rules."""

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from workbook.base.files import needs_lab
from workbook.base.values import choice, lookup, quoted
from workbook.checks import Finding, check
from workbook.errors import ParameterError
from workbook.flows.trace import Trace
from workbook.lessons.pages import PANELS
from workbook.lessons.run import Run
from workbook.views.findings import findings, run_views, show_rules
from workbook.views.html import View
from workbook.views.sequence import sequence


@needs_lab("wb.show")
def show(thing: Any, part: str = "") -> Any:
    """Show a run in a notebook, or one part of it.

    Args:
        thing: a run, a trace, an SDK object, a wallet app, or findings.
        part: of a run, one of `messages`, `phone`, `states`, `limits`, `findings` or `all` (the live panels side by
            side); empty shows how the run ended, its messages and its findings.

    Returns:
        A view: text on a console, HTML in a notebook, live where it can be operated.

    Raises:
        ParameterError: there is no such part, or `show` does not know the thing.

    Example:
        >>> run = wb.session().platform_a.play()
        >>> print(wb.show(run, "findings").text())
        ✓ Nothing to report: no check found anything in this run.
    """
    if part:
        parts = ("messages", "phone", "states", "limits", "findings", "all")
        return _part(thing, choice("part", part, parts))
    if isinstance(thing, Run):
        return run_views(thing)
    if isinstance(thing, Trace) or isinstance(getattr(thing, "trace", None), Trace):
        return _part(thing, "messages")
    if isinstance(thing, list) and all(isinstance(finding, Finding) for finding in thing):
        return findings(thing)
    raise ParameterError(f"show does not know {quoted(thing)}. Give a run, a trace or findings.")


def _part(thing: Any, part: str) -> Any:
    """One part of a run or of a trace on its own."""
    trace = thing if isinstance(thing, Trace) else getattr(thing, "trace", None)
    if trace is None:
        raise ParameterError(
            f"{quoted(thing)} has no messages, states or findings. Give a run, such as session.platform_a.play()."
        )
    if part == "messages":
        return sequence(trace)
    if part == "findings":
        return findings(check(trace))
    if not isinstance(thing, Run):
        raise ParameterError(f"{part!r} needs a run; a trace does not have it.")
    from workbook.lessons.widgets.panels import Panels

    return Panels(thing, *(PANELS if part == "all" else ["timing" if part == "limits" else part]))


# Every table that can be looked up: the module and the function that make it, loaded when it is asked for.
LOOK_UPS = {
    "advice": ("workbook.views.findings", "advice_matrix"),
    "back ends": ("workbook.lessons.faults", "back_end_table"),
    "cases": ("workbook.lessons.tools", "case_table"),
    "faults": ("workbook.lessons.faults", "fault_table"),
    "sources": ("workbook.lessons.session", "sources"),
    "time limits": ("workbook.views.findings", "time_limits"),
    "variants": ("workbook.views.findings", "variants"),
    "waits": ("workbook.views.findings", "waits"),
}


def table(name: str, *args: Any, **choices: Any) -> View:
    """A table to look something up.

    Args:
        name: `advice` (what a good back end does about a failure), `back ends`,
            `cases` (of `conform`; patterns select some), `faults`, `sources` (what is real with each), `time limits`,
            `variants` (of platform B; choice: `profile`) or `waits` (who gives up first).
        args: the patterns of `cases`.
        choices: as named above.

    Raises:
        ParameterError: there is no such table, or it takes no such choice.

    Example:
        >>> print(wb.table("time limits").text().splitlines()[0])
        How long the wallet waits
    """
    module, function = lookup("table", name, LOOK_UPS)
    make: Callable[..., View] = getattr(import_module(module), function)
    try:
        inspect.signature(make).bind(*args, **choices)
    except TypeError as error:
        raise ParameterError(f"The table {name!r} does not take these arguments: {error}.") from None
    return make(*args, **choices)


def rule(*rule_ids: str) -> View:
    """Rules of the ledger as a table: id, level and text; `reference/rules.md` has all of them.

    Args:
        rule_ids: one or more ids, such as `A-BTN-1`.

    Raises:
        ParameterError: no id is given, or there is no such rule; the message names the nearest.

    Example:
        >>> "A-BTN-1" in wb.rule("A-BTN-1").text()
        True
    """
    return show_rules(*rule_ids)
