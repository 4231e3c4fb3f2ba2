"""One run from beginning to end: the API, the back end, the plain attempt, the cases, the baseline.

It runs on a thread with an event loop of its own, so a notebook, which has a loop already, can call it. After Ctrl-C it
keeps the results of the cases that had ended.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic

from workbook.base.secrecy import KEY_VARIABLE, Secrets, session_secrets
from workbook.harness.model import RunFinding, Verdict
from workbook.harness.progress import RunProgress
from workbook.harness.report import ADVICE_SHOWN, FAILING, About, CaseRecord, RunRecord, Todo, concluded, todos
from workbook.harness.selection import Options
from workbook.relay.api_side import MockApi
from workbook.relay.case_runner import CONFIRMED, CaseRunner, Rounds, run_cases, without
from workbook.relay.cases import CASES
from workbook.relay.config import Config
from workbook.relay.findings import PlainFailure, common_causes, plain_attempt
from workbook.relay.model import RelayCase, RelayResult
from workbook.relay.process import Launcher, StartError, Stopping


@dataclass(frozen=True, slots=True)
class RunOptions(Options[RelayCase]):
    """Which cases to run against a back end, and how.

    Attributes:
        repeat: how many times each.
        keep_going: carry out every case, even where a plain call does not work.
        in_order: one case after the other, in the order of `cases`.
    """

    cases: Sequence[RelayCase] = field(default_factory=lambda: tuple(CASES.values()))
    repeat: int = 1
    keep_going: bool = False
    in_order: bool = False
    command: str = field(default="conform(config, options)", kw_only=True)


def conform(
    config: Config,
    options: RunOptions | None = None,
    *,
    api: MockApi | None = None,
    progress: RunProgress | None = None,
    stopping: Stopping | None = None,
) -> RunRecord:
    """Run cases against a back end, and return their record, ready for `reports.write_reports`.

    Args:
        config: of the back end.
        options: what to run; everything by default.
        api: an API that listens already, and whose address and key the back end has; None creates one.
        progress: shows what happens; nothing by default.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.

    Raises:
        ConfigurationError: a port is taken, an adapter cannot be loaded, or an address is never contacted.
    """
    progress, options = progress or RunProgress(), options or RunOptions()
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        began, record = monotonic(), _once(config, options, api, progress, stopping)
        if api is None and config.start.command and options.repeat == 1:
            record = _proven(record, config, options, stopping, began)
    return record


def _once(
    config: Config, options: RunOptions, api: MockApi | None, progress: RunProgress, stopping: Stopping
) -> RunRecord:
    """One run, with a fresh start of the back end where the configuration says how."""
    with ExitStack() as stack:
        known, settings = api is not None, config.api
        api = api or stack.enter_context(MockApi(config.instruments, **settings.model_dump() | {"key": config.key}))
        ours = filter(None, [os.environ.get(KEY_VARIABLE)])  # a start command may hold the real key too
        secrets = (api.key, *config.target.session_secrets(), *ours)
        clean = Secrets.of_keys({*secrets, *session_secrets(secrets)}).scrub
        launcher = Launcher(config, api, progress, stack, clean, known=known)
        runner = CaseRunner(launcher.target, api, settings.seed)
        return _Run(config, options, runner, launcher, progress, clean).record(stopping, secrets)


def _proven(record: RunRecord, config: Config, options: RunOptions, stopping: Stopping, began: float) -> RunRecord:
    """The record with commands that were tried: each that a reader sees first is run on a fresh start of the back end.

    Args:
        record: of the run.
        config: of the run.
        options: of the run.
        stopping: ends the tries.
        began: when the run began.
    """
    tried, advice, first = dict[str, CaseRecord](), todos(record), monotonic()
    shown = advice[:ADVICE_SHOWN]
    # so that a run ends within a minute, or within two where the back end keeps the phone waiting for too long
    late = any(todo.shown is not None and todo.shown.seconds > config.target.bound for todo in shown)
    until = began + (100 if late else 58)
    limits = config.timeouts.model_copy(update={"whole": 40.0})  # seconds for one try

    def again(names: tuple[str, ...], *, in_order: bool) -> RunRecord:
        few = replace(options, cases=[CASES[name] for name in names], only=names, in_order=in_order)
        return _once(replace(config, timeouts=limits), few, None, RunProgress(), stopping)

    for todo in advice:
        case = todo.shown
        if case is None or case.name in tried or not case.misses or case.verdict not in CONFIRMED:
            continue
        if not CASES[case.name].runs_by_itself:
            continue
        unproven = f"Not tried on a fresh start{', for want of time' * (todo in shown)}: {case.reproduce}"
        same = {one.text for one in shown if one.shown is case}  # one try shows each advice of a case
        for names, in_order in _ways(record, todo, case) if todo in shown else ():
            if stopping.asked or monotonic() + case.seconds + 1 > until:
                break
            found = again(names, in_order=in_order)
            if found.about.interrupted or found.about.trouble:
                unproven = f"Not tried to its end on a fresh start: {case.reproduce} {found.about.trouble}".strip()
                break
            failed = [one for one in found.ended(*FAILING) if one.name == names[-1] or not in_order]
            if same <= {miss.todo for one in failed for miss in one.misses}:
                case, unproven = replace(case, reproduce=record.about.reproduce(*names, in_order=in_order)), ""
                break
            unproven = (
                "It did not come again on a fresh start of the back end, neither alone nor with the cases around it. "
                "Two causes are possible: an earlier case left something behind, or calls at the same time disturb one "
                "another. What tells them apart is one case at a time: if it fails then, something was left behind. "
                f"{record.about.reproduce(case.group, in_order=True)}"
            )
        tried[case.name] = replace(case, unproven=unproven)
    spent = record.about.spent | {"tried on a fresh start": monotonic() - first}
    about = replace(record.about, seconds=round(monotonic() - began, 3), spent=spent)
    # A case that a reader finds below another one's advice has no command: its own was not tried.
    listed = [replace(case, reproduce="") if case.verdict in FAILING else case for case in record.cases]
    return replace(record, about=about, cases=tuple(tried.get(case.name, case) for case in listed))


def _ways(record: RunRecord, todo: Todo, case: CaseRecord) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Which cases may show a failure again, and whether they run in this order: the likeliest first."""
    began = case.began or 0.0
    alike = tuple(name for name in todo.cases if CASES[name].runs_by_itself)[:6]
    earlier = [one for one in record.cases if one.began is not None and one.began < began]
    yield (case.name,), False
    if len(alike) > 1:
        yield alike, False
    if last := max(earlier, key=lambda one: one.began or 0.0, default=None):
        yield (last.name, case.name), True


@dataclass
class _Run:
    """A run, and its results so far."""

    config: Config
    options: RunOptions
    runner: CaseRunner
    launcher: Launcher
    progress: RunProgress
    clean: Callable[[str], str]
    rounds: Rounds = field(default_factory=Rounds)
    trouble: str = ""
    plain: tuple[PlainFailure, ...] = ()
    over: bool = False
    started: float = 0.0

    def record(self, stopping: Stopping, secrets: tuple[str, ...]) -> RunRecord:
        """Run everything, and return the record. After a signal it holds only what had ended by then."""
        began = self.started = monotonic()
        try:
            stopping.run(self._main)
        finally:
            self.over = True
            self.progress.close()
        options, config, runner = self.options, self.config, self.runner
        ended = {}
        for case in options.cases:
            undecided = None if stopping.asked else RelayResult(case, Verdict.NOT_TESTABLE, why=self.trouble)
            ended[case.name] = self.rounds.ended(case.name) or without(case, runner.target) or undecided

        def findings(results: Sequence[RelayResult]) -> Iterator[RunFinding]:
            gone, how = map(self.clean, (runner.gone, self.launcher.ended if runner.gone else ""))
            yield from (failure.finding(results) for failure in self.plain)
            yield from common_causes(results, gone, how, runner.upstream.arrived())

        about = partial(
            About,
            target=config.file or config.target.base_url,
            base_url=config.target.base_url,
            seed=config.api.seed,
            config=config.file,
            profile=config.api.profile,
            repeat=options.repeat,
            interrupted=stopping.asked,
            unfinished=tuple(name for name, result in ended.items() if result is None),
            spent={
                "starting": self.started - began,
                "cases": monotonic() - self.started - runner.repeated,
                "repeated": runner.repeated,
            },
            trouble=self.trouble,
        )
        values = tuple(value for _card, value in runner.values) if options.repeat > 1 else ()
        results = [result for result in ended.values() if result]
        return concluded(about, began, results, CASES, options, findings=findings, secrets=secrets, values=values)

    async def _main(self) -> None:
        limit = self.config.timeouts.whole
        try:
            async with asyncio.timeout(limit) as clock:
                await self.launcher.ready(self.runner)
                self.started = monotonic()
                await self._cases()
        except StartError as error:
            self._report_trouble(str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            self._report_trouble(f"The time limit of {limit:g} s for all cases ran out ([timeouts] whole).")

    async def _cases(self) -> None:
        """The plain attempt, and where anything can be judged, the cases."""
        runner, options = self.runner, self.options
        failures, alive = await plain_attempt(runner)
        says = " ".join(map(str, failures))
        if failures and self.launcher.misled:
            says += f" {self.launcher.misled}"
        if not alive or (any(failure.by_configuration for failure in failures) and not options.keep_going):
            self._report_trouble(f"{says} {self.launcher.ended}")
            return
        if failures:
            self.plain = failures
            self.progress.say(self.clean(says))
        broken = [(app, failure.operation) for failure in failures for app in failure.apps]
        # a run takes as long as it was told to, where the configuration or an option does
        if not (options.in_order or runner.target.pace or runner.target.recovers_late):
            runner.until = monotonic() + 75 * options.repeat  # a call that was made by then may take another 25 s
        single = [case for case in options.cases if not case.script.judges_run]
        whole = [case for case in options.cases if case.script.judges_run]
        self.progress.begin(len(single) * options.repeat + len(whole))
        for repetition in range(1, options.repeat + 1):
            if repetition > 1:
                runner.forget()
            left_out = () if options.keep_going else broken
            await run_cases(single, runner, self._on_result, repetition, left_out, in_order=options.in_order)
        if runner.is_over:
            self._report_trouble("The back end kept so many calls waiting that the run's time was up before its end.")
        runner.until = float("inf")
        if runner.gone:
            self.progress.say(self.clean(f"{runner.gone} {self.launcher.ended}".strip()))
        if whole:
            await asyncio.to_thread(self.launcher.end)
            await run_cases(whole, runner, self._on_result)

    def _on_result(self, result: RelayResult) -> None:
        if not self.over:  # otherwise the report is being written
            clean = replace(result, why=self.clean(result.why))
            self.rounds.keep(clean)
            self.progress.ended(clean)

    def _report_trouble(self, text: str) -> None:
        """Add something that a reader has to know first, and say it at once."""
        if text := self.clean(text.strip()):
            self.trouble = f"{self.trouble} {text}".strip()
            self.progress.say(text)
