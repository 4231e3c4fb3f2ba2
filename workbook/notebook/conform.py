"""Your own code judged in a notebook: `wb.conform` judges a back end or an app, `wb.project` the files of a project."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from workbook.base.files import sample
from workbook.base.forms import read_toml
from workbook.base.values import lookup, of_type, quoted
from workbook.errors import ParameterError
from workbook.harness.compare import CaseChange, compare
from workbook.harness.model import CaseResult, ReportedExchange, ReportedMessage
from workbook.harness.progress import RunProgress
from workbook.harness.report import (
    PHONE,
    CaseRecord,
    RunRecord,
    Values,
    by_group,
    counts,
    headline,
    timeless,
    to_look_at,
    todos,
)
from workbook.harness.reports import to_html, write_reports
from workbook.harness.results import of_record
from workbook.harness.sarif import LEVELS
from workbook.harness.selection import Baseline, chosen
from workbook.preflight.gradle import read_build
from workbook.preflight.judges import PREFLIGHT_CASES
from workbook.preflight.project import read_project
from workbook.preflight.run import Preflight, finding_lines, preflight
from workbook.preflight.signing import allowlist_request, read_certificates
from workbook.relay import session
from workbook.relay.api_side import MockApi
from workbook.relay.cases import CASES
from workbook.relay.config import CONFIG_EXAMPLE, Api, Config, Exports, load_config
from workbook.relay.model import PLATFORMS, SURFACE, Cardholder, Need, RelayCase, Target
from workbook.relay.session import RunOptions, exported, surroundings
from workbook.views.html import View
from workbook.views.table import Snapshot, Stack, Table, facts, statement, table

# The reference relay of the sample files, or a class derived from it, runs in this process. Every limit is shorter than
# the real one, so that a lesson does not wait: the relay gives up after 1.5 s instead of 8, the wallet after 3.5 s
# instead of 20.

RELAY_CARDS = tuple(f"PIRELAY{number:018d}" for number in range(1, 29))
# Ids that a careless back end changes on their way: by their case, as numbers, by escaping.
ODD_CARDS = ("pirelay-in-small-letters", "000123456789012345", "PI RELAY:7+%")
# The cards of each session.
RELAY_SESSIONS = {"session-of-ann-7d1f": [*RELAY_CARDS[:26], *ODD_CARDS], "session-of-bob-93c2": list(RELAY_CARDS[26:])}

_spec: Any = spec_from_file_location("workbook_sample_reference", sample("back_ends/reference.py"))
_reference = module_from_spec(_spec)
sys.modules[_spec.name] = _reference
_spec.loader.exec_module(_reference)
# The relay worth copying. A derived class can break it, or mend what is broken.
Relay: Any = _reference.Relay
# What its operations raise: a status, and a sentence for the app.
Refused: Any = _reference.Refused


def judge(kind: Any = Relay, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> RunRecord:
    """Run a relay of this class, and cases against it.

    Args:
        kind: a class with the constructor of the reference relay.
        only: names, groups and globs of cases; all by default.
        seed: of all generated data.
        known: known failures: the name of each case with a comment.

    Raises:
        ParameterError: `kind` is no class of a relay, or a pattern fits no case.
    """
    if not (isinstance(kind, type) and issubclass(kind, Relay)):
        raise ParameterError(f"{kind!r:.60} is no relay. Give a class: class Mine(Relay): ...")
    options = RunOptions(chosen(CASES, only), baseline=Baseline.of(known), only=only)
    with TemporaryDirectory(prefix="workbook-relay-") as folder, mock_api(options.cases, seed=seed) as api:
        log = Path(folder) / "relay.log"
        with relay_running(kind, api, log) as address:
            config = Config(target(address, log, tls=api.ca_file is not None), Api(seed=seed))
            record = session.conform(config, options, api=api, progress=cell_progress())
    about = replace(record.about, target=kind.__name__, base_url="in this process")  # the address is gone already
    return replace(record, about=about)


def mock_api(cases: Iterable[RelayCase], *, key: str | None = None, seed: int = 7) -> MockApi:
    """The API for these cases, with a certificate where one of them is about that."""
    tls = any(Need.API_TLS in case.needs for case in cases)
    return MockApi((*RELAY_CARDS, *ODD_CARDS), key=key, seed=seed, tls=tls)


@contextmanager
def relay_running(kind: Any, api: MockApi, log: Path, *, handler: Any = None, deadline: float = 1.5) -> Iterator[str]:
    """The address of a relay that runs in this process for the block.

    Args:
        kind: its class.
        api: the API that it asks.
        log: the only file that its log is written to.
        handler: the HTTP in front of it; the reference's by default.
        deadline: of the relay for a whole call, in seconds.
    """
    logger, file = logging.getLogger("relay"), logging.FileHandler(log)
    with ExitStack() as undo:
        undo.callback(file.close)
        undo.callback(setattr, logger, "propagate", logger.propagate)
        undo.callback(logger.setLevel, logger.level)
        undo.callback(logger.removeHandler, file)
        logger.addHandler(file)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        with exported(surroundings(api, proxy=True) | Exports().values(api.url, api.key, api.ca_file)):
            relay = kind(api.url, api.key, RELAY_SESSIONS, deadline=deadline)
        undo.callback(relay.api.close)
        server = _reference.serve(relay, handler=handler or _reference.Handler)
        undo.callback(server.socket.close)
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        undo.callback(thread.join)
        undo.callback(server.shutdown)
        yield f"http://127.0.0.1:{server.server_port}"


def target(address: str, log: Path, *, tls: bool = False) -> Target:
    """The configuration of such a relay. A `back-end.toml` would say the same."""
    cardholders = tuple(
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in RELAY_SESSIONS.items()
    )
    return Target(address, dict.fromkeys(PLATFORMS, SURFACE), cardholders, 3.5, (log,), api_tls=tls, proxied=True)


# A record in a notebook: how the run ended, what to do first, one case with both sides, and what changed since.
#
# Views leave out times, addresses and headers, which differ on every run; `conform.html` has them.


def case_view(case: CaseRecord) -> Stack:
    """What the case expected, what it observed, and both sides in the order of time, with a table for each app."""
    lines = [("the case", case.says), (f"{case.rule.id} ({case.rule.level})", case.rule.text)]
    who = f"for {case.owner.in_a_sentence}"
    for miss in case.misses:
        lines += [("expected", miss.expected), ("observed", timeless(miss.observed)), (who, miss.todo)]
        lines += [("read more", miss.see)] if miss.see else []
    if not case.misses:
        lines.append(("so", case.why or case.verdict.meaning))
    views = [facts(f"{case.verdict.mark} {case.verdict}  {case.name}", lines)]
    values, apps = Values(), dict.fromkeys(exchange.platform for exchange in case.exchanges)
    for app in apps:
        with_app = f" with the app of {app}" if len(apps) > 1 else ""
        exchanges = [exchange for exchange in case.exchanges if exchange.platform == app]
        title = f"Both sides{with_app}, in the order of time"
        views.append(table(title, ("from", "to", "what"), _rows(exchanges, values)))
    return Stack(tuple(views))


def case_table(*patterns: str) -> Table:
    """The cases that these names, groups or globs select; all cases without any.

    Raises:
        ParameterError: a pattern selects no case.
    """
    rows = ((case.name, f"{case.rule} ({case.rests_on.level})", case.says) for case in chosen(CASES, patterns))
    return table("What is asked", ("case", "rule", "in a sentence"), rows)


def _first_rows(title: str, head: Iterable[str], rows: Sequence[tuple[object, ...]]) -> list[Table]:
    """A table of 20 rows at most, because `conform.html` has them all; none without rows."""
    number = f" (20 of {len(rows)})" if len(rows) > 20 else ""
    return [table(f"{title}{number}", head, rows[:20])] if rows else []


def _missed(case: CaseRecord) -> str:
    """What was expected and what was observed first."""
    if not case.misses:
        return case.why or case.verdict.meaning
    first, *more = case.misses
    return f"{first.expected}; {timeless(first.observed)}{f' (and {len(more)} more)' if more else ''}"


def _rows(exchanges: list[ReportedExchange], values: Values) -> list[tuple[str, str, str]]:
    """Each request and each answer: from whom, to whom, and what; equal values have one letter."""

    def body(message: ReportedMessage | None) -> str:
        return f" {values.text(message.body)}" if message is not None and message.body is not None else ""

    steps: list[tuple[float, ReportedExchange, bool]] = []
    for exchange in exchanges:
        ended = exchange.at if exchange.ended is None else exchange.ended
        steps += [(exchange.at, exchange, True), (ended, exchange, False)]
    rows = []
    for _moment, exchange, asks in sorted(steps, key=lambda step: step[0]):
        near, far = ("phone", "back end") if exchange.side == PHONE else ("back end", "API")
        if asks:
            rows.append((near, f"→ {far}", f"{exchange.method} {exchange.path}{body(exchange.request)}"))
        else:
            status = "no answer" if exchange.status is None else f"{exchange.status}{body(exchange.answer)}"
            rows.append((far, f"→ {near}", f"{status} ({exchange.ending})" if exchange.ending else status))
    return rows


class Result(View):
    """The result of judging a back end or an app.

    Attributes:
        record: everything that the reports are made of.
        note: a sentence about where the record comes from; empty where it was just made.
    """

    next_steps = (
        'Next: result.failed, .case(NAME), .changes(OTHER), .write(FOLDER), .exit_code; wb.show(result, "report").'
    )

    def __init__(self, record: RunRecord, note: str = "") -> None:
        self.record = record
        self.note = note

    @property
    def exit_code(self) -> int:
        """The exit code of `workbook conform`: 0 when all is well; see `report`."""
        return self.record.about.exit_code

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the cases to judge again; see `to_rerun`."""
        return tuple(self.record.to_rerun)

    def __len__(self) -> int:
        return len(self.record.cases)

    def case(self, name: str) -> View:
        """One case: what was expected, what was observed, and the messages on both sides of the back end.

        Raises:
            ParameterError: the run has no such case.
        """
        return case_view(self._case(name))

    def verdict(self, name: str) -> str:
        """The verdict of one case, such as `pass` or `fail`.

        Raises:
            ParameterError: the run has no such case.
        """
        return str(self._case(name).verdict)

    def changes(self, later: Result) -> Table:
        """What a later run has mended, broken, or left as it was; cases that it left out are only counted."""
        comparison = compare(of_record(self.record), of_record(later.record))
        changed = (case for case in comparison.changed if case.change is not CaseChange.NOT_RUN)
        rows = ((case.change, case.name, case.verdicts) for case in changed)
        return table(comparison.headline, ("change", "case", "verdict"), rows)

    @property
    def report(self) -> str:
        """The page `conform.html`: every case with both sides of the back end.

        Raises:
            LeakError: it would hold a secret.
        """
        page = to_html(self.record)
        self.record.secrets.check({"conform.html": page})
        return page

    def write(self, folder: str | Path) -> list[Path]:
        """Write `conform.json`, `.html`, `.xml` and `.md` into a folder, all of them or none."""
        return write_reports(self.record, Path(folder))

    def shown(self) -> View:
        """How it ended, what to do first, and every case that did not pass."""
        record, about = self.record, self.record.about
        sentences = (self.note, headline(record), about.trouble, *about.stale)
        views: list[View] = [statement(sentence) for sentence in sentences if sentence]
        if verdicts := counts(record):
            head = ("group", *(f"{verdict.mark} {verdict}" for verdict, _count in verdicts))
            views.append(table("By group", head, ((group, *(n or "" for n in row)) for group, row in by_group(record))))
        advice = [(todo.verdict.mark, todo.verdict, len(todo.cases), todo.text) for todo in todos(record)]
        views += _first_rows("What to do first", ("", "verdict", "cases", "what"), advice)
        unsettled = to_look_at(record)
        missed = [(one.name, f"{one.verdict.mark} {one.verdict}", one.rule.id, _missed(one)) for one in unsettled]
        views += _first_rows("What did not hold", ("case", "verdict", "rule", "expected; observed"), missed)
        return Stack(tuple(views))

    def text(self) -> str:
        """What is shown, and what can be done next."""
        return f"{self.shown().text()}\n{self.next_steps}"

    def html(self) -> str:
        """What is shown, as HTML."""
        return self.shown().html()

    def _case(self, name: str) -> CaseRecord:
        return lookup("case", name, {case.name: case for case in self.record.cases})


class Cell(RunProgress):
    """Shows a bar below the cell of a notebook. It is gone when the cell has ended, and only its sentence is stored."""

    view: Any = None

    def begin(self, total: int) -> None:
        """Start the bar, where there is enough to wait for."""
        if total < 100:  # fewer cases take only a few seconds
            return
        import ipywidgets  # of the extra [lab]
        from IPython.display import display  # only a notebook displays

        self.total, self.bar = total, ipywidgets.IntProgress(max=total)
        self.label = ipywidgets.Label(f"0 of {total} cases")
        self.view = ipywidgets.HBox([self.bar, self.label])
        view: dict[str, Any] = self.view._repr_mimebundle_()
        stored = {"text/plain": f"A bar showed the progress of {total} cases."}
        display(view | stored, raw=True)  # type: ignore[no-untyped-call]

    def ended(self, result: CaseResult) -> None:  # noqa: ARG002  # the bar only counts
        """Advance the bar."""
        if self.view is not None:
            self.bar.value += 1
            self.label.value = f"{self.bar.value} of {self.total} cases"

    def close(self) -> None:
        """Take the bar away."""
        if self.view is not None:
            self.view.close()


def cell_progress() -> RunProgress | None:
    """The progress below the cell of a notebook that runs this; None outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else Cell()


def conform(what: Any = Relay, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> Result:
    """Judge a back end between a simulated phone and a simulated API, or an app on a simulated phone, case by case.

    Args:
        what: a class of a relay, run in this process; the path of a `back-end.toml`, which says where yours is; or the
            path of an `app.toml`, which says how your app is started or compiled.
        only: names, groups and globs of cases; none means all.
        seed: of everything that the run makes up.
        known: known failures: the name of each case with a comment.

    Returns:
        The result: it shows itself, and has `failed`, `case`, `changes`, `write` and `exit_code`.

    Raises:
        ParameterError: `what` is neither a relay's class nor a file, or a pattern matches no case.
        ConfigurationError: the file has mistakes; each is named.

    Example:
        >>> import workbook as wb
        >>> wb.conform(wb.Relay, "relay.get.path").exit_code
        0
    """
    if isinstance(what, str | Path) and "name" in read_toml(Path(what), CONFIG_EXAMPLE):  # only an app's file has one
        from workbook.app.run import judge_app  # its cases are loaded only for an app

        return Result(*judge_app(Path(what), only, cell_progress(), seed=seed, known=known))
    if isinstance(what, str | Path):
        options = RunOptions(chosen(CASES, only), baseline=Baseline.of(known), only=only)
        return Result(session.conform(load_config(Path(what)), options, progress=cell_progress()))
    return Result(judge(what, *only, seed=seed, known=known))


# `preflight` in a notebook, as `wb.project`: judges a project's folder, or files that are only in memory.


class ProjectResult(Result):
    """What judging a project's files came to; each finding has its place, its rule and whose job it is.

    Attributes:
        folder: where the files are; None where they were only in memory.
        variants: the name of each build variant of platform A, and its application id.
        record: everything that the reports are made of.
    """

    next_steps = "Next: result.failed, .files, .changes(OTHER), .write(FOLDER), .exit_code."

    def __init__(self, record: RunRecord, variants: Iterable[tuple[str, str]], folder: Path | None = None) -> None:
        super().__init__(record)
        self.variants = tuple(variants)
        self.folder = folder

    @property
    def files(self) -> dict[str, str]:
        """The texts of the project's files by their names, to change and judge again; empty without a folder."""
        return texts_of(self.folder) if self.folder else {}

    def allowlist_request(self, *signing: str | Path, machine: str = "") -> Table:
        """The values to send for allowlisting: a row for each build variant and each certificate that may sign it.

        Args:
            signing: signing reports, certificates, keystores or signed packages.
            machine: whose certificates these are.

        Raises:
            ConfigurationError: a file cannot be read, or holds no fingerprint.
        """
        certificates = [one for path in signing for one in read_certificates(Path(path), "", machine)]
        head = ("application id", "SHA-256", "variant", "signed on")
        rows = (
            (row["applicationId"], row["sha256"], row["variant"], row["machine"])
            for row in allowlist_request(self.variants, certificates)
        )
        return table("Please allowlist with the wallet provider (A-ALLOW-1)", head, rows)

    def shown(self) -> View:
        """Each finding, and how it ended: lines as text, a table as HTML."""
        about = self.record.about
        end = [*about.stale, *filter(None, [about.trouble]), headline(self.record)]
        rows = [
            (one.place, case.verdict, one.rule, f"expected {one.expected}, observed {one.observed}", one.todo, one.see)
            for case in self.record.cases
            if case.verdict in LEVELS
            for one in case.misses
        ]
        head = ("where", "verdict", "rule", "what", "what to do", "more")
        found = [table("What was found", head, rows)] if rows else []
        views = Stack((*found, *map(statement, end)))
        return Snapshot("\n".join([*finding_lines(self.record), *end]), views.html())


def project(
    files: str | Path | Mapping[str, str],
    *only: str,
    signing: Iterable[str | Path] = (),
    sent: str | Path | None = None,
    repository: str | Path | None = None,
    known: Mapping[str, str] | None = None,
) -> ProjectResult:
    """Judge a mobile project's files before they are built, as `workbook preflight` does; nothing is changed.

    Args:
        files: the project's folder; or the texts of its files by their names, such as `{"App/Info.plist": "..."}`.
        only: names, groups and globs of cases; none means all.
        signing: signing reports, certificates, keystores or signed packages.
        sent: the request that was sent for allowlisting, as JSON.
        repository: the local repository with the private library.
        known: known failures: the name of each case with a comment.

    Returns:
        The result: it shows itself, and has `failed`, `files`, `changes`, `allowlist_request`,
        `write` and `exit_code`.

    Raises:
        ParameterError: there is no such folder, or a pattern matches no case.
        ConfigurationError: a file that is named cannot be read.

    Example:
        >>> import workbook as wb
        >>> wb.project(wb.sample("projects/platform_b")).failed
        ()
    """
    of_type("files", files, str | Path | Mapping, "the project's folder, or the texts of its files by their names")
    with _folder(files) as folder:
        run = Preflight(
            (folder,),
            cases=chosen(PREFLIGHT_CASES, only),
            signing=tuple(map(Path, signing)),
            sent=None if sent is None else Path(sent),
            repository=None if repository is None else Path(repository),
            baseline=Baseline.of(known),
            only=only,
        )
        record = preflight(run)
        apps = read_build(read_project([folder])).apps
        variants = [(one.name, one.application_id) for module in apps for one in module.variants()]
    about = replace(record.about, target="the project")
    return ProjectResult(
        replace(record, about=about), variants, None if isinstance(files, Mapping) else Path(files).expanduser()
    )


@contextmanager
def _folder(files: str | Path | Mapping[str, str]) -> Iterator[Path]:
    """The folder itself, or a new one that holds these files for the block."""
    if not isinstance(files, Mapping):
        yield Path(files).expanduser()
        return
    with TemporaryDirectory(prefix="workbook-project-") as name:
        for file, text in files.items():
            path = PurePosixPath(file) if isinstance(file, str) else PurePosixPath("/")
            if path.is_absolute() or ".." in path.parts or not path.parts or not isinstance(text, str):
                raise ParameterError(f"Give each file by a name below the project, not {quoted(file)}.")
            target = Path(name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        yield Path(name)


def texts_of(folder: Path) -> dict[str, str]:
    """The texts of a project's files by their names, as `project` takes them."""
    return {file.name: file.text for file in read_project([folder]).files}
