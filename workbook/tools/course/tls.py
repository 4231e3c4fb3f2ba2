"""The certificate of a server in the room: given, or made once; and the address at which the room reaches it."""

import hashlib
import re
import socket
import ssl
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from workbook.base.files import write_whole
from workbook.errors import ConfigurationError


def own_address() -> str:
    """The address by which this machine leaves for another network, or loopback's; no packet is sent."""
    with closing(socket.socket(type=socket.SOCK_DGRAM)) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))  # an address for examples
        return str(probe.getsockname()[0])
    return "127.0.0.1"


def certify(file: Path, host: str, given: tuple[Path, Path] | None = None) -> str:
    """Keep a certificate with its key in a file for its owner only; returns its SHA-256 fingerprint.

    One that is made is kept until the host is another, and who issued it is written beside it, as `.ca.pem`: a client
    that trusts that file trusts this server, and nothing more.

    Raises:
        ConfigurationError: the given ones are no certificate and its key.
        OSError: a file cannot be written.
    """
    pem = file.read_text("utf-8") if file.exists() else ""
    if given:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*given, password="")
        except (OSError, ValueError) as error:
            why = f"{given[0]} and {given[1]} are no certificate and its key, as PEM without a password"
            raise ConfigurationError(f"{why}: {error}.") from None
        pem = "\n".join(path.read_text("utf-8") for path in reversed(given))
    elif not pem.startswith(f"{host}\n"):
        from workbook.tools.mockserver.server import new_authority  # asyncio: 100 ms

        authority = new_authority()
        write_whole(file.with_suffix(".ca.pem"), authority.cert_pem.bytes().decode())
        until = datetime.now(UTC) + timedelta(days=800)  # a browser refuses one that is valid for more than 825
        made = authority.issue_cert(host, not_after=until).private_key_and_cert_chain_pem.bytes().decode()
        pem = f"{host}\n{made}"  # what stands before the first PEM block is a remark
    file.touch(0o600)
    write_whole(file, pem)
    first = re.search("-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", pem, re.DOTALL)
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0] if first else pem)).digest().hex(":").upper()
