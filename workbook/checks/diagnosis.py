"""From a symptom to its causes: whose job each is, how to make sure, and a message that is ready to send.

The catalogue is data, `catalogue.toml`; the page `symptoms.md` is made from it. A symptom is any text: a status code,
the name of an outcome, an error body, a sentence, a log of thousands of lines, a trace.

Evidence decides: codes, statuses, names, numbers of an error domain, lines of a log. Without any, the words of the text
are searched for. The rows that they lead to are a list with a question and no verdict, and under a floor it is empty.
"""

import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby, islice, pairwise
from typing import Any, Final

from workbook.base.values import nearest, whole
from workbook.errors import ParameterError

# The row of one's own back end: a status in a line that speaks for it is not the API's.
_OWN_BACK_END = 72
# Characters of a text that is looked at.
LARGEST_LOG = 16 * 1_048_576
# Rows that are shown.
MOST_SHOWN = 5
# The sections of the catalogue in which a symptom may be, by what an integrator works on.
_BACK_END, _IN_APP = "The back end and the API", "Both platforms, in the app"
PLATFORMS: Final = {
    "platform A": (_BACK_END, "Platform A", _IN_APP),
    "platform B, in the app": (_BACK_END, "Platform B, in the app", _IN_APP),
    "platform B, from the wallet": (_BACK_END, "Platform B: the app, or its cards, are missing in the wallet"),
}
# What works, in the order in which it has to: a row names the last of them that did.
STEPS: Final = (
    "nothing",
    "the build",
    "the GET",
    "the button",
    "the wallet's first screen",
    "the terms",
    "the card was added",
    "the app is listed",
    "a card was chosen",
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause of a symptom: both in words, who has to act, and the lessons that play it.

    Attributes:
        line: a pattern of the line that tells it from the row's other causes.
        check: how to make sure of it; empty where the row's check does.
    """

    symptom: str
    cause: str
    owner: tuple[str, ...]
    see: str
    line: str = ""
    check: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    """A piece of a log that speaks for a row.

    Attributes:
        text: what the line holds, in small letters.
        pattern: what the line fits as well.
        is_certain: whether it proves the row.
    """

    text: str
    pattern: re.Pattern[str]
    is_certain: bool

    def find(self, lowered: str) -> int:
        """Where it is in a text of small letters; -1 where it is not, or only after a "no" or "not"."""
        start = lowered.find(self.text)
        while start >= 0:
            begin = lowered.rfind("\n", 0, start) + 1
            end = lowered.find("\n", start)
            end = len(lowered) if end < 0 else end
            match = self.pattern.search(lowered, begin, end)
            if match and not _is_denied(lowered, match.start()):
                return match.start()
            start = lowered.find(self.text, end)
        return -1


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """One row of the catalogue.

    Attributes:
        number: its number; they count from 1.
        section: its section of the page `symptoms.md`.
        after: the last step that worked, of `STEPS`; where it may be one of several, all of them.
        check: how to make sure.
        causes: what may be behind it, most likely first.
        sign: what only this symptom shows; it ends the sentence "do you see that ...".
        signs: the pieces of a log that speak for it.
        status: HTTP statuses of the API.
        codes: statuses of the wallet on platform A.
        instead_of: rows whose evidence is worthless beside evidence for this one.
        unless: patterns of what a person says who does not have this; evidence stands all the same.
        words: how people write it; searched beside its causes and its check.
        ask: what to ask the party that has to act; empty where that is you.
        to: who gets that message; you write it.
        needs: the values that whoever gets it has to know.
        rules: a finding that rests on one of these has this row.
        play: what reproduces it, a verb and its settings; empty where no software can.
    """

    number: int
    section: str
    after: tuple[str, ...]
    check: str
    causes: tuple[Cause, ...]
    sign: str
    signs: tuple[Sign, ...] = ()
    status: tuple[int, ...] = ()
    codes: tuple[int, ...] = ()
    instead_of: tuple[int, ...] = ()
    unless: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    ask: str = ""
    to: str = ""
    needs: tuple[str, ...] = ()
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

    def narrowed(self, line: str) -> "CatalogueRow":
        """The row with the cause alone that a line of small letters tells; the whole row where it tells none."""
        told = (cause for cause in self.causes if cause.line and re.search(cause.line, line))
        cause = next(told, None)
        if cause is None:
            return self
        ask = "" if {*cause.owner} <= {"you", "nobody"} else self.ask
        sign = _plain(cause.symptom)
        return replace(self, causes=(cause,), check=cause.check or self.check, sign=sign, ask=ask, play=())


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("workbook.checks").joinpath("catalogue.toml").read_text("utf-8"))


@cache
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the page."""
    return tuple(map(_read_row, _data()["row"]))


def _read_row(given: Mapping[str, Any]) -> CatalogueRow:
    row: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
    names = row.pop("names", ())
    pieces = {True: row.pop("certain", ()), False: row.pop("hints", ())}
    signs = [_read_sign(piece, is_certain=certain) for certain, each in pieces.items() for piece in each]
    row["signs"] = (*signs, *(sign for name in names for sign in _signs_of_name(name)))
    row["causes"] = tuple(Cause(**cause | {"owner": tuple(cause["owner"])}) for cause in row["causes"])
    row["words"] = (*row.pop("said", ()), *row.get("words", ()), *names)
    return CatalogueRow(**row)


def _read_sign(piece: str, *, is_certain: bool) -> Sign:
    text, _mark, pattern = piece.partition(" ~ ")
    return Sign(text, re.compile(pattern or rf"(?<![a-z0-9]){re.escape(text)}", re.MULTILINE), is_certain)


def _signs_of_name(name: str) -> Iterator[Sign]:
    """How the name of an outcome or error is found.

    A name of three words, such as NoActiveWallet, is one anywhere. A shorter one may be another's: it is certain
    behind an outcome, and one of two words also alone in its line or as a call.
    """
    humps = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)
    behind = r"(?:failure|failed|result|cannotbeprovisioned|provision\w*error|provision)\W{1,3}(?:failure\W)?"
    for joined in dict.fromkeys(("".join(humps).lower(), "_".join(humps).lower())):
        word = rf"(?<![a-z0-9]){joined}(?![a-z0-9])"
        called = rf"\b{behind}{joined}\b"
        alone = rf"^\W*{joined}\W*$"
        two = rf"{called}|{alone}|(?<![a-z0-9.]){joined} ?\("
        sure = {1: called, 2: two}.get(len(humps), word)
        yield Sign(joined, re.compile(sure, re.MULTILINE), is_certain=True)
        if len(humps) < 3:
            yield Sign(joined, re.compile(word if len(humps) == 2 else alone, re.MULTILINE), is_certain=False)


def row(number: int) -> CatalogueRow:
    """The row with this number.

    Raises:
        ParameterError: there is none.
    """
    number = whole("The row", number, least=1, most=len(catalogue()))
    return next(one for one in catalogue() if one.number == number)


def triage(platform: str) -> dict[str, tuple[CatalogueRow, ...]]:
    """The rows of one of `PLATFORMS`, by the last step that worked, in the order of the steps."""
    rows = [one for one in catalogue() if one.section in PLATFORMS[platform]]
    found = {step: tuple(one for one in rows if step in one.after) for step in STEPS}
    return {step: those for step, those in found.items() if those}


@dataclass(frozen=True, slots=True)
class Likely:
    """A row that a text points to.

    Attributes:
        line: the line that speaks for it, from 1; 0 for words, and for a row that was asked for.
        evidence: that line, or the words that the row shares with the text.
        weight: the number of its pieces in the text, or what its words weigh.
        is_certain: whether the evidence proves the row.
        is_searched: whether words alone lead to it.
    """

    row: CatalogueRow
    line: int
    evidence: str
    weight: float = 1.0
    is_certain: bool = False
    is_searched: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a text points to.

    Attributes:
        likely: the rows, at most five: first those with certain evidence, then those with hints, then those with words.
        values: what the text says of the attempt, redacted, by the names that a message gives them.
        collect: what to collect where no row is known.
    """

    likely: tuple[Likely, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    collect: str = ""

    @property
    def proven(self) -> tuple[Likely, ...]:
        """The rows that the text has evidence for, and not only words."""
        return tuple(one for one in self.likely if not one.is_searched)

    @property
    def level(self) -> str:
        """How sure it is, in a sentence."""
        if not self.likely:
            return f"I do not know: this belongs to no row of the catalogue. Collect this. {self.collect}"
        if not self.proven:
            return "No code, name or line in this text decides. These rows mention your words:"
        first = self.proven[0]
        if not first.line:
            return "This is the row that you asked for."
        says = f"line {first.line} says '{first.evidence}'"
        if first.is_certain and len(self.proven) == 1:
            return f"This is it: {says}."
        speaks = "That is" if first.is_certain else "That proves nothing, and it speaks for"
        rows = " and ".join(f"row {one.row.number}" for one in self.decided if one.line == first.line)
        return f"L{says[1:]}. {speaks} {rows}."

    @property
    def question(self) -> str:
        """What tells the first two rows apart; empty where there is one."""
        if len(self.likely) < 2:
            return ""
        one, other = (found.row for found in self.likely[:2])
        return f"Which do you see: that {one.sign} (row {one.number}), or that {other.sign} (row {other.number})?"

    @property
    def decided(self) -> tuple[Likely, ...]:
        """The rows with the best evidence; none where words alone lead to rows."""
        return tuple(one for one in self.proven if one.is_certain == self.proven[0].is_certain)

    def __str__(self) -> str:
        blocks = [self.level]
        for likely in self.decided:
            lines = [f"   {name:<9}  {words}" for name, words in self.described(likely)]
            lines += [f"     {line}" for line in self.message(likely.row).splitlines()]
            blocks.append("\n".join([likely.row.title, *lines]))
        if others := self.likely[len(self.decided) :]:
            rows = [f"   {one.row.title}: you see that {one.row.sign}\n      {self.explain(one)}" for one in others]
            also = ["Also possible:"] if self.decided else []
            blocks.append("\n".join([*also, *rows, "   The causes of one of them: workbook diagnose NUMBER"]))
        blocks += [self.question] if self.question else []
        blocks += [f"If you see none of them: {self.collect}"] if self.likely and not self.proven else []
        return "\n\n".join(blocks)

    def explain(self, likely: Likely) -> str:
        """Why a row is among them."""
        where = f"line {likely.line}: " if likely.line else "words: " if likely.is_searched else ""
        return f"{where}{likely.evidence}"

    def described(self, likely: Likely) -> Iterator[tuple[str, str]]:
        """What is known of one row, as pairs of a name and words; its message comes below them."""
        found = likely.row
        yield "why", self.explain(likely)
        for owner, causes in groupby(found.causes, key=lambda cause: cause.owner):
            yield from (("cause", _plain(cause.cause)) for cause in causes)
            yield "whose job", ", ".join(owner)
        yield "make sure", found.check
        if found.play:
            yield "see it", f"workbook diagnose --reproduce {found.number}"
        if found.ask:
            yield "send to", f"{found.to}; you write it{'' if likely.is_certain else ', once you are sure'}:"

    def message(self, found: CatalogueRow) -> str:
        """What to send, with the values that its recipient needs; empty where there is nobody to ask."""
        if not found.ask:
            return ""
        names = dict.fromkeys((*self.values, *found.needs))
        lines = [f"- {name}: {self.values.get(name, '<please fill in>')}" for name in names]
        return "\n".join([found.ask, f"What we see: {_plain(found.causes[0].symptom)}.", *lines])


def diagnose(text: str) -> Diagnosis:
    """The causes of what this text shows.

    Args:
        text: a code, a name, a sentence, an answer, a log or a trace; or the number of a row.

    Raises:
        ParameterError: it is empty, or larger than 16 MiB.
    """
    if not text.strip():
        raise ParameterError("The symptom is empty. Give a code, an outcome's name, an error body or a log.")
    if len(text) > LARGEST_LOG:
        raise ParameterError("The text is larger than 16 MiB. Give the part around the failure.")
    text = _STATES.sub("", text)
    named = re.fullmatch(r"\s*(?:row )?([1-9]\d?)\s*", text, re.IGNORECASE)
    if named and int(named[1]) <= len(catalogue()):
        return Diagnosis((Likely(row(int(named[1])), 0, "you asked for it", is_certain=True),))
    mentions, is_ours = _index().search(text)
    by_words = sorted(mentions, key=lambda number: -mentions[number].weight)
    is_log = _is_log(text)
    said = "" if is_log else text.lower()
    denied = {one.number for one in catalogue() if any(re.search(pattern, said) for pattern in one.unless)}
    proven = _join(_read_evidence(text, is_ours=is_ours), by_words)
    known = {one.row.number for one in proven}
    searched = [
        Likely(row(number), 0, ", ".join(mentions[number].words[:6]), is_searched=True)
        for number in by_words
        if number not in known | denied and mentions[number].weight > mentions[by_words[0]].weight / 3
    ]
    decides = bool(proven) and (is_log or proven[0].is_certain)
    likely = proven if decides else [*proven, *searched]
    return Diagnosis(tuple(likely[:MOST_SHOWN]), _read_values(text), _advise_collecting(text))


def _join(evidence: Iterable[Likely], by_words: Sequence[int]) -> list[Likely]:
    """One of each row: certain ones first, then by the amount of evidence, the order of the words, and the line."""
    rows: dict[int, list[Likely]] = {}
    for one in evidence:
        rows.setdefault(one.row.number, []).append(one)
    worthless = {number for each in rows.values() for number in each[0].row.instead_of}
    joined = [
        replace(max(each, key=lambda one: (one.is_certain, -one.line)), weight=sum(one.weight for one in each))
        for number, each in rows.items()
        if number not in worthless
    ]
    joined.sort(key=lambda one: ([*by_words, one.row.number].index(one.row.number), one.line, one.row.number))
    return sorted(joined, key=lambda one: (not one.is_certain, -one.weight))


class _Lines:
    """The lines of a text, each once, and in small letters for the search; a long one in pieces."""

    def __init__(self, text: str) -> None:
        self.numbers: dict[str, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            for begin in range(0, len(line) or 1, 2_000):
                self.numbers.setdefault(line[begin : begin + 2_000].strip(), number)
        self.each = [*self.numbers]
        self.lowered = "\n".join(self.each).lower()

    def line_of(self, position: int) -> str:
        """The line around a position, in small letters."""
        begin, end = self.lowered.rfind("\n", 0, position) + 1, self.lowered.find("\n", position)
        return self.lowered[begin : end if end >= 0 else None]

    def name(self, found: CatalogueRow, position: int, *, is_certain: bool, means: str = "") -> Likely:
        """The row, for which what stands at a position of the small letters speaks."""
        line = self.each[self.lowered.count("\n", 0, position)]
        column = position - self.lowered.rfind("\n", 0, position) - 1
        narrowed = found.narrowed(line.lower())
        return Likely(narrowed, self.numbers[line], f"{_quote(line, column)}{means}", is_certain=is_certain)


def _read_evidence(text: str, *, is_ours: bool = True) -> Iterator[Likely]:
    """All evidence in a text; where the text is not about us, only what is certain."""
    lines = _Lines(text)
    for found in catalogue():
        for sign in found.signs:
            if (is_ours or sign.is_certain) and (position := sign.find(lines.lowered)) >= 0:
                yield lines.name(found, position, is_certain=sign.is_certain)
    statuses, codes = _read_statuses(lines) if is_ours else {}, _read_codes(lines)
    for found in catalogue():
        for status in statuses.keys() & found.status:
            position, is_api = statuses[status]
            yield lines.name(found, position, is_certain=is_api)
        for code in codes.keys() & found.codes:
            yield lines.name(found, codes[code], is_certain=_PAYING.search(lines.lowered) is None)
    for match in islice(_DOMAIN.finditer(lines.lowered), 200):
        for domain, number, meaning, rows in _data()["numbers"]:
            if domain in match[1] and number == int(match[2]):
                certain, means = len(rows) == 1, f" ({meaning})"
                yield from (lines.name(row(it), match.start(), is_certain=certain, means=means) for it in rows)
    findings = ((line, finding) for line in lines.each if (finding := _FINDING.match(line)))
    for line, finding in islice(findings, 200):
        if resting := row_of(finding[1], finding[2]):
            yield Likely(resting, lines.numbers[line], _quote(line), 200, is_certain=True)


_FINDING = re.compile(r"(?:[✗▲•] )?(?:fail|warn|note) +([A-Z]+(?:-[A-Z]+)*-\d+)\b(.*)", re.IGNORECASE)
# The states around a step of a trace: its "after" is no word that tells when something was seen.
_STATES = re.compile(r', "before": "[^"]*", "after": "[^"]*"(?=, "rules": \[)')
# The domain of an error of platform B, and its number.
_DOMAIN = re.compile(r"\b((?:pk|ns)\w*(?:domain|error)\w*)[^\w-]{1,6}(?:(?:code|error)[^\w-]{0,3})?(-?\d+)\b")
# A "no" that governs what follows it.
_DENIAL = re.compile(
    r"(?:\b(?:no|not|never|without|neither|nor)|n['\u2019]t|\binstead of)"
    r"(?: (?:a|an|the|any|get|see|give|return|answer|say|show|throw|end in|longer|more|with|be|is|was)){0,3} *$"
)
# A number such as 15009 is a status of the wallet alone in its line, or beside one of these words.
_WALLET = re.compile(
    r"status|error|exception|fail|pay_|(?<!postal )(?<!zip )code|^\W*\d+\W*$|\b(?:wallets?|can\w*|provision|adding"
    r"|phones?|devices?|emulator|attestation|apps?|build|package|got|get|gives?|see|returned|result)\b"
)
# The library that pays, and adds no card: its statuses have the numbers of the wallet's.
_PAYING = re.compile(r"\bservices-wallet\b(?!.*tapandpay)", re.DOTALL)
# What stands before an HTTP status.
_STATUS = re.compile(
    r"(?:\bhttp(?:/\d(?:\.\d)?)?|status(?:[ _]?code)?\"?|\b(?:code|error|get|post|got|gets)|\bfail\w*(?: with)?"
    r"|\b(?:answer|return|respon[ds])\w*)\W{1,4}(?:an? )?(?:http )?$|\w: $|[-=]> (?:http )?$|^\W*$"
)
_ALONE = re.compile(r"\W*\d{3}(?:\W*| (?:from|on|at|for|when|by|in|after)\b.*)")
# The operator's API answered: its path (API-1), its error body (openapi) or its name; or another host did.
_API = re.compile(r"networktokenactivationdata|paymentinstruments|/bcl/|errorcode|\boperator")
_OTHER_HOST = re.compile(r"https?://|/broker/")


def _is_denied(lowered: str, position: int) -> bool:
    """Whether a "no" or "not" governs what stands at this position."""
    before = lowered[max(0, position - 40) : position].rpartition("\n")[2]
    return _DENIAL.search(before) is not None


def _read_codes(lines: _Lines) -> dict[int, int]:
    """Each status of the wallet on platform A, with where it is; a small number counts where it is called a status."""
    codes: dict[int, int] = {}
    called = (
        r"(?:(?:apiexception|status[ _]?code|(?:wallet|tokeni\w+|provision)\b.{0,40}\bstatus)\W{1,3})(\d\d?)\b(?![.\d])"
    )
    for match in re.finditer(rf"{called}|(?<![\d.])(150\d\d)(?!\d)", lines.lowered):
        is_wallets = match[1] or _WALLET.search(lines.line_of(match.start()))
        if is_wallets and not _is_denied(lines.lowered, match.start()):
            codes.setdefault(int(match[1] or match[2]), match.start())
    return codes


def _read_statuses(lines: _Lines) -> dict[int, tuple[int, bool]]:
    """Each HTTP status, with where it is, and whether the operator's API is named beside it; none of another host."""
    api: dict[int, int] = {}
    nameless: dict[int, int] = {}
    others: set[int] = set()
    own = row(_OWN_BACK_END).signs
    for match in re.finditer(r"\b[45]\d\d\b(?! ?ms\b)", lines.lowered):
        status, position = int(match[0]), match.start()
        if status in api:
            continue
        line = lines.line_of(position)
        before = lines.lowered[max(0, position - 40) : position].rpartition("\n")[2]
        is_api = _API.search(line) is not None
        if not is_api and (_OTHER_HOST.search(line) or any(sign.find(line) >= 0 for sign in own)):
            others.add(status)
        elif _STATUS.search(before) and (before.strip(" -*>") or _ALONE.fullmatch(line)):
            (api if is_api else nameless).setdefault(status, position)
    if len(lines.each) <= MOST_LINES and _OTHER_HOST.search(lines.lowered) and not _API.search(lines.lowered):
        nameless.clear()  # the address stands in a line of its own
    left = {status: (position, False) for status, position in nameless.items() if status not in others}
    return left | {status: (position, True) for status, position in api.items()}


@cache
def _index() -> "WordIndex":
    texts = {
        one.number: (*(f"{it.symptom} {it.cause}" for it in one.causes), one.sign, one.check, *one.words)
        for one in catalogue()
    }
    return WordIndex(texts, _data())


def _read_values(text: str) -> dict[str, str]:
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


def _quote(line: str, column: int = 0) -> str:
    """At most 100 characters of a line, around a column, without what may be opaque data, a key or a card's id."""
    masked = _SECRET.sub(lambda match: f"{match[1] or ''}[{len(match[2] or match[3])} characters]", line)
    begin = line.rfind(" ", 0, max(0, column - 40)) + 1 if len(masked) > 100 and masked == line else 0
    end = "…" if len(masked) > begin + 100 else ""
    return f"{'…' if begin else ''}{masked[begin : begin + 100]}{end}"


# A value of a secret field, or base64 with capitals, small letters and digits, which no name in code has so many of.
_SECRET = re.compile(
    r"((?:sdk_?(?:in|out)put|activationData|encryptedPassData|ephemeralPublicKey|x-api-key|authorization|cookie|clientKey"
    r"|header value)[\"']?(?:\s*[:=]\s*| value: | b?(?=[\"']))b?[\"']?(?:Bearer |Basic )?)"
    r"((?!null|nil|none|undefined|empty|missing)[^\s\"',}&]{6,})"
    # behind a slash, or with a host in front, it is a path
    r"|(\b(?<!/)(?!(?-i:[a-z]{3,})?/)(?=[a-z+/]*\d)[a-z0-9+/]{28,}={0,2}|\bPI[0-9A-Z]{23}\b"
    r"|[^\s\"']{6,}(?=[\"']? is (?:not a|an) (?:legal|invalid) ))",
    re.IGNORECASE,
)


def _plain(text: str) -> str:
    """A cell of the page without Markdown."""
    return re.sub(r"[`*]", "", text)


@lru_cache(1024)
def row_of(rule: str, text: str) -> CatalogueRow | None:
    """The row of a finding, wherever it was made; None where it has none.

    A finding's rule leads there. Where several rows rest on it, or none, the evidence in its text decides. A gap of the
    document is no rule, so for a gap the evidence alone decides.

    Args:
        rule: the id of the rule that the finding rests on.
        text: what it says happened.
    """
    likely = [row(one.row.number) for one in _join(_read_evidence(text[:2_000].replace("\n", " ")), ())]
    resting = [one for one in catalogue() if rule in one.rules]
    named = likely if rule.startswith("GAP-") else resting or likely
    return next((one for one in likely if one in resting), None) or next(iter(named), None)


def see(rule: str, text: str) -> str:
    """How to read more about a finding: the command that prints its row; empty where it has none."""
    found = row_of(rule, text)
    return "" if found is None else f"workbook diagnose {found.number}"


def _advise_collecting(text: str) -> str:
    """What to collect where nothing is known, for the platform that the text names, or for each."""
    lowered = text[:100_000].lower()
    named = [name for name, given in _data()["collect"].items() if re.search(given["named"], lowered)]
    advice = [_data()["collect"][name]["advice"] for name in named or _data()["collect"]]
    return " ".join(advice)


# Which rows of the catalogue mention the words of a text: a search, and no verdict.
#
# The weight of a row is BM25, the usual formula: a word counts more the rarer it is among the rows, and less in a long
# row. A pair of neighbours counts as a word, too, so "not" stays beside its word. Beside the rows the index holds
# subjects that are no business of ours. A text that fits one of them nearly as well as a row belongs to no row.


# A person writes no more lines, and no more characters, than these; a longer text is a log.
MOST_LINES = 20
MOST_CHARACTERS = 10_000
_FAILURE = re.compile(r"(?i)error|exception|fail|fatal|denied|refused|terminat|killed|crash|invalid|not found|\bE/")


def _is_log(text: str) -> bool:
    return text.count("\n") >= MOST_LINES or len(text) > MOST_CHARACTERS


@dataclass(frozen=True, slots=True)
class Mention:
    """What a row shares with a text: how much it weighs, and the words, the rarest first."""

    weight: float
    words: tuple[str, ...]


class WordIndex:
    """The words of all rows.

    Args:
        rows: the texts of each row, by its number.
        given: the word lists of the catalogue: `empty`, `same`, `ours` and `elsewhere`.
    """

    def __init__(self, rows: Mapping[int, Iterable[str]], given: Mapping[str, Any]) -> None:
        self._empty = frozenset(given["empty"].split())
        self._same: dict[str, str] = {}
        for group in given["same"]:
            stems = [stem for stem, _word in self._stems(group)]
            self._same |= dict.fromkeys(stems, stems[0])
        self._ours = frozenset(stem for stem, _word in self._stems(given["ours"]))
        texts = {-number: (text,) for number, text in enumerate(given["elsewhere"], 1)} | dict(rows)
        self._terms = {
            number: Counter(term for text in every for term, _words in _with_pairs(self._stems(text)))
            for number, every in texts.items()
        }
        self._mean_size = sum(terms.total() for terms in self._terms.values()) / len(texts)
        spread = Counter(term for terms in self._terms.values() for term in terms)
        self._rarity = {term: math.log(1 + (len(texts) - many + 0.5) / (many + 0.5)) for term, many in spread.items()}
        self._rarest = max(self._rarity.values())
        self._known = [term for term in self._rarity if " " not in term]

    def search(self, text: str) -> tuple[dict[int, Mention], bool]:
        """The rows that share words with a text, by their numbers, and whether the text may be about us at all.

        Each sentence is searched for on its own, so that a long report finds what its one sentence finds. Of a log the
        first forty lines that tell of a failure are read.
        """
        is_log = _is_log(text)
        if is_log:
            sentences = [line for line in dict.fromkeys(text.splitlines()) if _FAILURE.search(line)][:40]
        else:
            sentences = re.split(r"(?<=[.?!;])\s+|\n(?!\s*[a-z])", text)
        mentions: dict[int, Mention] = {}
        is_ours = is_log
        for sentence in sentences:
            terms = self._read(sentence[:2_000], is_log=is_log)
            weights = self._weigh(terms)
            best = max((number for number in weights if number > 0), key=weights.__getitem__)
            elsewhere = max(weight for number, weight in weights.items() if number < 0)
            is_ours |= weights[best] >= elsewhere or len(self._ours & terms.keys()) > 1
            if weights[best] < 1.3 * elsewhere or not self._is_enough(terms, weights[best], best, is_log=is_log):
                continue
            for number, weight in weights.items():
                if number > 0 and (number not in mentions or weight > mentions[number].weight):
                    mentions[number] = Mention(weight, self._shared(terms, number))
        return mentions, is_ours

    def _weigh(self, asked: Mapping[str, str]) -> dict[int, float]:
        """The weight of each row and, below 0, of what is no business of ours."""
        weights = {}
        for number, terms in self._terms.items():
            size = 0.3 + 0.9 * terms.total() / self._mean_size
            weights[number] = sum(
                self._rarity[term] * 2.2 * terms[term] / (terms[term] + size) for term in asked.keys() & terms.keys()
            )
        return weights

    def _is_enough(self, asked: Mapping[str, str], weight: float, number: int, *, is_log: bool) -> bool:
        """Whether the words that a row shares are more than chance.

        A log needs more of them, and so does a text without a name of ours. The figures are fitted to the tests.
        """
        rare = {stem: self._rarity.get(stem, self._rarest) for stem in asked if " " not in stem}
        share = sum(rare[stem] for stem in rare if stem in self._terms[number]) / max(1.0, sum(rare.values()))
        return share >= (0.4 if is_log else 0.25) and weight * share**0.5 >= (14 if self._ours.isdisjoint(rare) else 6)

    def _shared(self, asked: Mapping[str, str], number: int) -> tuple[str, ...]:
        """The words of the text that a row has, too, as the text has them."""
        shared = [stem for stem in asked if stem in self._terms[number] and " " not in stem]
        return tuple(asked[stem] for stem in sorted(shared, key=lambda stem: -self._rarity[stem]))

    def _read(self, text: str, *, is_log: bool) -> dict[str, str]:
        """The terms of a text, with the words of each; a typo of a person is read as the known word that is nearest."""
        stems = self._stems(text)
        if not is_log:
            stems = [(self._correct(stem), word) for stem, word in stems]
        return dict(_with_pairs(stems))

    def _correct(self, stem: str) -> str:
        is_known = stem in self._rarity or len(stem) < 5
        return stem if is_known else nearest(stem, self._known, 0.84) or stem

    def _stems(self, text: str) -> list[tuple[str, str]]:
        """The stem of each word that means something, with the word; words that mean the same have one stem."""
        apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", re.sub(r"[`*]", "", text))
        words = re.findall(r"[a-z]{2,}", re.sub(r"n['\u2019]t\b|nnot\b", " not", apart.lower()))
        stems = [(_stem(word), word) for word in words if word not in self._empty]
        return [(self._same.get(stem, stem), word) for stem, word in stems]


def _stem(word: str) -> str:
    """The beginning of a word, which is the same in its other forms."""
    return re.sub(r"(?:ing|ed|ies|es|s|y|e)$", "", word)[:7] if len(word) > 3 else word


def _with_pairs(stems: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The stems and each pair of neighbours, with their words."""
    pairs = [(f"{one} {other}", f"{word} {another}") for (one, word), (other, another) in pairwise(stems)]
    return [*stems, *pairs]
