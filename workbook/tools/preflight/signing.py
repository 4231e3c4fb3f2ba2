"""Fingerprints of signing certificates, from whatever holds them, and the request for allowlisting.

A signing report's text, a certificate (PEM, DER), a keystore (PKCS#12, JKS) and a signed package all come to the same:
the SHA-256 of the certificate, as 32 pairs of capital letters and digits with colons (A-ALLOW-2, A-ALLOW-3). No private
key is used: a JKS keystore does not encrypt its certificates; a PKCS#12 keystore needs its password.
"""

import io
import json
import re
import struct
import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbook.base.files import read_named, read_regular
from workbook.errors import ConfigurationError, ParameterError

PASSWORD = "WORKBOOK_KEYSTORE_PASSWORD"  # noqa: S105
# Bytes of a report, a certificate, a keystore or the signing block of a package.
MOST_BYTES = 8 * 1_048_576


@dataclass(frozen=True)
class SigningCertificate:
    """A signing certificate.

    Attributes:
        fingerprint: its SHA-256, such as `AB:CD:...`.
        source: the file that it was read from, and the entry there.
        variant: the build variant that it signs; empty where the source does not say it.
        debug: it is the default debug certificate, which each developer machine makes for itself (A-ALLOW-4).
        machine: whose it is, where the user says it.
        line: of a report, where it is.
    """

    fingerprint: str
    source: str
    variant: str = ""
    debug: bool = False
    machine: str = ""
    line: int = 1


def normalised(text: str) -> str:
    """A fingerprint, however it is written, as 32 pairs with colons.

    Raises:
        ParameterError: it is no SHA-256.
    """
    digits = re.sub(r"[\s:]", "", text).upper()
    if not re.fullmatch(r"[0-9A-F]{64}", digits):
        what = "an SHA-1" if re.fullmatch(r"[0-9A-F]{40}", digits) else f"{len(digits)} characters"
        raise ParameterError(f"A fingerprint is a SHA-256, 64 hexadecimal digits; this is {what}.")
    return ":".join(digits[at : at + 2] for at in range(0, 64, 2))


def read_certificates(path: Path, password: str = "", machine: str = "") -> list[SigningCertificate]:
    """Every signing certificate in a file.

    Args:
        path: the file.
        password: of a PKCS#12 keystore.
        machine: whose certificates these are.

    Raises:
        ConfigurationError: it cannot be read, or has no known form.
    """
    allowed = (
        "Name a signing report's text, a certificate (PEM or DER), a keystore (PKCS#12 or JKS), or a signed package."
    )
    try:
        head = read_regular(path, 4)[:4]
    except OSError:
        head = b""  # it is read again, for the error
    is_package = head == b"PK\x03\x04"
    content = b"" if is_package else read_named(path, MOST_BYTES, allowed)
    try:
        found = [*(_in_package(path) if is_package else _in_file(content, path.name, password))]
    except ConfigurationError:
        raise
    except Exception as error:  # noqa: BLE001 - on broken input the libraries raise whatever their parts raise
        raise ConfigurationError(
            f"{str(path)!r} is broken: {str(error)[:200] or 'it ends too early'}. {allowed}"
        ) from None
    if not found:
        raise ConfigurationError(f"{str(path)!r} holds no certificate and no SHA-256. {allowed}")
    return [replace(certificate, machine=machine) for certificate in dict.fromkeys(found)]


def _in_file(content: bytes, name: str, password: str) -> Iterable[SigningCertificate]:
    """What a file holds that is no package; its first bytes say which form it has."""
    if content.startswith(b"\xfe\xed\xfe\xed"):
        return (_certificate(der, f"{name}, alias {alias}", alias) for alias, der in _in_jks(content))
    if b"-----BEGIN" in content:
        from cryptography.x509 import load_pem_x509_certificates

        return (_certificate(_der(pem), name) for pem in load_pem_x509_certificates(content)[:1])
    return _in_der(content, name, password) if content.startswith(b"\x30") else _in_report(content, name)


def _in_report(content: bytes, name: str) -> Iterator[SigningCertificate]:
    """A signing report's fingerprints, each below its variant's fields."""
    text, end, line, counted = content.decode("utf-8", "replace"), 0, 1, 0
    fields: dict[str, str] = {}
    for match in re.finditer(r"SHA-?256(?:\s+digest)?\s*:\s*((?:[0-9A-Fa-f]{2}:?){32})\b", text):
        between = text[end : match.start()]
        said = dict(re.findall(r"^\s*(Variant|Config|Store|Alias)\s*:\s*(.*?)\s*$", between, re.MULTILINE))
        fields = said if "Variant" in said else fields | said
        end = match.end()
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        debug = _is_debug(between[-2000:], fields.get("Store", ""), fields.get("Alias", ""))
        yield SigningCertificate(normalised(match[1]), name, fields.get("Variant", ""), debug, line=line)


def _certificate(der: bytes, source: str, alias: str = "") -> SigningCertificate:
    from cryptography.x509 import load_der_x509_certificate

    with warnings.catch_warnings():  # a certificate that breaks a rule of its form still has a fingerprint
        warnings.simplefilter("ignore")
        subject = load_der_x509_certificate(der).subject.rfc4514_string()
    return SigningCertificate(normalised(sha256(der).hexdigest()), source, debug=_is_debug(subject, alias))


def _is_debug(subject: str, *names: str) -> bool:
    """Whether a certificate's subject, or a keystore's file or alias, is that of the default debug certificate."""
    store = re.compile(r"debug\.keystore\Z|\A\w*debugkey\Z", re.IGNORECASE)
    of_debug = r"(?=.*\bCN=(\w+) Debug(,|\Z))(?=.*\bO=\1(,|\Z))(?=.*\bC=US(,|\Z))"
    return any(map(store.search, names)) or re.search(of_debug, subject) is not None


def _der(certificate: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return bytes(certificate.public_bytes(Encoding.DER))


def _in_der(content: bytes, name: str, password: str) -> list[SigningCertificate]:
    """A certificate, or a PKCS#12 keystore: both begin with the same byte."""
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
    from cryptography.x509 import load_der_x509_certificate

    try:
        return [_certificate(_der(load_der_x509_certificate(content)), name)]
    except ValueError:
        pass
    try:
        with warnings.catch_warnings():  # as above
            warnings.simplefilter("ignore")
            store = load_pkcs12(content, password.encode() or None)
    except ValueError as error:
        if "password" in str(error).lower() or "mac" in str(error).lower():
            wrong = f"does not open with the password in {PASSWORD}: the password is wrong, or the file broken"
            missing = f"needs its password: set {PASSWORD}"
            raise ConfigurationError(f"{name!r} {wrong if password else missing}.") from None
        raise
    entry = store.cert or next(iter(store.additional_certs), None)
    if entry is None:
        return []
    alias = (entry.friendly_name or b"").decode("utf-8", "replace")
    return [_certificate(_der(entry.certificate), f"{name}, alias {alias}" if alias else name, alias)]


def _in_jks(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The first certificate of each entry: in a key's entry, it is the one that signs."""
    data = io.BytesIO(content)

    def block(length: int) -> bytes:
        found = data.read(length)
        if len(found) < length:
            raise ValueError("the keystore ends too early")
        return found

    def number(size: int) -> int:
        return int.from_bytes(block(size), "big")

    def certificate() -> bytes:
        if version == 2:
            block(number(2))  # the name of its form
        return block(number(4))

    block(4)
    version = number(4)
    for _entry in range(number(4)):
        kind, alias = number(4), block(number(2)).decode("utf-8", "replace")
        block(8)  # the time at which it was made
        if kind == 1:
            block(number(4))  # the private key
            chain = [certificate() for _one in range(number(4))]
            yield from ((alias, der) for der in chain[:1])
        elif kind == 2:
            yield alias, certificate()
        else:
            raise ValueError(f"an entry of the unknown kind {kind}")


def _in_package(path: Path) -> list[SigningCertificate]:
    """The signer's certificate of a signed package: from its signing block, else from the signature in META-INF."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 65_557, 0))  # the record at the end, with the longest comment
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < 22:
            raise ValueError("the package has no end")
        length, start = struct.unpack("<II", tail[at + 12 : at + 20])
        if length > 32 * 1_048_576 or b"PK\x06\x07" in tail:  # ZIP64 has another list; no package uses it
            raise ValueError("its list of files is too long")
        file.seek(max(start - 24, 0))
        footer = file.read(24)
        signers: Iterable[bytes] = ()
        if footer.endswith(b"APK Sig Block 42"):
            (block,) = struct.unpack("<Q", footer[:8])
            if not 24 <= block <= min(MOST_BYTES, start):
                raise ValueError("its signing block has a wrong length")
            file.seek(start - block)
            signers = _in_block(file.read(block - 24))
        return [_certificate(der, path.name) for der in [*signers] or _in_meta_inf(path)]


def _in_block(pairs: bytes) -> Iterator[bytes]:
    """The first certificate of each signer in the signing block's pairs of an id and a value."""
    at = 0
    while at + 12 <= len(pairs):
        length, scheme = struct.unpack_from("<QI", pairs, at)
        value = pairs[at + 12 : at + 8 + length]
        if scheme in {0x7109871A, 0xF05368C0, 0x1B93AD61}:  # versions 2, 3 and 3.1 of the signing block
            for signer in _prefixed(next(_prefixed(value), b"")):
                signed = next(_prefixed(signer), b"")
                certificates = [*_prefixed(signed)][1:2]
                yield from (der for listed in certificates for der in [*_prefixed(listed)][:1])
        at += 8 + max(length, 4)


def _prefixed(data: bytes) -> Iterator[bytes]:
    """The parts of a sequence in which each part follows its length, four bytes with the lowest first."""
    at = 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        if at + 4 + length > len(data):
            return
        yield data[at + 4 : at + 4 + length]
        at += 4 + length


def _in_meta_inf(path: Path) -> list[bytes]:
    from cryptography.hazmat.primitives.serialization.pkcs7 import load_der_pkcs7_certificates

    most = 1_048_576  # bytes of a signature, unpacked
    with zipfile.ZipFile(path) as package:
        for entry in package.infolist():
            if re.fullmatch(r"META-INF/[^/]+\.(RSA|DSA|EC)", entry.filename):
                with package.open(entry) as file:
                    content = file.read(most + 1)
                if len(content) > most:
                    raise ValueError("its signature is too large")
                return [_der(signer) for signer in load_der_pkcs7_certificates(content)][:1]
    return []


def allowlist_request(
    variants: Collection[tuple[str, str]], certificates: Sequence[SigningCertificate]
) -> list[Mapping[str, str]]:
    """What to send: one row for each build variant and each certificate that may sign it (A-ALLOW-2, A-ALLOW-4).

    Args:
        variants: the name of each build variant, and its application id.
        certificates: one with a known variant signs that variant only; any other may sign every variant.
    """
    names = {name for name, _id in variants}
    rows = [
        {
            "applicationId": application_id,
            "sha256": certificate.fingerprint,
            "variant": name,
            "machine": certificate.machine or ("a developer's machine" if certificate.debug else "the release key"),
            "note": "the default debug certificate of one machine" if certificate.debug else "",
        }
        for name, application_id in variants
        for certificate in certificates
        if certificate.variant == name or certificate.variant not in names
    ]
    return [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]


def read_sent(path: Path) -> frozenset[tuple[str, str]]:
    """The pairs of application id and fingerprint in a request that was written as JSON.

    Raises:
        ConfigurationError: it cannot be read, or is no such request.
    """
    again = "Name what `workbook preflight allowlist-request --json` wrote."
    try:
        content = json.loads(read_named(path, MOST_BYTES, again))
        return frozenset((str(row["applicationId"]), normalised(str(row["sha256"]))) for row in content["request"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigurationError(f"{str(path)!r} is no request for allowlisting. {again}") from None
