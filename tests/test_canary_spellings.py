"""A key in every spelling that is searched for goes through everything that writes, and no spelling comes out (REL-2).

The spellings are made here, with the standard library alone: a list that was taken from the code under test would
forget what that code forgets.
"""

import base64
import html
import json
import logging
import traceback
from dataclasses import replace
from math import ceil
from urllib.parse import quote

import httpx
import pytest
from frames import traceback_of_package
from ran import MISS, arrived, call, recorded, result, seen
from rows import rows

from workbook.api.client import ActivationDataClient
from workbook.api.exchange import RetryPolicy
from workbook.api.opaque import MARK, SdkInput
from workbook.base.secrecy import Secrets
from workbook.errors import ActivationDataError, ConfigurationError
from workbook.flows.trace import Trace
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.tools.commands import cli, doctor
from workbook.tools.commands.runner.export import export
from workbook.tools.commands.runner.run import CheckResult, NotebookRun, Report, raised
from workbook.tools.harness.output import reports
from workbook.tools.mockserver.journal import Journal
from workbook.tools.mockserver.serve import log_line
from workbook.tools.proxy.record import Lines
from workbook.tools.proxy.upstream import ProxyReply

KEY = "CANARY+7f3a/9c51=e0b2&4d68<KEY>'xyz~"
ID = "PISIMULATED00000000000001"
PATH = f"/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
LEAST = 14
"""Characters of the key in a row that would give it away here."""


def each(shape, step=1):
    """Every character, or every second one, as its number in this shape."""
    return "".join(shape.format(ord(one)) if at % step == 0 else one for at, one in enumerate(KEY))


def in_base64(before, *, url_safe=False):
    data = b"x" * before + KEY.encode() + b"yz"
    return (base64.urlsafe_b64encode if url_safe else base64.b64encode)(data).decode()


def backslashed(characters):
    return "".join(f"\\{one}" if one in characters else one for one in KEY)


SPELLINGS = {
    "as it is": KEY,
    "as a header": f"x-api-key: {KEY}",
    "in an address": f"https://h/?clientKey={quote(KEY, safe='')}",
    "JSON": json.dumps(KEY),
    "JSON with slashes escaped": json.dumps(KEY).replace("/", "\\/"),
    "JSON numbers": each("\\u{:04x}"),
    "JSON numbers, capitals": each("\\u{:04X}"),
    "JSON numbers, some": each("\\u{:04x}", 3),
    "JSON as Go writes it": json.dumps(KEY).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    "JSON as .NET writes it": json.dumps(KEY).replace("+", "\\u002B").replace("'", "\\u0027").replace("<", "\\u003C"),
    "JSON within JSON": json.dumps(json.dumps(KEY)),
    "HTML": html.escape(KEY),
    "HTML without quotes": html.escape(KEY, quote=False),
    "HTML numbers": each("&#{};"),
    "HTML numbers, hexadecimal": each("&#x{:x};"),
    "HTML numbers, capitals": each("&#x{:X};"),
    "HTML numbers, some": each("&#{};", 2),
    "HTML numbers with zeros": each("&#{:05};"),
    "percent": quote(KEY, safe=""),
    "percent, but slashes": quote(KEY),
    "percent, small letters": quote(KEY, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3C", "%3c"),
    "percent as JavaScript does": quote(KEY, safe="!'()*"),
    "percent throughout": each("%{:02X}"),
    "percent throughout, small letters": each("%{:02x}"),
    "percent, some": each("%{:02X}", 2),
    **{f"base64, {before} before": in_base64(before) for before in range(3)},
    **{f"base64 for addresses, {before} before": in_base64(before, url_safe=True) for before in (0, 2)},
    "basic authentication": f"Basic {base64.b64encode(f'user:{KEY}'.encode()).decode()}",
    "hexadecimal": KEY.encode().hex(),
    "hexadecimal, capitals": KEY.encode().hex().upper(),
    "Python": backslashed("'"),
    "Python bytes": repr(KEY.encode()),
    "Python within JSON": json.dumps(backslashed("'")),
    "Markdown": backslashed("+/=&<>'~"),
    "a shell's": backslashed("&<>'"),
}


def the_error(spelled):
    """What a client raises after an answer that repeats its own key."""
    body = json.dumps({"type": "about:blank", "title": spelled, "detail": f"You sent {spelled}.", "errorCode": "1"})
    headers = {"content-type": "application/problem+json", "x-echo": spelled.encode("latin-1")}
    transport = httpx.MockTransport(lambda _request: httpx.Response(500, headers=headers, content=body.encode()))
    client = ActivationDataClient("https://api.example", KEY, transport=transport, retries=RetryPolicy(attempts=1))
    with pytest.raises(ActivationDataError) as caught:
        client.get(ID)
    return client, caught.value


def client_error(spelled):
    client, error = the_error(spelled)
    return [str(error), repr(error), repr(vars(error)), repr(client), repr(client._settings)]


def rendered_traceback(spelled):
    _client, error = the_error(spelled)
    return [repr(frame.locals) for frame in traceback_of_package(error).stack] + traceback.format_exception_only(error)


def opaque_repr(spelled):
    """Anybody can copy the simulator's mark, and put a key where its data has an id."""
    client, _error = the_error(spelled)
    fields = {"simulated": MARK, "kind": "opc", "serial": 1, "paymentInstrumentId": spelled}
    value = SdkInput(base64.b64encode(json.dumps(fields).encode()).decode())
    return [repr(value), str(value), f"{value}", repr(value.summary()), repr(client)]


def debug_log(spelled):
    client, _error = the_error(spelled)
    logger, said = logging.getLogger("httpcore.http11"), []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        logger.debug("receive_response_headers.complete return_value=%r", [(b"x-echo", spelled)])
        logger.debug("plainly: %s", spelled)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    return [*said, repr(client)]


def exchanged(spelled):
    """One request and its answer with the key in its place, and in every other one."""
    headers = (("x-api-key", KEY), ("user-agent", spelled), ("x-request-id", spelled), ("x-other", spelled))
    body = json.dumps({"sdkOutput": spelled, spelled: 1}).encode()
    answer = {"type": spelled, "title": spelled, "detail": spelled, "errorCode": spelled, "more": spelled}
    request = Request("POST", f"{PATH}/{quote(spelled, safe='%')}?a={spelled}&{spelled}", headers, body)
    return request, Response(400, (*JSON_HEADERS, ("server", spelled)), json.dumps(answer).encode(), "assumed")


def journal_export(spelled):
    journal = Journal()
    journal.record(journal.now(), *exchanged(spelled))
    return [journal.to_jsonl(), repr(journal.entries())]


def serve_log(spelled):
    return [log_line(*exchanged(spelled), 0.1, ())]


def proxy_record(spelled):
    request, response = exchanged(spelled)
    return list(Lines().line(request, ProxyReply(response, "Bad Request"), (0.0, 0.1)))


def conform_reports(spelled):
    request, response = exchanged(spelled)
    relay = call(headers=(("server", spelled),), body=response.body, status=500, why=spelled)
    api = arrived(headers=request.headers[1:], body=request.body)
    miss = replace(MISS, observed=f"the answer says {spelled}", expected=spelled, todo=spelled)
    of_the_run = replace(seen(relay, api), key=KEY)
    return [*reports(recorded(result(misses=(miss,), why=spelled, seen=of_the_run))).values()]


def run_report(spelled, folder):
    checks = (CheckResult(spelled, passed=False, rule=None),)
    said = Secrets.of_keys([KEY]).scrub(spelled)  # as the runner does before it cuts an error's words
    runs = (NotebookRun("a", raised("Error", said, said), 0.1, checks),)
    Report(runs, {"base_url": spelled}, 0.1).write(folder, Secrets.of_keys([KEY]))
    return [path.read_text() for path in folder.iterdir()]


def machine_health(spelled):
    environ = {"WORKBOOK_API_KEY": KEY, "WORKBOOK_BASE_URL": spelled}
    return [str(doctor.environment(environ)), str(doctor.environment({"WORKBOOK_API_KEY": f"{KEY} {spelled}"}))]


def command_line(spelled, monkeypatch, capsys):
    monkeypatch.setenv("WORKBOOK_API_KEY", KEY)

    def failing(_argv):
        raise ValueError(f"a defect that repeats {spelled}")

    for debug in ("", "1"):
        monkeypatch.setenv("WORKBOOK_DEBUG", debug)
        monkeypatch.setattr(cli, "_dispatch", failing)
        assert cli.main([]) == 255
    return [*capsys.readouterr()]


def trace(spelled):
    """What a lesson keeps of a call that failed: the error's own words."""
    _client, error = the_error(spelled)
    told = Trace(title=str(error))
    return [repr(told), told.title]


WRITERS = (
    client_error, rendered_traceback, opaque_repr, debug_log, journal_export, serve_log, proxy_record, conform_reports,
    run_report, machine_health, command_line, trace,
)  # fmt: skip


def parts(spelled):
    """Every part of a spelling that is long enough to give the key away, also as JSON and HTML would write it again."""
    core = spelled.partition(":" if spelled.startswith("x-api-key") else "\0")[2] or spelled
    size = max(LEAST, ceil(LEAST * len(core) / len(KEY)))
    plain = {core[at : at + size] for at in range(len(core) - size + 1)}
    return plain | {json.dumps(part)[1:-1] for part in plain} | {html.escape(part) for part in plain}


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
@rows("spelling", SPELLINGS)
def test_no_spelling_of_a_key_comes_out_of_a_writer(spelling, writer, tmp_path, monkeypatch, capsys):
    spelled = SPELLINGS[spelling]
    given = {"folder": tmp_path, "monkeypatch": monkeypatch, "capsys": capsys}
    wanted = [name for name in given if name in writer.__code__.co_varnames[: writer.__code__.co_argcount]]
    texts = writer(spelled, **{name: given[name] for name in wanted})
    assert texts
    assert [part for text in texts for part in parts(spelled) if part in text] == []


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_a_key_gets_into_a_page(spelling, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", KEY)
    output = {"output_type": "stream", "name": "stdout", "text": SPELLINGS[spelling]}
    cell = {"cell_type": "code", "metadata": {}, "source": "1", "execution_count": 1, "outputs": [output]}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    with pytest.raises(ConfigurationError, match="contains the API key"):
        export([path], tmp_path / "pages")
    assert [*(tmp_path / "pages").iterdir()] == []


def test_each_spelling_is_another_one():
    assert len(set(SPELLINGS.values())) == len(SPELLINGS) >= 38
