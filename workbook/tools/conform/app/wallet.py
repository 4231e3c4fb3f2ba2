"""Platform B's half of `workbook conform app`: the workbook plays cardholder, phone, watch, back end and wallet.

Each case has processes of its own, which share a folder: one is the app, and each call of the wallet has a new one, or
a new handler in one that the case keeps (X-HANDLER-1). So a process that crashes or hangs ends its own case only.
"""

import asyncio
import re
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import count
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from workbook.base.secrecy import Secrets
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.simulation.http import Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app import cases as c
from workbook.tools.conform.app import cases_b as b
from workbook.tools.conform.app.device_b import DeviceB
from workbook.tools.conform.app.phone import Client, PhoneServer
from workbook.tools.conform.app.stage import AppRun, AppStage, NoAnswerError, PlayedCardholder, conclude_case
from workbook.tools.conform.app.storage import APP, EXTENSION, NOTHING_SAVED, CaseFolders
from workbook.tools.harness.model import CaseResult, Miss, Root, Verdict
from workbook.tools.harness.program import LogLine, Logs, StartCommand
from workbook.tools.harness.summary import RunProgress

# Cases that run at the same time. Those that measure run before, alone.
LANES = 4
# Seconds until a process asks what to do; it may be large, and the machine busy.
START = 60.0
# Seconds beyond the wallet's limit after which a call is taken to wait for ever.
GRACE = 4.0
# Seconds that a process has to end by itself, so that all that it printed is there.
LEAVING = 2.0


class WalletCase:
    """One case: its phone, its back end, its folders, and the processes that it has started."""

    def __init__(self, run: AppRun, server: PhoneServer, number: int, session: str) -> None:
        self.name, self.session = f"case{number}", session
        self.client: Client | None = None
        self.hosts: set[str] = set()
        self.log: list[LogLine] = []
        self.folders = CaseFolders()
        self._run, self._server = run, server
        self._numbers = count(1)
        self._clean = Secrets.of_keys({server.key, session}).scrub
        self._commands: dict[str, StartCommand] = {}
        self._greeted: dict[str, PlayedCardholder] = {}

    def greet(self, client: Client) -> None:
        """A process of this case has made its first call: it gets the case's one phone and one back end.

        Raises:
            ParameterError: the program was made for platform A.
        """
        if not isinstance(client.device, DeviceB):
            raise ParameterError('app.toml says platform = "B", and this program calls platform A\'s SDK.')
        if self.client is None:
            number = int(self.name.removeprefix("case"))
            fresh = self._server.new(self.name, client.device.variant, number, session=self.session)
            self.client = fresh
        name = client.device.client
        client.device, client.back_end, client.prefix = self.client.device, self.client.back_end, self.client.prefix
        command = self._commands[name]
        self._greeted[name] = PlayedCardholder(client, lambda: self._crash_of(command), kill=command.end)
        client.on_next = self._greeted[name].on_next

    @asynccontextmanager
    async def process(self, program: str) -> AsyncIterator[PlayedCardholder]:
        """A new process of the app or of the extension, for as long as the block lasts, once it asks what to do.

        Raises:
            NoAnswerError: it ended before, or it never asked.
        """
        name = f"{self.name}-{next(self._numbers)}"
        proxy = f"http://{name}:x@{urlsplit(self._server.url).netloc}"  # what is not for this machine comes to us
        values = {
            **self._server.settings,
            "WORKBOOK_PHONE_CLIENT": name,
            **self.folders.variables(program),
            **dict.fromkeys(("http_proxy", "https_proxy"), proxy),
            "no_proxy": "127.0.0.1,localhost",
            "SWIFT_BACKTRACE": "enable=no",  # what is printed last says why, and not where in memory
        }
        with StartCommand(self._run.start, self._run.folder, values, self._clean) as command:
            logs = Logs([command.output])
            self._commands[name] = command
            command.start()
            try:
                yield await self._wait_for(name, command)
                await self._run.tempo.until(lambda: command.ended, LEAVING)
            finally:
                command.end()
                self._server.clients.pop(name, None)
                self.log += [replace(line, file="the process's output") for line in logs.rest()]

    async def _wait_for(self, name: str, command: StartCommand) -> PlayedCardholder:
        await self._run.tempo.until(lambda: name in self._greeted or command.ended, START)
        if name in self._greeted:
            return self._greeted[name]
        ended = f"The process did not call conform(...). {command.ended}" if command.ended else ""
        raise NoAnswerError(ended or f"No process called conform(...) within {START:g} s.")

    def _crash_of(self, command: StartCommand) -> str:
        """How the process ended, with Swift's own words where it printed some; empty while it runs."""
        if not (ended := command.ended):
            return ""
        words = re.search(r"(?:\S+\.swift:\d+: )?Fatal error: .*", command.output.read_text("utf-8", "replace"))
        return ended if words is None else f"The process ended: {self._clean(words[0])[:300]}"


class WalletStage(AppStage):
    """Carries out one case of platform B."""

    _cardholder: PlayedCardholder

    def __init__(self, case: WalletCase, url: str, run: AppRun) -> None:
        self._case, self._run, self._url, self._tempo = case, run, url, run.tempo
        self._processes = AsyncExitStack()
        self._kept: PlayedCardholder | None = None
        self._asked = count(1)

    async def play(self, case: c.AppCase) -> c.AppSeen:
        """What came of the case, with all that its processes printed."""
        async with self._processes:
            await self._start_app()
            client = self._case.client
            assert client is not None  # noqa: S101 - a process has greeted
            assert isinstance(client.device, DeviceB)  # noqa: S101 - the run refuses another platform
            self._client = client
            self._seen = b.WalletSeen(
                INSTRUMENT_IDS,
                {},
                client.device,
                back_end=urlsplit(self._url).netloc,
                session=self._case.session,
                desk=self._run.desk,
                authorizes=self._run.authorization,
            )
            seen = await super().play(case)
            seen.kept = self._case.folders.text()
        seen.log, seen.hosts = tuple(self._case.log), self._case.hosts
        return seen

    @asynccontextmanager
    async def _new_process(self, program: str) -> AsyncIterator[PlayedCardholder]:
        async with self._case.process(program) as process:
            yield process
            process.end()

    async def _step(self, step: Any) -> None:
        match step:
            case b.WalletCall():
                await self._call(step)
            case b.AtOnce():
                await asyncio.gather(*map(self._call, step.calls))
            case b.UsePhone():
                self._client.device.use(step.name, INSTRUMENT_IDS[0])
            case b.Damage():
                self._wallet_seen.saved = self._case.folders.cut_files()
            case b.Expire():
                cards = {INSTRUMENT_IDS[card] for card in step.cards}
                given = {arrival.given for arrival in self._client.back_end.arrivals if arrival.card in cards}
                self._wallet_seen.device.refuses |= {text for text in given if text}
            case c.Escape():
                self._client.back_end.escapes = True
            case b.Swap():
                self._client.back_end.swaps.add(step.operation)
            case b.Die():
                await self._die()
            case _:
                await super()._step(step)

    @property
    def _wallet_seen(self) -> b.WalletSeen:
        seen = self._seen
        assert isinstance(seen, b.WalletSeen)  # noqa: S101 - `play` made it
        return seen

    async def _die(self) -> None:
        """End the app's process as the system does, without a word, and start a new one."""
        self._cardholder.kill()
        self._client.device.process_ended()
        await self._start_app()
        await self._begin()

    async def _start_app(self) -> None:
        self._cardholder = await self._processes.enter_async_context(self._new_process(APP))
        self._cardholder.on_slow = self.let_go

    async def _call(self, call: b.WalletCall) -> None:
        if call.new_process:
            async with self._new_process(EXTENSION) as process:
                await self._call_in(process, call, cold=True)
            return
        cold = self._kept is None
        if self._kept is None:
            self._kept = await self._processes.enter_async_context(self._new_process(EXTENSION))
        await self._call_in(self._kept, call, cold=cold)

    async def _call_in(self, process: PlayedCardholder, call: b.WalletCall, *, cold: bool) -> None:
        device, request, answer, failed = self._client.device, self._request(call), None, ""
        began = monotonic() - device.began
        try:
            answer = await process.does(call.function, patience=b.LIMITS[call.function].seconds + GRACE, **request)
        except NoAnswerError as error:
            failed = str(error)
        ended = monotonic() - device.began
        if call.stays:
            await asyncio.sleep(self._tempo.rest)
        left = monotonic() - device.began
        seen = self._wallet_seen
        seen.calls.append(b.HandlerCall(call, began, ended, left, answer, failed, cold, request))
        if answer is not None and answer.uncaught:
            seen.threw.append(answer.uncaught)

    def _request(self, call: b.WalletCall) -> Mapping[str, Any]:
        """What the wallet gives for a request; no two are alike."""
        if call.function != b.GENERATE:
            return {}
        number = next(self._asked)
        words = (f"{what} {number}" for what in ("leaf", "intermediate", "root", "nonce", "signature"))
        leaf, intermediate, root, nonce, signature = (b64encode(word.encode()).decode() for word in words)
        known = call.card < len(INSTRUMENT_IDS)
        return {
            "identifier": INSTRUMENT_IDS[call.card] if known else "PIUNKNOWN",
            "configuration": number,
            "certificateChain": [leaf, intermediate, root],
            "nonce": nonce,
            "nonceSignature": signature,
        }


class WalletRun:
    """A run on platform B, and the results of its cases so far."""

    def __init__(self, run: AppRun, progress: RunProgress) -> None:
        self._run, self._progress = run, progress
        self._server = PhoneServer(run.surface, pace=0.005, seed=run.seed)
        self._server.on_hello, self._server.on_stray = self._greet, self._note_host
        self._playing: dict[str, WalletCase] = {}
        self._never: dict[str, str] = {}
        self._hung: list[str] = []
        self.results: list[CaseResult] = []
        self.key = self._server.key
        self.sessions: set[str] = set()
        self.trouble = ""

    async def run_cases(self) -> None:
        """Run the cases that measure alone and one after the other, and then the others, several at a time."""
        async with self._server.serving():
            numbered = list(enumerate(self._run.cases, 1))
            measuring = [item for item in numbered if item[1].measures]
            for item in measuring:
                await self._take(*item)
            others = iter([item for item in numbered if item not in measuring])
            if not self.trouble:
                await asyncio.gather(*(self._take_all(others) for _lane in range(LANES)))

    async def _take_all(self, cases: Any) -> None:
        for number, case in cases:
            if self.trouble:
                return
            await self._take(number, case)

    async def _take(self, number: int, case: c.AppCase) -> None:
        result = await self._judge(number, case)
        if result is not None:
            self.results.append(result)
            self._progress.ended(result)

    async def _judge(self, number: int, case: c.AppCase) -> CaseResult | None:
        if why := self._why_not(case):
            return CaseResult(case, Verdict.NOT_TESTABLE, why=why)
        session = self._run.session(case)
        self.sessions.add(session)
        played = self._playing[f"case{number}"] = WalletCase(self._run, self._server, number, session)
        began = monotonic()
        try:
            seen = await WalletStage(played, self._server.url, self._run).play(case)
            mislaid = played.folders.mislaid() if seen.happened(m.ServiceReady) else ""
        except NoAnswerError as error:
            if played.client is None:
                self.trouble = str(error)
                return None
            hangs = "within" in str(error)
            if hangs:
                self._hung.append(case.name)
            todo = c.SUSPEND_B if hangs else b.GO_ON
            miss = Miss("an app that goes on", str(error), todo, harms=True, root=Root.NO_ANSWER)
            return CaseResult(case, Verdict.FAIL, (miss,))
        finally:
            del self._playing[played.name]
            played.folders.remove()
        variant = seen.device.variant.name
        if case.variant not in ("", variant):
            return CaseResult(case, Verdict.NOT_APPLICABLE, why=f"It is for {case.variant}; the app uses {variant}.")
        assert isinstance(seen, b.WalletSeen)  # noqa: S101 - WalletStage made it
        for call in seen.calls:
            if "did not return" in call.failed:
                self._never.setdefault(call.call.function, case.name)
        measured = b.measure(seen) if case.measures else ""
        if measured:
            self._progress.say(f"{case.name}: {measured}")
        if not seen.saved:
            return CaseResult(case, Verdict.NOT_TESTABLE, why=NOTHING_SAVED)
        result = conclude_case(case, seen, monotonic() - began, measured)
        return _explained(result, mislaid) if seen.calls and mislaid else result

    def _why_not(self, case: c.AppCase) -> str:
        """Why the case need not be played: it would wait for what hung before; empty where it need."""
        for function in sorted(functions_of(case)):
            if function in self._never:
                return f"{function}() did not return in {self._never[function]}."
        if len(self._hung) > 1 and any(isinstance(step, c.Do) for step in case.steps):
            return f"The app hung in {' and in '.join(self._hung[:2])}."
        return ""

    def _greet(self, client: Client) -> None:
        if (played := self._playing.get(client.device.client.partition("-")[0])) is not None:
            played.greet(client)

    def _note_host(self, request: Request) -> None:
        """A process asked for another host: it came here as to its proxy."""
        user = (request.header("proxy-authorization") or "").removeprefix("Basic ")
        name = b64decode(user + "==").decode("utf-8", "replace").partition(":")[0]
        if (played := self._playing.get(name.partition("-")[0])) is not None:
            played.hosts.add(urlsplit(request.target).netloc or request.target)


def _explained(result: CaseResult, mislaid: str) -> CaseResult:
    """The same verdict, with the one cause of whatever is missing."""
    saved, rule = "what the app saved, where the extension reads", "X-CACHE-1"
    found = (replace(miss, expected=saved, todo=mislaid, rule=rule, root=Root.PLAIN_CALL) for miss in result.misses[:1])
    return replace(result, misses=tuple(found))


def functions_of(case: c.AppCase) -> set[str]:
    """The handler's functions that the case calls."""
    calls = [call for step in case.steps for call in (step.calls if isinstance(step, b.AtOnce) else (step,))]
    return {call.function for call in calls if isinstance(call, b.WalletCall)}
