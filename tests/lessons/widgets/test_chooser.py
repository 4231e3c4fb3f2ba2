import sys
from html.parser import HTMLParser

import ipywidgets
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ParameterError
from workbook.lessons.widgets.chooser import Chooser
from workbook.views.table import facts, snapshot


class Walk:
    """A call that remembers how it was called."""

    __name__ = "walk"

    def __init__(self):
        self.calls = []

    def __call__(self, **values):
        self.calls.append(values)
        return facts("Walked", values)


@pytest.fixture
def walk():
    return Walk()


@pytest.fixture
def chooser(walk):
    return Chooser(walk, variant=["from-0.4.0", "before-0.4.0"], taps={"one tap": 1, "three taps": 3})


def test_nothing_is_called_before_it_is_shown(chooser, walk):
    assert repr(chooser) == "Chooser(walk, variant=[from-0.4.0, before-0.4.0], taps=[one tap, three taps])"
    assert walk.calls == []


def test_showing_it_calls_once_with_the_first_of_each_choice(chooser, walk):
    chooser._repr_mimebundle_()
    chooser._repr_mimebundle_(include=None, exclude=None)
    assert walk.calls == [{"variant": "from-0.4.0", "taps": 1}]


def test_the_stored_forms_make_sense_without_a_kernel(chooser):
    bundle = chooser._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == (
        'walk(variant="from-0.4.0", taps=1)  # the first of each choice\n'
        "Walked\n  variant  from-0.4.0\n  taps     1\n"
        "Choices: variant, taps."
    )
    assert "Choices: variant, taps." in bundle["text/html"]
    assert facts("Walked", {"variant": "from-0.4.0", "taps": 1}).html() in bundle["text/html"]


def test_every_control_has_a_label_and_there_is_no_button_to_press(chooser):
    controls = [*chooser.widget().children[0].children]
    assert [(one.description, one.options) for one in controls] == [
        ("variant", ("from-0.4.0", "before-0.4.0")), ("taps", ("one tap", "three taps")),
    ]  # fmt: skip
    assert not [child for child in chooser.widget().children if isinstance(child, ipywidgets.Button)]


def test_a_change_runs_the_call_and_shows_the_python_for_it(chooser, walk):
    _choose(chooser, variant="before-0.4.0")
    assert walk.calls[-1] == {"variant": "before-0.4.0", "taps": 1}
    _choose(chooser, taps="three taps")
    assert walk.calls[-1] == {"variant": "before-0.4.0", "taps": 3}
    assert "walk(variant=&quot;before-0.4.0&quot;, taps=3)" in _shown(chooser)
    assert _shown(chooser).startswith('<div role="status"')  # a screen reader is told
    assert facts("Walked", walk.calls[-1]).html() in _shown(chooser)
    assert len(walk.calls) == 3


def test_an_older_result_is_dimmed_while_the_call_runs_and_a_change_in_that_time_is_run_afterwards():
    seen = []

    def call(a):
        seen.append((a, chooser.widget().children[-1].layout.opacity))
        if a == 2:
            _choose(chooser, a="3")
        return f"result {a}"

    chooser = Chooser(call, a=[1, 2, 3])
    chooser.first = snapshot("result 1")
    _choose(chooser, a="2")
    assert seen == [(2, "0.4"), (3, "0.4")]
    assert "result 3" in _shown(chooser)
    assert "call(a=3)" in _shown(chooser)
    assert chooser.widget().children[-1].layout.opacity is None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("123")), max_size=8))
def test_whatever_is_chosen_the_result_belongs_to_the_choices_shown(changes):
    chooser = Chooser(lambda a, b: f"a is {a} and b is {b}.", a=list("123"), b=list("123"))
    box = chooser.widget()
    for name, label in changes:
        _choose(chooser, **{name: label})
        one, other = (child.value for child in box.children[0].children)
        assert f"a is {one} and b is {other}." in _shown(chooser)


@pytest.mark.parametrize("error", [ParameterError("No variant 'x'."), ZeroDivisionError("<by zero>")])
def test_an_error_is_shown_as_the_result(error):
    def call(**_values):
        raise error

    chooser = Chooser(call, a=[1, 2])
    text = chooser._repr_mimebundle_()["text/plain"]
    assert f"✗ {type(error).__name__}: {error}" in text
    _choose(chooser, a="2")
    assert f"<b>{type(error).__name__}</b>" in _shown(chooser)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_call_that_was_stopped_says_so_and_the_next_change_runs(stop):
    def call(a):
        if a == 2:
            raise stop
        return f"result {a}"

    chooser = Chooser(call, a=[1, 2, 3])
    _choose(chooser, a="2")
    assert "Stopped. Change a choice to run the call again." in _shown(chooser)
    _choose(chooser, a="3")
    assert "result 3" in _shown(chooser)


def test_what_the_call_prints_is_kept(capsys):
    def call(**_values):
        sys.stdout.write("on the way\n")
        return "result"

    assert Chooser(call, a=[1]).first.text() == "on the way\nresult"
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("option", "label", "spelled"),
    [
        ("plain", "plain", '"plain"'),
        ('say "hi"\n', 'say "hi"\n', '"say \\"hi\\"\\n"'),
        (None, "None", "None"),
        (0.5, "0.5", "0.5"),
        (facts, "facts", "facts"),
        (object(), "object", "object"),
    ],
)
def test_an_option_is_labelled_and_spelled_without_an_address(option, label, spelled, walk):
    chooser = Chooser(walk, a=[option])
    assert list(chooser.choices["a"]) == [label]
    assert chooser.in_python(chooser.defaults()) == f"walk(a={spelled})"


def test_what_is_spelled_is_the_same_call(walk):
    chooser = Chooser(walk, text=['quo"te\n\u5361'], number=[3])
    eval(chooser.in_python(chooser.defaults()), {"walk": walk})
    assert walk.calls == [{"text": 'quo"te\n\u5361', "number": 3}]


def create_with(damage="none", *, variant="before"):
    return damage + variant


@pytest.mark.parametrize(
    ("call", "choices", "told"),
    [
        *(
            (create_with, {name: ["a"]}, "never takes a key")
            for name in ("api_key", "key", "Password", "client_secret")
        ),
        (create_with, {"damge": ["a"]}, r"create_with takes no 'damge'\. Did you mean 'damage'"),
        (lambda text, /: text, {"text": ["a"]}, r"takes no 'text'\. Known: "),
        *((wrong, {"x": [1]}, "A chooser needs a function to call") for wrong in (5, None, "walk")),
        (create_with, {}, "needs something to choose"),
        *((create_with, {"a": empty}, "has nothing to choose from") for empty in ([], {})),
        *((create_with, {"a": wrong}, "needs a list of values or a mapping") for wrong in ("abc", 5, None)),
    ],
)
def test_what_cannot_be_chosen_is_explained(call, choices, told):
    with pytest.raises(ParameterError, match=told):
        Chooser(call, **choices)


def test_a_function_that_hides_its_parameters_is_taken():
    assert Chooser(dict, a=[1]).first.text() == "{'a': 1}"


def test_hostile_labels_and_results_are_escaped():
    chooser = Chooser(lambda a: a, a=["<script>alert(1)</script>"])
    bundle = chooser._repr_mimebundle_()
    assert "script" not in _tags(bundle["text/html"]) | _tags(_shown(chooser))


def _tags(html):
    found = set()

    class Collect(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.add(tag)

    Collect().feed(html)
    return found


def _shown(chooser):
    return chooser.widget().children[-1].value


def _choose(chooser, **labels):
    for control in chooser.widget().children[0].children:
        if isinstance(control, (ipywidgets.Dropdown, ipywidgets.RadioButtons)):
            name = control.description.replace("I think", "i think").replace(" ", "_")
            control.value = labels.get(name, control.value)
