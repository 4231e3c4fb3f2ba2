from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbook as wb
from workbook.flows.messages import Actor
from workbook.views.compare import ComparedStep, Mark, align
from workbook.views.sequence import ADDED, REMOVED, SequenceLine, Shape


def line(label, at=0.0, *, failed=False, sender=Actor.APP):
    return SequenceLine(at, Shape.CALL, sender, Actor.SDK, label, "", (), failed=failed)


def marks(steps):
    return "".join(step.mark for step in steps)


@pytest.fixture(scope="module")
def flow():
    return wb.session().platform_a


@pytest.fixture(scope="module")
def lost(flow):
    """A run that goes well, and one in which the answer to the POST is lost."""

    def fetch_opc(_instrument, _output):
        raise TimeoutError

    return flow.play().compare(flow.play(fetch_opc=fetch_opc))


def test_two_equal_runs_fold_into_one_line(flow):
    same = flow.play().compare(flow.play())
    assert same.outcomes == ()
    assert same.text().splitlines() == [
        "Platform A, SDK from 0.4.0: two runs compared", "  how they end  the same", "",
        f"= {len(same.steps)} steps as in the first run",
    ]  # fmt: skip


def test_each_step_that_differs_is_a_line_for_each_run_that_has_it(lost):
    lines = lost.text().splitlines()
    differing = [step for step in lost.steps if step.mark is not Mark.SAME]
    assert sum(text.startswith(("- 0.", "- 3.")) for text in lines) == sum(step.first is not None for step in differing)
    assert [text for text in lines if text.startswith("+ ") and "OpcFetchError" in text]
    assert lines.index("- in the first run, + in the second run") < min(
        number for number, text in enumerate(lines) if text.startswith("= ")
    )


def test_how_the_ends_differ_is_said_with_the_findings(lost):
    outcomes = {name: (first, second) for name, first, second in lost.outcomes}
    assert outcomes["ended"] == ("in the wallet", "failed")
    assert outcomes["findings"][0] == "none"
    assert outcomes["findings"][1].startswith("✗ ")


def test_the_picture_marks_the_lines_of_each_run_and_folds_the_rest(lost):
    folded = lost.folded
    assert {line.mark for line in folded.lines} == {"", REMOVED, ADDED}
    assert len(folded.lines) < len(lost.steps) + sum(step.mark is Mark.CHANGED for step in lost.steps)
    assert 'class="is-call is-failed is-added"' in lost.picture.svg
    assert "In the second run only: " in lost.picture.svg


def test_html_has_every_step_of_both_runs(lost):
    assert lost.html().count("<tr>") == 1 + len(lost.steps) + 1 + len(lost.outcomes)


def test_a_message_with_other_values_is_one_step_and_another_message_is_not():
    assert marks(align([replace(line("a"), detail="x")], [replace(line("a"), detail="y")])) == "~"
    assert marks(align([line("a")], [line("b")])) == "-+"
    assert marks(align([line("a")], [line("a", sender=Actor.API)])) == "-+"


def test_a_step_at_another_time_is_the_same_step_and_the_block_says_so(flow):
    quick, slow = flow.play(), flow.play(taps=2)
    shifted = [ComparedStep(step.first, step.second) for step in quick.compare(slow).steps if step.mark is Mark.SAME]
    assert all(step.first.label == step.second.label for step in shifted)
    late = align([line("a"), line("b")], [line("a", 0.5), line("b", 0.5)])
    assert marks(late) == "=="


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_an_alignment_holds_both_runs_whole_and_in_order(first, second):
    steps = align([line(label) for label in first], [line(label) for label in second])
    assert [step.first.label for step in steps if step.first] == first
    assert [step.second.label for step in steps if step.second] == second


def test_runs_of_different_kinds_are_compared_by_what_both_have():
    session = wb.session()
    run = session.platform_a.play().compare(session.break_it("reset", "POST"))
    assert {name for name, _first, _second in run.outcomes} <= {
        "ended", "add button", "card in the wallet", "took", "findings",
    }  # fmt: skip
