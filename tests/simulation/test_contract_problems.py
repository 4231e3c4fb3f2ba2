"""The error answers: a status, a code, a source for both, and the rules that were broken."""

import json

import pytest
from rows import rows

from workbook.base.rules import rule
from workbook.simulation.contract import CONTRACTS, Broken

PROBLEMS = {
    f"{profile} {broken.name}": problem
    for profile, contract in CONTRACTS.items()
    for broken, problem in contract.problems.items()
}
SOURCES = {"openapi", "assumed"}
PUBLISHED = {400: "00_400", 401: "00_401", 403: "00_403", 422: "30_031", 500: "00_500"}


@rows("name", PROBLEMS)
def test_every_answer_carries_the_source_of_its_code_and_says_that_the_pairing_is_ours(name):
    problem = PROBLEMS[name]
    assert problem.source in SOURCES
    assert problem.basis.endswith(f"code: {problem.source}; pairing: assumed")
    rules, *ours = problem.rules.split("; ")
    assert [rule(one).id for one in rules.split()] == rules.split()
    assert [source for statement in ours for source in [statement.rpartition(": ")[2]] if source not in SOURCES] == []


@pytest.mark.rule("API-15", "GAP-3", "GAP-5")
def test_what_the_document_does_not_say_of_a_refusal_is_tagged():
    """The role is stated for the GET; nothing is said of using an sdkOutput twice, nor of an instrument's states."""
    basis = {broken: CONTRACTS["spec"].problems[broken].basis for broken in Broken if broken is not Broken.NO_OUTPUT}
    end = "code: openapi; pairing: assumed"
    assert basis[Broken.ROLE] == f"API-15; {end}"
    assert basis[Broken.POST_ROLE] == f"API-15; that the POST needs it as well: assumed; {end}"
    assert basis[Broken.USED] == f"GAP-3; single use: assumed; {end}"
    assert basis[Broken.INACTIVE] == f"GAP-5; its state: openapi; {end}"


@pytest.mark.rule("GAP-1")
def test_every_refusal_has_the_published_media_type_and_says_where_that_is_known_from():
    """Each documented answer is application/json (openapi); for a status that is not published it is assumed."""
    assert {problem.media_type for problem in PROBLEMS.values()} == {"application/json"}
    for contract in CONTRACTS.values():
        (item,) = contract.document["paths"].values()
        answers = [*item["get"]["responses"].items(), *item["post"]["responses"].items(), *item["x-elsewhere"].items()]
        for status, content in ((int(status), answer["content"]) for status, answer in answers if status != "200"):
            ((_media_type, said),) = content.items()
            source = "openapi" if status in PUBLISHED else "assumed"
            assert said["x-basis"].endswith(f"media type: {source}"), status


@rows("name", PROBLEMS)
def test_only_what_is_published_is_called_published(name):
    problem = PROBLEMS[name]
    assert (problem.source == "openapi") == (PUBLISHED.get(problem.status) == problem.code)


@rows("name", PROBLEMS)
def test_the_body_has_the_five_required_fields_in_order(name):
    problem = PROBLEMS[name]
    body = json.loads(problem.body("a “word”"))
    assert list(body) == ["type", "title", "status", "detail", "errorCode"]
    assert (body["status"], body["errorCode"], body["detail"]) == (problem.status, problem.code, "a “word”")
