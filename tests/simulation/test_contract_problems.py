"""The error answers: a status, a code, a source for both, and the rules that were broken."""

import json

import pytest

from workbook.rules import rule
from workbook.simulation.contract import CONTRACTS

PROBLEMS = {
    f"{profile} {broken.name}": problem
    for profile, contract in CONTRACTS.items()
    for broken, problem in contract.problems.items()
}
SOURCES = {"openapi", "assumed"}
PUBLISHED = {400: "00_400", 401: "00_401", 403: "00_403", 422: "30_031", 500: "00_500"}


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_answer_carries_the_source_of_its_code_and_says_that_the_pairing_is_ours(name):
    problem = PROBLEMS[name]
    assert problem.source in SOURCES
    assert problem.basis.endswith(f"code: {problem.source}; pairing: assumed")
    assert [rule(one).id for one in problem.rules.split()] == problem.rules.split()


@pytest.mark.parametrize("name", PROBLEMS)
def test_only_what_is_published_is_called_published(name):
    problem = PROBLEMS[name]
    assert (problem.source == "openapi") == (PUBLISHED.get(problem.status) == problem.code)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_body_has_the_five_required_fields_in_order(name):
    problem = PROBLEMS[name]
    body = json.loads(problem.body("a “word”"))
    assert list(body) == ["type", "title", "status", "detail", "errorCode"]
    assert (body["status"], body["errorCode"], body["detail"]) == (problem.status, problem.code, "a “word”")
