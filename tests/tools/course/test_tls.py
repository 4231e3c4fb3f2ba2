"""The room's certificate: made once for an address, or given; its fingerprint is the one that a browser shows."""

import hashlib
import ssl
from datetime import UTC, datetime

import pytest
import trustme
from cryptography import x509

from workbook.errors import ConfigurationError
from workbook.tools.course.tls import certify, own_address


def test_one_is_made_once_for_each_address_and_only_its_owner_reads_the_key(tmp_path):
    file = tmp_path / "board.pem"
    first = certify(file, "127.0.0.1")
    assert certify(file, "127.0.0.1") == first
    assert certify(file, "192.0.2.7") != first
    assert file.stat().st_mode & 0o777 == 0o600
    assert "PRIVATE" not in (tmp_path / "board.ca.pem").read_text()
    made, *_issuers = x509.load_pem_x509_certificates(file.read_bytes())
    assert 700 < (made.not_valid_after_utc - datetime.now(UTC)).days < 825


def test_a_given_one_is_kept_with_its_fingerprint(tmp_path):
    leaf = trustme.CA().issue_cert("room.example")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    leaf.cert_chain_pems[0].write_to_path(cert)
    leaf.private_key_pem.write_to_path(key)
    der = ssl.PEM_cert_to_DER_cert(cert.read_text())
    assert certify(tmp_path / "board.pem", "h", (cert, key)).replace(":", "") == hashlib.sha256(der).hexdigest().upper()
    with pytest.raises(ConfigurationError, match="are no certificate and its key"):
        certify(tmp_path / "board.pem", "h", (key, cert))
    with pytest.raises(ConfigurationError, match="are no certificate and its key"):
        certify(tmp_path / "board.pem", "h", (tmp_path / "nowhere", key))


def test_this_machine_has_an_address():
    assert own_address().count(".") == 3
