"""Platform B's variants side by side: the document's differences, and a version only where it is known."""

import pytest

from workbook.api.exchange import Options, is_transient
from workbook.flows.extension import EXTENSIONS
from workbook.flows.messages import LIMITS
from workbook.play.own_code import BACK_END_WAIT
from workbook.views.findings import time_limits, variants


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-DEL-1", "B-DEL-2", "X-ART-1", "X-PLIST-2")
def test_every_difference_that_the_document_lists_is_in_the_table():
    rows = {what: (earlier, later) for what, earlier, later in variants().rows}
    assert rows == {
        "availability": ("canAddCard()", "canAddCardDetails(isWatchActivated)"),
        "watch availability": ("none", "WatchAvailability, one instance, activate()"),
        "delegate": ("provision(sdkOutput)", "provision(sdkOutput, paymentInstrumentId)"),
        "card art": ("cardArt(forBrand:)", "cardArt(paymentInstrumentId)"),
        "extension point key": ("NSExtension", "NSExtensionPointIdentifier"),
        "version": ("not shown (GAP-7)", "not shown (GAP-7)"),
    }


def test_the_field_profile_adds_the_versions_with_their_source():
    assert variants("field").rows[-1] == (
        "version",
        "1.0.0 (sdk-b)",
        "2.0.0, with isWatchPaired until 2.0.2; activate() is static from 2.2.1 (sdk-b)",
    )


@pytest.mark.rule("X-PLIST-1", "X-PLIST-3")
def test_the_two_extensions_with_their_keys():
    assert {f"{name}: {key}": value for name, keys in EXTENSIONS.items() for key, value in keys.items()} == {
        "extension: NSExtensionPointIdentifier": "com.<platform>.<kit>.issuer-provisioning",
        "extension: NSExtensionPrincipalClass": "$(PRODUCT_MODULE_NAME).ExtensionHandler",
        "authorization UI: NSExtensionPointIdentifier": "com.<platform>.<kit>.issuer-provisioning.authorization",
        "authorization UI: NSExtensionPrincipalClass": "$(PRODUCT_MODULE_NAME).AuthorizationProvider",
    }


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
def test_every_limit_with_where_it_is_known_from_and_what_missing_it_means():
    rows = [(limit, basis) for _call, limit, basis, missed in time_limits().rows if missed]
    sources = ["X-STATUS-3 (spec)", *2 * ["X-ENTRIES-3 (spec)"], "X-GEN-1 (wallet)", "B-DEL-3 (wallet)"]
    assert rows == list(zip(map(str, LIMITS.values()), sources, strict=True))


@pytest.mark.rule("REL-1", "REL-5", "GAP-2")
def test_the_waits_nest_from_one_answer_to_the_wallet():
    assert [status for status in range(100, 600) if is_transient("GET", status)] == [429, *range(500, 600)]
    waits = [Options().timeouts.get, Options().deadline, BACK_END_WAIT, LIMITS["provision"].seconds]
    assert waits == sorted(waits)
