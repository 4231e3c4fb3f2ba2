"""From a symptom to its likely causes: whose job it is, how to make sure, and a message that is ready to send.

The catalogue is data, `catalogue.toml`; the page `symptoms.md` is made from it. A symptom is any text: a status code,
the name of an outcome, an error body, a sentence, a log of thousands of lines, a trace.

Two things lead to a row. Its patterns are what is certain: codes, names, lines of a log. Its words are what people
write: SQLite's full-text index ranks the rows by them (BM25, on stems and on pairs of neighbours). Beside the rows the
index holds what is no business of ours, so a text that belongs there is not guessed at.
"""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby, islice, pairwise
from typing import Any

from workbook.base.values import nearest, whole
from workbook.errors import ConfigurationError, ParameterError

# Bytes of a text that is looked at.
LARGEST_LOG = 16 * 1_048_576
# Causes that are shown.
MOST_SHOWN = 3


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
        common: one that fits is enough, but says little: often a side effect of another row, or another's status.
        words: what its index holds beside its causes and its check: how people write it, and what else they may.
        sign: what only this symptom shows; it ends the sentence "do you see that ...".
        check: how to make sure.
        causes: what may be behind it, most likely first.
        ask: what to ask the party that has to act; empty where that is you.
        to: who gets that message, where it is another than who has to act; you write it.
        rules: a finding that rests on one of these has this row.
        play: what reproduces it, a verb and its settings; empty where no software can.
    """

    number: int
    section: str
    patterns: tuple[re.Pattern[str], ...]
    check: str
    causes: tuple[Cause, ...]
    sign: str
    common: tuple[re.Pattern[str], ...] = ()
    words: tuple[str, ...] = ()
    ask: str = ""
    to: str = ""
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


def _status_pattern(status: int) -> str:
    """A pattern for an HTTP status: after a word or sign that makes a status of the number, or first in its line."""
    nouns = r'\bHTTP(?:/\d(?:\.\d)?)?|\bstatus(?:[ _]?code)?"?|\bcode|\berror'
    verbs = r"\b(?:GET|POST)|\banswer(?:ed|s)?|\breturn(?:ed|s)?|\brespon[ds]\w*|\bfail\w*(?: with)?|\bgot|\bgets?"
    logged = r"\w: |[-=]> (?:HTTP )?"
    alone = rf"^\W*{status}(?:\W*$| (?:from|on|at|for|when|by|in|after)\b)"
    return rf"(?:(?:{nouns}|{verbs})\W{{1,4}}(?:an? )?(?:HTTP )?|{logged}){status}\b(?! ?ms\b)|{alone}"


def _code_pattern(code: int) -> str:
    """A pattern for a status of the wallet, of which a group is the code.

    A small number is too common to be one beside other words; a long one is, where a word of ours stands with it.
    """
    if code < 100:
        return rf"(?:ApiException|(?<!HTTP )status[ _]?(?:code)?)\W{{1,3}}({code})\b(?![.\d])"
    words = "wallets?|provision|canprovision|adding|phones?|devices?|emulator|attestation|apps?|build|package"
    said = r"status|code|error\w*|exception|fail\w*|result|tap[ _]?and[ _]?pay\w*|got|(?:get|see|give|return)\w*"
    between = r"\W{1,4}(?:(?:is|was|with|code|status|error|an?)\W{1,4}){0,3}"
    return (
        rf"^\W*({code})(?:\W*$|\W{{1,4}}tap[ _]?and[ _]?pay)"
        rf"|(?<!postal )(?<!zip )\b\w*(?:{said}){between}({code})\b"
        rf"|^(?=.*\b(?:{words})\b).*?\b({code})\b"
    )


def _name_patterns(name: str) -> tuple[str, list[str]]:
    """Patterns for the name of an outcome or error: where it is certain, and where it may be another's name as well.

    A long name is certain anywhere. A short one, such as Timeout, is so alone, with its number, or behind its outcome.
    """
    humps = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+", name)
    spelt = "_?".join(humps)
    if len(humps) > 2:
        return rf"\b{spelt}\b", []
    behind = r"(?:Failure|Failed|Result|CannotBeProvisioned|Provisioning\w*Error|Provision)\W{1,2}(?:Failure\W)?\W?"
    return rf"^\W*{spelt}\W*$|\b{behind}{spelt}\b|\b{spelt} ?\(", [rf"\b{spelt}\b"] if len(humps) == 2 else []


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("workbook.checks").joinpath("catalogue.toml").read_text("utf-8"))


@cache
def catalogue() -> tuple[CatalogueRow, ...]:
    """All rows, in the order of the page."""
    rows = []
    for given in _data()["row"]:
        row = {"patterns": [], "common": [], **given}
        names = row.pop("names", [])
        named = [_name_patterns(name) for name in names]
        codes, statuses = map(_code_pattern, row.pop("codes", [])), map(_status_pattern, row.pop("status", []))
        patterns = {
            "patterns": [*row["patterns"], *codes, *(sure for sure, _unsure in named)],
            "common": [*row["common"], *(pattern for _sure, unsure in named for pattern in unsure), *statuses],
        }
        causes = tuple(Cause(**cause | {"owner": tuple(cause["owner"])}) for cause in row["causes"])
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        compiled = {key: tuple(map(_in_a_line, value)) for key, value in patterns.items()}
        words = (*row.pop("said", []), *row.get("words", []), " ".join(names))
        lists.pop("said", None)
        rows.append(CatalogueRow(**row | lists | compiled | {"causes": causes, "words": words}))
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
    """A row that fits, with what fits: the line, from 1, and the words there.

    Attributes:
        weight: the rank of its words (BM25), and more for each pattern that fits.
        share: of the text's words, weighted by how rare they are, those that the row has too: 0 to 1.
        fits: the weight of the pattern that fits: a code, a name or a line of a log; 0 where only words do.
    """

    row: CatalogueRow
    weight: float
    line: int
    evidence: str
    share: float = 0.0
    fits: int = 0

    @property
    def is_sure(self) -> bool:
        """Whether what fits is certain."""
        return self.fits > 8  # of a `common` pattern


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a text points to.

    Attributes:
        likely: the rows that fit, most likely first; none where the text belongs to no row.
        values: what the text says of the attempt, redacted, by the names that a message gives them.
    """

    likely: tuple[Likely, ...]
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def level(self) -> str:
        """How sure it is, in a sentence: this is it, most likely because, or I do not know."""
        if not self.likely:
            return (
                "I do not know: this belongs to no row of the catalogue. Give the code, the outcome's name, or the "
                "error body itself, or the log from the tap on. All rows: notebooks/reference/symptoms.md"
            )
        first, *others = self.likely
        close = " Another row is close." if self.question else ""
        share = f"row {first.row.number} has {first.share:.0%} of your words, the rare ones counted most"
        if first.fits and not close and (first.is_sure or not others):
            return f"This is it: it says {first.evidence!r}."
        if first.share > 2 / 3 and (not others or first.weight > 2 * others[0].weight):
            return f"This is it: {share}, and no other row is near."
        return f"Most likely, because {f'it says {first.evidence!r}' if first.fits else share}.{close}"

    @property
    def question(self) -> str:
        """What tells the first two rows apart; empty where the second is far from the first."""
        if len(self.likely) < 2 or self.likely[1].weight < 0.7 * self.likely[0].weight:
            return ""
        one, other = (found.row for found in self.likely[:2])
        return f"Which do you see: that {one.sign} (row {one.number}), or that {other.sign} (row {other.number})?"

    def __str__(self) -> str:
        blocks = [self.level, *([self.question] if self.question else [])]
        for number, one in enumerate(self.likely[:MOST_SHOWN], 1):
            lines = [f"   {name:<9}  {words}" for name, words in self.described(one)]
            lines += [f"     {line}" for line in self.message(one.row).splitlines()]
            blocks.append("\n".join([f"{number}. {one.row.title}", *lines]))
        return "\n\n".join(blocks)

    def described(self, likely: Likely) -> Iterator[tuple[str, str]]:
        """What is known of one row, as pairs of a name and words; its message comes below them."""
        found = likely.row
        yield "why", f"line {likely.line}: {likely.evidence}"
        for owner, causes in groupby(found.causes, key=lambda cause: cause.owner):
            yield from (("cause", _plain(cause.cause)) for cause in causes)
            yield "whose job", ", ".join(owner)
        yield "make sure", found.check
        if found.play:
            yield "see it", f"workbook diagnose --reproduce {found.number}"
        if found.ask:
            mends = ", ".join(one for one in found.owners if one not in {"you", "nobody"})
            yield "send to", f"{found.to or mends}; you write it{f', {mends} mends it' if found.to else ''}:"

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
        return Diagnosis((Likely(row(int(named[1])), 200, 1, "the number of the row", fits=200),))
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        lines.setdefault(line[:2_000].strip(), number)
    every_line, is_log = "\n".join(lines), len(text.splitlines()) > 20  # no person writes so many lines
    try:
        (ranked, is_ours), blind = _ranked(lines, is_log=is_log), None
    except ConfigurationError as error:  # codes and names are found without the index
        ranked, is_ours, blind = {}, True, error
    lowered = every_line.replace("\u0130", "i").lower()  # the one letter that would become two
    judged = (_judged(one, lines, (every_line, lowered), ranked, is_ours=is_ours) for one in catalogue())
    likely = [found for found in judged if found is not None]
    if is_log and any(one.fits for one in likely):  # of a log, words are read where nothing else speaks
        likely = [replace(one, weight=one.fits) for one in likely if one.fits]
    a_finding = re.compile(r"(?:[✗▲•] )?(?:fail|warn|note) +([A-Z]+(?:-[A-Z]+)*-\d+)\b(.*)", re.IGNORECASE)
    findings = ((line, match) for line in lines if (match := a_finding.match(line)))
    for line, match in islice(findings, 200):  # a line that is one of our findings names its rule
        if resting := row_of(match[1], match[2]):
            likely.append(Likely(resting, 200, lines[line], _evidence(line), fits=200))
    if blind and not likely:
        raise blind
    likely.sort(key=lambda one: (-one.weight, one.line, one.row.number))
    least = likely[0].weight / (2 if likely[0].is_sure else 3) if likely else 0.0
    best = {one.row.number: one for one in reversed(likely) if one.fits or one.weight > least}
    return Diagnosis(tuple(one for one in likely if one is best.get(one.row.number)), _values(text))


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


def _judged(
    one: CatalogueRow, lines: Mapping[str, int], texts: tuple[str, str], ranked: Mapping[int, Likely], *, is_ours: bool
) -> Likely | None:
    """The row with the evidence for it; `texts` is each line once, and that in small letters; `lines` numbers them."""
    text = texts[0]
    words, weight, first = ranked.get(one.number), 0, None
    for pattern, amount in (
        *((pattern, 20) for pattern in one.patterns),
        *((pattern, 8) for pattern in one.common if is_ours),
    ):
        if match := _first(pattern, *texts):
            weight = max(weight, amount)
            line = text[text.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
            first = first or (match, lines[line])
    if first is None:
        return words
    match, number = first
    weighed = weight + (words.weight if words else 0)
    evidence = _evidence(match[match.lastindex or 0])
    return Likely(one, weighed, number, evidence, words.share if words else 0, weight)


class _Index:
    """The full-text index: one document for each row, and below 0 what is no business of ours.

    Raises:
        ConfigurationError: this Python has no SQLite, or its SQLite no FTS5.
    """

    def __init__(self) -> None:
        try:
            from sqlite3 import connect  # Python in a browser may lack it, and only a search needs it

            self.table = connect(":memory:", check_same_thread=False)
            self.table.executescript(
                "CREATE VIRTUAL TABLE stemmed USING fts5(text, tokenize='porter unicode61');"
                "CREATE VIRTUAL TABLE stems USING fts5vocab(stemmed, 'instance');"
                "CREATE VIRTUAL TABLE rows USING fts5(text); CREATE VIRTUAL TABLE known USING fts5vocab(rows, 'row')"
            )
        except Exception as error:  # noqa: BLE001 - an import that fails, or an error of the SQLite that is there
            message = (
                f"This Python cannot search text ({error}). Use one whose SQLite has FTS5, or give a code or name."
            )
            raise ConfigurationError(message) from None
        data = _data()
        self.same: dict[str, str] = {}
        self.same = {stem: group[0] for words in data["same"] for group in [self.stems(words)] for stem in group}
        self.ours = set(self.stems(data["ours"]))
        documents = {-number: [text] for number, text in enumerate(data["elsewhere"], 1)}
        for one in catalogue():
            causes = (f"{cause.symptom} {cause.cause}" for cause in one.causes)
            documents[one.number] = [*causes, one.sign, one.check, *one.words]
        for number, texts in documents.items():
            text = " zz ".join(" ".join(self.stems(each)) for each in texts)  # zz: no pair reaches from text to text
            self.table.execute("INSERT INTO rows(rowid, text) VALUES (?, ?)", (number, text))
        known = self.table.execute("SELECT term, doc FROM known").fetchall()
        self.rarity = {term: math.log(1 + (len(documents) - many + 0.5) / (many + 0.5)) for term, many in known}

    def stems(self, text: str) -> list[str]:
        """The stems of the words that mean something, in their order; words that mean the same have one stem."""
        apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", re.sub(r"[`*]", "", text))
        words = [word for word in re.findall(r"[a-z]{2,}", apart.lower()) if word not in _data()["empty"].split()]
        self.table.execute("DELETE FROM stemmed")
        self.table.execute("INSERT INTO stemmed VALUES (?)", (" ".join(words),))
        stems = self.table.execute("SELECT term FROM stems ORDER BY offset").fetchall()
        return [self.same.get(stem, stem) for (stem,) in stems]

    def ranked(self, text: str) -> tuple[dict[int, tuple[float, float, str]], float, int]:
        """The rows with words of the text: rank, share, those words; the rank of what is not ours; names of ours."""
        stems = [self._known(stem) for stem in self.stems(text)[:100]]
        if not stems:
            return {}, 0.0, 0
        pairs = [f"{one} {other}" for one, other in pairwise(stems)]
        asked = " OR ".join(f'"{each}"' for each in dict.fromkeys([*stems, *pairs]))
        found = self.table.execute("SELECT rowid, -bm25(rows) FROM rows WHERE rows MATCH ? ORDER BY 2 DESC", (asked,))
        ranks = dict(found.fetchall())
        rarest = max(self.rarity.values())
        rare = {stem: self.rarity.get(stem, rarest) for stem in sorted(stems)}
        having: dict[int, list[str]] = {}
        for stem in rare:
            for (number,) in self.table.execute("SELECT rowid FROM rows WHERE rows MATCH ?", (f'"{stem}"',)):
                having.setdefault(number, []).append(stem)
        rows = {}
        for number, rank in ranks.items():
            shared = sorted(having[number], key=lambda stem: -rare[stem])
            share = sum(rare[stem] for stem in shared) / sum(rare.values())
            rows[number] = (rank * share**0.5, share, ", ".join(shared[:6]))
        elsewhere = max((rank for number, (rank, _share, _words) in rows.items() if number < 0), default=0.0)
        ours = {number: found for number, found in rows.items() if number > 0}
        return ours, elsewhere, len(self.ours.intersection(stems))

    def _known(self, stem: str) -> str:
        """The stem, or for one with a typo the known one that it is nearest to."""
        return stem if stem in self.rarity or len(stem) < 5 else nearest(stem, self.rarity, 0.84) or stem


@cache
def _index() -> _Index:
    return _Index()


def _ranked(lines: Mapping[str, int], *, is_log: bool) -> tuple[dict[int, Likely], bool]:
    """The rows by the words of the text, and whether it may be about us at all.

    A person writes few lines, and all of them count. Of a log each line that tells of a failure is a text of its own.
    """
    bad = re.compile("(?i)error|exception|fail|fatal|denied|refused|terminat|killed|crash|invalid|not found|E/")
    texts = [line for line in lines if bad.search(line)][:40] if is_log else ["\n".join(lines)]
    likely: dict[int, Likely] = {}
    is_ours = is_log
    # The least rank, share, and lead over what is not ours, by how many names of ours are in the text.
    least = ((17, 0.35, 1.3), (9, 0.35, 1.3), (3, 0.2, 1.2))
    for text in texts:
        rows, elsewhere, named = _index().ranked(text)
        best = max(rows.values(), default=(0.0, 0.0, ""))
        rank, share, lead = least[1 if is_log and named else min(named, 2)]
        is_ours |= best[0] >= elsewhere
        if best[0] >= rank * best[1] ** 0.5 and best[1] >= share and best[0] >= lead * elsewhere:
            at = lines[text] if is_log else min(lines.values())
            for number, (weight, part, words) in rows.items():
                if number not in likely or weight > likely[number].weight:
                    likely[number] = Likely(row(number), weight, at, f"the words {words}", part)
    return likely, is_ours


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
