import pytest

import workbook as wb
from workbook.errors import ChecksFailedError, ParameterError
from workbook.lessons.lesson import CHECK_MIMETYPE, Shown, check


def test_a_check_reads_as_a_sentence():
    assert repr(check("the button is shown", passed=True, rule="A-CAN-1", otherwise="look again")) == (
        "✓ the button is shown (A-CAN-1)"
    )
    assert (
        repr(check("the button is shown", passed=False, otherwise="look again")) == "✗ the button is shown: look again"
    )
    assert repr(check("a", passed=False)) == "✗ a"
    assert [bool(check("a", passed=passed)) for passed in (True, False)] == [True, False]


def test_a_check_leaves_its_fact_for_the_runner():
    bundle = check("<b>", passed=False, rule="A-CAN-2", otherwise="<i>")._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {
        "text/plain": "✗ <b> (A-CAN-2): <i>",
        "text/html": '<p style="border-left:5px solid var(--jp-error-color1, #b3261e);padding-left:0.6em">'
        '<span role="img" aria-label="failed">✗</span> <b>&lt;b&gt;</b> '
        '(<span style="white-space:nowrap">A-CAN-2</span>): &lt;i&gt;</p>',
        CHECK_MIMETYPE: {"name": "<b>", "passed": False, "rule": "A-CAN-2", "source": ""},
    }


def test_a_check_names_its_sources_beside_its_rule():
    both = check("the app is not listed", passed=True, rule="X-PLIST-2", source="wallet inferred")
    assert repr(both) == "✓ the app is not listed (X-PLIST-2, wallet, inferred)"
    assert '">wallet</span>, <span' in both.html()
    assert repr(check("both fail", passed=True, source="assumed")) == "✓ both fail (assumed)"
    with pytest.raises(ParameterError, match="source is 'hearsay'"):
        check("a", passed=True, source="hearsay")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: check(None, passed=True), "the fact, as a short sentence, not None"),
        (lambda: check(" ", passed=True), "needs a name: the fact, as a short sentence"),
        (lambda: check("a", passed=1), "compare first"),
        (lambda: check("a", passed=True, rule="A-CAN-99"), "No rule 'A-CAN-99'"),
        (lambda: check("the button is shown"), "needs True or False, not None: compare first"),
        (lambda: check("a", passed=True, rule=3), "A rule's id is text such as 'A-CAN-2', not int"),
        (lambda: check("a", passed=True, rule=""), "No rule ''"),
        (lambda: check("a", passed=False, otherwise=3), "otherwise is what a reader should do, as text, not 3"),
    ],
)
def test_a_wrong_argument_is_explained(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


def test_an_error_can_be_shown():
    shown = Shown(ValueError("not <x>"))
    assert repr(shown) == "ValueError: not <x>"
    assert shown._repr_mimebundle_()["text/html"] == (
        '<p style="white-space:pre-line"><b>ValueError</b>: not &lt;x&gt;</p>'
    )
    assert CHECK_MIMETYPE not in shown._repr_mimebundle_()


@pytest.fixture
def lesson(monkeypatch):
    """Begins a lesson with these settings, as its second cell does."""
    monkeypatch.delenv("WORKBOOK_STRICT", raising=False)
    yield lambda **settings: wb.session(settings)
    wb.session({})


def test_the_last_cell_sums_up_what_the_lesson_checked(lesson):
    lesson()
    assert repr(check()) == "✓ 0 of 0 checks hold"
    check("a", passed=True)
    check("b", passed=False, rule="A-CAN-2", otherwise="look again")
    check("c", passed=False)
    assert not check()
    assert repr(check()) == "✗ 1 of 3 checks hold: ✗ b (A-CAN-2); ✗ c"
    left = check()._repr_mimebundle_()[CHECK_MIMETYPE]["checks"]
    assert [(one["name"], one["passed"]) for one in left] == [("a", True), ("b", False), ("c", False)]
    check("b", passed=True)
    assert repr(check()).startswith("✗ 2 of 3")
    lesson()
    assert repr(check()) == "✓ 0 of 0 checks hold"


def test_a_strict_lesson_raises_all_that_failed_in_its_last_cell_only(lesson):
    lesson(strict=True)
    check("a", passed=False)
    check("b", passed=False, rule="A-CAN-2")
    with pytest.raises(ChecksFailedError, match=r"^0 of 2 checks hold: ✗ a; ✗ b \(A-CAN-2\)$"):
        check()
    lesson(strict=True)
    check("a", passed=True)
    assert check()


@pytest.mark.parametrize(("value", "strict"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_the_environment_makes_every_lesson_strict(lesson, monkeypatch, value, strict):
    lesson()
    check("a", passed=False)
    monkeypatch.setenv("WORKBOOK_STRICT", value)
    if strict:
        with pytest.raises(ChecksFailedError, match="✗ a"):
            check()
    else:
        assert not check()
