"""What signed platform B's app and extensions: provisioning profiles; and what its allowlisting needs.

A profile is a signed message with a property list in it, as readable text. The entitlement has to be in the profile of
each of the three targets, and not only in their entitlements files; a profile that was renewed may lose it (seen).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from zipfile import ZipFile

from workbook.base.files import read_named, read_regular
from workbook.errors import ConfigurationError
from workbook.tools.preflight.literals import read_plist
from workbook.tools.preflight.project import LARGEST_FILE, File, rows, table
from workbook.tools.preflight.targets import AUTHORIZATION, ISSUER, BuildTarget, make_settings

PROFILE, ARCHIVES = ".mobileprovision", (".ipa", ".xcarchive")
# The property list and the profile of an app, and of each extension in it.
IN_ARCHIVE = re.compile(
    r"(?:^|/)((?:Payload|Applications)/[^/]+\.app(?:/\w+/[^/]+\.appex)?)/(Info\.plist|embedded\.mobileprovision)\Z"
)
ROLES = {"app": "the app", ISSUER: "the issuer-provisioning extension", AUTHORIZATION: "the authorization UI"}


def read_signed(path: Path) -> Iterator[BuildTarget]:
    """A target for each app and extension in an archive, or for a single profile; its entitlements are the profile's.

    Raises:
        ConfigurationError: it cannot be read, or holds neither an app nor a profile.
    """
    again = "Name a .mobileprovision, an .ipa or an .xcarchive."
    if path.suffix == PROFILE:
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
    with ZipFile(path) as archive:
        for entry in archive.infolist():
            if IN_ARCHIVE.search(entry.filename) and entry.file_size <= LARGEST_FILE:
                yield entry.filename, archive.read(entry)


def _make_target(file: File, is_extension: bool, files: Mapping[str, bytes]) -> BuildTarget:  # noqa: FBT001
    """The target of these files: the property list and the profile."""
    plist = read_plist(files["Info.plist"]) if "Info.plist" in files else None
    text = re.search(rb"<\?xml.*?</plist>", files.get("embedded.mobileprovision", b""), re.DOTALL)
    profile = read_plist(text[0]) if text else None
    if plist is None and profile is None:
        raise ConfigurationError(f"{file.name!r} holds no property list and no profile that can be read.")
    rights = None if profile is None else table(profile.get("Entitlements"))
    signed = next((str(value) for key, value in (rights or {}).items() if key.endswith("application-identifier")), "")
    team = next(iter(rows((profile or {}).get("TeamIdentifier"))), "") or signed.partition(".")[0]
    bundle_id = (plist or {}).get("CFBundleIdentifier") or signed.partition(".")[2]
    settings = make_settings(str(bundle_id), str(team))
    product = "" if plist is None else "app-extension" if is_extension else "application"
    name = file.name.rpartition("/")[2]
    return BuildTarget(name, file, "", product, settings, plist, None, rights, file)


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
