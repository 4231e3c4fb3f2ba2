"""Whom a TLS connection to the back end trusts, and why one was not made. A certificate is always verified."""

from __future__ import annotations

import ssl
from functools import lru_cache
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

WANTED = "Give a file with certificates in PEM, which begin with -----BEGIN CERTIFICATE-----."
MEND = (
    "base_url has to name what the certificate is for; where a CA of your own signed it, give that CA's certificate "
    "with ca_file."
)
PLAIN = "Does something without TLS listen there? Then base_url begins with http://."


def trusted(ca_file: Path | None = None) -> ssl.SSLContext:
    """Whom this machine trusts, and whoever stands in this file besides.

    Raises:
        ConfigurationError: the file cannot be read, or holds no certificate.
    """
    if ca_file is None:
        return _made("", 0)
    try:
        return _made(str(ca_file), ca_file.stat().st_mtime_ns)
    except ssl.SSLError:
        raise ConfigurationError(f"ca_file: no certificate stands in {str(ca_file)!r:.100}. {WANTED}") from None
    except OSError as error:
        raise ConfigurationError(f"ca_file: cannot read {str(ca_file)!r:.100}: {error.strerror}. {WANTED}") from None


@lru_cache(maxsize=4)
def _made(ca_file: str, _changed: int) -> ssl.SSLContext:
    """Made once for each state of a file, because it takes long."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


def tls_error(error: BaseException | None) -> ssl.SSLError | None:
    """The fault of TLS behind an error; None where there is none."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, ssl.SSLError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def told(error: ssl.SSLError) -> str:
    """What TLS says is wrong, in its library's words."""
    said = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
    return str(said or type(error).__name__).lower().replace("_", " ").rstrip(".")
