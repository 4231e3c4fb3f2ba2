"""From a file to the back end that it means, and what was understood in words."""

from pathlib import Path

import pytest

from workbook.base.forms import BadConfigurationError
from workbook.tools.conform.back_end.config import Exports, load_baseline, load_config, no_program, understood
from workbook.tools.conform.back_end.model import BackEndOperation, RelayGroup

FULL = """
base_url = "https://relay.example:8443/v1/"
logs = ["relay.log"]
[get]
method = "POST"
path = "/data"
id = "/card/id"
sdk_input = "/result/0/sdkInput"
[post]
path = "/cards/{id}"
sdk_output = "/sdkOutput"
[platform_b]
encoding = "bytes"
headers = { x-app = { env = "APP_B" } }
[platform_b.get]
sdk_input = "raw"
[platform_b.post]
path = "/b/{id}"
sdk_output = "raw"
sdk_input = "raw"
[headers]
x-version = "1.0"
X-App = { env = "APP_A" }
[[cardholder]]
name = "ann"
cards = ["A", "B"]
session = { authorization = { env = "ANN", prefix = "Bearer " }, cookie = { env = "COOKIE" } }
[[cardholder]]
name = "bob"
cards = ["C"]
[timeouts]
answer = 5
recovery = 2
whole = 60
[groups]
faults = false
form = true
[api]
port = 4711
profile = "field"
seed = 11
key = { env = "KEY" }
[export]
url = "UPSTREAM"
[start]
command = "python relay.py"
"""
ENVIRON = {"APP_A": "app-a", "APP_B": "app-b", "ANN": "ann-secret", "COOKIE": "sid=cookie-secret", "KEY": "k" * 16}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "back-end.toml"
    path.write_text(FULL)
    return load_config(path, ENVIRON)


def test_the_back_end_is_as_the_file_says(config, tmp_path):
    target = config.target
    assert target.base_url == "https://relay.example:8443/v1"
    assert target.surfaces["platform A"].get == BackEndOperation(
        "POST", "/data", "/card/id", None, "/result/0/sdkInput"
    )
    assert target.surfaces["platform A"].post == BackEndOperation(
        "POST", "/cards/{id}", None, "/sdkOutput", "/sdkInput"
    )
    assert target.surfaces["platform B"].get == BackEndOperation("POST", "/data", "/card/id", None, "raw")
    assert target.surfaces["platform B"].post == BackEndOperation("POST", "/b/{id}", None, "raw", "raw")
    assert [surface.decoded for surface in target.surfaces.values()] == [False, True]
    assert target.surfaces["platform B"].headers == (("x-version", "1.0"), ("x-app", "app-b"))
    assert target.cardholders[0].session == (("authorization", "Bearer ann-secret"), ("cookie", "sid=cookie-secret"))
    assert (target.bound, target.logs) == (5.0, (tmp_path / "relay.log",))
    assert (target.without, target.recovery) == ({RelayGroup.FAULTS}, 2.0)


def test_so_is_the_apis_side(config, tmp_path):
    assert (config.api.port, config.api.profile, config.api.seed, config.key) == (4711, "field", 11, "k" * 16)
    assert config.exports == Exports(url="UPSTREAM", key="API_KEY")
    assert (config.start.command, config.start_folder) == ("python relay.py", tmp_path)
    assert (config.timeouts.whole, config.timeouts.start) == (60.0, 30.0)
    assert config.instruments == ("A", "B", "C")


@pytest.mark.rule("REL-2")
def test_only_values_from_the_environment_and_those_that_look_secret_are_secrets(config):
    """A report could not be written if it had to hide "1.0", "platform" or "127.0.0.1"."""
    assert set(config.target.session_secrets()) == {"Bearer ann-secret", "sid=cookie-secret", "app-a", "app-b"}


@pytest.mark.parametrize("word", ["cardholder", "platform", "127.0.0.1", "127.0.0.1:8080"])
def test_a_secret_that_any_report_holds_is_refused(tmp_path, word):
    path = tmp_path / "back-end.toml"
    path.write_text(FULL)
    with pytest.raises(BadConfigurationError, match="the value of ANN is a plain word or an address"):
        load_config(path, ENVIRON | {"ANN": word})


def test_what_was_understood_is_told_in_words_and_without_a_secret(config):
    words = understood(config)
    for told in (
        "https://relay.example:8443/v1",
        "GET: POST /data, the id at /card/id; the answer has the sdkInput at /result/0/sdkInput.",
        "the bytes themselves",
        "Cardholder 'ann': 2 cards (A, B), a session in authorization, cookie.",
        "Cardholder 'bob': 1 card (C), no session.",
        "within 5 s",
        "Left out: faults",
        "http on port 4711 of this machine, profile field, seed 11, the key from the environment",
        "UPSTREAM (address, which ends before /bcl/v2) and API_KEY (key)",
    ):
        assert told in words
    assert not any(value in words or value in repr(config) for value in ENVIRON.values())


def told_of(tmp_path, base_url="http://127.0.0.1:9", start=""):
    path = tmp_path / "back-end.toml"
    path.write_text(f"""base_url = "{base_url}"
[get]
path = "/{{id}}"
[post]
path = "/{{id}}"
sdk_output = "/o"
[[cardholder]]
name = "ann"
cards = ["A"]
{start}""")
    return understood(load_config(path, {}))


def test_each_platforms_opaque_data_is_what_the_api_has_there(tmp_path):
    words = [line.strip() for line in told_of(tmp_path).splitlines() if "Opaque data" in line]
    assert words == ["Opaque data is the API's text.", "Opaque data is the API's base64 text."]


@pytest.mark.parametrize(
    ("url", "told"),
    [("http://127.0.0.1:9", False), ("http://localhost:9", False), ("http://[::1]:9", False),
     ("https://relay.example", True), ("http://192.168.1.2:9", True)],
)  # fmt: skip
def test_a_back_end_on_another_machine_is_told(tmp_path, url, told):
    assert ("It runs on another machine" in told_of(tmp_path, url)) is told


@pytest.mark.parametrize(
    ("command", "missing"),
    [("pyhton relay.py", "pyhton"), ("./relay", "./relay"), ("sh run.sh", ""), ("exec nothing", ""),
     ("A=1 nothing", ""), ("$RUN x", ""), ("'unfinished", ""), ("/bin/sh x", "")],
)  # fmt: skip
def test_a_command_whose_first_word_is_no_program_is_told(tmp_path, command, missing):
    assert no_program(command, tmp_path) == missing
    words = told_of(tmp_path, start=f'[start]\ncommand = "{command}"\n')
    assert (f"There is no program {missing!r}" in words) is bool(missing)


def test_a_scenario_brings_the_cards_that_the_api_answers_for(tmp_path):
    path = tmp_path / "back-end.toml"
    head = 'base_url = "http://h"\nscenario = "every-instrument-state"\n'
    tail = '[get]\npath = "/{id}"\n[post]\npath = "/{id}"\nsdk_output = "/o"\n'
    path.write_text(head + tail)
    (nobody,) = load_config(path, {}).target.cardholders
    path.write_text(f'{head}{tail}[[cardholder]]\nname = "ann"\nsession = {{ x = {{ env = "ANN" }} }}\n')
    (ann,) = load_config(path, ENVIRON).target.cardholders
    assert nobody.cards == ann.cards != ()
    assert (nobody.session, ann.session) == ((), (("x", "ann-secret"),))


def test_one_platform_may_be_all(tmp_path):
    path = tmp_path / "back-end.toml"
    path.write_text(FULL.replace("logs =", 'platforms = ["B"]\nlogs ='))
    assert list(load_config(path, ENVIRON).target.surfaces) == ["platform B"]


@pytest.mark.rule("REL-6")
def test_how_a_failure_is_told_is_said_with_the_other_way(tmp_path):
    assert 'by a status outside 2xx; with failures = "body" a 200' in told_of(tmp_path)
    in_body = 'http://127.0.0.1:9"\nfailures = "body'
    assert "or a 200 whose body has no sdkInput" in told_of(tmp_path, in_body)
    with pytest.raises(BadConfigurationError, match="failures: it cannot be 'both'"):
        told_of(tmp_path, 'http://127.0.0.1:9"\nfailures = "both')


OWN_IDS = """
base_url = "http://127.0.0.1:9"
[get]
path = "/cards/{id}/x"
sdk_input = "/sdkInput"
[post]
path = "/cards/{id}/y"
sdk_output = "/sdkOutput"
sdk_input = "/sdkInput"
[[cardholder]]
name = "ann"
cards = ["c0", { id = "c1", instrument = "PI1" }, { id = "c2", session = { authorization = { env = "OF_C2" } } }]
session = { authorization = { env = "OF_ANN", prefix = "Bearer " }, x-card = { env = "CARD" } }
[api]
tls = true
[start]
proxy = false
[timeouts]
pace = 3
"""


def test_a_card_may_have_another_id_at_the_api_and_a_session_of_its_own(tmp_path):
    (tmp_path / "back-end.toml").write_text(OWN_IDS)
    config = load_config(tmp_path / "back-end.toml", {"OF_C2": "token-2", "OF_ANN": "token-of-{id}", "CARD": "{id}"})
    ann, target = config.target.cardholders[0], config.target
    assert (ann.cards, config.instruments) == (("c0", "c1", "c2"), ("c0", "PI1", "c2"))
    assert ann.session_for("c1") == (("authorization", "Bearer token-of-c1"), ("x-card", "c1"))
    assert ann.session_for("c2") == (("authorization", "token-2"),)
    assert (config.api.tls, target.api_tls, config.start.proxy, target.pace) == (True, True, False, 3.0)
    told = understood(config)
    assert "1 card has another id at the API." in told
    assert "At least 3 s pass between two calls." in told
    assert "API_CA_FILE (authority), API_URL (address, which ends before /bcl/v2) and API_KEY (key)" in told
    secrets = target.session_secrets()
    assert {"Bearer token-of-c1", "token-2"} <= set(secrets)
    assert not {"c0", "c1", "c2"} & set(secrets), "a report without its ids cannot be read"


@pytest.mark.parametrize(
    ("before", "after", "mistake"),
    [
        ('instrument = "PI1"', 'instrument = "c0"', "give a list of payment instrument ids, each once"),
        ('id = "c1"', 'id = "c0"', "give a list of payment instrument ids, each once"),
        ('id = "c1", ', "", "give a list of payment instrument ids, each once"),
        ("tls = true", "tls = 1", "[api] tls: it is 1; give true or false."),
        ("pace = 3", "pace = -1", "[timeouts] pace: it is -1; give seconds from 0 to 60."),
    ],
)
def test_a_mistake_in_a_card_is_told(tmp_path, before, after, mistake):
    (tmp_path / "back-end.toml").write_text(OWN_IDS.replace(before, after))
    environ = {"OF_C2": "a", "OF_ANN": "b", "CARD": "c"}
    with pytest.raises(BadConfigurationError) as caught:
        load_config(tmp_path / "back-end.toml", environ)
    assert any(mistake in one for one in caught.value.mistakes), caught.value.mistakes


def test_a_list_with_an_item_that_nothing_fills_is_refused(tmp_path):
    (tmp_path / "back-end.toml").write_text(OWN_IDS.replace('"/sdkOutput"', '"/args/1"'))
    with pytest.raises(BadConfigurationError, match="Call your back end through an adapter"):
        load_config(tmp_path / "back-end.toml", {"OF_C2": "a", "OF_ANN": "b", "CARD": "c"})


def test_every_mistake_is_told_at_once(tmp_path):
    with pytest.raises(BadConfigurationError) as caught:
        load_config(Path(__file__).parents[4] / "fixtures" / "back_ends" / "wrong.toml", {})
    labels = [one.partition(":")[0] for one in caught.value.mistakes]
    assert {"base_url", "platforms", "[get] path", "[get] sdk_input", "[post] sdk_otput"} <= set(labels)
    assert "[[cardholder]] 1 session authorization" in labels


ADAPTER = """
adapter = "json:loads"
scenario = "every-instrument-state"
platforms = ["A"]
[groups]
budget = false
[api]
port = 4711
"""
HOOK = """
base_url = "https://relay.example"
failures = "body"
[get]
path = "/{id}"
sdk_input = "raw"
[post]
path = "/{id}"
sdk_output = "raw"
[[cardholder]]
name = "ann"
cards = ["A", "B", "C", "D"]
[start]
hook = "http://127.0.0.1:9/start"
"""


def test_what_was_understood_word_for_word(tmp_path, golden):
    environ = ENVIRON | {"OF_C2": "token-2", "OF_ANN": "token-of-{id}", "CARD": "{id}"}
    words = []
    for said in (FULL, OWN_IDS, ADAPTER, HOOK):
        (tmp_path / "back-end.toml").write_text(said)
        words.append(understood(load_config(tmp_path / "back-end.toml", environ)).replace(str(tmp_path), "."))
    golden("understood", "\n\n".join(words))


def test_a_known_failure_needs_its_case_and_a_comment(tmp_path):
    (tmp_path / "known.toml").write_text('[[known]]\ncase = " "\ncomment = "\\t"\n')
    with pytest.raises(BadConfigurationError) as caught:
        load_baseline(tmp_path / "known.toml")
    assert list(caught.value.mistakes) == [
        "[[known]] 1 case: give the name of a case.",
        "[[known]] 1 comment: give a text that says why it fails, and what is done about it.",
    ]
