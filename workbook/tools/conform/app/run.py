"""`workbook conform app`: drives an app through the cases, and judges what phone and back end saw.

The app runs in a process of the integrator's own, started by a command or by a person. Its test calls `conform(...)` of
the stand-in, which asks here what to do next; the workbook plays the cardholder, the SDK, the wallet and the back end.
Verdicts, baseline, reports and exit codes are those of `workbook conform`.
"""

import asyncio
import json
import secrets
import shlex
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Protocol
from urllib.parse import urlsplit

from pydantic import Field

from workbook.base.forms import Form, Mistakes, Says, Text, Texts, read_form, read_toml
from workbook.base.secrecy import Secrets
from workbook.errors import WorkbookError
from workbook.flows import messages as m
from workbook.flows.variants import A_FROM_0_4_0, variant_a
from workbook.play.own_code import exception_words, own_line, run_to_end
from workbook.simulation.http import Ending, Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import cases as c
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.cases import AppCase, AppSeen
from workbook.tools.conform.app.compiling import command, compiled, files_of, missing
from workbook.tools.conform.app.device import Device, DeviceA, PhoneReply
from workbook.tools.conform.app.phone import JSON_ESCAPES, Client, PhoneServer, PlayedBackEnd
from workbook.tools.conform.back_end.config import BackEndStart, GetForm, PostForm
from workbook.tools.conform.back_end.model import SURFACE, BackEndOperation, PhoneCall, Seen, Surface
from workbook.tools.harness.command import StartCommand, Stopping
from workbook.tools.harness.logs import LogLine, Logs
from workbook.tools.harness.model import CaseResult, Miss, Verdict, gravest
from workbook.tools.harness.progress import RunProgress
from workbook.tools.harness.report import About, RunRecord, conclude, read_report
from workbook.tools.harness.selection import Baseline, Options, choose_cases

# What the app's process calls itself.
NAME = "app"
# Seconds that an action may take; a machine may be busy with other things (assumed).
PATIENCE = 20.0
# Seconds until the app's process has to ask what to do: a build may come first.
START = 120.0


@dataclass(frozen=True, slots=True)
class Tempo:
    """How long to wait for an app, in seconds (all assumed).

    Attributes:
        looks: between two looks at the page.
        quiet: a page that has not changed for so long has settled.
        starting: the same while the last action has had no effect yet: a cold process is slow to begin.
        closing: a page that has waited for so long is taken to wait for ever, and an app that for so long has not used
            what it got is taken to be done.
        restless: a page that has not settled after so long is left as it is.
    """

    looks: float = 0.015
    quiet: float = 0.07
    starting: float = 1.0
    closing: float = 2.0
    restless: float = 5.0


TEMPO = Tempo()


class NoAnswerError(WorkbookError):
    """The app's process did not do what it was asked for in time, or it ended."""


@dataclass
class PlayedCardholder:
    """Hands one action after another to the app's process, and takes back the result.

    Attributes:
        client: the app.
        ended: how the app's process ended, in words; empty while it runs.
        on_slow: called with an action that was not answered for 3 s.
    """

    client: Client
    ended: Callable[[], str] = lambda: ""
    on_slow: Callable[[str], None] = lambda _what: None
    _turns: Iterator[int] = field(default_factory=lambda: count(1))
    _next: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    _done: dict[int, asyncio.Future[p.Next]] = field(default_factory=dict)

    async def on_next(self, call: p.Next) -> dict[str, Any]:
        """The app's process has done something, and asks what comes next."""
        if (waiting := self._done.pop(call.turn, None)) is not None and not waiting.done():
            waiting.set_result(call)
        return await self._next.get()

    async def does(self, what: str, **fields: str) -> p.Next:
        """Have the app do this.

        Raises:
            NoAnswerError: it did not return in time, or the app's process ended.
        """
        turn = next(self._turns)
        done: asyncio.Future[p.Next] = asyncio.get_running_loop().create_future()
        self._done[turn] = done
        self._next.put_nowait({"do": what, "turn": turn} | fields)
        until, waits = monotonic() + PATIENCE, count(1)
        while not done.done() and monotonic() < until and not self.ended():
            await asyncio.wait([done], timeout=0.2)
            if next(waits) == 15 and not done.done():  # 3 s, in waits: while a busy machine stands still, none ends
                self.on_slow(what)
        if done.done():
            return done.result()
        if self.ended():
            raise NoAnswerError(f"{what} did not return: the app's process ended.")
        what += f" did not return within {PATIENCE:g} s. It must start the action and return at once."
        raise NoAnswerError(what)

    def end(self) -> None:
        """Tell the app's process that all cases are over."""
        self._next.put_nowait({"do": "end", "turn": 0})


class Driver(Protocol):
    """What makes the app act: an app in its own process, over the protocol, or an exercise's app core in this one."""

    async def does(self, what: str, **fields: str) -> p.Next:
        """Have the app do this."""
        ...


class AppStage:
    """Carries out one case in front of the app."""

    def __init__(self, client: Client, cardholder: Driver, url: str, session: str = "", tempo: Tempo = TEMPO) -> None:
        self._client, self._cardholder, self._url, self._tempo = client, cardholder, url, tempo
        self._before = 0
        self._seen = c.AppSeen(INSTRUMENT_IDS, {}, client.device, back_end=urlsplit(url).netloc, session=session)

    async def play(self, case: c.AppCase) -> c.AppSeen:
        """What came of the case, still without the log.

        Raises:
            NoAnswerError: the app's process hangs or is gone.
        """
        client, seen = self._client, self._seen
        await self._do("begin", backEnd=f"{self._url}{client.prefix}", session=seen.session)
        earlier = (await self._do("reports")).reports if case.asks else 0  # a counter may outlive its app
        for step in case.steps:
            await self._step(step)
        if case.asks:
            await self._do("reports")
        if seen.reports is not None:
            seen.reports -= earlier
        seen.arrivals = tuple(client.back_end.arrivals)
        return seen

    async def _step(self, step: c.AppStep) -> None:
        device, back_end = self._client.device, self._client.back_end
        match step:
            case c.Do():
                self._before = self._happened()
                card = {"card": INSTRUMENT_IDS[step.card]} if step.what == "openCardPage" else {}
                await self._do(step.what, **card)
            case c.Look():
                shown = await self._do("screen")
                self._seen.looks[step.name] = (shown.button, shown.message)
            case c.Settle():
                await self._settled()
            case c.Hold():
                held = device.held if step.where in c.ON_PHONE else back_end.held
                held[step.where] = asyncio.Event()
            case c.Reached():
                if not await self._until(lambda: bool(device.waiting[step.where]) or back_end.waiting(step.where)):
                    self._seen.unreached = self._seen.unreached or step.where
            case c.Outlast():
                await self._outlast(partial(back_end.left, step.where))
            case c.Release():
                held = device.held if step.where in c.ON_PHONE else back_end.held
                held.pop(step.where).set()
            case c.Fail():
                back_end.fail(step.operation, step.how)
            case c.Escape():
                device.output_ends, back_end.escapes = JSON_ESCAPES, True
            case c.SetPhone():
                vars(device.phone).update(step.facts)

    async def _outlast(self, left: Callable[[], bool]) -> None:
        until = monotonic() + c.WALLET_WAITS
        while not left() and await self._until(left, until - monotonic()):
            await self._settled()  # it may ask once more

    async def _do(self, what: str, **fields: str) -> p.Next:
        done = await self._cardholder.does(what, **fields)
        seen = self._seen
        seen.hosts.update(done.hosts.split())
        seen.reports = done.reports if what == "reports" and not done.threw else seen.reports
        if done.threw and what != "reports":
            seen.threw.append(f"{what}: {done.threw}")
        if done.uncaught:
            seen.threw.append(f"uncaught: {done.uncaught}")
        return done

    def let_go(self, what: str) -> None:
        """The app does not answer this action: if something that is held may be why, note it, and let the app go on."""
        device, back_end = self._client.device, self._client.back_end
        held = back_end.held | device.held
        for place in held:
            if device.waiting[place] or back_end.waiting(place):
                self._seen.blocked = self._seen.blocked or f"{what} was not answered for 3 s, while {place} was held"
            held[place].set()

    def _happened(self) -> int:
        """How much the phone and the back end have seen so far."""
        return len(self._client.device.trace) + len(self._client.back_end.arrivals)

    def _owes(self) -> bool:
        """Whether the app has to call next: it was given an sdkInput or a client that it has not used yet."""
        device, arrivals = self._client.device, self._client.back_end.arrivals
        if len(device.trace) and isinstance(device.trace[-1].message, m.CreateSuccess):
            return True
        if not arrivals or arrivals[-1].given is None or (answered := arrivals[-1].answered) is None:
            return False
        taken = device.trace.select(m.CreateCalled, m.OpcReceived)
        return not taken or device.began + taken[-1].at < answered

    async def _settled(self) -> None:
        """Wait until nothing is under way, and the page has looked the same for a while.

        A page whose button is shown or hidden rests. One whose button is disabled or absent still waits for something;
        after a long wait it is taken to wait for ever. A machine that is busy with other things is slow to answer a
        look, and gets more time for everything.
        """
        device, back_end, tempo = self._client.device, self._client.back_end, self._tempo
        before: tuple[object, ...] = ()
        since = until = monotonic()
        until += tempo.restless
        slowest = 0.0
        while (began := monotonic()) < until:
            shown = await self._do("screen")
            slowest = max(slowest, monotonic() - began)
            now = (shown.button, shown.message, self._happened())
            held = back_end.held or device.held
            rests = shown.button in (c.SHOWN, c.HIDDEN) and not self._owes()
            # a change may take five times as long to show as the slowest look takes (assumed)
            enough = max(tempo.quiet if rests else tempo.closing, 5 * slowest)
            if self._happened() == self._before:
                enough = max(enough, tempo.starting)
            if now != before or ((device.busy or back_end.busy) and not held):
                before, since = now, monotonic()
            elif monotonic() - since >= enough:
                return
            await asyncio.sleep(tempo.looks)

    async def _until(self, reached: Callable[[], bool], seconds: float | None = None) -> bool:
        until = monotonic() + (self._tempo.closing if seconds is None else seconds)
        while not reached() and monotonic() < until:  # noqa: ASYNC110 - many things end it, and none is an event
            await asyncio.sleep(self._tempo.looks)
        return reached()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRun(Options[c.AppCase]):
    """Which cases to run, and against which app.

    Attributes:
        start: starts the process that calls `conform(...)`; empty where a person starts it.
        folder: where the command runs.
        surface: the routes of the app's back end.
        seed: of everything simulated.
        session: makes the session that the app presents in a case; random by default.
        name: of the app, for the report.
        file: the configuration's path; empty where there is none.
        taken: sentences about routes that the configuration does not name.
    """

    cases: Sequence[c.AppCase] = field(default_factory=lambda: tuple(c.APP_CASES.values()))
    command: str = "workbook conform app"
    start: str = ""
    folder: Path | None = None
    surface: Surface = SURFACE
    seed: int = 7
    session: Callable[[c.AppCase], str] = lambda _case: secrets.token_urlsafe(18)
    name: str = "your app"
    file: str = ""
    taken: tuple[str, ...] = ()


# `app.toml`: how the app under test is started or compiled, and the routes of the back end that it calls.

EXAMPLE = """\
name = "our app"

[start]
command = "./gradlew test --tests ConformTest"

[get]
path = "/cards/{id}/activation-data"

[post]
path = "/cards/{id}/provision"
sdk_output = "/sdkOutput"
"""


class KotlinForm(Form):
    """`[kotlin]`: the workbook compiles the app's core itself and starts it, with no build tool."""

    sources: Annotated[Texts, Field(min_length=1), Says("a list of files and folders, each once")]
    main: Annotated[Text, Says('the class with the main function, such as "sample.AdapterKt"')]
    variant: Text = A_FROM_0_4_0.name
    libraries: Texts = Field(default_factory=list)


class AppForm(Form):
    """The whole file; only `app.toml` has `name`. Routes that are left out are those of the sample back ends."""

    name: Text = ""
    start: BackEndStart = BackEndStart()
    kotlin: KotlinForm | None = None
    get: GetForm = GetForm()
    post: PostForm = PostForm()


def load_app(path: Path) -> tuple[AppForm, Surface]:
    """The file, and the routes in it.

    Raises:
        BadConfigurationError: the file has mistakes; the error holds each with its label.
    """
    mistakes = Mistakes()
    form = read_form(AppForm, read_toml(path, EXAMPLE), mistakes)
    if not form.name:
        mistakes.add(("name",), 'it is missing; write name = "our app" at the top of the file.')
    surface = Surface(_route("get", SURFACE.get, form.get, mistakes),
                      _route("post", SURFACE.post, form.post, mistakes))  # fmt: skip
    if form.kotlin is not None and form.start.command:
        mistakes.add(("kotlin", ""), "[start] has a command already. Keep one of the two.")
    mistakes.raise_for(path.name)
    return form, surface


def started_by(form: AppForm, folder: Path) -> str:
    """The command that starts the app; empty where a person starts it. With `[kotlin]` the app is compiled first.

    Raises:
        ConfigurationError: the extra is not installed, a file is missing, or the code does not compile.
    """
    if (kotlin := form.kotlin) is None:
        return form.start.command
    libraries = [folder / name for name in kotlin.libraries]
    classes = compiled(files_of(kotlin.sources, folder), variant_a(kotlin.variant).name, libraries)
    return command(classes, kotlin.main, libraries=libraries)


def _route(name: str, usual: BackEndOperation, given: GetForm, mistakes: Mistakes) -> BackEndOperation:
    fields = {key: getattr(usual, key) for key in ("method", "path", "id", "sdk_output", "sdk_input")}
    operation = BackEndOperation(**fields | given.model_dump(exclude_unset=True))
    if ("{id}" in operation.path) == bool(operation.id):
        what = "the instrument's id has one place: write {id} in the path, or give id a JSON pointer into the body."
        mistakes.add((name, ""), what)
    return operation


def of_file(path: Path, run: AppRun) -> AppRun:
    """The run with what this `app.toml` says; compiles the app where the file has `[kotlin]`.

    Raises:
        ConfigurationError: the file has mistakes, or the code does not compile.
    """
    form, surface = load_app(path)
    folder = path.absolute().parent
    return replace(
        run,
        start=started_by(form, folder),
        folder=folder / form.start.folder,
        surface=surface,
        name=form.name,
        file=str(path),
        taken=tuple(
            f"{path.name} names no path of [{name}]: {operation.path} is taken, the route of the sample back ends."
            for name, operation in (("get", surface.get), ("post", surface.post))
            if "path" not in getattr(form, name).model_fields_set
        ),
        command=shlex.join(["workbook", "conform", "app", str(path)]),
    )


def judge_app(
    path: Path,
    only: Sequence[str] = (),
    progress: RunProgress | None = None,
    *,
    seed: int = 7,
    known: Mapping[str, str] | None = None,
) -> tuple[RunRecord, str]:
    """Judge the app of an `app.toml` in a notebook: returns its record, and a sentence if that is a stored one.

    Where Kotlin cannot be compiled here, a sample's record is the one that a machine with the compiler has stored
    beside its file.

    Raises:
        ConfigurationError: the file has mistakes, the code does not compile, or Kotlin and a stored record are missing.
        ParameterError: a pattern matches no case.
    """
    cases = choose_cases(c.APP_CASES, only)
    stored = path.with_suffix(".json")
    if missing() and stored.is_file():
        record = read_report(stored)
        by_name = {case.name: case for case in record.cases}
        kept = tuple(by_name[case.name] for case in cases if case.name in by_name)
        note = f"{missing()}. This is a stored run of the sample; changes of yours in its code are not seen."
        return replace(record, cases=kept), note
    run = of_file(path, AppRun(cases=cases, only=tuple(only), seed=seed, baseline=Baseline.of(known)))
    return conform_app(run, progress), ""


def conform_app(
    run: AppRun, progress: RunProgress | None = None, port: int = 0, stopping: Stopping | None = None
) -> RunRecord:
    """Run cases against an app, and return their record, ready for `reports.write_reports`.

    Args:
        run: what to run, and which app.
        progress: shows what happens; nothing by default.
        port: where the phone listens; 0 takes any free one.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.

    Raises:
        ConfigurationError: the port is taken.
    """
    progress = progress or RunProgress()
    for sentence in run.taken:
        progress.say(sentence)
    process = _AppProcess(run, progress)
    began = monotonic()
    progress.begin(len(run.cases))
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        stopping.run(partial(process.run_cases, port))
    results = process.results
    left = run.cases[len(results) :]
    if not stopping.asked:
        for case in left:
            results.append(CaseResult(case, Verdict.NOT_TESTABLE, why=process.trouble))
            progress.ended(results[-1])
    about = partial(
        About,
        target=run.name,
        base_url="an app on platform A",
        seed=run.seed,
        config=run.file,
        interrupted=stopping.asked,
        unfinished=tuple(case.name for case in left) if stopping.asked else (),
        trouble=process.trouble,
        program="workbook conform app",
    )
    return conclude(about, began, results, c.APP_CASES, run, secrets=[process.key, *process.sessions])


class _AppProcess:
    """The process of the app, and the results of its cases so far."""

    def __init__(self, run: AppRun, progress: RunProgress) -> None:
        self._run, self._progress = run, progress
        self.results: list[CaseResult] = []
        # the SDK takes a 200th of its seconds, so that a case takes no longer than the app itself
        self._server = PhoneServer(run.surface, pace=0.005, seed=run.seed)
        self._server.on_hello = self._greet
        self._command: StartCommand | None = None
        self._logs = Logs([])
        self._cardholder: PlayedCardholder | None = None
        self._given: set[str] = set()
        self.key = self._server.key
        self.sessions: set[str] = set()
        self.trouble = ""

    def _greet(self, client: Client) -> None:
        """Play the cardholder for this app from its first call on: it asks what to do at once."""
        if client.device.client == NAME:
            self._cardholder = PlayedCardholder(client, self._ended)
            client.on_next = self._cardholder.on_next

    def _ended(self) -> str:
        return "" if self._command is None else self._command.ended

    async def run_cases(self, port: int) -> None:
        """Start the app's process, and carry out case after case."""
        async with self._server.serving(port):
            values = {"WORKBOOK_PHONE_URL": self._server.url, "WORKBOOK_PHONE_KEY": self.key}
            if not self._run.start:
                self._progress.exported(values, self._server.url)
                await self._take_cases()
                return
            clean = Secrets.of_keys({self.key}).scrub
            with StartCommand(self._run.start, self._run.folder, values, clean) as self._command:
                self._logs = Logs([self._command.output])
                self._command.start()
                await self._take_cases()

    async def _take_cases(self) -> None:
        try:
            client, cardholder = await self._wait_for_app()
        except NoAnswerError as error:
            self.trouble = str(error)
            return
        for number, case in enumerate(self._run.cases, 1):
            self.results.append(await self._judge(case, client, cardholder, number))
            self._progress.ended(self.results[-1])
            if self.trouble:
                break
        cardholder.end()
        await asyncio.sleep(TEMPO.looks)  # so that the answer leaves before the server stops

    async def _wait_for_app(self) -> tuple[Client, PlayedCardholder]:
        """The app's process, once it asks what to do."""
        until = monotonic() + START
        while monotonic() < until:
            if self._cardholder is not None:
                return self._cardholder.client, self._cardholder
            if self._ended():
                raise NoAnswerError(f"The app's process did not call conform(...). {self._ended()}")
            await asyncio.sleep(TEMPO.looks)
        raise NoAnswerError(f"No app called conform(...) within {START:g} s.")

    async def _judge(self, case: c.AppCase, client: Client, cardholder: PlayedCardholder, number: int) -> CaseResult:
        variant = client.device.variant.name
        if case.variant not in ("", variant):
            return CaseResult(case, Verdict.NOT_APPLICABLE, why=f"It is for {case.variant}; the app uses {variant}.")
        self.sessions.add(session := self._run.session(case))
        fresh = self._server.new(NAME, client.device.variant, number, session=session)
        client.device, client.back_end, client.prefix = fresh.device, fresh.back_end, fresh.prefix
        began, mark = monotonic(), self._logs.positions()
        try:
            stage = AppStage(client, cardholder, self._server.url, session)
            cardholder.on_slow = stage.let_go
            seen = await stage.play(case)
        except NoAnswerError as error:
            # An adapter does one action at a time, so an adapter that hangs in an action does no other.
            self.trouble = f"After {case.name} the app's process did nothing more. {self._ended()}".strip()
            todo = "Return from each action as soon as the app has taken it in."
            return CaseResult(case, Verdict.FAIL, (Miss("an answer", str(error), todo),))
        seen = replace(seen, log=tuple(self._logs.since(mark)), earlier=frozenset(self._given))
        self._given.update(arrival.given for arrival in seen.arrivals if arrival.given)
        if case.asks and seen.reports is None and not seen.threw:
            why = "Your adapter does not count reports: implement AppUnderTest.reports()."
            return CaseResult(case, Verdict.NOT_TESTABLE, why=why)
        if case.reads and not seen.threw and not any(text for _button, text in seen.looks.values()):
            why = "Your adapter hands over no message: return what the page says as Screen.message."
            return CaseResult(case, Verdict.NOT_LOOKED_AT, why=why)
        misses = tuple(case.judge(seen))
        verdict = gravest(misses, case.rule)
        return CaseResult(case, verdict, misses, seen=_both_sides(seen), seconds=monotonic() - began)


def _both_sides(seen: c.AppSeen) -> Seen:
    """What the reports show of a case: the requests of the app, as calls of the phone."""
    calls = [
        PhoneCall(
            number,
            arrival.operation or arrival.request.method,
            "the cardholder",
            arrival.card,
            sent=arrival.sdk_output,
            began=arrival.at,
            ended=arrival.answered or arrival.at,
            status=arrival.status,
            value=arrival.given,
            request=arrival.request,
        )
        for number, arrival in enumerate(seen.arrivals, 1)
    ]
    return Seen(tuple(calls), (), log=seen.log)


# An app core in Python, driven through cases of `workbook conform app` in this process: for exercises.
#
# Nothing is sent over a network: the core calls the phone and the back end that the cases play.


FetchOpc = Callable[[str, str], Awaitable[str]]


@dataclass
class BackEndOfApp:
    """The app's own back end; `get` and `post` return an sdkInput, or raise ConnectionError where there is none."""

    played: PlayedBackEnd

    async def get(self, card: str) -> str:
        """The sdkInput of the GET."""
        return await self._call("GET", f"/cards/{card}/activation-data", b"")

    async def post(self, card: str, sdk_output: str) -> str:
        """The sdkInput of the POST with this sdkOutput."""
        return await self._call("POST", f"/cards/{card}/provision", json.dumps({"sdkOutput": sdk_output}).encode())

    async def _call(self, method: str, path: str, body: bytes) -> str:
        answer = await self.played.respond(Request(method, path, (), body))
        usable = answer.status == 200 and answer.wire.ending is Ending.WHOLE and answer.body.startswith(b"{")
        sdk_input = json.loads(answer.body).get("sdkInput") if usable else None
        if not sdk_input:
            raise ConnectionError("the back end gave no sdkInput")
        return str(sdk_input)


@dataclass
class Sdk:
    """The part of platform A's SDK from 0.4.0 that an app core needs."""

    device: Device
    failure: str = ""
    _number: int = 0

    async def button(self, sdk_input: str) -> str:
        """`create` and `canProvision`: "shown" on CanBeProvisioned, else "hidden"."""
        created = await self._do("create", sdkInput=sdk_input)
        if created["outcome"] != "Success":
            return "hidden"
        self._number = created["provisioning"]
        return await self.asked()

    async def asked(self) -> str:
        """`canProvision` once more: "shown" on CanBeProvisioned, else "hidden"."""
        answer = await self._do("canProvision", provisioning=self._number)
        return "shown" if answer["outcome"] == "CanBeProvisioned" else "hidden"

    async def provision(self, fetch_opc: FetchOpc) -> str:
        """`provision(..., opcProvider)`: "Success" or "Failure"; then `failure` is the failure's name."""
        reply = await self._do("provisionWithProvider", provisioning=self._number, cardDisplayName="My card")
        while "ask" in reply:
            if reply["ask"] == "activity":
                reply = await self._do("activity", turn=reply["turn"], there=True)
            else:
                reply = await self._fetched(reply, fetch_opc)
        self.failure = str(reply.get("name", ""))
        return str(reply["outcome"])

    async def _fetched(self, asked: PhoneReply, fetch_opc: FetchOpc) -> PhoneReply:
        turn = asked["turn"]
        try:
            opc = await fetch_opc(asked["paymentInstrumentId"], asked["sdkOutput"])
        except asyncio.CancelledError:
            await asyncio.shield(self._do("cancelled", turn=turn))
            raise
        except Exception as error:  # noqa: BLE001  # the SDK catches what a provider throws (sdk-a)
            return await self._do("noOpc", turn=turn, threw=type(error).__name__)
        if not isinstance(opc, str):  # Kotlin would not compile it
            return await self._do("noOpc", turn=turn, threw="TypeError")
        return await self._do("opc", turn=turn, sdkInput=opc)

    async def _do(self, name: str, **fields: object) -> PhoneReply:
        """Make a call, read by the protocol as if it had arrived."""
        return await self.device.answer(p.read(name, json.dumps({"client": self.device.client, **fields}).encode()))


@dataclass
class InProcess:
    """Drives an app core of this class in front of one phone, as a cardholder would."""

    kind: Callable[..., Any]
    client: Client
    log: list[LogLine] = field(default_factory=list)
    _model: Any = None
    _work: set[asyncio.Task[Any]] = field(default_factory=set)
    _threw: str = ""

    async def does(self, what: str, **fields: str) -> p.Next:
        """Have the app core do this."""
        match what:
            case "openCardPage":
                device, back_end = self.client.device, self.client.back_end
                self._model = self.kind(fields["card"], Sdk(device), BackEndOfApp(back_end), self._print)
                self._begin(self._model.opened)
            case "tapAdd" if self._button == "shown":
                self._begin(self._model.add_tapped)
            case "closeCardPage" | "processDeath":
                self._model = None
                for task in self._work:
                    task.cancel()
                if what == "processDeath":
                    self.client.device.process_ended()
        await asyncio.sleep(0)  # what has begun runs as far as its first wait
        threw, self._threw = self._threw, ""
        client, message = self.client.device.client, getattr(self._model, "message", "")
        return p.Next(client=client, turn=0, threw=threw, button=self._button, message=message)

    @property
    def _button(self) -> str:
        return "absent" if self._model is None else str(self._model.button)

    def _print(self, text: object) -> None:
        self.log.append(LogLine("the log", len(self.log) + 1, str(text)))

    def _begin(self, function: Callable[[], Awaitable[None]]) -> None:
        async def work() -> None:
            try:
                await function()
            except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
                self._threw = f"{exception_words(error)}. {own_line(error)}".rstrip(" .")

        task = asyncio.get_running_loop().create_task(work())
        self._work.add(task)
        task.add_done_callback(self._work.discard)


def play_core(kind: Callable[..., Any], case: AppCase) -> AppSeen:
    """What one case saw with an app core of this class."""

    async def play() -> AppSeen:
        device = DeviceA("exercise", A_FROM_0_4_0, pace=0)
        # seconds; nothing crosses a network here, so nothing takes long
        tempo = Tempo(looks=0.002, quiet=0.015, starting=0.03, closing=0.15, restless=2.0)
        client = Client(device, PlayedBackEnd(SURFACE), "")
        app = InProcess(kind, client)
        seen = await AppStage(client, app, "http://127.0.0.1", tempo=tempo).play(case)
        await app.does("closeCardPage")
        return replace(seen, log=tuple(app.log))

    seen: AppSeen = run_to_end(play)
    return seen


def first_miss(kind: Callable[..., Any], cases: Iterable[AppCase]) -> tuple[AppCase, Miss, AppSeen] | None:
    """The first case that an app core of this class fails, with its first miss and what was seen."""
    for case in cases:
        seen = play_core(kind, case)
        for miss in case.judge(seen):
            return case, miss, seen
    return None


class Reference:
    """The reference app core, in Python."""

    def __init__(self, card: str, sdk: Sdk, back_end: BackEndOfApp, log: Callable[[object], None]) -> None:
        self.card, self.sdk, self.back_end, self.log = card, sdk, back_end, log
        self.button = "absent"

    async def opened(self) -> None:
        """The page opens."""
        self.button = await self.sdk.button(await self.back_end.get(self.card))

    async def add_tapped(self) -> None:
        """The cardholder taps Add."""
        self.button = "disabled"
        result = await self.sdk.provision(self.fetch_opc)
        self.button = "hidden" if result == "Success" else "shown"

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        """What the SDK calls during the tap."""
        return await self.back_end.post(card, sdk_output)
