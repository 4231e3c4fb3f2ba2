"""What the operator's and the wallet provider's reviews ask for: one page, and a zip of the data behind it.

Each figure has the file that it comes from, with date and SHA-256. What is missing is named, with the command that
makes it. The same files give the same bytes. Nothing is written where a file holds the API key, or what looks like card
data.
"""

import re
import zipfile
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from workbook.base.files import needs_lab, new_folder, read_named, write_whole
from workbook.base.rules import Rule, rules
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError, LeakError, ParameterError
from workbook.harness.model import Verdict
from workbook.harness.report import JUDGED, SETTLED, moment
from workbook.harness.results import AnyReport, ReportKind, read_report, report_file
from workbook.views.templates import page

if TYPE_CHECKING:
    from workbook.reading.verdict import Judgement


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """A file that the page rests on.

    Attributes:
        file: its name in the zip.
        text: its content.
        date: when it was made, in UTC: as it says, else as its file says.
        report: what it holds; None for durations.
        durations: what it holds; empty for a report.
    """

    file: str
    text: str
    date: str
    report: AnyReport | None = None
    durations: tuple["Judgement", ...] = ()

    @property
    def part(self) -> str:
        """Of the evidence: the kind of its report, or `durations`."""
        return self.report.kind if self.report else "durations"

    @property
    def digest(self) -> str:
        """Its SHA-256 in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    def of_rule(self, rule: Rule) -> str:
        """How this file covers a rule, in words; empty where it does not."""
        cases = [case for case in (self.report.cases if self.report else ()) if case.rule == rule.id]
        held = [case.verdict in (Verdict.PASS, Verdict.NOTE) for case in cases if case.verdict in JUDGED]
        held += [one.verdict != "fail" for one in self.durations if one.limit.rule == rule.id]
        return f"{'✓' if all(held) else '✗'} {sum(held)} of {len(held)}" if held else ""


def found_reports(
    folder: Path, named: Container[ReportKind] = (), tell: Callable[[str], object] = lambda _: None
) -> dict[ReportKind, Path]:
    """The reports in this folder and directly below it, of each kind that a review asks for and that is not `named`.

    `tell` is told of a file that is called like a report and is none.

    Raises:
        ConfigurationError: there are two of one kind.
    """
    found: dict[ReportKind, Path] = {}
    for name in ("conform.json", "run.json"):
        for path in sorted([*folder.glob(name), *folder.glob(f"*/{name}")]):
            try:
                kind = read_report(path).kind
            except ConfigurationError as error:  # another program's, or cut off
                tell(f"Left out: {error}")
                continue
            if kind in named:
                continue
            if kind in found:
                both = f"{str(found[kind])!r} and {str(path)!r}"
                raise ConfigurationError(f"{both} are both of workbook {kind}. Name one: --{kind.option} FILE.")
            found[kind] = path
    return found


def read_sources(reports: Mapping[ReportKind, Path], durations: Iterable[Path]) -> list[EvidenceSource]:
    """These files, each checked; reports in the order of `ReportKind`.

    Raises:
        ConfigurationError: one cannot be read, or is of another kind.
        LeakError: one holds what looks like card data.
    """
    again, most, sources = "Name the file of a report.", 256 * 1_048_576, []
    for kind in [kind for kind in ReportKind if kind in reports]:
        path = report_file(reports[kind])
        report = read_report(path)
        if report.kind is not kind:
            raise ParameterError(f"{str(path)!r} is a report of workbook {report.kind}, not of workbook {kind}.")
        name, text = f"{kind.replace(' ', '-')}/{path.name}", read_named(path, most, again).decode()
        sources.append(EvidenceSource(name, text, report.started or moment(path.stat().st_mtime), report))
    for number, path in enumerate(durations, 1):
        with needs_lab("evidence --durations"):
            from workbook.reading.recorded import judge, read_durations  # pandas
        judged = tuple(judge(read_durations(path)))
        name, text = f"durations/{number}-{path.name}", read_named(path, most, again).decode()
        sources.append(EvidenceSource(name, text, moment(path.stat().st_mtime), durations=judged))
    # a card's number, as it is or in groups of four; a long value in base64; the mark of simulated card data
    card = r"(?<![\w.-])[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,7}(?![\w.-])"
    for source in sources:
        if match := re.search(rf"{card}|[A-Za-z0-9+/_-]{{200,}}|canary-[0-9a-f]{{18}}", source.text):
            line = source.text.count("\n", 0, match.start()) + 1
            raise LeakError(f"Nothing was written: {source.file}, line {line}, holds what looks like card data.")
    return sources


def write_evidence(sources: Sequence[EvidenceSource], out: Path, secrets: Secrets) -> list[str]:
    """Write `evidence.html` and `evidence.zip` into a new folder; returns the parts that are missing.

    Raises:
        ConfigurationError: the folder is not empty, or cannot be written.
        LeakError: a file holds a secret; nothing was written.
    """
    asked = (*[*ReportKind][:4], "durations")
    missing = [part for part in asked if part not in {source.part for source in sources}]
    covered = [(rule, [source.of_rule(rule) for source in sources]) for rule in rules()]
    html = page(
        "evidence.html",
        title="Evidence for the reviews",
        sources=sources,
        missing=missing,
        verdicts=list(Verdict),
        settled=SETTLED,
        covered=[row for row in covered if any(row[1])],
        uncovered=[rule for rule, cells in covered if not any(cells)],
    )
    texts = {"evidence.html": html, **{source.file: source.text for source in sources}}
    secrets.check(texts)
    manifest = "".join(f"{sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(texts.items()))
    with new_folder(out) as draft:
        write_whole(draft / "evidence.html", html)
        with zipfile.ZipFile(draft / "evidence.zip", "w") as archive:  # not compressed: the same bytes everywhere
            for name, text in sorted({**texts, "manifest.sha256": manifest}.items()):
                archive.writestr(zipfile.ZipInfo(name), text.encode())  # its date is that of the format's beginning
    return missing
