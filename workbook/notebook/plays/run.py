"""A run: what one play of a flow left behind. It shows itself, and every view is computed from its trace."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.base.files import write_whole
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.machine import Machine
from workbook.flows.trace import Kind, Record, Trace, shown
from workbook.flows.variants import SURFACES, VARIANTS_A, VARIANTS_B
from workbook.reading.checks import Finding, check
from workbook.reading.checks.api import Advice, advice_for
from workbook.runs.extension.wallet_app import WalletApp
from workbook.runs.platform_a import PlatformARun
from workbook.runs.platform_b import PlatformBRun
from workbook.simulation.phones import PhoneA, PhoneB, Watch
from workbook.views.film import film
from workbook.views.findings import run_views
from workbook.views.html import POLICY, Markup, joined, tag, trusted
from workbook.views.screen import Screen
from workbook.views.sequence import sequence
from workbook.views.table import Snapshot, Stack, paragraph

if TYPE_CHECKING:
    from workbook.views.compare import Comparison


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """What one play of a flow left behind.

    Attributes:
        trace: every step, in order; `trace.to_frame()` is a pandas frame.
        machine: the flow's table of states and events.
        phone: the phone at the end; `phone.cards` are the ids in its wallet.
        card: the payment instrument id of the card that the cardholder adds.
        before: the screen before the first step.
        state: the flow's state at the end.
        button: the add button at the end: `absent`, `shown`, `disabled` or `hidden`; empty in the wallet app.
        label: the app's other words at the end, such as `Added to Wallet`; often empty.
        offered: the identifiers of the pass entries that the wallet app offers; None in the issuer's app.
    """

    trace: Trace
    machine: Machine
    phone: PhoneA | PhoneB
    card: str
    before: Screen
    state: str
    button: str = ""
    label: str = ""
    offered: tuple[str, ...] | None = None

    @property
    def added(self) -> bool:
        """Whether the card is in the phone's wallet at the end."""
        return self.card in self.phone.cards

    @property
    def ended(self) -> float:
        """The time of the last step on the phone, in seconds of virtual time; exchanges with the API do not count."""
        return max((record.at for record in self.trace if record.kind not in (Kind.EXCHANGE, Kind.NOTE)), default=0.0)

    @property
    def summary(self) -> dict[str, str]:
        """The run in a few lines."""
        return self.ends

    @property
    def ends(self) -> dict[str, str]:
        """How it ended: the state, the button, the card and the time."""
        lines = {"ended": self.state}
        if self.offered is None:
            lines["add button"] = self.button
        else:
            lines["cards offered"] = str(len(self.offered)) if self.offered else "none"
        if self.label and isinstance(self.phone, PhoneB):
            lines["screen says"] = self.label
        yes = {True: "yes", False: "no"}
        lines["card in the wallet" if isinstance(self.phone, PhoneA) else "card on the phone"] = yes[self.added]
        if isinstance(self.phone, PhoneB):
            watch = self.phone.watch
            lines["card on the watch"] = "no watch is paired" if watch is None else yes[self.card in watch.cards]
        return lines | {"took": f"{self.trace[-1].at:.2f} s of virtual time"}

    @property
    def findings(self) -> list[Finding]:
        """What the checks find in the trace, in the order of time: rule, whose job it is, what to do."""
        return check(self.trace)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about the failure that was played; None where none was."""
        return None

    def compare(self, other: Run) -> Comparison:
        """This run and another, step by step: common steps fold, what differs is marked.

        Args:
            other: the second run, of any platform.

        Example:
            >>> import workbook as wb
            >>> flow = wb.session().platform_a
            >>> print(flow.play().compare(flow.play()).text().splitlines()[-1])
            = 24 steps as in the first run
        """
        from workbook.views.compare import compare  # loaded when somebody compares

        return compare(self, other, recording(self, other))

    def save(self, path: Path | str) -> Path:
        """Write the run as one HTML file that plays it in any browser, without kernel, network or link.

        It is redacted: opaque data is in it as a length and a digest. An older file is replaced.

        Args:
            path: of the file, such as `run.html`.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        target, page = Path(path), saved_page(self.trace.title, played([self]), to_json(self))
        try:
            write_whole(target, page)
        except OSError as error:
            raise ConfigurationError(f"Cannot write {str(target)!r}: {error.strerror}.") from error
        return target

    @staticmethod
    def load(path: Path | str) -> Run:
        """The run of a file that `save` wrote: it shows, compares and saves itself as before.

        Raises:
            ConfigurationError: the file cannot be read.
            ParameterError: it holds no run.
        """
        try:
            page = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"Cannot read {str(path)!r}.") from error
        found = re.search(f'<script type="{re.escape(RUN_MIMETYPE)}" id="workbook-run">(.*?)</script>', page, re.DOTALL)
        return from_json(found[1] if found else "null")

    def _view(self) -> Stack:
        views = '"phone", "messages", "states", "limits", "findings", "all"'
        more = f"Next: wb.show(_, VIEW) for {views}; _.trace; _.findings."  # `_` is the value of the last cell
        return Stack((*run_views(self).views, Snapshot(more, paragraph(tag("small", more)))))

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self._view()._repr_mimebundle_() | recording(self)


# A trace draws itself in a notebook. It cannot import its picture, because pictures read traces.
Trace.drawing = staticmethod(lambda trace: sequence(trace)._repr_mimebundle_())

AnyLoop: TypeAlias = PlatformARun | PlatformBRun | WalletApp
"""Whatever plays a flow."""


def run_of(loop: AnyLoop, before: Screen, card: str = "") -> Run:
    """The run that a finished loop left behind.

    Args:
        loop: a loop in which nothing is due any more.
        before: the screen before its first step.
        card: the payment instrument id of the card, where the loop has several.
    """
    end = Run(loop.trace, loop.machine, loop.phone, card, before, str(loop.state))
    if isinstance(loop, WalletApp):
        return replace(end, offered=tuple(entry.identifier for entry in loop.entries))
    return replace(end, card=loop.payment_instrument_id, button=loop.button, label=loop.label)


def screen_of(phone: PhoneA | PhoneB, surface: str = "phone") -> Screen:
    """The screen before anything happens: the cards in each wallet, and nothing else."""
    watch = getattr(phone, "watch", None)
    return Screen(
        on_phone=frozenset(phone.cards), on_watch=None if watch is None else frozenset(watch.cards), surface=surface
    )


# A run as plain JSON, and back: what is saved, stored in a notebook's outputs, and played on a page without a kernel.
#
# It is as redacted as every other view of a trace: opaque data is saved as its summary. A loaded run draws the same
# pictures to the byte, and holds nothing that could be sent to an API. Its findings are saved, too: a check cannot find
# them again, because it may read what the summary leaves out.

RUN_MIMETYPE = "application/vnd.workbook.run+json"
"""The type under which a notebook's output, or a page, carries a run."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class SavedRun(Run):
    """A run that was loaded.

    Attributes:
        story: the lines of its summary.
        found: the findings of the checks.
        faulted: the operation that was faulted, GET or POST; empty where none was.
    """

    story: Mapping[str, str]
    found: tuple[Finding, ...]
    faulted: str = ""

    @property
    def summary(self) -> dict[str, str]:
        """The summary that the run had when it was saved."""
        return dict(self.story)

    @property
    def findings(self) -> list[Finding]:
        """What the checks found when it was played."""
        return list(self.found)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about the failure that was played; None where none was."""
        return advice_for(self.trace, self.faulted) if self.faulted else None


def to_json(run: Run) -> dict[str, Any]:
    """A run as plain JSON values, redacted.

    Raises:
        ParameterError: its flow is none of the workbook's, so a loaded run could not be drawn.
    """
    its = run.machine
    flow = next((name for name, known in _machines().items() if (known.name, known.rows) == (its.name, its.rows)), None)
    if flow is None:
        raise ParameterError(f"A run of {its.name!r} cannot be saved: its table is none of the workbook's.")
    watch = getattr(run.phone, "watch", None)
    return {
        "run": 1,  # the number of this form; another number is another form
        "title": run.trace.title,
        "flow": flow,
        "platform": "A" if isinstance(run.phone, PhoneA) else "B",
        "phone": sorted(run.phone.cards),
        "watch": None if watch is None else sorted(watch.cards),
        "before": {name: sorted(v) if isinstance(v, frozenset) else v for name, v in asdict(run.before).items()},
        **{name: getattr(run, name) for name in ("card", "state", "button", "label", "offered")},
        "story": run.summary,
        "found": [asdict(finding) for finding in run.findings],
        "faulted": getattr(run, "method", getattr(run, "faulted", "")),
        "records": [_record(record) for record in run.trace],
    }


def from_json(saved: Any) -> SavedRun:
    """The run of these values, or of their text.

    Raises:
        ParameterError: they are no run of `to_json`.
    """
    from pydantic import TypeAdapter  # loaded when a run is loaded

    try:
        values = json.loads(saved) if isinstance(saved, str) else saved
        machine = {1: _machines()}[values["run"]][values["flow"]]
        cards, watch = set(values["phone"]), None if values["watch"] is None else Watch(set(values["watch"]))
        return SavedRun(
            Trace(str(values["title"]), [_read(record) for record in values["records"]]),
            machine,
            PhoneA(cards=cards) if values["platform"] == "A" else PhoneB(cards=cards, watch=watch),
            before=TypeAdapter(Screen).validate_python(values["before"]),
            **{name: values[name] for name in ("card", "state", "button", "label")},
            offered=None if values["offered"] is None else tuple(values["offered"]),
            story={str(name): str(text) for name, text in values["story"].items()},
            found=TypeAdapter(tuple[Finding, ...]).validate_python(values["found"]),
            faulted=values["faulted"],
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        message = "This is no saved run, or one of another version. Save one with run.save(path)."
        raise ParameterError(message) from error


def recording(*runs: Run, panels: Sequence[str] = ()) -> dict[str, Any]:
    """What a notebook's output carries beside its text and its HTML, so that an exported page can play it.

    Args:
        runs: one run, or the two that are compared.
        panels: the panels to show at once; empty shows a button that brings all of them.

    Returns:
        one entry of a bundle; none for a run that cannot be saved.
    """
    try:
        return {RUN_MIMETYPE: {"runs": [to_json(run) for run in runs], "panels": list(panels)}}
    except ParameterError:
        return {}


def _record(record: Record) -> dict[str, Any]:
    """A record; what has its default is left out."""
    message, usual = record.message, Record._field_defaults
    values = {field.name: _value(getattr(message, field.name), field.name) for field in fields(message) if field.repr}
    kept = {name: value for name, value in record._asdict().items() if name not in usual or value != usual[name]}
    del kept["message"]
    return {"says": record.name, **({"with": values} if values else {}), **kept}


def _read(values: Mapping[str, Any]) -> Record:
    kind = getattr(m, values["says"])
    if not issubclass(kind, m.Message):
        raise TypeError(kind)
    message = kind(**{name: _stand_in(value) for name, value in values.get("with", {}).items()})
    given = {name: values[name] for name in Record._fields if name in values}
    return Record(message=message, **given | {"kind": Kind(given["kind"]), "rules": tuple(given["rules"])})


# A message's value. What JSON has is written as it is; anything else as the name of its type, its length and its
# redacted form. What is read back is a stand-in: it says the same, under the same type's name and of the same length.


def _value(value: object, name: str) -> Any:
    if isinstance(value, tuple):
        return {"as": "tuple", "is": [_value(item, name) for item in value]}
    if isinstance(value, list):
        return [_value(item, name) for item in value]
    redacted = shown(value, name)
    if redacted == value and isinstance(value, str | int | float | bool | None):
        return redacted
    return {"as": type(value).__name__, "length": len(value) if isinstance(value, str | bytes) else 0, "is": redacted}


def _stand_in(value: Any) -> Any:
    match value:
        case list():
            return [_stand_in(item) for item in value]
        case {"as": "tuple", "is": items}:
            return tuple(_stand_in(item) for item in items)
        case {"as": name, "length": length, "is": said}:
            says = {"summary": lambda _self: said, "identifier": said, "__repr__": lambda _self: str(said)}
            contents: dict[str, tuple[str] | tuple[bytes]] = {"str": ("·" * length,), "bytes": (bytes(length),)}
            content = contents.get(name, ())
            return type(str(name), tuple(map(type, content)), says)(*content)
        case Mapping():
            raise ValueError("no value of a saved run")
    return value


@cache
def _machines() -> Mapping[str, Machine]:
    """Every table that a run can have been played with, by a name of its own."""
    both = [*product((False, True), repeat=2)]
    tables = [
        *(replace(v, guarded=one, by_hand=other).machine for v in VARIANTS_A.values() for one, other in both),
        *(replace(v, tells=one, says_available=other).machine for v in VARIANTS_B.values() for one, other in both),
        *(variant.extension(surface) for variant, surface in product(VARIANTS_B.values(), SURFACES)),
    ]
    return {f"{machine.name}, table {number}": machine for number, machine in enumerate(tables)}


# Pages on which recorded runs are played without a kernel and without a network, each one file.
#
# The player is the one of the notebook: here its model is a recording that never answers. All runs of a page are one
# compressed text. The page's policy lets this one script run, by its hash, and lets nothing be loaded or sent.

PANELS = ("phone", "exchange", "states", "timing", "findings")
"""The panels that a player can show."""
COMPARED_PANELS = ("phone", "exchange")
"""The panels of two runs that are compared."""


def played(runs: Sequence[Run], panels: Sequence[str] = ()) -> dict[str, Any]:
    """The player's values for one run, or for two that are compared."""
    from workbook.views.compare import compare  # both are loaded when a page is made
    from workbook.views.player_data import comparison_data, player_data

    if len(runs) > 1:
        first, second = runs
        return {"player_data": comparison_data(compare(first, second)), "panels": list(COMPARED_PANELS)}
    (run,) = runs
    data = player_data(film(run.trace, run.machine, run.before), run.findings)
    return {"player_data": data, "panels": list(panels or PANELS)}


@cache
def player_script(last: str = "") -> str:
    """The player's JavaScript module, and the file that comes last in it."""
    names = ("frames.js", "kernel.js", "parts.js", "exchange.js", "breaking.js", "player.js", *filter(None, [last]))
    return "".join(browser_file(name) for name in names)


def browser_file(name: str) -> str:
    """The text of a file for the browser."""
    return (Path(__file__).parent.parent / "widgets" / name).read_text("utf-8")


def place(number: int, *, opened: bool = False) -> Markup:
    """Where the player of this recording goes; unless `opened`, a button brings it."""
    needed = tag("noscript", "This recording is played by a script in the page.")
    return tag("div", needed, class_="wb-place", data_recording=number, data_opened="yes" if opened else None)


def policy() -> str:
    """The policy of a page with players: this script, by its hash, and nothing else."""
    digest = b64encode(sha256(player_script("recorded.js").encode()).digest()).decode()
    return f"{POLICY}; script-src 'sha256-{digest}'"


def players(recordings: Sequence[Mapping[str, Any]]) -> Markup:
    """The end of a page: the style, the recordings, and the script that brings the players to their places."""
    packed = b64encode(gzip.compress(json.dumps(recordings, ensure_ascii=False).encode(), mtime=0)).decode()
    return joined(
        tag("style", trusted(browser_file("player.css"))),
        tag("script", packed, type="text/plain", id="wb-recordings"),
        tag("script", trusted(player_script("recorded.js")), type="module"),
    )


def saved_page(title: str, recorded: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """A page that plays one recording, without a link, and from which the run can be loaded again."""
    kept = json.dumps(run, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    main = joined(tag("h1", title), place(0, opened=True))
    end = joined(players([recorded]), tag("script", trusted(kept), type=RUN_MIMETYPE, id="workbook-run"))
    style = (
        "body { max-width: 1600px; margin: 1rem auto; padding: 0 1rem; background: Canvas; color: CanvasText; }\n"
        "h1 { font: 600 1.3rem system-ui, sans-serif; }"
    )
    return page_of(title, main, end, style)


def page_of(title: str, main: Markup, end: Markup, style: str) -> str:
    """A page around its main part, with this style; `end` is empty, or what `players` returned."""
    from workbook.views.templates import fill  # loaded when a page is made

    allowed = policy() if end else POLICY
    return fill("played.html", policy=allowed, title=title, style=style, main=main, end=end)
