"""What `workbook serve` announces, answers and logs, by its options; the sockets are another module's."""

import asyncio
import json
import re
from functools import partial
from inspect import isawaitable

import pytest

from workbook.simulation.http import Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.serve import LIVE_PAGE, PREFIX, ServeOptions, serve_api

PATH = f"/bcl/v2/paymentInstruments/{INSTRUMENT_IDS[0]}/networkTokenActivationData"


def steady(text):
    """The text without what is another one in each run: a port, a token, an sdkOutput."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    text = re.sub(r"(control_token: |#)[\w-]{20,}", r"\1TOKEN", re.sub(r"SIMULATED-[\w-]{24}", "KEY", text))
    return re.sub(r"\b(eyJ[\w+/=]{40,})", "OUTPUT", re.sub(r"\d+\.\d ms", "1.0 ms", text))


@pytest.fixture
def served(monkeypatch, capsys):
    """What a server says on stdout and on stderr, and what it answers, by the number of each request."""

    def serve(*requests, **options):
        answers, printed = [], []

        def run(server, announce):
            announce()
            printed.append(capsys.readouterr())
            key = re.search(r"SIMULATED-[\w-]{24}", printed[0].out)[0]
            for request in requests:
                headers = {"host": "127.0.0.1"} | {name: value or key for name, value in request.headers}
                whole = Request(request.method, request.target, (*headers.items(),), request.body)
                answer = server.answer(whole)
                answers.append(asyncio.run(answer) if isawaitable(answer) else answer)
                if server.log is not None:
                    server.log(whole, answers[-1], 0.001)

        monkeypatch.setattr("workbook.tools.mockserver.server.run_until_signal", run)
        assert serve_api(ServeOptions(**options)) == 0
        return printed[0].out, printed[0].err + capsys.readouterr().err, answers

    return serve


GET = partial(Request, "GET", PATH)
KEYED = GET((("x-api-key", ""), ("content-type", "application/json")))
"""With the key that is announced."""


@pytest.mark.golden
def test_what_is_announced_is_what_was_written_down(served, golden):
    told = [
        served()[0],
        served(scenario="class-room", seed=9)[0],
        served(scenario="every-instrument-state", control=True)[0],
    ]
    golden("announced", "\n".join(map(steady, told)))


def test_a_script_gets_the_same_as_json(served):
    values = json.loads(served(as_json=True, control=True)[0])
    assert [*values] == [
        "base_url", "control_url", "control_token", "live_page", "api_key", "payment_instrument_ids", "sdk_outputs"
    ]  # fmt: skip
    assert values["control_url"].startswith(values["base_url"])
    assert values["live_page"].endswith(f"#{values['control_token']}")
    assert [*values["sdk_outputs"]] == values["payment_instrument_ids"] == list(INSTRUMENT_IDS)


def test_each_of_several_keys_is_announced_with_its_name(served, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text('[[credential]]\nname = "a"\n[[credential]]\nname = "b"\nrole = false\n')
    values = json.loads(served(as_json=True, scenario=str(file))[0])
    assert [*values["api_keys"]] == ["a", "b"]
    assert values["api_key"] == values["api_keys"]["a"]
    assert re.search(r"^api_keys: a \S+, b \S+$", served(scenario=str(file))[0], re.MULTILINE)


def test_each_request_is_logged_without_its_key_unless_it_is_to_be_quiet(served):
    _out, err, answers = served(KEYED, GET(()))
    assert [answer.status for answer in answers] == [200, 401]
    assert "SIMULATED" not in err.replace("PISIMULATED", "")
    assert steady(err.splitlines()[0]).endswith("networkTokenActivationData 200 1.0 ms")
    assert len(err.splitlines()) == 2
    assert served(KEYED, quiet=True)[1] == ""


def test_the_control_api_and_its_page_are_there_only_where_they_are_wanted(served):
    page, control = Request("GET", LIVE_PAGE, ()), Request("GET", f"{PREFIX}journal", ())
    stranger = Request("GET", LIVE_PAGE, (("host", "other.invalid"),))
    to_control = Request("GET", f"{PREFIX}journal", (("host", "other.invalid"),))
    _out, _err, (shown, refused, *elsewhere) = served(page, control, stranger, to_control, control=True)
    assert (shown.status, refused.status, [answer.status for answer in elsewhere]) == (200, 401, [421, 421])
    assert b"<html" in shown.body
    assert [answer.status for answer in served(page, control)[2]] == [404, 404]


def test_a_server_that_others_can_reach_says_so(served):
    assert "everybody who can reach 0.0.0.0 can use this server" in served(host="0.0.0.0", allow_remote=True)[1]
    assert served(allow_remote=True)[1] == ""
