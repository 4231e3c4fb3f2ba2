"""The judges of lesson 09: app cores in Python, driven through cases of `workbook conform app` in this process."""

import asyncio
from functools import cache
from typing import Any, Final

from workbook.lessons.exercises.model import Observed, Reason
from workbook.lessons.tools import tool

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
