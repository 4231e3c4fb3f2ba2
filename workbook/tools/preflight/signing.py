"""Fingerprints of signing certificates, from the text of a signing report, and the request for allowlisting.

A fingerprint is the SHA-256 of a certificate, as 32 pairs of capital letters and digits with colons (A-ALLOW-2,
A-ALLOW-3). The output of `keytool` and `apksigner` is read as a signing report is: they open keystores and packages.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbook.base.files import read_named
from workbook.errors import ConfigurationError, ParameterError

# Bytes of a report.
MOST_BYTES = 8 * 1_048_576
ALLOWED = (
    "Name the text of a signing report; of a keystore, of `keytool -list -v -keystore FILE`; of a certificate, of "
    "`keytool -printcert -file FILE`; of a signed package, of `apksigner verify --print-certs FILE`."
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
        new = dict(re.findall(r"^\s*(Variant|Config|Store|Alias)\s*:\s*(.*?)\s*$", before, re.MULTILINE))
        fields = new if "Variant" in new else fields | new
        line += before.count("\n")
        end = match.start(1)
        debug = _is_debug(before[-2000:], fields.get("Store", ""), fields.get("Alias", ""))
        yield SigningCertificate(normalise(match[1]), name, fields.get("Variant", ""), debug, line=line)


def _is_debug(subject: str, *names: str) -> bool:
    """Whether a certificate's subject, or a keystore's file or alias, is that of the default debug certificate."""
    store = re.compile(r"debug\.keystore\Z|\A\w*debugkey\Z", re.IGNORECASE)
    of_debug = re.compile(r"(?=.*\bCN=(\w+) Debug(,|$))(?=.*\bO=\1(,|$))(?=.*\bC=US(,|$))", re.MULTILINE)
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
