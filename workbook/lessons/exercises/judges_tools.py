"""Judges of what the tools judge (lessons 06 to 08): relays, app cores and edited projects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from workbook.base.files import ScratchFolder, sample
from workbook.base.values import quoted
from workbook.errors import ParameterError
from workbook.lessons.exercises.model import Observed, Reason, first_reason
from workbook.lessons.tools import tool
from workbook.play.own_code import exception_words, own_line

ANN, HERS, HIS, NOBODYS = "session-of-ann", "PI-OF-ANN", "PI-OF-BOB", "PI-OF-NOBODY"
# What an error of the API says; no app reads it (REL-9).
API_WORDS: Final = "the credential lacks a role"


@dataclass(frozen=True, slots=True)
class Came:
    """What a call of the relay came to.

    Attributes:
        value: what it returned.
        status: of its refusal; 0 without one.
        sentence: of its refusal.
        error: what it raised that is no refusal, with the learner's line; empty without one.
        calls: how often it called the API.
    """

    value: object = None
    status: int = 0
    sentence: str = ""
    error: str = ""
    calls: int = 0

    @property
    def words(self) -> str:
        """The outcome as a clause."""
        if self.error:
            return f"raised {self.error}"
        return f"refused with {self.status}" if self.status else f"returned {quoted(self.value)}"


def call_relay(kind: Any, call: Callable[[Any], object], answer: tuple[int, bytes] | None = None) -> Came:
    """Call a relay of this class; its API gives `answer` each time, and with None each answer is lost."""
    calls: list[str] = []

    class Played(kind):  # type: ignore[misc]  # the learner's class
        def client(self) -> None:
            """None is needed, and a client of twenty takes a busy machine longer than an answer may take."""

        def call(self, method: str, *_more: object, **_named: object) -> tuple[int, bytes]:
            calls.append(method)
            if answer is None:
                raise self.Refused(502, "The card cannot be added now. Try again later.")
            return answer

    try:
        value = call(Played("http://127.0.0.1:9", "key-of-no-api", {ANN: (HERS,), "session-of-bob": (HIS,)}))
    except kind.Refused as refused:
        return Came(status=refused.status, sentence=str(refused.sentence), calls=len(calls))
    except Exception as error:  # noqa: BLE001  # a learner's code may raise anything
        return Came(error=f"{exception_words(error)}. {own_line(error)}".rstrip(" ."), calls=len(calls))
    return Came(value, calls=len(calls))


def body(value: object) -> bytes:
    """A body in JSON, with its letters as they are."""
    return json.dumps(value, ensure_ascii=False).encode()


# Answers that the phone gets: what they are, the body, its sdkInput, and the rule.
USABLE: Final = (
    ("a 200 with an sdkInput", body({"sdkInput": "abc="}), "abc=", "API-9"),
    ("a 200 with a field that nobody knows", body({"sdkInput": "abc=", "new": 1}), "abc=", "API-9"),
    ("an sdkInput with blanks at both ends", body({"sdkInput": "  abc=\n"}), "  abc=\n", "API-7"),
    ("an sdkInput with a letter beyond ASCII", body({"sdkInput": "äbc="}), "äbc=", "API-7"),
)

# Answers that are a failure: what they are, the status, the body, and the rule.
USELESS: Final = (
    ("a 403", 403, body({"title": "Forbidden", "detail": API_WORDS}), "REL-6"),
    ("a 500 with an sdkInput in its body", 500, body({"sdkInput": "abc="}), "REL-6"),
    ("a 200 without sdkInput", 200, b"{}", "REL-6"),
    ("a 200 whose sdkInput is null", 200, body({"sdkInput": None}), "REL-6"),
    ("a 200 whose sdkInput is empty", 200, body({"sdkInput": ""}), "REL-6"),
    ("a 200 whose sdkInput is a number", 200, body({"sdkInput": 7}), "API-9"),
    ("a 200 whose JSON is a list", 200, b"[]", "API-9"),
    ("a 200 whose JSON is null", 200, b"null", "API-9"),
    ("a 200 that is a page for people", 200, b"<h1>Maintenance</h1>", "API-9"),
    ("a 200 that is no UTF-8", 200, b'{"sdkInput": "\xff"}', "API-9"),
)


def only_what_can_be_used(kind: Any) -> Reason | Observed:
    """`sdk_input` of a relay hands on what can be used, unchanged, and refuses everything else with a 502."""
    for what, data, sdk_input, rule in USABLE:
        came = call_relay(kind, lambda relay, data=data: relay.sdk_input((200, data)))  # type: ignore[misc]
        if came.value != sdk_input:
            return Reason(rule, f"for {what}, your relay {came.words}. The phone gets the value as the API gave it.")
    for what, status, data, rule in USELESS:
        came = call_relay(kind, lambda relay, answered=(status, data): relay.sdk_input(answered))  # type: ignore[misc]
        outcome = f"for {what}, your relay {came.words}."
        if reason := first_reason(
            (not came.status, rule, f"{outcome} That is a failure: raise self.Refused(502, ...)."),
            (came.status != 502, "REL-9", f"{outcome} The app reads its status as one of its own: answer 502."),
            (API_WORDS in came.sentence, "REL-9",
             f"for {what}, your relay told the app the API's own words. Use one sentence for all."),
        ):  # fmt: skip
            return reason
    return Observed()


def own_cards_and_one_post(kind: Any) -> Reason | Observed:
    """A session reaches its own cards only, and a POST is made once."""
    good = 200, body({"sdkInput": "abc="})

    def provision(session: str, card: str, answer: tuple[int, bytes] | None = good) -> Came:
        return call_relay(kind, lambda relay: relay.provision(session, card, "sdkOutput"), answer)

    hers, unknown = provision(ANN, HERS), provision("session-of-nobody", HERS)
    his, nobodys = provision(ANN, HIS), provision(ANN, NOBODYS)
    check = call_relay(kind, lambda relay: relay.check(ANN, HIS))
    known = "" if nobodys.status else ", also for a card that does not exist"
    refuse = "Refuse it, and call no API."
    lost, busy = provision(ANN, HERS, None), provision(ANN, HERS, (503, b""))
    posts = {"its answer was lost": lost, "the API answered 503": busy, "all went well": hers}
    failures = {"the POST's answer was lost": lost, "the API answered 503": busy}
    reason = first_reason(
        (hers.value != "abc=", "REL-4",
         f"Ann asked for her own card, and your relay {hers.words}. Her session reaches her cards."),
        (not unknown.status or unknown.calls > 0, "REL-4",
         f"for a session that nobody has, your relay {unknown.words}. {refuse}"),
        (check.value is not None, "REL-4",
         f"for Bob's card, your check {check.words}, and Ann got it. Nobody looks at what check returns: raise."),
        (not his.status or his.calls > 0, "REL-4",
         f"Ann asked for Bob's card, and your relay {his.words}{known}. Look for it among her session's own cards."),
        (not nobodys.status or nobodys.calls > 0, "REL-4",
         f"for a card that does not exist, your relay {nobodys.words}. {refuse}"),
        (his.status == 401, "REL-9",
         "Ann asked for Bob's card, and your relay told her to sign in again. Her session is right."),
        (his.status != nobodys.status, "REL-4",
         (f"your relay refused Bob's card with {his.status} and one that does not exist with {nobodys.status}. "
         "So Ann learns which cards exist: give both the same answer.")),
        *((came.calls != 1, "REL-1", (f"your relay made the POST {came.calls} times when {when}. "
           "Make it once: the next tap has a new sdkOutput.")) for when, came in posts.items()),
        *((not came.status, "REL-6", f"{when}, and your relay {came.words}. The app takes that for a success: refuse.")
          for when, came in failures.items()),
    )  # fmt: skip
    return reason or Observed()


# What the learner's app core is judged by; the first case that it fails gives the reason.
JUDGED_BY: Final = (
    "app.fidelity.output-unchanged",
    "app.fidelity.opc-unchanged",
    "app.form.adds-the-card",
    "app.concurrency.disabled-at-once",
    "app.concurrency.disabled-in-the-wallet",
    "app.screen.hidden-after-success",
    "app.faults.post-500",
    "app.recovery.enabled-after-cancel",
    "app.recovery.adds-after-failure",
    "app.recovery.post-not-repeated",
    "app.secrecy.no-sdk-output-in-log",
    "app.secrecy.no-value-in-log-after-failure",
    "app.life.closed-during-attempt",
)


def app_core(kind: Any) -> Reason | Observed:
    """The learner's app core passes every case."""
    cases = tool("APP_CASES")
    if found := tool("first_miss")(kind, [cases[name] for name in JUDGED_BY]):
        case, miss, seen = found
        text = f"{case.name}: expected {miss.expected}; observed: {miss.observed}. {miss.todo}"
        return Reason(miss.rule or case.rule, text, seen.device)
    return Observed(tool("play_core")(kind, cases["app.form.adds-the-card"]).device)


async def post(core: Any, card: str, sdk_output: str) -> str:
    """A provider that asks the back end, and no more."""
    return str(await core.back_end.post(card, sdk_output))


async def swallowing(core: Any, card: str, sdk_output: str) -> str:
    """A provider that returns an empty text where there is no OPC data."""
    try:
        return await post(core, card, sdk_output)
    except ConnectionError:
        return ""


async def repeating(core: Any, card: str, sdk_output: str) -> str:
    """A provider that sends the POST again."""
    try:
        return await post(core, card, sdk_output)
    except ConnectionError:
        return await post(core, card, sdk_output)


async def unending(core: Any, card: str, sdk_output: str) -> str:
    """A provider that goes on when its page is gone, as one in `NonCancellable` does."""
    work = asyncio.ensure_future(post(core, card, sdk_output))
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            continue
    return work.result()


@cache
def providers() -> Observed:
    """For each of the four providers whose Kotlin is in the task: the first case that it fails, without its group."""
    cases = ("app.recovery.post-not-repeated", "app.faults.post-500", "app.life.closed-during-attempt")
    facts = {}
    for name, provider in {"a": post, "b": swallowing, "c": repeating, "d": unending}.items():
        kind = type(name, (tool("Reference"),), {"fetch_opc": provider})
        found = tool("first_miss")(kind, [tool("APP_CASES")[case] for case in cases])
        facts[name] = found[0].name.rpartition(".")[2] if found else "none"
    return Observed(None, **facts)


@cache
def handlers() -> Observed:
    """For each of the four handlers whose Swift is in the task: the case that it failed, without its group.

    What is read was stored by a run of real processes; a nightly test makes it anew.
    """
    failed = json.loads(sample("apps/handlers.json").read_text("utf-8"))
    return Observed(None, **{name: case.rpartition(".")[2] if case else "none" for name, case in failed.items()})


@cache
def process_ends() -> Observed:
    """The system ends the app while its POST waits; then the cardholder opens the page again."""
    from workbook.views.sequence import sequence

    seen = tool("play_core")(tool("Reference"), tool("APP_CASES")["app.life.process-death"])
    return Observed(
        sequence(seen.device.trace),
        posts=len(seen.came("POST")),
        gets=len(seen.came("GET")),
        in_wallet=bool(seen.device.phone.cards),
        button=seen.button("after"),
    )


# A file of a project, a text in it, and what it becomes.
Edit = tuple[str, str, str]
UI, ENTITLEMENTS = "WalletUI/Info.plist", "WalletUI/WalletUI.entitlements"
APP, CATALOG = "app/build.gradle.kts", "gradle/libs.versions.toml"
LETTER: Final[Edit] = (UI, "provisioning.authorization", "provisioning.authorisation")
OLD_LIBRARY: Final[Edit] = (CATALOG, "18.8.0", "18.3.3")
DEBUG_SUFFIX: Final[Edit] = (
    APP,
    "        release {",
    '        debug { applicationIdSuffix = ".debug" }\n        release {',
)


def edit(platform: str, *edits: Edit) -> dict[str, str]:
    """The texts of a sample project with these edits."""
    files: dict[str, str] = tool("texts_of")(sample(f"projects/{platform}"))
    for file, old, new in edits:
        files[file] = files[file].replace(old, new)
    return files


def judge_project(files: Mapping[str, str]) -> Any:
    """What preflight says of these files."""
    return tool("project")(files)


def worst(files: Mapping[str, str]) -> str:
    """The gravest verdict of any case: `pass` where none found anything."""
    verdicts = {str(case.verdict) for case in judge_project(files).record.cases}
    return next((verdict for verdict in ("fail", "warn", "note") if verdict in verdicts), "pass")


def one_edit_each() -> Observed:
    """Five edits of good projects, each on its own."""
    return Observed(
        judge_project(edit("platform_b", LETTER)),
        letter=worst(edit("platform_b", LETTER)),
        entitlement=worst(edit("platform_b", (ENTITLEMENTS, "<true/>", "<false/>"))),
        ui_group=worst(edit("platform_b", (ENTITLEMENTS, "group.com.issuer.cards", "group.com.issuer.card"))),
        library=worst(edit("platform_a", OLD_LIBRARY)),
        suffix=worst(edit("platform_a", DEBUG_SUFFIX)),
    )


def judge_fixed(fix: Callable[[dict[str, str]], Any], platform: str, *edits: Edit) -> Reason | Observed:
    """The learner's function fixes these edits, and takes nothing away that was good."""
    broken = edit(platform, *edits)
    given = fix(dict(broken))
    if not isinstance(given, Mapping):
        return Reason("", f"your function returned {quoted(given)}. Return the files, as a mapping of names to texts.")
    if gone := [name for name in broken if name not in given]:
        return Reason("", f"{gone[0]} is gone. A project without it fixes nothing: change its text.")
    result = judge_project(given)
    for case in result.record.cases:
        for miss in case.misses if case.verdict in ("fail", "warn") else ():
            text = f"{miss.place}: expected {miss.expected}, observed {miss.observed}. {miss.todo}"
            return Reason(miss.rule, text, result)
    passed = {case.name for case in result.record.cases if case.verdict == "pass"}
    for case in judge_project(edit(platform)).record.cases:
        if case.verdict == "pass" and case.name not in passed:
            text = f"{case.name} finds nothing to judge any more: what it read is no longer in the files."
            return Reason(case.rule, text, result)
    return Observed(result)


def three_in_b(fix: Any) -> Reason | Observed:
    """Three mistakes in platform B's files that no compiler finds."""
    group = ("WalletExtension/WalletExtension.entitlements", "group.com.issuer.cards", "group.com.issuer.card")
    return judge_fixed(fix, "platform_b", LETTER, group, ("WalletExtension/Info.plist", "$(PRODUCT_MODULE_NAME).", ""))


def three_in_a(fix: Any) -> Reason | Observed:
    """Three mistakes about platform A's private library; the SDK stays what it is."""
    published = 'publishing {\n    artifact(file("libs/tap-and-pay-18.8.0.aar"))\n}\n\ndependencies {'
    edits = (
        OLD_LIBRARY,
        ("settings.gradle.kts", "        mavenLocal() // the wallet provider's private library\n", ""),
        (APP, "dependencies {", published),
    )
    seen = judge_fixed(fix, "platform_a", *edits)
    if isinstance(seen, Observed) and 'sdk = "0.4.1"' not in fix(edit("platform_a", *edits))[CATALOG]:
        return Reason("A-DEP-1", "the SDK is no longer 0.4.1. Bring the library that this SDK needs.", seen.run)
    return seen


def entries_to_send() -> Observed:
    """Ann and Bob build the debug variant, one key signs the release: what has to be allowlisted?"""
    allowlist_request, read_certificates = tool("allowlist_request"), tool("read_certificates")
    report = sample("projects/signing_report.txt")
    anns = read_certificates(report, machine="Ann's")
    with ScratchFolder() as folder:
        his = Path(folder, "bob.txt")
        his.write_text(report.read_text("utf-8").partition("----------")[0].replace("0A:1B", "0A:1C"), "utf-8")
        bobs = read_certificates(his, machine="Bob's")
    result = tool("project")(edit("platform_a", DEBUG_SUFFIX))
    rows = allowlist_request(result.variants, [*anns, *bobs])
    ids = dict(result.variants)
    sent = {(row["applicationId"], row["sha256"]) for row in allowlist_request(result.variants, anns)}
    try:
        tool("normalise")("5E:8F:16:06:2E:A3:CD:2C:4A:0D:54:78:76:BA:A6:F3:8C:AB:F6:25")
        digest = "either"
    except ParameterError:
        digest = "SHA-256"
    return Observed(
        result,
        entries=len(rows),
        debug_id=ids["debug"],
        anns_is_enough=(ids["debug"], bobs[0].fingerprint) in sent,
        digest=digest,
    )
