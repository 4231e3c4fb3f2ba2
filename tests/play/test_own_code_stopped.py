"""The integrator's own code is stopped when its time is over, whatever it does, and the run goes on without it."""

import asyncio
import gc
import linecache
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import pytest
from rows import rows

from workbook.api.exchange import Options
from workbook.api.opaque import SdkOutput
from workbook.checks import check
from workbook.errors import ConfigurationError
from workbook.flows import messages as m
from workbook.flows.extension import State
from workbook.flows.platform_a import BUSY_A
from workbook.flows.platform_b import BUSY_B
from workbook.flows.trace import CALLS
from workbook.lessons.script import Script, play
from workbook.play import own_code
from workbook.play.back_end import Network, back_end_over
from workbook.play.handler import AuthorizationProvider, ReferenceHandler
from workbook.play.own_code import StoppedError, TookTooLong, within
from workbook.play.platform_a import AppA, CardAddress, CardProvisioning, PlatformARun
from workbook.play.platform_b import AppB, PlatformBRun, opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.film import timing

ENDLESS = """
import asyncio, itertools, re, time
from contextlib import suppress

def sleeps():
    time.sleep(30)

def loops():
    while True:
        pass

def tidies_up():
    try:
        time.sleep(30)
    finally:
        time.sleep(0)

def swallows():
    while True:
        try:
            time.sleep(30)
        except:
            pass

def swallows_twice():
    while True:
        try:
            try:
                time.sleep(30)
            except BaseException:
                pass
        except BaseException:
            pass

def suppresses():
    for _ in itertools.count():
        with suppress(BaseException):
            time.sleep(30)

def retries():
    try:
        time.sleep(30)
    except BaseException:
        time.sleep(30)
        return "as if nothing had been"

def matches():
    re.match("(a+)+$", "a" * 60 + "b")

def briefly():
    time.sleep(0.05)
    return 7

async def waits():
    await asyncio.sleep(30)

async def blocks():
    time.sleep(2)

async def waits_stubbornly():
    while True:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            pass

async def spins():
    while True:
        pass
"""
NAMES = {}
exec(compile(ENDLESS, "mine.py", "exec"), NAMES)
ENDLESS_KINDS = ("sleeps", "tidies_up", "swallows", "swallows_twice", "suppresses", "retries", "loops", "matches")


@pytest.fixture(autouse=True)
def own_lines(monkeypatch):
    """Other tests empty the cache of lines."""
    lines = ENDLESS.splitlines(keepends=True)
    monkeypatch.setitem(linecache.cache, "mine.py", (len(ENDLESS), None, lines, "mine.py"))


@pytest.fixture(autouse=True)
def slow_machine(monkeypatch):
    """What has not to be stopped has all the time that it needs, on any machine."""
    monkeypatch.setattr(own_code, "LIMITS", dict.fromkeys((*CALLS.values(), "provision"), SimpleNamespace(seconds=60)))
    monkeypatch.setitem(own_code.call_watched.__kwdefaults__, "seconds", 60)


@pytest.fixture
def stop_early(monkeypatch):
    """A call of one of `OUTCOMES` ends its time itself once it has begun, whatever time it has.

    What is known to be left behind has little more than that.
    """

    def stop(call, method, seconds=60):
        CLOCK.limit, CLOCK.passed = seconds, 0.0
        monkeypatch.setattr(own_code, "own_time", lambda: time.perf_counter() + CLOCK.passed)
        monkeypatch.setitem(own_code.LIMITS, call, SimpleNamespace(seconds=seconds))
        monkeypatch.setattr(own_code, "NOTICEABLE", seconds)
        monkeypatch.setattr(own_code, "GRACE", 0.1 if OUTCOMES[method] == "left behind" else 60.0)

    return stop


def stopped(function, seconds=0.05):
    with pytest.raises(StoppedError) as caught:
        within(seconds, function)
    return caught.value


def test_code_has_its_own_time_and_not_that_of_a_busy_machine(monkeypatch):
    monkeypatch.setattr(own_code, "own_time", lambda: 0.0)
    assert within(0.01, lambda: time.sleep(0.1) or "ended") == "ended"


@rows("name", ENDLESS_KINDS)
def test_whatever_it_does_the_call_is_over_and_its_line_is_known(monkeypatch, name):
    monkeypatch.setattr(own_code, "GRACE", 0.05)
    before = signal.getsignal(signal.SIGALRM), sys.gettrace()
    error = stopped(NAMES[name])
    assert str(error) == "it had not ended after 0.05 s of real time"
    assert error.line.startswith("mine.py, line ")
    assert not error.left_behind
    assert (signal.getsignal(signal.SIGALRM), sys.gettrace(), sys.exc_info()[0]) == (*before, None)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_an_alarm_that_was_set_before_still_comes():
    came = []
    usual = signal.signal(signal.SIGALRM, lambda *_: came.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        stopped(NAMES["loops"])
        signal.sigtimedwait([], 0.2)
    finally:
        signal.signal(signal.SIGALRM, usual)
    assert came == [1]


def test_a_stop_that_comes_while_memory_is_collected_comes_again():
    """A callback of gc, such as Hypothesis has, swallows what is raised in it, and a warning is all that is left."""

    def naps():
        time.sleep(0.001)

    def slowly(_phase, _info):
        naps()

    def collects():
        while True:
            gc.collect(0)
            sum(range(20_000))

    gc.callbacks.append(slowly)
    try:
        assert all(stopped(collects, 0.01) for _ in range(20))
    finally:
        gc.callbacks.remove(slowly)


def test_what_a_stopped_call_set_is_not_set_behind_it():
    def nested():
        own_code.RELAY.set(NAMES["loops"])
        NAMES["sleeps"]()

    stopped(nested)
    assert own_code.RELAY.get() is None
    assert own_code.DEADLINE.get() == float("inf")


def test_off_the_main_thread_it_ends_when_it_ends():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(within, 0.01, NAMES["briefly"]).result() == 7


def test_a_coroutine_that_does_not_end_is_left_behind_and_keeps_no_later_call_from_ending(monkeypatch):
    monkeypatch.setattr(own_code, "GRACE", 0.05)
    error = stopped(NAMES["blocks"], 1.0)  # its thread needs a moment to begin
    assert (error.line, error.left_behind) == ("mine.py, line 58: time.sleep(2)", True)
    assert stopped(NAMES["waits_stubbornly"]).left_behind
    assert stopped(NAMES["swallows"]).line
    assert within(60, lambda: 7) == 7


def test_a_stop_that_comes_while_its_thread_begins_is_the_coroutines(monkeypatch):
    start = threading.Thread.start
    monkeypatch.setattr(own_code, "GRACE", 0.05)
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (start(thread), time.sleep(30)))
    assert stopped(NAMES["blocks"]).left_behind


def test_a_coroutine_that_waits_or_spins_is_stopped():
    assert not stopped(NAMES["waits"]).left_behind
    assert stopped(NAMES["spins"], 1.0).line.startswith("mine.py, line ")


def test_the_same_in_a_cell_of_a_kernel_whose_loop_is_running():
    async def cell():
        return stopped(NAMES["waits"], 1.0)

    assert asyncio.run(cell()).line.startswith("mine.py, line ")


def test_a_browser_has_no_threads_and_only_measures(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(own_code, "NOTICEABLE", 0.05)
    seen, spent = [], []
    own_code.call_watched("cardArt", seen.append, lambda: time.sleep(0.1), spend=spent.append, seconds=0.05)
    assert [(one.call, one.outcome) for one in seen] == [("cardArt", "")]
    assert spent == [seen[0].really]


@pytest.fixture
def browser(monkeypatch):
    """A browser's Python: no threads, and a loop that goes on by itself while a call waits, where it can."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(threading.Thread, "start", lambda _thread: pytest.fail("a browser has no threads"))
    loop = asyncio.new_event_loop()
    ffi = SimpleNamespace(loop=loop, can_run_sync=lambda: True, run_sync=loop.run_until_complete)
    monkeypatch.setitem(sys.modules, "pyodide", SimpleNamespace(ffi=ffi))
    monkeypatch.setitem(sys.modules, "pyodide.ffi", ffi)
    yield ffi
    loop.close()


async def waits_and_answers():
    return await asyncio.wait_for(asyncio.sleep(0.001, 3), 5) + await answers_at_once()


async def answers_at_once():
    await asyncio.sleep(0)
    return 4


def test_a_browser_awaits_a_coroutine_without_a_thread(browser):
    assert within(5, waits_and_answers) == 7
    browser.can_run_sync = lambda: False
    assert within(5, answers_at_once) == 4
    never = asyncio.Future(loop=browser.loop)
    with pytest.raises(ConfigurationError, match="Your code waits, which this browser's Python cannot do"):
        within(5, lambda: never)


async def fails():
    await asyncio.sleep(0)
    raise KeyError("mine")


@pytest.mark.parametrize("can", [True, False])
def test_what_a_coroutine_raises_in_a_browser_has_its_line(browser, can):
    browser.can_run_sync = lambda: can
    with pytest.raises(KeyError) as raised:
        within(5, fails)
    assert own_code.own_line(raised.value).endswith('raise KeyError("mine")')


def test_the_time_of_the_call_around_it_ends_both():
    error = stopped(lambda: within(300.0, NAMES["loops"]))
    assert str(error) == "it had not ended after 0.05 s of real time"


def test_a_call_inside_may_end_before_and_the_rest_still_counts():
    def outer():
        assert stopped(NAMES["loops"])
        NAMES["loops"]()

    assert str(stopped(outer, 1.0)) == "it had not ended after 1 s of real time"


def test_no_exception_of_the_integrators_catches_the_stop():
    def catches():
        with suppress(Exception):
            time.sleep(30)

    assert stopped(catches).line
    assert not issubclass(TookTooLong, Exception)


CLOCK = SimpleNamespace(limit=0.0, passed=0.0)


def end_its_time():
    CLOCK.passed += CLOCK.limit
    signal.setitimer(signal.ITIMER_REAL, 0.01, own_code.AGAIN)


def sleeps(*_given, **_named):
    end_its_time()
    time.sleep(30)


def told(run):
    """The calls that did not end; on a busy machine others may take long."""
    return [(code.call, code.outcome) for _at, code in run.trace.seen(m.CodeTookLong) if code.outcome]


async def waits(*_given, **_named):
    end_its_time()
    await asyncio.sleep(30)


def extension(call, method, **settings):
    handler = type("Mine", (ReferenceHandler,), {call: method})
    wallet = WalletApp(handler, phone=opened_phone(), **settings)
    wallet.walk()
    return wallet


async def blocks(*_given, **_named):
    with suppress(TookTooLong):  # which may come before it sleeps
        end_its_time()
        time.sleep(5)  # noqa: ASYNC251
    time.sleep(5)  # noqa: ASYNC251


OUTCOMES = {sleeps: "stopped", waits: "stopped", blocks: "left behind"}
ENDS = {"left behind": "it cannot be stopped, and goes on on a thread of its own", "stopped": "and was stopped"}
GENERATE = CALLS[m.CallGenerate]
HANGING = {
    "status": (State.NOT_LISTED, "status", "X-STATUS-3"),
    "pass_entries": (State.EMPTY, "pass_entries", "X-ENTRIES-3"),
    "card_art": (State.EMPTY, "pass_entries", "X-ENTRIES-3"),
    GENERATE: (State.NOT_ADDED, GENERATE, "X-GEN-1"),
    "provision": (State.NOT_ADDED, GENERATE, "X-GEN-1"),
}


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3", "X-GEN-1")
@rows("method", OUTCOMES)
@rows("call", HANGING)
def test_a_handler_that_hangs_is_named_with_its_line(stop_early, call, method):
    state, named, rule = HANGING[call]
    stop_early(named, method)
    wallet = extension(call, method)
    assert (wallet.state, told(wallet)) == (state, [(named, OUTCOMES[method])])
    (finding,) = [one for one in check(wallet.trace) if "had not ended" in one.text]
    assert (finding.rule, finding.level) == (rule, "fail")
    assert f"{ENDS[OUTCOMES[method]]}. test_own_code_stopped.py, line " in finding.text
    assert not any("StoppedError" in finding.text for finding in check(wallet.trace))


@pytest.mark.rule("X-STATUS-3")
def test_the_wallet_has_gone_by_then_and_bar_and_phone_show_it(stop_early):
    stop_early("status", sleeps, 0.1)
    played = play(Script("from the wallet", handler=type("Mine", (ReferenceHandler,), {"status": sleeps})))
    (bar,) = timing(played.film).budgets
    assert (bar.verdict, bar.used) == ("fail", 1)
    assert "no answer within 100 ms: your code really took 100 ms" in bar.words
    assert "app not listed" in played.film.frames[-1].state
    assert played.run.trace.select(m.BudgetSpent)
    assert played.run.trace[-1].name == "IgnoreLate"
    assert any("took more than 100 ms: the app is not listed in the wallet" in one.text for one in played.findings)


@pytest.mark.rule("X-STATUS-3")
def test_code_that_ends_late_is_too_late_by_its_real_time(monkeypatch):
    now = [time.perf_counter()]

    def status(self):
        now[0] += 0.32
        return ReferenceHandler.status(self)

    monkeypatch.setattr(own_code, "NOTICEABLE", 0.3)
    monkeypatch.setattr(own_code, "own_time", lambda: now[0])
    played = play(Script("from the wallet", handler=type("Mine", (ReferenceHandler,), {"status": status})))
    (bar,) = timing(played.film).budgets
    ((_at, slow),) = played.run.trace.seen(m.CodeTookLong)
    assert slow.really == 0.3
    assert "no answer within 100 ms: your code really took 300 ms" in bar.words
    assert bar.used == pytest.approx(3)
    assert played.run.state == "app not listed"


def test_the_same_slow_run_is_the_same_to_the_byte_and_a_quick_one_says_nothing(stop_early, monkeypatch):
    stop_early("status", sleeps, 0.1)
    first, second = (extension("status", sleeps).trace.to_jsonl() for _ in range(2))
    assert first == second
    monkeypatch.setattr(own_code, "own_time", lambda: 0.0)  # a busy machine is no code that took long
    quick = extension("status", ReferenceHandler.status)
    assert not quick.trace.select(m.CodeTookLong)
    assert quick.trace.to_jsonl() == extension("_helper", None).trace.to_jsonl()


class Delegate:
    def provision(self, sdk_output, payment_instrument_id): ...
    def did_finish_provisioning(self, pass_, error): ...


@pytest.mark.parametrize("method", OUTCOMES)
@pytest.mark.parametrize("call", ["fetchOpc", "provision", "didFinishProvisioning", "viewDidAppear", "get", "post"])
def test_each_callback_of_the_app_is_stopped_and_the_run_comes_to_its_end(monkeypatch, stop_early, call, method):
    stop_early(call, method)
    monkeypatch.setattr("workbook.play.back_end.Options", partial(Options, deadline=0.5))
    names = {"didFinishProvisioning": "did_finish_provisioning", "viewDidAppear": "view_did_appear"}
    mine = type("Mine", (Delegate,), {names.get(call, call): method})
    match call:
        case "fetchOpc":
            run = PlatformARun(app=AppA(fetch_opc=method))
        case "viewDidAppear":
            mine = type("Mine", (AuthorizationProvider,), {"view_did_appear": method})
            run = WalletApp(authorization=mine, phone=opened_phone())
        case "get" | "post":
            usual = {"__init__": lambda self, api: setattr(self, "api", api)}
            usual |= {
                "get": lambda self, card: self.api.get(card),
                "post": lambda self, card, out: self.api.post(card, out),
            }
            run = PlatformARun(back_end=back_end_over(type("Mine", (), usual | {call: method}), Network(Service())))
        case _:
            run = PlatformBRun(app=AppB(delegate=mine()))
    run.walk()
    assert told(run) == [(call, OUTCOMES[method])]
    assert run.state not in {*BUSY_A, *BUSY_B}
    (finding,) = [one for one in check(run.trace) if ENDS[OUTCOMES[method]] in one.text]
    assert (finding.rule, finding.level) == ("B-DEL-3" if call == "provision" else "REL-5", "fail")


def test_an_activity_provider_that_hangs_gives_no_activity(monkeypatch):
    monkeypatch.setattr("workbook.play.platform_a.BACK_END_WAIT", 0.1)
    made = CardProvisioning.create(DirectApi().get(INSTRUMENT_IDS[0]).sdk_input, sleeps)
    card = made.card_provisioning
    card.can_provision()
    provider = type("Mine", (), {"fetch_opc": staticmethod(fetch_opc)})()
    ended = card.provision(card_display_name="x", card_address=CardAddress(), opc_provider=provider)
    assert "activityProvider raised StoppedError" in ended.why


class Later:
    """A back end, an app's delegate and a handler of which every method is a coroutine function."""

    def __init__(self, api):
        self.api = api

    async def get(self, card):
        await asyncio.sleep(0)
        return self.api.get(card)

    async def post(self, card, sdk_output):
        await asyncio.sleep(0)
        return self.api.post(card, sdk_output)


class LaterDelegate:
    async def provision(self, sdk_output, payment_instrument_id):
        await asyncio.sleep(0)
        return DirectApi().post(payment_instrument_id, SdkOutput.from_bytes(sdk_output)).sdk_input.data

    async def did_finish_provisioning(self, pass_, error):
        await asyncio.sleep(0)


async def fetch_opc(payment_instrument_id, sdk_output):
    await asyncio.sleep(0)
    return DirectApi().post(payment_instrument_id, SdkOutput(sdk_output)).sdk_input.text


def test_each_callback_may_be_a_coroutine_function(monkeypatch):
    monkeypatch.setattr(own_code, "NOTICEABLE", 60.0)  # a busy machine is no mistake of theirs
    own = back_end_over(Later, Network(Service()))
    for run in (
        PlatformARun(app=AppA(fetch_opc=fetch_opc)),
        PlatformARun(back_end=own),
        PlatformBRun(app=AppB(delegate=LaterDelegate())),
    ):
        run.walk()
        assert (run.state, check(run.trace)) == ("in the wallet", [])
