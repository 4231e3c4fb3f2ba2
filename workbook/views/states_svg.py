"""A machine's states and moves as one self-contained SVG document, with the way that was taken lit in it.

What is lit differs in form as well as in colour: the present state has a thick edge, a state that was passed a firm
one, and a move that was made is a thick line with the numbers of its steps. Where several events lead the same way, a
tick stands before the one that it was. A player lights the same parts: those with `data-state` are `wb-been` or
`wb-here`, those with `data-move` are `wb-been`, and `wb-now` in the moment itself, and those with `data-event` (see
`states_says_svg`) are `wb-took`, and `wb-now` likewise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbook.views.markup import tag, trusted, void
from workbook.views.palette import FONT, sheet
from workbook.views.picture import Picture
from workbook.views.plain import cut
from workbook.views.states_grid import BOX, TOP, WIDTH
from workbook.views.states_layout import BADGE, layout
from workbook.views.states_says_svg import SAYS, TICK, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workbook.flows.machine import Machine
    from workbook.views.markup import Markup
    from workbook.views.states_grid import Box
    from workbook.views.states_layout import Arrow, Layout, Words

SCOPE = "wb-states"
STYLE = sheet(
    SCOPE,
    {
        "text": f"font-family:{FONT};font-size:11.5px;fill:var(--muted);"
        "paint-order:stroke;stroke:var(--ground);stroke-width:4px;stroke-linejoin:round",
        ".wb-title": "font-size:17px;font-weight:600;fill:var(--ink)",
        ".wb-ground": "fill:var(--ground);stroke:var(--frame)",
        ".wb-box": "fill:var(--ground);stroke:var(--edge);stroke-width:1.2",
        ".wb-rest": "fill:none;stroke:var(--edge);stroke-width:1",
        ".wb-name": "font-size:12px;text-anchor:middle;stroke:none",
        ".wb-way": "fill:none;stroke:var(--edge);stroke-width:1.2",
        ".wb-head": "fill:var(--edge)",
        ".is-ours .wb-way": "stroke-dasharray:2 3",
        ".is-deprecated .wb-way": "stroke-dasharray:8 4",
        ".is-deprecated .wb-says": "fill:var(--deprecated)",
        ".wb-been .wb-box": "fill:var(--box);stroke:var(--ink);stroke-width:2",
        ".wb-been .wb-name": "fill:var(--ink);font-weight:600",
        ".wb-here .wb-box": "fill:var(--tint);stroke:var(--http);stroke-width:4",
        ".wb-here .wb-rest": "display:none",
        ".wb-here .wb-name": "fill:var(--http);font-weight:700",
        ".wb-been .wb-way,.wb-now .wb-way": "stroke:var(--http);stroke-width:3",
        ".wb-now .wb-way": "stroke-width:4.5",
        ".wb-been .wb-head,.wb-now .wb-head": "fill:var(--http)",
        ".wb-been .wb-says,.wb-now .wb-says": "fill:var(--ink)",
        **SAYS,
        ".wb-step": "fill:var(--http);stroke:var(--ground);stroke-width:1.5",
        ".wb-number": "font-size:10.5px;font-weight:700;fill:var(--ground);stroke:none;text-anchor:middle;"
        "font-variant-numeric:tabular-nums",
    },
)
HEAD, HALF = 9, 4.5
"""How long the head of an arrow is, and half of how wide."""
ROUND = 6
"""How round the corners of an arrow are."""
MOST = 2
"""As many steps as the number of a move names; an ellipsis stands for those before."""
FOOT = 84
"""How much the legend takes at the bottom."""
LINES = (
    ("is-spec", "stated by the document"),
    ("is-ours", "left open by it: our choice, or public knowledge"),
    ("is-deprecated", "deprecated"),
)
BOXES = (("", "not reached"), ("wb-been", "passed"), ("wb-here", "here now"))
TOOK = f"{TICK}where several events lead the same way: the one that it was in this run"
RESTS = "a resting place: an attempt is over, or the cardholder chooses"


@dataclass(frozen=True, slots=True)
class Lit:
    """What is lit in a picture; nothing by default.

    Attributes:
        here: the state that the run is in.
        been: the states that it passed.
        steps: the numbers of the steps at which a move was made, by its name `from>to`.
        took: the events by which moves were made, each as `states_says_svg.key` has it.
    """

    here: str = ""
    been: frozenset[str] = frozenset()
    steps: Mapping[str, Sequence[int]] = field(default_factory=dict)
    took: frozenset[str] = frozenset()

    def state(self, state: str) -> str:
        """The class of a state's group."""
        mark = "wb-here" if state == self.here else "wb-been" if state in self.been else ""
        return f"wb-state {mark}".rstrip()

    def move(self, arrow: Arrow) -> str:
        """The class of a move's group."""
        taken = " wb-been" if arrow.move.name in self.steps else ""
        return f"wb-move is-{arrow.move.origin}{taken}"


def draw(machine: Machine, title: str, told: str, lit: Lit | None = None) -> Picture:
    """The picture of a machine, the same bytes on every run.

    Args:
        machine: whose states and moves.
        title: what stands above them.
        told: the same in words.
        lit: what is lit.
    """
    plan = layout(machine)
    height = plan.height + FOOT
    svg = tag(
        "svg",
        tag("title", f"States: {title}"),
        tag("desc", told),
        tag("style", trusted(STYLE)),
        void("rect", class_="wb-ground", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
        tag("text", cut(title, 90), class_="wb-title", x=24, y=34),
        *_parts(machine, plan, lit or Lit()),
        *_legend(plan.height + 12),
        xmlns="http://www.w3.org/2000/svg", role="img", class_=SCOPE,
        viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height,
    )  # fmt: skip
    return Picture(str(svg), WIDTH, height, told)


def _parts(machine: Machine, plan: Layout, lit: Lit) -> Iterator[Markup]:
    """The moves, those that were made over the others, and the states over all of them."""
    for arrow in sorted(plan.arrows, key=lambda one: one.move.name in lit.steps):
        yield tag("g", *_move(arrow, lit), data_move=arrow.move.name, class_=lit.move(arrow))
    for sign in plan.signs:
        yield from texts(sign, lit.took)
    yield from _begin(plan.boxes[0])
    final = frozenset(map(str, machine.final))
    for box in plan.boxes:
        yield tag("g", *_state(box, rests=box.state in final), data_state=box.state, class_=lit.state(box.state))


def _begin(box: Box) -> Iterator[Markup]:
    """The dot and the line from which everything begins."""
    yield void("path", class_="wb-head", d=f"M{box.middle - 4} {TOP - 15}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z")
    yield void("path", class_="wb-way", d=f"M{box.middle} {TOP - 12}V{box.y}")


def _state(box: Box, *, rests: bool) -> Iterator[Markup]:
    yield void("rect", class_="wb-box", x=box.x, y=box.y, width=BOX, height=box.height, rx=9)
    if rests:
        yield void("rect", class_="wb-rest", x=box.x + 3, y=box.y + 3, width=BOX - 6, height=box.height - 6, rx=6)
    yield tag("text", cut(box.state, 26), class_="wb-name", x=box.middle, y=box.y + box.height // 2 + 4)


def _move(arrow: Arrow, lit: Lit) -> Iterator[Markup]:
    yield tag("title", f"{arrow.move.source} → {arrow.move.target}: {' or '.join(arrow.move.events)}")
    yield from _line(arrow)
    says = _numbers(lit.steps.get(arrow.move.name, ()))
    if arrow.words:
        yield from texts(_aside(arrow.words, arrow, _wide(says)), lit.took)
    if says:
        yield from _badge(arrow, says)


def _line(arrow: Arrow) -> Iterator[Markup]:
    """The arrow, drawn from its head: so the dashes of arrows that share a lane fall together."""
    (x0, y0), (x, y) = arrow.points[-2:]
    dx, dy = _sign(x - x0), _sign(y - y0)
    neck = (x - dx * (HEAD - 1), y - dy * (HEAD - 1))
    yield void("path", class_="wb-way", d=_rounded((neck, *reversed(arrow.points[:-1]))))
    corners = (f"{x - dx * HEAD + side * dy:g} {y - dy * HEAD + side * dx:g}" for side in (-HALF, HALF))
    yield void("path", class_="wb-head", d=f"M{x} {y}L{'L'.join(corners)}z")


def _rounded(points: Sequence[tuple[int, int]]) -> str:
    """A path through the points, its corners rounded."""
    (first_x, first_y), (last_x, last_y) = points[0], points[-1]
    corners = (_corner(*three) for three in zip(points, points[1:], points[2:], strict=False))
    return f"M{first_x} {first_y}{''.join(corners)}L{last_x} {last_y}"


def _corner(before: tuple[int, int], corner: tuple[int, int], after: tuple[int, int]) -> str:
    x, y = corner
    ends = []
    for one_x, one_y in (before, after):
        near = min(ROUND, (abs(x - one_x) + abs(y - one_y)) / 2)
        ends.append(f"{x + _sign(one_x - x) * near:g} {y + _sign(one_y - y) * near:g}")
    return f"L{ends[0]}Q{x} {y} {ends[1]}"


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _aside(words: Words, arrow: Arrow, wide: int) -> Words:
    """The words of an arrow, moved away from the box as far as a wide number needs."""
    room = wide + 8 - BADGE
    if room <= 0 or words.anchor != arrow.badge.anchor or arrow.points[0][1] != arrow.badge.y:
        return words
    return replace(words, x=words.x + (room if words.anchor == "start" else -room))


def _numbers(steps: Sequence[int]) -> str:
    """The numbers of a move's steps, the latest of them where there are many."""
    says = ", ".join(map(str, steps[-MOST:]))
    return f"… {says}" if len(steps) > MOST else says


def _wide(says: str) -> int:
    return max(16, 8 + 6 * len(says)) if says else 0


def _badge(arrow: Arrow, says: str) -> Iterator[Markup]:
    """The numbers in a pill."""
    badge, wide = arrow.badge, _wide(says)
    left = badge.x - {"start": 0, "middle": wide // 2, "end": wide}[badge.anchor]
    yield void("rect", class_="wb-step", x=left, y=badge.y - 8, width=wide, height=16, rx=8)
    yield tag("text", says, class_="wb-number", x=left + wide / 2, y=badge.y + 4)


def _legend(y: int) -> Iterator[Markup]:
    yield void("path", class_="wb-ground", d=f"M24 {y}H{WIDTH - 24}")
    x = 24
    for name, says in LINES:
        line = void("path", class_="wb-way", d=f"M{x} {y + 18}h34")
        yield tag("g", line, tag("text", says, x=x + 42, y=y + 22), class_=name)
        x += 80 + 6 * len(says)
    x = 24
    for name, says in BOXES:
        yield tag("g", _sample(x, y), tag("text", says, x=x + 42, y=y + 41), class_=name or None)
        x += 124
    inner = void("rect", class_="wb-rest", x=x + 3, y=y + 33, width=28, height=8, rx=2)
    yield tag("g", _sample(x, y), inner, tag("text", RESTS, x=x + 42, y=y + 41))
    yield tag("text", TOOK, x=24, y=y + 60)


def _sample(x: int, y: int) -> Markup:
    return void("rect", class_="wb-box", x=x, y=y + 30, width=34, height=14, rx=4)
