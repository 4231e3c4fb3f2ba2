"""The vocabulary itself: frozen facts and requests, each with its two ends, its words and its rules."""

import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from vocabulary import ASIDES, COMMANDS, EVENTS, MACHINES, sample

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.play.platform_a import PlatformARun
from workbook.play.platform_b import PlatformBRun
from workbook.play.wallet_app import WalletApp


def wrong_with(message):
    """What a message lacks of what each has to have."""
    made = sample(message)
    if not isinstance(made.sender, m.Actor) or not isinstance(made.receiver, m.Actor):
        yield f"{message.__name__} does not say who tells whom"
    if not made.says or not message.__doc__:
        yield f"{message.__name__} does not say what it means"
    if made != sample(message):
        yield f"{message.__name__} is not equal to the same message"
    if [rule(name).id for name in message.rules] != list(message.rules):
        yield f"{message.__name__} names a rule that does not exist"
    try:
        setattr(made, next((field.name for field in fields(message)), "anything"), 1)
    except (FrozenInstanceError, AttributeError, TypeError):
        return
    yield f"{message.__name__} can be changed"


def test_every_message_is_frozen_says_who_tells_whom_what_and_names_its_rules():
    assert [wrong for message in EVENTS + COMMANDS for wrong in wrong_with(message)] == []


def test_every_event_is_stepped_by_a_table_or_only_seen_and_never_both():
    stepped = {event for machine in MACHINES.values() for event in machine.events}
    assert stepped | set(ASIDES) == set(EVENTS)
    assert stepped & set(ASIDES) == set()


def test_every_command_is_handed_out_by_some_table_and_carried_out_by_its_bench():
    handed_out = {c for machine in MACHINES.values() for row in machine.rows for c in row.commands}
    assert handed_out == set(COMMANDS)
    for loop in (PlatformARun(), PlatformBRun(), WalletApp(), WalletApp(surface="watch")):
        assert {c for row in loop.machine.rows for c in row.commands} <= set(loop.ports)


def test_the_vocabulary_imports_only_the_standard_library_and_the_answer_of_the_api():
    tree = ast.parse(Path(m.__file__).read_text("utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {
        *("collections.abc", "dataclasses", "enum", "inspect", "typing"),
        *("workbook.errors", "workbook.api.opaque", "workbook.api.protocol"),
    }


def test_the_instance_that_create_carries_is_neither_printed_nor_compared():
    assert repr(m.CreateSuccess(object())) == "CreateSuccess()"
    assert m.CreateSuccess(object()) == m.CreateSuccess()


def pretty(message):
    return message._repr_mimebundle_()["text/plain"]


@pytest.mark.rule("A-CREATE-1", "REL-3")
def test_a_cells_value_says_what_it_means_and_what_it_carries():
    shown = pretty(m.CreateSuccess("an instance"))
    means = "✓ CreateSuccess. Success: carries the cardProvisioning instance (A-CREATE-1)."
    assert shown == f"{means}\n  .card_provisioning: 'an instance'"
    assert pretty(m.ProvisionFailure("Canceled")).startswith("✗ ProvisionFailure. ")
    assert "c2VjcmV0" not in pretty(m.SdkOutputCreated("PI1", SdkOutput("c2VjcmV0")))
    assert "c2VjcmV0" not in pretty(m.SdkInputReceived(b"c2VjcmV0"))


@pytest.mark.rule("REL-3")
@pytest.mark.parametrize("message", [m.CreateCalled, m.SdkInputReceived, m.DelegateReturned])
def test_bare_opaque_data_is_printed_by_its_type(message):
    assert repr(message("c2VjcmV0")).endswith("(sdk_input=<str>)")
    assert "c2VjcmV0" not in pretty(message(b"c2VjcmV0"))
    assert "2 characters, digest" in repr(message(SdkInput("YQ")))
