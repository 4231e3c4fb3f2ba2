"""`preflight` in a notebook, as `wb.project`: judges a project's folder, or files that are only in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from workbook.base.values import of_type, quoted
from workbook.errors import ParameterError
from workbook.tools.harness.model import choose_cases, known_failures
from workbook.tools.harness.output import LEVELS, Result
from workbook.tools.harness.report import RunRecord
from workbook.tools.harness.summary import headline
from workbook.tools.preflight.model import Facts
from workbook.tools.preflight.profiles import request_platform_b
from workbook.tools.preflight.project import read_project
from workbook.tools.preflight.run import PREFLIGHT_CASES, Preflight, finding_lines, preflight, read_facts, read_signing
from workbook.tools.preflight.signing import allowlist_request
from workbook.views.html import View
from workbook.views.table import Snapshot, Stack, statement, table


class ProjectResult(Result):
    """What judging a project's files came to; each finding has its place, its rule and whose job it is.

    Attributes:
        folder: where the files are; None where they were only in memory.
        variants: the name of each build variant of platform A, and its application id.
        targets: platform B's app and extensions.
        record: everything that the reports are made of.
    """

    next_steps = "Next: result.failed, .files, .changes(OTHER), .write(FOLDER), .exit_code."

    def __init__(self, record: RunRecord, facts: Facts, folder: Path | None = None) -> None:
        super().__init__(record)
        self.variants = [(variant.name, variant.application_id) for variant in facts.a.build.variants]
        self.targets = facts.b.targets.provisioning
        self.folder = folder

    @property
    def files(self) -> dict[str, str]:
        """The texts of the project's files by their names, to change and judge again; empty without a folder."""
        return texts_of(self.folder.expanduser()) if self.folder else {}

    def allowlist_request(self, *signing: str | Path, machine: str = "", store_id: str = "") -> View:
        """The values to send for allowlisting.

        That is a row for each build variant and each certificate that may sign it; of platform B for each target.

        Args:
            signing: the texts of signing reports; profiles and archives of platform B.
            machine: whose certificates these are.
            store_id: the store's number of platform B's app.

        Raises:
            ConfigurationError: a file cannot be read, or holds no fingerprint.
        """
        certificates, signed = read_signing(map(Path, signing), machine)
        head = ("application id", "SHA-256", "variant", "signed on")
        rows = (
            (row["applicationId"], row["sha256"], row["variant"], row["machine"])
            for row in allowlist_request(self.variants, certificates)
        )
        of_a = table("Please allowlist with the wallet provider (A-ALLOW-1)", head, rows)
        listed, lacking = request_platform_b([*self.targets, *signed], store_id)
        if not listed:
            return of_a
        title = "Platform B: please allowlist, and associate with the cards at the scheme (wallet)"
        of_b = table(title, listed[0], (tuple(row.values()) for row in listed))
        return Stack((*([of_a] if self.variants else []), of_b, *(statement(f"{text}.") for text in lacking)))

    def shown(self) -> View:
        """Each finding, and how it ended: lines as text, a table as HTML."""
        about = self.record.about
        end = [*about.stale, *filter(None, [about.trouble]), headline(self.record)]
        rows = [
            (one.place, case.verdict, one.rule, f"expected {one.expected}, observed {one.observed}", one.todo, one.see)
            for case in self.record.cases
            if case.verdict in LEVELS
            for one in case.misses
        ]
        head = ("where", "verdict", "rule", "what", "what to do", "more")
        found = [table("What was found", head, rows)] if rows else []
        views = Stack((*found, *map(statement, end)))
        return Snapshot("\n".join([*finding_lines(self.record), *end]), views.html())


def project(
    files: str | Path | Mapping[str, str],
    *only: str,
    signing: Iterable[str | Path] = (),
    sent: str | Path | None = None,
    known: Mapping[str, str] | None = None,
) -> ProjectResult:
    """Judge a mobile project's files before they are built, as `workbook preflight` does; nothing is changed.

    Args:
        files: the project's folder; or the texts of its files by their names, such as `{"App/Info.plist": "..."}`.
        only: names, groups and globs of cases; none means all.
        signing: the texts of signing reports.
        sent: the request that was sent for allowlisting, as JSON.
        known: known failures: the name of each case with a comment.

    Returns:
        The result: it shows itself, and has `failed`, `files`, `changes`, `allowlist_request`,
        `write` and `exit_code`.

    Raises:
        ParameterError: there is no such folder, or a pattern matches no case.
        ConfigurationError: a file that is named cannot be read.

    Example:
        >>> import workbook as wb
        >>> wb.project(wb.sample("projects/platform_b")).failed
        ()
    """
    of_type("files", files, str | Path | Mapping, "the project's folder, or the texts of its files by their names")
    with _folder(files) as folder:
        run = Preflight(
            (folder,),
            cases=choose_cases(PREFLIGHT_CASES, only),
            signing=tuple(map(Path, signing)),
            sent=None if sent is None else Path(sent),
            baseline=known_failures(known),
            only=only,
        )
        facts = read_facts(run)
        record = preflight(run, facts)
    about = replace(record.about, target="the project")
    return ProjectResult(replace(record, about=about), facts, None if isinstance(files, Mapping) else Path(files))


@contextmanager
def _folder(files: str | Path | Mapping[str, str]) -> Iterator[Path]:
    """The folder itself, or a new one that holds these files for the block."""
    if not isinstance(files, Mapping):
        yield Path(files).expanduser()
        return
    with TemporaryDirectory(prefix="workbook-project-") as name:
        for file, text in files.items():
            path = PurePosixPath(file) if isinstance(file, str) else PurePosixPath("/")
            if path.is_absolute() or ".." in path.parts or not path.parts or not isinstance(text, str):
                raise ParameterError(f"Give each file by a name below the project, not {quoted(file)}.")
            target = Path(name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
        yield Path(name)


def texts_of(folder: Path) -> dict[str, str]:
    """The texts of a project's files by their names, as `project` takes them."""
    return {file.name: file.text for file in read_project([folder]).files}
