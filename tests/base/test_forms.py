"""Files that people write: every mistake at once, each with its place, what was wrong, and what to give instead."""

from typing import Annotated, Literal

import pytest
from pydantic import Field
from rows import rows

from workbook.base import forms
from workbook.base.forms import (
    BadConfigurationError,
    Flag,
    Form,
    Mistakes,
    Says,
    Seed,
    Text,
    Texts,
    label,
    load_toml,
    parse_toml,
    read_form,
    read_toml,
)

EXAMPLE = "See the sample."
TEXT = "text in quotes, 1 to 1000 printable characters without outer spaces"


class Route(Form):
    path: Text = "/"
    method: Literal["GET", "POST"] = "GET"


class Card(Form):
    id: Text
    size: Annotated[int, Field(ge=1), Says("a whole number from 1")] = 1


class File(Form):
    name: Text = "x"
    tags: Texts = Field(default_factory=list)
    strict: Flag = False
    seed: Seed = 7
    password: Annotated[str, Field(max_length=3), Says("a word of 3 letters", hidden=True)] = "abc"
    get: Route = Route()
    card: list[Card] = Field(default_factory=list)


def told(document):
    mistakes = Mistakes()
    form = read_form(File, document, mistakes)
    return form, mistakes.sentences()


def test_a_file_in_order_is_read_with_its_defaults():
    form, mistakes = told({"name": "mine", "card": [{"id": "a"}], "get": {"method": "POST"}})
    assert mistakes == []
    assert (form.name, form.card, form.get, form.strict) == ("mine", [Card(id="a")], Route(method="POST"), False)


@rows(("document", "sentence"), [
        ({"name": 5}, f"name: it is 5; give {TEXT}."),
        ({"name": " x"}, f"name: it is ' x'; give {TEXT}."),
        ({"name": ""}, f"name: it is ''; give {TEXT}."),
        ({"tags": ["a", "a"]}, "tags: it is a value of type list; give a list of texts, each once."),
        ({"strict": 1}, "strict: it is 1; give true or false."),
        ({"name": True}, f"name: it is true; give {TEXT}."),
        ({"seed": -1}, "seed: it is -1; give a whole number from 0 to 4294967295."),
        ({"seed": 2**32}, "seed: it is 4294967296; give a whole number from 0 to 4294967295."),
        ({"password": "secret"}, "password: give a word of 3 letters."),
        ({"nmae": "x"}, "nmae: there is no such key. Did you mean 'name'?"),
        ({"path": "/x"}, "path: there is no such key. It belongs in [get]."),
        ({"get": {"name": "x"}}, "[get] name: there is no such key. It belongs at the top of the file."),
        ({"size": 1}, "size: there is no such key. It belongs in [[card]]."),
        ({"get": {"method": "PSOT"}}, "[get] method: it cannot be 'PSOT'. Did you mean 'POST'?"),
        ({"get": {"method": 5}}, "[get] method: it is 5; give one of GET, POST."),
        ({"get": "x"}, "get: it is a text; give a table."),
        ({"get": 7}, "get: it is 7; give a table."),
        ({"card": {"id": "a"}}, "card: give tables, each under a heading in double brackets."),
        ({"card": [{"id": "a"}, {"size": 2}]}, f"[[card]] 2 id: it is missing; give {TEXT}."),
        ({"card": [{"id": "a", "size": 0}]}, "[[card]] 1 size: it is 0; give a whole number from 1."),
    ])  # fmt: skip
def test_a_mistake_has_its_place_and_what_to_give_instead(document, sentence):
    form, mistakes = told(document)
    assert [one for one in mistakes if not one.startswith(sentence)] == []
    assert mistakes == [sentence]
    assert isinstance(form, File)


def test_all_mistakes_are_told_at_once_and_the_rest_is_read():
    form, mistakes = told({"name": "mine", "seed": "x", "get": {"path": "", "method": "POST"}, "card": [{}], "no": 1})
    assert [one.partition(":")[0] for one in mistakes] == ["seed", "[get] path", "[[card]] 1 id", "no"]
    assert (form.name, form.seed, form.get, form.card) == ("mine", 7, Route(method="POST"), [])


def test_a_place_within_a_wrong_table_is_told_no_second_time():
    mistakes = Mistakes()
    mistakes.add(("get",), "it is wrong.")
    mistakes.add(("get", "path"), "it is wrong, too.")
    mistakes.add(("get",), "it is wrong again.")
    assert mistakes.sentences() == ["get: it is wrong."]
    assert (mistakes.covers("get", "path"), mistakes.covers("post"), mistakes.covers()) == (True, False, False)
    assert (mistakes.within("get"), mistakes.within("get", "path"), mistakes.within()) == (True, False, True)


@rows(
    ("place", "words"),
    [
        (("name",), "name"),
        (("get", "path"), "[get] path"),
        (("get", ""), "[get]"),
        (("a", "b", "c"), "[a.b] c"),
        (("card", 0, "id"), "[[card]] 1 id"),
        (("card", 2), "[[card]] 3"),
        ((), "the file"),
        (("k" * 50,), "k" * 40),
        (("\x1b[2J",), "\\u001b[2J"),
    ],
)
def test_a_place_is_named_as_in_the_file(place, words):
    assert label(place) == words


@pytest.mark.parametrize(("count", "words"), [(1, "f.toml: 1 mistake."), (2, "f.toml: 2 mistakes.")])
def test_the_error_counts_and_lists_what_was_found(count, words):
    mistakes = Mistakes()
    mistakes.raise_for("f.toml")
    for number in range(count):
        mistakes.add((f"key{number}",), "it is wrong.")
    with pytest.raises(BadConfigurationError) as error:
        mistakes.raise_for("f.toml")
    assert str(error.value).splitlines() == [words, *(f"  {one}" for one in mistakes.sentences())]
    assert error.value.mistakes == tuple(mistakes.sentences())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a = ", "it is not TOML: "),
        (b"a = \xff", "it is not UTF-8, see byte 4. Save it as UTF-8."),
        (b"a = " + b"[" * 100_000, "it is not TOML: "),
        (b"#" * 1_048_577, "it is larger than 1048576 bytes."),
    ],
)
def test_what_is_no_toml_is_told(text, words):
    with pytest.raises(BadConfigurationError) as error:
        parse_toml(text, "f.toml", EXAMPLE)
    (sentence,) = error.value.mistakes
    assert sentence.startswith(words)
    assert sentence.endswith(EXAMPLE) == ("TOML" in words)


@pytest.mark.parametrize("text", [b"a = 1\n", b"\xef\xbb\xbfa = 1\n", b"a = 1\n" + b"#" * (1_048_576 - 6)])
def test_toml_is_read_up_to_the_last_byte_that_is_allowed(text):
    assert parse_toml(text, "f.toml", EXAMPLE) == {"a": 1}


def test_a_file_that_is_not_there_is_told_with_the_one_that_may_be_meant(tmp_path):
    (tmp_path / "back-end.toml").write_text("a = 1")
    assert read_toml(tmp_path / "back-end.toml", EXAMPLE) == {"a": 1}
    for name, hint in (("bakc-end.toml", " Did you mean 'back-end.toml'?"), ("other.toml", ""), ("x" * 150, "")):
        with pytest.raises(BadConfigurationError) as error:
            read_toml(tmp_path / name, EXAMPLE)
        assert error.value.mistakes == (f"there is no such file.{hint} {EXAMPLE}",)
        assert str(error.value).startswith(str(tmp_path / name)[:200])
    with pytest.raises(BadConfigurationError, match="it cannot be read: it is not a regular file"):
        read_toml(tmp_path, EXAMPLE)
    with pytest.raises(BadConfigurationError, match="there is no such file"):
        read_toml(tmp_path / "no-folder" / "back-end.toml", EXAMPLE)


def test_whatever_is_wrong_a_form_comes_back():
    deep = {
        "get": {"path": {"a": 1}},
        "card": [{"id": {"b": [1]}}, 5, []],
        "tags": [[]],
        "name": {},
        "seed": [],
        "x": {},
    }
    form, mistakes = told(deep)
    assert form == File()
    assert [one.partition(":")[0] for one in mistakes if one.startswith(("name", "seed", "x"))] == ["name", "seed", "x"]


LONG = {
    "plain": ("a.", "{}b = 1"),
    "spaced": ("a . ", "{}b = 1"),
    "quoted": ('"a.b".', "{}b = 1"),
    "escaped": ('"\\"".', "{}b = 1"),
    "literal": ("'a\"'.", "{}b = 1"),
    "table": ("a.", "[{}b]"),
    "inline": ("a.", "x = {{ {}b = 1 }}"),
}


@rows("name", LONG)
def test_a_name_of_many_parts_is_refused_before_it_is_read(name):
    part, line = LONG[name]
    text = f"[one]\ntwo = 1\n{line}"
    with pytest.raises(ValueError, match=r"^a name has more than 20 parts with dots between them \(at line 3\)$"):
        load_toml(text.format(part * 20))
    assert load_toml(text.format(part * 19))


def test_looking_for_a_long_name_reads_no_text_twice():
    for text in ("a" * 3_000_000, '"' * 1_000_000, "a." * 19 + "b " * 1_000_000, "'a\n" * 500_000, " ." * 1_000_000):
        assert forms._LONG_NAME.search(text) is None
