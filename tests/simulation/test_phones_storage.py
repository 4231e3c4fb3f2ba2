"""The secure storage: bytes in, the same bytes out, and none of them printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import OpaqueDataError
from workbook.simulation.phones import SecureStorage


@pytest.mark.rule("X-CACHE-1", "API-8")
def test_what_was_saved_is_there_in_the_order_in_which_it_was_saved_first():
    storage = SecureStorage()
    storage.save("PI2", b"two")
    storage.save("PI1", b"one")
    storage.save("PI2", b"new")
    assert list(storage.values().items()) == [("PI2", b"new"), ("PI1", b"one")]


def test_what_is_read_is_a_copy():
    storage = SecureStorage()
    storage.save("PI1", b"one")
    storage.values().clear()
    assert storage.values() == {"PI1": b"one"}


@pytest.mark.rule("API-8")
@pytest.mark.parametrize("wrong", ["text", None, 5, bytearray(b"x"), [b"x"]])
def test_what_is_not_bytes_is_refused_and_changes_nothing(wrong):
    storage = SecureStorage()
    storage.save("PI1", b"one")
    with pytest.raises(OpaqueDataError, match=rf"sdkInput's bytes \(API-8\), not {type(wrong).__name__}\.") as caught:
        storage.save("PI1", wrong)
    assert caught.value.layer == "not-text"
    assert storage.values() == {"PI1": b"one"}


@pytest.mark.rule("REL-3")
@given(st.binary(max_size=20).map(lambda data: b"CANARY" + data))
def test_nothing_of_it_is_printed(data):
    storage = SecureStorage()
    storage.save("PI1", data)
    assert repr(storage) == f"{storage}" == "SecureStorage(1 sdkInputs)"
