"""Fingerprints of signing certificates, from whatever holds them, and the request for allowlisting.

A signing report's text, a certificate (PEM, DER), a keystore (PKCS#12, JKS) and a signed package all come to the same:
the SHA-256 of the certificate, as 32 pairs of capital letters and digits with colons (A-ALLOW-2, A-ALLOW-3). No private
key is used: a JKS keystore does not encrypt its certificates; a PKCS#12 keystore needs its password.
"""

from __future__ import annotations

import io
import json
import re
import struct
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from workbook.base.files import pip_line, read_named, read_regular
from workbook.errors import ConfigurationError, ParameterError

LARGEST = 8 * 1_048_576
"""Bytes of a report, a certificate or a keystore."""
LARGEST_SIGNATURE, LARGEST_DIRECTORY = 1_048_576, 32 * 1_048_576
"""Bytes of a signature in a package, unpacked, and of the package's list of files."""
PASSWORD = "WORKBOOK_KEYSTORE_PASSWORD"  # noqa: S105
ALLOWED = "Name a signing report's text, a certificate (PEM or DER), a keystore (PKCS#12 or JKS), or a signed package."
_FINGERPRINT = re.compile(r"SHA-?256(?:\s+digest)?\s*:\s*((?:[0-9A-Fa-f]{2}:?){32})\b")
_FIELD = re.compile(r"^\s*(Variant|Config|Store|Alias)\s*:\s*(.*?)\s*$", re.MULTILINE)
_DEBUG_STORE = re.compile(r"debug\.keystore\Z|\A\w*debugkey\Z", re.IGNORECASE)
_DEBUG_SUBJECT = re.compile(r"(?=.*\bCN=(\w+) Debug(,|\Z))(?=.*\bO=\1(,|\Z))(?=.*\bC=US(,|\Z))")
_BLOCK_MAGIC, _SCHEMES = b"APK Sig Block 42", {0x7109871A, 0xF05368C0, 0x1B93AD61}
_JKS = b"\xfe\xed\xfe\xed"


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
    try:
        head = read_regular(path, 4)[:4]
    except OSError:
        head = b""  # it is read again, for the error
    content = b"" if head == b"PK\x03\x04" else read_named(path, LARGEST, ALLOWED)
    try:
        if head == b"PK\x03\x04":
            found = [_certificate(der, path.name) for der in _in_package(path)]
        elif head == _JKS:
            found = [_certificate(der, f"{path.name}, alias {alias}", alias) for alias, der in _in_jks(content)]
        elif b"-----BEGIN" in content:
            x509, _more = _library()
            found = [_certificate(_der(one), path.name) for one in x509.load_pem_x509_certificates(content)[:1]]
        elif head[:1] == b"\x30":
            found = _in_der(content, path.name, password)
        else:
            found = list(_in_report(content.decode("utf-8", "replace"), path.name))
    except ConfigurationError:
        raise
    except Exception as error:  # noqa: BLE001 - on broken input the libraries raise whatever their parts raise
        raise ConfigurationError(
            f"{str(path)!r} is broken: {str(error)[:200] or 'it ends too early'}. {ALLOWED}"
        ) from None
    if not found:
        raise ConfigurationError(f"{str(path)!r} holds no certificate and no SHA-256. {ALLOWED}")
    return [replace(one, machine=machine) for one in dict.fromkeys(found)]


def _in_report(text: str, name: str) -> Iterator[SigningCertificate]:
    """A signing report's fingerprints, each below its variant's fields."""
    fields: dict[str, str] = {}
    end = 0
    for match in _FINGERPRINT.finditer(text):
        between = dict(_FIELD.findall(text, end, match.start()))
        fields = between if "Variant" in between else fields | between
        end = match.end()
        line = text.count("\n", 0, match.start()) + 1
        debug = any(_DEBUG_STORE.search(fields.get(key, "")) for key in ("Store", "Alias"))
        debug = debug or _DEBUG_SUBJECT.search(text[max(match.start() - 2000, 0) : match.start()]) is not None
        yield SigningCertificate(normalised(match[1]), name, fields.get("Variant", ""), debug, line=line)


def _certificate(der: bytes, source: str, alias: str = "") -> SigningCertificate:
    x509, _serialization = _library()
    with warnings.catch_warnings():  # a certificate that breaks a rule of its form still has a fingerprint
        warnings.simplefilter("ignore")
        subject = x509.load_der_x509_certificate(der).subject.rfc4514_string()
    debug = bool(_DEBUG_SUBJECT.search(subject) or _DEBUG_STORE.search(alias))
    return SigningCertificate(normalised(sha256(der).hexdigest()), source, debug=debug)


def _library() -> tuple[Any, Any]:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import pkcs7, pkcs12
    except ImportError:
        raise ConfigurationError(f"Certificates are read with a library: {pip_line('preflight')}") from None
    return x509, (pkcs7, pkcs12)


def _der(certificate: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return bytes(certificate.public_bytes(Encoding.DER))


def _in_der(content: bytes, name: str, password: str) -> list[SigningCertificate]:
    """A certificate, or a PKCS#12 keystore: both begin with the same byte."""
    x509, (_pkcs7, pkcs12) = _library()
    try:
        return [_certificate(_der(x509.load_der_x509_certificate(content)), name)]
    except ValueError:
        pass
    try:
        with warnings.catch_warnings():  # as above
            warnings.simplefilter("ignore")
            store = pkcs12.load_pkcs12(content, password.encode() or None)
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

    def number(form: str) -> int:
        return int(struct.unpack(form, data.read(struct.calcsize(form)))[0])

    def block(length: int) -> bytes:
        found = data.read(length)
        if len(found) < length:
            raise ValueError("the keystore ends too early")
        return found

    def certificate(version: int) -> bytes:
        if version == 2:
            block(number(">H"))
        return block(number(">I"))

    number(">I")
    version = number(">I")
    for _entry in range(number(">I")):
        kind, alias = number(">I"), block(number(">H")).decode("utf-8", "replace")
        number(">Q")
        if kind == 1:
            block(number(">I"))
            chain = [certificate(version) for _one in range(number(">I"))]
            yield from ((alias, der) for der in chain[:1])
        elif kind == 2:
            yield alias, certificate(version)
        else:
            raise ValueError(f"an entry of the unknown kind {kind}")


def _in_package(path: Path) -> list[bytes]:
    """The signer's certificate of a signed package: from its signing block, else from the signature in META-INF."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - 65_557, 0))
        tail = file.read()
        at = tail.rfind(b"PK\x05\x06")
        if at < 0 or len(tail) - at < 22:
            raise ValueError("the package has no end")
        length, start = struct.unpack("<II", tail[at + 12 : at + 20])
        if length > LARGEST_DIRECTORY or b"PK\x06\x07" in tail:  # ZIP64 has another list; no package uses it
            raise ValueError("its list of files is too long")
        file.seek(max(start - 24, 0))
        footer = file.read(24)
        if footer.endswith(_BLOCK_MAGIC):
            (block,) = struct.unpack("<Q", footer[:8])
            if not 24 <= block <= min(LARGEST, start):
                raise ValueError("its signing block has a wrong length")
            file.seek(start - block)
            if found := list(_in_block(file.read(block - 24))):
                return found
    return _in_meta_inf(path)


def _in_block(pairs: bytes) -> Iterator[bytes]:
    """The first certificate of each signer in the signing block's pairs of an id and a value."""
    at = 0
    while at + 12 <= len(pairs):
        length, scheme = struct.unpack_from("<QI", pairs, at)
        value = pairs[at + 12 : at + 8 + length]
        if scheme in _SCHEMES:
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
    _x509, (pkcs7, _pkcs12) = _library()
    with zipfile.ZipFile(path) as package:
        for entry in package.infolist():
            if re.fullmatch(r"META-INF/[^/]+\.(RSA|DSA|EC)", entry.filename):
                with package.open(entry) as file:
                    content = file.read(LARGEST_SIGNATURE + 1)
                if len(content) > LARGEST_SIGNATURE:
                    raise ValueError("its signature is too large")
                return [_der(one) for one in pkcs7.load_der_pkcs7_certificates(content)][:1]
    return []


def allowlist_request(
    variants: Iterable[tuple[str, str]], certificates: Sequence[SigningCertificate]
) -> list[Mapping[str, str]]:
    """What to send: one row for each build variant and each certificate that may sign it (A-ALLOW-2, A-ALLOW-4).

    Args:
        variants: the name of each build variant, and its application id.
        certificates: one with a known variant signs that variant only; any other may sign every variant.
    """
    variants = list(variants)
    names = {name for name, _id in variants}
    rows = [
        {
            "applicationId": application_id,
            "sha256": one.fingerprint,
            "variant": name,
            "machine": one.machine or ("a developer's machine" if one.debug else "the release key"),
            "note": "the default debug certificate of one machine" if one.debug else "",
        }
        for name, application_id in variants
        for one in certificates
        if one.variant == name or one.variant not in names
    ]
    return [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]


def read_sent(path: Path) -> frozenset[tuple[str, str]]:
    """The pairs of application id and fingerprint in a request that was written as JSON.

    Raises:
        ConfigurationError: it cannot be read, or is no such request.
    """
    again = "Name what `workbook preflight allowlist-request --json` wrote."
    try:
        content = json.loads(read_named(path, LARGEST, again))
        return frozenset((str(row["applicationId"]), normalised(str(row["sha256"]))) for row in content["request"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigurationError(f"{str(path)!r} is no request for allowlisting. {again}") from None
