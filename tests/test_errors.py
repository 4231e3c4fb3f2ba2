"""The tree of errors is the one that is drawn, and each error says what it holds."""

import re

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from workbook import errors
from workbook.base.values import did_you_mean
from workbook.errors import RedactedRequest

REQUEST = RedactedRequest("GET", "https://simulated.invalid/x", 0)
CALL = {"request": REQUEST, "elapsed": 1.5, "attempts": 2}


def classes():
    return {name: one for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception)}


TREE = {name: one.__bases__[0].__name__ for name, one in classes().items() if name != "WorkbookError"}


def test_the_tree_is_as_it_is_drawn_in_the_docstring():
    drawn, above = {}, ["WorkbookError"]
    for line in errors.__doc__.splitlines():
        if found := re.match(r" {4}([│ ]*)[├└]── (\w+)", line):
            depth = len(found[1]) // 4
            drawn[found[2]] = above[depth]
            above[depth + 1 :] = [found[2]]
    assert drawn == TREE


@pytest.mark.parametrize(
    "name", [name for name, parent in TREE.items() if "Activation" in parent or "Malformed" in parent]
)
def test_an_error_of_a_call_keeps_the_request_the_time_and_the_attempts(name):
    more = {"DeadlineError": {"sent": True}, "ApiStatusError": {"status": 422, "body": b"no"}}.get(name, {})
    error = getattr(errors, name)("what happened", **CALL, **more)
    assert (str(error), error.request, error.elapsed, error.attempts) == ("what happened", REQUEST, 1.5, 2)
    assert {key: getattr(error, key) for key in more} == more


@pytest.mark.parametrize(
    ("word", "known", "said"),
    [
        ("quotde", ["quoted", "cut off"], "Did you mean 'quoted'?"),
        ("xyz", ["quoted", "cut off"], "Known: cut off, quoted."),
        ("", ["b", "a"], "Known: a, b."),
        ("x", [], "Known: ."),
    ],
)
def test_a_misspelt_name_is_met_with_the_nearest_or_with_all(word, known, said):
    assert did_you_mean(word, known) == said


def test_what_an_sdk_throws_carries_its_public_name_and_the_source_of_it():
    error = errors.SdkError("invalidSDKInput", "it is cut off")
    assert (str(error), error.case, error.why) == (
        "invalidSDKInput (sdk-b): it is cut off.",
        "invalidSDKInput",
        "it is cut off",
    )


def test_a_notebook_shows_the_sentence_and_no_frame_of_ours(capsys):
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell("from workbook.base.rules import rule")
    shell.run_cell("rule('A-CAN-06')")  # ids have no leading zeros, so this one can never exist
    assert capsys.readouterr().out == "ParameterError: No rule 'A-CAN-06'. Did you mean 'A-CAN-6'?\n"
    shell.run_cell("raise ValueError('theirs')")
    assert "Traceback (most recent call last)" in capsys.readouterr().out
