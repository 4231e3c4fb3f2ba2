"""What signed the builds of platform A and the targets of platform B, and the request for allowlisting.

A fingerprint is the SHA-256 of a certificate, as 32 pairs of capital letters and digits with colons (A-ALLOW-2,
A-ALLOW-3). The output of `keytool` and `apksigner` is read as a signing report is: they open keystores and packages.

A provisioning profile of platform B is a signed message with a property list in it, as readable text. The entitlement
has to be in the profile of each of the three targets, and not only in their entitlements files; a profile that was
renewed may lose it (seen).
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from zipfile import ZipFile

from workbook.base.files import read_named, read_regular
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.preflight.literals import read_plist
from workbook.tools.preflight.project import LARGEST_FILE, File, rows, table
from workbook.tools.preflight.targets import AUTHORIZATION, ISSUER, BuildTarget, make_settings

# Bytes of a report.
MOST_BYTES = 8 * 1_048_576
ALLOWED = (
    "Name the text of a signing report; of a keystore, of `keytool -list -v -keystore FILE`; of a certificate, of "
    "`keytool -printcert -file FILE`; of a signed package, of `apksigner verify --print-certs FILE`. Of platform B, "
    "name a profile, what `security cms -D -i PROFILE` prints, or an archive."
)


@dataclass(frozen=True)
class SigningCertificate:
    """A signing certificate.

    Attributes:
        fingerprint: its SHA-256, such as `AB:CD:...`.
        source: the file that it was read from.
        variant: the build variant that it signs; empty where the source does not say it.
        debug: it is the default debug certificate, which each developer machine makes for itself (A-ALLOW-4).
        machine: whose it is, where the user says it.
        line: of the file.
    """

    fingerprint: str
    source: str
    variant: str = ""
    debug: bool = False
    machine: str = ""
    line: int = 1


def normalise(text: str) -> str:
    """A fingerprint, however it is written, as 32 pairs with colons.

    Raises:
        ParameterError: it is no SHA-256.
    """
    digits = re.sub(r"[\s:]", "", text).upper()
    if not re.fullmatch(r"[0-9A-F]{64}", digits):
        what = "an SHA-1" if re.fullmatch(r"[0-9A-F]{40}", digits) else f"{len(digits)} characters"
        raise ParameterError(f"A fingerprint is a SHA-256, 64 hexadecimal digits; this is {what}.")
    return ":".join(digits[start : start + 2] for start in range(0, 64, 2))


def read_certificates(path: Path, machine: str = "") -> list[SigningCertificate]:
    """Every signing certificate in a report.

    Args:
        path: the report.
        machine: whose certificates these are.

    Raises:
        ConfigurationError: it cannot be read, or holds no fingerprint.
    """
    content = read_named(path, MOST_BYTES, ALLOWED)
    found = dict.fromkeys(_read_report(content.decode("utf-8", "replace"), path.name))
    if not found:
        raise ConfigurationError(f"{str(path)!r} holds no SHA-256 as text. {ALLOWED}")
    return [replace(certificate, machine=machine) for certificate in found]


def _read_report(text: str, name: str) -> Iterator[SigningCertificate]:
    """The fingerprints of a report, each below the fields of its variant."""
    end, line = 0, 1
    fields: dict[str, str] = {}
    for match in re.finditer(r"SHA-?256(?:\s+digest)?\s*:\s*((?:[0-9A-Fa-f]{2}:?){32})\b", text):
        before = text[end : match.start(1)]
        new = dict(re.findall(r"^[ \t]*(Variant|Config|Store|Alias)[ \t]*:(.*)", before, re.MULTILINE))
        new = {name: value.strip() for name, value in new.items()}
        fields = new if "Variant" in new else fields | new
        line += before.count("\n")
        end = match.start(1)
        debug = _is_debug(before[-2000:], fields.get("Store", ""), fields.get("Alias", ""))
        yield SigningCertificate(normalise(match[1]), name, fields.get("Variant", ""), debug, line=line)


def _is_debug(subject: str, *names: str) -> bool:
    """Whether a certificate's subject, or a keystore's file or alias, is that of the default debug certificate."""
    store = re.compile(r"debug\.keystore\Z|\A\w*debugkey\Z", re.IGNORECASE)
    of_debug = re.compile(r"^(?=.*\bCN=(\w+) Debug(,|$))(?=.*\bO=\1(,|$))(?=.*\bC=US(,|$))", re.MULTILINE)
    return any(map(store.search, names)) or of_debug.search(subject) is not None


def allowlist_request(
    variants: Collection[tuple[str, str]], certificates: Sequence[SigningCertificate]
) -> list[Mapping[str, str]]:
    """What to send: one row for each build variant and each certificate that may sign it (A-ALLOW-2, A-ALLOW-4).

    Args:
        variants: the name of each build variant, and its application id.
        certificates: one with a variant signs that variant only; any other may sign every variant.
    """
    rows = [
        {
            "applicationId": application_id,
            "sha256": certificate.fingerprint,
            "variant": name,
            "machine": certificate.machine or ("a developer's machine" if certificate.debug else "the release key"),
            "note": "the default debug certificate of one machine" if certificate.debug else "",
        }
        for name, application_id in variants
        for certificate in certificates
        if application_id and certificate.variant in {"", name}
    ]
    return [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]


def read_sent(path: Path) -> frozenset[tuple[str, str]]:
    """The pairs of application id and fingerprint in a request that was written as JSON.

    Raises:
        ConfigurationError: it cannot be read, or is no such request.
    """
    again = "Name what `workbook preflight allowlist-request --json` wrote."
    try:
        content = json.loads(read_named(path, MOST_BYTES, again))
        return frozenset((str(row["applicationId"]), normalise(str(row["sha256"]))) for row in content["request"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigurationError(f"{str(path)!r} is no request for allowlisting. {again}") from None


# Bytes of the property lists and profiles in an archive.
MOST_IN_ARCHIVE = 4 * LARGEST_FILE
PROFILE, ARCHIVES = ".mobileprovision", (".ipa", ".xcarchive")
# The property list and the profile of an app, and of each extension in it.
IN_ARCHIVE = re.compile(
    r"(?:^|/)((?:Payload|Applications)/[^/]+\.app(?:/\w+/[^/]+\.appex)?)/(Info\.plist|embedded\.mobileprovision)\Z"
)
ROLES = {"app": "the app", ISSUER: "the issuer-provisioning extension", AUTHORIZATION: "the authorization UI"}


def is_profile(path: Path) -> bool:
    """Whether a file is a provisioning profile, or what `security cms -D` prints of one."""
    with suppress(OSError):
        is_file = path.suffix not in ARCHIVES and path.is_file()
        return path.suffix == PROFILE or (is_file and b"<key>Entitlements</key>" in read_regular(path, LARGEST_FILE))
    return False


def read_signed(path: Path) -> Iterator[BuildTarget]:
    """A target for each app and extension in an archive, or for a single profile; its entitlements are the profile's.

    Raises:
        ConfigurationError: it cannot be read, or holds neither an app nor a profile.
    """
    again = "Name a .mobileprovision, an .ipa or an .xcarchive."
    if is_profile(path):
        bundles = {"": {"embedded.mobileprovision": read_named(path, LARGEST_FILE, again)}}
    else:
        bundles = {}
        try:
            for name, content in _read_archive(path):
                if match := IN_ARCHIVE.search(name):
                    bundles.setdefault(match[1], {})[match[2]] = content
        except Exception as error:  # noqa: BLE001  # a damaged archive raises what its compression likes
            raise ConfigurationError(f"Cannot read {str(path)!r}: {error}. {again}") from None
    if not bundles:
        raise ConfigurationError(f"{str(path)!r} holds no app. {again}")
    for bundle, files in sorted(bundles.items()):
        name = f"{path.name}/{bundle}".rstrip("/")
        yield _make_target(File(path, name), name.endswith(".appex"), files)


def _read_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    """The name and the content of the files of a folder or a zip archive that tell how it was signed."""
    if path.is_dir():
        for file in path.rglob("*"):
            if IN_ARCHIVE.search(file.as_posix()):
                yield file.as_posix(), read_regular(file, LARGEST_FILE)
        return
    size = 0
    with ZipFile(path) as archive:
        for entry in archive.infolist():
            if IN_ARCHIVE.search(entry.filename) and entry.file_size <= LARGEST_FILE:
                if (size := size + entry.file_size) > MOST_IN_ARCHIVE:
                    raise ConfigurationError(f"its property lists have more than {MOST_IN_ARCHIVE:,} bytes")
                yield entry.filename, archive.read(entry)


def _make_target(file: File, is_extension: bool, files: Mapping[str, bytes]) -> BuildTarget:  # noqa: FBT001
    """The target of these files: the property list and the profile."""
    plist = read_plist(files["Info.plist"]) if "Info.plist" in files else None
    _head, xml, text = files.get("embedded.mobileprovision", b"").partition(b"<?xml")
    text, end, _tail = text.partition(b"</plist>")
    profile = read_plist(xml + text + end) if end else None
    if plist is None and profile is None:
        raise ConfigurationError(f"{file.name!r} holds no property list and no profile that can be read.")
    rights = None if profile is None else table(profile.get("Entitlements"))
    signed = next((str(value) for key, value in (rights or {}).items() if key.endswith("application-identifier")), "")
    team = next(iter(rows((profile or {}).get("TeamIdentifier"))), "") or signed.partition(".")[0]
    bundle_id = (plist or {}).get("CFBundleIdentifier") or signed.partition(".")[2]
    settings = make_settings(str(bundle_id), str(team))
    product = "" if plist is None else "app-extension" if is_extension else "application"
    return BuildTarget(file.name.rpartition("/")[2], file, "", product, settings, plist, None, rights, file)


def request_platform_b(targets: Iterable[BuildTarget], store_id: str) -> tuple[list[dict[str, str]], list[str]]:
    """What to send for platform B: a row for app and each extension, and a sentence about each value that is unknown.

    Team and bundle ids go to the wallet provider, with the app's store id; the scheme associates the identifiers of all
    three with the cards, and the store id (wallet).
    """
    known = [target for target in targets if target.role in ROLES]
    if not known:
        return [], []
    listed: dict[str, dict[str, str]] = {}
    lacking: dict[str, None] = {}
    teams = {target.team for target in known} - {""}
    for target in known:
        team = target.team or (next(iter(teams)) if len(teams) == 1 else "")
        if not target.bundle_id:
            lacking[f"The bundle id of {target.label} is computed: add it by hand"] = None
        elif target.bundle_id not in listed:
            listed[target.bundle_id] = {
                "bundleId": target.bundle_id,
                "target": f"{target.name}, {ROLES[target.role]}",
                "teamId": team or "unknown",
                "associatedApplicationIdentifier": f"{team or 'TEAM'}.{target.bundle_id}",
                "storeId": store_id or "unknown",
            }
            if not team:
                lacking[f"The team id of {target.name} is in no file that was read: add it by hand"] = None
    for role in sorted(ROLES.keys() - {target.role for target in known}):
        lacking[f"No target is {ROLES[role]}: its bundle id is needed, too, if you build one"] = None
    if not store_id:
        lacking["The store id is in no file: add it with --store-id, from the app's page in the store"] = None
    return list(listed.values()), list(lacking)
