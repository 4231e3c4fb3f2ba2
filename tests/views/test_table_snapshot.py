import pytest

from workbook.views.table import above, facts, failure, snapshot


class Rich:
    def __init__(self, bundle):
        self.bundle = bundle

    def __repr__(self):
        return "Rich"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self.bundle


class Html:
    def __repr__(self):
        return "Html"

    def _repr_html_(self):
        return "<b>html</b>"


def test_a_view_keeps_both_its_forms():
    card = facts("F", {"a": 1})
    assert (snapshot(card).text(), snapshot(card).html()) == (card.text(), card.html())


@pytest.mark.parametrize(
    ("value", "text", "html"),
    [
        (None, "Nothing was returned.", ">Nothing was returned.<"),
        ("a <b>\nc", "a <b>\nc", ">a &lt;b&gt;\nc<"),
        ({"a": 1}, "{'a': 1}", ">{&#x27;a&#x27;: 1}<"),
        (Html(), "Html", "<b>html</b>"),
        (Rich(({"text/html": "<i>x</i>"}, {"meta": 1})), "Rich", "<i>x</i>"),
        (Rich({"text/plain": "told"}), "told", ">told<"),
        (Rich(None), "Rich", ">Rich<"),
    ],
)
def test_a_value_is_shown_as_a_notebook_would(value, text, html):
    taken = snapshot(value)
    assert taken.text() == text
    assert html in taken.html()


def test_an_error_is_told_by_class_and_message():
    told = failure(ValueError("<no>"))
    assert told.text() == "✗ ValueError: <no>"
    assert "<b>ValueError</b>: &lt;no&gt;" in told.html()


def test_two_snapshots_stand_one_above_the_other():
    both = above(snapshot("one"), snapshot("two"))
    assert both.text() == "one\ntwo"
    assert both.html() == snapshot("one").html() + snapshot("two").html()
