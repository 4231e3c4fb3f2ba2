"""The service on a real socket: what HTTP allows is taken, what does not end is bounded, and it stops when told."""

import json
import re
import resource
import shlex
import signal
import socket
import subprocess
import sys
import threading
import warnings
from http.client import HTTPConnection

import pytest
import requests

from workbook.api.opaque import SdkOutput
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.http import MAX_BODY, Request
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, World
from workbook.tools.mockserver.mock import MockServer, fresh_output
from workbook.tools.mockserver.serve import announcement, log_line
from workbook.tools.mockserver.server import base_url, listening, running

ID = INSTRUMENT_IDS[0]
PATH = f"/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
SEAL = Seal(7)
KEY = {"x-api-key": SIMULATED_KEY}
SERVE = (
    "from workbook.tools.mockserver.serve import ServeOptions, serve_api; raise SystemExit(serve_api(ServeOptions({})))"
)


def body(serial=1):
    return json.dumps({"sdkOutput": SEAL.close(Content.OUTPUT, ID, serial, attempt=serial)}).encode()


def content(text):
    return SEAL.open(json.loads(text)["sdkInput"]).content


@pytest.fixture
def address():
    with running() as url:
        yield url


@pytest.fixture
def raw(address):
    """One connection, and a function that sends bytes and reads one answer: the status line and the body."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        file = connection.makefile("rb")

        def say(*parts):
            for part in parts:
                connection.sendall(part)
            status = int(file.readline().split()[1])
            headers = {}
            while line := file.readline().strip():
                name, _, value = line.decode().partition(": ")
                headers[name.lower()] = value
            return status, headers, file.read(int(headers["content-length"]))

        yield say
        file.close()


def head(*lines, method="GET", path=PATH):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "host: x", *lines, "", ""]).encode()


@pytest.mark.rule("API-1", "API-2", "REL-8")
def test_requests_completes_a_get_and_a_post(address):
    with requests.Session() as session:
        session.trust_env = False
        got = session.get(address + PATH, headers=KEY, timeout=60)
        posted = session.post(
            address + PATH, headers=KEY | {"Content-Type": "application/json"}, data=body(), timeout=10
        )
    assert (got.status_code, content(got.text)) == (200, "activation")
    assert (posted.status_code, content(posted.text)) == (200, "opc")
    assert got.headers["content-type"] == "application/json"


def curl(*arguments):
    command = ["curl", "-q", "--silent", "--show-error", "--noproxy", "*", "--max-time", "10", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_head_request_is_answered_without_a_body(address):
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.request("HEAD", PATH, headers=KEY)
    response = connection.getresponse()
    assert (response.status, response.read()) == (405, b"")
    connection.close()


def test_a_peer_that_leaves_in_the_middle_of_a_body_harms_nobody(address):
    host, _, port = address.removeprefix("http://").partition(":")
    for _ in range(5):
        with socket.create_connection((host, int(port)), timeout=60) as connection:
            connection.sendall(head(f"x-api-key: {SIMULATED_KEY}", "content-length: 1000", method="POST") + b"{")
    response = requests.get(address + PATH, headers=KEY, timeout=60, proxies={"http": ""})
    assert SEAL.open(response.json()["sdkInput"]).serial == 1


def test_a_body_over_the_cap_is_413_and_the_memory_stays_bounded(raw):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chunk = b"%x\r\n%s\r\n" % (65536, b"x" * 65536)
    lines = (f"x-api-key: {SIMULATED_KEY}", "content-type: application/json", "transfer-encoding: chunked")
    megabytes = 64
    status, _, text = raw(head(*lines, method="POST"), *[chunk] * (16 * megabytes), b"0\r\n\r\n")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (status, json.loads(text)["detail"]) == (413, f"The body is larger than {MAX_BODY} bytes.")
    assert after - before < 1024 * megabytes / 4, "in kilobytes"
    assert raw(head(f"x-api-key: {SIMULATED_KEY}"))[0] == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org", "", "127.0.0.1.example.org", "1"])
def test_only_loopback_addresses_are_served(host):
    with pytest.raises(ConfigurationError, match=r"is not a loopback address. Use 127.0.0.1, ::1 or localhost."):
        listening(host, 0)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_loopback_addresses_are_taken_and_named(host):
    with listening(host, 0) as listener:
        assert base_url(listener).startswith("http://127.0.0.")


def test_the_other_loopback_address_is_written_with_brackets():
    try:
        listener = listening("::1", 0)
    except ConfigurationError:
        pytest.skip("this machine has no ::1")
    with listener:
        assert base_url(listener).startswith("http://[::1]:")


def test_a_port_in_use_is_explained():
    with listening("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError) as caught:
            listening("127.0.0.1", port)
    assert str(caught.value) == (
        f"Cannot listen on 127.0.0.1 port {port}: Address already in use. Choose another port, or 0 for any free one."
    )


def test_an_address_that_is_not_this_machines_is_explained():
    with pytest.raises(ConfigurationError) as caught:
        listening("192.0.2.1", 0, allow_remote=True)
    told = str(caught.value)
    assert told.startswith("Cannot listen on 192.0.2.1 port 0: ")
    assert "[Errno" not in told
    assert "attempting to bind" not in told


def test_a_host_that_there_is_not_is_called_that():
    with pytest.raises(ConfigurationError, match=r"Cannot listen on nonsense\.invalid port 0: there is no such host\."):
        listening("nonsense.invalid", 0, allow_remote=True)


@pytest.mark.parametrize("port", [-1, 65536])
def test_a_port_that_cannot_be_is_explained(port):
    with pytest.raises(ConfigurationError, match=rf"There is no port {port}\. Choose one up to 65535"):
        listening("127.0.0.1", port)


def test_a_server_that_is_stopped_at_once_leaves_nothing_behind():
    threads = threading.active_count()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            with running(Service(World(seed=1))) as url:
                assert url.startswith("http://127.0.0.1:")
    assert threading.active_count() == threads


def started(arguments=""):
    command = [sys.executable, "-W", "error", "-c", SERVE.format(arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)


@pytest.mark.slow
@pytest.mark.rule("API-4")
@pytest.mark.parametrize(
    "number",
    [signal.SIGINT, *(pytest.param(number, marks=pytest.mark.nightly) for number in (signal.SIGTERM, signal.SIGHUP))],
    ids=lambda number: number.name,
)
def test_a_served_service_answers_and_stops_cleanly_when_told(number):
    process = started("as_json=True")
    try:
        told = json.loads(process.stdout.readline())
        assert list(told) == ["base_url", "api_key", "payment_instrument_ids", "sdk_outputs"]
        assert told["payment_instrument_ids"] == list(INSTRUMENT_IDS)
        connection = HTTPConnection(told["base_url"].removeprefix("http://"), timeout=60)
        headers = {"x-api-key": told["api_key"], "content-type": "application/json"}
        connection.request("GET", PATH, headers=headers)
        assert connection.getresponse().status == 200
        process.send_signal(number)  # the connection is still open
        rest, log = process.communicate(timeout=60)
        assert (rest, log.decode().splitlines()) == (b"", [f"GET {PATH} 200 {log.split()[3].decode()} ms"])
        connection.close()
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0


@pytest.fixture
def served():
    """Starts servers as a person does; ends them, and gives what they logged."""
    running_now = []

    def start(arguments=""):
        running_now.append(started(arguments))
        return running_now[-1]

    yield start
    for process in running_now:
        process.kill()
        process.communicate()


@pytest.mark.rule("API-2", "API-11")
@pytest.mark.parametrize("seed", [7, 8])
def test_each_instrument_has_an_sdk_output_that_is_exchanged_once(seed):
    server = MockServer(seed=seed)
    told = announcement(server.world, {}, server.keys)
    headers = (("x-api-key", told["api_key"]), ("content-type", "application/json"))

    def post(instrument, output):
        data = json.dumps({"sdkOutput": output}).encode()
        return server.respond(Request("POST", PATH.replace(ID, instrument), headers, data))

    assert list(told["sdk_outputs"]) == told["payment_instrument_ids"]
    for instrument, output in told["sdk_outputs"].items():
        assert post(instrument, output).status == 200
        assert b"exchanged already" in post(instrument, output).body
        assert post(instrument, fresh_output(instrument, seed=seed)).status == 200
    assert post(ID, fresh_output(ID, seed=seed + 1)).status == 422


@pytest.mark.slow
@pytest.mark.needs("curl")
def test_the_printed_commands_can_be_pasted(served):
    process = served("seed=9")
    lines = [process.stdout.readline().decode().strip() for _ in range(12)]
    commands = [shlex.split(line) for line in lines if line.startswith("curl ")]
    assert [content_of(curl(*words[1:]), 9) for words in commands] == ["activation", "opc"]
    assert lines[-2].endswith("For another: workbook sdk-output --seed 9")


def content_of(text, seed):
    return Seal(seed).open(json.loads(text)["sdkInput"]).content


def test_fresh_outputs_are_the_stand_ins_and_no_two_are_alike():
    made = [SEAL.open(fresh_output()) for _ in range(50)]
    assert len({one.serial for one in made}) == 50
    assert all(one.claims["attempt"] == one.serial for one in made)
    assert {(one.content, one.payment_instrument_id) for one in made} == {("output", ID)}
    assert f"#{made[0].serial} " not in repr(SdkOutput(fresh_output()))
    assert "SIMULATED output #" in repr(SdkOutput(fresh_output()))


def test_an_unknown_instrument_gets_no_output():
    with pytest.raises(ParameterError, match=f"No payment instrument 'PI'. Known: {ID}, "):
        fresh_output("PI")


def logged(target="/", *, method="GET", headers=(), body=b"", key=SIMULATED_KEY):
    """The lines that one request leaves, without the milliseconds."""
    request = Request(method, target, (("x-api-key", key), *headers), body)
    line = log_line(request, Service().respond(request), 0.001, (SIMULATED_KEY,))
    return [re.sub(r" \d+\.\d ms", "", line)]


JSON = [("content-type", "application/json")]
CODE = "; code: openapi; pairing: assumed)"
UNTYPED = "a GET with no content-type is answered (assumed): application/json belongs there (API-4)"
UNKNOWN_KEY = "The API key is not known here. Check which environment it belongs to."
OTHER = PATH.replace(ID, "PI-9")
KEY_OF_ANOTHER = "key-of-another-environment-4711"


@pytest.mark.rule("REL-2", "REL-3")
@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"target": PATH, "headers": JSON}, f"GET {PATH} 200"),
        ({"target": PATH}, f"GET {PATH} 200  {UNTYPED}"),
        ({"target": PATH, "method": "POST", "headers": JSON, "body": body()}, f"POST {PATH} 200"),
        ({"target": PATH, "key": "wrong-key"}, f"GET {PATH} 401  {UNKNOWN_KEY} (API-4{CODE}"),
        ({"target": f"{PATH}?key={SIMULATED_KEY}"}, f"GET {PATH} 400  The GET has no query parameters. (API-5{CODE}"),
        ({"target": OTHER}, f"GET {OTHER} 422  No payment instrument has this id. (API-3{CODE}"),
    ],
    ids=["GET", "without content-type", "POST", "key", "query", "id"],
)  # fmt: skip
def test_a_request_is_one_line(request_, line):
    assert logged(**request_) == [line]


@pytest.mark.rule("REL-2", "REL-3")
@pytest.mark.parametrize(
    ("target", "path"),
    [
        (PATH.replace(ID, SIMULATED_KEY), PATH.replace(ID, "[key]")),
        (PATH.replace(ID, f"%53{SIMULATED_KEY[1:]}"), PATH.replace(ID, "[key]")),
        (PATH.replace(ID, "x" * 65), PATH.replace(ID, "[65 characters]")),
        ("/\x1b[31m\u00e9\n", "/[7 characters]"),
        ("/" + "x/" * 500, ("/" + "x/" * 500)[:300]),
    ],
    ids=["key", "encoded key", "opaque data", "control characters", "long"],
)
def test_a_logged_path_holds_no_key_no_data_and_nothing_that_a_terminal_obeys(target, path):
    (line,) = logged(target)
    assert line.split("  ")[0].startswith(f"GET {path} 4")


@pytest.mark.rule("REL-2")
def test_a_logged_path_does_not_hold_a_key_that_opens_nothing():
    """The journal hides it as well: a key of another environment, sent in its header and in the path by mistake."""
    (line,) = logged(f"/keys/{KEY_OF_ANOTHER}/x", key=KEY_OF_ANOTHER)
    assert line.startswith("GET /keys/[key]/x 404")


@pytest.mark.slow
def test_a_log_that_nobody_reads_does_not_stop_the_server(served):
    process = served("as_json=True")
    told = json.loads(process.stdout.readline())
    process.stderr.close()
    for _ in range(3):
        got = requests.get(told["base_url"] + PATH, headers={"x-api-key": told["api_key"]}, timeout=60)
        assert got.status_code == 200
    process.stderr = None
