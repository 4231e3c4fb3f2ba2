"""The tables word for word: whoever changes a row, a message, a limit or a fact sees in the difference what changed.

What the document shows is proven elsewhere (`test_sources.py`, `test_scripts.py`); here nothing can change unseen: no
rule, no tag, no word.
"""

from dataclasses import MISSING, fields, replace

from vocabulary import COMMANDS, EVENTS, MACHINES

from workbook.flows import messages as m
from workbook.flows import variants as v

ALL = MACHINES | {
    "before-0.4.0, by hand": replace(v.A_BEFORE_0_4_0, by_hand=True).machine,
    "B later, says Available": replace(v.B_LATER, says_available=True).machine,
}


def row_in_words(row):
    commands = [f"{command.__name__} ({tag})" for command, tag in zip(row.commands, row.command_sources, strict=True)]
    marks = ["deprecated"] * row.deprecated + ["of another attempt"] * row.of_another_attempt
    parts = [f"{row.event.__name__} ({row.event_source})", *commands, *row.rules, *marks]
    return f"{row.state.name} -> {row.to.name}: {', '.join(parts)}"


def message_in_words(message):
    marks = ["no arrow"] * (not message.arrow) + ["fails"] * message.fails
    sources = {**m.VALUES, **message.sources}
    given = {f.name: "" if f.default is MISSING else f" = {f.default!r}" for f in fields(message)}
    parts = [(part, default) for name, default in given.items() for part in (m.ANSWER if name == "answer" else [name])]
    held = [f"{part}: {sources.get(part)}{default}" for part, default in parts]
    parts = [f"{message.sender} to {message.receiver}", f"“{message.says}” ({message.source})", *message.rules, *marks]
    kind = getattr(message, "kind", "command" if issubclass(message, m.Command) else "event")
    return f"{message.__name__} [{kind}]: {', '.join(parts)}; {', '.join(held)}".rstrip("; ")


def test_each_row_of_each_machine(golden):
    holders = {}
    for name, machine in ALL.items():
        for row in machine.rows:
            holders.setdefault(row_in_words(row), []).append(name)
    heads = [f"{machine!r} {machine.initial.name}; {' '.join(sorted(s.name for s in machine.final))}; "
             f"{', '.join(f'{s.name} = {s.value}' for s in machine.states)}" for machine in ALL.values()]  # fmt: skip
    numbers = {name: at for at, name in enumerate(ALL)}
    rows = [f"{row}  [{' '.join(str(numbers[name]) for name in names)}]" for row, names in holders.items()]
    golden("rows", "\n".join([*heads, "", *rows]))


def test_each_message(golden):
    golden("messages", "\n".join(map(message_in_words, EVENTS + COMMANDS)))


def test_each_limit_and_each_variant(golden):
    facts = [v.A_BEFORE_0_4_0.facts, v.A_FROM_0_4_0.facts, v.B_EARLIER.facts, v.B_LATER.facts]
    variants = [v.A_BEFORE_0_4_0, v.A_FROM_0_4_0, v.A_NOT_MIGRATED, v.B_EARLIER, v.B_LATER]
    odd = [replace(v.A_BEFORE_0_4_0, guarded=False), replace(v.A_BEFORE_0_4_0, by_hand=True)]
    odd += [replace(v.B_LATER, tells=False), replace(v.B_LATER, says_available=True)]
    titles = [f"{one!r}: {one.title}" for one in variants + odd]
    titles += [one.extension_title(surface) for one in (v.B_EARLIER, v.B_LATER) for surface in v.SURFACES]
    shown = [str(one.shown(profile)) for one in (v.B_EARLIER.facts, v.B_LATER.facts) for profile in v.PROFILES]
    limits = [f"{one.call}: {one}, {one.rules[0]} ({one.source}); missed: {one.missed}" for one in m.LIMITS.values()]
    golden("limits_and_variants", "\n".join([*limits, *map(repr, facts), *titles, *shown]))
