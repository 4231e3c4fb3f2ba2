"""The profile field over a real socket: what is new in an answer, and that no key is written down anywhere."""

import json
from base64 import b64encode
from urllib.parse import quote

import pytest
import requests
from responders import Journaled

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, Credential, World
from workbook.tools.mockserver.journal import Journal
from workbook.tools.mockserver.serve import log_line
from workbook.tools.mockserver.server import running

ID = INSTRUMENT_IDS[0]
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
KEY = "CANARY-key/0123456789+x"
WRONG = "WRONG-key/0123456789+x"


def serving(responder, lines):
    """As `server.running`, and with the lines that `workbook serve` logs."""
    return running(responder, log=lambda *exchange: lines.append(log_line(*exchange, (KEY,))))


def asked(url, way, key, method="GET"):
    """One request over the socket, its key said in one of the ways."""
    more = {
        "header": {"headers": {"x-api-key": key}},
        "basic": {"auth": ("user", key)},
        "query": {"params": {"clientKey": key}},
    }
    output = Seal(7).close(Content.OUTPUT, ID, 1, attempt=1)
    body = {"json": {"sdkOutput": output}} if method == "POST" else {}
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, f"{url}{PATH}", timeout=60, **more[way], **body)


def everything(journal):
    """All that a journal keeps and gives away, as text."""
    kept = [str(getattr(one, name)) for one in journal.entries() for name in one.__slots__]
    return "\n".join([*kept, journal.to_jsonl()])


def forms(key):
    """A key as it may have been written: plain, percent-encoded, and within HTTP basic's credentials."""
    return key, quote(key, safe=""), b64encode(f"user:{key}".encode()).decode()


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("profile", ["spec", "field"])
def test_no_way_to_say_the_key_writes_it_down(profile):
    service = Service(World(credentials={KEY: Credential()}, profile=profile))
    journal, lines = Journal(), []
    with serving(Journaled(service, journal, (KEY,)), lines) as url:
        seen = {
            (way, key, method): asked(url, way, key, method)
            for way in ("header", "basic", "query")
            for key in (KEY, WRONG)
            for method in ("GET", "POST")
        }
    taken = {way for (way, _key, _method), answer in seen.items() if answer.status_code == 200}
    assert taken == ({"header", "basic", "query"} if profile == "field" else {"header"})
    said = "\n".join([everything(journal), *lines, *(str(one.headers) + one.text for one in seen.values())])
    assert len(journal) == len(lines) == len(seen)
    assert [form for key in (KEY, WRONG) for form in forms(key) if form in said] == []


def refusals(seed=7, number=3):
    service = Service(World(seed=seed, profile="field"))
    return [json.loads(service.respond(Request("GET", PATH, ())).body) for _ in range(number)]


def test_a_request_id_is_decided_by_seed_and_number():
    names = [one["requestId"] for one in refusals()]
    assert names == [one["requestId"] for one in refusals()]
    assert len({*names, *(one["requestId"] for one in refusals(seed=8))}) == 6
    assert [one["instance"].removeprefix("urn:x-workbook:refusal:") for one in refusals()] == names


def test_what_was_answered_before_changes_no_success():
    service, other = (Service(World(profile="field")) for _ in range(2))
    service.respond(Request("GET", PATH, ()))
    right = Request("GET", PATH, (("x-api-key", "SIMULATED-API-KEY"),))
    assert service.respond(right) == other.respond(right)


def test_each_optional_field_names_its_source():
    basis = Service(World(profile="field")).respond(Request("GET", PATH, ())).basis
    assert basis == (
        "API-4; code: openapi; pairing: assumed; instance: openapi; requestId: openapi; their values: assumed"
    )
