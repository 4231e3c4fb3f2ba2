"""Reads a project and judges it by every case; in a notebook as `wb.project`, also files that are only in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from time import monotonic

from workbook.base.files import ScratchFolder, read_named
from workbook.base.rules import Owner
from workbook.base.terminal import visible
from workbook.base.values import of_type, quoted
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.harness.model import CaseOptions, CaseResult, Verdict, choose_cases, gravest, known_failures
from workbook.tools.harness.output import LEVELS, Result
from workbook.tools.harness.report import About, RunRecord, conclude
from workbook.tools.harness.summary import headline
from workbook.tools.preflight import cases_a, cases_b, cases_text
from workbook.tools.preflight.gradle import Dependency, read_build, read_lock_files
from workbook.tools.preflight.model import Facts, Package, PreflightCase, ProjectA, ProjectB, Setting
from workbook.tools.preflight.project import (
    LARGEST_FILE,
    Project,
    about_provisioning,
    is_marked,
    read_project,
    read_sources,
)
from workbook.tools.preflight.signing import (
    ARCHIVES,
    SigningCertificate,
    allowlist_request,
    is_profile,
    read_certificates,
    read_sent,
    read_signed,
    request_platform_b,
)
from workbook.tools.preflight.targets import BuildTarget, read_targets
from workbook.views.html import View
from workbook.views.table import Snapshot, Stack, statement, table

# Every case by its name, in the order of the modules' texts.
PREFLIGHT_CASES: Mapping[str, PreflightCase] = {
    case.name: case
    for module in (cases_b, cases_a, cases_text)
    for case in vars(module).values()
    if isinstance(case, PreflightCase)
}


# Where a package manager or a project pins a package: the file, and its place for the location and the version.
PINS = {
    "Package.resolved": r'"(?:location|repositoryURL)"\s*:\s*"([^"]+)"[^{}]*\{[^{}]*"version"\s*:\s*"(\d[^"]*)"',
    # `from: "2.0.0"`, and `.upToNextMajor(from: "2.0.0")`
    "Package.swift": r'\.package\([^()]*?url:\s*"([^"]*)"[^()]*?(?:\.\w+\([^()]*?)?"(\d[\w.-]*)"',
    "project.pbxproj": (
        r'repositoryURL = "?([^";\n]+)"?;\s*requirement = \{[^{}]*?\b(?:minimumV|v)ersion = "?(\d[\w.-]*)'
    ),
    "Podfile.lock": r"^  - \"?([\w-]+)(?:/[\w-]+)? \((\d[\w.-]*)\)",
    "Podfile": r"^[^#\n]*\bpod\s+['\"]([\w-]+)(?:/[\w-]+)?['\"]\s*,\s*['\"][~>=\s]*(\d[\w.-]*)['\"]",
    "Cartfile.resolved": r'"([^"]+)"\s+"v?(\d[\w.-]*)"',
    # of XcodeGen
    "project.yml": (
        r"^\s+(?:url|github):\s*[\"']?([^\s\"']+)[\"']?\s*\n\s+\w*(?:[vV]ersion|from):\s*[\"']?(\d[\w.-]*)"
    ),
}


NOTHING_HERE = (
    "Nothing here is about provisioning: no SDK, no extension point, no entitlement, no call of a wallet's library "
    "that adds cards. Name the project's folder, and the SDK with --sdk if its name is unusual."
)


@dataclass(frozen=True, slots=True)
class Preflight(CaseOptions[PreflightCase]):
    """What to read, and what to judge.

    Attributes:
        paths: folders of the project, or single files.
        sdk: the SDK's coordinate `group:name` or its package's name; by default recognised by its name.
        library: the same for the private library.
        signing: texts of signing reports of platform A, and profiles and archives of platform B.
        machine: whose certificates they are.
        sent: the request that was sent for allowlisting.
        environment: the back end's environment, one NAME=VALUE on a line.
    """

    paths: tuple[Path, ...]
    cases: Sequence[PreflightCase] = field(default_factory=lambda: tuple(PREFLIGHT_CASES.values()), kw_only=True)
    command: str = field(default="workbook preflight", kw_only=True)
    sdk: str = ""
    library: str = ""
    signing: tuple[Path, ...] = ()
    machine: str = ""
    sent: Path | None = None
    environment: Path | None = None


def read_facts(run: Preflight) -> Facts:
    """Read everything that the cases judge.

    Raises:
        ConfigurationError: a named file cannot be read, or is of no known form.
    """
    project = read_project(run.paths)
    # how the SDK and the private library are recognised where the user names neither
    sdk = re.escape(run.sdk) or r"card-?provisioning"
    library = re.escape(run.library) or r"tap-?and-?pay|push-?provisioning-?(library|client)"
    is_named = bool(run.sdk or run.library)
    certificates, signed = read_signing(run.signing, run.machine)
    environment = None if run.environment is None else read_environment(run.environment)
    return Facts(
        project=project,
        a=_platform_a(project, sdk, library, is_named=is_named),
        b=read_platform_b(project, run.sdk, is_named=is_named),
        certificates=tuple(certificates),
        signed=tuple(signed),
        sent=None if run.sent is None else read_sent(run.sent),
        library=library.rpartition(":")[2],
        environment=environment,
        environment_file="" if run.environment is None else run.environment.name,
    )


def _platform_a(project: Project, sdk: str, library: str, *, is_named: bool) -> ProjectA:
    build = read_build(project)
    others = (file for file in project.named("*.java", "*.cs") if file.name.endswith(".java") or file.is_of_a)
    java = (file for file in others if not file.is_test and not build.is_of_server(file))
    found = [*build.dependencies(), *read_lock_files(project)]

    def like(pattern: str) -> tuple[Dependency, ...]:
        return tuple(entry for entry in found if re.search(pattern, entry.coordinate, re.IGNORECASE))

    private = like(library)
    return ProjectA(
        build,
        read_sources(project, "*.kt", lambda file: not build.is_of_server(file)),
        tuple(entry for entry in like(sdk) if entry not in private),
        private,
        tuple(about_provisioning(java)),
        bool(build.modules) and (is_named or is_marked(project, "A")),
    )


def read_platform_b(project: Project, package: str = "", *, is_named: bool = False) -> ProjectB:
    """Read everything.

    Args:
        project: its files.
        package: the name of the SDK's package; empty where the user gives none.
        is_named: whether the user names a library, so that the project is about provisioning.
    """
    named = project.named("*.m", "*.mm", "*.cs")
    others = about_provisioning(file for file in named if not file.is_test and not file.is_of_a)
    packages = tuple(_read_packages(project, package))
    is_about = is_named or is_marked(project, "B")
    return ProjectB(read_targets(project), packages, read_sources(project, "*.swift"), tuple(others), is_about)


def _read_packages(project: Project, package: str) -> Iterator[Package]:
    """The SDK's package wherever a version of it is pinned: the one that the user names, or one with its usual name."""
    for manifest, pattern in PINS.items():
        for file in project.named(manifest):
            for match in re.finditer(pattern, file.text, re.MULTILINE):
                location = match[1].rstrip("/").removesuffix(".git")
                name = re.split(r"[\\/]+", location)[-1]
                usual = re.search(r"card.?provisioning", location, re.IGNORECASE)
                if package.lower() in {name.lower(), location.lower()} if package else usual:
                    yield Package(name, match[2], file, file.text.count("\n", 0, match.start()) + 1)


def read_signing(paths: Iterable[Path], machine: str) -> tuple[list[SigningCertificate], list[BuildTarget]]:
    """Platform A's certificates in the reports that the user named, and what signed platform B's targets."""
    certificates: list[SigningCertificate] = []
    signed: list[BuildTarget] = []
    for path in paths:
        if path.suffix in ARCHIVES or is_profile(path):
            signed += read_signed(path)
        else:
            certificates += read_certificates(path, machine)
    return certificates, signed


def read_environment(path: Path) -> tuple[Setting, ...]:
    """The settings in an environment file; the values are secrets.

    Raises:
        ConfigurationError: it cannot be read, or has no such line.
    """
    again = "Name the file with a line for each setting."
    text = read_named(path, LARGEST_FILE, again).decode("utf-8-sig", "replace")
    setting = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)")
    lines = ((match, number) for number, line in enumerate(text.splitlines(), 1) if (match := setting.match(line)))
    settings = {match[1]: Setting(match[1], match[2].strip().strip("\"'"), number) for match, number in lines}
    if not settings or "\0" in text:
        raise ConfigurationError(f"{str(path)!r} cannot be read: it is no text with NAME=VALUE lines. {again}")
    return tuple(settings.values())


def preflight(run: Preflight, facts: Facts | None = None) -> RunRecord:
    """Judge a project, or what was read of one; the record is ready for the reports of `workbook conform`.

    Raises:
        ConfigurationError: a path does not exist, or what it names cannot be read.
    """
    began = monotonic()
    facts = facts or read_facts(run)
    results = [_judge(case, facts) for case in run.cases]
    something = facts.a.is_there or facts.b.is_there or facts.unread or facts.signed
    trouble = facts.project.unread if something or facts.project.unread else NOTHING_HERE
    if trouble is NOTHING_HERE and facts.a.build.apps:
        drags = "If the build asks for a library of the wallet provider all the same, a plugin drags it in"
        trouble += f" {drags}: exclude that library's group and module."
    about = partial(
        About,
        target=", ".join(path.name or str(path) for path in run.paths),
        base_url="project files",
        seed=0,
        config=str(run.paths[0]),
        trouble=trouble,
        program="workbook preflight",
    )
    return conclude(about, began, results, PREFLIGHT_CASES, run, secrets=sorted(facts.secrets))


def _judge(case: PreflightCase, facts: Facts) -> CaseResult:
    if why := next(filter(None, (reason(facts) for reason in case.needs)), ""):
        return CaseResult(case, Verdict.NOT_APPLICABLE, why=why)
    misses = tuple(dict.fromkeys(case.judge(facts)))
    if misses:
        return CaseResult(case, gravest(misses, case.rule), misses)
    if why := next(filter(None, (*(reason(facts) for reason in case.unread), facts.project.unread)), ""):
        return CaseResult(case, Verdict.NOT_LOOKED_AT, why=why)
    return CaseResult(case, Verdict.PASS, why="All that was read keeps the rule.")


def finding_lines(done: RunRecord) -> list[str]:
    """What was found, the gravest first, a line each: place, verdict, expected and observed, who acts, what to do."""
    lines = []
    found = [(case, miss) for case in done.cases if case.verdict in LEVELS for miss in case.misses]
    for case, miss in sorted(found, key=lambda one: one[1].verdict().gravity):
        verdict = case.verdict if case.verdict is Verdict.KNOWN else miss.verdict()
        place = f"{miss.place}: " if miss.place else ""
        more = f"; {miss.see}" if miss.see else ""
        who = "" if case.owner is Owner.NOBODY else f", for {case.owner.in_a_sentence}"
        what = f"expected {miss.expected}, observed {miss.observed}. {miss.todo}"
        lines.append(visible(f"{place}{verdict} {miss.rule}{who}: {what} [{case.name}{more}]"))
    unseen: dict[str, list[str]] = {}
    for case in done.ended(Verdict.NOT_LOOKED_AT):
        unseen.setdefault(case.why, []).append(case.name)
    return lines + [visible(f"{Verdict.NOT_LOOKED_AT}: {why} [{', '.join(names)}]") for why, names in unseen.items()]


@dataclass(frozen=True, slots=True)
class AllowlistRequest:
    """What to send for allowlisting (A-ALLOW-1).

    Attributes:
        rows: of platform A, one for each build variant and each certificate that may sign it.
        rows_b: of platform B, one for each target.
        lacking: a sentence about each value that is in no file, and has to be added by hand.
        filters: a sentence about each filter that switches variants off.
    """

    rows: Sequence[Mapping[str, str]]
    rows_b: Sequence[Mapping[str, str]]
    lacking: Sequence[str]
    filters: Sequence[str]


def make_request(
    facts: Facts, certificates: Sequence[SigningCertificate], signed: Iterable[BuildTarget], store_id: str
) -> AllowlistRequest:
    """The request of a project, signed by these certificates, with what signed platform B's targets.

    Raises:
        ParameterError: no file says an application id or a bundle id, or there is no fingerprint.
    """
    variants = [(variant.name, variant.application_id) for variant in facts.a.build.variants]
    targets = [*(facts.b.targets.embedding if facts.b.is_there else ()), *signed]
    rows = allowlist_request(variants, certificates)
    rows_b, lacking_b = request_platform_b(targets, store_id)
    lacking = [*_lacking_a(facts, certificates), *lacking_b]
    if variants and not certificates and not rows_b:
        raise ParameterError("The request needs a fingerprint: --signing FILE, such as a signing report's text.")
    if not variants and not targets:
        where = "Name the folder of the app's module, or of its project file."
        why = "".join(f" {sentence}." for sentence in lacking) + f" {facts.b.targets.generating}"
        raise ParameterError(f"No file says an application id or a bundle id. {where}{why}".rstrip())
    filters = [sentence for module in facts.a.build.apps for sentence in module.filters()]
    return AllowlistRequest(rows, rows_b, lacking, filters)


def _lacking_a(facts: Facts, certificates: Sequence[SigningCertificate]) -> Iterator[str]:
    """A sentence about each value of platform A that no file says."""
    build, project = facts.a.build, facts.project
    yield from build.unknown_ids(certificate.variant for certificate in certificates)
    yield from build.unread
    if computed := [variant.name for variant in build.variants if not variant.application_id]:
        yield f"The application id of {', '.join(computed)} is computed: add it by hand, or write it as a text"
    for module in build.apps:
        if not module.variants():
            yield f"{module.file.name} names no application id, or computes the flavours: add the ids by hand"
    both = [file.name for file in project.named("*.csproj") if b"-android" in file.content]
    if not build.apps:  # Expo makes the build files later
        described = project.named("app.json", "app.config.*")
        both += [file.name for file in described if re.search(r"\bpackage[\"']?\s*:", file.text)]
    for name in both:
        yield f"{name} makes an app of platform A, too, and that is not read: add its id by hand"
    if len({certificate.fingerprint for certificate in certificates}) < 2:
        yield from (sentence for module in build.apps for sentence in module.key_choices())
    known = {certificate.variant for certificate in certificates}
    identified = [(variant.name, variant.application_id) for variant in build.variants if variant.application_id]
    if unsigned := [f"{name} ({identity})" for name, identity in identified if not {"", name} & known]:
        again = "Name that file with --signing, too"
        yield f"Not in the request, because no file names their certificate: {', '.join(unsigned)}. {again}"


class ProjectResult(Result):
    """What judging a project's files came to; each finding has its place, its rule and whose job it is.

    Attributes:
        folder: where the files are; None where they were only in memory.
        variants: the name of each build variant of platform A, and its application id.
        record: everything that the reports are made of.
    """

    next_steps = "Next: result.failed, .files, .changes(OTHER), .write(FOLDER), .exit_code."

    def __init__(self, record: RunRecord, facts: Facts, folder: Path | None = None) -> None:
        super().__init__(record)
        self.variants = [(variant.name, variant.application_id) for variant in facts.a.build.variants]
        self._facts = facts
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
            ParameterError: no file says an application id or a bundle id, or there is no fingerprint.
        """
        wanted = make_request(self._facts, *read_signing(map(Path, signing), machine), store_id)
        views: list[View] = []
        if wanted.rows:
            head = ("application id", "SHA-256", "variant", "signed on")
            rows = ((row["applicationId"], row["sha256"], row["variant"], row["machine"]) for row in wanted.rows)
            views.append(table("Please allowlist with the wallet provider (A-ALLOW-1)", head, rows))
        if wanted.rows_b:
            title = "Platform B: please allowlist, and associate with the cards at the scheme (wallet)"
            views.append(table(title, wanted.rows_b[0], (tuple(row.values()) for row in wanted.rows_b)))
        return Stack((*views, *(statement(f"{text}.") for text in (*wanted.lacking, *wanted.filters))))

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
    with ScratchFolder() as name:
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
