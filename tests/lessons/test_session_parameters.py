import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ParameterError
from workbook.lessons.session import Parameters, Source, parameter_names


def test_the_defaults_simulate():
    assert Parameters() == Parameters.of() == Parameters.from_strings({})
    assert Parameters().as_papermill() == {
        "source": "simulated",
        "base_url": None,
        "payment_instrument_id": "PISIMULATED00000000000001",
        "variant_a": "from-0.4.0",
        "variant_b": "later",
        "seed": 7,
        "strict": False,
    }


def test_everything_can_be_given_as_text():
    texts = {
        "source": "api",
        "base_url": "https://example.org/base",
        "payment_instrument_id": "0012345",
        "variant_a": "before-0.4.0",
        "variant_b": "earlier",
        "seed": "0042",
        "strict": "True",
    }
    parameters = Parameters.from_strings(texts)
    assert parameters.source is Source.API
    assert parameters.as_papermill() == texts | {"seed": 42, "strict": True}
    assert Parameters.of(**parameters.as_papermill()) == parameters


@pytest.mark.parametrize("name", ["api_key", "key", "x_api_key", "X-API-KEY", "apiKey", "token", "client_secret"])
def test_a_key_is_refused_and_not_echoed(name):
    with pytest.raises(ParameterError, match="WORKBOOK_API_KEY, never from a cell") as caught:
        Parameters.from_strings({name: "canary-key-0123456789"})
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"sed": "9"}, "Did you mean 'seed'"),
        ({"source": "real"}, "Known: api, simulated"),
        ({"variant_a": "0.4.0"}, "Did you mean 'from-0.4.0'"),
        ({"variant_b": "Later"}, "Did you mean 'later'"),
        ({"seed": "7.0"}, "whole number from 0 to 4,294,967,295"),
        ({"seed": "٣"}, "whole number"),
        ({"strict": "yes"}, "strict is 'yes'. Give True or False."),
        ({"payment_instrument_id": ""}, "not empty"),
        ({"payment_instrument_id": " 1"}, "outer spaces"),
        ({"base_url": "https://example.org"}, "while source is 'simulated'"),
        ({"source": "api", "base_url": "example.org"}, "neither the scheme https nor http"),
        ({"source": "api", "base_url": "https://[::1"}, "no valid host and port"),
        ({"source": "api", "base_url": ""}, "not empty"),
    ],
)
def test_a_wrong_value_says_what_is_allowed(values, told):
    with pytest.raises(ParameterError, match=told.replace("(", r"\(")):
        Parameters.from_strings(values)


LONG = "x" * 100_000


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"payment_instrument_id": LONG}, "(100000 characters); allowed: at most 1000 characters, as the API gave it."),
        ({"source": LONG}, "(100000 characters). Known: api, simulated."),
        ({LONG: 1}, "(100000 characters). Known: "),
        ({"seed": 10**5000}, "seed is a whole number of 16610 bits. Give"),
        ({"payment_instrument_id": 10**5000}, "the number a whole number of 16610 bits"),
        ({"seed": -1}, "seed is -1. Give a whole number from 0 to 4,294,967,295."),
        ({"seed": "7"}, "seed is '7'. Give a whole number"),
        ({"payment_instrument_id": 12345}, "quote it in the cell, or use papermill's -r"),
    ],
)
def test_a_message_stays_short_whatever_was_given(values, told):
    with pytest.raises(ParameterError) as caught:
        Parameters.of(**values)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_password_in_the_address_is_refused_and_not_echoed():
    with pytest.raises(ParameterError, match="saved in the file") as caught:
        Parameters.of(source="api", base_url="https://me:canary@example.org")
    assert "canary" not in str(caught.value)


TEXTS = st.sampled_from(["api", "simulated", "from-0.4.0", "https://h", "7", "", "0012345"]) | st.text(max_size=6)
URLS = st.text("htps:/@[]?#%.09a", max_size=8).map("http://".__add__)
ANYTHING = TEXTS | URLS | st.none() | st.integers() | st.floats() | st.booleans() | st.binary(max_size=4)
NAMES = st.sampled_from([*parameter_names(), "api_key", "sed", ""])


def _typed_error_or_parameters(make):
    try:
        parameters = make()
    except ParameterError:
        return
    assert Parameters.of(**parameters.as_papermill()) == parameters


@given(name=NAMES, value=ANYTHING, source=st.sampled_from(["api", "simulated"]))
def test_any_value_gives_parameters_or_a_typed_error(name, value, source):
    _typed_error_or_parameters(lambda: Parameters.of(**{"source": source, name: value}))
