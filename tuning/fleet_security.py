"""Access to a fleet: with certificates, or open to anyone who can reach its scheduler."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from pathlib import Path

from distributed import Security

from ..errors import CloptError

_ADDRESS = re.compile(r"(tcp|tls)://.+:(\d+)")


@dataclass(frozen=True)
class Certificates:
    """The PEM files with which the parts of a fleet authenticate each other: all three, or none."""

    ca: Path | None = None
    """The authority that signed the certificates of all parts."""
    cert: Path | None = None
    key: Path | None = None

    def check(self, scheduler: str) -> None:
        """Raise CloptError if these files do not match the scheduler's address."""
        match = _ADDRESS.fullmatch(scheduler)
        if match is None or not 0 < int(match[2]) < 1 << 16:
            raise CloptError(
                f"--scheduler {scheduler}: write tcp://host:port, or tls://host:port with "
                "certificates."
            )
        files = (self.ca, self.cert, self.key)
        if any(files) and None in files:
            raise CloptError("Name all of --tls-ca, --tls-cert and --tls-key, or none of them.")
        if any(files) and match[1] == "tcp":
            raise CloptError(
                f"--scheduler {scheduler} is not encrypted; with certificates, write "
                f"tls{scheduler.removeprefix('tcp')}."
            )
        if not any(files) and match[1] == "tls":
            raise CloptError(
                f"--scheduler {scheduler} needs certificates: --tls-ca, --tls-cert and --tls-key."
            )

    def security(self) -> Security | None:
        """Return the settings for dask.distributed; None without encryption.

        Raises CloptError for files that cannot be read or are not certificates.
        """
        if self.ca is None or self.cert is None or self.key is None:
            return None
        ca, cert, key = map(str, (self.ca, self.cert, self.key))
        try:
            ssl.create_default_context(cafile=ca).load_cert_chain(cert, key)
        except OSError as error:  # including ssl.SSLError
            raise CloptError(
                f"--tls-ca {ca}, --tls-cert {cert}, --tls-key {key}: {error}; name PEM files."
            ) from error
        return Security(
            require_encryption=True,
            tls_ca_file=ca,
            tls_client_cert=cert,
            tls_client_key=key,
            tls_worker_cert=cert,
            tls_worker_key=key,
        )


OPEN = Certificates()
"""No certificates: anyone who reaches the scheduler can run code there."""
