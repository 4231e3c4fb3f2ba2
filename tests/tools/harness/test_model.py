"""What each verdict says, and how a case is named."""

import pytest

from workbook.base.rules import Owner
from workbook.errors import DefinitionError
from workbook.tools.harness.model import Case, Verdict


def test_each_verdict_has_a_mark_an_owner_and_a_sentence():
    assert [verdict for verdict in Verdict if not (verdict.mark and verdict.owner and verdict.meaning)] == []
    for verdict in Verdict:
        assert verdict.meaning[0].isupper()
        assert verdict.meaning.endswith(".")
    nobody = {Verdict.PASS, Verdict.NOTE, Verdict.NOT_APPLICABLE}
    assert {verdict for verdict in Verdict if verdict.owner is Owner.NOBODY} == nobody
    assert Verdict.HARNESS_ERROR.owner is Owner.WORKBOOK
    assert [owner.in_a_sentence for owner in (Owner.YOU, Owner.WORKBOOK)] == ["you", "the workbook"]


@pytest.mark.parametrize("name", ["one", "number.one", "number.Large.ten", "number.large.ten.more"])
def test_a_name_of_another_form_is_refused(name):
    with pytest.raises(DefinitionError, match="A case is named like"):
        Case(name, "says", "API-1", "large", lambda _number: iter(()))
