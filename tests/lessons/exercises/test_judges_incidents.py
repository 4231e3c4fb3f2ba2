"""A failure that is played and not named, and the judge of what the learner finds."""

import re

import pytest

from workbook.errors import ParameterError
from workbook.lessons.exercises.judges_incidents import CAUSES, IN_THE_LOG, acting, row_of_incident
from workbook.lessons.session import session

DECK = range(1, len(CAUSES) + 1)
BY_ROW = {row_of_incident(number).number: number for number in DECK}


def solution(number):
    found = row_of_incident(number)
    return {"cause": CAUSES[found.number], "owner": acting(found)[0]}


def test_the_first_numbers_are_all_failures_in_no_order_of_rows():
    assert sorted(BY_ROW) == sorted(CAUSES)
    assert [*BY_ROW] != sorted(BY_ROW)


@pytest.mark.parametrize("number", DECK)
def test_it_shows_phone_and_log_and_does_not_name_what_is_wrong(number):
    seen = session().incident(number)
    assert repr(seen) == repr(session().incident(number))
    assert seen.html() == session().incident(number).html()
    assert repr(seen) != repr(session(seed=8).incident(number))
    above = f"{seen.phone.text()}\n{seen.log}"
    assert not re.search(r"\b(fault|assumed: Silence|stale|not guarded|entitlement|allowlist)", above)
    assert not [cause for cause in CAUSES.values() if cause in above]
    assert "findings" not in repr(seen)


def test_a_line_of_the_log_names_each_value():
    answered = r"^[\d:.]+ API > Back end: ApiAnswered status=200 sdkInput=[0-9a-f]{6}$"
    assert re.search(answered, session().incident(1).log, re.MULTILINE)


@pytest.mark.parametrize("number", DECK)
def test_the_solution_is_right_and_every_other_cause_has_its_own_reason(number):
    seen, right = session().incident(number), solution(number)
    time = re.findall(r"\d\d:\d\d:\d\d", seen.log)[-1]
    done = seen.answer(**right, message=f"At {time} it failed with {' '.join(seen.codes)}. What do you see?")
    assert done.done, repr(done)
    assert done.run is not None
    assert f"not {right['cause']!r}" not in repr(done)
    assert f"It is row {row_of_incident(number).number}" in repr(done)
    others = [cause for cause in CAUSES.values() if cause != right["cause"]]
    said = {repr(seen.answer(cause=other, owner=right["owner"])).splitlines()[1] for other in others}
    assert len(said) == len(others)
    assert [line for line in said if "then you would see that" not in line] == []
    for other in {"you", "the operator", "the scheme"} - {*acting(row_of_incident(number))}:
        assert "somebody else has to fix it" in repr(seen.answer(cause=right["cause"], owner=other))


def test_the_message_has_what_its_receiver_needs_and_no_secret():
    number = BY_ROW[15]
    seen, right = session().incident(number), solution(number)
    time = re.findall(r"\d\d:\d\d:\d\d", seen.log)[-1]

    def said(message):
        return repr(seen.answer(**right, message=message)).splitlines()[0]

    assert "the message: it is ''. Write what you send" in said("")
    assert "the message: it is 5." in said(5)
    assert "lacks the code 15009" in said(f"At {time} it failed.")
    assert "lacks the time" in said("It failed with 15009.")
    key, _opaque, card = IN_THE_LOG
    assert "REL-2: the message: the API key is in it" in said(f"{time} 15009 {key}")
    assert "REL-3: the message: the whole payment instrument id" in said(f"{time} 15009 {card}")
    assert "REL-2" in said(seen.log), "the log as a whole must not leave the house"
    assert said(f"At {time}: 15009.").startswith(f"✓ incident {number} done.")


def test_each_owner_of_a_row_is_taken():
    number = BY_ROW[30]
    seen = session().incident(number)
    time = re.findall(r"\d\d:\d\d:\d\d", seen.log)[-1]
    for owner in ("the operator", "the scheme"):
        assert seen.answer(cause=CAUSES[30], owner=owner, message=f"{time} {seen.codes}").done


def test_where_you_have_to_act_there_is_nobody_to_write_to():
    number = BY_ROW[13]
    assert session().incident(number).answer(**solution(number)).done
    assert session().incident(number).answer(cause="Two attempts at once", owner=" You").done


def test_an_answer_that_is_none_is_explained_and_hints_lead_to_it():
    seen = session().incident(1)
    assert "change this cell" in repr(seen.answer())
    assert "cause has no answer yet" in repr(seen.answer(owner="you"))
    tried = seen.answer(cause="the moon", owner="you")
    assert "cause is 'the moon'. Choose" in repr(tried)
    assert row_of_incident(1).sign in tried.hint(2)
    assert solution(1)["cause"] in tried.solution


@pytest.mark.parametrize("number", [0, 14, "7", True])
def test_there_are_as_many_numbers_as_incidents(number):
    with pytest.raises(ParameterError, match="incident"):
        session().incident(number)


def test_with_a_real_api_an_incident_is_simulated(monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", "CANARY-key-0123456789")
    real = session(source="api", base_url="http://127.0.0.1:9")
    assert repr(real.incident(3)) == repr(session().incident(3))
    real.client.close()
