"""One case on the page: what was expected and what was seen, and both sides of the back end side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.report import API, PHONE
from workbook.conformance.report_summary import MARKS
from workbook.conformance.values import Values
from workbook.conformance.verdict import MEANINGS, Owner, Verdict
from workbook.views.markup import Markup, joined, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.conformance.report import CaseRecord, Exchange, Message
    from workbook.conformance.verdict import Miss


MOST = 12
"""As many exchanges are in sight at once; more of one case are folded up."""


def article(case: CaseRecord, *, unfolded: bool = False) -> Markup:
    """The whole case; unfolded, both sides are in sight and links lead to it."""
    rule = f"{case.rule.id} ({case.rule.level}): {case.rule.text}"
    told = [case.group, case.platform, f"{case.seconds:.2f} s", f"for {case.owner}" * (case.owner is not Owner.NOBODY)]
    return tag(
        "article",
        tag("h3", badge(case.verdict), " ", tag("code", case.name)) if unfolded else "",
        tag("p", case.says),
        tag("p", rule, class_="muted"),
        tag("p", " · ".join(filter(None, told)), class_="muted"),
        *_why(case),
        _misses(case.misses) if case.misses else "",
        _sides(case, unfolded=unfolded) if case.exchanges else "",
        tag("p", "Run it again: ", tag("code", case.reproduce)),
        id=case.name,
        class_=f"case {kind(case.verdict)}",
    )


def link(name: str) -> Markup:
    """Leads to a case."""
    return tag("a", tag("code", name), href=f"#{name}")


def badge(verdict: Verdict) -> Markup:
    """A verdict's symbol and its word; neither needs the colour."""
    return tag("span", tag("span", MARKS[verdict], aria_hidden="true"), f" {verdict}", class_="verdict")


def kind(verdict: Verdict) -> str:
    """The class that colours it."""
    return f"is-{verdict.replace(' ', '-')}"


def _why(case: CaseRecord) -> Iterator[Markup]:
    if case.why:
        yield tag("p", case.why)
    elif not case.misses and case.verdict is not Verdict.PASS:
        yield tag("p", MEANINGS[case.verdict])


def _misses(misses: Iterable[Miss]) -> Markup:
    names = ("Expected", "Observed", "What to do", "Rule")
    rows = ((one.expected, one.observed, one.todo, one.rule) for one in misses)
    cells = (
        tag("tr", *(tag("td", text, data_name=name) for name, text in zip(names, row, strict=True))) for row in rows
    )
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    return tag("table", head, tag("tbody", *cells), class_="misses")


def _sides(case: CaseRecord, *, unfolded: bool) -> Markup:
    """Both legs in one table for each platform whose app called."""
    values = Values()
    by: dict[str, list[Exchange]] = {}
    for one in case.exchanges:
        by.setdefault(one.platform, []).append(one)
    tables = (_table(name if len(by) > 1 else "", exchanges, values) for name, exchanges in by.items())
    left = tag("p", f"{case.left_out} more are not shown.", class_="muted") if case.left_out else ""
    calls = sum(one.side == PHONE for one in case.exchanges)
    summary = tag("summary", f"Both sides: {calls} of the phone, {len(case.exchanges) - calls} at the API")
    short = len(case.exchanges) <= MOST
    return tag("details", summary, *tables, left, open="open" if unfolded and short else None)


def _table(platform: str, exchanges: Iterable[Exchange], values: Values) -> Markup:
    """The phone's leg on the left, the API's on the right, time running down."""
    names = ("Time", "Phone and back end", "Back end and API")
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in names)))
    rows = (_row(at, side, told) for at, side, told in sorted(_steps(exchanges, values), key=lambda one: one[0]))
    caption = [tag("caption", f"The app of {platform}")] if platform else []
    return tag("table", *caption, head, tag("tbody", *rows), class_="legs")


def _steps(exchanges: Iterable[Exchange], values: Values) -> Iterator[tuple[float, str, Markup]]:
    """What happened, each with its moment and its side."""
    for one in exchanges:
        asked, answered = _asked(one, values), _answered(one, values)
        if one.side == API or one.ended is None:
            yield one.at, one.side, joined(asked, answered)
        else:
            yield one.at, one.side, asked
            yield one.ended, one.side, answered


def _row(at: float, side: str, told: Markup) -> Markup:
    phone, api = (tag("div", told, class_="box"), "") if side == PHONE else ("", tag("div", told, class_="box tint"))
    return tag("tr", tag("td", f"{at:.3f} s"), tag("td", phone), tag("td", api))


def _asked(one: Exchange, values: Values) -> Markup:
    where = " (another origin)" if one.elsewhere else ""
    who = tag("span", f" as {one.who}", class_="muted") if one.who else ""
    line = tag(
        "p", _arrow("→"), tag("b", one.method), " ", tag("span", one.path, class_="mono"), who, where, class_="line"
    )
    return joined(line, _message(one.request, values))


def _answered(one: Exchange, values: Values) -> Markup:
    status = [_arrow("←"), tag("b", one.status)] if one.status is not None else [_arrow("✗"), tag("b", "no answer")]
    ending = tag("span", f" {one.ending}", class_="muted") if one.ending else ""
    line = tag("p", *status, ending, class_="line")
    return joined(line, _message(one.answer, values) if one.answer else "")


def _arrow(sign: str) -> Markup:
    return tag("span", f"{sign} ", class_="arrow", aria_hidden="true")


def _message(message: Message, values: Values) -> Markup:
    """The body on one line; the headers folded up."""
    body = tag("p", _worded(message.body, values), class_="line mono") if message.body is not None else ""
    if not message.headers:
        return joined(body)
    rows = (tag("li", name, "" if value is None else f": {value}") for name, value in message.headers)
    number = len(message.headers)
    summary = tag("summary", f"{number} {'header' if number == 1 else 'headers'}, {message.length} bytes")
    return joined(body, tag("details", summary, tag("ul", *rows, class_="headers mono")))


def _worded(body: object, values: Values) -> Markup:
    """The body in words; what stands for a value is set apart."""
    pieces = values.pieces(body)
    return joined(*(tag("span", text, class_="value") if is_value else text for text, is_value in pieces))
