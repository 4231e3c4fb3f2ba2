"""A request as code to copy: it asks what the client asks, and holds no secret."""

import ast
import json
import shlex

import pytest
from rows import rows

from workbook.api.protocol import API_PATH, Settings, build_get
from workbook.api.snippets import HEADERS, LANGUAGES, snippets

PATH = API_PATH.replace("{id}", "PI1")
VARIABLES = {"curl": "$WORKBOOK_API_KEY"} | dict.fromkeys(("httpx", "Kotlin", "Swift"), "WORKBOOK_API_KEY")


@pytest.mark.rule("API-4")
def test_the_headers_are_those_of_the_client():
    sent = dict(build_get(Settings("https://host.invalid", "any-key-at-all"), "PI1").headers)
    assert {name: value for name, value in HEADERS if value}.items() <= sent.items()
    assert "x-api-key" in sent


@rows("language", LANGUAGES)
@rows("method", ["GET", "POST"])
def test_each_language_names_method_path_and_headers_and_takes_the_key_from_the_environment(language, method):
    code = snippets(method, PATH, sends=method == "POST")[language]
    assert method in code
    assert PATH in code
    assert all(name in code for name, _value in HEADERS)
    assert VARIABLES[language] in code
    assert [*LANGUAGES] == ["curl", "httpx", "Kotlin", "Swift"]
    assert ("SDK_OUTPUT" in code) == (method == "POST")


def test_httpx_is_python_and_curl_is_a_command():
    ast.parse(snippets("POST", PATH, sends=True)["httpx"])
    words = shlex.split(snippets("POST", PATH, sends=True)["curl"])
    assert words[:3] == ["curl", "-X", "POST"]
    assert json.loads(words[-1]) == {"sdkOutput": "$SDK_OUTPUT"}
