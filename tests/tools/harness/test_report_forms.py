"""Whatever a back end said, the structure of each report stays; and each says what a reader needs."""

import re
import xml.etree.ElementTree as ET
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import escape
from html.parser import HTMLParser

import pytest
from contrast import contrast
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from ran import ABOUT, MISS, NAMES, arrived, call, of_each_verdict, recorded, result, seen, told
from rows import rows

from workbook.tools.harness.model import Miss, Verdict
from workbook.tools.harness.output import Result, to_html, to_junit, to_markdown
from workbook.tools.harness.report import from_json, to_json
from workbook.tools.harness.summary import first_lines, headline, todos
from workbook.views.html import POLICY
from workbook.views.table import clean
from workbook.views.templates import COLOURS, escape_markdown

HOSTILE = [
    *("<script>alert(1)</script>", '"><b>', "<!--", "]]>", "&lt;", "\x00\ud800\u202e", "\\", "| a | b |", "```"),
    *("\n\n# head\n", "[x](http://y)", "![p](u)", "*a*", "~~a~~", "- [ ] x", "1. a", "    code", "[a]: b", "`a`"),
    *("http://example.com", "@me", "$x$", ":tada:", "<b", "--", "===", "_a_"),
]
ANY = (st.text(max_size=40) | st.sampled_from(HOSTILE)).filter(lambda text: not Miss(text, f"x {text}", "").see)
"""Any text but a symptom that the catalogue knows, to which a report adds a command."""


def hostile(text):
    """A record with this text wherever a back end, a configuration or a person may have put it."""
    told_of = f"x {text}"
    phone = call(cardholder=told_of, headers=(("server", told_of),), body=told(**{told_of: told_of}))
    both = (phone, arrived(target=f"/{text}?{text}", headers=((told_of, text),)))
    used = result(misses=(Miss(told_of, told_of, told_of), MISS), why=told_of, seen=seen(*both))
    known = result(NAMES[0], Verdict.NOT_TESTABLE, (), why=told_of)
    about = {"target": told_of, "base_url": text, "trouble": told_of, "stale": (told_of,), "versions": {text: text}}
    return from_json(to_json(recorded(used, known, **about, command=told_of, only=(told_of,))))


class Tags(HTMLParser):
    """Every element of a page with its attributes' names, and the text between."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes = [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, *sorted(name for name, _value in attributes)))
        self.attributes += attributes

    def handle_endtag(self, tag):
        self.tags.append(f"/{tag}")

    def handle_comment(self, data):
        self.tags.append("comment")

    handle_pi = unknown_decl = handle_comment


def with_body(record, body):
    """The record with this body in every message."""
    cases = (replace(case, exchanges=tuple(_with_body(one, body) for one in case.exchanges)) for case in record.cases)
    return replace(record, cases=tuple(cases))


def _with_body(one, body):
    return replace(one, request=replace(one.request, body=body), answer=replace(one.answer, body=body))


PLAIN = hostile("plain")


def blocks(text):
    """The structure of Markdown: its blocks, and what stands in its lines besides text."""
    told = []
    for token in MarkdownIt("commonmark", {"linkify": False}).enable(["table", "strikethrough"]).parse(text):
        told.append((token.type, token.tag, token.level))
        told += [one.type for one in token.children or () if one.type not in ("text", "text_special")]
    return told


PLAIN_BLOCKS = blocks(to_markdown(PLAIN))


@given(ANY)
def test_no_text_breaks_a_report(text):
    record = hostile(text)
    bodies = ({"a": one, f"b {one}": {"length": 1, "digest": one}} for one in (text, "plain"))
    got, plain = (Tags(to_html(with_body(*both))) for both in zip((record, PLAIN), bodies, strict=True))
    assert got.tags == plain.tags
    got, plain = (ET.fromstring(to_junit(one)) for one in (record, PLAIN))
    elements = ([(one.tag, sorted(one.attrib)) for one in tree.iter()] for tree in (got, plain))
    assert next(elements) == next(elements)
    readable = re.sub("[\ud800-\udfff]", "?", text)  # JSON cannot hold half a surrogate pair
    assert got.find(".//failure").get("message").startswith(f"x {clean(readable)}".strip()[:400])
    assert blocks(to_markdown(record)) == PLAIN_BLOCKS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *((one, one) for one in ("as [timeouts] recovery: 1", "http://127.0.0.1:18433: no", "[[a]] sdk_in > 1 & b")),
        ("[x](y) http://h.example <b> &lt; @me *a* _b_ #12 :tada:",
         r"[x\](y) http\://h.example \<b> \&lt; \@me \*a\* \_b\_ \#12 \:tada:"),
    ],
)  # fmt: skip
def test_only_what_would_be_markup_is_escaped(text, told):
    assert escape_markdown(text) == told


def test_of_many_cases_and_many_exchanges_a_few_stand_there_unfolded():
    page = to_html(recorded(*(result(name) for name in NAMES[:30])))
    assert page.count('<details class="one is-fail" ') == 27
    assert page.count("<details open=") == 1  # of one cause, one exchange
    assert page.count("<article id=") == 30
    busy = seen(call(), *[arrived(101 + at) for at in range(12)])
    assert "<details open" not in to_html(recorded(result(seen=busy)))


def test_the_page_needs_nothing_but_itself():
    page = to_html(recorded())
    got = Tags(page)
    names = {one[0] for one in got.tags if isinstance(one, tuple)}
    assert not {"link", "iframe", "object", "embed", "form", "base", "img"} & names
    script = page[page.index("<script>") + 8 : page.index("</script>")]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"{escape(POLICY)}; script-src 'sha256-{digest}'"
    assert page.count(f'http-equiv="Content-Security-Policy" content="{policy}"') == 1
    assert [tag for tag in got.tags if tag[0] == "script"] == [("script",)]  # one, and it comes from nowhere else
    assert not re.search(r"fetch|XMLHttp|import|https?:|eval|innerHTML|document\.write", script)
    assert [value for name, value in got.attributes if name in ("src", "action")] == []
    targets = {value for name, value in got.attributes if name == "href"}
    assert {one.removeprefix("#") for one in targets} <= {value for name, value in got.attributes if name == "id"}
    assert "url(" not in page
    assert "@import" not in page
    assert not [name for name, _value in got.attributes if name.startswith("on")]


WORDS = ("ink", "muted", "http", "refused", "deprecated", "good")
GROUNDS = ("ground", "tint", "box")
"""The colours of words on the report's pages, and the colours behind them."""


@pytest.mark.parametrize("colours", COLOURS, ids=["light", "dark"])
@pytest.mark.parametrize("word", WORDS)
def test_every_word_can_be_read(word, colours):
    assert min(contrast(colours[word], colours[ground]) for ground in GROUNDS) >= 4.5


def test_the_page_tells_the_gravest_first_and_folds_up_what_passed():
    page = to_html(recorded())
    heads = [page.index(head) for head in ("<h1>", "What to do first", "What did not hold", "What passed")]
    assert heads == sorted(heads)
    kinds = [kind for _name, kind in re.findall(r'<article id="([a-z.0-9-]+)" class="case is-([a-z-]+)"', page)]
    assert len(kinds) == len(Verdict)
    assert (kinds[:3], kinds[-2:]) == (["harness-error", "fail", "warn"], ["pass", "not-applicable"])
    opened = page.index("<details open"), page.rindex("<details open")
    assert max(opened) < heads[-1]


def test_equal_values_have_the_same_letter_on_both_sides():
    page = to_html(recorded(result()))
    assert page.count("⟨value A: simulated sdkOutput #1, ") == 2
    assert page.count("⟨value B: simulated OPC data #2, ") == 2
    assert "&quot;sdkOutput&quot;: " in page


@pytest.mark.parametrize(
    ("results", "about", "sentence"),
    [
        (of_each_verdict()[:1], {}, "1 case, and none failed: 1 pass."),
        (of_each_verdict()[:3], {}, "2 of 3 cases did not hold: 1 fail, 1 warn. The others: 1 pass."),
        (of_each_verdict()[:2], {},
         ("1 of 2 cases did not hold: 1 warn. The others: 1 pass. "
          "There are warnings only; with --strict the run would fail.")),
        (of_each_verdict()[:2], {"strict": True}, "1 of 2 cases did not hold: 1 warn. The others: 1 pass."),
        (of_each_verdict()[4:5], {}, "Nothing could be decided: 1 not testable."),
        (of_each_verdict()[5:6], {}, "Nothing could be decided: 1 not applicable."),
        (of_each_verdict()[:1] + of_each_verdict()[4:5], {},
         ("2 cases, and none failed: 1 not testable, 1 pass. 1 case not judged; the report says why. "
          "With --strict that fails the run.")),
        (of_each_verdict()[:1] + of_each_verdict()[4:5], {"trouble": "It ended."},
         ("Of 2 cases none failed, and some could not be decided: 1 not testable, 1 pass. 1 case not judged; the "
          "report says why. With --strict that fails the run.")),
        (of_each_verdict()[:1] + of_each_verdict()[8:], {},
         ("Only 1 of 2 cases were looked at. 2 cases, and none failed: 1 not looked at, 1 pass. 1 case not judged; "
          "the report says why. "
          "With --strict that fails the run.")),
        (of_each_verdict()[8:], {"strict": True},
         "Nothing could be decided: 1 not looked at. 1 case not judged; the report says why. That fails the run."),
        (of_each_verdict()[6:7], {"stale": "xy"},
         "1 case, and none failed: 1 known. The baseline has 2 stale entries, which fail the run."),
        (of_each_verdict()[:1], {"interrupted": True}, "1 case, and none failed: 1 pass. The run was interrupted."),
        (of_each_verdict()[:1], {"interrupted": True, "unfinished": ("a.b",)},
         "Of 2 cases 1 finished, and none of these failed: 1 pass. The run was interrupted: 1 case did not finish."),
    ],
)  # fmt: skip
def test_the_headline_says_how_it_ended(results, about, sentence):
    assert headline(recorded(*results, **about)) == sentence


def test_what_to_do_names_each_thing_once_with_all_its_cases():
    other = Miss("e", "o", "Do another thing.", "REL-2")
    record = recorded(
        result(NAMES[3], Verdict.WARN, (other,)), result(NAMES[1]), result(NAMES[2], misses=(MISS, other, MISS)),
        result(NAMES[0], Verdict.NOTE), result(NAMES[4], Verdict.HARNESS_ERROR, (), why="ours"),
    )  # fmt: skip
    got = [(one.verdict, one.text, one.cases) for one in todos(record)]
    assert got == [
        (Verdict.HARNESS_ERROR, "ours", (NAMES[4],)),
        (Verdict.FAIL, MISS.todo, (NAMES[1], NAMES[2])),
        (Verdict.FAIL, other.todo, (NAMES[2], NAMES[3])),
    ]
    assert "REL-2" in todos(record)[2].rules


ALLOWED = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, {"testsuite"}),
    "testsuite": (
        {"name", "time", "timestamp", "tests", "failures", "errors", "skipped"},
        {"properties", "testcase"},
    ),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname", "time"}, {"failure", "error", "skipped", "system-out"}),
    **dict.fromkeys(("failure", "error", "skipped"), ({"type", "message"}, set())),
    "system-out": (set(), set()),
}
"""What the schema of a CI system that checks one allows, and requires where we write it."""
TIME = re.compile(r"\d+\.\d{3}\Z")


def test_the_xml_has_nothing_but_what_ci_systems_read():
    root = ET.fromstring(to_junit(recorded(of_each_verdict()[0], result(NAMES[50]), seconds=12345.6)))
    for one in root.iter():
        attributes, children = ALLOWED[one.tag]
        assert set(one.attrib) == attributes
        assert {child.tag for child in one} <= children
        assert TIME.match(one.attrib.get("time", "0.000"))
    assert [suite.get("name") for suite in root] == ["conform.form", "conform.fidelity"]


@pytest.mark.parametrize("strict", [False, True])
def test_each_verdict_has_its_element(strict):
    record = recorded(strict=strict)
    root = ET.fromstring(to_junit(record))
    elements = {one.get("name"): [child.tag for child in one] for one in root.iter("testcase")}
    got = {case.verdict: elements[case.name] for case in record.cases}
    warned = ["failure"] if strict else ["system-out"]
    skipped = {one: ["skipped"] for one in ("known", "not applicable")}
    unseen = ["failure" if strict else "skipped"]
    assert got == {
        "pass": [], "fail": ["failure"], "warn": warned, "note": ["system-out"],
        "harness error": ["error"], "not looked at": unseen, "not testable": unseen, **skipped,
    }  # fmt: skip
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("9", "4" if strict else "1", "1")
    assert sum(int(suite.get("skipped")) for suite in root) == (2 if strict else 4)


def test_the_xml_says_what_was_missed_and_how_to_run_it_again():
    miss = f"API-11: expected {MISS.expected}, observed {MISS.observed}. {MISS.todo}"
    failure = ET.fromstring(to_junit(recorded(result()))).find(".//failure")
    assert failure.get("message") == miss
    assert failure.text.endswith("--only relay.post.sdk-input-byte-exact --seed 7")
    noted = recorded(result(verdict=Verdict.NOTE, misses=(MISS,)), exit_code=0)
    (case,) = ET.fromstring(to_junit(noted)).iter("testcase")
    says, again = noted.cases[0].says, noted.cases[0].reproduce
    assert (case.get("classname"), case[0].text) == ("conform.fidelity", f"note: {says}\n{miss}\n{again}")


@pytest.mark.parametrize(
    ("verdict", "about", "why"),
    [
        ("not looked at", {"exit_code": 2, "trouble": "It does not start."}, "It does not start."),
        ("not looked at", {"exit_code": 2, "trouble": "It does not start.", "strict": True}, "It does not start."),
        ("not applicable", {"exit_code": 2}, ""),
        ("pass", {"exit_code": 1, "stale": ("an old entry",)}, "an old entry"),
        ("pass", {"exit_code": 130, "interrupted": True}, ""),
        ("fail", {"exit_code": 1}, None),
        ("pass", {"exit_code": 0}, None),
    ],
)
def test_the_xml_is_not_green_where_the_exit_code_is_not(verdict, about, why):
    root = ET.fromstring(to_junit(recorded(result(verdict=Verdict(verdict)), **about)))
    errors = [(case.get("classname"), case.get("name"), case[0].text) for case in root.iter("testcase")
              if case.find("error") is not None]  # fmt: skip
    says = headline(recorded(result(verdict=Verdict(verdict)), **about))
    told = [("conform", "the run", f"{says}\n{why}".rstrip())]
    assert errors == ([] if why is None else told)
    assert root.get("errors") == str(len(errors))
    assert bool(errors) or verdict == "fail" or about["exit_code"] == 0


@pytest.mark.parametrize("program", ["conform", "conform app", "preflight"])
def test_the_xml_of_each_command_has_its_own_names(program):
    root = ET.fromstring(to_junit(recorded(result(), program=f"workbook {program}")))
    assert root.get("name") == f"workbook {program}"
    (suite,) = root
    assert suite.get("name") == suite[1].get("classname") == f"{program.replace(' ', '-')}.fidelity"


@pytest.mark.slow
def test_the_markdown_fits_into_a_jobs_summary():
    long = Miss("e" * 300, "o" * 300, "t" * 300)
    text = to_markdown(recorded(*(result(name, misses=(long,) * 20) for name in NAMES)))
    assert len(text.encode()) < 1_048_576
    assert f"… and {len(NAMES) - 200} more; see conform.html" in text
    assert text.count(long.todo) == 1  # the same advice of many cases is given once


def test_the_markdown_says_what_a_reader_needs():
    text = to_markdown(recorded(result(), stale=("an old entry",)))
    for words in ("# Conformance of a relay", "1 of 1 case did not hold", "| fidelity | 1 |", "## What to do first",
                  "| ✗ fail | `relay.post.sdk-input-byte-exact` | API-11 (must) | the sdkInput as the API gave it |",
                  "- Stale: an old entry", "seed 7",
                  "`workbook conform back-end.toml --only relay.post.sdk-input-byte-exact --seed 7`"):  # fmt: skip
        assert words in text


def test_a_notebook_shows_the_same():
    view = Result(recorded(trouble="No <b>answer</b> came."))
    text, html = view.text(), view.html()
    assert text.startswith(headline(recorded()))
    for words in ("By group", "What to do first", "What did not hold", "✗ fail", MISS.observed):
        assert words in text
        assert words in html
    assert "<b>answer" not in html
    assert repr(view) == text
    many = Result(recorded(*(result(name) for name in NAMES[:30])))
    assert "What did not hold (20 of 30)" in many.text()
    assert Result(replace(recorded(), cases=())).shown().text() == "No case finished."


def test_each_advice_of_the_page_has_a_command():
    done = recorded(*(result(name, misses=(replace(MISS, todo=f"Do {at}."),)) for at, name in enumerate(NAMES[:5])))
    page = to_html(done)
    first = page[page.index("What to do first") : page.index("What did not hold</h2>")]
    assert first.count("Run it again: ") == 5


def test_a_terminal_is_told_what_to_do_first():
    lines = list(first_lines(recorded(*(result(name, misses=(replace(MISS, todo=f"Do {at}."),))
                                        for at, name in enumerate(NAMES[:5])))))  # fmt: skip
    assert lines[0] == "1. ✗ fail, 1 case: Do 0."
    assert lines[1] == f"   {NAMES[0]}: expected {MISS.expected}, observed {MISS.observed}"
    assert lines[2] == f"   workbook conform back-end.toml --only {NAMES[0]} --seed 7"
    assert lines[-1] == "   … and 2 more; see conform.html"
    assert len(lines) == 3 * 3 + 1
    assert list(first_lines(recorded(of_each_verdict()[0]))) == []
    bare = list(first_lines(recorded(result(misses=(replace(MISS, expected=""),)))))
    assert [line.split()[0] for line in bare] == ["1.", "workbook"]


@pytest.mark.parametrize(("strict", "word"), [(False, "no"), (True, "yes")])
def test_the_page_says_how_the_run_was_made(strict, word):
    page = to_html(recorded(strict=strict, only=("form", "relay.get.*")))
    facts = " ".join(re.sub(r"<[^>]*>", " ", page[page.index("Versions") - 200 :]).split())
    for fact in (
        f"A warning counts as a failure {word} ",
        "Chosen by form, relay.get.* ",
        "Mock API&#x27;s profile spec ",
        "Exit code 1 ",
        "python 3.11.9",
    ):
        assert fact in facts
    assert ABOUT.command in page
    assert ABOUT.started in page


@pytest.mark.parametrize(
    ("verdict", "code", "word", "colour"),
    [
        ("pass", 0, "No harm seen.", "pass"), ("warn", 0, "No harm seen, but warnings.", "warn"),
        ("known", 0, "Known failures only.", "known"), ("warn", 1, "Failed.", "fail"),
        ("pass", 130, "Interrupted.", "not-testable"), ("pass", 2, "Undecided.", "not-testable"),
        ("harness error", 255, "The workbook failed.", "harness-error"),
    ],
)  # fmt: skip
def test_the_banner_follows_the_exit_code(verdict, code, word, colour):
    page = to_html(recorded(result(verdict=Verdict(verdict)), exit_code=code))
    bare = to_html(replace(recorded(exit_code=2), cases=()))
    assert '<p class="headline is-not-testable"' in bare
    assert f'<p class="headline is-{colour}"><b>{word}</b> ' in page


@rows(
    ("program", "title", "seeded"),
    [("workbook conform", "Conformance of", True), ("workbook conform app", "Conformance of", True),
     ("workbook preflight", "Preflight of", False)],
)  # fmt: skip
def test_a_report_says_which_command_made_it(program, title, seeded):
    record = recorded(program=program)
    for report in (to_html(record), to_markdown(record)):
        assert title in report
        assert bool(re.search("[·,] seed 7", report)) == seeded
