"""Findings about the integrator's own code."""

import pytest

from workbook.checks import check
from workbook.checks.finding import Severity
from workbook.flows import messages as m
from workbook.flows.messages import LIMITS
from workbook.flows.trace import Kind, Record, Trace
from workbook.lessons.script import Script, play
from workbook.lessons.widgets.stage import walk_on
from workbook.play.handler import ReferenceHandler
from workbook.play.platform_a import AppA, PlatformARun
from workbook.play.wallet_app import WalletApp


def found(run):
    return [(finding.rule, finding.level, finding.text) for finding in check(run.trace)]


@pytest.mark.rule("A-OPC-1")
def test_an_opc_provider_that_fails_is_told_with_its_line():
    run = PlatformARun(app=AppA(fetch_opc=lambda _card, _output: 1 // 0))
    run.walk()
    rule, level, text = found(run)[0]
    assert (rule, level) == ("A-OPC-1", Severity.FAIL)
    assert "fetchOpc() failed: ZeroDivisionError. test_own_code.py, line " in text


@pytest.mark.rule("X-STATUS-1")
def test_a_handlers_line_is_in_the_finding_about_its_call():
    class Mine(ReferenceHandler):
        def status(self):
            return self.cache

    wallet = WalletApp(Mine)
    wallet.open_list()
    (finding,) = [text for rule, _level, text in found(wallet) if rule == "X-STATUS-1"]
    assert "status() failed: AttributeError: cache. test_own_code.py, line " in finding
    assert finding.endswith("return self.cache.")


@pytest.mark.rule("X-DEL-1")
def test_what_the_handler_itself_catches_is_told_all_the_same():
    class Mine(ReferenceHandler):
        def provision(self, payment_instrument_id, sdk_output):
            return self.back_end.pst(payment_instrument_id, sdk_output)

    findings = walk_on(play(Script("from the wallet", handler=Mine))).findings
    assert [finding.rule for finding in findings if "AttributeError: pst" in finding.text] == ["X-DEL-1"]


def trace_of(*asides):
    run = PlatformARun()
    for aside in asides:
        run.soon(aside)
    run.open()
    return run


@pytest.mark.rule("REL-9")
@pytest.mark.parametrize("call", ["get", "post"])
def test_an_error_of_the_api_that_a_back_end_lets_out_is_only_noted(call):
    error, line = "MaybeSentError: the connection broke", "mine.py, line 3: self.api.post()"
    (first,) = found(trace_of(m.CodeFailed(call, error, line)))[:1]
    assert first == ("REL-9", Severity.NOTE, f"The API failed, and your {call}() let its error out: {error}. {line}.")
    (own,) = found(trace_of(m.CodeFailed(call, "KeyError: 'x'", line)))[:1]
    assert own == ("REL-6", Severity.FAIL, f"Your {call}() failed: KeyError: 'x'. {line}.")
    (other,) = found(trace_of(m.CodeFailed("fetchOpc", error, line)))[:1]
    assert other[:2] == ("A-OPC-1", Severity.FAIL)


@pytest.mark.rule("X-STATUS-3")
@pytest.mark.parametrize(
    ("aside", "rule", "level", "words"),
    [
        (m.CodeTookLong("status", 2.0), "X-STATUS-3", Severity.FAIL, "The wallet waits 100 ms."),
        (
            m.CodeTookLong("status", 0.3, "stopped", "line 1"),
            "X-STATUS-3",
            Severity.FAIL,
            "and was stopped. line 1. The",
        ),
        (m.CodeTookLong("pass_entries", 2.0), "X-ENTRIES-3", Severity.WARN, "really took 2 s here."),
        (m.CodeTookLong("fetchOpc", 2.0), "A-OPC-1", Severity.WARN, "really took 2 s"),
        (m.CodeTookLong("fetchOpc", 9.0, "left behind"), "REL-5", Severity.FAIL, "It has no longer (assumed)."),
        (m.NeverCalled("staus", "status"), "X-STATUS-1", Severity.WARN, "Nobody calls your staus()"),
    ],
)
def test_real_time_and_misspelt_methods_are_findings(aside, rule, level, words):
    ((found_rule, found_level, text),) = found(trace_of(aside))
    assert (found_rule, found_level) == (rule, level)
    assert words in text


def test_a_good_run_has_none_of_them():
    assert found(trace_of()) == []


OTHERS = ("fetchOpc", "provision", "didFinishProvisioning", "viewDidAppear", "view_did_appear", "cardArt", "card_art",
          "get", "post", "viewDidLoad")  # fmt: skip
CALLS = (*LIMITS, *OTHERS)


def test_each_finding_word_for_word(golden):
    """In the app and in the extension, where provision is another call."""
    asides = [m.CodeTookLong(call, seconds) for call in CALLS for seconds in (0.05, 0.1, 20.0, 21.0)]
    ends = ("stopped", "left behind")
    asides += [m.CodeTookLong(call, 20.0, end, "cell 1, line 2: x") for call in CALLS for end in ends]
    asides += [m.CodeFailed(call, "ValueError: no.", "cell 1, line 2: x") for call in CALLS]
    asides += [m.NeverCalled("misspelt", call) for call in CALLS]
    findings = []
    for before in ([], [m.IssuerListOpened()]):
        trace = Trace()
        for message in before + asides:
            trace.append(Record(0.0, Kind.NOTE, message, "here", "here", message.rules))
        findings += [str(one) for one in check(trace)]
    golden("own_code", "\n".join(dict.fromkeys(findings)))
