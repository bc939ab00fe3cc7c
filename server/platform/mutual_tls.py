"""Client certificates of mutual TLS, which a proxy in front of an edge passes on (RFC 8705).

A certificate is a fact about the caller's connection. An edge accepts it only from configured proxies, and a
service only from an edge; from other peers it is ignored.
"""

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from ipaddress import ip_network

from server.platform.call import CLIENT_CERTIFICATE, Call

_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MutualTlsConfig:
    """[mutual_tls]: client certificates that a proxy passes on in `header`; without a header, client certificates are not used.

    The header is accepted only from the networks `proxies`; the proxies must remove it from other requests.
    `authorities` is a PEM file with the certificate authorities that `tls_client_auth` accepts; without it
    this method is not available.
    """

    header: str = ""
    proxies: tuple[str, ...] = ()
    authorities: str = ""

    def __post_init__(self) -> None:
        if self.header and _HEADER.fullmatch(self.header) is None:
            raise ValueError(f"mutual_tls.header: expected the name of a header, found {self.header!r}")
        if bool(self.header) != bool(self.proxies):
            raise ValueError("mutual_tls: expected both header and proxies, or neither")
        for network in self.proxies:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"mutual_tls.proxies: expected networks, found {network!r}") from error
        if self.authorities and not self.header:
            raise ValueError("mutual_tls.authorities: expected mutual_tls.header, too")

    @property
    def is_set(self) -> bool:
        return bool(self.header)


def certificate_of(call: Call) -> bytes:
    """Return the client certificate in DER; empty without one or if the peer is not an edge."""
    text = call.metadata.get(CLIENT_CERTIFICATE, "")
    if not text or not call.peer.is_edge:
        return b""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


def thumbprint_of(certificate: bytes) -> str:
    """Return the certificate's `x5t#S256` thumbprint, empty without a certificate (RFC 8705 §3.1)."""
    if not certificate:
        return ""
    return base64.urlsafe_b64encode(hashlib.sha256(certificate).digest()).rstrip(b"=").decode()
