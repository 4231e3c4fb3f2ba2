"""The phone: what it can be told, and what it refuses to be told."""

from dataclasses import fields

from workbook.simulation.phones import CAN_PROVISION_FAILURES, PHONES_A, PhoneA


def test_each_named_phone_is_as_its_name_says():
    """The names are what lessons, `conform app` and people choose by."""
    made = {name: phone("PI1") for name, phone in PHONES_A.items()}
    ordinary = PhoneA()
    facts = {
        name: {fact.name: getattr(phone, fact.name) for fact in fields(phone)
               if fact.compare and getattr(phone, fact.name) != getattr(ordinary, fact.name)}
        for name, phone in made.items()
    }  # fmt: skip
    failing = {f"canProvision ends in {name}": {"can_provision": one} for name, one in CAN_PROVISION_FAILURES.items()}
    assert facts == failing | {
        "ready": {},
        "card already in the wallet": {"cards": {"PI1"}},
        "wallet payment not supported": {"wallet_pay_supported": False},
        "app not allowlisted": {"allowlisted": False},
        "card not configured at the scheme": {"scheme_configured": False},
        "identity check pending": {"verification_pending": True},
        "cardholder cancels": {"provision_failure": "Canceled"},
        "wallet times out": {"provision_failure": "Timeout"},
        "no wallet yet": {"provision_failure": "NoActiveWallet"},
        "not certified": {"provision_failure": "AttestationError"},
        "another attempt is open": {"provision_failure": "ProvisioningInProgress"},
    }


def test_an_example_of_each_failure_carries_what_the_document_shows():
    failures = CAN_PROVISION_FAILURES.items()
    carried = {name: {one.name: getattr(event, one.name) for one in fields(event)} for name, event in failures}
    assert carried == {"Error": {"throwable": "IOException"}, "UnknownFailure": {}, "ApiError": {"status_code": 15009}}
