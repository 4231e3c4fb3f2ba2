"""A run: what one play of a flow left behind. It shows itself, and every view is computed from its trace.

The last part plays a fault of the API, and reads from such a run what came of it.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.base.files import explain_failure, write_whole
from workbook.base.values import lookup
from workbook.checks import Finding, check
from workbook.checks.api import DELEGATE_LIMIT, Advice, advice_for
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.extension import State as WalletState
from workbook.flows.machine import Machine
from workbook.flows.trace import Kind, Record, Trace, shown
from workbook.flows.variants import SURFACES, VARIANTS_A, VARIANTS_B
from workbook.play.back_end import BACK_ENDS, BackEnd, Network, WatchedBackEnd
from workbook.play.extension.wallet_app import WalletApp
from workbook.play.platform_a import PlatformARun
from workbook.play.platform_b import PlatformBRun, opened_phone
from workbook.simulation.faults import BODIES, ON_THE_WIRE, STATUSES, Fault, FaultPlan, Planned
from workbook.simulation.phones import PhoneA, PhoneB, Watch
from workbook.simulation.service import Service
from workbook.simulation.world import World
from workbook.views.film import film
from workbook.views.findings import run_views
from workbook.views.html import POLICY, Markup, View, joined, tag, trusted
from workbook.views.screen import Screen
from workbook.views.table import Snapshot, Stack, Table, facts, paragraph, table

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
        with explain_failure(f"Cannot write {str(target)!r}"):
            write_whole(target, page)
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


# Whatever plays a flow.
AnyLoop: TypeAlias = PlatformARun | PlatformBRun | WalletApp


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

# The type under which a notebook's output, or a page, carries a run.
RUN_MIMETYPE = "application/vnd.workbook.run+json"


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

# The panels that a player can show.
PANELS = ("phone", "exchange", "states", "timing", "findings")
# The panels of two runs that are compared.
COMPARED_PANELS = ("phone", "exchange")


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
    return fill("lessons/plays/played.html", policy=allowed, title=title, style=style, main=main, end=end)


# Plays one fault of the API, on one platform, in front of one back end, and reads what came of it.
#
# Everything but the fault goes well: one card, one tap, a phone that is ready. Every result is read from the trace and
# from the simulated service; there is no table of expected results.


# Where the cardholder adds the card: each builds a run in front of a given back end.
WAYS_TO_ADD: Mapping[str, Callable[[str, BackEnd], PlatformARun | PlatformBRun | WalletApp]] = MappingProxyType({
    "platform A": lambda card, back_end: PlatformARun(payment_instrument_id=card, back_end=back_end),
    "platform B, in the app": lambda card, back_end: PlatformBRun(payment_instrument_id=card, back_end=back_end),
    "platform B, from the wallet": lambda card, back_end: WalletApp(
        phone=opened_phone(cards=[card]), cards=[card], back_end=back_end
    ),
})  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class FaultRun(Run):
    """What a fault left behind.

    Attributes:
        planned: the fault, and the requests that it was planned for.
        platform: one of `WAYS_TO_ADD`.
        back_end: one of `BACK_ENDS`.
        network: the network between the back end and the API; it counts requests and answers.
    """

    planned: Planned
    platform: str
    back_end: str
    network: Network

    @property
    def method(self) -> str:
        """The operation that was faulted, GET or POST."""
        return str(self.planned.operation)

    @property
    def longest_wait(self) -> float:
        """The longest time, in seconds, in which nothing happened on the phone."""
        times = [record.at for record in self.trace if record.kind not in (Kind.EXCHANGE, Kind.NOTE)]
        return max((later - earlier for earlier, later in pairwise(times)), default=0.0)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about this failure."""
        return advice_for(self.trace, self.method)

    @property
    def summary(self) -> dict[str, str]:
        """The story in a few lines, from the API to the cardholder."""
        fault = self.planned.fault
        return {
            "fault": f"{fault.name}: {fault.sentence} ({fault.source})",
            "played": self._played(),
            "the API": self._carried_out(),
            "the back end got": self._got(),
            "the app got": self._handed_on(),
            "the cardholder sees": self._seen(),
            "the card": self._where(),
            "ended": f"for the cardholder after {self.ended:.2f} s of virtual time",
        }

    def _played(self) -> str:
        which = "every" if self.planned.nth is None else f"the {ordinal(self.planned.nth)}"
        if not self.network.played:
            nothing = f"{which} {self.method} was answered as usual" if self.network.asked[self.method] else "never"
            return f"{nothing}: nothing was changed"
        moment = "before the API did anything" if self.planned.moment == "before" else "after the API had done its part"
        if self.planned.fault.harmless:
            moment = "the answer is whole"
        return f"on {which} {self.method}; {moment}"

    def _carried_out(self) -> str:
        asked, done = self.network.asked[self.method], self.network.service.carried_out[self.method]
        if not asked:
            return f"was never asked for a {self.method}"
        outcome = f"carried the {self.method} out {how_often(done)}" if done else f"did not carry the {self.method} out"
        return f"was asked {how_often(asked)}; {outcome}"

    def _got(self) -> str:
        ends = [ended for _record, ended in self.trace.seen(m.ApiCallEnded) if ended.method == self.method]
        if not ends:
            return f"made no {self.method}"
        ended = next((end for end in ends if end.ending != "sdkInput" or end.attempts > 1), ends[0])
        attempts = "1 attempt" if ended.attempts == 1 else f"{ended.attempts} attempts"
        return f"{ended.ending} after {attempts} and {ended.took:.2f} s"

    def _handed_on(self) -> str:
        """The last thing that the app's own code got from its back end."""
        kinds = [kind for kind in HANDED_ON if kind is not m.NoRequest or not self.trace.select(m.DelegateReturned)]
        got = [record.message for record in self.trace.select(*kinds) if record.kind is not Kind.REFUSED]
        return HANDED_ON[type(got[-1])](got[-1]) if got else "nothing"

    def _seen(self) -> str:
        in_wallet: dict[str, str] = {
            WalletState.NOT_LISTED: "the wallet does not list the app",
            WalletState.EMPTY: "the wallet offers no card",
            WalletState.NOT_AUTHENTICATED: "the wallet says that the card was not added",
            WalletState.NOT_ADDED: "the wallet says that the card was not added",
            WalletState.ADDED: "the wallet says that the card was added",
        }
        if self.offered is not None:
            return in_wallet.get(self.state, self.state)
        button = {
            "absent": "no add button yet",
            "shown": "the add button",
            "disabled": "the add button, greyed out",
            "hidden": "no add button",
        }[self.button]
        label = film(self.trace, self.machine).frames[-1].screen.label  # as the phone's picture has it
        return f"“{label}”, and {button}" if label else button

    def _where(self) -> str:
        if others := self.phone.cards - {self.card}:
            return f"another card is in the wallet: {', '.join(sorted(others))}"
        return "in the wallet" if self.added else "not in the wallet"


def _got_value(message: Any) -> str:
    return "sdkInput" if message.sdk_input else "an answer without sdkInput, as if it were a success"


def _got_reason(message: Any) -> str:
    return f"no sdkInput: “{message.reason}”"


# The messages that tell what the app's own code, or its extension, got from the back end.
HANDED_ON: Mapping[type[m.Message], Callable[[Any], str]] = {
    m.ActivationDataReceived: _got_value,
    m.ActivationDataFailed: _got_reason,
    m.OpcReceived: _got_value,
    m.OpcFailed: _got_reason,
    m.ProviderFailed: _got_reason,
    m.SdkInputReceived: _got_value,
    m.NoSdkInput: lambda message: f"nil: “{message.reason}”",
    m.DelegateFailed: lambda message: f"nil: “{message.reason}”",
    m.IgnoreLateSdkInput: lambda _message: "nothing in time; what came later was ignored",
    m.NoEntries: lambda _message: "no activation data, so it offers no entries",
    m.NoRequest: lambda _message: "nil",
    m.DelegateReturned: lambda message: "nil" if message.sdk_input is None else _got_value(message),
    m.RequestReturned: lambda _message: "sdkInput",
}


def ordinal(number: int) -> str:
    """A place in an order, in words."""
    return {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth"}.get(number, f"{number}th")


def how_often(number: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def fault_run(planned: Planned, platform: str, back_end: str, world: World) -> FaultRun:
    """The run with this fault on the platform, in front of the back end; everything else goes well.

    Args:
        planned: the fault, the card that is added, and which of the card's requests the fault meets.
        platform: one of `WAYS_TO_ADD`.
        back_end: one of `BACK_ENDS`.
        world: what the simulated API knows.

    Raises:
        ParameterError: there is no such platform or back end.
    """
    build, kind = lookup("platform", platform, WAYS_TO_ADD), lookup("back end", back_end, BACK_ENDS)
    card = str(planned.payment_instrument_id)
    network = Network(Service(world, plan=FaultPlan([planned])))
    loop = build(card, WatchedBackEnd(kind.make(network), network))
    loop.walk()
    run = run_of(loop, Screen(), card=card)
    common = {name: getattr(run, name) for name in Run.__slots__}
    return FaultRun(**common, planned=planned, platform=platform, back_end=back_end, network=network)


def fault_table() -> Stack:
    """Every fault: its name, its settings with their defaults, its source, and what it does."""
    groups = {"Another status": STATUSES, "On the wire: late, cut, lost": ON_THE_WIRE, "In the body": BODIES}
    head = ("fault", "can be set", "source", "what it does")
    return Stack(tuple(table(group, head, map(_row, faults)) for group, faults in groups.items()))


def _row(fault: Fault) -> tuple[str, ...]:
    # A default is shown where it is a number: a text would be too long for a column.
    settings = ", ".join(
        f"{name} = {setting.default:,}" if isinstance(setting.default, int | float) else name
        for name, setting in fault.settings.items()
    )
    return fault.name, settings or "-", fault.source, fault.sentence


def back_end_table() -> Table:
    """Every back end that can be compared, with the rules that it breaks."""
    rows = [(name, back_end.breaks or "none", back_end.sentence) for name, back_end in BACK_ENDS.items()]
    return table("The back ends", ("back end", "breaks", "what it does"), rows)


# Predictions. Each is a question to the finished run; there is no table of right answers.


# What a reader may predict, each with its question to the finished run.
PREDICTIONS: Mapping[str, Callable[[FaultRun], bool]] = MappingProxyType({
    "the card is added": lambda run: run.added,
    "the button comes back": lambda run: bool(run.trace.select(m.EnableButton)) and not run.added,
    "there is no button to tap": lambda run: (
        bool(run.trace.select(m.HideButton)) and not run.trace.select(m.AddTapped)
    ),
    "the wallet offers no card": lambda run: run.state == WalletState.EMPTY,
    "the wallet says that the card was not added": lambda run: run.state == WalletState.NOT_ADDED,
    f"nothing happens for {DELEGATE_LIMIT:g} s": lambda run: run.longest_wait >= DELEGATE_LIMIT,
    "another card is added": lambda run: bool(run.phone.cards) and not run.added,
})  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(View):
    """A prediction, and whether it came true.

    Attributes:
        i_think: one of `PREDICTIONS`.
        run: the run that decides.
    """

    i_think: str
    run: FaultRun

    @property
    def right(self) -> bool:
        """Whether it happened."""
        return PREDICTIONS[self.i_think](self.run)

    @property
    def came_true(self) -> list[str]:
        """Every prediction that would have been right."""
        return [name for name, happened in PREDICTIONS.items() if happened(self.run)]

    @property
    def verdict(self) -> dict[str, str]:
        """Right or not, and why, in a few lines."""
        summary, seen = self.run.summary, "; ".join(self.came_true) or "none of the possible predictions"
        return {
            "you think": self.i_think,
            "that is": "✓ right" if self.right else "✗ not so",
            "what came of it": seen,
            "because the API": summary["the API"],
            "so the back end got": summary["the back end got"],
            "and the app got": summary["the app got"],
        }

    def text(self) -> str:
        """The verdict, and the run below it."""
        return self._stack().text()

    def html(self) -> str:
        """The verdict, and the run below it."""
        return self._stack().html()

    def _stack(self) -> Stack:
        return Stack((facts("Your prediction", self.verdict), *run_views(self.run).views))
