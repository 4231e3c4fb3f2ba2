"""ECC V2 (inferred): real cryptography, the same bytes in each run, and each damage found at its step."""

import json
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.flows.extension import State
from workbook.flows.platform_b import State as StateB
from workbook.play.extension.wallet_app import WalletApp
from workbook.play.platform_b import PlatformBRun, opened_phone
from workbook.simulation import ecc_v2
from workbook.simulation.ecc_v2 import answer, follow, wallet_request, why_not_opened
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request
from workbook.simulation.phones import PhoneB
from workbook.simulation.seal import Content, Genuine, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, World
from workbook.tools.mockserver.mock import fresh_output

MARKED = {"simulated": "not card data"}
FIRST = INSTRUMENT_IDS[0]
REQUEST = wallet_request(7, 1).fields()
ANSWER = answer(REQUEST, 7, FIRST, 1)


def names(fields, seed=7):
    return [(step.name, step.wrong) for step in follow(MARKED | fields, seed)]


PLACES = st.integers(0, 2000)


def changed(text, at=-1):
    data = bytearray(b64decode(text))
    data[at % len(data)] ^= 1
    return b64encode(data).decode()


def test_the_bytes_are_the_same_in_each_run_and_others_with_another_seed_or_attempt():
    assert wallet_request(7, 1).fields() == REQUEST
    assert answer(REQUEST, 7, FIRST, 1) == ANSWER
    assert wallet_request(7, 2).fields()["nonce"] != REQUEST["nonce"]
    assert wallet_request(8, 1).fields()["certificates"] != REQUEST["certificates"]
    assert answer(REQUEST, 7, FIRST, 2)["ephemeralPublicKey"] != ANSWER["ephemeralPublicKey"]


def test_another_program_comes_to_the_same_key_by_the_standards_words(monkeypatch):
    """X9.63: the hash of the secret, a counter from 1 in four bytes, and the shared info."""
    own = ec.generate_private_key(ec.SECP256R1())
    monkeypatch.setattr(ecc_v2, "_private", lambda *_what: own)
    ecc_v2._certificates.cache_clear()
    fields = answer(wallet_request(99, 1).fields(), 99, FIRST, 1)
    ecc_v2._certificates.cache_clear()
    point = b64decode(fields["ephemeralPublicKey"])
    secret = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point))
    key = sha256(secret + (1).to_bytes(4, "big") + ecc_v2.SHARED_INFO).digest()
    opened = json.loads(AESGCM(key).decrypt(bytes(12), b64decode(fields["encryptedPassData"]), None))
    assert opened["paymentInstrumentId"] == FIRST
    with pytest.raises(InvalidTag):
        AESGCM(key).decrypt(bytes(12), b64decode(changed(fields["encryptedPassData"])), None)


def test_a_request_is_followed_to_its_signature_and_an_answer_to_what_it_holds():
    assert [name for name, wrong in names(REQUEST) if not wrong] == [
        "certificates[1]", "certificates[2]", "chain", "nonce", "nonceSignature", "signature"]  # fmt: skip
    *_before, last = follow(MARKED | ANSWER, 7)
    assert last.name == "AES-256-GCM"
    assert json.loads(last.shown) == MARKED | {"paymentInstrumentId": FIRST} | {
        name: REQUEST[name] for name in ("nonce", "nonceSignature")
    }


def on_another_curve():
    key, name = ec.generate_private_key(ec.SECP384R1()), x509.Name([])
    valid = datetime(2026, 1, 1, tzinfo=UTC), datetime(2056, 1, 1, tzinfo=UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, *valid)
    return b64encode(builder.sign(key, hashes.SHA256()).public_bytes(Encoding.DER)).decode()


@pytest.mark.parametrize(
    ("fields", "step", "says"),
    [
        (REQUEST | {"certificates": []}, "certificates", "not a list"),
        (REQUEST | {"certificates": ["AAAA"]}, "certificates[1]", "no certificate in DER"),
        (REQUEST | {"certificates": [on_another_curve()]}, "certificates[1]", "without a key on P-256"),
        (REQUEST | {"certificates": REQUEST["certificates"][::-1]}, "certificates[1]", "not signed by"),
        (REQUEST | {"nonce": b64decode(REQUEST["nonce"]).hex()}, "nonce", "hexadecimal"),
        (REQUEST | {"nonce": REQUEST["nonce"].rstrip("=")}, "nonce", "padding"),
        (
            REQUEST | {"nonce": changed(REQUEST["nonce"])},
            "signature",
            "it is not the leaf key's signature of this nonce",
        ),
        (REQUEST | {"nonceSignature": 7}, "nonceSignature", "not base64 text"),
        (ANSWER | {"ephemeralPublicKey": None}, "ephemeralPublicKey", "missing"),
        (ANSWER | {"ephemeralPublicKey": changed(ANSWER["ephemeralPublicKey"])}, "ephemeralPublicKey", "no point"),
        ({"wrappedKey": "AAAA", **{k: v for k, v in ANSWER.items() if k != "ephemeralPublicKey"}}, "wrappedKey", "34"),
        (ANSWER | {"encryptedPassData": changed(ANSWER["encryptedPassData"])}, "AES-256-GCM", "does not open"),
        (ANSWER | {"encryptedPassData": "AAAA"}, "AES-256-GCM", "does not open"),
        (ANSWER | {"activationData": "e30="}, "activationData", "another payment instrument"),
    ],
)
def test_what_is_wrong_is_found_at_its_step(fields, step, says):
    *_before, last = follow(MARKED | fields, 7)
    assert (last.name, last.wrong) == (step, True)
    assert says in last.says


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_a_field_is_the_steps_end_without_an_error(data):
    fields = dict(data.draw(st.sampled_from([REQUEST, ANSWER])))
    name = data.draw(st.sampled_from([*fields]))
    good = fields[name][0] if name == "certificates" else fields[name]
    wrong = data.draw(st.sampled_from([None, 7, [], {}, "", "é", True]) | st.builds(changed, st.just(good), PLACES))
    fields[name] = [wrong] if name == "certificates" else wrong
    steps = [*follow(data.draw(st.sampled_from([MARKED, {}])) | fields, 7)]
    assert not any(step.wrong for step in steps[:-1])


def test_a_certificate_of_an_unknown_version_or_with_a_broken_subject_is_none():
    der = wallet_request(7, 1).certificates[0]
    version = der.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x03")
    at = der.index(b"SIMULATED wallet leaf") - 2  # its tag, and its length
    subject = der[:at] + b"\x02" + der[at + 1 :]
    for wrong in (version, subject):
        assert wrong != der
        text = b64encode(wrong).decode()
        assert names(REQUEST | {"certificates": [text]}) == [("certificates[1]", True)]


def test_another_wallet_does_not_open_it():
    assert why_not_opened(MARKED | ANSWER, 7) == ""
    assert why_not_opened(MARKED | ANSWER, 8).startswith("AES-256-GCM: does not open")


def test_of_what_the_simulator_did_not_make_no_value_is_shown_and_no_key_is_tried():
    for fields in (REQUEST, ANSWER):
        steps = [*follow(fields, 7)]
        assert [step.shown for step in steps if step.shown] == []
        assert not any(step.wrong for step in steps)
        assert "AES-256-GCM" not in [step.name for step in steps]


def post(output, profile="field"):
    service = Service(World(profile=profile))
    body = json.dumps({"sdkOutput": output}).encode()
    headers = (*JSON_HEADERS, ("x-api-key", SIMULATED_KEY))
    return service.respond(Request("POST", f"{BEFORE_ID}{FIRST}{AFTER_ID}", headers, body))


def test_the_service_answers_a_request_of_the_wallet_in_its_structure_and_the_mark_stays():
    answered = json.loads(post(fresh_output(world=World(profile="field"), platform="b")).body)["sdkInput"]
    sealed = Seal(7).open(answered)
    assert isinstance(sealed, Genuine)
    assert {"activationData", "encryptedPassData", "ephemeralPublicKey"} < set(sealed.claims)
    assert [*json.loads(b64decode(answered))][:2] == ["simulated", "kind"]
    for other in (fresh_output(world=World(profile="field")), fresh_output(platform="b")):
        plain = Seal(7).open(json.loads(post(other).body)["sdkInput"])
        assert not {"activationData", "encryptedPassData", "ephemeralPublicKey"} & set(plain.claims)


@pytest.mark.parametrize("certificate", ["AAAA", "not base64", on_another_curve()])
def test_an_sdk_output_with_another_certificate_is_refused(certificate):
    output = Seal(7).close(Content.OUTPUT, FIRST, 1, attempt=1, **REQUEST | {"certificates": [certificate]})
    answered = post(output)
    assert answered.status != 200
    assert b"The sdkOutput cannot be used" in answered.body


@pytest.mark.rule("B-START-1", "X-GEN-1")
def test_a_card_is_added_over_it_in_the_app_and_in_the_wallet():
    run = PlatformBRun(phone=PhoneB(profile="field"))
    run.walk()
    assert run.state is StateB.IN_WALLET
    phone = opened_phone()
    phone.profile = "field"
    host = WalletApp(phone=phone)
    host.walk()
    assert host.state is State.ADDED
