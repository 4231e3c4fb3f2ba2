"""The session: one explicit choice of who answers, and what follows from it."""

import pytest

from workbook.errors import ApiStatusError, ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.trace import Kind
from workbook.lessons.session import NotPossible, session
from workbook.simulation.seal import Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World
from workbook.tools.mockserver.server import running

ID = INSTRUMENT_IDS[0]
CANARY = "CANARY-key-0123456789"


@pytest.fixture(scope="module")
def address():
    """A service of another seed under another key, which plays the operator's API."""
    with running(Service(World(seed=99, credentials={CANARY: Credential()}))) as url:
        yield url


@pytest.fixture
def real(address, monkeypatch):
    """Opens sessions at that API; the clients are closed afterwards."""
    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    sessions = []

    def start(**parameters):
        sessions.append(session(source="api", base_url=address, **parameters))
        return sessions[-1]

    yield start
    for one in sessions:
        one.client.close()


# ---------------------------------------------------------------- simulated


@pytest.mark.parametrize("variant_a", ["before-0.4.0", "from-0.4.0"])
def test_with_simulated_data_all_is_played(variant_a):
    opened = session(variant_a=variant_a)
    assert not opened.real
    assert opened.get().sdk_input.is_simulated
    assert opened.post().sdk_input.summary()["kind"] == "opc"
    run = opened.platform_a.play()
    assert (run.state, run.findings) == (State.IN_WALLET, [])
    assert variant_a.replace("-", " ") in run.trace.title
    assert {record.message.basis for record in run.trace.select(m.ApiAnswered)} == {
        "API-1 API-9; content: assumed; status: openapi",
        "API-2 API-9 API-11; content: assumed; status: openapi",
    }


def test_settings_in_the_environment_alone_never_make_it_real(monkeypatch):
    monkeypatch.setenv("WORKBOOK_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    opened = session()
    assert not opened.real
    assert opened.get().sdk_input.is_simulated


@pytest.mark.rule("API-9")
@pytest.mark.parametrize("payment_instrument_id", ["0012345", "PI 1/ü?", "PI-OF-NOBODY"])
def test_an_instrument_that_the_simulated_api_does_not_know_is_a_422_everywhere(payment_instrument_id):
    opened = session(payment_instrument_id=payment_instrument_id)
    for call in (opened.get, opened.post, opened.platform_a.create, opened.platform_b.service):
        with pytest.raises(ApiStatusError, match="422") as caught:
            call()
        assert caught.value.status == 422
    assert "422" in opened.wire().text()
    for run in (opened.platform_a.play(), opened.platform_b.play(), opened.break_it("latency")):
        assert run.phone.cards == set()
        assert run.trace.select(m.ActivationDataFailed)
    assert opened.wallet.play(cards=[payment_instrument_id]).phone.cards == set()


def test_another_seed_makes_other_data_and_the_same_walk():
    texts = {session(seed=seed).get().sdk_input.text for seed in (7, 8)}
    assert len(texts) == 2
    run = session(seed=8).platform_a.play()
    assert run.state == State.IN_WALLET


@pytest.mark.rule("API-1", "API-2", "API-4", "API-5", "API-6")
def test_what_is_on_the_wire_is_shown_without_the_key():
    opened = session()
    path = f"/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
    get, post = opened.wire().text(), opened.wire("POST").text()
    assert get.startswith(f"GET {path}\nx-api-key: [key]\ncontent-type: application/json\n")
    assert "\n\n(no body)\n\n200 OK\ncontent-type: application/json\n\n" in get
    assert f'{{"sdkInput": "SIMULATED activation #1 for {ID}, 340 characters"}}' in get
    assert post.startswith(f"POST {path}\nx-api-key: [key]\n")
    assert f'{{"sdkOutput": "SIMULATED output #1 for {ID}, 228 characters"}}' in post
    assert f'"sdkInput": "SIMULATED opc #1 for {ID}, ' in post
    assert SIMULATED_KEY not in get + post


@pytest.mark.rule("GAP-1")
@pytest.mark.parametrize("answer", session().answers)
def test_a_wrong_answer_is_shown_as_it_is_and_at_most_a_page_of_it(answer):
    text = session().wire(answer=answer).text()
    assert len(text) < 1500
    assert "\n\nRules and sources of this answer: " in text
    assert ('{"sdkInput": null}' in text) is (answer == "sdkInput null")
    if answer.isdigit():
        assert f"\n\n{answer} " in text


# ---------------------------------------------------------------- real


def test_the_get_is_real_and_the_walk_says_where_the_real_world_ends(real):
    opened = real()
    assert opened.real
    sdk_input = opened.get().sdk_input
    assert isinstance(Seal(99).open(sdk_input.text).claims, dict)
    run = opened.platform_a.play()
    assert run.state == State.IN_WALLET
    assert [record.message.text for record in run.trace.select(kind=Kind.NOTE)] == [
        "The GET was real. From here on all is simulated: only the SDK on a device can open a real sdkInput.",
        "Not sent to the API: this sdkOutput is simulated. The simulated service answers instead.",
    ]
    assert [record.message.method for record in run.trace.select(m.ApiRequested)] == ["GET"]
    assert run.trace.select(m.ApiAnswered)[0].at > 0


def test_each_play_with_a_real_api_begins_anew(real):
    opened = real()
    plays = (opened.platform_a.play, opened.platform_b.play, opened.wallet.play)
    assert [play().added for play in plays * 2] == [True] * 6


def test_a_real_get_that_fails_ends_the_walk(real):
    opened = real(payment_instrument_id="PIUNKNOWN")
    with pytest.raises(ApiStatusError):
        opened.get()
    run = opened.platform_a.play()
    assert run.state == State.UNAVAILABLE
    assert run.trace.select(m.Noted) == []
    assert [finding.rule for finding in run.findings] == ["GAP-1"]


def test_no_real_post_is_made(real):
    posted = real().post()
    assert isinstance(posted, NotPossible)
    assert repr(posted).startswith("Not possible here: the POST is not made: only the SDK on a device")


@pytest.mark.rule("REL-2", "REL-3")
def test_neither_the_key_nor_real_data_shows(real):
    opened = real()
    run = opened.platform_a.play()
    texts = [
        repr(opened),
        repr(opened.client),
        repr(run),
        run.trace.to_jsonl(),
        opened.wire().text(),
        repr(vars(opened)),
    ]
    texts += map(repr, run.trace)
    assert not any(CANARY in text for text in texts)


# ---------------------------------------------------------------- choices


BASE, KEY = "WORKBOOK_BASE_URL", "WORKBOOK_API_KEY"


@pytest.mark.parametrize(
    ("settings", "given", "missing"),
    [
        ({}, {}, [BASE, KEY]),
        ({BASE: "", KEY: ""}, {}, [BASE, KEY]),
        ({KEY: CANARY}, {}, [BASE]),
        ({BASE: "https://h"}, {}, [KEY]),
        ({}, {"base_url": "https://h"}, [KEY]),
    ],
)
def test_all_missing_settings_are_named_at_once_in_a_notebooks_words(monkeypatch, settings, given, missing):
    for name in (BASE, KEY):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError) as caught:
        session(source="api", **given)
    told = str(caught.value)
    assert f"lacks: {', '.join(missing)}. Set them" in told
    assert ("parameter base_url" in told) is (BASE in missing)
    assert "pass" not in told


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda opened: opened.wire("PUT"), "method is 'PUT'. Known: GET, POST."),
        (lambda opened: opened.wire(answer="5"), "No answer '5'."),
        (lambda opened: opened.platform_b.service(variant="latter"), "No variant 'latter'. Did you mean 'later'?"),
        (lambda opened: opened.exchange(b"output", "PI1"), "came the other way round"),
        (lambda _opened: session("simulated"), "takes globals(), or settings by name, not 'simulated'"),
    ],
)
def test_a_wrong_argument_of_the_desk_is_explained(call, told):
    with pytest.raises(ParameterError) as caught:
        call(session())
    assert told in str(caught.value)


def test_a_lesson_opens_its_session_from_the_settings_of_its_first_cell():
    lesson = {"seed": 3, "variant_a": "before-0.4.0", "another_name": 7}
    lesson["session"] = session(lesson)
    assert lesson["session"].parameters == session(seed=3, variant_a="before-0.4.0").parameters
    assert session(lesson, seed=4).parameters.seed == 4


def test_settings_that_are_refused_leave_no_earlier_session_behind():
    lesson = {"session": session(), "source": "sim"}
    with pytest.raises(ParameterError):
        lesson["session"] = session(lesson)
    assert "session" not in lesson
