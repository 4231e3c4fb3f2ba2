"""The reference page of the public names, made from their docstrings: `notebooks/reference/python.md`."""

import inspect
import re
from operator import attrgetter
from types import SimpleNamespace

import workbook as wb
from workbook.lessons.platforms import InApp

HEAD = """# The Python names

Every name of `import workbook as wb`, with an example after that import (and `import asyncio`). This page is made from
the docstrings (`WORKBOOK_GOLDEN=write` writes it anew). A lesson needs nothing else.
"""

GROUPS = {
    "The HTTP API": [
        "ActivationDataClient",
        "MockServer",
        "errors",
        "AsyncActivationDataClient",
        "SdkInput",
        "SdkOutput",
        "Timeouts",
        "RetryPolicy",
    ],
    "A whole run": ["session", "Run"],
    "Look": ["show", "table", "rule", "choose", "messages"],
    "Your own back end, app and project": ["conform_back_end", "conform_app", "conform", "Relay", "project"],
    "After a failure": ["diagnose", "inspect"],
    "Platform A's SDK by hand": ["CardProvisioning", "CardAddress"],
    "Platform B's SDK by hand": ["ProvisioningService", "WatchAvailability"],
    "The wallet extension": ["ReferenceHandler", "AuthorizationProvider", "ExtensionProvisioningService"],
    "State a fact": ["check", "exercise"],
    "Time": ["read_durations", "judge"],
    "Files and this machine": ["sample", "examine"],
}
NESTED = {"session": ("session", "session.platform_a", "session.platform_b", "session.wallet")}
"""Objects whose own verbs belong to the page, with the name that they hang on."""

SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Example|Yields):\Z")
ENTRY = re.compile(r"(\**\w[\w.]*): (.*)")


def page():
    """The whole page as Markdown."""
    blocks = [HEAD]
    for group, names in GROUPS.items():
        blocks.append(f"\n## {group}\n")
        for name in names:
            blocks += described(f"wb.{name}", getattr(wb, name))
    return "\n".join(blocks)


def described(name, value):
    """One name: its signature, its docstring, and the public methods of a class."""
    yield f"\n### `{name}`\n"
    if signature := spelled(name, value):
        yield f"```python\n{signature}\n```\n"
    yield markdown(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        yield from methods(name, value)
    for spelled_so in NESTED.get(name.removeprefix("wb."), ()):
        yield from methods(spelled_so, type(attrgetter(spelled_so)(SimpleNamespace(session=wb.session()))))


def methods(name, kind):
    """The public methods and properties that a class of ours defines."""
    for key, member in (vars(kind) | (vars(InApp) if issubclass(kind, InApp) else {})).items():
        plain = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if key.startswith("_") or not (inspect.isfunction(plain) or isinstance(plain, property)):
            continue
        doc = inspect.getdoc(plain)
        if not doc:
            continue
        call = spelled(f".{key}", plain) if inspect.isfunction(plain) else f".{key}"
        yield f"\n#### `{name}.{key}`\n\n```python\n{call}\n```\n"
        yield markdown(doc)


def spelled(name, value):
    """The call with its parameters, without `self` and without types of ours that say nothing to a reader."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = []
    star = False
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            shown.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={plain(parameter.default)}"
        shown.append(f"{prefix}{parameter.name}{default}")
    return f"{name}({', '.join(shown)})"


def plain(default):
    """A default as text; an object of ours only by the name of its class, because its repr may hold an address."""
    if default is None or isinstance(default, str | int | float | bool):
        return repr(default)
    return default.__name__ if inspect.isclass(default) else "..."


def markdown(doc):
    """A docstring as Markdown: its sections become lists, its example a code block."""
    lines, section = [], ""
    for line in doc.splitlines():
        if match := SECTION.match(line):
            section = match[1]
            lines.append({"Args": "Arguments:", "Raises": "Raises:", "Returns": "Returns:"}.get(section, f"{section}:"))
            lines.append("```python" if section == "Example" else "")
        elif section == "Example":
            lines.append(line.removeprefix("    "))
        elif section in ("Args", "Attributes", "Raises") and (match := ENTRY.match(line.removeprefix("    "))):
            lines.append(f"- `{match[1]}`: {match[2]}")
        elif section in ("Args", "Attributes", "Raises"):
            lines.append(f"  {line.strip()}" if line.strip() else "")
        else:
            lines.append(line.removeprefix("    ") if section else line)
    if section == "Example":
        while lines and not lines[-1].strip():
            lines.pop()
        lines.append("```")
    return "\n".join(lines) + "\n"
