"""Which cases are run, what the baseline makes of it, and the exit code."""

from datetime import date

import pytest

from workbook.base.forms import BadConfigurationError
from workbook.errors import ParameterError
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import load_baseline
from workbook.tools.conform.back_end.model import BackEndResult
from workbook.tools.harness.model import Known, Root, RunFinding, Verdict, apply_baseline, choose_cases, new_baseline
from workbook.tools.harness.report import About, exit_code

NAMES = list(CASES)
ONE, TWO, *_ = CASES.values()
TODAY = date(2030, 6, 1)


def names(*patterns):
    return [case.name for case in choose_cases(CASES, patterns)]


def test_a_pattern_is_a_name_a_group_or_a_glob_and_the_order_is_the_cases_own():
    assert names() == NAMES
    assert names(ONE.name) == [ONE.name]
    assert names("form") == [name for name, case in CASES.items() if case.group == "form"]
    assert names("relay.post.*") == [name for name in NAMES if name.startswith("relay.post.")]
    assert names("relay.post.key-once", "relay.get.key-once", "relay.*.key-once") == [
        "relay.get.key-once",
        "relay.post.key-once",
    ]


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("relay.post.kye-once", "Did you mean 'relay.post.key-once'?"),
        ("back-end.toml", "The configuration's file comes before --only."),
        ("fromm", "Did you mean 'form'?"),
        ("nothing-like-that-at-all-anywhere", "Groups: form, "),
        ("nothing-like-that-at-all-anywhere", "; names: see --list."),
        ("relay.nope.*", "No case matches 'relay.nope.*'. Groups: form, "),
    ],
)
def test_a_pattern_that_means_nothing_is_an_error(pattern, told):
    with pytest.raises(ParameterError) as refused:
        names("form", pattern)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("verdict", "entry", "becomes", "stale"),
    [
        ("fail", Known(ONE.name, "why"), "known", ""),
        ("warn", Known(ONE.name, "why"), "known", ""),
        ("not looked at", Known(ONE.name, "why"), "known", ""),
        ("fail", Known(ONE.name, "why", TODAY), "known", ""),
        ("fail", Known(ONE.name, "why", date(2030, 5, 31)), "fail", "its last day was 2030-05-31"),
        ("pass", Known(ONE.name, "why"), "pass", "it passes now"),
        ("note", Known(ONE.name, "why"), "note", "it passes now"),
        ("not testable", Known(ONE.name, "why"), "known", ""),
        ("harness error", Known(ONE.name, "why"), "harness error", ""),
        ("fail", Known(TWO.name, "why"), "fail", ""),
        ("fail", Known("relay.no.such-case", "why"), "fail", "there is no such case"),
    ],
)
def test_a_baseline_makes_failures_known_and_goes_stale(verdict, entry, becomes, stale):
    (result,), told = apply_baseline((entry,), [BackEndResult(ONE, Verdict(verdict))], CASES, TODAY)
    assert result.verdict == becomes
    assert (stale in told[0]) if stale else (told == ())
    assert ("Known: why" in result.why) == (becomes == "known")


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ('[[known]]\ncase = "a"\n', "[[known]] 1 comment: it is missing; give a text that says why"),
        ('[[known]]\ncase = "a"\ncomment = "  "\n', "[[known]] 1 comment: give a text that says why"),
        ('[[known]]\ncomment = "a"\n', "[[known]] 1 case: it is missing; give the name of a case"),
        ('[[known]]\ncase = "a"\ncomment = "b"\nexpires = "2030-01-01"\n', "[[known]] 1 expires: give a day"),
        ('[[known]]\ncase = "a"\ncomment = "b"\nexpires = 2030-01-01T00:00:00\n', "[[known]] 1 expires: give a day"),
        ('[[known]]\ncase = "a"\ncomment = "b"\nexpirse = 2030-01-01\n', "Did you mean 'expires'?"),
        (
            '[[known]]\ncase = "a"\ncomment = "b"\n[[known]]\ncase = "a"\ncomment = "b"\n',
            "[[known]] 2 case: an earlier entry has it",
        ),
        ('[[konwn]]\ncase = "a"\n', "konwn: there is no such key."),
        ("known = 3\n", "known: give tables"),
    ],
)
def test_what_is_wrong_with_a_baseline_is_told(tmp_path, text, mistake):
    path = tmp_path / "baseline.toml"
    path.write_text(text)
    with pytest.raises(BadConfigurationError) as refused:
        load_baseline(path)
    assert mistake in str(refused.value)


@pytest.mark.parametrize(
    ("verdicts", "given", "code"),
    [
        (["pass", "note", "known", *["not testable"] * 9], {}, 0),
        ([*["pass"] * 9, "not looked at"], {}, 0),
        ([*["pass"] * 8, "not looked at"], {}, 2),
        (["pass", "not looked at"], {"program": "workbook preflight"}, 0),
        (["fail", "not looked at"], {}, 1),
        (["pass", "not looked at"], {"strict": True}, 1),
        (["pass", "not testable"], {"strict": True}, 1),
        (["not testable"], {"strict": True}, 2),
        (["not looked at"], {"strict": True}, 2),
        (["warn"], {}, 0),
        (["warn"], {"strict": True}, 1),
        (["pass", "fail"], {}, 1),
        (["pass"], {"stale": ("an entry",)}, 1),
        (["pass"], {"findings": (RunFinding(Root.PLAIN_CALL, "", ""),)}, 1),
        (["pass"], {"findings": (RunFinding(Root.LIMIT, "", ""),)}, 0),
        (["pass"], {"trouble": "no answer"}, 2),
        (["fail"], {"trouble": "no answer"}, 1),
        (["fail"], {"interrupted": True}, 130),
        (["not testable", "not applicable"], {}, 2),
        ([], {}, 2),
        (["fail", "harness error"], {}, 255),
    ],
)
def test_the_exit_code_is_that_of_the_worst(verdicts, given, code):
    assert exit_code(About(**given), map(Verdict, verdicts)) == code


def test_a_pattern_covers_what_fits_it_and_goes_stale_when_all_of_it_passes():
    lists = [case for case in CASES.values() if case.name.startswith("relay.list.")]
    entry, other = Known("relay.list.*", "one worker"), Known("form", "a comment")
    failing = [BackEndResult(lists[0], Verdict.FAIL), *(BackEndResult(case, Verdict.PASS) for case in lists[1:])]
    results, stale = apply_baseline((entry,), failing, CASES, TODAY)
    assert ([result.verdict for result in results][:2], stale) == ([Verdict.KNOWN, Verdict.PASS], ())
    _results, stale = apply_baseline((entry, other), [BackEndResult(lists[1], Verdict.PASS)], CASES, TODAY)
    assert [line.partition(":")[0] for line in stale] == ["relay.list.*"] + ["form"] * (lists[1].group == "form")
    _results, (told,) = apply_baseline((Known("relay.lits.*", "x"),), [], CASES, TODAY)
    assert told.startswith("relay.lits.*: there is no")


def test_a_baseline_can_be_written_from_a_run_and_read_again(tmp_path):
    names = ["relay.get.path", "relay.list.in-time", "relay.post.path"]
    known = (Known("relay.list.*", "one worker", TODAY), Known("relay.get.fresh", "fixed since"))
    path = tmp_path / "known.toml"
    path.write_text(new_baseline(known, dict.fromkeys(names, 'Expected "a", observed b.'), CASES))
    first, *fresh = load_baseline(path)
    assert first == known[0]
    assert [entry.case for entry in fresh] == ["relay.get.path", "relay.post.path"]
    assert fresh[0].comment.startswith('Expected "a", observed b. TODO: say why')
