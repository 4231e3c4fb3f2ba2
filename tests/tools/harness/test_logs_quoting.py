"""A line of a log is quoted by its words; nothing else of it is shown."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ran import CARD, INPUT, KEY, MISS, OUTPUT, SECRETS, SESSION, recorded, result, seen

from workbook.base.secrecy import SecretKind, Secrets
from workbook.tools.harness.output import reports
from workbook.tools.harness.program import LogLine, without_values

KNOWN = recorded(result()).secrets


def quote(line):
    return without_values(line, KNOWN.has_part)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (f"INFO headers: x-api-key: {KEY}", "INFO headers: x-api-key: …"),
        (f'{{"sdkOutput": "{OUTPUT}"}}', '{"…": "…"}'),
        (f"GET /cards/{CARD} 200 in 0.41 s", "GET /cards/… 200 in … s"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        (f"key is {KEY[:8]} {KEY[8:]}", "key is … …"),
    ],
)
def test_words_are_shown_and_values_are_not(line, told):
    assert quote(line) == told


def test_a_word_that_stands_in_a_secret_is_no_word():
    assert without_values("the horse battery", Secrets([(SecretKind.KEY, "correct-horse-staple")]).has_part) == (
        "the … battery"
    )


def test_a_long_line_is_cut_between_words():
    told = quote("word " * 100)
    assert len(told) <= 162
    assert told.endswith("word …")


@pytest.mark.rule("REL-2", "REL-3")
@given(st.sampled_from(sorted(SECRETS)), st.text(max_size=9), st.text(max_size=9), st.integers(0, 6), st.booleans())
def test_no_secret_comes_through(name, before, after, start, blank):
    secret = SECRETS[name][start : start + 40]
    said = quote(f"x {before}{' ' * blank}{secret}{' ' * blank}{after}")
    assert secret[:12] not in said


def with_line(text, *misses):
    """The record of a case that saw these lines of a log; its own misses by default."""
    lines = [LogLine("app.log", number, text) for number in (7, 8, 9, 10)]
    used = replace(seen(log=[LogLine("app.log", 6, "another"), *lines]), key=KEY)
    case = result("relay.log.no-key-ever", seen=used).case
    return recorded(result(case.name, misses=misses or tuple(case.judge(used)), seen=used))


@pytest.mark.rule("REL-2", "REL-3")
def test_a_miss_quotes_the_line_that_it_names():
    record = with_line(f"WARN failed with {KEY} and {INPUT} of {SESSION}")
    (miss,) = record.cases[0].misses
    assert miss.observed.startswith(
        "part of the key in app.log, line 7, and in 3 more lines; the line, without its values: "
    )
    assert miss.place == "app.log:7"
    assert "WARN failed with … and … of …" in miss.observed
    for text in reports(record).values():
        assert record.secrets.found_in(text) is None


def test_a_line_that_is_gone_or_another_is_not_quoted():
    for place in ({"file": "app.log", "line": 11}, {"file": "other.log", "line": 7}, {}):
        miss = replace(MISS, observed="part of the key in a line", **place)
        assert with_line("x", miss).cases[0].misses[0].observed == "part of the key in a line"


def test_a_case_that_judges_the_whole_run_is_repeated_by_everything():
    assert with_line("x", MISS).cases[0].reproduce == "workbook conform back-end.toml --seed 7"
