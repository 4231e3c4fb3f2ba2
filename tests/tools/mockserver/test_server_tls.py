"""A throw-away certificate: good for loopback, trusted by nobody who was not told to, and private on the disk."""

import socket
import ssl
import stat
from threading import Thread

import pytest

from workbook.errors import ConfigurationError
from workbook.tools.mockserver.server import make_certificate


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls") / "new")


def shaken_hands(made, name, context):
    """The protocol that a client and a server with this certificate agree on."""
    one, other = socket.socketpair()
    server = Thread(target=_serve, args=(made.context(), other))
    server.start()
    try:
        with context.wrap_socket(one, server_hostname=name) as secure:
            return secure.version()
    finally:
        one.close()
        server.join()


def _serve(context, sock):
    try:
        context.wrap_socket(sock, server_side=True).close()
    except OSError:
        sock.close()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1"])
def test_a_client_that_trusts_the_authority_connects_to_each_loopback_name(made, name):
    assert shaken_hands(made, name, ssl.create_default_context(cafile=made.ca_file)) in {"TLSv1.2", "TLSv1.3"}


@pytest.mark.parametrize(("name", "trusting"), [("example.org", True), ("localhost", False)])
def test_nobody_else_does(made, name, trusting):
    context = ssl.create_default_context(cafile=made.ca_file if trusting else None)
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken_hands(made, name, context)


def test_the_file_is_its_owners_alone(made):
    assert stat.S_IMODE(made.ca_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.ca_file.parent.stat().st_mode) == 0o700


def test_no_private_key_is_on_the_disk_even_after_a_server_has_used_it(made, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made.context()
    assert [path.name for path in made.ca_file.parent.iterdir()] == ["ca.pem"]
    assert "PRIVATE KEY" not in made.ca_file.read_text()
    assert [*tmp_path.iterdir()] == []


def test_a_second_one_replaces_the_first_and_is_another(made, tmp_path):
    folder = tmp_path / "again"
    first = make_certificate(folder).ca_file.read_bytes()
    assert make_certificate(folder).ca_file.read_bytes() != first


def test_a_folder_that_cannot_be_written_is_explained(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigurationError, match="Cannot write the certificate"):
        make_certificate(tmp_path / "file" / "below")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
