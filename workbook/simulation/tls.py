"""A throw-away certificate authority for the simulated API: for clients that insist on https.

It is made anew at each start and signs one certificate, for loopback names only. Its own key is never written, so
nobody can sign anything else with it later. A client that trusts `ca.pem` trusts this server and nothing more.
"""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names that the certificate is good for."""

PRIVATE = 0o600


@dataclass(frozen=True, slots=True)
class Certificate:
    """Where the files are.

    Attributes:
        ca_file: what a client is told to trust.
        chain_file: the server's certificate.
        key_file: the server's private key.
    """

    ca_file: Path
    chain_file: Path
    key_file: Path

    def context(self) -> ssl.SSLContext:
        """What a server needs to speak TLS 1.2 or later."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.chain_file, self.key_file)
        return context


def make_certificate(folder: Path, names: Iterable[str] = LOOPBACK) -> Certificate:
    """Make an authority and a certificate for `names`, and write them into `folder`, readable by their owner only.

    Raises:
        ConfigurationError: the folder cannot be written.
    """
    import trustme  # noqa: PLC0415  # brings cryptography, which only TLS needs

    authority = trustme.CA(organization_name="workbook, simulated data only")
    issued = authority.issue_cert(*names)
    made = Certificate(folder / "ca.pem", folder / "server.pem", folder / "server-key.pem")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(made.ca_file, authority.cert_pem.bytes())
        _write(made.chain_file, b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        _write(made.key_file, issued.private_key_pem.bytes())
    except OSError as error:
        raise ConfigurationError(f"Cannot write the certificate into {str(folder)!r}: {error}.") from None
    return made


def _write(path: Path, data: bytes) -> None:
    """Never readable by anybody else, not even for a moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(data)
