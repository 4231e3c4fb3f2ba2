"""The judges of lesson 10: edited projects are read as `workbook preflight` reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from workbook.base.files import sample
from workbook.base.values import quoted
from workbook.errors import ParameterError
from workbook.lessons.exercises.model import Observed, Reason
from workbook.lessons.tools import tool

# A file of a project, a text in it, and what it becomes.
Edit = tuple[str, str, str]
UI, ENTITLEMENTS = "WalletUI/Info.plist", "WalletUI/WalletUI.entitlements"
APP, CATALOG = "app/build.gradle.kts", "gradle/libs.versions.toml"
LETTER: Final[Edit] = (UI, "provisioning.authorization", "provisioning.authorisation")
OLD_LIBRARY: Final[Edit] = (CATALOG, "18.8.0", "18.3.3")
DEBUG_SUFFIX: Final[Edit] = (
    APP,
    "        release {",
    '        debug { applicationIdSuffix = ".debug" }\n        release {',
)


def edited(platform: str, *edits: Edit) -> dict[str, str]:
    """The texts of a sample project with these edits."""
    files: dict[str, str] = tool("texts_of")(sample(f"projects/{platform}"))
    for file, old, new in edits:
        files[file] = files[file].replace(old, new)
    return files


def judged(files: Mapping[str, str]) -> Any:
    """What preflight says of these files."""
    return tool("project")(files)


def worst(files: Mapping[str, str]) -> str:
    """The gravest verdict of any case: `pass` where none found anything."""
    verdicts = {str(case.verdict) for case in judged(files).record.cases}
    return next((verdict for verdict in ("fail", "warn", "note") if verdict in verdicts), "pass")


def one_edit_each() -> Observed:
    """Five edits of good projects, each on its own."""
    return Observed(
        judged(edited("platform_b", LETTER)),
        letter=worst(edited("platform_b", LETTER)),
        entitlement=worst(edited("platform_b", (ENTITLEMENTS, "<true/>", "<false/>"))),
        ui_group=worst(edited("platform_b", (ENTITLEMENTS, "group.com.issuer.cards", "group.com.issuer.card"))),
        library=worst(edited("platform_a", OLD_LIBRARY)),
        suffix=worst(edited("platform_a", DEBUG_SUFFIX)),
    )


def mended(mend: Callable[[dict[str, str]], Any], platform: str, *edits: Edit) -> Reason | Observed:
    """The learner's function mends these edits, and takes nothing away that was good."""
    broken = edited(platform, *edits)
    given = mend(dict(broken))
    if not isinstance(given, Mapping):
        return Reason("", f"your function returned {quoted(given)}. Return the files, as a mapping of names to texts.")
    if gone := [name for name in broken if name not in given]:
        return Reason("", f"{gone[0]} is gone. A project without it is no mended project: change its text.")
    result = judged(given)
    for case in result.record.cases:
        for miss in case.misses if case.verdict in ("fail", "warn") else ():
            text = f"{miss.place}: expected {miss.expected}, observed {miss.observed}. {miss.todo}"
            return Reason(miss.rule, text, result)
    passed = {case.name for case in result.record.cases if case.verdict == "pass"}
    for case in judged(edited(platform)).record.cases:
        if case.verdict == "pass" and case.name not in passed:
            text = f"{case.name} finds nothing to judge any more: what it read is no longer in the files."
            return Reason(case.rule, text, result)
    return Observed(result)


def three_in_b(mend: Any) -> Reason | Observed:
    """Three mistakes that hide platform B's app from the wallet."""
    group = ("WalletExtension/WalletExtension.entitlements", "group.com.issuer.cards", "group.com.issuer.card")
    return mended(mend, "platform_b", LETTER, group, ("WalletExtension/Info.plist", "$(PRODUCT_MODULE_NAME).", ""))


def three_in_a(mend: Any) -> Reason | Observed:
    """Three mistakes about platform A's private library; the SDK stays what it is."""
    published = 'publishing {\n    artifact(file("libs/tap-and-pay-18.8.0.aar"))\n}\n\ndependencies {'
    edits = (
        OLD_LIBRARY,
        ("settings.gradle.kts", "        mavenLocal() // the wallet provider's private library\n", ""),
        (APP, "dependencies {", published),
    )
    seen = mended(mend, "platform_a", *edits)
    if isinstance(seen, Observed) and 'sdk = "0.4.1"' not in mend(edited("platform_a", *edits))[CATALOG]:
        return Reason("A-DEP-1", "the SDK is no longer 0.4.1. Bring the library that this SDK needs.", seen.run)
    return seen


def entries_to_send() -> Observed:
    """Ann and Bob build the debug variant, one key signs the release: what has to be allowlisted?"""
    allowlist_request, read_certificates = tool("allowlist_request"), tool("read_certificates")
    report = sample("projects/signing_report.txt")
    anns = read_certificates(report, machine="Ann's")
    with TemporaryDirectory() as folder:
        his = Path(folder, "bob.txt")
        his.write_text(report.read_text("utf-8").partition("----------")[0].replace("0A:1B", "0A:1C"), "utf-8")
        bobs = read_certificates(his, machine="Bob's")
    result = tool("project")(edited("platform_a", DEBUG_SUFFIX))
    rows = allowlist_request(result.variants, [*anns, *bobs])
    ids = dict(result.variants)
    sent = {(row["applicationId"], row["sha256"]) for row in allowlist_request(result.variants, anns)}
    try:
        tool("normalise")("5E:8F:16:06:2E:A3:CD:2C:4A:0D:54:78:76:BA:A6:F3:8C:AB:F6:25")
        digest = "either"
    except ParameterError:
        digest = "SHA-256"
    return Observed(
        result,
        entries=len(rows),
        debug_id=ids["debug"],
        anns_is_enough=(ids["debug"], bobs[0].fingerprint) in sent,
        digest=digest,
    )
