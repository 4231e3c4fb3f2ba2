"""What is told of a plain call that does not work."""

from ran import arrived, call, seen

from workbook.conformance.case_runner import NOTHING, UPSTREAM, plain_failure

URL = "http://127.0.0.1:9"
LOST = {"status": 404, "headers": (), "body": b"", "value": None}


def test_a_request_of_another_call_is_none_of_this_one():
    text = plain_failure(seen(call(began=1.0, ended=2.0, **LOST), call(2, began=3.0, ended=4.0), arrived(3.5)), URL)
    assert NOTHING in text
    assert "Is the path in order" in text


def test_a_call_that_reached_the_api_is_told_so():
    text = plain_failure(seen(call(began=1.0, ended=2.0, **LOST), arrived(1.5)), URL)
    assert UPSTREAM in text
    assert "Is the path" not in text
