"""Everything that one server answers with, put together: worlds by key, journals, control, and what is kept."""

import json
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import requests

from workbook.api.client import ActivationDataClient
from workbook.errors import ParameterError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.scenario import scenarios
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.commands import cli
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.mockserver.serve import ENDPOINTS, PREFIX, Control, announcement
from workbook.tools.mockserver.server import listening

ID = INSTRUMENT_IDS[0]
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
CURL = shutil.which("curl")


def get(stand, key=None, path=PATH, **headers):
    key = next(iter(stand.keys.values())) if key is None else key
    return stand.respond(Request("GET", path, (("x-api-key", key), *headers.items())))


@pytest.mark.parametrize("name", scenarios())
def test_every_scenario_of_the_package_opens_and_hands_out_what_its_first_key_needs(name):
    stand = MockServer(name)
    told = announcement(stand.world, {"base_url": "http://x"}, stand.keys)
    usable = [one for one, each in stand.world.instruments.items() if each.active]
    assert list(told["sdk_outputs"]) == usable
    status = get(stand, path=f"{BEFORE_ID}{usable[0]}{AFTER_ID}").status
    assert status == 200


@pytest.mark.rule("API-15")
def test_a_key_with_the_role_comes_first_and_the_other_is_handed_out_too():
    stand = MockServer("no-role")
    assert list(stand.keys) == ["back end", "without the role"]
    assert [get(stand, key).status for key in stand.keys.values()] == [200, 403]
    assert set(announcement(stand.world, {}, stand.keys)["api_keys"]) == set(stand.keys)


def test_a_foreign_host_is_refused_before_anything_is_journaled():
    stand = MockServer(names=["10.1.2.3"])
    assert get(stand, host="evil.example").status == 421
    assert get(stand, host="10.1.2.3:80").status == 200
    assert stand.journals["w1"].count == 1


def asked(stand, method, what, body=None, token=None):
    control = Control(stand)
    headers = (("authorization", f"Bearer {token or control.token}"), ("content-type", "application/json"))
    data = b"" if body is None else json.dumps(body).encode()
    return control.respond(Request(method, f"{PREFIX}{what}", headers, data))


def test_over_http_a_scenario_is_one_of_the_package_and_no_file(tmp_path, monkeypatch):
    (tmp_path / "mine").write_text('title = "Mine"\n')
    monkeypatch.chdir(tmp_path)
    refused = asked(MockServer(), "PUT", "scenario", {"name": "mine"})
    assert (refused.status, "no scenario of that name" in json.loads(refused.body)["detail"]) == (400, True)
    stand = MockServer()
    stand.scenario(tmp_path / "mine")
    assert stand.world.name == "mine"


def test_in_a_block_it_serves_at_its_address_to_whoever_has_its_key():
    with MockServer("no-role", seed=5) as stand, ActivationDataClient(stand.url, stand.key) as api:
        stand.faults({"fault": "503 that says 500", "operation": "GET", "nth": 1}, world="w1")
        assert api.get(ID).sdk_input.is_simulated
        assert api.post(ID, stand.sdk_output()).sdk_input.is_simulated
        url = stand.url
    told = [(entry.operation, entry.status) for entry in stand.journal("w1").entries()]
    assert told == [("GET", 503), ("GET", 200), ("POST", 200)]
    assert stand.url == ""
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=5)


@pytest.mark.parametrize("world", ["w1", "w2"])
def test_what_http_can_do_a_call_can_do_by_the_same_name(world):
    names = {one.name for one in ENDPOINTS if one.name}
    assert {name for name in names if callable(getattr(MockServer, name))} == names
    over_http, by_call = MockServer("no-role"), MockServer("no-role")
    asked(over_http, "POST", f"faults?world={world}", [{"fault": "503 that says 500", "nth": 1}])
    by_call.faults({"fault": "503 that says 500", "nth": 1}, world=world)
    for stand in (over_http, by_call):
        for key in stand.keys.values():
            get(stand, key)
    told = json.loads(asked(over_http, "GET", f"journal?world={world}&after=0").body)
    assert [entry["status"] for entry in told["entries"]] == [503]
    assert [entry.status for entry in by_call.journal(world).entries()] == [503]
    asked(over_http, "POST", f"reset?world={world}")
    by_call.reset(world)
    counts = [{name: one.count for name, one in stand.journals.items()} for stand in (over_http, by_call)]
    assert counts[0] == counts[1] == {"nobody": 0, "w1": 1, "w2": 1} | {world: 0}


def test_a_journal_is_appended_to_a_file(tmp_path):
    stand = MockServer(journal=tmp_path / "journal.jsonl")
    get(stand)
    get(stand, "another key")
    stand.reset()
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [(line["operation"], line["status"]) for line in lines] == [("GET", 200), ("GET", 401)]
    assert next(iter(stand.keys.values())) not in (tmp_path / "journal.jsonl").read_text()


def test_which_world_a_call_means_has_to_be_clear():
    stand = MockServer("no-role")
    calls = (stand.journal, stand.reset, stand.faults, lambda: stand.scenario("default"))
    for call in calls:
        with pytest.raises(ParameterError, match="Say which world is meant"):
            call()
    with pytest.raises(ParameterError, match="Did you mean 'w1'"):
        stand.journal("w11")


@pytest.fixture
def served(tmp_path):
    """Starts `workbook serve --json` with more options; what it told, and the process."""
    started = []

    def serve(*options):
        command = [sys.executable, "-W", "error", "-m", "workbook", "serve", "--json", *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        started.append(process)
        return json.loads(process.stdout.readline()), process

    yield serve
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_https_with_a_certificate_that_only_who_is_told_trusts(served):
    told, process = served("--tls")
    url, ca = told["tls_base_url"] + PATH, Path(told["ca_file"])
    assert stat.S_IMODE(ca.stat().st_mode) == 0o600
    answer = requests.get(url, headers={"x-api-key": told["api_key"]}, verify=str(ca), timeout=60)
    assert (answer.status_code, "sdkInput" in answer.json()) == (200, True)
    with pytest.raises(urllib.error.URLError) as caught:
        urllib.request.urlopen(url, timeout=60)
    assert isinstance(caught.value.reason, ssl.SSLCertVerificationError)
    process.send_signal(signal.SIGTERM)
    assert (process.wait(timeout=60), ca.exists()) == (0, False)


@pytest.mark.slow
@pytest.mark.needs("curl")
def test_curl_sees_the_answer_and_the_reset(served):
    told, _process = served("--control")
    curl = [CURL, "-s", "-i", "-H", f"x-api-key: {told['api_key']}", told["base_url"] + PATH]
    done = subprocess.run(curl, capture_output=True, text=True, check=True)
    assert " 200 " in done.stdout.splitlines()[0]
    headers = {"authorization": f"Bearer {told['control_token']}"}
    requests.post(f"{told['control_url']}faults?world=w1", json=[{"fault": "reset"}], headers=headers, timeout=60)
    assert subprocess.run(curl, capture_output=True, check=False).returncode == 56  # failure in receiving
    journal = requests.get(f"{told['control_url']}journal?world=w1", headers=headers, timeout=60).text
    assert told["api_key"] not in journal
    assert json.loads(journal)["entries"][-1]["fault"] == "reset"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--scenario", "class-rom"], "Did you mean"),
        (["--host", "192.0.2.1"], "--allow-remote"),
        (["--port", "{taken}"], "Address already in use"),
        (["--journal", "."], "Cannot write the journal .: Is a directory."),
        (["--journal", "no/folder"], "No such file or directory"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_what_cannot_be_served_is_explained_before_anything_is_printed(options, told, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        assert cli.main(["serve", *(word.format(taken=port) for word in options)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told in shown.err


@pytest.mark.slow
def test_a_second_signal_ends_nothing_early(served):
    _told, process = served("--quiet")
    process.send_signal(signal.SIGTERM)
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.002)
    assert process.returncode == 0
