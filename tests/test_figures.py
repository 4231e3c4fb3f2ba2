"""Every limit, wait, version and code that a text names is the one that the code has, or that its source says.

`figures.toml` holds, for each text, the figures of the subject in the order in which they stand there: a fact by its
name, whose value is looked up, and what no code knows as it is. Its sentences have words of the code in braces. Its
pairs are of names.
"""

import re
import tomllib
from difflib import SequenceMatcher
from enum import EnumType
from functools import cache
from inspect import signature
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace

import pytest
from texts import ROOT, demand_none, paths, read

from workbook.api.exchange import Options
from workbook.base.rules import rule, rules
from workbook.checks.diagnosis import catalogue
from workbook.flows.messages import LIMITS
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.own_code import BACK_END_WAIT
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.cases import APP_CASES, AppSeen
from workbook.tools.conform.app.cases_b import APP_CASES_B, within_limit
from workbook.tools.conform.app.device import DeviceA
from workbook.tools.conform.app.stage import conclude_case
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.harness.model import Miss, Verdict
from workbook.tools.sweep.matrix import DIMENSIONS

HELD = tomllib.loads(Path(__file__).with_name("figures.toml").read_text("utf-8"))
FACTS = {
    "status": str(LIMITS["status"]),  # X-STATUS-3
    "lists": str(LIMITS["pass_entries"]),  # X-ENTRIES-3
    "wallet": str(LIMITS["provision"]),  # wallet
    "app": f"{BACK_END_WAIT:g} s",  # REL-5, assumed
    "back-end": f"{Options().deadline:g} s",  # REL-5, assumed
    "call": f"{Options().timeouts.get:g} s",  # assumed
    "tries": f"{Options().retries.attempts} calls",  # of a GET; assumed
    "cases-a": f"{len(APP_CASES)} cases",
    "cases-b": f"{len(APP_CASES_B)} cases",
    "library-before": A_BEFORE_0_4_0.facts.push_provisioning_library,  # A-DEP-1
    "library-from": A_FROM_0_4_0.facts.push_provisioning_library,  # A-DEP-1
}


def looked_up(place, pattern=""):
    """What a pattern finds in a file; or what has a name (`module:NAME`), a call's default (`:call(argument)`)."""
    if pattern:
        there = re.search(pattern, (ROOT / place).read_text("utf-8"), re.MULTILINE)
        assert there, f"{place}: nothing fits {pattern}"
        return int(there[1]) if re.fullmatch(r"[1-9][\d_]*", there[1]) else there[1]
    name, _, argument = place.partition("(")
    value = resolve_name(name)
    if argument:
        return value() if argument == ")" else signature(value).parameters[argument[:-1]].default
    return [*value] if isinstance(value, EnumType) else value


OF_A_TOOL = {name: f"{float(looked_up(*at)):g} s" for name, at in HELD["wait"].items()}
"""What only a tool waits, all of it assumed: such a number stands for other things elsewhere."""
CODES = {str(code) for row in catalogue() for code in row.codes}
FIGURE = re.compile(
    r"""(?<![\w.,/+-])(?P<number>\d+(?:\.\d+)?)[ .-]?(?P<unit>ms|seconds?|milliseconds|s|MB|cases|calls)\b
    | \b(?:timeout\w*|limit|wait|deadline|wallet(?:\ waits|'s)?)\b(?:["')\]]{,2}\ ?(?:[=:,(]|\|\|)\ ?|\ )"?
      (?P<bare>\d+(?:\.\d+)?)(?![\w%]|\.\d|\ ?ms\b)
    | (?<![\w.])(?P<version>\d+\.\d+\.\d+)(?![.\w])
    | \b(?P<code>15\d\d\d|\d{4}\ ?x\ ?\d+)\b
    | (?<![\w.,-])(?P<status>[45]\d\d)(?![\w%-]|[.,]\d)""",
    re.VERBOSE | re.IGNORECASE,
)
UNITS = {"seconds": "s", "second": "s", "milliseconds": "ms", "mb": "MB"}
MADE = ("python.md", "rules.md", "symptoms.md", "changes.md")
"""Pages that are made of texts that are read here; the last one tells of what was."""
READ = [
    path
    for pattern in ("README.md", "notebooks/**/*", "fixtures/[abmn]*/**/*", "workbook/**/*.toml", "workbook/**/*.py")
    for path in paths(pattern)
    if path.name not in MADE
]
STRANGERS = re.compile("    |codes|numbers")
# What an exercise takes as an answer, or shows as a mistake, may be wrong on purpose.
NO_CLAIM = re.compile("(?:answer|old|new|solution|skeleton|what|command) = ")
SENTENCES = r"""((?<=[.!?])\s+(?=[A-Z"(])|\n\s*\n|\n(?=\s*[-#|\d"]|\w+ = ))"""


def figures(path):
    """The figures of a text with their lines: no status where code counts lengths, no words of strangers."""
    is_prose = path.suffix in (".md", ".ipynb")
    raw = enumerate(path.read_text("utf-8").splitlines(), 1) if path.suffix == ".py" else read(path, outputs=False)
    for number, line in raw:
        for found in FIGURE.finditer("" if path.name == "catalogue.toml" and STRANGERS.match(line) else line):
            if amount := found["number"] or found["bare"]:
                unit = (found["unit"] or "s").lower()
                yield number, f"{float(amount):g} {UNITS.get(unit, unit)}"
            elif is_prose or not found["status"]:
                yield number, found[0].replace(" ", "")


def spelled(word):
    """The value of a word of `figures.toml`."""
    return (FACTS | OF_A_TOOL).get(word, re.sub(r"(?<=\d)(?=(?:s|ms|MB|cases|calls)$)", " ", word))


def differences(path):
    """Where a text has another figure than `figures.toml`, as `file:line`."""
    name = str(path.relative_to(ROOT))
    words, found = HELD["text"].get(name, "").split(), [(1, "nothing"), *figures(path)]
    said = as_said(words, [each for _, each in found])
    known, matcher = aligned(said, words, [each for _, each in found])
    for change, i, j, k, end in matcher.get_opcodes():
        if change == "equal":
            pairs = zip(known[i:j], words[k:end], strict=True)
            wrong = [(found[at], f"{word} = {spelled(word)}") for at, word in pairs if said[word] != spelled(word)]
        else:
            meant = ", ".join(dict.fromkeys(f"{word} = {spelled(word)}" for word in words[k:end])) or "nothing"
            run = 0  # of a row of one figure any may be the one that is not there
            while change == "insert" and run < i and found[known[i - run - 1]][1] == said[words[k]]:
                run += 1
            first, last = known[i - run - 1] if i > run else 0, known[j] if j < len(known) else len(found)
            between = [found[at] for at in range(first + 1, last) if at not in known[i - run : i]]
            stands = between if k < end else [found[at] for at in known[i:j]]
            wrong = [(each, meant) for each in stands or [(found[first][0], "nothing after this line")]]
        yield from (f"{name}:{line}: {each}, where figures.toml has {meant}" for (line, each), meant in wrong)


def aligned(said, words, found):
    """The places of the figures that somebody holds, and how they stand to the words."""
    known = [at for at, each in enumerate(found) if each in {*said.values(), *FACTS.values(), *CODES}]
    return known, SequenceMatcher(None, [found[at] for at in known], [said[word] for word in words], autojunk=False)


def as_said(words, found):
    """The figure for each word that makes the text fit best: where a fact changed, the old one that still stands."""
    said = {word: spelled(word) for word in words}
    for word, value in [*said.items()] if aligned(said, words, found)[1].ratio() < 1 else []:
        if word != value.replace(" ", ""):
            guesses = [said, *(said | {word: each} for each in dict.fromkeys(found[1:]))]
            said = max(guesses, key=lambda guess: aligned(guess, words, found)[1].ratio())
    return said


def test_every_figure_of_a_text_is_the_one_that_the_code_has():
    demand_none([line for path in READ for line in differences(path)])
    assert {*HELD["text"]} <= {str(path.relative_to(ROOT)) for path in READ}


def ends(rule, **more):
    """What a breach of the rule does, as a verb."""
    verbs = {Verdict.FAIL: "fails", Verdict.WARN: "warns", Verdict.NOTE: "is a note"}
    return verbs[Miss("", "", "", rule, **more).verdict()]


def ends_beyond(milliseconds):
    """What a `status()` of so many milliseconds does, as a verb, where a phone is four times slower."""
    call = SimpleNamespace(own_seconds=milliseconds / 1000, call=SimpleNamespace(function="status"))
    (miss,) = within_limit(SimpleNamespace(calls=[call], desk=4))
    return ends(miss.rule or "X-STATUS-3")


COUNT = "no one two three four five six seven eight nine ten eleven twelve thirteen"
LISTS = {"l": ("`{}`", " and "), "c": ("`{}`", " or "), "o": ("{}", " or "), "i": ("`{}`", ", ")}


class Fact:
    """A value of the code, as a sentence has it: as it is, as a word (`w`), a list (`l`, `i`), a choice (`c`, `o`)."""

    def __init__(self, value):
        self.value = value

    def __format__(self, how):
        if how in LISTS:
            word, last_one = LISTS[how]
            words = self.value if isinstance(self.value, str) else " ".join(map(str, self.value))
            *most, last = [word.format(each) for each in re.findall(r"[\w-]+", words)]
            return f"{', '.join(most)}{last_one}{last}"
        return COUNT.split()[int(self.value)] if how == "w" else format(self.value, how)


def facts():
    """What a sentence of `figures.toml` has from the code: what stands at a place, and what must be worked out."""
    of_cases = {case.rule for case in (*APP_CASES.values(), *APP_CASES_B.values())}
    readers = [case for case in APP_CASES.values() if case.reads]
    worked_out = {
        **{each: ends(each) for each in ("API-1", "A-BTN-2", "REL-7", "GAP-1")},
        "harm": ends("REL-7", harms=True),
        "warning": [one.id for one in rules() if one.id in of_cases and ends(one.id) == "warns"],
        "late": ends_beyond(milliseconds=101),
        "slow": ends_beyond(milliseconds=99),
        "cases-b": len(APP_CASES_B),
        "reads": len(readers),
        "unread": conclude_case(readers[0], AppSeen((), {}, DeviceA("app", A_FROM_0_4_0)), seconds=0).verdict,
        "button": rule("A-BTN-1").text.removeprefix("The add button is ").partition(":")[0],
        "id": len(INSTRUMENT_IDS[0]) - 2,
        "hundreds": len(CASES) // 100,
        "most-cards": DIMENSIONS["cards"]["wallet"][-1],
    }
    worked_out |= {name: looked_up(*at) for name, at in HELD["fact"].items()}
    return {name: Fact(value) for name, value in worked_out.items()}


@pytest.mark.rule("API-15", "X-ENTRIES-2", "B-WATCH-2", "X-GEN-1")
def test_a_sentence_that_the_code_decides_stands_in_its_text():
    known, wrong = facts(), []
    for name, sentences_of in HELD["said"].items():
        lines = read(ROOT / name)
        text = " ".join(" ".join(line.strip("# ") for _, line in lines).split())
        for said in (each.format_map(known) for each in sentences_of):
            if said not in text:
                nearest, _ = max(lines, key=lambda line: len({*line[1].split()} & {*said.split()}))
                wrong.append(f"{name}:{nearest}: the code has: {said}")
    demand_none(wrong)


def split_texts():
    """Each sentence with its place; of Python's texts only those with a figure."""
    own = (path for path in READ if "fixtures" not in path.parts)
    for path in (*own, *paths("notebooks/reference/symptoms.md")):
        skipped = STRANGERS if path.name == "catalogue.toml" else NO_CLAIM
        lines = [each for each in read(path, outputs=False) if path.suffix != ".toml" or not skipped.match(each[1])]
        text, at = re.sub(r"[`*]|<[^>\n]*>", "", "\n".join(line for _, line in lines)), 0
        for sentence in re.split(SENTENCES, text):
            if sentence.strip() and (path.suffix != ".py" or re.search(r"\d.*[a-z]{3}|[a-z]{3}.*\d", sentence)):
                line = lines[text.count("\n", 0, at)][0]
                yield f"{path.relative_to(ROOT)}:{line}", " ".join(sentence.split())
            at += len(sentence)


@cache
def sentences():
    return list(dict.fromkeys(split_texts()))


def test_every_name_stands_beside_what_its_source_says():
    clauses = [(place, clause) for place, text in sentences() for clause in re.split(r"[,;:()]\s+", text)]
    wrong, unused = [], []
    for pair in HELD["pair"]:
        where = re.compile(pair["where"], re.IGNORECASE)
        held = [each for each in (clauses if pair.get("clause") else sentences()) if where.search(each[1])]
        unused += [] if held else [pair["where"]]
        for place, sentence in held:
            is_right = re.search(pair.get("right", ""), sentence, re.IGNORECASE)
            is_wrong = "wrong" in pair and re.search(pair["wrong"], sentence, re.IGNORECASE)
            if is_wrong or not is_right:
                wrong.append(f"{place}: {sentence} ({pair['about']}: {pair['source']})")
    demand_none(wrong)
    assert len(unused) <= 3, f"reworded: no sentence fits these any more: {unused}"
