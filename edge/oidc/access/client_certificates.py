"""The certificate that a client presented to a proxy, from the header in which the proxy passes it on.

Accepted forms: PEM, percent-encoded or with blanks in place of line ends (nginx), a byte sequence (RFC 9440), and
base64 of DER (HAProxy, Traefik).
"""

import base64
import binascii
import logging
from urllib.parse import unquote

from aiohttp import web

from edge.metadata import Metadata
from server.platform.call import CLIENT_CERTIFICATE
from server.platform.mutual_tls import MutualTlsConfig
from server.platform.networks import Networks, address_of

logger = logging.getLogger(__name__)

_PEM = ("-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----")


class ClientCertificates:
    def __init__(self, config: MutualTlsConfig) -> None:
        self._header = config.header
        self._proxies = Networks(config.proxies)

    def metadata_of(self, request: web.Request) -> Metadata:
        """Return the metadata that passes the certificate on; nothing without one, or from another peer."""
        if not self._header or not (texts := request.headers.getall(self._header, ())):
            return []
        address = address_of(request.remote or "")
        # Anybody can send the header, so only a proxy that removes it from requests of others is believed.
        if address is None or address not in self._proxies:
            return []
        # A proxy that adds to a header of its client, and does not replace it, would let the client choose.
        certificate = _der_of(texts[0]) if len(texts) == 1 else None
        if certificate is None:
            logger.warning("the header with the client certificate is malformed or repeated")
            return []
        return [(CLIENT_CERTIFICATE, base64.b64encode(certificate).decode())] if certificate else []


NO_CERTIFICATES = ClientCertificates(MutualTlsConfig())


def _der_of(text: str) -> bytes | None:
    """Return the certificate in DER, empty for an empty header, None for a malformed one."""
    if "%" in text:
        text = unquote(text)
    if text.startswith(":") and text.endswith(":"):
        text = text[1:-1]
    for line in _PEM:
        text = text.replace(line, "", 1)
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
