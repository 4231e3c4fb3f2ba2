"""`workbook proxy` as a process: what it prints, what it leaves behind, and how it stops."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
import requests

from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.server import running
from workbook.tools.proxy.record import read_proxy_record

pytestmark = pytest.mark.slow

PATH = f"/bcl/v2/paymentInstruments/{INSTRUMENT_IDS[0]}/networkTokenActivationData"
CANARY = "canary-0123456789"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "record.jsonl"


@contextmanager
def proxy(*words):
    command = [sys.executable, "-W", "error", "-m", "workbook", "proxy", *words]
    environ = os.environ | {"WORKBOOK_API_KEY": "key-of-the-environment"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(url, **more):
    with requests.Session() as session:
        session.trust_env = False
        return session.request(more.pop("method", "GET"), url, timeout=60, **more)


@pytest.mark.rule("REL-2", "REL-3")
def test_a_proxy_records_says_no_key_and_sums_up_when_it_is_stopped(out):
    with running() as api, proxy("--to", api, "--out", str(out), "--json") as process:
        addresses = json.loads(process.stdout.readline())
        assert list(addresses) == ["base_url", "to", "record"]
        url = addresses["base_url"]
        assert ask(url + PATH, headers={"x-api-key": CANARY}).status_code == 401
        ask(f"{url}/{CANARY}?a={CANARY}", headers={"x-api-key": CANARY, "user-agent": CANARY})
        ask(url + PATH, method="POST", headers={"x-api-key": CANARY}, data=f'{{"sdkOutput": "{CANARY}"}}')
        process.send_signal(signal.SIGTERM)
        told, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(told) == {"exchanges": 3, "record": str(out), "next": f"workbook drift {out}"}
    lines = log.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"GET {PATH} 401 ")
    text = out.read_text()
    assert CANARY not in text + told + log
    assert "key-of-the-environment" not in text + told + log
    assert (len(read_proxy_record(out).exchanges), stat.S_IMODE(out.stat().st_mode)) == (3, 0o600)


def test_a_person_is_told_what_to_do_next_and_quiet_is_quiet(out):
    with running() as api, proxy("--to", api, "--out", str(out), "--quiet") as process:
        printed = [process.stdout.readline() for _ in range(4)]
        ask(printed[0].removeprefix("base_url: ").strip() + PATH)
        process.send_signal(signal.SIGINT)
        told, log = process.communicate(timeout=60)
    assert log == ""
    assert printed[3] == "Point your back end at base_url instead of the API. Stop with Ctrl-C.\n"
    assert told == f"1 exchange in {out}. Compare them with the simulator: workbook drift {out}\n"


def test_a_proxy_that_waits_for_its_api_stops_all_the_same_and_records_that(out):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        to = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with proxy("--to", to, "--out", str(out), "--json", "--quiet") as process:
            url = json.loads(process.stdout.readline())["base_url"] + PATH
            answers = []
            thread = threading.Thread(target=lambda: answers.append(ask(url)))
            thread.start()
            waiting, _ = silent.accept()
            waiting.recv(10)
            process.send_signal(signal.SIGINT)
            thread.join(60)
            _told, log = process.communicate(timeout=60)
            waiting.close()
    assert (answers[0].status_code, answers[0].headers["x-workbook-proxy"]) == (503, "stopped")
    assert [one.failure for one in read_proxy_record(out).exchanges] == ["stopped"]
    assert "Traceback" not in log


def test_https_is_served_with_a_certificate_of_its_own(out):
    with running() as api, proxy("--to", api, "--out", str(out), "--json", "--tls", "--quiet") as process:
        addresses = json.loads(process.stdout.readline())
        answer = ask(addresses["tls_base_url"] + PATH, verify=addresses["ca_file"])
        assert answer.status_code == 401
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert len(read_proxy_record(out).exchanges) == 1
