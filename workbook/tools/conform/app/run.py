"""`workbook conform app`: drives an app through the cases, and judges what phone and back end saw.

The app runs in a process of the integrator's own, started by a command or by a person. Its test calls `conform(...)` of
the stand-in, which asks here what to do next; the workbook plays the cardholder, the SDK, the wallet and the back end.
Verdicts, baseline, reports and exit codes are those of `workbook conform`.
"""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated

import tomli_w
from pydantic import Field

from workbook.base.forms import Flag, Form, Mistakes, Says, Text, Texts, read_form, read_toml
from workbook.base.secrecy import Secrets
from workbook.errors import ParameterError
from workbook.flows.variants import A_FROM_0_4_0, B_LATER, variant_a
from workbook.tools.conform.app import cases as c
from workbook.tools.conform.app.cases import AppCase
from workbook.tools.conform.app.cases_b import APP_CASES_B
from workbook.tools.conform.app.compiling import build, command, compiled, files_of, missing, missing_swift
from workbook.tools.conform.app.device import DeviceA
from workbook.tools.conform.app.phone import Client, PhoneServer
from workbook.tools.conform.app.stage import AppRun, AppStage, NoAnswerError, PlayedCardholder, Tempo, conclude_case
from workbook.tools.conform.app.wallet import WalletRun
from workbook.tools.conform.back_end.config import BackEndStart, GetForm, PostForm
from workbook.tools.conform.back_end.model import SURFACE, BackEndOperation, Surface
from workbook.tools.harness.model import CaseResult, Miss, Verdict, choose_cases, known_failures
from workbook.tools.harness.program import Logs, StartCommand, Stopping
from workbook.tools.harness.report import About, RunRecord, conclude, read_report
from workbook.tools.harness.summary import RunProgress

CASES_OF: Mapping[str, Mapping[str, AppCase]] = {"A": c.APP_CASES, "B": APP_CASES_B}
# What the app's process calls itself.
NAME = "app"
# Seconds until the app's process has to ask what to do: a build may come first.
START = 120.0
# Processes at the same time: nearly all that a case does is wait. So many cases are worth one more.
LANES, CASES_OF_A_LANE = 4, 6


# `app.toml`: how the app under test is started or compiled, and the routes of the back end that it calls.

EXAMPLE = "`workbook conform app init` prints an example."


class KotlinForm(Form):
    """`[kotlin]`: the workbook compiles the app's core itself and starts it, with no build tool."""

    sources: Annotated[Texts, Field(min_length=1), Says("a list of files and folders, each once")]
    main: Annotated[Text, Says('the class with the main function, such as "sample.AdapterKt"')]
    variant: Text = A_FROM_0_4_0.name
    package: Text = ""
    libraries: Texts = Field(default_factory=list)


class SwiftForm(Form):
    """`[swift]`: the workbook compiles the app's core and its extension itself, with the machine's Swift."""

    sources: Annotated[Texts, Field(min_length=1), Says("a list of files and folders, each once")]
    variant: Text = B_LATER.name
    module: Text = ""
    mode: Annotated[Text, Field(pattern="^[56]$"), Says('the language mode, "5" or "6"')] = "5"


class AppForm(Form):
    """The whole file; only `app.toml` has `name`. Routes that are left out are those of the sample back ends."""

    name: Text = ""
    platform: Annotated[Text, Field(pattern="^[AB]$"), Says('"A" or "B"')] = "A"
    desk_factor: Annotated[float, Field(ge=1, le=100), Says("a number from 1 to 100")] = AppRun().desk
    patience: Annotated[float, Field(ge=1, le=20), Says("seconds, from 1 to 20")] = Tempo().patience
    authorization: Flag = False
    start: BackEndStart = BackEndStart()
    kotlin: KotlinForm | None = None
    swift: SwiftForm | None = None
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
    surface = Surface(_route("get", SURFACE.get, form.get, mistakes), _route("post", SURFACE.post, form.post, mistakes))
    ways = {"kotlin": form.kotlin is not None, "swift": form.swift is not None, "start": bool(form.start.command)}
    given = [way for way, there in ways.items() if there]
    if len(given) > 1:
        mistakes.add((given[0], ""), f"[{given[1]}] says already how the app is started. Keep one of the two.")
    if form.platform == "B" and not given:
        mistakes.add(
            ("platform",), 'on platform "B" the workbook starts each process itself: write [swift] or [start].'
        )
    for table, platform in (("kotlin", "B"), ("swift", "A")):
        if ways[table] and form.platform == platform:
            mistakes.add((table, ""), f'it is not for platform = "{platform}".')
    mistakes.raise_for(path.name)
    return form, surface


def as_toml(path: Path) -> str:
    """The file as it was read, with the defaults; a command is not shown.

    Raises:
        BadConfigurationError: the file has mistakes.
    """
    form, surface = load_app(path)
    whole = form.model_dump(mode="json", exclude={"start"}, exclude_none=True)
    for name, operation in (("get", surface.get), ("post", surface.post)):
        whole[name] = {key: value for key, value in asdict(operation).items() if value is not None}
    start = "[start] has a command, which is not shown" if form.start.command else "there is no [start] command"
    return f"# {path.name} is in order; {start}. With the defaults:\n\n{tomli_w.dumps(whole)}"


def started_by(form: AppForm, folder: Path) -> str:
    """The command that starts the app; empty where a person starts it. A file with sources is compiled first.

    Raises:
        ConfigurationError: a file is missing, or the code does not compile.
        NotInstalledError: there is no compiler.
    """
    if (swift := form.swift) is not None:
        files = files_of(swift.sources, folder, "Swift", "swift")
        return f"exec {shlex.quote(str(build(files, swift.variant, swift.mode, swift.module)))}"
    if (kotlin := form.kotlin) is None:
        return form.start.command
    libraries = [folder / name for name in kotlin.libraries]
    variant = variant_a(kotlin.variant).name
    classes = compiled(files_of(kotlin.sources, folder), variant, libraries, kotlin.package)
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
        platform=form.platform,
        desk=form.desk_factor,
        authorization=form.authorization,
        tempo=Tempo(form.patience),
        lanes=1 if form.kotlin is None else LANES,
        name=form.name,
        file=str(path),
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
    form, _surface = load_app(path)
    cases = choose_cases(CASES_OF[form.platform], only)
    stored = path.with_suffix(".json")
    lacking = missing() if form.kotlin is not None else missing_swift() if form.swift is not None else ""
    if lacking and stored.is_file():
        record = read_report(stored)
        by_name = {case.name: case for case in record.cases}
        kept = tuple(by_name[case.name] for case in cases if case.name in by_name)
        note = f"{lacking}. This is a stored run of the sample; changes of yours in its code are not seen."
        return replace(record, cases=kept), note
    run = of_file(path, AppRun(cases=cases, only=tuple(only), seed=seed, baseline=known_failures(known)))
    return conform_app(run, progress), ""


def conform_app(run: AppRun, progress: RunProgress | None = None, stopping: Stopping | None = None) -> RunRecord:
    """Run cases against an app, and return their record, ready for `reports.write_reports`.

    Args:
        run: what to run, and which app.
        progress: shows what happens; nothing by default.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.
    """
    progress = progress or RunProgress()
    # a case has its lane beforehand: what an earlier case of the process left behind is the same on each run
    lanes = min(run.lanes, len(run.cases) // CASES_OF_A_LANE + 1)
    runs = [replace(run, cases=run.cases[lane::lanes]) for lane in range(lanes)]
    kind = WalletRun if run.platform == "B" else _AppProcess
    processes = [kind(each, progress) for each in runs]
    began = monotonic()
    progress.begin(len(run.cases))
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        stopping.run(partial(_run_at_once, processes))
    # several cases run at once, and end in any order; a name may be there twice
    ended = {id(result.case): result for process in processes for result in process.results}
    trouble = next((process.trouble for process in processes if process.trouble), "")
    results = _explained([ended[id(case)] for case in run.cases if id(case) in ended])
    left = [case for case in run.cases if id(case) not in ended]
    if not stopping.asked:
        for case in left:
            results.append(CaseResult(case, Verdict.NOT_TESTABLE, why=trouble))
            progress.ended(results[-1])
    about = partial(
        About,
        target=run.name,
        base_url=f"an app on platform {run.platform}",
        seed=run.seed,
        config=run.file,
        interrupted=stopping.asked,
        unfinished=tuple(case.name for case in left) if stopping.asked else (),
        trouble=trouble,
        program="workbook conform app",
    )
    secrets = [secret for process in processes for secret in (process.key, *process.sessions)]
    return conclude(about, began, results, CASES_OF[run.platform], run, secrets=secrets)


def _explained(results: Sequence[CaseResult]) -> list[CaseResult]:
    """The results; what points to a case of another group points nowhere where none of that group failed."""
    plain = (result.misses for result in results if result.case.group in {"form", "fidelity"})
    there = any(miss.todo != c.ELSEWHERE for misses in plain for miss in misses)
    todo = {c.ELSEWHERE: c.ELSEWHERE if there else c.ALONE}
    own = [tuple(replace(miss, todo=todo.get(miss.todo, miss.todo)) for miss in result.misses) for result in results]
    return [replace(result, misses=misses) for result, misses in zip(results, own, strict=True)]


async def _run_at_once(processes: Sequence["WalletRun | _AppProcess"]) -> None:
    await asyncio.gather(*(process.run_cases() for process in processes))


class _AppProcess:
    """One process of the app, and the results of its cases so far."""

    def __init__(self, run: AppRun, progress: RunProgress) -> None:
        self._run, self._progress, self._tempo = run, progress, run.tempo
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
        if not isinstance(client.device, DeviceA):
            raise ParameterError('This program calls platform B\'s SDK: write platform = "B" in app.toml.')
        if client.device.client == NAME:
            self._cardholder = PlayedCardholder(client, self._ended)
            client.on_next = self._cardholder.on_next

    def _ended(self) -> str:
        return "" if self._command is None else self._command.ended

    async def run_cases(self) -> None:
        """Start the app's process, and carry out case after case."""
        async with self._server.serving():
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
            self.results.append(result := await self._judge(case, client, cardholder, number))
            self._progress.ended(result)
            if self.trouble:
                break
        cardholder.end()
        await asyncio.sleep(self._tempo.looks)  # so that the answer leaves before the server stops

    async def _wait_for_app(self) -> tuple[Client, PlayedCardholder]:
        """The app's process, once it asks what to do."""
        await self._tempo.until(lambda: self._cardholder or self._ended(), START)
        if self._cardholder is not None:
            return self._cardholder.client, self._cardholder
        ended = f"The app's process did not call conform(...). {self._ended()}" if self._ended() else ""
        raise NoAnswerError(ended or f"No app called conform(...) within {START:g} s.")

    async def _judge(self, case: c.AppCase, client: Client, cardholder: PlayedCardholder, number: int) -> CaseResult:
        variant = client.device.variant.name
        if case.variant not in ("", variant):
            return CaseResult(case, Verdict.NOT_APPLICABLE, why=f"It is for {case.variant}; the app uses {variant}.")
        self.sessions.add(session := self._run.session(case))
        fresh = self._server.new(NAME, client.device.variant, number, session=session)
        fresh.device.follow(client.device)
        client.device, client.back_end, client.prefix = fresh.device, fresh.back_end, fresh.prefix
        began, mark = monotonic(), self._logs.positions()
        try:
            stage = AppStage(client, cardholder, self._server.url, self._tempo, session)
            cardholder.on_slow = stage.let_go
            seen = await stage.play(case)
        except NoAnswerError as error:
            # An adapter does one action at a time, so an adapter that hangs in an action does no other.
            self.trouble = f"After {case.name} the app's process did nothing more. {self._ended()}".strip()
            todo = "Return from each action as soon as the app has taken it in."
            return CaseResult(case, Verdict.FAIL, (Miss("an answer", str(error), todo),))
        seen = replace(seen, log=tuple(self._logs.since(mark)), earlier=frozenset(self._given))
        self._given.update(arrival.given for arrival in seen.arrivals if arrival.given)
        return conclude_case(case, seen, monotonic() - began)
