"""The cases for apps, as data."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from rows import rows

import workbook.tools.conform.app.cases as cases_module
from workbook.base.rules import rule
from workbook.flows.variants import A_FROM_0_4_0
from workbook.simulation.http import Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.cases import APP_CASES, KEPT, AppSeen
from workbook.tools.conform.app.cases_b import APP_CASES_B
from workbook.tools.conform.app.device import DeviceA
from workbook.tools.conform.app.stage import Reference, play_core
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.harness.model import Miss, Verdict, gravest
from workbook.tools.harness.program import LogLine


def test_no_name_is_another_tools() -> None:
    assert not set(APP_CASES) & set(CASES)
    assert all(name == case.name and name.startswith(f"app.{case.group}.") for name, case in APP_CASES.items())


def test_every_case_looks_at_something_and_says_it_in_a_sentence() -> None:
    assert [case.name for case in APP_CASES.values() if not case.steps or not case.says.endswith(".")] == []


def test_an_exception_in_the_app_fails_every_case_and_comes_first() -> None:
    threw = AppSeen((), {}, DeviceA("app", A_FROM_0_4_0), (), threw=("uncaught: java.io.IOException",), unreached="GET")
    for case in APP_CASES.values():
        (missed,) = case.judge(threw)
        assert (missed.expected, missed.observed) == ("no exception in the app", "uncaught: java.io.IOException")
        assert gravest([missed], case.rule) is Verdict.FAIL
    assert not [miss for miss in case.judge(replace(threw, threw=())) if "exception" in miss.expected]


def test_what_a_case_saw_shows_no_session_and_no_line_of_a_log() -> None:
    line = LogLine("app.log", 1, "text-of-the-log")
    seen = AppSeen(
        (), {}, DeviceA("app", A_FROM_0_4_0), log=(line,), session="the-session", earlier=frozenset({"an-old-value"})
    )
    assert not re.search("text-of-the-log|app.log|the-session|an-old-value", repr(seen))


@pytest.mark.parametrize(("seconds", "missed"), [(19.9, []), (20.1, ["create was called with its late answer"])])
def test_create_may_use_a_get_until_the_wallet_gives_up(seconds: float, missed: list[str]) -> None:
    # on one clock the process began at 50 s and the GET came at 100 s; a trace counts from the process' begin
    seen: Any = SimpleNamespace(
        device=SimpleNamespace(began=50.0),
        came=lambda _operation: [SimpleNamespace(at=100.0)],
        happened=lambda _message: [SimpleNamespace(at=50.0 + seconds)],
    )
    assert [miss.observed for miss in cases_module.late_get_unused(seen)] == missed


CHANGES = {
    "none": lambda text: text,
    "padding trimmed": lambda text: text.rstrip("="),
    "read as a form": lambda text: text.replace("+", " "),
    "made URL-safe": lambda text: text.replace("/", "_"),
}
"""What an app may do to opaque data on its way."""


@pytest.mark.rule("A-OPC-1", "API-7")
@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_the_opaque_data_is_seen(change: str) -> None:
    for name, of_output in (("output-unchanged", CHANGES[change]), ("opc-unchanged", CHANGES["none"])):

        class Changes(Reference):
            async def fetch_opc(self, card: str, sdk_output: str, of_output: Any = of_output) -> str:
                return CHANGES[change](await self.back_end.post(card, of_output(sdk_output)))

        case = APP_CASES[f"app.fidelity.{name}"]
        assert any(case.judge(play_core(Changes, case))) == (change != "none")


@pytest.mark.rule("A-CAN-6")
def test_a_report_is_asked_for_where_there_is_an_issue_and_nowhere_else() -> None:
    seen = AppSeen((), {}, DeviceA("app", A_FROM_0_4_0), (), reports=0)
    for name in ("app.screen.not-reported-when-opened", "app.screen.not-reported-when-added"):
        assert not any(APP_CASES[name].judge(seen))
        (missed,) = APP_CASES[name].judge(replace(seen, reports=1))
        assert missed.observed == "1 came"


@pytest.mark.rule("API-13")
def test_whom_the_app_asks_besides_its_back_end_is_named() -> None:
    hosts = frozenset({"127.0.0.1:9", "b.example:443", "a.example:443"})
    seen = AppSeen((), {}, DeviceA("app", A_FROM_0_4_0), (), hosts=hosts, back_end="127.0.0.1:9")
    misses = list(APP_CASES["app.secrecy.back-end-only"].judge(seen))
    assert [miss.observed for miss in misses] == [f"the app asked for {host}.example:443" for host in "ab"]
    assert {miss.todo for miss in misses} == {"Only your back end calls the HTTP API."}


class EscapesNothing(Reference):
    """It writes its JSON by hand."""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        body = ('{"sdkOutput":"' + sdk_output + '"}').encode()
        answer = await self.back_end.played.respond(Request("POST", f"/cards/{card}/provision", (), body))
        return str(json.loads(answer.body).get("sdkInput", ""))


@pytest.mark.rule("API-7")
def test_an_app_that_escapes_nothing_in_its_json_is_seen() -> None:
    escaped, plain = APP_CASES["app.fidelity.json-escaped"], APP_CASES["app.fidelity.output-unchanged"]
    assert not any(escaped.judge(play_core(Reference, escaped)))
    assert not any(plain.judge(play_core(EscapesNothing, plain)))
    assert any(escaped.judge(play_core(EscapesNothing, escaped)))


class GivesUp(Reference):
    """It gives its POST up in time."""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        return await asyncio.wait_for(self.back_end.post(card, sdk_output), 0.05)


class Repeats(GivesUp):
    """It sends its POST once more, whatever became of the first."""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        try:
            return await super().fetch_opc(card, sdk_output)
        except (ConnectionError, TimeoutError):
            return await super().fetch_opc(card, sdk_output)


class NeverPosts(Reference):
    """It fails before it asks its back end."""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        raise ConnectionError(card, sdk_output)


SAYS: dict[str, tuple[str, str]] = {
    "nothing-technical": ("Not added: {failure}", ""),
    "cancel-is-no-failure": ("Not added", "Not added"),
    "failure-told": ("", ""),
    "": ("Not added. Please try again later.", ""),
}
"""What an app says after a failure and after a cancel, by the case that finds it; the last is right."""


@pytest.mark.slow
@pytest.mark.rule("APP-4", "APP-6")
@pytest.mark.parametrize("finds", SAYS)
def test_what_the_page_says_after_a_failure_and_after_a_cancel(finds: str) -> None:
    class Telling(Reference):
        message = ""

        async def add_tapped(self) -> None:
            await super().add_tapped()
            failure = self.sdk.failure
            said = SAYS[finds][failure == "Canceled"].format(failure=failure)
            self.message = said if failure else "Added"

    cases = [APP_CASES[f"app.screen.{name}"] for name in SAYS if name]
    found = [case.name for case in cases if list(case.judge(play_core(Telling, case)))]
    assert found == ([f"app.screen.{finds}"] if finds else [])


@pytest.mark.rule("APP-9")
@pytest.mark.parametrize("says", ["", "Try again"])
def test_what_the_page_says_after_a_get_that_failed(says: str) -> None:
    class Opened(Reference):
        message = ""

        async def opened(self) -> None:
            try:
                await super().opened()
            except ConnectionError:
                self.message = says

    case = APP_CASES["app.screen.get-failure-told"]
    misses = list(case.judge(play_core(Opened, case)))
    assert gravest(misses, case.rule) is (Verdict.PASS if says else Verdict.WARN)


LINES: dict[str, Callable[[bytes], str]] = {
    "as it is": lambda data: b64encode(data).decode(),
    "its end": lambda data: b64encode(data).decode()[-24:],
    "URL-safe, in a line": lambda data: f"got {urlsafe_b64encode(data).decode()}.",
    "decoded": lambda data: data.decode(),
    "decoded and cut": lambda data: data.decode()[:20],
    "from its middle": lambda data: data.decode()[170:190],
    "as JSON in JSON": lambda data: json.dumps({"body": data.decode()}),
    "a map": lambda data: str(json.loads(data)).replace("'", ""),
    "in percent": quote,
    "hexadecimal": lambda data: f"<{data.hex(' ', 4).upper()}>",
    "a list of bytes": lambda data: str(list(data)),
    "the cardholder": lambda data: f"Hello {json.loads(data)['cardholderName'].title()}!",
}
"""How a log may write an sdkInput, which is base64 text of these bytes."""
SAID: dict[str, Callable[[bytes], str]] = {
    "its length": lambda data: f"{len(data)} bytes, card {json.loads(data)['paymentInstrumentId']} shown",
    "four digits": lambda data: f"card ending {json.loads(data)['lastFour']}",
    "the card's id": lambda data: json.dumps({"paymentInstrumentId": json.loads(data)["paymentInstrumentId"], "a": 1}),
    "names of fields": lambda data: " ".join(json.loads(data)),
}
"""What it may say."""


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("way", [*LINES, *SAID])
def test_an_sdk_input_in_the_log_is_found_however_it_is_written(way: str) -> None:
    class Logs(Reference):
        async def opened(self) -> None:
            data = b64decode(await self.back_end.get(self.card))
            self.log((LINES | SAID)[way](data))
            await super().opened()

    seen = play_core(Logs, APP_CASES["app.secrecy.no-sdk-input-in-log"])
    found = [name for name in ("input", "output") if any(APP_CASES[f"app.secrecy.no-sdk-{name}-in-log"].judge(seen))]
    assert ("input" in found) == (way in LINES)
    assert found in ([], ["input"]) or way == "decoded and cut"  # all simulated values begin so


@pytest.mark.rule("APP-12", "REL-3")
def test_a_session_in_the_log_is_one_of_the_app_and_fails() -> None:
    case, session = APP_CASES["app.secrecy.no-session-in-log"], "the-session-of-Ann-0001"
    seen = AppSeen((), {}, DeviceA("app", A_FROM_0_4_0), session=session)
    assert not any(case.judge(replace(seen, log=(LogLine("app.log", 1, "401: sign in again"),))))
    misses = list(case.judge(replace(seen, log=(LogLine("app.log", 1, f"authorization: Bearer {session}"),))))
    assert gravest(misses, case.rule) is Verdict.FAIL


class TellsOpc(Reference):
    """Its page shows what the back end gave."""

    message = ""

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        self.message = sdk_output
        return await super().fetch_opc(card, sdk_output)


@pytest.mark.rule("APP-6")
def test_a_value_on_the_page_fails_although_a_name_only_warns() -> None:
    case = APP_CASES["app.screen.nothing-technical"]
    misses = list(case.judge(play_core(TellsOpc, case)))
    assert {miss.expected for miss in misses} == {"no sdkOutput on the page"}
    assert gravest(misses, case.rule) is Verdict.FAIL


@pytest.mark.rule("APP-6")
@pytest.mark.parametrize("name", ["NoActiveWallet", "DEVICE_LOCKED", "ApiException"])
def test_a_name_of_the_code_on_the_page_is_technical_however_it_is_written(name: str) -> None:
    seen: Any = SimpleNamespace(looks={"failed": ("shown", f"Not added: {name}")}, arrivals=(), session="")
    (miss,) = cases_module.nothing_technical(seen)
    assert miss.observed == f"it says {name!r} (failed)"


class AtOnce(Reference):
    """It takes each tap in at once."""

    async def add_tapped(self) -> None:
        await self.sdk.provision(self.fetch_opc)


class HidesAnyway(Reference):
    """After a success it asks, and hides its button whatever the answer is."""

    async def add_tapped(self) -> None:
        await super().add_tapped()
        await self.sdk.asked()
        self.button = "hidden"


class NeverAgain(Reference):
    """A card that was added is never offered again."""

    added = False

    async def add_tapped(self) -> None:
        await super().add_tapped()
        type(self).added = True

    async def opened(self) -> None:
        await super().opened()
        self.button = "hidden" if self.added else self.button


class Keeps(Reference):
    """It keeps the activation data of its first page for ever."""

    kept = ""

    async def opened(self) -> None:
        type(self).kept = self.kept or await self.back_end.get(self.card)
        self.button = await self.sdk.button(self.kept)


@pytest.mark.rule("REL-7")
@pytest.mark.parametrize(
    ("name", "observed"),
    [
        ("isolation.second-card", ["none came"]),
        ("screen.offered-while-possible", []),
        ("form.one-get-before-create", ["create got one that an earlier page was given"]),
    ],
)
def test_activation_data_that_is_kept_is_the_cause_that_is_told(name: str, observed: list[str]) -> None:
    case = APP_CASES[f"app.{name}"]
    earlier = {arrival.given or "" for arrival in play_core(Keeps, case).arrivals}
    misses = list(case.judge(replace(play_core(Keeps, case), earlier=frozenset(earlier | {Keeps.kept}))))
    assert [(miss.observed, miss.todo) for miss in misses] == [(each, KEPT.todo) for each in observed]


class ShownTooEarly(Reference):
    """It shows its button once the SDK is created, and hides it where canProvision says no."""

    async def opened(self) -> None:
        sdk_input = await self.back_end.get(self.card)
        self.button = "shown"
        self.button = await self.sdk.button(sdk_input)


class OfFirstCard(Reference):
    """Its POST is always for the first card."""

    async def fetch_opc(self, _card: str, sdk_output: str) -> str:
        return await self.back_end.post(INSTRUMENT_IDS[0], sdk_output)


class NeverShown(Reference):
    """Its page shows no button for the second card."""

    async def opened(self) -> None:
        await super().opened()
        self.button = "shown" if self.card == INSTRUMENT_IDS[0] else "hidden"


SECOND, ASKING, DURING, AFTER = (
    "isolation.second-card",
    "screen.not-shown-while-asking",
    "concurrency.taps-during-attempt",
    "screen.offered-while-possible",
)


@pytest.mark.rule("A-BTN-1", "A-CAN-1", "APP-3", "FLOW-2")
@pytest.mark.parametrize(
    ("name", "core", "observed"),
    [
        (SECOND, Reference, []),
        (SECOND, OfFirstCard, [f"it is for {INSTRUMENT_IDS[0]}"]),
        (SECOND, NeverShown, ["no attempt was begun"]),
        (ASKING, Reference, []),
        (ASKING, ShownTooEarly, ["it is shown"]),
        (DURING, AtOnce, ["3 were begun"]),
        (AFTER, Reference, []),  # it hides its button after a success, and does not ask again
        (AFTER, HidesAnyway, ["it is hidden"]),
        (AFTER, NeverAgain, ["it is hidden"]),
    ],
)
def test_what_a_case_observes_of_a_core(name: str, core: type[Reference], observed: list[str]) -> None:
    case = APP_CASES[f"app.{name}"]
    assert [miss.observed for miss in case.judge(play_core(core, case))] == observed


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("name", [name for name in APP_CASES if name.startswith("app.faults.post-")])
def test_every_post_of_an_attempt_is_counted_in_every_fault(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases_module, "WALLET_WAITS", 0.5)
    case = APP_CASES[name]
    assert list(case.judge(play_core(GivesUp, case))) == []
    missed = list(case.judge(play_core(Repeats, case)))
    assert [(miss.rule, miss.observed) for miss in missed] == [("REL-1", "2 came")]
    assert gravest(missed, case.rule) is Verdict.FAIL
    assert gravest(case.judge(play_core(NeverPosts, case)), case.rule) is not Verdict.PASS


@pytest.mark.rule("APP-1", "APP-2", "APP-3", "A-CAN-1", "A-CAN-2")
@rows("name", {"A": APP_CASES, "B": APP_CASES_B})
def test_what_is_assumed_rests_on_a_practice_rule(name: str) -> None:
    """The document shows or hides a button for two outcomes. What an app does after another one is assumed."""
    for case in {"A": APP_CASES, "B": APP_CASES_B}[name].values():
        assert "(assumed)" not in case.says or rule(case.rule).level == "practice", case.name
        assert "(assumed)" in case.says or not case.rule.startswith("APP-"), case.name
        if case.rule in {"APP-1", "APP-2", "APP-10"}:
            assert gravest([Miss("a button", "none", "Do it.")], case.rule) is Verdict.WARN


class TellsAll(Reference):
    """It prints and shows whatever it gets, offers its button all the time, and asks its back end twice."""

    message = ""

    async def opened(self) -> None:
        self.button = "shown"
        self.log(await self.back_end.get(self.card))
        await super().opened()
        self.button = "shown"

    async def add_tapped(self) -> None:
        await self.sdk.provision(self.fetch_opc)
        self.message = f"HTTP 500 {self.sdk.failure or 'null'}"

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        self.log(sdk_output)
        self.message = sdk_output
        return await self.back_end.post(card, sdk_output)


class AtOpening(Reference):
    """It begins an attempt by itself, and another one after it."""

    async def opened(self) -> None:
        await super().opened()
        await self.add_tapped()
        await self.add_tapped()


class GivesAnything(Reference):
    """It gives the SDK a text of its own where its back end has none, and changes what it gets."""

    async def opened(self) -> None:
        try:
            sdk_input = (await self.back_end.get(self.card)).rstrip("=")
        except ConnectionError:
            sdk_input = "none"
        self.button = await self.sdk.button(sdk_input)

    async def fetch_opc(self, card: str, sdk_output: str) -> str:
        try:
            return (await self.back_end.post(card, sdk_output.lower())).lower()
        except ConnectionError:
            return "none"


class DoesNothing(Reference):
    """It shows its button, and calls nobody."""

    async def opened(self) -> None:
        self.button = "shown"

    async def add_tapped(self) -> None:
        self.button = "hidden"


CORES = [Reference, TellsAll, AtOpening, GivesAnything, DoesNothing]


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_what_each_case_says_of_a_core_word_for_word(core: type[Reference], golden: Callable[[str, str], None]) -> None:
    told = {"app.faults.post-500", "app.faults.post-no-json", "app.faults.get-500", "app.faults.get-connection-cut"}
    cases = [case for case in APP_CASES.values() if not case.variant and (case.group != "faults" or case.name in told)]
    with ThreadPoolExecutor(4) as pool:
        seen = pool.map(lambda case: play_core(core, case), cases)
        lines = [
            f"{one.name}: {miss_in_words(miss)}" for one, of in zip(cases, seen, strict=True) for miss in one.judge(of)
        ]
    golden(f"misses_{core.__name__}", "\n".join(lines))


def miss_in_words(miss: Miss) -> str:
    marks = " noted" * miss.noted + " harms" * miss.harms
    observed = re.sub(r"(?<=test_cases.py, line )\d+", "N", miss.observed)  # a line of this file
    return f"{miss.expected} | {observed} | {miss.todo} | {miss.rule} {miss.root.name}{marks}"
