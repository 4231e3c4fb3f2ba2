"""One run from its beginning to its end: the API's side, the back end, the plain attempt, the cases, the baseline.

It works on a thread of its own, so that it can be called from a notebook, and so that Ctrl-C leaves what there is.
"""

from __future__ import annotations

import asyncio
import platform
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from threading import Thread
from time import monotonic, time
from typing import TYPE_CHECKING

from workbook.conformance.baseline import applied
from workbook.conformance.cases import CASES
from workbook.conformance.codes import INTERRUPTED, exit_code
from workbook.conformance.giving import Giving
from workbook.conformance.leaks import session_secrets
from workbook.conformance.plain import tried
from workbook.conformance.progress import Silent
from workbook.conformance.recording import record
from workbook.conformance.report import About, moment
from workbook.conformance.rig import Rig
from workbook.conformance.rounds import Rounds
from workbook.conformance.run import Result, run, without
from workbook.conformance.side import Side
from workbook.conformance.start import StartError
from workbook.conformance.stopping import Stopping
from workbook.conformance.verdict import Verdict
from workbook.runner.scrub import Scrubber

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbook.conformance.baseline import Known
    from workbook.conformance.case import Case
    from workbook.conformance.config import Config
    from workbook.conformance.progress import Progress
    from workbook.conformance.report import Record

STOPPING = 15.0
"""Seconds in which a run that is interrupted tidies up."""
GLANCE = 0.2
"""Seconds between two looks whether a run is over; Ctrl-C is noticed in between."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be run, and how.

    Attributes:
        cases: which; all by default.
        repeat: how many times each.
        strict: a warning counts as a failure.
        known: the baseline's entries.
        only: the patterns that chose the cases, for the report.
        command: what runs the same again, for the report: a command line, or a call where no file says all.
    """

    cases: Sequence[Case] = field(default_factory=lambda: tuple(CASES.values()))
    repeat: int = 1
    strict: bool = False
    known: tuple[Known, ...] = ()
    only: tuple[str, ...] = ()
    command: str = "conform(config, wish)"


def conform(
    config: Config,
    wish: Wish | None = None,
    *,
    side: Side | None = None,
    told: Progress | None = None,
    stopping: Stopping | None = None,
) -> Record:
    """Run cases against a back end, and return what they came to, ready for `reports.write_reports`.

    Args:
        config: of the back end.
        wish: what is to be run; everything by default.
        side: the API's side where it listens already and the back end knows it; None makes one.
        told: is told of progress; nobody by default.
        stopping: what Ctrl-C does until the caller has written what there is; None lets it end with the run.

    Raises:
        ConfigurationError: a port cannot be had, an adapter cannot be loaded, an address may not be contacted.
    """
    api, told = config.api, told or Silent()
    with ExitStack() as stack:
        own_stopping = stopping or stack.enter_context(Stopping())
        own = side or stack.enter_context(
            Side(config.cards, key=api.key, port=api.port, profile=api.profile, seed=api.seed)
        )
        giving = Giving(config, own, told, stack, known=side is not None)
        return _Session(config, wish or Wish(), own, giving, told).run(own_stopping)


class _Session:
    """A run, and what it has come to so far."""

    def __init__(self, config: Config, wish: Wish, side: Side, giving: Giving, told: Progress) -> None:
        self._config, self._wish, self._giving, self._told = config, wish, giving, told
        self._rig = Rig(giving.target, side.upstream, side.line, side.elsewhere, config.api.seed, side.other.base_url)
        self._secrets = (side.key, *config.target.session_secrets())
        self._scrubbers = [Scrubber(one) for one in sorted({*self._secrets, *session_secrets(self._secrets)})]
        self._rounds, self._trouble, self._undecided, self._interrupted = Rounds(), "", False, False
        self._over = False
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def run(self, stopping: Stopping) -> Record:
        """Do everything, and tell what it came to; after a signal nothing else than what had ended by then."""
        began, clock = time(), monotonic()
        stopping.begin(self._stop)
        thread = Thread(target=self._go, name="conform", daemon=True)
        thread.start()
        try:
            while thread.is_alive() and not self._interrupted:
                thread.join(GLANCE)
            thread.join(STOPPING)
        finally:
            self._over = True
            self._told.close()
        if self._failure is not None:
            raise self._failure
        return self._record(moment(began), monotonic() - clock)

    def _go(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001  # it is raised again where somebody waits
            self._failure = error

    def _stop(self) -> None:
        """Called in the middle of anything: it must do little, and say nothing."""
        self._interrupted = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            with suppress(RuntimeError):  # the loop is closed: it was over anyway
                loop.call_soon_threadsafe(task.cancel)

    async def _main(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._interrupted:  # before anybody could be cancelled
            return
        limit = self._config.timeouts.whole
        try:
            async with asyncio.timeout(limit) as clock:
                await self._giving.done(self._rig)
                await self._cases()
        except StartError as error:
            self._not_decided(str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            self._not_decided(f"The time limit of {limit:g} s for all cases passed: [timeouts] whole.")

    async def _cases(self) -> None:
        """The plain attempt, and where it says anything, the cases."""
        words, decidable = await tried(self._rig)
        if not decidable:
            self._not_decided(f"{words} {self._giving.ended}")
            return
        self._troubled(words)
        rounds = [case for case in self._wish.cases if not case.script.whole]
        whole = [case for case in self._wish.cases if case.script.whole]
        self._told.begin(len(rounds) * self._wish.repeat + len(whole))
        for round_ in range(1, self._wish.repeat + 1):
            if round_ > 1:
                self._rig.upstream.forget()
            await run(rounds, self._rig, self._ended, round_)
        if self._rig.gone:
            self._not_decided(f"{self._rig.gone} {self._giving.ended}")
        if whole:
            await asyncio.to_thread(self._giving.end)
            await run(whole, self._rig, self._ended)

    def _ended(self, result: Result) -> None:
        if self._over:  # the report is being written
            return
        clean = replace(result, why=self._clean(result.why))
        self._rounds.keep(clean)
        self._told.ended(clean)

    def _not_decided(self, words: str) -> None:
        self._undecided = True
        self._troubled(words)

    def _troubled(self, words: str) -> None:
        """Something that a reader has to know before anything else."""
        if told := self._clean(words.strip()):
            self._trouble = f"{self._trouble} {told}".strip()
            self._told.say(told)

    def _clean(self, text: str) -> str:
        for scrubber in self._scrubbers:
            text = scrubber.clean(text)
        return text

    def _record(self, started: str, seconds: float) -> Record:
        wish, ended = self._wish, {case.name: self._came_to(case) for case in self._wish.cases}
        all_of_them = [one for one in ended.values() if one is not None]
        results, stale = applied(wish.known, all_of_them, CASES, datetime.now(UTC).date())
        verdicts = [one.verdict for one in results]
        code = exit_code(verdicts, strict=wish.strict, stale=bool(stale), undecided=self._undecided)
        about = About(
            target=self._config.file or self._config.target.base_url,
            base_url=self._config.target.base_url,
            seed=self._config.api.seed,
            started=started,
            seconds=round(seconds, 3),
            exit_code=INTERRUPTED if self._interrupted else code,
            command=wish.command,
            config=self._config.file,
            versions={"workbook": _version(), "python": platform.python_version()},
            profile=self._config.api.profile,
            repeat=wish.repeat,
            strict=wish.strict,
            only=wish.only,
            interrupted=self._interrupted,
            unfinished=tuple(name for name, one in ended.items() if one is None),
            trouble=self._trouble,
            stale=stale,
            secrets=self._secrets,
            values=tuple(value for _card, value in self._rig.values) if wish.repeat > 1 else (),
        )
        return record(results, about)

    def _came_to(self, case: Case) -> Result | None:
        """What a case came to; None where an interruption came first."""
        ended = self._rounds.ended(case.name) or without(case, self._rig.target)
        if ended is not None or self._interrupted:
            return ended
        return Result(case, Verdict.NOT_TESTABLE, why=self._trouble)


def _version() -> str:
    try:
        return version("provisioning-workbook")
    except PackageNotFoundError:
        return "not installed"
