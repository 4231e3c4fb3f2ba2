"""The judges of lesson 00: one run of platform A, and three findings."""

from typing import Any

from workbook.flows import messages as m
from workbook.lessons.exercises.model import Observed
from workbook.lessons.session import session


def after_the_tap() -> Observed:
    """Who sends what between the tap and the card."""
    run: Any = session().platform_a.play()
    (post,) = (
        message for record in run.trace if isinstance(message := record.message, m.ApiRequested) and message.sdk_output
    )
    (made,) = run.trace.select(m.FetchOpcCalled)
    (returned,) = run.trace.select(m.ReturnOpc)
    kind = returned.message.sdk_input.summary()["kind"]
    disabled = run.trace.select(m.DisableButton)[0].at < returned.at < run.ended
    return Observed(  # without the run: the lesson's next cell shows it
        posts=str(post.sender),
        makes_sdk_output=str(made.message.sender),
        wallet_needs="POST" if kind == "opc" else "GET",
        button="disabled" if disabled else "shown",
    )


def whose_task() -> Observed:
    """The owner of the gravest finding of three runs."""
    platform_a = session().platform_a
    taps = platform_a.play(taps=2, guarded=False)
    runs = {"quick_taps": taps, "still_offered": platform_a.play("card not configured at the scheme"),
            "cancelled": platform_a.play("cardholder cancels")}  # fmt: skip
    return Observed(taps, **{name: str(run.findings[0].owner) for name, run in runs.items()})
