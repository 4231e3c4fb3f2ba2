"""The kill matrix as a web page that needs nothing: each case, each relay, and where they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.matrix import BESIDE, MADE, MARKS, MISSED
from workbook.conformance.page import shell
from workbook.views.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.matrix import Matrix

TITLE = "Kill matrix: do the cases catch what they are made for?"
WHY = (
    "Each column is a back end, each row a case of workbook conform. A case that no broken back end fails could pass "
    "whatever it looks at; a back end that no case catches would be told that all is well."
)
COLOURS = {MADE: "is-pass", BESIDE: "is-harness-error", MISSED: "is-fail"}


def to_html(matrix: Matrix) -> str:
    """The whole page."""
    skip = tag("a", "To the matrix", class_="skip", href="#matrix")
    return shell(TITLE, skip, *_parts(matrix))


def _parts(matrix: Matrix) -> Iterator[Markup]:
    gaps = matrix.gaps()
    yield tag("h1", TITLE)
    yield tag("p", WHY)
    yield tag("p", matrix.summary, class_=f"headline {'is-fail' if gaps else 'is-pass'}")
    yield from ([tag("ul", *(tag("li", gap) for gap in gaps))] if gaps else [])
    yield tag("h2", "The back ends")
    yield _scrolled(_relays(matrix), "The back ends")
    yield tag("h2", "Case by case", id="matrix")
    yield tag("p", "; ".join(f"{mark} {words}" for mark, words in MARKS.items()), ".", class_="muted")
    yield _scrolled(_cells(matrix), "Case by case")


def _scrolled(table: Markup, name: str) -> Markup:
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def _relays(matrix: Matrix) -> Markup:
    head = (tag("th", name, scope="col") for name in ("Back end", "What is wrong", "Made for it", "Caught by"))
    rows = (
        tag("tr", tag("th", one.name, scope="row"), tag("td", one.wrong or "in order"),
            tag("td", len(one.made) or ""), tag("td", len(one.caught) or ""))
        for one in matrix.relays
    )  # fmt: skip
    return tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows))


def _cells(matrix: Matrix) -> Markup:
    names = (tag("th", tag("span", one.name), scope="col", title=one.wrong or "in order") for one in matrix.relays)
    head = tag("thead", tag("tr", tag("th", "Case", scope="col"), *names))
    rows = (tag("tr", tag("th", case, scope="row"), *_row(matrix, case)) for case in matrix.cases)
    return tag("table", head, tag("tbody", *rows), class_="matrix")


def _row(matrix: Matrix, case: str) -> Iterator[Markup]:
    for one in matrix.relays:
        mark = one.mark(case)
        told = tag("b", mark, class_="verdict") if mark else ""
        yield tag("td", told, class_=COLOURS.get(mark), title=f"{one.name}, {case}")
