import re
from html.parser import HTMLParser

import pytest
from any_record import RECORDS, TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st
from plays import SCRIPTS, USUAL, played
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import A_FROM_0_4_0, A_NOT_MIGRATED
from workbook.lessons.faults import WAYS_TO_ADD
from workbook.lessons.script import Script, play
from workbook.lessons.session import session
from workbook.simulation.world import SIMULATED_KEY
from workbook.views.exchange import Exchange, details
from workbook.views.film import film
from workbook.views.sequence import Shape, is_line, sequence

WALK = Script().then("tap", 2.0)
POST = "POST …/{id}/networkTokenActivationData"
CANARY = "Q0FOQVJZLTdmM2E5YzUxLURBVEE="
SPELLINGS = (CANARY, "CANARY-7f3a9c51-DATA", b"CANARY-7f3a9c51-DATA".hex())


def _details(trace, machine=A_FROM_0_4_0.machine):
    return details(sequence(trace).lines, machine)


def _told(detail):
    return f"{detail.text()}\n{detail.html()}"


def _detail(label, script=WALK):
    shown = Exchange(play(script).film)
    return next(detail for detail in shown.details if detail.title == label)


@rows("name", SCRIPTS)
def test_every_line_of_every_play_has_a_row_and_a_detail_that_says_who_what_and_why(name):
    shown = Exchange(played(name).film)
    assert len(shown.lines) == len(shown.details) == len(shown.rows) == len(shown.film.frames)
    for line, detail in zip(shown.lines, shown.details, strict=True):
        told = detail.text()
        assert f"{line.sender} to {line.receiver}, at {line.at:.3f} s" in told
        assert "What it is" in told
        for one in line.record.rules:
            assert rule(one).text.split()[0] in told
            assert f"{one} ({rule(one).level})" in told


@rows("name", SCRIPTS)
def test_every_event_and_every_command_of_every_play_names_its_row(name):
    shown = Exchange(played(name).film)
    for line, detail in zip(shown.lines, shown.details, strict=True):
        if line.record.kind in (Kind.EVENT, Kind.COMMAND):
            assert f"leads to “{line.record.after}”" in " ".join(detail.text().split()), line.label


def test_a_row_tags_the_commands_that_the_document_does_not_show():
    told = _detail("CannotBeProvisioned.ApiError", Script(phone="app not allowlisted")).text()
    assert "asks for “hides Add” (assumed)." in " ".join(told.split())


@pytest.mark.rule("API-1", "API-4", "API-5", "REL-2")
def test_a_get_opens_its_request_and_its_answer(golden):
    golden("exchange_get", _detail("GET …/{id}/networkTokenActivationData").text())


@pytest.mark.rule("API-2", "API-6")
def test_a_post_opens_its_request_and_its_answer(golden):
    golden("exchange_post", _detail(POST).text())


def test_a_call_stands_in_the_document_s_spelling_with_its_values(golden):
    golden("exchange_call", _detail("provision(cardDisplayName, cardAddress, opcProvider)").text())


@pytest.mark.parametrize("platform", WAYS_TO_ADD)
def test_what_is_seen_between_two_steps_says_what_it_is_in_one_sentence(platform):
    run = session().break_it("500", operation="GET", platform=platform)
    shown = [detail.parts[-1].lines[0] for detail in _details(run.trace)]
    asides = [
        line for line, record in zip(shown, filter(is_line, run.trace), strict=True) if record.kind is Kind.EXCHANGE
    ]
    assert "Your back end asks the API for the card's activation data (API-1)." in asides
    assert all(re.fullmatch(r"[A-Z][^`;]+\.", line) for line in asides), asides


def test_a_request_that_nobody_answered_says_so():
    trace = Trace("open")
    trace.append(Record(0.0, Kind.EXCHANGE, m.ApiRequested("GET", "PI1"), "a", "a", ()))
    [detail] = _details(trace)
    assert "None in this run, or none yet." in detail.text()


def test_an_id_that_no_path_can_hold_says_that_nothing_was_sent():
    trace = Trace("blank")
    trace.append(Record(0.0, Kind.EXCHANGE, m.ApiRequested("GET", " "), "a", "a", ()))
    [detail] = _details(trace)
    assert "Not sent: The payment instrument id ' ' is blank." in detail.text()


@pytest.mark.rule("X-GEN-1")
def test_answers_in_parallel_go_to_the_request_for_the_same_card():
    shown = Exchange(played("from the wallet, later, app was opened, phone").film)
    both = [
        (re.search(r"GET \S+/(PISIM\w+)/", detail.text())[1], line.record.message.answer.sdk_input.summary())
        for line, detail in zip(shown.lines, shown.details, strict=True)
        if isinstance(line.record.message, m.ApiAnswered) and "GET /bcl" in detail.text()
    ]
    assert len(both) >= 3
    assert all(asked == summary["paymentInstrumentId"] for asked, summary in both)


def test_a_refused_line_says_what_is_allowed():
    shown = Exchange(play(Script().then("tap", 0.01)).film)
    refused = next(
        detail for line, detail in zip(shown.lines, shown.details, strict=True) if line.shape is Shape.REFUSED
    )
    assert "Refused: the state table does not allow it in this state." in refused.text()
    assert (
        "What can happen in “fetching sdkInput”: the back end sends sdkInput or no activation data." in refused.text()
    )


@pytest.mark.rule("A-OUT-1")
def test_a_deprecated_call_says_what_that_means():
    trace = Trace("old")
    row = next(row for row in A_NOT_MIGRATED.machine.rows if row.event is m.CreateSdkOutputCalled)
    event = m.CreateSdkOutputCalled()
    trace.append(Record(0.0, Kind.EVENT, event, row.state, row.to, row.rules, 1, deprecated=True))
    [detail] = _details(trace, A_NOT_MIGRATED.machine)
    assert "deprecated: the call works in this variant" in detail.text()
    assert detail.title.endswith("[deprecated]")


def test_what_is_assumed_says_whose_choice_it_is():
    trace = Trace("ours")
    trace.append(Record(0.0, Kind.EVENT, m.AddTapped(), "failed", "tapped", ("A-BTN-1",), 1, source="assumed"))
    trace.append(Record(0.0, Kind.COMMAND, m.DisableButton(), "tapped", "tapped", ("A-BTN-1",), 1, source="wallet"))
    event, command = _details(trace)
    assert "this step: assumed (our choice" in event.text()
    assert "this step: wallet (public knowledge of the wallet platform" in command.text()


def test_a_value_has_the_same_number_in_the_picture_and_in_the_detail(stories):
    lines = sequence(stories["trouble"]()).lines
    for line, detail in zip(lines, details(lines, A_FROM_0_4_0.machine), strict=True):
        for name in re.findall(r"opaque value #\d+, \d+ characters", line.detail):
            assert name in detail.text()


@rows(
    "message",
    [
        m.ApiRequested("POST", "PI1", SdkOutput(CANARY)),
        m.ApiAnswered(200, ActivationData(SdkInput(CANARY))),
        m.ApiAnswered(200, ActivationData(CANARY)),
        m.ActivationDataReceived(SdkInput(CANARY)),
        m.ServiceCalled(b"CANARY-7f3a9c51-DATA"),
        m.ReturnSdkInput(CANARY),
        m.DelegateReturned(b"CANARY-7f3a9c51-DATA"),
        m.FetchOpcCalled("PI1", SdkOutput(CANARY)),
        m.ProvisionCalled(SdkInput(CANARY), "card", None),
        m.SaveSdkInput(SdkInput(CANARY)),
    ],
)
@rows("kind", list(Kind))
@pytest.mark.rule("REL-3")
def test_data_without_the_simulator_s_mark_stands_in_no_detail(message, kind):
    trace = Trace("canary")
    trace.append(Record(0.0, kind, message, "a", "a", ()))
    shown = film(trace, A_FROM_0_4_0.machine)
    forms = [Exchange(shown).text(), Exchange(shown).html(), *map(_told, Exchange(shown).details)]
    assert [form for form in forms for spelling in SPELLINGS if spelling in form] == []
    digests = [value["digest"] for value in trace[0].values.values() if isinstance(value, dict)]
    assert [form for form in forms for digest in digests if digest in form] == []


@rows("name", SCRIPTS)
@pytest.mark.rule("REL-2", "REL-3")
def test_no_key_and_no_value_itself_stands_in_any_detail(name):
    shown = Exchange(played(name).film)
    told = "\n".join(map(_told, shown.details))
    values = {
        value.text
        for line in shown.lines
        for value in (getattr(line.record.message, field, None) for field in ("sdk_input", "sdk_output"))
        if hasattr(value, "text")
    }
    assert SIMULATED_KEY not in told
    assert [value for value in values if value in told] == []


@given(TEXTS, st.lists(RECORDS, max_size=6))
@settings(deadline=None)
def test_whatever_a_trace_holds_its_details_are_well_formed_and_hold_no_markup_of_it(title, told):
    trace = Trace(title)
    for record in told:
        trace.append(record)
    for detail in _details(trace):
        parser = Balanced()
        parser.feed(detail.html())
        parser.close()
        assert parser.open == []
        assert detail.text().encode()


@rows("name", USUAL)
def test_the_html_holds_the_picture_and_each_line_to_be_opened(name):
    shown = Exchange(played(name).film)
    html = shown.html()
    assert html.count("<details") == len(shown.lines) + 2
    assert "<script" not in html
    assert html == shown.html()


class Balanced(HTMLParser):
    """Refuses what a detail never writes, and tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag in {"div", "b", "pre", "ul", "li", "span", "code", "em"}
        assert {name for name, _value in attrs} <= {"style", "class", "title"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
