"""A record as one web page that needs nothing: no network, no script. The summary stands first.

A content security policy in the page itself forbids it to load or run anything, whatever a back end said.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from workbook.conformance.page_case import article, badge, kind, link
from workbook.conformance.report_summary import SETTLED, begin_here, by_group, counts, headline, to_look_at, todos
from workbook.conformance.verdict import MEANINGS, Verdict
from workbook.runner.export import POLICY
from workbook.views.markup import Markup, joined, tag, trusted, void
from workbook.views.palette import DARK, LIGHT, PHONE_DARK, PHONE_LIGHT, variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.conformance.case import Group
    from workbook.conformance.report import CaseRecord, Record
    from workbook.conformance.report_summary import Todo

COLOURS: tuple[Mapping[str, str], Mapping[str, str]] = (
    {**LIGHT, "good": PHONE_LIGHT["good"]},
    {**DARK, "good": PHONE_DARK["good"]},
)
"""Light and dark, as in every picture of the workbook."""
WORDS = ("ink", "muted", "http", "refused", "deprecated", "good")
GROUNDS = ("ground", "tint", "box")
"""The colours that words are written in, and those that they are written on."""
UNFOLDED = 10
"""As many cases that did not hold stand there unfolded; of more a reader sees the names."""
FEW = 3
"""As many cases are named beside what to do; more are folded up."""
REDACTED = (
    "No value of a body stands in this report. Each is told by its length and a salted digest; within one case a "
    "letter says which values are the same. Headers whose values may hold a secret are told by their names."
)


def to_html(record: Record) -> str:
    """The whole page."""
    title = f"Conformance of {record.about.target}"
    return shell(title, tag("a", "To what did not hold", class_="skip", href="#open"), *_parts(title, record))


def shell(title: str, skip: Markup, *parts: Markup) -> str:
    """A page that loads and runs nothing: a way past its beginning, and its parts."""
    head = tag(
        "head",
        void("meta", charset="utf-8"),
        void("meta", http_equiv="Content-Security-Policy", content=POLICY),
        void("meta", name="viewport", content="width=device-width, initial-scale=1"),
        void("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", trusted(_style())),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', skip, tag('main', *parts)), lang='en')}\n"


def _style() -> str:
    light, dark = map(variables, COLOURS)
    sheet = files("workbook.conformance").joinpath("page.css").read_text(encoding="utf-8")
    return f":root{{{light}}}\n@media (prefers-color-scheme: dark) {{ :root{{{dark}}} }}\n{sheet}"


def _parts(title: str, record: Record) -> Iterator[Markup]:
    yield _header(title, record)
    yield _tiles(record)
    yield from _todos(record)
    yield from _open(record)
    yield from _settled(record)
    yield _groups(record)
    yield _about(record)


def _header(title: str, record: Record) -> Markup:
    about = record.about
    trouble = (
        tag("p", one, class_="trouble") for one in (about.trouble, *(f"Baseline: {one}" for one in about.stale)) if one
    )
    worst = next((verdict for verdict, _count in counts(record)), Verdict.NOT_TESTABLE)
    unfinished = tag("details", tag("summary", "The cases that did not come to an end"), _names(about.unfinished))
    return tag(
        "header",
        tag("h1", title),
        tag("p", f"{about.base_url} · {about.started} · seed {about.seed} · {about.seconds:.1f} s", class_="muted"),
        tag("p", headline(record), class_=f"headline {kind(worst)}"),
        *trouble,
        *([unfinished] if about.unfinished else []),
    )


def _names(names: tuple[str, ...]) -> Markup:
    return tag("ul", *(tag("li", tag("code", name)) for name in names))


def _tiles(record: Record) -> Markup:
    tiles = (
        tag("li", tag("b", count), badge(verdict), class_=kind(verdict), title=MEANINGS[verdict])
        for verdict, count in counts(record)
    )
    return tag("ul", *tiles, class_="tiles", aria_label="How many cases ended with each verdict")


def _todos(record: Record) -> Iterator[Markup]:
    if found := todos(record):
        yield tag("h2", "What to do first")
        if first := begin_here(record):
            yield tag("p", first, class_="trouble")
        yield tag("ol", *map(_todo, found), class_="todos")


def _todo(one: Todo) -> Markup:
    rules = f" ({', '.join(one.rules)})" if one.rules else ""
    links = tag("div", *[part for name in one.cases for part in (", ", link(name))][1:])
    if len(one.cases) > FEW:
        links = tag("details", tag("summary", f"{len(one.cases)} cases"), links)
    return tag(
        "li", badge(one.verdict), f" {one.text}", tag("span", rules, class_="muted"), links, class_=kind(one.verdict)
    )


def _open(record: Record) -> Iterator[Markup]:
    yield tag("h2", "What did not hold", id="open")
    found = to_look_at(record)
    yield from (article(case, unfolded=True) for case in found[:UNFOLDED])
    yield from (_one_folded(case) for case in found[UNFOLDED:])
    if not found:
        yield tag("p", "Nothing: there is no case that anybody has to look at.")


def _settled(record: Record) -> Iterator[Markup]:
    for verdict, title in zip(
        SETTLED, ("What passed", "What does not apply", "What the configuration leaves out"), strict=True
    ):
        if cases := record.ended(verdict):
            yield tag("h2", title)
            for group in dict.fromkeys(case.group for case in cases):
                yield _folded(group, record, verdict)


def _folded(group: Group, record: Record, verdict: Verdict) -> Markup:
    """The cases of one group, each folded up once more."""
    cases = [case for case in record.ended(verdict) if case.group is group]
    summary = tag("summary", f"{group}: {len(cases)} {'case' if len(cases) == 1 else 'cases'}")
    inner = (tag("details", tag("summary", tag("code", case.name)), article(case)) for case in cases)
    return tag("details", summary, *inner, class_="group")


def _one_folded(case: CaseRecord) -> Markup:
    """A case of which the name and the first thing that was missed are in sight; a link to it opens it."""
    told = f" expected {case.misses[0].expected}" if case.misses else ""
    summary = tag("summary", badge(case.verdict), " ", tag("code", case.name), tag("span", told, class_="muted"))
    return tag("details", summary, article(case), class_=f"one {kind(case.verdict)}")


def _groups(record: Record) -> Markup:
    found = counts(record)
    names = (tag("th", badge(verdict), scope="col", class_=kind(verdict)) for verdict, _count in found)
    rows = [(group.value, row) for group, row in by_group(record)] + [("all", [count for _verdict, count in found])]
    body = (tag("tr", tag("th", name, scope="row"), *(tag("td", count or "") for count in row)) for name, row in rows)
    table = tag(
        "table", tag("thead", tag("tr", tag("th", "Group", scope="col"), *names)), tag("tbody", *body), class_="counts"
    )
    return joined(
        tag("h2", "By group"), tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="By group")
    )


def _about(record: Record) -> Markup:
    about = record.about
    versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
    told = {
        "Versions": versions,
        "API's side": about.profile,
        "Each case was run": "once" if about.repeat == 1 else f"{about.repeat} times",
        "A warning counts as a failure": "yes" if about.strict else "no",
        "Chosen by": ", ".join(about.only),
        "Exit code": about.exit_code,
    }
    rows = (tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in told.items() if value != "")
    again = tag("p", "Run it again: ", tag("code", about.command))
    return tag(
        "section", tag("h2", "This run"), tag("table", tag("tbody", *rows)), again, tag("p", REDACTED, class_="muted")
    )
