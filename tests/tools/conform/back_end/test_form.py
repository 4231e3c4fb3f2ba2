"""What a back-end.toml may say, and how each mistake in it is told."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.base.forms import BadConfigurationError, Mistakes, read_form, read_toml
from workbook.tools.conform.back_end.config import CONFIG_EXAMPLE, BackEndForm, parse_config
from workbook.tools.conform.back_end.model import BOUND

GOOD = {
    "base_url": "http://127.0.0.1:8080",
    "get": {"path": "/cards/{id}/data"},
    "post": {"path": "/cards/{id}/data", "sdk_output": "/sdkOutput"},
    "cardholder": [{"name": "ann", "cards": ["A", "B"]}],
}
SECRET = "hunter2-hunter2-hunter2"


def told(tmp_path, said, **environ):
    """Every mistake of a document."""
    try:
        parse_config(said, tmp_path / "back-end.toml", environ)
    except BadConfigurationError as error:
        return list(error.mistakes)
    return []


def put(path, value, said=GOOD):
    """The good document with one value changed; a value of None takes the key away."""
    first, *more = path
    inner = said.get(first, {})
    if more and isinstance(inner, list):
        changed = [put(more, value, inner[0]), *inner[1:]]
    else:
        changed = put(more, value, inner) if more else value
    rest = {key: old for key, old in said.items() if key != first}
    return rest if changed is None else rest | {first: changed}


def test_the_least_that_a_file_says_is_in_order(tmp_path):
    assert told(tmp_path, GOOD) == []


MISTAKES = [
    (("base_url",), None, "base_url: it is missing."),
    (("base_url",), 8080, "base_url: give an address"),
    (("base_url",), "127.0.0.1:8080", "base_url: it has neither the scheme https nor http."),
    (("base_url",), "http://169.254.169.254", "base_url: it is a link-local"),
    (("base_url",), "http://h/?a=1", "base_url: it holds a query."),
    (("base_ulr",), "x", "base_ulr: there is no such key. Did you mean 'base_url'?"),
    (("timeout",), 3, "timeout: there is no such key. Did you mean 'timeouts'?"),
    (("cards",), ["A"], "cards: there is no such key. It belongs in [[cardholder]]."),
    (("platforms",), ["C"], 'platforms: give a list of "A", "B" or both.'),
    (("get", "method"), "GTE", "[get] method: it cannot be 'GTE'. Did you mean 'GET'?"),
    (("get", "path"), None, "[get] path: it is missing."),
    (("get", "path"), "cards/{id}", "[get] path: a path begins with one slash"),
    (("get", "path"), "//evil/{id}", "[get] path: a path begins with one slash"),
    (("get", "path"), "/{id}/../x", "[get] path: a path has no dot segments."),
    (("get", "path"), "/cards/{card}", "[get] path: '{card}' is not a placeholder. Did you mean '{id}'?"),
    (("get", "path"), "/cards", "[get] path: it has no place for the instrument's id."),
    (("get", "id"), "/cardId", "[get]: the instrument's id is in the path and in the body."),
    (("get", "sdk_input"), "sdkInput", "[get] sdk_input: it is 'sdkInput'; give a JSON pointer"),
    (("get", "sdk_output"), "/x", "[get] sdk_output: there is no such key. It belongs in [post]."),
    (("post",), None, "[post] sdk_output: it is missing."),
    (("post", "sdk_output"), None, "[post] sdk_output: it is missing."),
    (("platform_a",), {"encoding": "bytes"}, "[platform_a] encoding: it cannot be 'bytes'. Known: text."),
    (("platform_b",), {"encoding": "bytes"}, "[platform_b] encoding: JSON cannot hold bytes."),
    (("platform_b",), {"get": {"path": 3}}, "[platform_b.get] path: it is 3; give a path"),
    (("cardholder",), None, "cardholder: it is missing. Give a [[cardholder]]"),
    (("cardholder",), [], "cardholder: it is missing. Give a [[cardholder]]"),
    (("cardholder",), "ann", "cardholder: give tables"),
    (("cardholder", "name"), None, "[[cardholder]] 1 name: it is missing."),
    (("cardholder", "cards"), None, "[[cardholder]] 1 cards: it is missing."),
    (("cardholder", "cards"), ["A", "A"], "[[cardholder]] 1 cards: "),
    (("cardholder", "cards"), [".."], "[[cardholder]] 1 cards: "),
    (("cardholder", "session"), {"host": {"env": "E"}}, "[[cardholder]] 1 session host: it is not the name"),
    (("cardholder", "session"), {"a": {"evn": "E"}}, "[[cardholder]] 1 session a evn: there is no such key."),
    (("cardholder", "session"), {"a": {"env": "E"}}, "environment variable E is not set."),
    (("status",), {"path": "/status"}, "status: there is no such key."),
    (("timeouts",), {"answer": 30}, f"[timeouts] answer: it is 30; give seconds from 0.1 to {BOUND:g}"),
    (("timeouts",), {"whole": float("inf")}, "[timeouts] whole: it is inf;"),
    (("api",), {"port": 70000}, "[api] port: it is 70000;"),
    (("api",), {"port": True}, "[api] port: it is true;"),
    (("api",), {"profile": "feild"}, "[api] profile: it cannot be 'feild'. Did you mean 'field'?"),
    (("export",), {"url": "X", "key": "X"}, "[export]: two values have the same name."),
    (("start",), {"folder": "nowhere"}, "[start] folder: there is no folder"),
    (("logs",), ["nowhere/x.log"], "logs: "),
    (("logs",), ["/dev/null"], "logs: '/dev/null' is not a file"),
    (("timeouts",), {"recovery": -1}, "[timeouts] recovery: it is -1; give seconds from 0 to 120."),
    (("ca_file",), 3, "ca_file: it is 3; give text in quotes"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "mistake"), MISTAKES)
def test_a_mistake_begins_with_its_label(tmp_path, path, value, mistake):
    found = told(tmp_path, put(path, value))
    assert any(mistake in one for one in found), found


WHOLE = [
    ({"post": {"path": "/{id}", "id": "/a", "sdk_output": "raw"}}, "[post]: the instrument's id is in the path and"),
    ({"post": {"path": "/x", "id": "/a", "sdk_output": "raw"}}, "[post] id: the whole body is the sdkOutput."),
    ({"post": {"path": "/x", "id": "/o/id", "sdk_output": "/o"}}, "[post] id: it overlaps with sdk_output."),
    ({"post": {"path": "/x", "id": "/a/1", "sdk_output": "/b"}}, "[post] id: a list is in its body"),
    ({"platforms": ["A"], "platform_b": {"headers": {"x": "b"}}}, "[platform_b]: it is there, but platforms does not"),
    ({"ca_file": "nowhere.pem", "base_url": "https://h"}, "ca_file: cannot read"),
    ({"ca_file": "nowhere.pem"}, "ca_file: base_url is without TLS."),
    ({"api": {"key": {"env": "SHORT"}}}, "[api.key] env: a key has at least 16 characters and no blank."),
    ({"headers": {"x-app": {"env": "WORD"}}}, "[headers.x-app] env: the value of WORD is a plain word"),
    ({"headers": {"x-app": {"env": "LINES"}}}, "[headers.x-app] env: a header cannot carry the value of LINES"),
    ({"headers": {"x app": "1", "content-length": "1"}}, "[headers] x app: it is not the name of a header"),
    ({"base_url": "http://127.0.0.1:0"}, "base_url: port 0 takes any free port, which only a command can be told."),
    ({"export": {"port": "API_URL"}}, "[export]: two values have the same name."),
]


@pytest.mark.parametrize(("changed", "mistake"), WHOLE)
def test_values_that_do_not_fit_together_or_to_the_environment_are_a_mistake(tmp_path, changed, mistake):
    found = told(tmp_path, GOOD | changed, SHORT="short-key", WORD="platform", LINES="a\nb")
    assert any(one.startswith(mistake) for one in found), found


def test_every_mistake_is_told_and_not_only_the_first(tmp_path):
    said = put(("get", "path"), "x") | {"bose_url": 1, "timeouts": {"answer": 0}, "api": {"prt": 1}}
    labels = [one.partition(":")[0] for one in told(tmp_path, said)]
    assert sorted(labels) == ["[api] prt", "[get] path", "[timeouts] answer", "bose_url"]


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(
    "said",
    [
        put(("headers",), {"authorization": SECRET}),
        put(("headers",), {"x-odd": "AKIA0123456789ABCDEF"}),
        put(("headers",), {"x-odd": f"Bearer {SECRET}"}),
        put(("cardholder", "session"), {"x-user": SECRET}),
        put(("cardholder", "session"), {"cookie": SECRET}),
        put(("api",), {"key": SECRET}),
        put(("api",), {"key": {"env": f"{SECRET}!"}}),
        put(("api",), {"key": {"env": "KEY", "prefix": SECRET}}),
        put(("base_url",), f"http://ann:{SECRET}@h"),
        put(("base_url",), f"http://h/?key={SECRET}"),
        put(("start",), {"command": SECRET, "hook": SECRET}),
        put(("export",), {"key": SECRET}),
    ],
)
def test_a_secret_in_the_file_is_refused_and_never_repeated(tmp_path, said):
    found = told(tmp_path, said, KEY="k" * 20)
    assert found
    assert not any("hunter2" in one or "AKIA" in one for one in found)


def test_a_header_that_is_no_secret_may_stand_in_the_file(tmp_path):
    assert told(tmp_path, put(("headers",), {"x-app-version": "1.0", "accept": "application/json"})) == []


@pytest.mark.parametrize("value", ["", "two\nlines", " blank", "\x7f", "über"])
def test_a_variable_that_no_header_can_carry_is_a_mistake(tmp_path, value):
    said = put(("cardholder", "session"), {"authorization": {"env": "ANN"}})
    assert [one.partition(": ")[0] for one in told(tmp_path, said, ANN=value)] == [
        "[[cardholder]] 1 session authorization env"
    ]


def test_two_cardholders_share_neither_name_nor_card(tmp_path):
    found = told(tmp_path, GOOD | {"cardholder": [{"name": "ann", "cards": ["A"]}, {"name": "ann", "cards": ["A"]}]})
    assert [one.partition(":")[0] for one in found] == ["[[cardholder]] 2 name", "[[cardholder]] 2 cards"]


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*BackEndForm.model_fields, "other"])


@given(st.dictionaries(KEYS, PLAIN, max_size=6))
def test_whatever_a_document_says_it_is_read_or_its_mistakes_are_told(said):
    mistakes = Mistakes()
    form = read_form(BackEndForm, said, mistakes)
    wrong = {key for key in said if mistakes.within(key)}
    assert form.model_fields_set | wrong == set(said)
    assert all(": " in one and "\n" not in one for one in mistakes.sentences())


@given(st.dictionaries(KEYS, PLAIN, max_size=4))
def test_no_document_breaks_the_reader(tmp_path_factory, said):
    folder = tmp_path_factory.getbasetemp()
    told(folder, GOOD | said)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(BadConfigurationError, match="it is not a regular file"):
        read_toml(tmp_path / "pipe.toml", CONFIG_EXAMPLE)
    found = told(tmp_path, GOOD | {"base_url": "https://h", "ca_file": "pipe.toml"})
    assert found == [f"ca_file: '{tmp_path / 'pipe.toml'}' is not a regular file."]
