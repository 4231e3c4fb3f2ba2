"""A run from its beginning to its end: against a good back end, and against back ends that are not there."""

import re
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import reference

from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import reason
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import Api, BackEndForm, BackEndStart, Config, RunTimeouts
from workbook.tools.conform.back_end.model import (
    GET,
    AppCall,
    BackEndCase,
    BackEndGroup,
    BackEndOperation,
    Cardholder,
    CaseScript,
    Order,
    Surface,
    Target,
)
from workbook.tools.conform.back_end.session import conform
from workbook.tools.harness.model import CaseOptions, Verdict, choose_cases

CARDS = tuple(f"PICONFORM{number:016d}" for number in range(1, 7))
SURFACE = Surface(
    BackEndOperation("GET", "/cards/{id}/activation-data"),
    BackEndOperation("POST", "/cards/{id}/provision", sdk_output="/sdkOutput"),
)
ANN = Cardholder("ann", CARDS, (("authorization", "Bearer session-of-ann-0001"),))
QUICK = RunTimeouts(first_call=0.5, start=0.5, whole=60)


def waiting(**seconds):
    return QUICK.model_copy(update=seconds)


A_FEW = tuple(CASES[name] for name in ("relay.get.path", "relay.post.key-once", "relay.get.no-query"))


def target(url, **more):
    return Target(url, {"platform A": SURFACE, "platform B": SURFACE}, (ANN,), bound=2.0, **more)


@contextmanager
def served(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def relayed(side, key=None):
    relay = reference.Relay(side.url, key or side.key, {"session-of-ann-0001": list(CARDS)})
    with served(reference.serve(relay)) as url:
        yield url
    relay.api.close()


@contextmanager
def answering(status, *, wait=0.0):
    """A back end that asks the API nothing."""
    came = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            came.append(self.path)
            time.sleep(wait)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *words):
            """Nothing is logged."""

    with served(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield url, came


def run(url, *, mock=None, options=None, key=None, **more):
    config = Config(target(url), BackEndForm(**{"timeouts": QUICK} | more), key)
    return conform(config, options or CaseOptions(cases=A_FEW), api=mock)


@pytest.mark.slow
def test_a_good_back_end_passes_and_the_record_says_how_it_went():
    with MockApi(CARDS) as side, relayed(side) as url:
        record = run(url, mock=side, options=CaseOptions(cases=A_FEW, only=("x",), command="again"))
    assert [case.verdict for case in record.cases] == ["pass", "pass", "pass"]
    about = record.about
    assert (about.exit_code, about.trouble, about.unfinished) == (0, "", ())
    assert (about.base_url, about.only, about.command, about.seed) == (url, ("x",), "again", 7)
    assert side.key not in repr(record)


@pytest.mark.slow
def test_a_wrong_key_reaches_the_api_so_the_cases_can_be_judged():
    with MockApi(CARDS) as side, relayed(side, key="KEY-not-the-one-at-all-0000") as url:
        record = run(url, mock=side)
    assert [case.verdict for case in record.cases] == ["pass", "fail", "pass"]
    assert record.about.exit_code == 1
    says = [finding.says for finding in record.about.findings]
    assert [says[0].startswith("The plain GET of "), says[1].startswith("The plain POST of ")] == [True, True]
    source = "API-4; code: openapi; pairing: assumed"
    assert f"answered with status 401 ({source}). Does it send x-api-key with the key that it was given?" in says[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "wait", "told"),
    [
        (404, 0, "status 404. No request reached the API. Is the path"),
        (401, 0, "Is the session valid, and what comes before it (prefix)?"),
        (200, 10, "no answer came in time. No request reached the API."),
    ],
)
def test_where_nothing_can_be_judged_that_is_said_once_and_nothing_else_is_done(status, wait, told):
    with answering(status, wait=wait) as (url, came), MockApi(CARDS) as side:
        record = run(url, mock=side)
        assert len(came) <= 4
    assert record.about.exit_code == 2
    assert record.about.trouble.count(told) == 1
    assert {case.verdict for case in record.cases} == {Verdict.NOT_LOOKED_AT}
    assert "The plain GET of the app of platform A and platform B does not work" in record.cases[0].why


@pytest.mark.slow
def test_nobody_there_is_told_after_the_wait():
    said = []

    class Shown:
        def __getattr__(self, name):
            return lambda *words: said.extend(words) if name == "say" else None

    record = conform(
        Config(target("http://127.0.0.1:9"), BackEndForm(timeouts=QUICK)), CaseOptions(cases=A_FEW), progress=Shown()
    )
    assert record.about.exit_code == 2
    assert "Does the back end listen at http://127.0.0.1:9?" in record.about.trouble
    assert said[0].startswith("waiting for the first call: ")


@pytest.mark.slow
def test_a_back_end_that_comes_while_it_is_waited_for_is_used():
    with MockApi(CARDS) as side, relayed(side) as url:
        port, key = int(side.url.rpartition(":")[2]), side.key
        side.__exit__(None, None, None)
        record = run(url, key=key, api=Api(port=port), timeouts=waiting(first_call=20))
    assert record.about.exit_code == 0


@pytest.mark.slow
def test_a_command_that_fails_and_an_address_that_is_taken_decide_nothing():
    failing = run(
        "http://127.0.0.1:9",
        start=BackEndStart(command="echo boom; exit 7"),
        timeouts=waiting(start=10),
    )
    assert failing.about.exit_code == 2
    assert failing.about.trouble.endswith("ended with exit code 7. It printed last: boom")
    with answering(200) as (url, came):
        taken = run(url, start=BackEndStart(command="echo boom"))
        assert "A program listens at" in taken.about.trouble
        assert came == []


@pytest.mark.rule("REL-2")
def test_the_key_that_a_command_prints_is_not_told():
    token = ANN.session[0][1].split()[1]
    start = BackEndStart(command=f"echo $API_KEY {token} $API_URL; exit 1")
    trouble = run("http://127.0.0.1:9", start=start, timeouts=waiting(start=10)).about.trouble
    assert re.search(r"It printed last: (\[key\] ?)+http://127\.0\.0\.1:", trouble)  # a blank between two may go, too
    assert token not in trouble


@pytest.mark.slow
def test_a_back_end_that_goes_away_in_the_middle():
    """It is gone after the first case that stands alone; what comes then cannot be tested."""
    alone = [CASES["relay.get.api-away"]]
    later = [CASES["relay.post.after-idle"]]
    with MockApi(CARDS) as side:
        relay = reference.Relay(side.url, side.key, {"session-of-ann-0001": list(CARDS)})
        server = reference.serve(relay)

        class Shown:
            def __getattr__(self, name):
                return lambda *words: close() if name == "ended" else None

        def close():
            server.shutdown()
            server.server_close()

        threading.Thread(target=server.serve_forever, daemon=True).start()
        config = Config(target(f"http://127.0.0.1:{server.server_port}"), BackEndForm(timeouts=QUICK))
        record = conform(config, CaseOptions(cases=(*alone, *later)), api=side, progress=Shown())
        relay.api.close()
    assert [case.verdict for case in record.cases] == ["pass", "not looked at"]
    assert record.about.exit_code == 1  # what cannot be tested because of the back end is its failure
    (finding,) = record.about.findings
    assert "any more, since about relay.post.after-idle" in finding.says


@pytest.mark.slow
def test_the_time_limit_of_all_cases_ends_a_run():
    with MockApi(CARDS) as side, relayed(side) as url:
        script = CaseScript((AppCall(GET),), (Order(GET, fault="latency", settings={"seconds": 20.0}),))
        slow = BackEndCase(
            "relay.test.slow", "Slow.", "API-1", BackEndGroup.FORM, lambda _seen: iter(()), script=script
        )
        record = run(url, mock=side, options=CaseOptions(cases=(slow,)), timeouts=waiting(whole=1.0))
    assert record.about.exit_code == 2
    assert "time limit of 1 s" in record.cases[0].why


@pytest.mark.slow
@pytest.mark.rule("REL-2")
def test_a_fault_of_the_workbook_is_told_as_one_and_without_values():
    def judge(seen):
        raise ValueError(seen.key)
        yield

    broken = BackEndCase(
        "relay.test.broken", "Broken.", "API-1", BackEndGroup.FORM, judge, script=CaseScript((AppCall(GET),))
    )
    with MockApi(CARDS) as side, relayed(side) as url:
        record = run(url, mock=side, options=CaseOptions(cases=(broken,)))
    (case,) = record.cases
    assert (case.verdict, record.about.exit_code) == ("harness error", 255)
    assert case.why.startswith("ValueError in test_session.py, line ")
    assert reason(ConfigurationError("ours")) == "ConfigurationError: ours"


def test_a_port_that_is_taken_is_a_bad_configuration():
    with MockApi(CARDS) as side, pytest.raises(ConfigurationError, match="Choose another port"):
        run("http://127.0.0.1:9", api=Api(port=int(side.url.rpartition(":")[2])))


class SessionOfACard(reference.Handler):
    """A back end with ids of its own, and with a session for each card."""

    def session(self):
        found = re.fullmatch(r"token-of-(c[0-9])", super().session())
        return "session-of-ann-0001" if found and f"/{found[1]}/" in self.path else ""

    def card(self, ending):
        return CARDS[int(super().card(ending)[1:])]


@pytest.mark.slow
@pytest.mark.rule("REL-4")
def test_a_back_end_with_ids_and_sessions_of_its_own_is_judged_as_any_other():
    own = tuple(f"c{number}" for number in range(6))
    ann = Cardholder("ann", own, (("authorization", "Bearer token-of-{id}"),))
    with MockApi(CARDS) as side:
        relay = reference.Relay(side.url, side.key, {"session-of-ann-0001": list(CARDS)})
        with served(reference.serve(relay, handler=SessionOfACard)) as url:
            surfaces = {"platform A": SURFACE, "platform B": SURFACE}
            mapped = Target(url, surfaces, (ann,), bound=2.0, instruments=dict(zip(own, CARDS, strict=True)))
            record = conform(Config(mapped), CaseOptions(cases=choose_cases(CASES, ["form", "isolation"])), api=side)
        relay.api.close()
    assert not record.ended(Verdict.FAIL, Verdict.WARN), [case.name for case in record.ended(Verdict.FAIL)]
    assert len(record.ended(Verdict.PASS)) > 30


async def works(_runner):
    return (), True
