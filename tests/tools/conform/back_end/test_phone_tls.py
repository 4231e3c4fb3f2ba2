"""A back end behind TLS with a CA of its own: its certificate is always verified, and what is wrong with it is told."""

import re
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
import reference
import trustme

from workbook.base.forms import BadConfigurationError
from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import BackEndForm, Config, RunTimeouts, load_config
from workbook.tools.conform.back_end.model import BackEndOperation, Cardholder, Surface, Target
from workbook.tools.conform.back_end.phone import trusting_context
from workbook.tools.conform.back_end.session import conform
from workbook.tools.harness.model import CaseOptions

CARDS = tuple(f"PICONFORM{number:016d}" for number in range(1, 7))
SURFACE = Surface(
    BackEndOperation("GET", "/cards/{id}/activation-data"),
    BackEndOperation("POST", "/cards/{id}/provision", sdk_output="/sdkOutput"),
)
ANN = Cardholder("ann", CARDS, (("authorization", "Bearer session-of-ann-0001"),))
A_FEW = tuple(CASES[name] for name in ("relay.get.path", "relay.post.key-once"))


@pytest.fixture
def authority(tmp_path):
    """A CA, and the file with its certificate."""
    made = trustme.CA()
    made.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    return made, tmp_path / "ca.pem"


@contextmanager
def relayed(side, certificate, asks=None):
    relay = reference.Relay(side.url, side.key, {"session-of-ann-0001": list(CARDS)})
    server = reference.serve(relay)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    if asks:
        context.verify_mode, context.maximum_version = ssl.CERT_REQUIRED, asks
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        relay.api.close()


def tried(certificate, ca_file, asks=None):
    """What a run comes to; `asks`: the version of TLS in which the back end asks for a client certificate."""
    with MockApi(CARDS) as side, relayed(side, certificate, asks) as url:
        target = Target(url, {"platform A": SURFACE}, (ANN,), bound=2.0, ca_file=ca_file)
        return conform(
            Config(target, BackEndForm(timeouts=RunTimeouts(first_call=5))), CaseOptions(cases=A_FEW), api=side
        )


@pytest.mark.slow
def test_a_ca_of_ones_own_is_trusted_where_its_file_says_so(authority):
    made, ca_file = authority
    record = tried(made.issue_cert("localhost"), ca_file)
    assert ([case.verdict for case in record.cases], record.about.trouble) == (["pass", "pass"], "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("certificate", "ours", "told"),
    [
        (lambda ca: ca.issue_cert("localhost"), False, "unable to get local issuer certificate"),
        (lambda ca: ca.issue_cert("relay.example"), True, "hostname mismatch"),
        (lambda ca: ca.issue_cert("localhost", not_after=datetime(2020, 1, 1, tzinfo=UTC)), True, "has expired"),
    ],
)
def test_a_certificate_that_does_not_hold_is_told_and_nothing_is_sent(authority, certificate, ours, told):
    made, ca_file = authority
    record = tried(certificate(made), ca_file if ours else None)
    assert record.about.exit_code == 2
    assert "the back end's certificate does not hold (" in record.about.trouble
    assert told in record.about.trouble
    assert "give the CA's certificate with ca_file." in record.about.trouble
    assert {case.verdict for case in record.cases} == {"not looked at"}


@pytest.mark.slow
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_back_end_that_asks_for_a_client_certificate_is_told_as_that(authority, version):
    made, ca_file = authority
    record = tried(made.issue_cert("localhost"), ca_file, version)
    assert record.about.exit_code == 2
    assert re.search("(asks|Does it ask) for a client certificate(: not|. That is not) supported", record.about.trouble)


@pytest.mark.slow
def test_nobody_waits_for_a_first_call_that_no_waiting_helps(authority):
    made, _ca_file = authority
    with MockApi(CARDS) as other, relayed(other, made.issue_cert("localhost")) as url:
        target = Target(url, {"platform A": SURFACE}, (ANN,), bound=2.0)
        record = conform(Config(target, BackEndForm(timeouts=RunTimeouts(first_call=3000))), CaseOptions(cases=A_FEW))
    assert "certificate does not hold" in record.about.trouble


def test_the_file_is_part_of_the_configuration(authority):
    path = authority[1].parent / "back-end.toml"
    text = """
base_url = "https://relay.example"
ca_file = "ca.pem"
[get]
path = "/{id}"
[post]
path = "/{id}"
sdk_output = "/o"
[[cardholder]]
name = "ann"
cards = ["A"]
"""
    path.write_text(text)
    config = load_config(path, {})
    assert config.target.ca_file == authority[1]
    for change, told in (
        (("https:", "http:"), "ca_file: base_url is without TLS."),
        (('"ca.pem"', '"no.pem"'), "No such file or directory. Give a file with certificates in PEM"),
        (('"ca.pem"', '"back-end.toml"'), "ca_file: no certificate is in "),
    ):
        path.write_text(text.replace(*change))
        with pytest.raises(BadConfigurationError) as error:
            load_config(path, {})
        assert told in str(error.value)
        assert len(error.value.mistakes) == 1


def test_a_file_that_changes_is_read_anew(authority, tmp_path):
    path = tmp_path / "changing.pem"
    path.write_bytes(authority[1].read_bytes())
    assert trusting_context(path) is trusting_context(path)
    path.write_text("nothing")
    with pytest.raises(ConfigurationError, match="no certificate is in"):
        trusting_context(path)
