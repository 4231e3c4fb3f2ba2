"""Findings as a scenario file: what the simulator has to be set to so that it does as the real API did."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from workbook.simulation.form import TEXT
from workbook.simulation.world import Instrument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from workbook.proxy.drift import Drift
    from workbook.proxy.finding import Finding, Setting
    from workbook.simulation.scenario import Scenario

TITLE = "As the real API was seen"
_TABLES = ("device", "phone")


def scenario_toml(drift: Drift) -> str:
    """The scenario's file with every setting of the findings in it; comments name what no setting cures."""
    settings = [finding.setting for finding in drift.findings if finding.setting is not None]
    lines = [
        *_comments(drift),
        f"title = {_value(TITLE)}",
        f"profile = {_value(drift.scenario.profile)}",
        f"seed = {drift.scenario.seed}",
        *_instruments(drift.scenario, settings),
        *_credentials(drift.scenario, settings),
        *_latencies(drift.scenario, settings),
        *(line for name in _TABLES if (facts := getattr(drift.scenario, name)) for line in _table(f"[{name}]", facts)),
        *_faults(drift.scenario, settings),
    ]
    return "\n".join([*lines, ""])


def setting_line(setting: Setting) -> str:
    """A setting as one line for a person: the table, and what stands in it."""
    single = setting.table == "latencies"
    name = {"instrument": "id", "credential": "name"}.get(setting.table)
    values = ({} if name is None else {name: setting.name}) | dict(setting.values)
    said = ", ".join(f"{key} = {_value(value)}" for key, value in values.items())
    where = f" (instead of [[fault]] {setting.number})" if setting.number else ""
    return f"{'[latencies]' if single else f'[[{setting.table}]]'} {said}{where}"


def _comments(drift: Drift) -> Iterator[str]:
    yield "# Made by `workbook drift` from a record of the real API. Try it: workbook serve --scenario FILE"
    for finding in drift.findings:
        if finding.setting is None:
            yield f"# no setting for: {_comment(finding)}"
    yield ""


def _comment(finding: Finding) -> str:
    """TOML takes no control characters in a comment either."""
    text = f"{finding.operation} {finding.real} (the simulator: {finding.simulated})"
    return "".join(character if character.isprintable() else "?" for character in text)


def _instruments(scenario: Scenario, settings: list[Setting]) -> Iterator[str]:
    known = {one.id: one for one in scenario.instruments}
    named = [setting.values.get("payment_instrument_id") for setting in settings if setting.table == "fault"]
    for one in dict.fromkeys([*known, *filter(None, named), *_names(settings, "instrument")]):
        if TEXT.fits(one):
            table = {"id": one} | _said(known.get(one, Instrument(one))) | _merged(settings, "instrument", one)
            yield from _table("[[instrument]]", table)


def _said(one: Instrument) -> dict[str, Any]:
    """What of an instrument is not as usual, so that a file stays short."""
    usual = Instrument(one.id)
    told = {field.name: getattr(one, field.name) for field in fields(one)}
    return {name: value for name, value in told.items() if value != getattr(usual, name)}


def _credentials(scenario: Scenario, settings: list[Setting]) -> Iterator[str]:
    held = {name: bool(credential.roles) for name, credential in scenario.credentials.items()}
    for name in dict.fromkeys([*held, *_names(settings, "credential")]):
        table = {"name": name, "role": held.get(name, True)} | _merged(settings, "credential", name)
        yield from _table("[[credential]]", table)


def _latencies(scenario: Scenario, settings: list[Setting]) -> Iterator[str]:
    waits = {method.lower(): seconds for method, seconds in scenario.latencies.items()}
    waits |= _merged(settings, "latencies", "")
    if waits:
        yield from _table("[latencies]", waits)


def _faults(scenario: Scenario, settings: list[Setting]) -> Iterator[str]:
    changed = {setting.number: setting.values for setting in settings if setting.table == "fault" and setting.number}
    for number, table in enumerate(scenario.faults, 1):
        yield from _table("[[fault]]", changed.get(number, table))
    for setting in settings:
        if setting.table == "fault" and not setting.number:
            yield from _table("[[fault]]", setting.values)


def _names(settings: Iterable[Setting], table: str) -> list[str]:
    return [setting.name for setting in settings if setting.table == table]


def _merged(settings: Iterable[Setting], table: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        if (setting.table, setting.name) == (table, name):
            found |= setting.values
    return found


def _table(heading: str, values: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield heading
    yield from (f"{name} = {_value(value)}" for name, value in values.items())


def _value(value: Any) -> str:
    """A TOML value: JSON writes texts, numbers, truth values and lists the same way, as long as it escapes no pairs."""
    if isinstance(value, tuple | list | set | frozenset):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
