"""ECC V2 as public sources suggest it: the wallet's request, and an answer that only this wallet opens.

On platform B the wallet gives certificates, a nonce and its signature. The answering side makes a key pair on P-256 for
each answer, agrees on a secret with the key of the leaf certificate (ECDH), derives a key from it (X9.63 with SHA-256),
and encrypts with AES-256-GCM. The names of the fields and these steps are *inferred*. What the certificates say, what
is signed and by which key, the shared info, the initialisation vector and what is encrypted are *assumed*.

Every key comes from the simulator's seed, so the bytes are the same in each run; they protect nothing. The profile
`field` alone uses this, and loads its library when the first bytes are made.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b, sha256
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple

from workbook.api.opaque import LAYERS, MARK, decode_strictly, json_object, wrong_layer
from workbook.base.files import pip_line
from workbook.errors import ConfigurationError

# Assumed. A vector of zeros is safe where, as here, each key encrypts once.
SHARED_INFO, VECTOR = b"workbook: simulated ECC V2", bytes(12)


@cache
def _library() -> Any:
    """The parts of `cryptography`, loaded when the first of them is needed."""
    try:
        from cryptography import exceptions, x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.kdf.x963kdf import X963KDF
    except ImportError:
        raise ConfigurationError(
            f"The profile field makes real signatures and keys with a library: {pip_line('preflight')}"
        ) from None
    return SimpleNamespace(
        exceptions=exceptions, x509=x509, hashes=hashes, serialization=serialization, ec=ec, AESGCM=AESGCM,
        X963KDF=X963KDF,
    )  # fmt: skip


def _private(seed: int, *what: object) -> Any:
    """The private key on P-256 that this seed and these words decide."""
    ec = _library().ec
    digest = blake2b(" ".join(map(str, ("workbook ECC V2", seed, *what))).encode(), digest_size=64).digest()
    points = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of P-256; a key is a number below it
    return ec.derive_private_key(int.from_bytes(digest, "big") % (points - 1) + 1, ec.SECP256R1())


@cache
def _certificates(seed: int) -> tuple[bytes, bytes]:
    """The throw-away wallet's leaf certificate, and the root that signed it, in DER."""
    x509, hashes, serialization = (lib := _library()).x509, lib.hashes, lib.serialization
    made, valid = [], (datetime(2026, 1, 1, tzinfo=UTC), datetime(2056, 1, 1, tzinfo=UTC))
    for number, who in enumerate(("root", "leaf"), 1):
        subject, issuer = (
            x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"SIMULATED wallet {name}, {MARK}")])
            for name in (who, "root")
        )
        key = _private(seed, who).public_key()
        builder = x509.CertificateBuilder(issuer, subject, key, number, *valid)
        signed = builder.sign(_private(seed, "root"), hashes.SHA256(), ecdsa_deterministic=True)
        made.append(signed.public_bytes(serialization.Encoding.DER))
    return made[1], made[0]


class WalletRequest(NamedTuple):
    """What the wallet hands to the SDK for one attempt, as bytes."""

    certificates: Sequence[bytes]
    nonce: bytes
    signature: bytes

    def fields(self) -> dict[str, Any]:
        """The fields of the sdkOutput."""
        certificates = [_text(certificate) for certificate in self.certificates]
        return {"certificates": certificates, "nonce": _text(self.nonce), "nonceSignature": _text(self.signature)}


def wallet_request(seed: int, attempt: int) -> WalletRequest:
    """The request of the throw-away wallet that goes with this seed.

    Raises:
        ConfigurationError: the library is not installed.
    """
    ec, hashes = (lib := _library()).ec, lib.hashes
    nonce = sha256(f"nonce {seed} {attempt}".encode()).digest()[:8]
    signature = _private(seed, "leaf").sign(nonce, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    return WalletRequest(_certificates(seed), nonce, signature)


def answer(request: Mapping[str, Any], seed: int, payment_instrument_id: str, serial: int) -> dict[str, str]:
    """The fields of the POST's sdkInput for an sdkOutput with these fields.

    Args:
        request: the fields of the sdkOutput.
        seed: decides the ephemeral key.
        payment_instrument_id: what the answer is for.
        serial: its number among the answers for this instrument.

    Raises:
        ValueError: a field is no base64, or the first certificate cannot be read or has no key on P-256.
        ConfigurationError: the library is not installed.
    """
    lib = _library()
    leaf, on_curve, _subject = _certificate(b64decode(request["certificates"][0], validate=True))
    if not on_curve:
        raise ValueError("the leaf certificate has no key on P-256")
    claims = {"simulated": MARK, "paymentInstrumentId": payment_instrument_id}
    secret = claims | {
        name: request[name] for name in ("nonce", "nonceSignature")
    }  # binds the pass to this attempt (assumed)
    private = _private(seed, "ephemeral", payment_instrument_id, serial)
    point = private.public_key().public_bytes(
        lib.serialization.Encoding.X962, lib.serialization.PublicFormat.UncompressedPoint
    )
    encrypted = lib.AESGCM(_derived(private, leaf.public_key())).encrypt(VECTOR, json.dumps(secret).encode(), None)
    return {
        "activationData": _text(json.dumps(claims).encode()),
        "encryptedPassData": _text(encrypted),
        "ephemeralPublicKey": _text(point),
    }


def _certificate(der: bytes) -> tuple[Any, bool, str]:
    """A certificate, whether its key is on P-256, and its subject; the library reads each when it is asked for.

    Raises:
        ValueError: one of them cannot be read.
    """
    lib = _library()
    try:
        certificate = lib.x509.load_der_x509_certificate(der)
        curve = getattr(certificate.public_key(), "curve", None)
        return certificate, isinstance(curve, lib.ec.SECP256R1), certificate.subject.rfc4514_string()
    except (ValueError, TypeError, lib.exceptions.UnsupportedAlgorithm, lib.x509.InvalidVersion):
        raise ValueError("the leaf is no certificate in DER") from None


def _derived(private: Any, public: Any) -> bytes:
    """The key of AES that both sides come to."""
    lib = _library()
    shared = private.exchange(lib.ec.ECDH(), public)
    return bytes(lib.X963KDF(lib.hashes.SHA256(), 32, SHARED_INFO).derive(shared))


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")


class Unwrap(NamedTuple):
    """One step from a field to what is in it.

    Attributes:
        name: the field, or what is done with it.
        says: what there is, or what is wrong with it, without a value.
        source: where the step is known from.
        wrong: whether it ends here.
        shown: the bytes or the text that it comes to; only of the simulator's own data.
    """

    name: str
    says: str
    source: str = "inferred"
    wrong: bool = False
    shown: str = ""


class _Wrong(Exception):  # noqa: N818  # a step on its way out, not an error of ours
    """The step that cannot be made."""

    def __init__(self, name: str, says: str, source: str = "inferred") -> None:
        super().__init__(says)
        self.step = Unwrap(name, says, source, wrong=True)


def follow(fields: Mapping[str, Any], seed: int) -> Iterator[Unwrap]:
    """Every step through an sdkOutput or a POST's sdkInput of platform B, up to the first that is wrong.

    What the simulator made is followed to its end with the throw-away wallet's key. Of anything else only the
    form is checked: nobody but the wallet has the key. None of its values is shown.

    Raises:
        ConfigurationError: the library is not installed.
    """
    ours = fields.get("simulated") == MARK
    steps = _through_request(fields) if "certificates" in fields else _through_answer(fields, seed, ours=ours)
    try:
        yield from steps if ours else (step._replace(shown="") for step in steps)
    except _Wrong as wrong:
        yield wrong.step


def why_not_opened(fields: Mapping[str, Any], seed: int) -> str:
    """Why the throw-away wallet cannot open an answer; empty where it can."""
    *_before, last = follow(fields, seed)
    return f"{last.name}: {last.says}" if last.wrong else ""


def _through_request(fields: Mapping[str, Any]) -> Iterator[Unwrap]:
    lib, listed = _library(), fields["certificates"]
    if not isinstance(listed, list) or not listed:
        raise _Wrong("certificates", "not a list of certificates, the leaf first")
    certificates = []
    for number, text in enumerate(listed[:10], 1):
        der, name = _bytes(f"certificates[{number}]", text), f"certificates[{number}]"
        try:
            certificate, on_curve, subject = _certificate(der)
        except ValueError:
            raise _Wrong(name, f"{len(der)} bytes that are no certificate in DER") from None
        certificates.append(certificate)
        if number == 1 and not on_curve:
            raise _Wrong(name, "a leaf without a key on P-256, which ECC V2 needs")
        says = f"{len(der)} bytes, {'the leaf' if number == 1 else 'a certificate'}{', P-256' if on_curve else ''}"
        yield Unwrap(name, says, shown=subject)
    for number, (inner, outer) in enumerate(pairwise(certificates), 1):
        try:
            inner.verify_directly_issued_by(outer)
        except (ValueError, TypeError, lib.exceptions.InvalidSignature):
            raise _Wrong(f"certificates[{number}]", f"not signed by certificates[{number + 1}]") from None
    nonce, signature = (_bytes(name, fields.get(name)) for name in ("nonce", "nonceSignature"))
    yield Unwrap("chain", f"each of {len(certificates)} certificates but the last is signed by the next")
    yield Unwrap("nonce", f"{len(nonce)} bytes", shown=nonce.hex())
    yield Unwrap("nonceSignature", f"{len(signature)} bytes", shown=signature.hex())
    if fields.get("simulated") == MARK:
        try:
            certificates[0].public_key().verify(signature, nonce, lib.ec.ECDSA(lib.hashes.SHA256()))
        except lib.exceptions.InvalidSignature:
            raise _Wrong("signature", "it is not the leaf key's signature of this nonce", "assumed") from None
        yield Unwrap("signature", "of the nonce, by the leaf's key: ECDSA with SHA-256", "assumed")


def _through_answer(fields: Mapping[str, Any], seed: int, *, ours: bool) -> Iterator[Unwrap]:
    lib = _library()
    if "wrappedKey" in fields and "ephemeralPublicKey" not in fields:
        raise _Wrong("wrappedKey", "belongs to another scheme; ECC V2 has ephemeralPublicKey (catalogue 34)")
    names = ("activationData", "encryptedPassData", "ephemeralPublicKey")
    activation, encrypted, point = (_bytes(name, fields.get(name)) for name in names)
    yield Unwrap("activationData", f"{len(activation)} bytes", shown=activation.decode("utf-8", "replace"))
    yield Unwrap("encryptedPassData", f"{len(encrypted)} bytes", shown=encrypted.hex())
    try:
        public = lib.ec.EllipticCurvePublicKey.from_encoded_point(lib.ec.SECP256R1(), point)
    except ValueError:
        raise _Wrong("ephemeralPublicKey", "no point on P-256, which has 65 bytes and begins with 04") from None
    yield Unwrap("ephemeralPublicKey", f"{len(point)} bytes, a point on P-256", shown=point.hex())
    if not ours:
        yield Unwrap("ECDH", "only the wallet has the key to go on")
        return
    yield Unwrap("ECDH", "with the throw-away wallet's key, a secret of 32 bytes")
    key = _derived(_private(seed, "leaf"), public)
    yield Unwrap("X9.63", "with SHA-256, a key of 32 bytes; the shared info is assumed", shown=key.hex())
    try:
        content = lib.AESGCM(key).decrypt(VECTOR, encrypted, None)
    except (lib.exceptions.InvalidTag, ValueError):
        why = "does not open: the key, the data or the tag (its last 16 bytes) is wrong"
        raise _Wrong("AES-256-GCM", f"{why}, or the seed is not {seed}") from None
    yield Unwrap("AES-256-GCM", f"opens: {len(content)} bytes, and a tag of 16", shown=content.decode())
    of = [(json_object(part) or {}).get("paymentInstrumentId") for part in (activation, content)]
    if of[0] != of[1]:
        raise _Wrong("activationData", "of another payment instrument than the encrypted data", "assumed")


def _bytes(name: str, value: Any) -> bytes:
    """The bytes of a field in base64.

    Raises:
        _Wrong: it is something else.
    """
    if not isinstance(value, str):
        raise _Wrong(name, "missing" if value is None else "not base64 text")
    if re.fullmatch("([0-9a-f]{2}|[0-9A-F]{2}){6,}", value):  # fewer characters may well be base64
        raise _Wrong(name, "hexadecimal; base64 is wanted (catalogue 35)")
    data = decode_strictly(value)
    if not data:
        layer = wrong_layer(value) or "alphabet"
        raise _Wrong(name, f"{layer}: {LAYERS[layer]}")
    return data
