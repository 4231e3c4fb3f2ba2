"""A debug certificate in every form that holds one."""

import io
import struct
import zipfile
from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, pkcs7, pkcs12
from cryptography.x509.oid import NameOID


def debug_pair():
    """A key and its certificate, as a developer machine makes them."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    parts = ((NameOID.COUNTRY_NAME, "US"), (NameOID.ORGANIZATION_NAME, "Phone"), (NameOID.COMMON_NAME, "Phone Debug"))
    name = x509.Name([x509.NameAttribute(*part) for part in parts])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 7, datetime(2026, 1, 1, tzinfo=UTC),
                                      datetime(2056, 1, 1, tzinfo=UTC))  # fmt: skip
    return key, builder.sign(key, hashes.SHA256())


def jks(der, kind=1):
    alias = b"issuer"
    head = struct.pack(">IIIIH", 0xFEEDFEED, 2, 1, kind, len(alias)) + alias + struct.pack(">Q", 0)
    key = struct.pack(">I", 3) + b"key" + struct.pack(">I", 1) if kind == 1 else b""
    return head + key + struct.pack(">H", 5) + b"X.509" + struct.pack(">I", len(der)) + der + b"\0" * 20


def prefixed(data):
    return struct.pack("<I", len(data)) + data


def package(signature=None, block=None):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("classes.dex", b"code")
        if signature:
            file.writestr("META-INF/CERT.RSA", signature)
    content = stream.getvalue()
    if block is None:
        return content
    end = content.rfind(b"PK\x05\x06")
    length, start = struct.unpack("<II", content[end + 12 : end + 20])
    pair = struct.pack("<QI", len(block) + 4, 0x7109871A) + block
    size = len(pair) + 24
    whole = struct.pack("<Q", size) + pair + struct.pack("<Q", size) + b"APK Sig Block 42"
    moved = content[end : end + 16] + struct.pack("<I", start + len(whole)) + content[end + 20 :]
    assert length
    return content[:start] + whole + content[start:end] + moved


def forms(pair, der):
    key, certificate = pair
    signer = prefixed(prefixed(prefixed(b"digests") + prefixed(prefixed(der)) + prefixed(b"attributes")))
    store = pkcs12.serialize_key_and_certificates(
        b"issuer", key, certificate, None, BestAvailableEncryption(b"secret-1")
    )
    signature = (
        pkcs7.PKCS7SignatureBuilder()
        .set_data(b"manifest")
        .add_signer(certificate, key, hashes.SHA256())
        .sign(Encoding.DER, [pkcs7.PKCS7Options.DetachedSignature])
    )
    return {
        "certificate.pem": certificate.public_bytes(Encoding.PEM),
        "certificate.der": der,
        "keystore.p12": store,
        "keystore.jks": jks(der),
        "trusted.jks": jks(der, kind=2),
        "signed-v1.package": package(signature=signature),
        "signed-v2.package": package(block=prefixed(signer)),
    }
