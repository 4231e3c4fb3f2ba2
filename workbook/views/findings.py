"""How a run ended: its messages, and the findings of the checks with advice. And tables to look things up in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from workbook.api.exchange import Options
from workbook.base.rules import rule
from workbook.checks.api import REMEDIES, Advice
from workbook.checks.diagnosis import row_of, see
from workbook.checks.finding import Finding
from workbook.errors import ParameterError
from workbook.flows.messages import LIMITS
from workbook.flows.variants import B_EARLIER, B_LATER
from workbook.play.own_code import BACK_END_WAIT
from workbook.views.film import camel
from workbook.views.html import Markup, View, join, tag, unbroken
from workbook.views.sequence import sequence
from workbook.views.table import INK, TEXT_WIDTH, Snapshot, Stack, Table, clean, cut, facts, paragraph, table, wrap

# Each level's symbol and the edge of its findings: the word, the form and the colour say the level, each alone.
LEVEL_SIGNS = {
    "fail": ("✗", "solid var(--jp-error-color1, #b3261e)"),
    "warn": ("▲", "dashed var(--jp-warn-color1, #8a4b00)"),
    "note": ("•", "dotted var(--jp-border-color1, #8b95a3)"),
}
NOTHING_FOUND = "✓ Nothing to report: no check found anything in this run."


@dataclass(frozen=True, slots=True, repr=False)
class Findings(View):
    """Findings, in the order in which they are shown."""

    found: tuple[Finding, ...]

    def text(self) -> str:
        """A few lines for each finding, or one sentence when there is none."""
        lines = []
        for finding in self.found:
            level, rule, at, todo = _parts(finding)
            lines.append(f"{level}  {rule}, {at}{_row(finding)}")
            for words in filter(None, (clean(finding.text), "".join(todo))):
                lines += (f"    {line}" for line in wrap(words, TEXT_WIDTH - 4))
        return "\n".join(lines) or NOTHING_FOUND

    def html(self) -> str:
        """A list, or one sentence when there is nothing to list."""
        if not self.found:
            return paragraph(NOTHING_FOUND)
        items, style = [], "padding:0.1em 0 0.1em 0.8em;margin:0 0 0.6em"
        for number, finding in enumerate(self.found):
            level, rule, at, todo = _parts(finding)
            advice = tag("div", tag("i", todo[0]), unbroken(todo[1])) if todo else ""
            row = tag("span", _row(finding), title=see(str(finding.rule), str(finding.text)))
            head = tag("div", tag("b", level), "  ", unbroken(rule), ", ", tag("span", at, class_="wb-at"), row)
            border = LEVEL_SIGNS.get(str(finding.level), LEVEL_SIGNS["note"])[1]
            edge = f"border-left:5px {border};{style}"
            text = tag("div", unbroken(clean(finding.text)))
            items.append(tag("li", head, text, advice, data_finding=number, style=edge))
        return tag("ul", *items, style=f"list-style:none;padding:0;margin:0.3em 0;color:{INK}")


def findings(found: Iterable[Finding]) -> Findings:
    """The findings, the gravest first and within a level in the order of time."""
    ranks = {level: number for number, level in enumerate(LEVEL_SIGNS)}
    return Findings(tuple(sorted(found, key=lambda finding: (ranks.get(finding.level, len(ranks)), finding.at))))


def _parts(finding: Finding) -> tuple[str, str, str, tuple[str, ...]]:
    """The level with its symbol; the rule; the time; whose task it is and what to do, or nothing."""
    level, owner = clean(str(finding.level)), clean(finding.owner)
    actor = {"": "What to do: ", "nobody": "What to do: ", "you": "For you: "}.get(owner, f"With the {owner}: ")
    todo = (actor, clean(finding.todo)) if finding.todo else ()
    return f"{LEVEL_SIGNS.get(str(finding.level), '?')[0]} {level}", clean(finding.rule), f"at {finding.at:.3f} s", todo


def _row(finding: Finding) -> str:
    """The row of the catalogue that has more about it, as every finding's head names it: `; symptom 13`."""
    row = row_of(str(finding.rule), str(finding.text))
    return "" if row is None else f"; symptom {row.number}"


# What a good back end does about a failure: the whole table, or the row that fits one failure.


def show_advice(advice: Advice) -> Table:
    """The advice for one failure, as a card."""
    rows = [("the failure", advice.kind), *_advice_lines(advice)]
    return facts("What a good back end does about it", rows)


def advice_table() -> Table:
    """Every kind of failure that a back end can tell apart, and what to do about it."""
    rows = [
        ("" if number else advice.kind, *line)
        for advice in REMEDIES
        for number, line in enumerate(_advice_lines(advice))
    ]
    title = "What a good back end does about a failure; the app gets one sentence for all of them (REL-9)"
    return table(title, ("what happened", "", "what to do"), rows)


# What a request is to do next: again, never again, or nothing more.
SIGNS = {"retry": "↻", "you may": "↻", "relay": "✓", "do not": "✗", "refuse": "✗"}


def advice_matrix() -> Snapshot:
    """The same; where there is room, a row for each failure, with a sign below GET and POST."""

    def cells(advice: Advice) -> Iterator[str]:
        for asked in (advice.on_get, advice.on_post):
            first = advice.on_get if asked.startswith("the same") else asked
            yield f"{next(sign for word, sign in SIGNS.items() if first.startswith(word))} {asked}"

    whole = advice_table()
    rows = ((advice.kind, advice.seen_as, *cells(advice)) for advice in REMEDIES)
    return Snapshot(whole.text(), table(whole.title, ("what happened", "seen as", "GET", "POST"), rows).html())


def _advice_lines(advice: Advice) -> Iterator[tuple[str, str]]:
    yield "seen as", advice.seen_as
    yield "GET", advice.on_get
    yield "POST", advice.on_post


# A run as a notebook shows it.


def run_views(run: Any) -> Stack:
    """The views of anything with `summary`, `trace`, `findings`, and an `advice` that may be None."""
    views = facts("How it ended", run.summary), sequence(run.trace), findings(run.findings)
    return Stack(views if run.advice is None else (*views, show_advice(run.advice)))


# Rules of the ledger, to read beside a step.


def show_rules(*rule_ids: str) -> Snapshot:
    """The rules with these ids, in this order: id, level and text; a table, and in the text form a sentence each.

    Raises:
        ParameterError: no id is given, or there is no such rule; the message names the nearest.
    """
    if not rule_ids:
        raise ParameterError('Which rules? Name some, such as "A-CAN-1", "API-13". `workbook rules` prints them all.')
    rules = [rule(rule_id) for rule_id in rule_ids]
    view = table("Rules", ("rule", "level", "text"), ((item.id, item.level.value, item.text) for item in rules))
    return Snapshot("\n".join(line for item in rules for line in wrap(str(item), TEXT_WIDTH)), view.html())


# What differs between the variants, and what is fixed for all: the wallet's time limits.


def variants(profile: str = "spec") -> Table:
    """The differences between the variants other than their state tables (FLOW-3, X-PLIST-2).

    Raises:
        ParameterError: there is no such profile.
    """
    earlier, later = B_EARLIER.facts.shown(profile), B_LATER.facts.shown(profile)
    return table("Platform B's variants", ["what", "earlier", "later"], [(n, earlier[n], later[n]) for n in earlier])


def time_limits() -> Table:
    """How long the wallet waits for each call, and what a missed limit means (X-STATUS-3, X-ENTRIES-3).

    A limit of the source `spec` is in the document, one of the source `wallet` is the platform's alone.
    """
    rows = [
        (cut(camel(limit.call), 29), str(limit), f"{limit.rules[0]} ({limit.source})", limit.missed)
        for limit in LIMITS.values()
    ]
    return table("How long the wallet waits", ["call", "limit", "rests on", "missed means"], rows)


def waits() -> Snapshot:
    """Who gives up first: each limit, and in HTML its bar within the bar of whoever waits longer (REL-5)."""
    options, wallet = Options(), LIMITS["provision"]
    rows = [
        (f"each of at most {options.retries.attempts} GETs", options.timeouts.get, "assumed"),
        ("the back end, pauses included", options.deadline, "assumed"),
        ("the app", BACK_END_WAIT, "assumed"),
        ("platform B's wallet", wallet.seconds, wallet.source),
    ]
    text = facts("Who gives up first (REL-5)", [(who, f"{wait:g} s ({source})") for who, wait, source in rows]).text()
    words = [f"{who}: {wait:g} s ({source})" for who, wait, source in rows]
    share = [wait / around for (_, wait, _), (_, around, _) in zip(rows, [*rows[1:], rows[-1]], strict=True)]
    inside = join(_words(words[0]), *[_bar(share[0], "GET")] * options.retries.attempts)
    for said, part in zip(words[1:], share[1:], strict=True):
        inside = _bar(part, said, inside)
    return Snapshot(text, str(tag("div", paragraph(tag("b", "Who gives up first (REL-5)")), inside)))


def _words(said: str) -> Markup:
    return tag("div", said, style="padding:0 0.4em")


def _bar(share: float, said: str, inside: object = "") -> Markup:
    """A box that is as wide as this share of the one around it."""
    style = f"width:{99 * share:.1f}%;box-sizing:border-box;display:inline-block;vertical-align:top"
    edge = "border:2px solid var(--jp-border-color1, #8b95a3);border-radius:6px;padding:0.2em 0;margin:0.2em 0"
    return tag("div", _words(said), inside, style=f"{style};{edge}")
