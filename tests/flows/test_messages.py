"""The vocabulary itself: frozen facts and requests, each with its two ends, its words and its rules."""

import ast
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from vocabulary import ASIDES, BASES, COMMANDS, EVENTS, MACHINES, sample

from workbook.benches.bench_a import Bench
from workbook.benches.bench_b import BenchB
from workbook.extension.host import ExtensionHost
from workbook.flows import messages as m
from workbook.rules import rule


@pytest.mark.parametrize("message", EVENTS + COMMANDS, ids=lambda one: one.__name__)
def test_a_message_is_frozen_and_says_who_tells_whom_what(message):
    made = sample(message)
    assert isinstance(made.sender, m.Actor)
    assert isinstance(made.receiver, m.Actor)
    assert made.says
    assert made == sample(message)
    assert message.__doc__
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(made, next((f.name for f in fields(message)), "anything"), 1)


@pytest.mark.parametrize("message", EVENTS + COMMANDS, ids=lambda one: one.__name__)
def test_a_message_names_rules_that_exist(message):
    assert [rule(one).id for one in message.rules] == list(message.rules)


def test_every_event_is_stepped_by_a_table_or_only_seen_and_never_both():
    stepped = {event for machine in MACHINES.values() for event in machine.events}
    assert stepped | set(ASIDES) == set(EVENTS)
    assert stepped & set(ASIDES) == set()


def test_every_command_is_handed_out_by_some_table_and_carried_out_by_its_bench():
    handed_out = {c for machine in MACHINES.values() for row in machine.rows for c in row.commands}
    assert handed_out == set(COMMANDS)
    for loop in (Bench(), BenchB(), ExtensionHost(), ExtensionHost(surface="watch")):
        assert {c for row in loop.machine.rows for c in row.commands} <= set(loop._ports)


def test_the_vocabulary_imports_only_the_standard_library_and_itself():
    imported = {
        node.module
        for path in Path(m.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
    }
    own = {name for name in imported if name.startswith("workbook.flows.messages.")}
    assert imported - own == {"__future__", "dataclasses", "enum", "typing"}


def test_the_public_names_are_sorted_and_complete():
    assert m.__all__ == sorted(m.__all__, key=lambda name: (not name.isupper(), name))
    bases = {base.__name__ for base in BASES}
    assert {one.__name__ for one in EVENTS + COMMANDS} | bases | {"Actor", "BUDGETS"} == set(m.__all__)


def test_the_instance_that_create_carries_is_neither_printed_nor_compared():
    assert repr(m.CreateSuccess(object())) == "CreateSuccess()"
    assert m.CreateSuccess(object()) == m.CreateSuccess()
