"""From a symptom to its likely causes: whose job it is, how to make sure, and a message that is ready to send.

The catalogue is data, `catalogue.toml`; the page `symptoms.md` is made from it. A symptom is any text: a status code,
the name of an outcome, an error body, a sentence, a log of thousands of lines, a trace. What fits no row is not guessed
at.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import islice

from workbook.base.values import whole
from workbook.errors import ParameterError

LARGEST_LOG = 16 * 1_048_576
"""Bytes of a text that is looked at."""
MOST_SHOWN = 3
"""Causes that are shown."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of a symptom: both in words, who has to act, and the lessons that play it."""

    symptom: str
    cause: str
    owner: tuple[str, ...]
    see: str


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One row of the catalogue.

    Attributes:
        number: its number; they count from 1.
        section: its section of the page `symptoms.md`.
        patterns: one that fits is enough. Group 1, if there is one, is the evidence that is shown.
        common: one that fits is enough, with weight 1: often a side effect of another row.
        weak: these count only after another pattern, or in a text of a few words.
        told: how people say it. Each is a list of words, all of which one line must have, in any order.
        check: how to make sure.
        causes: what may be behind it, most likely first.
        ask: what to ask the party that has to act; empty where that is you.
        rules: a finding that rests on one of these has this row.
        play: what reproduces it, a verb and its settings; empty where no software can.
    """

    number: int
    section: str
    patterns: tuple[re.Pattern[str], ...]
    check: str
    causes: tuple[Cause, ...]
    common: tuple[re.Pattern[str], ...] = ()
    weak: tuple[re.Pattern[str], ...] = ()
    told: tuple[tuple[re.Pattern[str], ...], ...] = ()
    ask: str = ""
    rules: tuple[str, ...] = ()
    play: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its number and its first symptom."""
        return f"row {self.number}: {_plain(self.causes[0].symptom)}"

    @property
    def owners(self) -> tuple[str, ...]:
        """Who may have to act."""
        return tuple(dict.fromkeys(owner for cause in self.causes for owner in cause.owner))


def _in_a_line(text: str) -> re.Pattern[str]:
    """A pattern to search a long text with, which fits within one line of it: faster than a search in each line."""
    return re.compile(text.replace(r"\W", r"[^\w\n]"), re.IGNORECASE | re.MULTILINE)


def _status_patterns(status: int) -> list[str]:
    """Patterns for an HTTP status: after a word that makes a status of the number, or alone in its line."""
    nouns = r'\bHTTP(?:/\d(?:\.\d)?)?|\bstatus(?:[ _]?code)?"?|\bcode|\berror'
    verbs = r"\banswer(?:ed|s)?|\breturn(?:ed|s)?|\brespon[ds]\w*|\bfail\w*(?: with)?|\bgot|\bgets?"
    return [rf"(?:{nouns}|{verbs})\W{{1,4}}(?:an? )?(?:HTTP )?{status}\b", rf"^\W*{status}\W*$"]


@cache
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the page."""
    text = files("workbook.reading").joinpath("catalogue.toml").read_text("utf-8")
    rows = []
    for row in tomllib.loads(text)["row"]:
        if status := row.pop("status", None):
            row["patterns"] = [*_status_patterns(status), *row["patterns"]]
        causes = tuple(Cause(**cause | {"owner": tuple(cause["owner"])}) for cause in row["causes"])
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        patterns = {key: tuple(map(_in_a_line, row.get(key, ()))) for key in ("patterns", "common", "weak")}
        told = tuple(tuple(re.compile(text, re.IGNORECASE) for text in texts) for texts in row.get("told", ()))
        rows.append(CatalogueRow(**row | lists | patterns | {"causes": causes, "told": told}))
    return tuple(rows)


def row(number: int) -> CatalogueRow:
    """The row with this number.

    Raises:
        ParameterError: there is none.
    """
    number = whole("The row", number, least=1, most=len(catalogue()))
    return next(one for one in catalogue() if one.number == number)


@dataclass(frozen=True, slots=True)
class Likely:
    """A row that fits, with what fits: the line, from 1, and the words there."""

    row: CatalogueRow
    weight: int
    line: int
    evidence: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a text points to.

    Attributes:
        likely: the rows that fit, most likely first; none where the text belongs to no row.
        values: what the text says of the attempt, redacted, by the names that a message gives them.
    """

    likely: tuple[Likely, ...]
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.likely:
            return (
                "I do not know: this belongs to no row of the catalogue. Give the code, the outcome's name, or the "
                "error body itself, or the log from the tap on. All rows: notebooks/reference/symptoms.md"
            )
        blocks = []
        for number, one in enumerate(self.likely[:MOST_SHOWN], 1):
            lines = [f"   {name:<9}  {words}" for name, words in self.described(one)]
            lines += [f"     {line}" for line in self.message(one.row).splitlines()]
            blocks.append("\n".join([f"{number}. {one.row.title}", *lines]))
        return "\n\n".join(blocks)

    def described(self, likely: Likely) -> Iterator[tuple[str, str]]:
        """What is known of one row, as pairs of a name and words; its message comes below them."""
        found = likely.row
        yield "why", f"line {likely.line}: {likely.evidence}"
        for cause in found.causes:
            yield "cause", f"{_plain(cause.cause)} (whose job: {', '.join(cause.owner)})"
        yield "make sure", found.check
        if found.play:
            yield "see it", f"workbook diagnose --reproduce {found.number}"
        if found.ask:
            yield "send to", f"{', '.join(one for one in found.owners if one not in {'you', 'nobody'}) or 'operator'}:"

    def message(self, found: CatalogueRow) -> str:
        """What to send, with the values that an answer needs; empty where there is nobody to ask."""
        if not found.ask:
            return ""
        needed = {
            "allowlist": ("application id", "SHA-256"),
            "payment instrument": ("payment instrument", "time", "requestId"),
            "card": ("payment instrument", "time"),
        }  # what an answer needs, by a word of the request
        missing = next((names for word, names in needed.items() if word in found.ask.lower()), ())
        names = dict.fromkeys((*self.values, *missing))
        lines = [f"- {name}: {self.values.get(name, '<please fill in>')}" for name in names]
        return "\n".join([found.ask, f"What we see: {_plain(found.causes[0].symptom)}.", *lines])


def diagnose(text: str) -> Diagnosis:
    """The likely causes of what this text shows.

    Args:
        text: a code, a name, a sentence, an answer, a log or a trace; or the number of a row.

    Raises:
        ParameterError: it is empty, or larger than 16 MiB.
    """
    if not text.strip():
        raise ParameterError("The symptom is empty. Give a code, an outcome's name, an error body or a log.")
    if len(text) > LARGEST_LOG:
        raise ParameterError("The text is larger than 16 MiB. Give the part around the failure.")
    named = re.fullmatch(r"\s*(?:row )?([1-9]\d?)\s*", text, re.IGNORECASE)
    if named and int(named[1]) <= len(catalogue()):
        return Diagnosis((Likely(row(int(named[1])), 4, 1, "the number of the row"),))
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        lines.setdefault(line[:2_000].strip(), number)
    is_name, every_line = len(text.split(None, 4)) <= 4, "\n".join(lines)  # so few words are a name or a code
    lowered = every_line.replace("\u0130", "i").lower()  # the one letter that would become two
    judged = (_judged(one, lines, every_line, lowered, is_name=is_name) for one in catalogue())
    likely = [found for found in judged if found is not None]
    a_finding = re.compile(r"(?:[✗▲•] )?(?:fail|warn|note) +([A-Z]+(?:-[A-Z]+)*-\d+)\b(.*)", re.IGNORECASE)
    findings = ((line, match) for line in lines if (match := a_finding.match(line)))
    for line, match in islice(findings, 200):  # a line that is one of our findings names its rule
        if resting := row_of(match[1], match[2]):
            likely.append(Likely(resting, 16, lines[line], _evidence(line)))
    likely.sort(key=lambda one: (-one.weight, one.line, one.row.number))
    best = {one.row.number: one for one in reversed(likely)}
    return Diagnosis(tuple(one for one in likely if one is best[one.row.number]), _values(text))


@cache
def _anchors(pattern: re.Pattern[str]) -> re.Pattern[str] | None:
    """Finds, in small letters, a part that every match has; None where the pattern has no such part.

    Plain text is found 50 times as fast as a pattern that ignores case, and a log seldom has it.
    """
    bare = re.sub(r"\\.|\[[^\]]*\]", "\n", pattern.pattern)
    bare = re.sub(r"\(([^()?|\n]*)\)(?![?*{])", r"\1", bare)
    while "(" in bare:
        bare = re.sub(r"\([^()]*\)", "\n", bare)
    # a character before ?, * or {} may be missing
    pieces = [re.split(r".?[?*]|.?\{[^}]*\}|[.^$+\n]+", alternative) for alternative in bare.split("|")]
    parts = {max(each, key=len).lower() for each in pieces}
    return re.compile("|".join(map(re.escape, sorted(parts)))) if "" not in parts else None


def _first(pattern: re.Pattern[str], text: str, lowered: str) -> re.Match[str] | None:
    """The first match in a text; only lines with an anchor are searched."""
    anchors, end = _anchors(pattern), -1
    if anchors is None:
        return pattern.search(text)
    for anchor in anchors.finditer(lowered):
        if anchor.start() > end:
            start = lowered.rfind("\n", 0, anchor.start()) + 1
            end = (lowered.find("\n", start) + 1 or len(text) + 1) - 1
            if match := pattern.search(text, start, end):
                return match
    return None


def _judged(one: CatalogueRow, lines: Mapping[str, int], text: str, lowered: str, *, is_name: bool) -> Likely | None:
    """The row with the evidence for it; `text` has each line once, and `lines` says where each line came first."""
    weight, first = 0, None
    for pattern, amount, is_enough in (
        *((pattern, 4, True) for pattern in one.patterns),
        *((pattern, 1, True) for pattern in one.common),
        *((pattern, 1, is_name) for pattern in one.weak),
    ):
        if (weight or is_enough) and (match := _first(pattern, text, lowered)):
            weight += amount
            line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            first = first or (match, lines[line])
    # A person writes few lines, and short ones: a log is not read for sentences.
    for line in lines if len(lines) <= 20 else ():
        for words in one.told if len(line) <= 300 else ():
            matches = [match for word in words if (match := word.search(line))]
            if len(matches) == len(words):
                weight += 3
                first = first or (matches[0], lines[line])
    if first is None:
        return None
    match, number = first
    return Likely(one, weight, number, _evidence(match[match.lastindex or 0]))


def _values(text: str) -> dict[str, str]:
    """The values that a message takes from the text, by their names; of a payment instrument only the ends.

    Of a long text only the first and the last MiB are read.
    """
    text = text if len(text) <= 2**21 else f"{text[: 2**20]}\n{text[-(2**20) :]}"
    patterns = {
        "HTTP status": r'"status"\s*:\s*([45]\d\d)\b',
        "errorCode": r"errorCode\W{1,4}([0-9A-Za-z_]{2,20})",
        "requestId": r"(?:requestId|x-request-id)\W{1,4}([\w-]{6,64})",
        "wallet status": r"\b(150\d\d)\b",
        "SDK version": r"\bSDK\W{1,3}v?(\d+\.\d+\.\d+)",
        "application id": r"applicationId\W{1,4}([A-Za-z]\w*(?:\.\w+)+)",
        "SHA-256": r"\b((?:[0-9A-F]{2}:){31}[0-9A-F]{2})\b",
        "payment instrument": r"\b(?-i:(PI[0-9A-Z]{23}))\b",
        "time": r"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:Z|[+-]\d\d:?\d\d)?)",
    }
    found = {name: re.search(pattern, text, re.IGNORECASE) for name, pattern in patterns.items()}
    values = {name: match[1] for name, match in found.items() if match}
    if whole_id := values.get("payment instrument"):
        values["payment instrument"] = f"{whole_id[:4]}…{whole_id[-4:]}"
    return values


def _evidence(text: str) -> str:
    """The beginning of the text, without what may be opaque data or a key."""
    return re.sub(r"[A-Za-z0-9+/=_.-]{28,}", lambda match: f"[{len(match[0])} characters]", text)[:100]


def _plain(text: str) -> str:
    """A cell of the page without Markdown."""
    return re.sub(r"[`*]", "", text)


@lru_cache(1024)
def row_of(rule: str, text: str) -> CatalogueRow | None:
    """The row of a finding, wherever it was made; None where it has none.

    A finding's rule leads there. Where several rows rest on it, or none, the words decide. A gap of the document is no
    rule, so for a gap the words alone decide.

    Args:
        rule: the id of the rule that the finding rests on.
        text: what it says happened.
    """
    words = text[:2_000]  # a finding's text is exact, so what people say of a symptom is not looked for in it
    fitting = {one.number: sum(bool(it.search(words)) for it in (*one.patterns, *one.common)) for one in catalogue()}
    likely = sorted(
        (one for one in catalogue() if fitting[one.number]), key=lambda one: (-fitting[one.number], one.number)
    )
    resting = [one for one in catalogue() if rule in one.rules]
    named = likely if rule.startswith("GAP-") else resting or likely
    return next((one for one in likely if one in resting), None) or next(iter(named), None)


def see(rule: str, text: str) -> str:
    """How to read more about a finding: the command that prints its row; empty where it has none."""
    found = row_of(rule, text)
    return "" if found is None else f"workbook diagnose {found.number}"
