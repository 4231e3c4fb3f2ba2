"""Both clients over a stand-in transport: configuration, mapping, seams."""

import gc
import logging
import random
import threading
import traceback

import anyio
import httpx
import pytest
from frames import traceback_of_package
from rows import rows

from workbook import ActivationDataClient, AsyncActivationDataClient, RetryPolicy, SdkInput, SdkOutput, Timeouts
from workbook.errors import (
    ApiStatusError,
    ConfigurationError,
    DeadlineError,
    MalformedResponseError,
    MaybeSentError,
    NotSentError,
    OpaqueDataError,
    ResponseTooLargeError,
    SdkInputError,
)

URL = "https://api.example"
GOOD = {"sdkInput": "YWJj"}


def good(request):
    return httpx.Response(200, json=GOOD)


def raising(error):
    def handler(request):
        raise error

    return handler


def client_of(handler, **options):
    return ActivationDataClient(URL, "canary", transport=httpx.MockTransport(handler), **options)


@rows(
    ("error", "kind"),
    [
        (httpx.ConnectError("hush"), NotSentError),
        (httpx.ConnectTimeout("hush"), NotSentError),
        (httpx.PoolTimeout("hush"), NotSentError),
        (httpx.LocalProtocolError("hush"), NotSentError),
        (httpx.UnsupportedProtocol("hush"), NotSentError),
        (httpx.InvalidURL("hush"), NotSentError),
        (httpx.ReadError("hush"), MaybeSentError),
        (httpx.ReadTimeout("hush"), MaybeSentError),
        (httpx.WriteError("hush"), MaybeSentError),
        (httpx.WriteTimeout("hush"), MaybeSentError),
        (httpx.RemoteProtocolError("hush"), MaybeSentError),
        (httpx.CloseError("hush"), MaybeSentError),
        (httpx.StreamError("hush"), MaybeSentError),
    ],
)
def test_failures_are_typed_and_never_quoted(call, method, error, kind):
    with pytest.raises(kind) as caught:
        call(handler=raising(error))
    shown = "".join(traceback.format_exception(caught.value))
    assert type(caught.value) is kind
    assert "hush" not in shown
    assert caught.value.request.method == method.upper()


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (httpx.Response(302, headers={"location": "http://[junk"}), ApiStatusError),
        (httpx.Response(204), ApiStatusError),
        (httpx.Response(500, content=b"x" * 50), ApiStatusError),
        (httpx.Response(200, content=b"x" * 50), ResponseTooLargeError),
        (httpx.Response(200, content=iter([b"x" * 50])), ResponseTooLargeError),
        (
            httpx.Response(200, headers={"content-encoding": "br"}, stream=httpx.ByteStream(b"x")),
            MalformedResponseError,
        ),
        (httpx.Response(200, json={}), SdkInputError),
    ],
)
def test_answers_are_judged(response, kind):
    with pytest.raises(kind) as caught:
        client_of(lambda request: response, max_body=30, retries=RetryPolicy(attempts=1)).get("PI1")
    assert type(caught.value) is kind
    if kind is ApiStatusError:
        assert caught.value.body == b"x" * min(30, len(response.content))


@pytest.mark.rule("REL-1")
def test_retries_sleep_on_the_given_clock(call, method, clock):
    tries = []

    def handler(request):
        tries.append(1)
        if len(tries) < 3:
            raise httpx.ConnectError("")
        return good(request)

    assert call(handler=handler, clock=clock, retries=RetryPolicy()).sdk_input.text == "YWJj"
    assert len(clock.naps) == 2
    assert sum(clock.naps) == clock.time < 0.3


@pytest.mark.rule("REL-5")
def test_a_dribbling_transport_is_stopped_between_chunks(call, clock):
    class Dribble(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self):
            while True:
                clock.time += 1.0
                yield b" "

        async def __aiter__(self):
            for chunk in self:
                yield chunk

    with pytest.raises(DeadlineError) as caught:
        call(handler=lambda request: httpx.Response(200, stream=Dribble()), clock=clock, timeouts=Timeouts(get=8.0))
    assert caught.value.sent
    assert caught.value.elapsed == 8.0


@pytest.mark.rule("REL-5")
def test_a_stuck_async_transport_is_left_at_the_deadline():
    async def handler(request):
        await anyio.sleep(30)

    async def go():
        async with AsyncActivationDataClient(
            URL, "canary", transport=httpx.MockTransport(handler), deadline=0.05
        ) as client:
            await client.get("PI1")

    with pytest.raises(DeadlineError) as caught:
        anyio.run(go)
    assert caught.value.sent  # a foreign transport tells nothing


@pytest.mark.rule("REL-2")
def test_the_environment_gives_address_and_key_and_nothing_else(monkeypatch):
    monkeypatch.setenv("WORKBOOK_BASE_URL", "http://localhost:1")
    monkeypatch.setenv("WORKBOOK_API_KEY", "from-env")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:2")
    seen = []
    with ActivationDataClient(transport=httpx.MockTransport(lambda r: seen.append(r) or good(r))) as client:
        client.get("PI1")
    assert seen[0].url.host == "localhost"
    assert seen[0].headers["x-api-key"] == "from-env"


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize(
    ("base_url", "key", "why"),
    [
        (None, "hush", "WORKBOOK_BASE_URL"),
        (URL, None, "WORKBOOK_API_KEY"),
        (URL, "hush hush", "a blank"),
        ("http://a.b", "hush", "plain http"),
    ],
)
def test_missing_or_wrong_settings_say_what_to_set(monkeypatch, base_url, key, why):
    monkeypatch.setenv("WORKBOOK_BASE_URL", "")
    monkeypatch.delenv("WORKBOOK_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=why) as caught:
        ActivationDataClient(base_url, key)
    assert "hush" not in "".join(traceback_of_package(caught.value).format())


@pytest.mark.parametrize(
    ("kind", "transport"),
    [
        (ActivationDataClient, object()),
        (ActivationDataClient, httpx.AsyncHTTPTransport()),
        (AsyncActivationDataClient, 5),
    ],
)
def test_a_transport_of_the_wrong_sort_is_refused(kind, transport):
    with pytest.raises(ConfigurationError, match="Allowed: an httpx transport with handle_"):
        kind(URL, "canary", transport=transport)


@pytest.mark.rule("REL-2", "REL-3")
def test_the_client_shows_its_address_only():
    assert repr(client_of(good)) == (
        "ActivationDataClient(base_url='https://api.example')\nNext: .get(id), .post(id, sdk_output), .close()."
    )


def test_with_options_shares_what_is_dear():
    parent = client_of(good)
    derived = parent.with_options(
        deadline=1.0, timeouts=Timeouts(read=1.0), max_body=10, retries=RetryPolicy(attempts=1)
    )
    with pytest.raises(ResponseTooLargeError):
        derived.get("PI1")
    derived.close()
    assert derived._shared is parent._shared
    assert parent.get("PI1").sdk_input.text == "YWJj"
    with pytest.raises(ConfigurationError, match="is closed"):
        derived.get("PI1")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"deadlin": 1}, "Did you mean 'deadline'"),
        ({"api_key": "hush"}, r"cannot change 'api_key'\. \w"),
        ({"deadline": 0}, "Give"),
    ],
)
def test_with_options_takes_options_only(changes, why):
    with pytest.raises(ConfigurationError, match=why):
        client_of(good).with_options(**changes)


def test_a_closed_client_says_so():
    closed = []

    class Transport(httpx.MockTransport):
        def close(self):
            closed.append(1)

    client = ActivationDataClient(URL, "canary", transport=Transport(good))
    derived = client.with_options()
    client.close()
    client.close()
    assert closed == [1]
    for each in (client, derived, client.with_options()):
        with pytest.raises(ConfigurationError, match="ActivationDataClient is closed"):
            each.get("PI1")


def test_a_client_never_used_has_nothing_to_close():
    ActivationDataClient(URL, "canary").close()
    anyio.run(AsyncActivationDataClient(URL, "canary").aclose)


@pytest.mark.parametrize("given_tls", [True, False])
def test_the_trust_store_is_read_late_and_once(given_tls):
    context = httpx.create_ssl_context() if given_tls else None
    client = ActivationDataClient(URL, "canary", tls=context)
    assert client._shared.opened is None
    found = []
    threads = [threading.Thread(target=lambda: found.append(client._shared.transport())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(transport) for transport in found}) == 1
    assert (found[0]._pool._ssl_context is context) == given_tls
    client.close()


def test_a_call_that_cannot_be_made_sends_nothing(call):
    client = client_of(raising(AssertionError("sent")))
    with pytest.raises(ConfigurationError):
        client.get("..")
    with pytest.raises(OpaqueDataError):
        client.post("PI1", "")
    with pytest.raises(ConfigurationError, match="SdkInput"):
        client.post("PI1", SdkInput("a"))


@pytest.mark.rule("REL-3")
def test_an_sdk_output_in_the_place_of_the_id_is_neither_sent_nor_quoted(canaries):
    output = SdkOutput.from_bytes(canaries[1].encode() * 20).text
    with pytest.raises(ConfigurationError, match="as an sdkOutput is, which comes second") as caught:
        client_of(raising(AssertionError("sent"))).post(output, "PI1")
    assert output not in str(caught.value)


def test_the_same_seed_gives_the_same_pauses(clock):
    def naps():
        clock.naps.clear()
        with pytest.raises(NotSentError):
            client_of(raising(httpx.ConnectError("")), clock=clock, random=random.Random(3)).get("PI1")
        return list(clock.naps)

    assert naps() == naps() != []


@pytest.mark.rule("REL-2", "REL-3")
@pytest.mark.parametrize("status", [200, 401])
def test_no_canary_leaves_through_error_traceback_or_log(call, caplog, canaries, status):
    key, output, given = canaries

    def handler(request):
        echo = {name: request.headers[name] for name in ("x-api-key",)}
        return httpx.Response(
            status, headers=echo, json={"detail": key, "sdkInput": [given], "body": request.content.decode()}
        )

    with caplog.at_level(logging.DEBUG), pytest.raises((ApiStatusError, SdkInputError)) as caught:
        call(handler=handler)
    error = caught.value
    told = "".join(traceback_of_package(error).format()) + caplog.text + repr(error.request) + str(error)
    assert "exchange" in told
    for canary in (key, output, given):
        assert canary not in told
    assert key.encode() not in getattr(error, "body", b"")
    assert error.__cause__ is error.__context__ is None


@pytest.mark.rule("REL-2")
def test_the_engine_s_own_log_is_scrubbed(caplog):
    key = "an-engine-s-own-key-0123"
    gc.collect()  # a client that another test left behind may have a key of one letter
    with ActivationDataClient(base_url="https://api.example.test", api_key=key), caplog.at_level(logging.DEBUG):
        logging.getLogger("httpcore.http11").debug("got %r", b"x: an-engine-s-own-key-0123")
        logging.getLogger("httpcore2.connection").debug("got nothing")
    said = [record.getMessage() for record in caplog.records if record.name.startswith("httpcore")]
    assert said == ["got b'x: [key]'", "got nothing"]  # other threads may log meanwhile
