"""A machine's table as text that others can draw: Mermaid's state diagram, and a Markdown table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from enum import StrEnum

    from workbook.flows.machine import Machine, Row


def mermaid(machine: Machine) -> str:
    """A Mermaid `stateDiagram-v2`; an arrow is labelled with its event, a deprecated one is marked."""
    return "\n".join(["stateDiagram-v2", *(f"    {line}" for line in _mermaid_lines(machine))])


def _mermaid_lines(machine: Machine) -> Iterator[str]:
    yield f"[*] --> {machine.initial.name}"
    for state in machine.states:
        yield f"{state.name} : {state.value}"
    for row in machine.rows:
        yield f"{row.state.name} --> {row.to.name} : {row.event.__name__}{_mark(row)}"
    for state in sorted(machine.final):
        yield f"{state.name} --> [*]"


def markdown(machine: Machine) -> str:
    """A Markdown table, one line a row, in the words of the pictures."""
    head = "| in state | event | next state | then | rules |\n|---|---|---|---|---|"
    return "\n".join([head, *map(markdown_row, machine.rows)])


def markdown_row(row: Row) -> str:
    """One row as a line of a Markdown table."""
    commands = ", ".join(command.says for command in row.commands)
    cells = (_cell(row.state), f"`{row.event.says}`{_mark(row)}", _cell(row.to), commands, _rests_on(row))
    return "| " + " | ".join(cells) + " |"


def _cell(state: StrEnum) -> str:
    return state.value


def _mark(row: Row) -> str:
    return " (deprecated)" if row.deprecated else ""


def _rests_on(row: Row) -> str:
    tags = row.rules if row.source == "spec" else (*row.rules, row.source)
    return " ".join(tags)


DRAWINGS: dict[str, Callable[[Machine], str]] = {"md": markdown, "mermaid": mermaid}
