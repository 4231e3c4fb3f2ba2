"""What a person sees of a run: a bar and lines while it runs, then how it ended, and what to do in which order."""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter, itemgetter
from string import ascii_uppercase
from typing import Any

from workbook.base.rules import rules
from workbook.base.terminal import say
from workbook.tools.harness.model import CaseResult, Miss, ReportedExchange, Root, Verdict
from workbook.tools.harness.report import FAILING, JUDGED, PHONE, UNSEEN, CaseRecord, RunRecord, few_looked_at
from workbook.views.table import clean

# Pieces of advice that a terminal prints, and that a page does not fold.
ADVICE_SHOWN = 3
# Verdicts of cases that need no look, each with the heading above these cases.
SETTLED = {
    Verdict.PASS: "What passed",
    Verdict.NOT_APPLICABLE: "What does not apply",
}


@dataclass(frozen=True, slots=True)
class Todo:
    """One piece of advice.

    Attributes:
        verdict: the gravest verdict of the cases that give it.
        text: what to do.
        cases: the names of those cases.
        rules: the ids of the rules that were not kept.
        root: where the failure that it fixes comes from.
        shown: the case whose exchanges show it; None where no case shows it.
        miss: what that case expected and observed.
        command: runs that case again, or one that the advice stands for; empty where nothing can be run.
        unseen: how many of the cases could not be judged because of it.
    """

    verdict: Verdict
    text: str
    cases: tuple[str, ...]
    rules: tuple[str, ...]
    root: Root = Root.CASE
    shown: CaseRecord | None = None
    miss: Miss | None = None
    command: str = ""
    unseen: int = 0

    @property
    def count(self) -> str:
        """How many cases it is about, in words; empty where there is none."""
        judged = len(self.cases) - self.unseen
        left = f"{_cases(self.unseen)} not judged because of it" if self.unseen else ""
        if self.verdict in UNSEEN:
            return _cases(len(self.cases)) if self.cases else ""
        return ", ".join(filter(None, [_cases(judged) if judged else "", left]))


def headline(record: RunRecord) -> str:
    """How the run ended, in one to four sentences."""
    about = record.about
    total = _cases(len(record.cases))
    verdicts, failing = _verdicts(record, {*Verdict}), FAILING - {Verdict.KNOWN}
    failed = record.ended(*failing)
    decided = bool(record.ended(*JUDGED))
    left = len(about.unfinished)
    if not record.cases:
        sentences = ["No case finished."]
    elif failed:
        others = _verdicts(record, {*Verdict} - failing)
        sentences = [f"{len(failed)} of {total} did not hold: {_verdicts(record, failing)}."]
        sentences += [f"The others: {others}."] if others else []
        if (
            {case.verdict for case in failed} == {Verdict.WARN}
            and not about.strict
            and not any(finding.fails for finding in about.findings)
        ):
            sentences.append("There are warnings only; with --strict the run would fail.")
    elif not decided:
        sentences = [f"Nothing could be decided: {verdicts}."]
    elif about.trouble or record.ended(Verdict.HARNESS_ERROR):
        sentences = [f"Of {total} none failed, and some could not be decided: {verdicts}."]
    elif left:
        of_all = f"Of {_cases(len(record.cases) + left)} {len(record.cases)} finished"
        sentences = [f"{of_all}, and none of these failed: {verdicts}."]
    else:
        sentences = [f"{total}, and none failed: {verdicts}."]
    few = few_looked_at(about.program, (case.verdict for case in record.cases)) if decided else ""
    return " ".join([*filter(None, [few]), *sentences, *_also(record, decided=decided)])


def _also(record: RunRecord, *, decided: bool) -> Iterator[str]:
    """What else a reader has to know of the cases, the baseline, and how the run ended."""
    about = record.about
    looked_for = UNSEEN if decided else (Verdict.NOT_LOOKED_AT,)
    if unseen := len(record.ended(*looked_for)):
        how = "That fails the run" if about.strict else "With --strict that fails the run"
        yield f"{_cases(unseen).capitalize()} not judged; the report says why. {how}."
    if stale := len(about.stale):
        entries = "entry, which fails" if stale == 1 else "entries, which fail"
        yield f"The baseline has {stale} stale {entries} the run."
    if about.unfinished:
        yield f"The run was interrupted: {_cases(len(about.unfinished))} did not finish."
    elif about.interrupted:
        yield "The run was interrupted."


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def counts(record: RunRecord) -> list[tuple[Verdict, int]]:
    """How many cases ended with each verdict that occurs, the gravest first."""
    every = ((verdict, len(record.ended(verdict))) for verdict in Verdict)
    return [(verdict, count) for verdict, count in every if count]


def _verdicts(record: RunRecord, among: Iterable[Verdict]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(record) if verdict in among)


def by_group(record: RunRecord) -> list[tuple[str, list[int]]]:
    """For each group that occurs: how many of its cases ended with each verdict of `counts`."""
    endings = Counter((case.group, case.verdict) for case in record.cases)
    groups = dict.fromkeys(case.group for case in record.cases)
    return [(group, [endings[group, verdict] for verdict, _count in counts(record)]) for group in groups]


def to_look_at(record: RunRecord) -> list[CaseRecord]:
    """The cases that need a look, the gravest first, otherwise in their order."""
    unsettled = [case for case in record.cases if case.verdict not in SETTLED]
    return sorted(unsettled, key=lambda case: case.verdict.gravity)


def todos(record: RunRecord) -> list[Todo]:
    """What to do, sorted by root cause, severity, and number of cases.

    A finding of the whole run stands for the cases that could not be judged because of it.
    """
    findings = record.about.findings
    advised = []
    failing = record.ended(*FAILING)
    for finding in findings:
        verdict = Verdict.FAIL if finding.fails else Verdict.NOT_LOOKED_AT
        again = [finding.again] if finding.again else finding.cases[:1]
        text, command = f"{finding.says} {finding.todo}", record.about.reproduce(*again)
        own = sorted((case for case in failing if case.exchanges), key=lambda case: case.name not in finding.cases)
        shown = own[0] if own and (finding.root is Root.PLAIN_CALL or own[0].name in finding.cases) else None
        unseen = len({case.name for case in record.ended(*UNSEEN)} & {*finding.cases})
        advised.append(Todo(verdict, text, finding.cases, (), finding.root, shown, command=command, unseen=unseen))
    explained = {name for finding in findings for name in finding.cases}
    advice: dict[str, list[tuple[CaseRecord, Miss]]] = {}
    for case in to_look_at(record):
        if case.verdict is Verdict.NOTE or case.name in explained:
            continue
        misses = [miss for miss in case.misses if not miss.noted]
        if not case.misses:
            misses = [Miss("", "", case.why or case.verdict.meaning, case.rule)]
        for miss in misses:
            advice.setdefault(miss.todo, []).append((case, miss))
    for text, sources in advice.items():
        root = min((miss.root for _case, miss in sources), key=list(Root).index)
        # of the cases that show it the first that does not wait for long, because a reader will run it again
        nearest = (source for source in sources if source[1].root is root)
        case, miss = min(nearest, key=lambda source: source[0].seconds > 5)
        names = [case.name for case, _miss in sources]
        rules = [miss.rule for _case, miss in sources if miss.rule]
        unique = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(rules))
        if root is Root.CONCURRENCY and len(unique[0]) < 3:  # one that mixes up calls fails many cases (assumed)
            root = Root.FOLLOWS
        verdict = min((_verdict_of(miss, case) for case, miss in sources), key=attrgetter("gravity"))
        advised.append(Todo(verdict, text, *unique, root, case, miss, case.reproduce))
    return sorted(
        advised,
        key=lambda todo: (
            todo.verdict in UNSEEN and todo.root is Root.CASE,  # what is not there explains nothing
            list(Root).index(todo.root),
            todo.verdict.gravity,
            -len(todo.cases),
        ),
    )


def _verdict_of(miss: Miss, case: CaseRecord) -> Verdict:
    """The verdict on one miss of a case: a harmless one may stand beside a grave one."""
    known = (miss.rule or case.rule) in {rule.id for rule in rules()}
    return miss.verdict(case.rule) if case.verdict is Verdict.FAIL and case.misses and known else case.verdict


@dataclass(frozen=True, slots=True)
class HalfExchange:
    """A request, its answer, or both at once.

    Attributes:
        at: seconds since the case began.
        exchange: the exchange that it belongs to.
        asks: it shows the request.
        answers: it shows the answer.
    """

    at: float
    exchange: ReportedExchange
    asks: bool
    answers: bool


def steps_by_app(exchanges: Iterable[ReportedExchange]) -> dict[str, list[HalfExchange]]:
    """Both sides in the order of time for each app that called; without a name where there is one app."""
    apps: dict[str, list[HalfExchange]] = {}
    for exchange in exchanges:
        steps = apps.setdefault(exchange.platform, [])
        if exchange.side == PHONE and exchange.ended is not None:
            steps.append(HalfExchange(exchange.at, exchange, asks=True, answers=False))
            steps.append(HalfExchange(exchange.ended, exchange, asks=False, answers=True))
        else:
            steps.append(HalfExchange(exchange.at, exchange, asks=True, answers=True))
    return {name if len(apps) > 1 else "": sorted(steps, key=attrgetter("at")) for name, steps in apps.items()}


def first_lines(record: RunRecord) -> Iterator[str]:
    """What to do first, for a terminal: each advice with its cases, one example, and how to run that again."""
    advice = todos(record)
    for number, todo in enumerate(advice[:ADVICE_SHOWN], 1):
        cases = f", {todo.count}" if todo.count else ""
        yield f"{number}. {todo.verdict.mark} {todo.verdict}{cases}: {clean(todo.text, 600)}"
        if todo.shown is not None and todo.miss is not None and todo.miss.expected:
            name, expected, observed = map(clean, (todo.shown.name, todo.miss.expected, todo.miss.observed))
            yield f"   {name}: expected {expected}, observed {observed}"
        if todo.command:
            yield f"   {clean(todo.command, 600)}"
    if len(advice) > ADVICE_SHOWN:
        yield f"   … and {len(advice) - ADVICE_SHOWN} more; see conform.html"


# A body as it may be shown: its shape as JSON. Words in the place of each value say which one it is and how long.


# Said of a value that the back end sends, and did not get.
FOREIGN = ": ✗ not what it was given"


class Values:
    """Shows bodies in the order of time, and gives equal values of one case the same letter and colour.

    Args:
        case: whose bodies they are. Where all of both its sides is there, and a message hands on no value that phone or
            API gave before, its longest value is named as such.
    """

    def __init__(self, case: CaseRecord | None = None) -> None:
        self._letters: dict[str, str] = {}
        self._given = set[str]()
        self._foreign: object = None
        exchanges = case.exchanges if case is not None and not case.left_out else ()
        self._relays = len({exchange.side for exchange in exchanges}) > 1

    def text(self, body: Any, *, handed_on: bool = False) -> str:
        """A body as JSON, with words in the place of its values."""
        return "".join(text for text, _class in self.pieces(body, handed_on=handed_on))

    def pieces(self, body: Any, *, handed_on: bool = False) -> Iterator[tuple[str, str]]:
        """The same in pieces, each with the class that colours it; empty where it stands for no value.

        Args:
            body: of a message.
            handed_on: the back end sent it, and not to say that it failed.
        """
        values, self._foreign = [*_values_in(body)], None
        digests = {str(value.get("digest")) for value in values}  # a report may hold anything in their place
        if not handed_on:
            self._given |= digests
        elif self._relays and values and not self._given & digests:
            self._foreign = max(values, key=itemgetter("length"))
        text = json.dumps(self._name_values(body), ensure_ascii=False)
        for number, piece in enumerate(re.split('"(⟨[^"]*⟩)"(?!:)', text)):
            letter = ord(piece[7]) if number % 2 and piece.startswith("⟨value ") else 0
            yield piece, ("foreign" if FOREIGN in piece else f"v{letter % 6}") if number % 2 else ""

    def _name_values(self, body: Any) -> Any:
        match body:
            case dict() if next(_values_in(body), None) is body:
                told = FOREIGN if body is self._foreign else ""
                return f"⟨{self._name(body)}, {body['length']} characters{told}⟩"
            case dict():
                return {key: self._name_values(value) for key, value in body.items()}
            case list():
                return [self._name_values(value) for value in body]
            case _:
                return body

    def _name(self, value: Mapping[Any, Any]) -> str:
        """Which value it is, and what the simulator says of it."""
        name = "spoilt"
        digest = value.get("digest")  # simulated data that was changed has no digest
        if isinstance(digest, str):
            round_, place = divmod(len(self._letters), len(ascii_uppercase))
            name = "value " + self._letters.setdefault(digest, f"{ascii_uppercase[place]}{round_ or ''}")
        if not value.get("simulated"):
            return name
        kinds = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}
        serial = f" #{value['serial']}" if "serial" in value else ""
        return f"{name}: simulated {kinds.get(str(value.get('kind')), 'data')}{serial}"


def _values_in(body: Any) -> Iterator[Mapping[str, Any]]:
    """What stands in a body for a value."""
    match body:
        case {"length": int(), **more} if "digest" in more or more.get("simulated") is True:
            yield body
        case dict():
            yield from chain.from_iterable(map(_values_in, body.values()))
        case list():
            yield from chain.from_iterable(map(_values_in, body))


# While cases run: in a terminal exported values and a bar, in a notebook a bar below the cell.


class RunProgress:
    """Receives what happens in a run, and shows nothing of it but a bar, where one of the classes below made it."""

    _bar: Any = None

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """The values that a person has to configure; empty where the workbook configures the back end."""

    def say(self, line: str) -> None:
        """A line to read."""

    def begin(self, total: int) -> None:
        """`total` results will come."""

    def ended(self, result: CaseResult) -> None:  # noqa: ARG002  # a bar only counts
        """A case has ended."""
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        """Nothing more comes: take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Terminal(RunProgress):
    """Shows a bar where stderr is a terminal, and everywhere a line for each case that needs a look.

    Args:
        values: exported values go to stdout; False where stdout is for a report.
    """

    def __init__(self, *, values: bool = True) -> None:
        self._values = sys.stdout if values else sys.stderr
        self._reasons = Counter[str]()
        self._is_terminal = sys.stderr.isatty()

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """Print them on stdout, ready for a shell or a file of settings."""
        lines = [f"{name}={value}" for name, value in values.items()] or [f"The API's side listens at {url}"]
        say("\n".join(lines), self._values)

    def say(self, line: str) -> None:
        """Print it on stderr."""
        if self._bar is not None:
            self._bar.clear()
        say(line, sys.stderr)

    def begin(self, total: int) -> None:
        """Start the bar."""
        if self._is_terminal:
            from tqdm import tqdm  # slow to import, and only a terminal shows it

            self._bar = tqdm(total=total, unit="case", leave=False)

    def ended(self, result: CaseResult) -> None:
        """Advance the bar, and print a line where there is something to read.

        A pass needs none: a reader of a build's log looks for failures. Of the cases of which nothing was seen, each
        reason has one line.
        """
        repeats = result.verdict in UNSEEN and result.why in self._reasons
        self._reasons[result.why] += repeats
        if result.verdict not in SETTLED and not repeats:
            words = [f"{result.verdict:<14} {result.case.name}"]
            if result.misses:
                words.append(f"expected {result.misses[0].expected}, observed {result.misses[0].observed}")
            elif result.why:
                words.append(result.why)
            self.say(": ".join(words))
        super().ended(result)

    def close(self) -> None:
        """Say how many cases had no line, because their reason has one, and take the bar away."""
        super().close()
        for why, more in self._reasons.items():
            if more:
                self.say(f"and {_cases(more)} more: {clean(why, 80)}")
        self._reasons.clear()


class Cell(RunProgress):
    """Shows a bar below the cell of a notebook. It is gone when the cell has ended, and only its sentence is stored."""

    def begin(self, total: int) -> None:
        """Start the bar, where there is enough to wait for."""
        if total < 100:  # fewer cases take only a few seconds
            return
        from IPython.display import display  # only a notebook displays
        from tqdm.notebook import tqdm

        self._bar = tqdm(total=total, unit="case", leave=False, display=False)
        stored = {"text/plain": f"A bar showed the progress of {total} cases."}
        display(self._bar.container._repr_mimebundle_() | stored, raw=True)  # type: ignore[no-untyped-call]


def cell_progress() -> RunProgress | None:
    """The progress below the cell of a notebook that runs this; None outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else Cell()
