"""The sample projects of both platforms, with the sources that come with the workbook; and how a project is judged."""

import shutil

from workbook.base.files import FIXTURES, NATIVE
from workbook.tools.preflight.run import PREFLIGHT_CASES, Preflight, preflight

SOURCES = {"a": ("kotlin/*.kt", "app/src/main/kotlin"), "b": ("swift/*.swift", "App")}


def good_project(folder, platform):
    """The sample project of platform `a` or `b`, below this folder."""
    folder = folder / platform
    shutil.copytree(FIXTURES / "projects" / f"platform_{platform}", folder)
    pattern, place = SOURCES[platform]
    (folder / place).mkdir(parents=True, exist_ok=True)
    for file in NATIVE.glob(pattern):
        text = file.read_text("utf-8").replace("group.com.your-bank", "group.com.issuer.cards")
        (folder / place / file.name).write_text(text, "utf-8")
    return folder


def judged(*paths, **options):
    """The results of the cases by their names without `preflight.`."""
    return {case.name.removeprefix("preflight."): case for case in preflight(Preflight(tuple(paths), **options)).cases}


def alarms(results, silent):
    """What the cases say that end otherwise than silently, each with its name, file and line."""
    told = [(name, result) for name, result in results.items() if result.verdict not in silent]
    return [f"{name}: {result.verdict}: {miss}" for name, result in told for miss in result.misses or ("",)]


def judge(name, *paths, **options):
    """The result of one case, by its name without `preflight.`; the others are left out, which is twice as quick."""
    case = PREFLIGHT_CASES[f"preflight.{name}"]
    return judged(*paths, cases=(case,), **options)[name]


HOSTILE = [
    "{" * 100_000,
    "/*" * 100_000,
    '"\\"' * 60_000,
    '"""' * 60_001,
    "a(" * 60_000,
    "a.b=" * 60_000,
    "'\\" * 80_000,
]
"""Texts that take a careless reader very long, or too deep."""
PIECES = [
    *"{}()[]=;,\"'\n$\\ /*#<>abc0",
    "/*",
    "*/",
    '"""',
    "<plist>",
    "<dict>",
    "<key>",
    "</key>",
    "//",
    "{{{",
    "bplist00",
]
"""What the texts that a reader may meet are made of."""
