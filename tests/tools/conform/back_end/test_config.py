"""From a file to the back end that it means, and the file as it was read."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from workbook.base.forms import BadConfigurationError
from workbook.tools.conform.back_end.config import BackEndForm, Exports, as_toml, load_config
from workbook.tools.conform.back_end.model import BackEndOperation

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
    assert target.recovery == 2.0


def test_so_is_the_apis_side(config, tmp_path):
    assert (config.form.api.port, config.form.api.profile, config.form.api.seed, config.key) == (
        4711,
        "field",
        11,
        "k" * 16,
    )
    assert config.form.export == Exports(url="UPSTREAM", key="API_KEY")
    assert (config.form.start.command, config.start_folder) == ("python relay.py", tmp_path)
    assert (config.form.timeouts.whole, config.form.timeouts.start) == (60.0, 30.0)
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


def test_the_configuration_is_printed_as_it_was_read_with_the_defaults_and_without_a_secret(config):
    text = as_toml(config)
    read = tomllib.loads(text)
    assert read["get"] == {"method": "POST", "path": "/data", "id": "/card/id", "sdk_input": "/result/0/sdkInput"}
    assert read["platform_b"]["post"]["sdk_input"] == "raw"
    assert read["cardholder"][0]["session"]["authorization"] == {"env": "ANN", "prefix": "Bearer "}
    assert (read["timeouts"]["answer"], read["timeouts"]["pace"]) == (5.0, 0.0)
    assert read["export"] == {"url": "UPSTREAM", "key": "API_KEY", "ca": "API_CA_FILE", "port": "PORT"}
    assert read["start"].keys() == {"folder"}, "a secret may stand in a command"
    assert not any(value in text or value in repr(config) for value in ENVIRON.values())


def test_the_template_is_in_order_and_explains_every_key_at_the_top():
    template = files("workbook.tools.conform.back_end") / "back-end.toml"
    config = load_config(template, {"CARDHOLDER_SESSION": "session-of-ann-7d1f"})
    assert (config.target.base_url, len(config.target.cardholders[0].cards)) == ("http://127.0.0.1:8080", 6)
    text = template.read_text("utf-8")
    shown = (
        re.search(rf"^(# )?(\[+{key}[].]|{key} = )|: {key} = ", text, re.MULTILINE) for key in BackEndForm.model_fields
    )
    assert all(shown)


def test_port_0_is_a_free_port_that_the_command_gets(tmp_path):
    path = tmp_path / "back-end.toml"
    path.write_text(FULL.replace(":8443/v1/", ":0/v1/"))
    config = load_config(path, ENVIRON)
    assert config.port > 0
    assert config.target.base_url == f"https://relay.example:{config.port}/v1"
    assert load_config(path, ENVIRON).form.base_url == "https://relay.example:0/v1/"


def test_one_platform_may_be_all(tmp_path):
    path = tmp_path / "back-end.toml"
    path.write_text(FULL.replace("logs =", 'platforms = ["B"]\nlogs ='))
    assert list(load_config(path, ENVIRON).target.surfaces) == ["platform B"]


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
    assert (config.form.api.tls, target.api_tls, target.pace) == (True, True, 3.0)
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


def test_every_mistake_is_told_at_once(tmp_path):
    with pytest.raises(BadConfigurationError) as caught:
        load_config(Path(__file__).parents[4] / "fixtures" / "back_ends" / "wrong.toml", {})
    labels = [one.partition(":")[0] for one in caught.value.mistakes]
    assert {"base_url", "platforms", "[get] path", "[get] sdk_input", "[post] sdk_otput"} <= set(labels)
    assert "[[cardholder]] 1 session authorization" in labels
